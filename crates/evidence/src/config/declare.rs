//! How a key of the configuration is declared: once, for everything that has to know it.
//!
//! The decoder, the JSON Schema, the template of `evidence init` and the reference in the documentation are all
//! made from these declarations, so they cannot disagree. This module holds no key itself.

use crate::control::Control;

/// A key of the configuration.
#[derive(Debug)]
pub(crate) struct Key {
    /// Its name in the file.
    pub(crate) name: &'static str,
    /// What happens when it is left out.
    pub(crate) presence: Presence,
    /// What it may hold.
    pub(crate) shape: Shape,
    /// One line that says what it is for.
    pub(crate) summary: &'static str,
    /// The rule its value must keep, beyond its type; may be empty.
    pub(crate) rule: &'static str,
    /// A value as it would be written in the file; empty for sections.
    pub(crate) example: &'static str,
    /// Other names people write for it.
    pub(crate) synonyms: &'static [&'static str],
}

/// What happens when a key is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Presence {
    /// It must be there.
    Required,
    /// Nothing: the value is optional.
    Optional,
    /// As if it held this.
    Default(DefaultValue),
    /// The value is worked out as these words say.
    Derived(&'static str),
}

/// The value of a key that was left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum DefaultValue {
    /// Text.
    Text(&'static str),
    /// A boolean.
    Boolean(bool),
    /// A whole number.
    Integer(i64),
    /// A list or mapping without entries; the string is how YAML writes it.
    Empty(&'static str),
}

/// What a key may hold.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// Text of a format.
    Text(Format),
    /// `true` or `false`.
    Boolean,
    /// A whole number, both ends included.
    Integer {
        /// The smallest.
        minimum: i64,
        /// The largest.
        maximum: i64,
    },
    /// Seconds, fractions allowed; at least [`MIN_SECONDS`].
    Seconds {
        /// The largest.
        maximum: u32,
    },
    /// A list of texts of a format, without repetition.
    List {
        /// The format of each.
        of: Format,
        /// Whether it may be empty.
        may_be_empty: bool,
    },
    /// The text `*`, or a list of texts that is not empty.
    EverythingOr(Format),
    /// A mapping of free names to free texts.
    Tags,
    /// A mapping with keys of its own.
    Section(&'static Section),
}

/// The shortest time-out, in seconds: one millisecond.
pub(crate) const MIN_SECONDS: f64 = 0.001;

/// What a text may be. `format` says how each is checked.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Format {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// A control, out of those that can be served here.
    Control(&'static [Control]),
    /// The name of an environment variable.
    Variable,
    /// A path of the file system.
    Path,
    /// The base of an API: https, or loopback.
    Url,
    /// The name of an organization on the code host.
    Organization,
    /// `org/repo`.
    Repository,
    /// The name of a branch.
    Branch,
    /// Any text of one line.
    Line,
}

/// A mapping with known keys.
#[derive(Debug)]
pub(crate) struct Section {
    /// Its dotted path; empty for the whole file.
    pub(crate) path: &'static str,
    /// One line that says what it is for.
    pub(crate) summary: &'static str,
    /// Its keys, in the order the documentation lists them.
    pub(crate) keys: &'static [&'static Key],
    /// Keys of which exactly one must be there; may be empty.
    pub(crate) exactly_one: &'static [&'static Key],
    /// Names that will mean something one day: writing them is an error that says so.
    pub(crate) planned: &'static [Planned],
    /// Whether at least one key must be there.
    pub(crate) not_empty: bool,
}

/// A name that is known but means nothing yet.
#[derive(Debug)]
pub(crate) struct Planned {
    /// The name.
    pub(crate) name: &'static str,
    /// Other names people write for it.
    pub(crate) synonyms: &'static [&'static str],
    /// What to say.
    pub(crate) message: &'static str,
}

impl DefaultValue {
    /// The value as it is written in the file.
    pub(crate) fn yaml(self) -> String {
        match self {
            DefaultValue::Text(text) | DefaultValue::Empty(text) => text.to_owned(),
            DefaultValue::Boolean(value) => value.to_string(),
            DefaultValue::Integer(value) => value.to_string(),
        }
    }
}

impl Section {
    /// Names its keys.
    pub(crate) fn keys_in_words(&self) -> String {
        match self.keys {
            [only] => format!("the only key here is `{}`", only.name),
            keys => {
                let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
                format!("the keys here are {}", super::suggest::list(&names))
            }
        }
    }

    /// Names what it cannot do without.
    pub(crate) fn needs_in_words(&self) -> String {
        let required = self.keys.iter().filter(|key| key.presence == Presence::Required);
        let names: Vec<&str> = required.map(|key| key.name).collect();
        if names.is_empty() && self.exactly_one.is_empty() {
            let any: Vec<&str> = self.keys.iter().map(|key| key.name).collect();
            return super::suggest::alternatives(&any);
        }
        let one: Vec<&str> = self.exactly_one.iter().map(|key| key.name).collect();
        let words = [super::suggest::list(&names), super::suggest::alternatives(&one)];
        words.into_iter().filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" and ")
    }

    /// The key of this name.
    pub(crate) fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().copied().find(|key| key.name == name)
    }
}

impl Key {
    /// What to do about a value that is missing or wrong, when nothing better is known.
    pub(crate) fn way_out(&self) -> Option<String> {
        match self.presence {
            Presence::Required => None,
            Presence::Optional => Some("or remove the key".to_owned()),
            Presence::Derived(how) => Some(format!("or remove the key for {how}")),
            Presence::Default(default) => {
                Some(format!("or remove the key for the default, {}", default.yaml()))
            }
        }
    }

    /// The dotted path of this key in a section.
    pub(crate) fn path_in(&self, section: &Section) -> String {
        super::path::join(section.path, self.name)
    }
}

impl Shape {
    /// The sections below this one.
    pub(crate) fn section(&self) -> Option<&'static Section> {
        match self {
            Shape::Section(section) => Some(section),
            _ => None,
        }
    }
}

/// This section and all below it, outermost first.
pub(crate) fn sections(section: &'static Section) -> Vec<&'static Section> {
    let below = section.keys.iter().filter_map(|key| key.shape.section()).flat_map(sections);
    std::iter::once(section).chain(below).collect()
}
