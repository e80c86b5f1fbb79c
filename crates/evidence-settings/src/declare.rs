//! Declarations of configuration keys, in one place.
//!
//! The decoder, the JSON Schema, the template of a new file and the reference in the documentation all derive
//! from these declarations, so they cannot disagree. This module declares no key itself.

use std::ffi::OsString;
use std::ops::RangeInclusive;
use std::path::Path;

use url::Url;

use super::problem::Complaint;

/// One kind of configuration file.
#[derive(Debug)]
pub struct Document {
    /// The title of its schema.
    pub title: &'static str,
    /// Its usual name, for help.
    pub file_name: &'static str,
    /// Advice for a path without a file.
    pub help_missing: &'static str,
    /// Advice for a directory at the path; receives the path of the file in it.
    pub help_directory: fn(&Path) -> String,
    /// Advice for a file without settings.
    pub help_empty: &'static str,
    /// Advice for a file that is too large.
    pub help_too_large: &'static str,
    /// The comment at the top of a new file.
    pub template_head: &'static str,
    /// Optional keys that are active in a new file, by dotted path.
    pub template_active: &'static [&'static str],
    /// The whole file.
    pub root: &'static Section,
}

/// Looks up an environment variable; `None` if it is unset or empty.
pub type Variables<'run> = dyn Fn(&str) -> Option<OsString> + 'run;

/// Judges a value beyond its declaration, such as by who chose the file. Receives the dotted path of the key and the
/// well-formed value; never a default, which the declaration chose.
pub type Guard<'run> = dyn Fn(&str, &Guarded<'_>) -> Result<(), Complaint> + 'run;

