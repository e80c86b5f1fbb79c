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

/// The text before a match: in JSON and URLs, the end of an escape also ends a word, as in `\nAKIA...`.
const START: &str = r"(?:\A|[^0-9A-Za-z]|\\[nrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})";
const END: &str = r"(?:[^0-9A-Za-z]|\z)";

/// The regular expression with its boundary, and the default context of a match.
fn bounded(boundary: &str, regex: &str) -> Result<(String, &'static str), String> {
    let (flags, bare) = match regex.strip_prefix("(?i)") {
        Some(bare) => ("(?i)", bare),
        None => ("", regex),
    };
    match boundary {
        "none" => Ok((regex.to_string(), "anywhere")),
        "start" => Ok((format!("{flags}{START}(?<span>{bare})"), "word-start")),
        "both" => Ok((format!("{flags}{START}(?<span>{bare}){END}"), "word-start")),
        other => Err(format!("no boundary: {other}")),
    }
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
    let (pattern, context) = bounded(&boundary, &regex)?;
    fields.insert("pattern".to_string(), pattern.into());
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
