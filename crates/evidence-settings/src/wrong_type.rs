//! Messages for a value whose type differs from that of its key.
//!
//! Each function names the found and the expected type and, if the intention can be guessed, the right form.

use super::declare::{Document, Format, Key, MIN_SECONDS, Section, Shape};
use super::format;
use super::problem::Complaint;
use super::secret::{may_be_secret, quote};
use super::yaml::Value;

/// The type of the value, for "found ...".
fn found(value: &Value) -> String {
    match value {
        Value::Null => "nothing".to_owned(),
        Value::Boolean(value) => format!("the boolean `{value}`"),
        Value::Integer(_) | Value::Number(_) => format!("the number `{}`", number(value)),
        Value::Text(text) => format!("the text {}", quote(text)),
        Value::List(_) => "a list".to_owned(),
        Value::Map(_) => "a mapping".to_owned(),
        Value::Reported => "a value that is wrong already".to_owned(),
    }
}

/// A number as text.
pub(super) fn number(value: &Value) -> String {
    match value {
        Value::Integer(value) => value.to_string(),
        Value::Number(value) if value.is_finite() && (1e-6..1e16).contains(&value.abs()) => value.to_string(),
        Value::Number(value) if value.is_finite() => format!("{value:e}"),
        Value::Number(value) if value.is_nan() => ".nan".to_owned(),
        Value::Number(value) if *value < 0.0 => "-.inf".to_owned(),
        Value::Number(_) => ".inf".to_owned(),
        _ => String::new(),
    }
}

fn expected(key: &Key, what: &str, value: &Value) -> Complaint {
    if !matches!(value, Value::Null) {
        return Complaint::new(format!("expected {what}, found {}", found(value)));
    }
    let way_out = key.way_out().map(|way_out| format!(", {way_out}")).unwrap_or_default();
    let tilde = if let Shape::Text(Format::Path) = key.shape { "; in YAML `~` alone means null" } else { "" };
    Complaint::new(format!("expected {what}, found nothing")).help(format!("give it a value{way_out}{tilde}"))
}

/// Another type instead of a section; `None` if its problem is already reported.
pub(super) fn of_section(document: &Document, section: &Section, value: &Value) -> Option<Complaint> {
    match value {
        Value::Reported => None,
        Value::Null if !section.path.is_empty() => {
            Some(Complaint::new(format!("`{}` is empty", section.path)).help(section.keys_in_words()))
        }
        Value::Text(_) if section.path.is_empty() => Some(
            Complaint::new("the file has text instead of `key: value` lines")
                .help(format!("check that this is the right file; {}", document.help_empty)),
        ),
        // The text may be a misplaced secret, so name only its type.
        Value::Text(_) => {
            Some(Complaint::new("expected a mapping, found text").help(section.keys_in_words()))
        }
        other => Some(
            Complaint::new(format!("expected a mapping, found {}", found(other)))
                .help(section.keys_in_words()),
        ),
    }
}

/// Another type instead of text.
pub(super) fn of_text(key: &Key, format: Format, value: &Value) -> Complaint {
    let complaint = expected(key, &format::noun(format), value);
    match value {
        Value::Boolean(value) => complaint.help(format!("put it in quotes if it is text: `\"{value}\"`")),
        Value::Integer(_) | Value::Number(_) => {
            // A number is never a variable's name, and a PIN would be a number.
            if let Format::Variable = format {
                return Complaint::new("expected the name of an environment variable, found a number")
                    .help("use letters, digits and `_`, not starting with a digit")
                    .secret();
            }
            match format::hint(format) {
                Some(hint) => complaint.help(hint),
                None => complaint.help(format!("put it in quotes if it is text: `\"{}\"`", number(value))),
            }
        }
        Value::List(_) if matches!(key.shape, Shape::Text(_)) => {
            complaint.help("write one value, not a list")
        }
        Value::Map(_) => complaint.help("put the value in quotes if the `: ` is text"),
        _ => complaint,
    }
}