/// A value for a [`Guard`].
#[derive(Debug)]
pub enum Guarded<'a> {
    /// The name of an environment variable.
    Variable(&'a str),
    /// An address, as requests will use it.
    Address(&'a Url),
    /// A path, with `~` expanded, relative to the working directory.
    Path(&'a Path),
    /// Any other text.
    Text(&'a str),
}

/// A key of the configuration.
#[derive(Debug)]
pub struct Key {
    /// Its name in the file.
    pub name: &'static str,
    /// What applies if the key is absent.
    pub presence: Presence,
    /// The type of its value.
    pub shape: Shape,
    /// A one-line description of its purpose.
    pub summary: &'static str,
    /// The rule for its value beyond its type; may be empty.
    pub rule: &'static str,
    /// An example value as written in the file; empty for sections.
    pub example: &'static str,
    /// Other names that people write for it.
    pub synonyms: &'static [&'static str],
}

/// What applies if a key is absent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Presence {
    /// The key is required.
    Required,
    /// Nothing: the value is optional.
    Optional,
    /// This default applies.
    Default(DefaultValue),
    /// The program derives the value, as described here.
    Derived(&'static str),
}

/// The default of a key.
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

/// The type of a key's value.
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
    /// A list of texts of a format, without duplicates.
    List {
        /// The format of each.
        of: Format,
        /// Whether it may be empty.
        may_be_empty: bool,
    },
    /// A list of texts of a format, or of mappings with declared keys, which may be empty. The path of the section ends
    /// in `[]`.
    Entries {
        /// The format of each text.
        of: Format,
        /// The keys of each mapping.
        section: &'static Section,
    },
    /// A text of a format, or a mapping with declared keys.
    TextOr {
        /// The format of the text.
        of: Format,
        /// The keys of the mapping.
        section: &'static Section,
    },
    /// The text `*`, or a list of texts that is not empty.
    EverythingOr(Format),
    /// A text, or a mapping of names to texts that is not empty.
    TextOrMap {
        /// The format of each text.
        of: Format,
        /// The format of each name.
        names: Format,
    },
    /// A mapping of names to lists of texts; neither is empty.
    Lists {
        /// The format of each text.
        of: Format,
        /// The format of each name.
        names: Format,
    },
    /// A mapping of free names to free texts.
    Tags,
    /// A mapping with declared keys.
    Section(&'static Section),
    /// A value of another shape, or a mapping with declared keys.
    OrSection {
        /// The other shape: a text, a whole number or a list of mappings.
        plain: &'static Shape,
        /// The keys of the mapping.
        section: &'static Section,
    },
    /// A non-empty list of mappings with declared keys; the path of the section ends in `[]`.
    Sections(&'static Section),
}

/// The shortest time-out, in seconds: one millisecond.
pub const MIN_SECONDS: f64 = 0.001;

/// The format of a text. `format` checks it.
#[derive(Debug, Clone, Copy)]
pub enum Format {
    /// One of these words.
    Choice(&'static [&'static str]),
    /// One word of a vocabulary; this key takes only some of its words.
    Word(&'static Vocabulary),
    /// The name of an environment variable.
    Variable,
    /// A path of the file system.
    Path,
    /// The base of an API: https, or loopback.
    Url,
    /// A format that the program defines.
    Custom(&'static CustomFormat),
    /// Any text of one line.
    Line,
}

/// The words that a key takes, out of those that are valid elsewhere in the file. The functions receive the
/// [context](super::decode::Decoder::context) of the file, which is empty for the schema and the reference.
#[derive(Debug)]
pub struct Vocabulary {
    /// The noun for one word, such as `control`.
    pub noun: &'static str,
    /// Lists every known word.
    pub known: fn(&str) -> Vec<&'static str>,
    /// Lists the words that this key takes.
    pub taken: fn(&str) -> Vec<&'static str>,
    /// The refusal of the other words, such as `this source cannot serve`.
    pub refusal: &'static str,
    /// The introduction of the valid words, such as `it can serve`.
    pub offer: &'static str,
    /// Advice for a word, after the context, that is none of these but has a meaning elsewhere.
    pub elsewhere: fn(&str, &str) -> Option<String>,
}

/// A text format that the program defines.
#[derive(Debug)]
pub struct CustomFormat {
    /// The noun for such a text, for "expected ...".
    pub noun: &'static str,
    /// The same in the tables of the reference.
    pub shown: &'static str,
    /// How to write one, if adding quotes is not enough.
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
    /// A one-line description of its purpose.
    pub summary: &'static str,
    /// Its keys, in the order the documentation lists them.
    pub keys: &'static [&'static Key],
    /// Keys of which exactly one is required; may be empty.
    pub exactly_one: &'static [&'static Key],
    /// Whether at least one key is required.
    pub not_empty: bool,
}

impl DefaultValue {
    /// The value in YAML.
    pub fn yaml(self) -> String {
        match self {
            DefaultValue::Text(text) | DefaultValue::Empty(text) => text.to_owned(),
            DefaultValue::Boolean(value) => value.to_string(),
            DefaultValue::Integer(value) => value.to_string(),
        }
    }
}

impl Section {
    /// A section of which no key is required by itself.
    pub const fn new(path: &'static str, summary: &'static str, keys: &'static [&'static Key]) -> Section {
        Section { path, summary, keys, exactly_one: &[], not_empty: false }
    }

    /// Requires exactly one of these keys.
    pub const fn exactly_one(self, keys: &'static [&'static Key]) -> Section {
        Section { exactly_one: keys, ..self }
    }

    /// Requires at least one key.
    pub const fn not_empty(self) -> Section {
        Section { not_empty: true, ..self }
    }

    /// Lists its keys in words.
    pub fn keys_in_words(&self) -> String {
        match self.keys {
            [only] => format!("the only key here is `{}`", only.name),
            keys => {
                let names: Vec<&str> = keys.iter().map(|key| key.name).collect();
                format!("the keys here are {}", super::suggest::list(&names))
            }
        }
    }

    /// Lists its required keys in words.
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

    /// The key with this name.
    pub fn key(&self, name: &str) -> Option<&'static Key> {
        self.keys.iter().copied().find(|key| key.name == name)
    }
}

/// The rule of every path.
const PATH_RULE: &str =
    "relative to the directory of the configuration file; a leading `~/` is the home directory";

