//! A repository: the call about it, what the host shows of it, and how it is known.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Value, json};

use super::host::api::{Api, JSON, MIB};
use super::host::compare::of_repository;
use super::host::kept::json_bytes;
use super::host::refusal;
use super::names;
use super::subject::RepositoryName;
use crate::json::object;
use crate::observation::Seen;
use evidence_http::retry::Class;
use evidence_http::{Answered, Asked, Call, CallError, Keeping, Meta, ParseError, Subject};
use evidence_rules::codehost as rules;
use evidence_rules::codehost::security::{Feature, RepositorySecurity, SecurityAndAnalysis};
use evidence_rules::field::Field;
use evidence_rules::rule::Reason;

/// A repository that only the configuration names: whether it is visible, its default branch, and whether it is
/// archived.
pub(super) static REPOSITORY: Call<Repository> = Call {
    name: "/repos/{owner}/{repo}",
    purpose: "default branch and archived state; distinguishing \"no such repository\" from \"not visible to the token\"",
    times: "once for each repository that `repos` names; once more for a repository that was shown and about which every \
            later answer is `Not Found`",
    kind: Some("repository"),
    media_type: JSON,
    // A real answer is under 20 kB.
    limit: MIB,
    parse: repository,
    subject: Some(Subject {
        fields: "`full_name`",
        other: |repository, about| of_repository(repository.full_name.as_deref()?, about),
    }),
    keep: Some(Keeping::new(6, json_bytes)),
};

/// One item of `GET /orgs/{org}/repos`, or `GET /repos/{owner}/{repo}`
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub(super) struct Repository {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) full_name: Option<String>,
    /// Its id in the GraphQL interface.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) node_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) archived: Option<bool>,
    /// Disabled by the host, so that its contents cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) disabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) default_branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) visibility: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) fork: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) topics: Option<Vec<String>>,
    /// Custom properties. Another form than documented is as good as none: it must not cost the repository.
    #[serde(default, deserialize_with = "properties", skip_serializing_if = "Option::is_none")]
    pub(super) custom_properties: Option<BTreeMap<String, Vec<String>>>,
    /// In KiB, updated from time to time: 0 for an empty repository, and for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) permissions: Option<Permissions>,
    /// Shown only to administrators.
    #[serde(default, deserialize_with = "documented", skip_serializing_if = "Field::is_absent")]
    pub(super) security_and_analysis: Field<SecurityAndAnalysis>,
}

/// A property has a text, several texts, or none.
fn properties<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<BTreeMap<String, Vec<String>>>, D::Error> {
    let Value::Object(properties) = Value::deserialize(deserializer)? else { return Ok(None) };
    let texts = |value: Value| match value {
        Value::Null => Some(Vec::new()),
        Value::String(text) => Some(vec![text]),
        Value::Array(values) => values.into_iter().map(|value| value.as_str().map(str::to_string)).collect(),
        _ => None,
    };
    // One that is not understood must not look as if the repository did not have it.
    Ok(properties.into_iter().map(|(name, value)| Some((name, texts(value)?))).collect())
}

/// The features, whose words are only kept if the host documents them. Another form is as good as none: it must not cost
/// the repository.
fn documented<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Field<SecurityAndAnalysis>, D::Error> {
    let section: RepositorySecurity = match Value::deserialize(deserializer)? {
        Value::Null => return Ok(Field::Null),
        section => serde_json::from_value(json!({ "security_and_analysis": section })).unwrap_or_default(),
    };
    let known = |feature: Field<Feature>| {
        feature.map(|Feature { status }| match status {
            Field::Value(word) if !["enabled", "disabled"].contains(&word.as_str()) => {
                Feature { status: Field::Null }
            }
            status => Feature { status },
        })
    };
    Ok(section.security_and_analysis.map(|found| SecurityAndAnalysis {
        secret_scanning: known(found.secret_scanning),
        secret_scanning_push_protection: known(found.secret_scanning_push_protection),
    }))
}

/// The permissions of the token's user in a repository.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(super) struct Permissions {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) admin: Option<bool>,
}

impl Repository {
    /// Its memory use.
    pub(super) fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
        let topics: usize =
            self.topics.iter().flatten().map(|topic| size_of::<String>() + topic.capacity()).sum();
        let properties = self.custom_properties.iter().flatten();
        let properties: usize = properties
            .map(|(name, values)| {
                name.capacity() + values.iter().map(|value| 48 + value.capacity()).sum::<usize>()
            })
            .sum();
        size_of::<Repository>()
            + text(&self.full_name)
            + text(&self.node_id)
            + text(&self.name)
            + text(&self.default_branch)
            + topics
            + properties
    }
}

/// `GET /repos/{owner}/{repo}`. The answer proves that the repository exists, so it must really be a repository.
fn repository(bytes: &[u8]) -> Result<Repository, ParseError> {
    let repository: Repository = object(bytes)?;
    if repository.id.is_some() || repository.full_name.is_some() {
        Ok(repository)
    } else {
        Err(ParseError::Shape("neither the id nor the name of a repository".to_string()))
    }
}

