//! The `evidence.yaml` that `evidence init` writes: what is needed, active; everything else, commented out with its
//! default. Made from the declarations, so that no key is forgotten.

use super::declare::{Key, Presence, Section};
use super::{file, yaml};

/// Where comments are wrapped, in columns.
const WIDTH: usize = 100;

const HEAD: &str = "\
# Configuration of the evidence tool.
#
# A line like this one explains. A line like \"#branch: main\" is a setting with its default, or with an
# example where it has none: remove the \"#\" to use it.
# No secret belongs in this file: it only names the environment variables that hold them.
# `evidence schema` prints every key with its rules, in the form editors read.
";

/// The configuration for this organization and this private key, with every key explained.
///
/// Both values are quoted where YAML needs it.
pub fn template(org: &str, key_path: &str) -> String {
    let values = Values { org: scalar(org), key_path: scalar(key_path) };
    let mut out = HEAD.to_owned();
    section(&mut out, &values, &file::SECTION, 0, true);
    out
}

struct Values {
    org: String,
    key_path: String,
}

fn section(out: &mut String, values: &Values, section: &'static Section, depth: usize, active: bool) {
    let indent = "  ".repeat(depth);
    for (index, key) in section.keys.iter().enumerate() {
        let path = key.path_in(section);
        let active = active
            && (key.presence == Presence::Required
                || matches!(path.as_str(), "sources.codehost" | "bundle.signing.private_key_path"));
        if index > 0 || depth == 0 {
            out.push('\n');
        }
        comment(out, &indent, key.summary);
        let alternative = !active && section.exactly_one.iter().any(|one| std::ptr::eq(*one, *key));
        if alternative {
            // Both at once would be wrong, so this one is not a line to uncomment.
            out.push_str(&format!("{indent}# Instead of the key above: `{}: {}`\n", key.name, key.example));
            continue;
        }
        let mark = if active { "" } else { "#" };
        match key.shape.section() {
            Some(below) => {
                out.push_str(&format!("{indent}{mark}{}:\n", key.name));
                self::section(out, values, below, depth + 1, active);
            }
            None => out.push_str(&format!("{indent}{mark}{}: {}\n", key.name, value(values, &path, key))),
        }
    }
}

fn value(values: &Values, path: &str, key: &Key) -> String {
    match (path, key.presence) {
        ("sources.codehost.org", _) => values.org.clone(),
        ("bundle.signing.private_key_path", _) => values.key_path.clone(),
        ("sources.codehost.repos", _) => "\"*\"".to_owned(),
        (_, Presence::Default(default)) => default.yaml(),
        _ => key.example.to_owned(),
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
