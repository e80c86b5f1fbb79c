//! The tables of keys in the documentation, derived from the declarations.

use super::declare::{DefaultValue, Document, Format, Key, Presence, Section, Shape, sections};
use super::suggest;

/// Every key as Markdown: one table for each section.
pub(crate) fn of(document: &Document) -> String {
    sections(document.root).into_iter().map(of_section).collect::<Vec<_>>().join("\n")
}

fn of_section(section: &'static Section) -> String {
    let mut out = match section.path {
        "" => "### Top level\n\n".to_owned(),
        path => format!("### `{path}`\n\n{}\n\n", section.summary),
    };
    out.push_str("| Key | Type | Default | Meaning and rule | Example |\n|---|---|---|---|---|\n");
    for key in section.keys {
        let meaning = key.meaning();
        let example =
            if key.example.is_empty() { String::new() } else { format!("`{}: {}`", key.name, key.example) };
        out.push_str(&format!(
            "| `{}` | {} | {} | {meaning} | {example} |\n",
            key.name,
            of_shape(&key.shape),
            default(key)
        ));
    }
    if !section.exactly_one.is_empty() {
        let names: Vec<&str> = section.exactly_one.iter().map(|key| key.name).collect();
        out.push_str(&format!("\nExactly one of {} must be given.\n", suggest::list(&names)));
    }
    out
}

fn default(key: &Key) -> String {
    match key.presence {
        Presence::Required => "required".to_owned(),
        Presence::Optional => "none".to_owned(),
        Presence::Derived(how) => how.to_owned(),
        Presence::Default(DefaultValue::Empty(text)) => format!("`{text}`"),
        Presence::Default(default) => format!("`{}`", default.yaml()),
    }
}

fn of_shape(shape: &Shape) -> String {
    match shape {
        Shape::Text(format) => of_format(*format),
        Shape::Boolean => "boolean".to_owned(),
        Shape::Integer { minimum, maximum } => format!("whole number, {minimum} to {maximum}"),
        Shape::Seconds { maximum } => format!("number, up to {maximum}"),
        Shape::List { of, .. } => format!("list of {}", of_format(*of)),
        Shape::Entries { of, .. } => format!("list of {} or of mappings, see below", of_format(*of)),
        Shape::TextOr { of, .. } => format!("{} or mapping, see below", of_format(*of)),
        Shape::EverythingOr(of) => format!("`\"*\"`, or a list of {}", of_format(*of)),
        Shape::TextOrMap { of, names } => {
            format!("{}, or a mapping of {} to {0}", of_format(*of), of_format(*names))
        }
        Shape::Lists { of, names } => {
            format!("mapping of {} to lists of {}", of_format(*names), of_format(*of))
        }
        Shape::Tags => "mapping of text to text".to_owned(),
        Shape::Section(_) => "mapping, see below".to_owned(),
        Shape::OrSection { plain, .. } => format!("{}, or a mapping, see below", of_shape(plain)),
        Shape::Sections(_) => "list of mappings, see below".to_owned(),
    }
}

/// The longest vocabulary that a table lists.
const MOST_WORDS: usize = 12;

fn of_format(format: Format) -> String {
    match format {
        Format::Choice(choices) => suggest::alternatives(choices),
        Format::Word(vocabulary) => match (vocabulary.taken)("").as_slice() {
            words if words.len() <= MOST_WORDS => suggest::alternatives(words),
            _ => format!("a {}", vocabulary.noun),
        },
        Format::Variable => "variable name".to_owned(),
        Format::Path => "path".to_owned(),
        Format::Url => "URL".to_owned(),
        Format::Custom(custom) => custom.shown.to_owned(),
        Format::Line => "text".to_owned(),
    }
}
