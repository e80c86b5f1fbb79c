//! The code host's answers as they come over the wire, reduced to the fields that are used.
//!
//! Tolerant: a field that is missing or unknown is no error, since the host's own examples break its own schema here
//! and there. A field of another type than documented is one: guessing what it means would invent evidence.

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::observation::{BranchProtection, OrganizationSettings};

/// `GET /orgs/{org}`
#[derive(Debug, Clone)]
pub(super) struct Organization {
    pub(super) settings: OrganizationSettings,
    pub(super) counts: RepositoryCounts,
}

/// How many repositories the organization has, as far as this token is told.
#[derive(Debug, Clone, Default, Deserialize)]
pub(super) struct RepositoryCounts {
    pub(super) public_repos: Option<u64>,
    pub(super) total_private_repos: Option<u64>,
}

impl Organization {
    pub(super) fn parse(bytes: &[u8]) -> Result<Organization, serde_json::Error> {
        let settings = serde_json::from_slice(bytes)?;
        let counts = serde_json::from_slice(bytes).unwrap_or_default();
        Ok(Organization { settings, counts })
    }
}

/// One item of `GET /orgs/{org}/repos`
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Repository {
    pub(super) id: Option<u64>,
    pub(super) full_name: Option<String>,
    #[serde(default)]
    pub(super) archived: Option<bool>,
}

pub(super) fn repositories(bytes: &[u8]) -> Result<Vec<Repository>, serde_json::Error> {
    serde_json::from_slice(bytes)
}

pub(super) fn protection(bytes: &[u8]) -> Result<BranchProtection, serde_json::Error> {
    serde_json::from_slice(bytes)
}

/// An answer of which only the existence matters.
pub(super) fn exists(bytes: &[u8]) -> Result<(), serde_json::Error> {
    serde_json::from_slice::<IgnoredAny>(bytes).map(|_| ())
}

/// `GET /repos/{owner}/{repo}/contents/{path}`
#[derive(Debug, Clone)]
pub(super) enum Contents {
    File(File),
    /// A directory, symbolic link or submodule; in words.
    Other(String),
}

/// A file's record.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct File {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) size: Option<u64>,
    pub(super) encoding: Option<String>,
    pub(super) content: Option<String>,
    pub(super) url: Option<String>,
}

impl Contents {
    pub(super) fn parse(bytes: &[u8]) -> Result<Contents, serde_json::Error> {
        let is_list = bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[');
        if is_list {
            serde_json::from_slice::<Vec<IgnoredAny>>(bytes)?;
            return Ok(Contents::Other("a directory".to_string()));
        }
        let file: File = serde_json::from_slice(bytes)?;
        Ok(match file.kind.as_deref() {
            None | Some("file") if file.content.is_some() => Contents::File(file),
            Some("symlink") => Contents::Other("a symbolic link without content".to_string()),
            Some("submodule") => Contents::Other("a submodule".to_string()),
            // Before 2026-03-10 the API calls a submodule a file without content.
            _ => Contents::Other("not a file".to_string()),
        })
    }
}
