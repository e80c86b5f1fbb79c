//! The read-only POSTs: every place where a source makes one, and what it asks.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Every POST of a source, by file and call. The README promises that there is no other: each exchanges a token, or asks a
/// question whose protocol needs a body.
const POSTS: &[(&str, &str)] = &[
    // The provider's get, list and describe calls, and the temporary credentials of a role: `CALLS` lists them.
    ("aws/host/api.rs", "action.call.post("),
    // The stored queries: the call of one of them, whose body is made of its text and variables.
    ("github/host/bulk/query.rs", "self.call.post("),
    // A token of an app's installation.
    ("github/host/app/mod.rs", "TOKEN.post("),
    // A token of a service account.
    ("google/host/access.rs", "TOKEN.post("),
    // The same without a key: a signature over the assertion, and a token for that of another identity provider.
    ("google/host/sign_jwt.rs", "SIGN.post("),
    ("google/host/identity.rs", "EXCHANGE.post("),
];

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The word before `.post(`, with it.
fn call(line: &str) -> Option<&str> {
    let (before, _) = line.split_once("post(")?;
    let start = before.rfind(|character: char| !(character.is_alphanumeric() || "_.:".contains(character)));
    line.get(start.map_or(0, |at| at + 1)..before.len() + "post(".len())
}

/// The queries are files that only read, and only one function makes a request of one.
#[test]
fn a_query_is_a_stored_text_that_reads() {
    let bulk = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/source/github/host/bulk");
    let module = fs::read_to_string(bulk.join("query.rs")).unwrap();
    let mut stored = BTreeSet::new();
    for entry in fs::read_dir(bulk.join("queries")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = fs::read_to_string(&path).unwrap();
        let operations: Vec<&str> = text
            .lines()
            .filter(|line| !line.starts_with(['#', ' ', '}']) && !line.is_empty())
            .filter(|line| !line.starts_with("fragment "))
            .collect();
        assert!(
            matches!(operations.as_slice(), [one] if one.starts_with("query ")),
            "{name}: {operations:?}"
        );
        assert!(
            module.contains(&format!("text: include_str!(\"queries/{name}\")")),
            "{name} is not a stored query"
        );
        stored.insert(name);
    }
    assert_eq!(module.matches("text: ").count() - module.matches("text: &'static str").count(), stored.len());
    assert_eq!(module.matches("post(").count(), 1);
}

#[test]
fn a_source_posts_nothing_but_the_listed_questions() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/source");
    let mut paths = Vec::new();
    files(&root, &mut paths);
    let mut found = BTreeSet::new();
    for path in &paths {
        let text = fs::read_to_string(path).unwrap();
        let name = path.strip_prefix(&root).unwrap().to_string_lossy().into_owned();
        let text = text.split("#[cfg(test)]").next().unwrap();
        assert!(!text.contains("Method::Post"), "{name} makes a request of its own");
        found.extend(text.lines().filter_map(call).map(|call| (name.clone(), call.to_owned())));
    }
    let listed = POSTS.iter().map(|(file, call)| ((*file).to_owned(), (*call).to_owned())).collect();
    assert_eq!(found, listed);
    assert_eq!(call("    self.app.client.ask(&TOKEN.post(url, label, body), &TOKEN)"), Some("TOKEN.post("));
    assert_eq!(call("let request = Request::post(url)"), Some("Request::post("));
}
