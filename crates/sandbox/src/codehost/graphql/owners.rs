//! CODEOWNERS: the objects at its places, and the directories around them.

use super::super::Endpoint;
use super::super::contents::{self, Entry};
use super::super::reply::docs;
use super::subject::{Problem, Subject, kind, text};
use crate::sha1;
use serde_json::{Value, json};

/// The text of a longer file is cut.
const LONGEST_TEXT: usize = 512 * 1024;

const OBJECTS: [(&str, &str); 6] = [
    ("root", ""),
    ("github", ".github"),
    ("docs", "docs"),
    ("githubFile", ".github/CODEOWNERS"),
    ("rootFile", "CODEOWNERS"),
    ("docsFile", "docs/CODEOWNERS"),
];

/// Adds the objects by `put`.
pub(super) fn fill(put: &mut dyn FnMut(&str, Value), subject: &Subject<'_>, problems: &mut Vec<Problem>) {
    let repository = &subject.repository;
    let refused = match (
        subject.who.permitted(repository, "contents", docs::REST),
        repository.refusals.get(&Endpoint::Contents),
    ) {
        (Err(refused), _) => Some(("FORBIDDEN", text(&refused))),
        (Ok(()), Some((status, message))) => Some((kind(*status), message.clone())),
        (Ok(()), None) => None,
    };
    for (alias, path) in OBJECTS {
        if let Some((kind, message)) = &refused {
            problems.push(subject.problem(kind, message, &[alias]));
        }
        let is_file = alias.ends_with("File");
        let found = contents::entry(repository, path).filter(|_| refused.is_none());
        put(alias, found.map_or(Value::Null, |entry| object(&entry, is_file)));
    }
}

/// An object as a fragment for files, or one for directories, shows it: without fields if it is something else.
fn object(entry: &Entry, is_file: bool) -> Value {
    match entry {
        Entry::Tree(entries) if !is_file => {
            let entries = entries.iter().map(|(name, mode)| json!({"name": name, "mode": mode}));
            json!({ "entries": entries.collect::<Vec<_>>() })
        }
        Entry::Blob(content) if is_file => {
            let text = std::str::from_utf8(content).ok().filter(|text| !text.contains('\0'));
            let shown = text.map(|text| text.get(..LONGEST_TEXT).unwrap_or(text));
            json!({
                "oid": sha1::blob_id(content),
                "byteSize": content.len(),
                "isBinary": text.is_none(),
                "isTruncated": content.len() > LONGEST_TEXT,
                "text": shown,
            })
        }
        Entry::Tree(_) | Entry::Blob(_) => json!({}),
        Entry::Commit => Value::Null,
    }
}
