//! CODEOWNERS as the stored query shows it: the file in each place, and the names of the directories around it.

use ring::digest::{Context, SHA1_FOR_LEGACY_USE_ONLY};
use serde::{Deserialize, Serialize};

/// The names that are looked for in a directory. No other name is kept.
const LOOKED_FOR: [&str; 3] = [".github", "docs", "CODEOWNERS"];

/// A repository.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct OwnersNode {
    pub(crate) id: Option<String>,
    pub(crate) name_with_owner: Option<String>,
    root: Option<Directory>,
    github: Option<Directory>,
    docs: Option<Directory>,
    github_file: Option<Blob>,
    root_file: Option<Blob>,
    docs_file: Option<Blob>,
}

/// A directory. Anything else in its place has no entries.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(from = "RawDirectory")]
struct Directory {
    entries: Option<Vec<Entry>>,
}

#[derive(Deserialize)]
struct RawDirectory {
    entries: Option<Vec<Entry>>,
}

impl From<RawDirectory> for Directory {
    fn from(raw: RawDirectory) -> Directory {
        let mut entries = raw.entries;
        // An entry without a name could be any.
        if entries.as_ref().is_some_and(|all| all.iter().any(|entry| entry.name.is_none())) {
            entries = None;
        }
        let looked_for = |entry: &Entry| entry.name.as_deref().is_some_and(|name| LOOKED_FOR.contains(&name));
        Directory { entries: entries.map(|all| all.into_iter().filter(looked_for).collect()) }
    }
}

#[derive(Debug, Clone, Deserialize, Serialize)]
struct Entry {
    name: Option<String>,
    mode: Option<u32>,
}

/// A file. Anything else in its place has no fields.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
struct Blob {
    oid: Option<String>,
    byte_size: Option<u64>,
    is_binary: Option<bool>,
    is_truncated: Option<bool>,
    text: Option<String>,
}

/// What a repository's CODEOWNERS is, if that is proved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum ShownOwners {
    /// The file in effect.
    File {
        /// Its place.
        path: &'static str,
        /// Its bytes.
        content: Vec<u8>,
    },
    /// The directories have none.
    Nothing,
}

/// What a directory says about a name.
enum Named {
    Nothing,
    File,
    Directory,
    Other,
}

impl Directory {
    fn find(&self, name: &str) -> Named {
        let Some(entries) = &self.entries else { return Named::Other };
        let Some(found) = entries.iter().find(|entry| entry.name.as_deref() == Some(name)) else {
            return Named::Nothing;
        };
        match found.mode {
            Some(0o040_000) => Named::Directory,
            Some(0o100_644 | 0o100_755 | 0o100_664) => Named::File,
            // A link, a submodule, or something unknown.
            Some(_) | None => Named::Other,
        }
    }
}

impl Blob {
    /// The file's bytes, if they are complete and have the id that git gives them.
    fn content(&self) -> Option<Vec<u8>> {
        let text = self.text.as_deref()?;
        let whole = self.is_binary == Some(false)
            && self.is_truncated == Some(false)
            && self.byte_size.and_then(|size| usize::try_from(size).ok()) == Some(text.len());
        (whole && self.oid.as_deref() == Some(blob_id(text).as_str())).then(|| text.as_bytes().to_vec())
    }
}

/// The id of a git blob with this text.
fn blob_id(text: &str) -> String {
    let mut context = Context::new(&SHA1_FOR_LEGACY_USE_ONLY);
    context.update(format!("blob {}\0", text.len()).as_bytes());
    context.update(text.as_bytes());
    hex::encode(context.finish().as_ref())
}