/// Another type instead of a boolean.
pub(super) fn of_boolean(key: &Key, value: &Value) -> Complaint {
    let complaint = expected(key, "`true` or `false`", value);
    let complaint = match key.way_out() {
        Some(way_out) if complaint.help.is_none() => {
            complaint.help(format!("write `true` or `false`, {way_out}"))
        }
        _ => complaint,
    };
    let Value::Text(text) = value else { return complaint };
    match text.to_ascii_lowercase().as_str() {
        "yes" | "on" | "y" | "true" => complaint.help(format!("write `{}: true`, without quotes", key.name)),
        "no" | "off" | "n" | "false" => {
            complaint.help(format!("write `{}: false`, without quotes", key.name))
        }
        _ => complaint,
    }
}

/// Another type instead of a number.
pub(super) fn of_number(key: &Key, what: &str, value: &Value) -> Complaint {
    let complaint = expected(key, what, value);
    match value {
        Value::Text(text) => {
            let digits: String = text
                .trim()
                .chars()
                .take_while(|character| character.is_ascii_digit() || *character == '.')
                .collect();
            if digits.is_empty() || may_be_secret(text) {
                complaint
            } else if digits == *text {
                complaint.help(format!("write it without quotes: `{}: {digits}`", key.name))
            } else {
                complaint.help(format!("write the number alone, without a unit: `{}: {digits}`", key.name))
            }
        }
        Value::Number(number) if number.is_finite() => {
            complaint.help(format!("write it without a fraction: `{}: {:.0}`", key.name, number.round()))
        }
        _ => complaint,
    }
}

/// Another value instead of the list that a whole file is; `None` if its problem is already reported.
pub(super) fn of_file(document: &Document, value: &Value) -> Option<Complaint> {
    let message = match value {
        Value::Reported => return None,
        Value::Map(_) => "the file has `key: value` lines instead of a list",
        _ => "the file has text instead of a list",
    };
    let help = format!("begin each entry with `- `; {}", document.help_empty);
    Some(Complaint::new(message).help(help))
}

/// A number outside its range.
pub(super) fn out_of_range(key: &Key, shown: &str) -> Complaint {
    let range = match key.shape.plain() {
        Shape::Integer { minimum, maximum } => format!("a whole number from {minimum} to {maximum}"),
        Shape::Seconds { maximum } => format!("a number of seconds from {MIN_SECONDS} to {maximum}"),
        _ => "a number".to_owned(),
    };
    let complaint = Complaint::new(format!("expected {range}, found {shown}"));
    match key.way_out() {
        Some(way_out) => complaint.help(format!("correct it, {way_out}")),
        None => complaint,
    }
}

/// Another type instead of a list.
pub(super) fn of_list(key: &Key, value: &Value) -> Complaint {
    let (what, format) = match key.shape {
        Shape::EverythingOr(format) => ("the text `\"*\"` or a list", Some(format)),
        Shape::List { of, .. } | Shape::Entries { of, .. } => ("a list", Some(of)),
        _ => ("a list", None),
    };
    let complaint = expected(key, what, value);
    let Value::Text(text) = value else { return complaint };
    let parts: Vec<&str> = text.split([',', ' ']).map(str::trim).filter(|part| !part.is_empty()).collect();
    let good = format.is_some_and(|format| parts.iter().all(|part| format::check(format, part).is_ok()));
    let advice = format.and_then(|format| format::check(format, text.trim()).err()?.help);
    if good && !parts.is_empty() {
        complaint.help(format!("write it as a list: `{}: [{}]`", key.name, parts.join(", ")))
    } else {
        let example = format!("write it like `{}: {}`", key.name, key.example);
        complaint.help(advice.unwrap_or(example))
    }
}

/// Another type instead of a mapping.
pub(super) fn of_map(key: &Key, what: &str, value: &Value) -> Complaint {
    expected(key, what, value).help(format!("write it like `{}: {}`", key.name, key.example))
}

/// Another type instead of tags.
pub(super) fn of_tags(key: &Key, value: &Value) -> Complaint {
    of_map(key, "a mapping of names to texts", value)
}
