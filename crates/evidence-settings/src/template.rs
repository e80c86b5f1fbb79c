//! A new file: required keys are active, everything else is commented out with its default. Derived from the
//! declarations, so that it is complete.

use super::declare::{Document, Key, Presence, Section, Shape};
use super::yaml;

/// Where comments are wrapped, in columns.
const WIDTH: usize = 100;

/// A new file with these values, by dotted path.
pub(crate) fn of(document: &Document, values: &[(&str, &str)]) -> String {
    let mut out = document.template_head.to_owned();
    section(&mut out, document, values, document.root, 0, true);
    out
}

fn section(
    out: &mut String,
    document: &Document,
    values: &[(&str, &str)],
    section: &'static Section,
    depth: usize,
    active: bool,
) {
    let indent = "  ".repeat(depth);
    for (index, key) in section.keys.iter().enumerate() {
        let path = key.path_in(section);
        let active = active
            && (key.presence == Presence::Required || document.template_active.contains(&path.as_str()));
        if index > 0 || depth == 0 {
            out.push('\n');
        }
        comment(out, &indent, key.summary);
        let alternative = !active && section.exactly_one.iter().any(|one| std::ptr::eq(*one, *key));
        if alternative {
            // Both together would be invalid, so this is not a line to uncomment.
            out.push_str(&format!("{indent}# Instead of the key above: `{}: {}`\n", key.name, key.example));
            continue;
        }
        let mark = if active { "" } else { "#" };
        match key.shape {
            Shape::Section(below) => {
                out.push_str(&format!("{indent}{mark}{}:\n", key.name));
                self::section(out, document, values, below, depth + 1, active);
            }
            // A list of sections takes one line, like other lists: its example.
            _ => out.push_str(&format!("{indent}{mark}{}: {}\n", key.name, value(values, &path, key))),
        }
    }
}

fn value(values: &[(&str, &str)], path: &str, key: &Key) -> String {
    match (values.iter().find(|(named, _)| *named == path), key.presence) {
        (Some((_, value)), _) => scalar(value),
        (None, Presence::Default(default)) => default.yaml(),
        (None, _) => key.example.to_owned(),
    }
}

/// The text as YAML reads it back, quoted only where it must be.
fn scalar(text: &str) -> String {
    if yaml::is_plain_text(text) {
        return text.to_owned();
    }
    // A JSON string is a YAML double-quoted scalar.
    serde_json::Value::from(text).to_string()
}

/// A comment, wrapped.
fn comment(out: &mut String, indent: &str, text: &str) {
    let mut line = format!("{indent}#");
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = format!("{indent}#");
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
}