/// Reads the host's record of a repository.
pub(super) async fn ask(api: &Api<'_>, target: RepositoryName<'_>) -> Result<(Repository, Meta), Seen> {
    match api.ask(&REPOSITORY, &[("owner", target.owner), ("repo", target.name)]).await {
        Ok(Answered { value, meta }) => Ok((value, meta)),
        Err(CallError::Refused(refused)) if refused.class == Class::NotFound => {
            Err(Seen::Failed(refusal::repository_not_found()))
        }
        Err(CallError::Refused(refused)) => Err(refusal::denied(target, "repository", &refused).0),
        Err(CallError::Failed(failure)) => Err(refusal::failed("repository", &failure)),
    }
}

/// A repository in scope.
#[derive(Debug, Clone)]
pub(super) struct ScopedRepository {
    /// `owner/name`, shared by everything about the repository.
    pub(super) subject: Arc<str>,
    pub(super) origin: Origin,
}

/// How the repository is known.
#[derive(Debug, Clone)]
pub(super) enum Origin {
    /// The host listed it, or answered for it by its name.
    Shown(RepositoryDetails),
    /// Only the configuration names it.
    Hidden(Arc<Hidden>),
}

/// Why the host did not show a repository, and the requests for it.
#[derive(Debug)]
pub(super) struct Hidden {
    pub(super) seen: Seen,
    pub(super) requests: Vec<Asked>,
}

/// The names in a listing so far.
#[derive(Default)]
pub(super) struct Names {
    /// Names of repositories, in lower case.
    pub(super) repositories: HashSet<String>,
    /// Other names, such as branches, which nearly all repositories share.
    others: HashSet<Arc<str>>,
    /// Security settings, of which there are few different ones.
    security: Vec<Arc<RepositorySecurity>>,
}

impl Names {
    /// A shared copy of these settings; `None` if the host shows none.
    fn security(&mut self, shown: &Field<SecurityAndAnalysis>) -> Option<Arc<RepositorySecurity>> {
        if shown.is_absent() {
            return None;
        }
        if let Some(known) = self.security.iter().find(|known| known.security_and_analysis == *shown) {
            return Some(Arc::clone(known));
        }
        let settings = Arc::new(RepositorySecurity {
            security_and_analysis: shown.clone(),
            ..RepositorySecurity::default()
        });
        self.security.push(Arc::clone(&settings));
        Some(settings)
    }

    /// A shared copy of `name`.
    pub(super) fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.others.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.others.insert(Arc::clone(&name));
        name
    }
}

/// The details in the host's record of a repository.
#[derive(Debug, Clone)]
pub(super) struct RepositoryDetails {
    pub(super) archived: bool,
    /// Whether the host has disabled it.
    pub(super) disabled: bool,
    pub(super) default_branch: Option<Arc<str>>,
    /// Its id in the GraphQL interface, if the host names it.
    pub(super) node_id: Option<Box<str>>,
    /// Whether the token's user administers it.
    pub(super) administered: bool,
    /// Whether its size does not prove that it has content.
    pub(super) may_be_empty: bool,
    /// Its security settings, if the host shows any.
    pub(super) security: Option<Arc<RepositorySecurity>>,
    /// When the host showed it.
    pub(super) listed_at: Timestamp,
}

impl RepositoryDetails {
    pub(super) fn of(repository: &Repository, names: &mut Names, listed_at: Timestamp) -> RepositoryDetails {
        // The name becomes part of a URL.
        let default_branch = repository.default_branch.as_deref().filter(|name| names::is_branch(name));
        RepositoryDetails {
            archived: repository.archived.unwrap_or(false),
            disabled: repository.disabled.unwrap_or(false),
            default_branch: default_branch.map(|name| names.shared(name)),
            node_id: repository.node_id.as_deref().map(Box::from),
            administered: repository.permissions.as_ref().and_then(|found| found.admin).unwrap_or(false),
            may_be_empty: repository.size.is_none_or(|size| size == 0),
            security: names.security(&repository.security_and_analysis),
            listed_at,
        }
    }

    /// Why no rule applies to it, if none does.
    pub(super) fn exempt(&self) -> Option<&'static Reason> {
        match (self.disabled, self.archived) {
            (true, _) => Some(&rules::reason::REPOSITORY_DISABLED),
            (false, true) => Some(&rules::reason::ARCHIVED),
            (false, false) => None,
        }
    }
}

impl ScopedRepository {
    pub(super) fn target(&self) -> RepositoryName<'_> {
        RepositoryName::new(&self.subject)
    }

    /// Whether requests are made about it: it is shown, and a rule can apply to it.
    pub(super) fn is_asked(&self) -> bool {
        matches!(&self.origin, Origin::Shown(details) if details.exempt().is_none())
    }

    /// Whether the host shows it as one that no rule applies to.
    pub(super) fn is_exempt(&self) -> bool {
        matches!(&self.origin, Origin::Shown(details) if details.exempt().is_some())
    }
}

/// The subject of a repository of the organization.
pub(super) fn named(organization: &str, name: &str) -> Arc<str> {
    format!("{organization}/{name}").into()
}
