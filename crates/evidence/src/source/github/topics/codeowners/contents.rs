//! A file or whatever else lies in a place for CODEOWNERS, as the host describes it.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::json;

use super::listing::directory;
use crate::json::{Object, object};
use crate::source::github::host::compare::{differs, of_address, place_of};
use crate::source::github::host::kept::json_bytes;
use evidence_http::{ParseError, Reply, Subject};

/// `GET /repos/{owner}/{repo}/contents/{path}`
#[derive(Debug, Clone)]
pub(crate) enum Contents {
    File(File),
    /// Something else, and its address.
    Other(NotAFile, Option<String>),
}

/// What can take the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotAFile {
    Directory,
    /// A link that leads nowhere, or out of the repository: otherwise the host sends the target's content.
    SymbolicLink,
    Submodule,
}

impl fmt::Display for NotAFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            NotAFile::Directory => "a directory",
            NotAFile::SymbolicLink => "a symbolic link without content",
            NotAFile::Submodule => "a submodule",
        })
    }
}

/// A file's record.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(crate) struct File {
    #[serde(rename = "type")]
    pub(crate) kind: Option<String>,
    pub(crate) name: Option<String>,
    pub(crate) path: Option<String>,
    pub(crate) size: Option<u64>,
    pub(crate) encoding: Option<String>,
    pub(crate) content: Option<String>,
    pub(crate) url: Option<String>,
    /// Before 2026-03-10 the API calls a submodule a file; this field reveals it.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "there")]
    submodule_git_url: Option<IgnoredAny>,
}

/// Of an ignored value, only its presence is kept.
fn there<S: Serializer>(_: &Option<IgnoredAny>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bool(true)
}

/// An entry of a directory. A list of anything but objects is not a directory.
#[derive(Deserialize)]
struct Entry {
    url: Option<String>,
}

impl Contents {
    pub(crate) fn parse(bytes: &[u8]) -> Result<Contents, ParseError> {
        let is_list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        if is_list {
            let entries: Vec<Entry> = Object::all(serde_json::from_slice(bytes)?);
            let url = directory(entries.iter().map(|entry| entry.url.as_ref()))?;
            return Ok(Contents::Other(NotAFile::Directory, url));
        }
        let file: File = object(bytes)?;
        match (file.kind.as_deref(), &file.content) {
            (None | Some("file"), Some(_)) => Ok(Contents::File(file)),
            (Some("symlink"), _) => Ok(Contents::Other(NotAFile::SymbolicLink, file.url)),
            (Some("submodule"), _) => Ok(Contents::Other(NotAFile::Submodule, file.url)),
            (Some("file"), None) if file.submodule_git_url.is_some() => {
                Ok(Contents::Other(NotAFile::Submodule, file.url))
            }
            (Some("dir"), _) => Ok(Contents::Other(NotAFile::Directory, file.url)),
            // Absence is a finding, so the host must state it. An unknown form does not prove it.
            _ => Err(ParseError::Shape("no file, directory, symbolic link or submodule".to_string())),
        }
    }

    /// The file's bytes, decoded from base64.
    pub(crate) fn decoded(&self) -> Option<Vec<u8>> {
        let Contents::File(file) = self else { return None };
        let stripped: Vec<u8> =
            file.content.as_deref()?.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        BASE64.decode(stripped).ok()
    }
}

pub(crate) fn reduced(contents: &Contents) -> Vec<u8> {
    match contents {
        Contents::File(file) => json_bytes(file),
        Contents::Other(what, url) => {
            let kind = match what {
                NotAFile::Directory => "dir",
                NotAFile::SymbolicLink => "symlink",
                NotAFile::Submodule => "submodule",
            };
            json_bytes(&json!({ "type": kind, "url": url }))
        }
    }
}

/// How an answer names its subject.
pub(crate) const SUBJECT: Subject<Contents> = Subject {
    fields: "`url`, or `path` without it; of a directory, the `url` of its entries",
    other: |contents, about| match contents {
        Contents::File(file) => match (&file.url, &file.path) {
            (Some(url), _) => of_address(url, about),
            (None, Some(path)) => {
                let asked = place_of(about.subject)?;
                let asked = asked.strip_prefix("contents/")?;
                differs(path == asked, path, asked)
            }
            (None, None) => None,
        },
        Contents::Other(_, url) => of_address(url.as_deref()?, about),
    },
};

/// A file with its content. Any other answer about a location is judged together with those about the other locations.
pub(super) fn is_whole_file(reply: &Reply<Contents>) -> bool {
    let Ok(answered) = reply else { return false };
    let Contents::File(file) = &answered.value else { return false };
    file.content.as_deref().is_some_and(|content| !content.is_empty()) || file.size == Some(0)
}
