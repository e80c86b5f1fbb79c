//! `include`: the repositories to read, by what the host says of them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::super::names;
use evidence_settings::declare::{Format, Section, Shape};
use evidence_settings::decode::{Decoder, Fields, Placed};
use evidence_settings::keys;

/// What a repository must be to be read. Every key that is set must hold, and one value of a key is enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Include {
    /// `repositories`: names, or patterns of names, without the organization; empty for all.
    pub repositories: Vec<String>,
    /// `visibility`; empty for all.
    pub visibility: Vec<String>,
    /// `archived`
    pub archived: Option<bool>,
    /// `forks`
    pub forks: Option<bool>,
    /// `topics`, in lower case; empty for all.
    pub topics: Vec<String>,
    /// `properties`: names and values, in lower case; empty for all.
    pub properties: Vec<(String, Vec<String>)>,
}

impl Include {
    /// The setting as the configuration has it.
    pub(in super::super) fn setting(&self, org: &str) -> Value {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                fields.insert(name.to_string(), value);
            }
        };
        let list = |texts: Vec<String>| (!texts.is_empty()).then(|| Value::from(texts));
        let full = self.repositories.iter().map(|name| format!("{org}/{name}")).collect();
        put(REPOSITORIES.name, list(full));
        put(VISIBILITY.name, list(self.visibility.clone()));
        put(ARCHIVED.name, self.archived.map(Value::from));
        put(FORKS.name, self.forks.map(Value::from));
        put(TOPICS.name, list(self.topics.clone()));
        let properties =
            self.properties.iter().map(|(name, values)| (name.clone(), Value::from(values.clone())));
        put(PROPERTIES.name, (!self.properties.is_empty()).then(|| properties.collect()));
        Value::Object(fields)
    }
}

keys! {
    pub(super) INCLUDE = optional("include", Shape::Section(&INCLUDE_SECTION),
        "The repositories to read out of all, by what the host says of them. Every key that is given must hold; one \
         value of a key is enough; `exclude` wins.")
        rule "only with `repos: \"*\"`; what is left out is in the population with the reason",
        also &["includes", "only", "filter"];
    REPOSITORIES = optional("repositories",
        Shape::List { of: Format::Custom(&names::EXCLUSION), may_be_empty: false },
        "Names of repositories, where `*` matches any characters.")
        rule "each entry belongs to `org`; case does not count", example "[acme/service-*, acme/web]",
        also &["repos", "names", "patterns"];
    VISIBILITY = optional("visibility",
        Shape::List { of: Format::Choice(&["public", "private", "internal"]), may_be_empty: false },
        "Who can see the repository.")
        example "[private, internal]", also &["visibilities"];
    ARCHIVED = optional("archived", Shape::Boolean, "Whether the repository is archived.")
        example "false", also &["is_archived"];
    FORKS = optional("forks", Shape::Boolean, "Whether the repository is a fork.")
        example "false", also &["fork", "is_fork"];
    TOPICS = optional("topics", Shape::List { of: Format::Line, may_be_empty: false },
        "Topics of the repository.")
        rule "case does not count", example "[production]", also &["topic", "labels"];
    PROPERTIES = optional("properties", Shape::Lists { of: Format::Line, names: Format::Custom(&names::PROPERTY) },
        "Custom properties of the repository, each with the values that it may have.")
        rule "every property must have one of its values; case does not count",
        example "{tier: [critical, high]}", also &["custom_properties", "property"];
}

static INCLUDE_SECTION: Section = Section::new(
    "sources.codehost.include",
    "What a repository must be to be read.",
    &[&REPOSITORIES, &VISIBILITY, &ARCHIVED, &FORKS, &TOPICS, &PROPERTIES],
)
.not_empty();

/// What `include` says; the outer `None`: a key is invalid. The patterns still have their organization.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Option<Found>> {
    if !fields.has(&INCLUDE) {
        return Some(None);
    }
    let fields = decoder.section(fields, &INCLUDE)?;
    let repositories = decoder.list(&fields, &REPOSITORIES);
    let visibility = decoder.list(&fields, &VISIBILITY);
    let archived = decoder.boolean(&fields, &ARCHIVED);
    let forks = decoder.boolean(&fields, &FORKS);
    let topics = decoder.list(&fields, &TOPICS);
    let properties = decoder.lists(&fields, &PROPERTIES);
    let good = (repositories.is_some() || !fields.has(&REPOSITORIES))
        && (visibility.is_some() || !fields.has(&VISIBILITY))
        && (archived.is_some() || !fields.has(&ARCHIVED))
        && (forks.is_some() || !fields.has(&FORKS))
        && (topics.is_some() || !fields.has(&TOPICS));
    let texts = |list: Option<Vec<Placed<String>>>| -> Vec<String> {
        list.into_iter().flatten().map(|text| text.value.to_ascii_lowercase()).collect()
    };
    let properties = properties?.into_iter();
    let properties = properties.map(|(name, values)| (name.value.to_ascii_lowercase(), texts(Some(values))));
    let include = Include {
        repositories: Vec::new(),
        visibility: texts(visibility),
        archived,
        forks,
        topics: texts(topics),
        properties: properties.collect(),
    };
    good.then(|| Some((include, repositories.unwrap_or_default())))
}

/// What was found: the criteria, and the patterns as they are written.
pub(super) type Found = (Include, Vec<Placed<String>>);

/// Whether one of the topics is wanted.
pub(in super::super) fn has_topic(wanted: &[String], topics: &[String]) -> bool {
    let topics: HashSet<String> = topics.iter().map(|topic| topic.to_ascii_lowercase()).collect();
    wanted.iter().any(|topic| topics.contains(topic))
}