impl OwnersNode {
    /// What the answer proves: the first place that has a file, or that no place has one. `None` if it does not prove
    /// either, for whatever reason.
    pub(crate) fn proved(&self) -> Option<ShownOwners> {
        let root = self.root.as_ref()?;
        let places = [
            (".github/CODEOWNERS", Some((".github", &self.github)), &self.github_file),
            ("CODEOWNERS", None, &self.root_file),
            ("docs/CODEOWNERS", Some(("docs", &self.docs)), &self.docs_file),
        ];
        for (path, directory, file) in places {
            let named = match directory {
                None => root.find("CODEOWNERS"),
                Some((name, listed)) => match root.find(name) {
                    Named::Directory => listed.as_ref()?.find("CODEOWNERS"),
                    Named::Nothing => Named::Nothing,
                    // A file has no entries, and a link may lead to a directory.
                    Named::File => Named::Nothing,
                    Named::Other => return None,
                },
            };
            match named {
                Named::Nothing => {}
                Named::File => {
                    let content = file.as_ref()?.content()?;
                    return Some(ShownOwners::File { path, content });
                }
                Named::Directory | Named::Other => return None,
            }
        }
        Some(ShownOwners::Nothing)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    const TEXT: &str = "* @acme/web\n";

    fn node(value: Value) -> OwnersNode {
        serde_json::from_value(value).unwrap()
    }

    fn blob(text: &str) -> Value {
        json!({"oid": blob_id(text), "byteSize": text.len(), "isBinary": false, "isTruncated": false, "text": text})
    }

    fn entries(entries: &[(&str, u32)]) -> Value {
        let entries: Vec<Value> =
            entries.iter().map(|(name, mode)| json!({"name": name, "mode": mode})).collect();
        json!({ "entries": entries })
    }

    #[test]
    fn ids_are_git_s() {
        assert_eq!(blob_id(""), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        assert_eq!(blob_id("test content\n"), "d670460b4b4aece5915caf5c68d12f560a9fe3e4");
    }

    #[test]
    fn a_file_is_its_bytes_or_nothing() {
        let root = entries(&[("CODEOWNERS", 0o100_644), ("README.md", 0o100_644)]);
        let with = |file: Value| node(json!({"root": root, "rootFile": file})).proved();
        let file = ShownOwners::File { path: "CODEOWNERS", content: TEXT.as_bytes().to_vec() };
        assert_eq!(with(blob(TEXT)), Some(file));
        assert_eq!(with(Value::Null), None);
        for (field, value) in [
            ("oid", json!(blob_id("other"))),
            ("oid", Value::Null),
            ("byteSize", json!(13)),
            ("byteSize", Value::Null),
            ("isBinary", json!(true)),
            ("isBinary", Value::Null),
            ("isTruncated", json!(true)),
            ("isTruncated", Value::Null),
            ("text", Value::Null),
            ("text", json!("* @acme/wéb")),
        ] {
            let mut changed = blob(TEXT);
            changed[field] = value;
            assert_eq!(with(changed.clone()), None, "{changed}");
        }
    }

    #[test]
    fn only_directories_prove_that_there_is_no_file() {
        let readme = ("README.md", 0o100_644);
        let (github, docs) = ((".github", 0o040_000), ("docs", 0o040_000));
        let nothing = Some(ShownOwners::Nothing);
        for (shown, expected) in [
            (json!({"root": entries(&[readme])}), nothing.clone()),
            (json!({"root": entries(&[])}), nothing.clone()),
            (json!({"root": null}), None),
            (json!({"root": {}}), None),
            (json!({"root": {"entries": [{"mode": 33188}]}}), None),
            (json!({"root": entries(&[github]), "github": entries(&[readme])}), nothing.clone()),
            (json!({"root": entries(&[github]), "github": null}), None),
            (json!({"root": entries(&[docs]), "docs": {}}), None),
            (json!({"root": entries(&[docs]), "docs": entries(&[])}), nothing.clone()),
            // Links and submodules, whose targets may have one.
            (json!({"root": entries(&[("docs", 0o120_000)])}), None),
            (json!({"root": entries(&[(".github", 0o160_000)])}), None),
            (json!({"root": entries(&[("CODEOWNERS", 0o120_000)])}), None),
            (json!({"root": entries(&[("CODEOWNERS", 0o040_000)])}), None),
            (json!({"root": entries(&[("docs", 0o100_644)])}), nothing),
        ] {
            assert_eq!(node(shown.clone()).proved(), expected, "{shown}");
        }
    }

    #[test]
    fn the_first_place_counts() {
        let file = ("CODEOWNERS", 0o100_644);
        let shown = node(json!({
            "root": entries(&[(".github", 0o040_000), file]),
            "github": entries(&[file]),
            "githubFile": blob("# first\n"), "rootFile": blob(TEXT),
        }));
        let first = ShownOwners::File { path: ".github/CODEOWNERS", content: b"# first\n".to_vec() };
        assert_eq!(shown.proved(), Some(first));
    }

    /// What is kept for a resumed run reads as the answer did, and has no other name of a directory.
    #[test]
    fn what_is_kept_reads_the_same() {
        let shown = node(json!({
            "id": "R_1", "nameWithOwner": "acme/web",
            "root": entries(&[("secret-plans.md", 0o100_644), ("CODEOWNERS", 0o100_644)]),
            "rootFile": blob(TEXT),
        }));
        let kept = serde_json::to_value(&shown).unwrap();
        assert!(!kept.to_string().contains("secret-plans"));
        assert_eq!(node(kept).proved(), shown.proved());
    }
}