/// Declares keys as the rows of a table, with the builders of [`Key`]:
///
/// ```
/// use evidence_settings::declare::URL;
/// evidence_settings::keys! {
///     API_URL = required("api_url", URL, "The base URL of the platform's API.")
///         rule "https, or http on loopback", example "https://evidence.example.com", also &["url"];
/// }
/// assert_eq!(API_URL.example, "https://evidence.example.com");
/// ```
#[macro_export]
macro_rules! keys {
    ($($(#[$meta:meta])* $visible:vis $constant:ident = $builder:ident($($argument:expr),+ $(,)?)
        $($property:ident $value:expr),* ;)+) => {
        $($(#[$meta])* $visible static $constant: $crate::declare::Key =
            $crate::declare::Key::$builder($($argument),+)$(.$property($value))*;)+
    };
}

/// A text of one line.
pub const LINE: Shape = Shape::Text(Format::Line);
/// The name of an environment variable.
pub const VARIABLE: Shape = Shape::Text(Format::Variable);
/// The base of an API.
pub const URL: Shape = Shape::Text(Format::Url);
/// A path of the file system.
pub const PATH: Shape = Shape::Text(Format::Path);

impl Key {
    const fn new(name: &'static str, presence: Presence, shape: Shape, summary: &'static str) -> Key {
        Key { name, presence, shape, summary, rule: "", example: "", synonyms: &[] }
    }

    /// A key that every file has.
    pub const fn required(name: &'static str, shape: Shape, summary: &'static str) -> Key {
        Key::new(name, Presence::Required, shape, summary)
    }

    /// A key without a default.
    pub const fn optional(name: &'static str, shape: Shape, summary: &'static str) -> Key {
        Key::new(name, Presence::Optional, shape, summary)
    }

    /// A key whose absence means `from`, in words.
    pub const fn derived(name: &'static str, from: &'static str, shape: Shape, summary: &'static str) -> Key {
        Key::new(name, Presence::Derived(from), shape, summary)
    }

    /// A key with a default.
    pub const fn default(
        name: &'static str,
        default: DefaultValue,
        shape: Shape,
        summary: &'static str,
    ) -> Key {
        Key::new(name, Presence::Default(default), shape, summary)
    }

    /// A switch.
    pub const fn boolean(name: &'static str, default: bool, summary: &'static str) -> Key {
        Key::default(name, DefaultValue::Boolean(default), Shape::Boolean, summary)
    }

    /// A whole number with its default and its smallest and largest value.
    pub const fn integer(
        name: &'static str,
        default: i64,
        range: RangeInclusive<i64>,
        summary: &'static str,
    ) -> Key {
        let shape = Shape::Integer { minimum: *range.start(), maximum: *range.end() };
        Key::default(name, DefaultValue::Integer(default), shape, summary)
    }

    /// Seconds with their default and the most.
    pub const fn seconds(name: &'static str, default: i64, maximum: u32, summary: &'static str) -> Key {
        Key::default(name, DefaultValue::Integer(default), Shape::Seconds { maximum }, summary)
    }

    /// The name of an environment variable, with its default.
    pub const fn variable(name: &'static str, default: &'static str, summary: &'static str) -> Key {
        Key::default(name, DefaultValue::Text(default), Shape::Text(Format::Variable), summary)
    }

    /// A required section.
    pub const fn section(name: &'static str, section: &'static Section) -> Key {
        Key::new(name, Presence::Required, Shape::Section(section), section.summary)
    }

    /// An optional section.
    pub const fn optional_section(name: &'static str, section: &'static Section) -> Key {
        Key::new(name, Presence::Optional, Shape::Section(section), section.summary)
    }

    /// Adds the rule for its value beyond its type.
    pub const fn rule(self, rule: &'static str) -> Key {
        Key { rule, ..self }
    }

    /// Adds an example value.
    pub const fn example(self, example: &'static str) -> Key {
        Key { example, ..self }
    }

    /// Adds other names that people write for it.
    pub const fn also(self, synonyms: &'static [&'static str]) -> Key {
        Key { synonyms, ..self }
    }
}

impl Key {
    /// Generic advice for a missing or wrong value.
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

    /// Its meaning and the rules for its value: its own, and that of every path.
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
    /// The shape of a value that is no mapping.
    pub fn plain(&self) -> Shape {
        match self {
            Shape::OrSection { plain, .. } => **plain,
            shape => *shape,
        }
    }

    /// The section of this key: the only one, or that of each list item.
    pub fn section(&self) -> Option<&'static Section> {
        match self {
            Shape::Section(section)
            | Shape::Sections(section)
            | Shape::OrSection { section, .. }
            | Shape::Entries { section, .. }
            | Shape::TextOr { section, .. } => Some(section),
            _ => None,
        }
    }
}

/// This section and all below it, outermost first.
pub fn sections(section: &'static Section) -> Vec<&'static Section> {
    let of_key = |key: &&Key| {
        let listed = match key.shape {
            Shape::OrSection { plain, .. } => plain.section(),
            _ => None,
        };
        listed.into_iter().chain(key.shape.section())
    };
    let below = section.keys.iter().flat_map(of_key).flat_map(sections);
    std::iter::once(section).chain(below).collect()
}
