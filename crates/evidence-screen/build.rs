//! Turns the list of forms of forbidden data into a table of the program: start-up reads and parses nothing, and a
//! mistake in the list fails the build.
//!
//! It writes each entry as a value of the program's own type, field by field. Only that type declares the fields, and
//! the compiler reports missing or unknown ones.

use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

const LIST: &str = "src/patterns.toml";

const END: &str = r"(?:[^0-9A-Za-z]|\z)";

/// The regular expression with the boundary at its end.
fn bounded(boundary: &str, flags: &str, bare: &str) -> Result<String, String> {
    match boundary {
        "none" => Ok(format!("{flags}{bare}")),
        "start" => Ok(format!("{flags}(?<span>{bare})")),
        "both" => Ok(format!("{flags}(?<span>{bare}){END}")),
        other => Err(format!("no boundary: {other}")),
    }
}

/// The regular expression for joined lines: the mark of a joint may follow every character, and can be a space.
fn joined(bare: &str) -> String {
    let mut written = String::new();
    let mut rest = bare;
    while let Some(first) = rest.chars().next() {
        let opened = ["(?:", "(?<span>", "(?<value>", "(?<"].iter().find(|group| rest.starts_with(**group));
        let (length, is_atom) = match first {
            '(' => (opened.map_or(1, |group| group.len()), false),
            ')' | '|' | '?' | '*' | '+' => (1, false),
            '{' => (rest.find('}').map_or(1, |end| end + 1), false),
            '[' => (class(rest), true),
            '\\' if rest.starts_with(r"\z") || rest.starts_with(r"\A") => (2, false),
            '\\' => (if rest.starts_with(r"\x") { 4 } else { 2 }, true),
            other => (other.len_utf8(), true),
        };
        let (part, behind) = rest.split_at(length);
        let is_space = [r"\s", " "].contains(&part)
            || part.starts_with('[')
                && !part.starts_with("[^")
                && (part.contains(r"\s") || part.contains(' '));
        // What stays in a line ends at a joint.
        let in_line =
            part.strip_prefix("[^").filter(|rest| rest.contains(r"\n")).map(|rest| format!(r"[^\xFF{rest}"));
        let part = in_line.as_deref().unwrap_or(part);
        match (is_atom && in_line.is_none(), is_space) {
            (false, _) => written.push_str(part),
            (true, false) => write!(written, r"(?:{part}\xFF?)").unwrap_or_default(),
            (true, true) => write!(written, r"(?:(?:{part}|\xFF)\xFF?)").unwrap_or_default(),
        }
        rest = behind;
    }
    written
}

/// The length of the class of characters with which the text begins.
fn class(text: &str) -> usize {
    let mut escaped = false;
    let end = text.char_indices().skip(1).find(|(_, character)| {
        let ends = *character == ']' && !escaped;
        escaped = *character == '\\' && !escaped;
        ends
    });
    end.map_or(text.len(), |(at, _)| at + 1)
}

/// Converts `word-start` to `WordStart`.
fn variant(name: &str) -> String {
    let words = name.split('-').filter_map(|word| word.split_at_checked(1));
    words.map(|(first, rest)| first.to_ascii_uppercase() + rest).collect()
}

/// The entry as an expression, with defaults for the fields that it omits.
fn rule(entry: &Table, usual: &Table) -> Result<String, Box<dyn Error>> {
    let mut fields = usual.clone();
    fields.extend(entry.clone());
    let text = |value: Option<Value>| value.as_ref().and_then(Value::as_str).map(str::to_string);
    let boundary = text(fields.remove("boundary")).ok_or("boundary is no text")?;
    let regex = text(fields.remove("regex")).ok_or("there is no regex")?;
    let (flags, bare) = match regex.strip_prefix("(?i)") {
        Some(bare) => ("(?i)", bare),
        None => ("", regex.as_str()),
    };
    let begins_word = boundary != "none";
    fields.insert("begins_word".to_string(), begins_word.into());
    fields.insert("pattern".to_string(), bounded(&boundary, flags, bare)?.into());
    fields.insert("joined".to_string(), bounded(&boundary, flags, &joined(bare))?.into());
    let context = if begins_word { "word-start" } else { "anywhere" };
    fields.entry("context").or_insert_with(|| context.into());
    let mut written = String::from("Pattern {");
    for (name, value) in &fields {
        match (name.as_str(), value) {
            ("context" | "value" | "confidence", Value::String(value)) => {
                write!(written, " {name}: {}::{},", variant(name), variant(value))?;
            }
            (_, Value::String(text)) => write!(written, " {name}: {text:?},")?,
            (_, Value::Array(texts)) => {
                let texts: Option<Vec<&str>> = texts.iter().map(Value::as_str).collect();
                let texts = texts.ok_or_else(|| format!("{name} is no list of texts"))?;
                write!(written, " {name}: &{texts:?},")?;
            }
            (_, Value::Float(number)) => write!(written, " {name}: {number:?},")?,
            (_, Value::Boolean(is)) => write!(written, " {name}: {is},")?,
            (_, other) => return Err(format!("{name} is {}", other.type_str()).into()),
        }
    }
    written.push_str(" }");
    Ok(written)
}

fn table(list: &Table) -> Result<String, Box<dyn Error>> {
    let usual = list.get("usual").and_then(Value::as_table).ok_or("there is no [usual]")?;
    let rules = list.get("rules").and_then(Value::as_array).ok_or("there are no [[rules]]")?;
    let mut table = String::from("&[\n");
    for entry in rules {
        let entry = entry.as_table().ok_or("a rule is no table")?;
        let written = rule(entry, usual).map_err(|error| format!("{error} in {entry:?}"))?;
        writeln!(table, "{written},")?;
    }
    table.push(']');
    Ok(table)
}

#[allow(clippy::print_stdout, reason = "how a build script speaks to cargo")]
fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={LIST}");
    let list: Table = fs::read_to_string(LIST)?.parse().map_err(|error| format!("{LIST}: {error}"))?;
    let table = table(&list).map_err(|error| format!("{LIST}: {error}"))?;
    fs::write(Path::new(&env::var("OUT_DIR")?).join("patterns.rs"), table)?;
    Ok(())
}
