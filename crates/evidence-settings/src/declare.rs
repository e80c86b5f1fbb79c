//! How a key of the configuration is declared: once, for everything that has to know it.
//!
//! The decoder, the JSON Schema, the template of a new file and the reference in the documentation are all
//! made from these declarations, so they cannot disagree. This module holds no key itself.

use std::ffi::OsString;
use std::path::Path;

use super::problem::Complaint;

/// One kind of configuration file.
#[derive(Debug)]
pub struct Document {
    /// The title of its schema.
    pub title: &'static str,
    /// Its usual name, for help.
    pub file_name: &'static str,
    /// What to do about a path without a file.
    pub help_missing: &'static str,
    /// What to do about a directory in its place; gets the path of the file in it.
    pub help_directory: fn(&Path) -> String,
    /// What to do about a file without settings.
    pub help_empty: &'static str,
    /// What to do about a file that is too large.
    pub help_too_large: &'static str,
    /// The comment at the top of a new file.
    pub template_head: &'static str,
    /// Optional keys that a new file has active, by dotted path.
    pub template_active: &'static [&'static str],
    /// The whole file.
    pub root: &'static Section,
}

/// Looks an environment variable up; `None` if it is not set or empty.
pub type Variables<'run> = dyn Fn(&str) -> Option<OsString> + 'run;

/// A key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// What happens when it is left out.
    pub presence: Presence,
    /// What it may hold.
    pub shape: Shape,
    /// One line that says what it is for.
    pub summary: &'static str,
    /// The rule its value must keep, beyond its type; may be empty.
    pub rule: &'static str,
    /// A value as it would be written in the file; empty for sections.
    pub example: &'static str,
    /// Other names people write for it.
    pub synonyms: &'static [&'static str],
}

/// What happens when a key is left out.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Presence {
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
pub enum DefaultValue {
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
pub enum Shape {
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
    /// A list of mappings with keys of their own, not empty; the path of the section ends in `[]`.
    Sections(&'static Section),
}

/// The shortest time-out, in seconds: one millisecond.
pub const MIN_SECONDS: f64 = 0.001;

/// What a text may be. `format` says how each is checked.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One word of a vocabulary, of which this key takes a part.
    Word(&'static Vocabulary),
    /// The name of an environment variable.
    Variable,
    /// A path of the file system.
    Path,
    /// The base of an API: https, or loopback.
    Url,
    /// A format that only the program knows.
    Custom(&'static CustomFormat),
    /// Any text of one line.
    Line,
}

/// The words that a key takes, among those that mean something elsewhere in the file.
#[derive(Debug)]
pub struct Vocabulary {
    /// What one is called, such as `control`.
    pub noun: &'static str,
    /// Lists every word there is.
    pub known: fn() -> Vec<&'static str>,
    /// Lists the words that this key takes.
    pub taken: fn() -> Vec<&'static str>,
    /// What cannot take the others, such as `this source cannot serve`.
    pub refusal: &'static str,
    /// What it can take, such as `it can serve`.
    pub offer: &'static str,
}

/// A format of text that only the program knows.
#[derive(Debug)]
pub struct CustomFormat {
    /// What a text of it is, for "expected ...".
    pub noun: &'static str,
    /// The same in the tables of the reference.
    pub shown: &'static str,
    /// How to write one, where quotes around something else would not do.
    pub hint: Option<&'static str>,
    /// Whether case makes no difference.
    pub ignores_case: bool,
    /// Checks a text of one line that holds no secret.
    pub check: fn(&str) -> Result<(), Complaint>,
    /// The regular expression of the schema.
    pub pattern: &'static str,
    /// The longest text, in characters, for the schema.
    pub max_length: Option<usize>,
}

/// A mapping with known keys.
#[derive(Debug)]
pub struct Section {
    /// Its dotted path; empty for the whole file.
    pub path: &'static str,
    /// One line that says what it is for.
    pub summary: &'static str,
    /// Its keys, in the order the documentation lists them.
    pub keys: &'static [&'static Key],
    /// Keys of which exactly one must be there; may be empty.
    pub exactly_one: &'static [&'static Key],
    /// Names that will mean something one day: writing them is an error that says so.
    pub planned: &'static [Planned],
    /// Whether at least one key must be there.
    pub not_empty: bool,
}

/// A name that is known but means nothing yet.
#[derive(Debug)]
pub struct Planned {
    /// The name.
    pub name: &'static str,
    /// Other names people write for it.
    pub synonyms: &'static [&'static str],
    /// What to say.
    pub message: &'static str,
}

impl DefaultValue {
    /// The value as it is written in the file.
    pub fn yaml(self) -> String {
        match self {
            DefaultValue::Text(text) | DefaultValue::Empty(text) => text.to_owned(),
            DefaultValue::Boolean(value) => value.to_string(),
            DefaultValue::Integer(value) => value.to_string(),
        }
    }
}

impl Section {
    /// Names its keys.
    pub fn keys_in_words(&self) -> String {
        match self.keys {
            [only] => format!("the only key here is `{}`", only.name),
            keys => {
                let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
                format!("the keys here are {}", super::suggest::list(&names))
            }
        }
    }

    /// Names what it cannot do without.
    pub fn needs_in_words(&self) -> String {
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
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().copied().find(|key| key.name == name)
    }
}

/// The rule of every path.
const PATH_RULE: &str =
    "relative to the directory of the configuration file; a leading `~/` is the home directory";

impl Key {
    /// What to do about a value that is missing or wrong, when nothing better is known.
    pub fn way_out(&self) -> Option<String> {
        match self.presence {
            Presence::Required => None,
            Presence::Optional => Some("or remove the key".to_owned()),
            Presence::Derived(how) => Some(format!("or remove the key for {how}")),
            Presence::Default(default) => {
                Some(format!("or remove the key for the default, {}", default.yaml()))
            }
        }
    }

    /// What it means and what its value must be: its own rule, and that of every path.
    pub fn meaning(&self) -> String {
        let of_paths = match self.shape {
            Shape::Text(Format::Path) | Shape::List { of: Format::Path, .. } => PATH_RULE,
            _ => "",
        };
        let rules: Vec<&str> = [of_paths, self.rule].into_iter().filter(|rule| !rule.is_empty()).collect();
        match rules.as_slice() {
            [] => self.summary.to_owned(),
            rules => format!("{} Rule: {}.", self.summary, rules.join("; ")),
        }
    }

    /// The dotted path of this key in a section.
    pub fn path_in(&self, section: &Section) -> String {
        super::path::join(section.path, self.name)
    }
}

impl Shape {
    /// The section below this key: the only one, or what each of a list is.
    pub fn section(&self) -> Option<&'static Section> {
        match self {
            Shape::Section(section) | Shape::Sections(section) => Some(section),
            _ => None,
        }
    }
}

/// This section and all below it, outermost first.
pub fn sections(section: &'static Section) -> Vec<&'static Section> {
    let below = section.keys.iter().filter_map(|key| key.shape.section()).flat_map(sections);
    std::iter::once(section).chain(below).collect()
}
