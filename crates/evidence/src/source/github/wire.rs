//! The code host's answers on the wire, reduced to the fields that are used.
//!
//! A missing or unknown field is not an error, since the host's own examples sometimes violate its schema. A field of
//! another type than documented is, because guessing its meaning would invent evidence.
//!
//! The `reduced` functions return what is kept of an answer between runs: the used fields, in the host's own form.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::json::{Object, object};
use evidence_http::ParseError;
use evidence_rules::codehost::branch_protection;
use evidence_rules::codehost::record::{
    BranchProtection, BranchRule, BranchState, CodeownersErrors, OrganizationSettings, Ruleset,
};
use evidence_rules::field::Field;

/// `GET /orgs/{org}`
#[derive(Debug, Clone)]
pub(super) struct Organization {
    pub(super) settings: OrganizationSettings,
    pub(super) counts: RepositoryCounts,
}

/// The organization's repository counts, as far as this token may see them.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub(super) struct RepositoryCounts {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) public_repos: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) total_private_repos: Option<u64>,
}

impl RepositoryCounts {
    /// How many repositories there are, if the host reports both counts.
    pub(super) fn total(&self) -> Option<u64> {
        Some(self.public_repos?.saturating_add(self.total_private_repos?))
    }
}

impl Organization {
    pub(super) fn parse(bytes: &[u8]) -> Result<Organization, ParseError> {
        let settings: OrganizationSettings = object(bytes)?;
        if settings.login.value().is_none() && settings.id.value().is_none() {
            return Err(ParseError::Shape("neither the login nor the id of an organization".to_string()));
        }
        let counts = object(bytes).unwrap_or_default();
        Ok(Organization { settings, counts })
    }
}

pub(super) fn reduced_organization(organization: &Organization) -> Vec<u8> {
    let mut kept = map(&organization.settings);
    kept.extend(map(&organization.counts));
    json_bytes(&kept)
}

/// One item of `GET /orgs/{org}/repos`, or `GET /repos/{owner}/{repo}`
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
pub(super) struct Repository {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) full_name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) name: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) archived: Option<bool>,
    /// Disabled by the host, so that its contents cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) disabled: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) default_branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) visibility: Option<String>,
    /// In KiB, updated from time to time: 0 for an empty repository, and for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) size: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) permissions: Option<Permissions>,
}

/// The permissions of the token's user in a repository.
#[derive(Debug, Clone, Deserialize, Serialize)]
pub(super) struct Permissions {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) admin: Option<bool>,
}

/// The maximum memory use of a page of the listing. A hundred repositories with long names take 15 kB. A server other
/// than the host can send a million, and a thousand pages may be in memory at the same time.
const PAGE_WEIGHT: usize = 128 * 1024;

impl Repository {
    fn weight(&self) -> usize {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::capacity);
        size_of::<Repository>() + text(&self.full_name) + text(&self.name) + text(&self.default_branch)
    }
}

pub(super) fn repositories(bytes: &[u8]) -> Result<Vec<Repository>, ParseError> {
    let page = Object::all(serde_json::from_slice(bytes)?);
    if page.iter().map(Repository::weight).sum::<usize>() > PAGE_WEIGHT {
        return Err(ParseError::Shape(format!(
            "{} repositories, or names, too large for a page",
            page.len()
        )));
    }
    Ok(page)
}

/// `GET /repos/{owner}/{repo}/branches/{branch}/protection`
///
/// The host omits sections that are not configured, so any object would read as a rule without requirements. A real
/// answer always has its own URL; an object with another URL, or none, is something else.
pub(super) fn protection(bytes: &[u8]) -> Result<BranchProtection, ParseError> {
    let protection: BranchProtection = object(bytes)?;
    if protection.url.value().is_some_and(|url| url.ends_with("/protection")) {
        Ok(protection)
    } else {
        Err(ParseError::Shape("its url is not that of a branch protection".to_string()))
    }
}

pub(super) fn reduced_protection(protection: &BranchProtection) -> Vec<u8> {
    let mut kept = map(protection);
    // The newer list is judged, although it is not a field of the artifact.
    if let Field::Value(required) = &protection.required_status_checks
        && let Some(section) = kept.get_mut("required_status_checks").and_then(Value::as_object_mut)
    {
        match &required.checks {
            Field::Absent => {}
            Field::Null => drop(section.insert("checks".to_string(), Value::Null)),
            Field::Value(checks) => {
                let checks = checks.iter().map(|check| json!({ "context": check.context })).collect();
                section.insert("checks".to_string(), Value::Array(checks));
            }
        }
    }
    json_bytes(&kept)
}

/// `GET /repos/{owner}/{repo}/rules/branches/{branch}`. Rules of types that are not judged lose their parameters.
pub(super) fn rules(bytes: &[u8]) -> Result<Vec<BranchRule>, ParseError> {
    let rules: Vec<BranchRule> = Object::all(serde_json::from_slice(bytes)?);
    if rules.iter().any(|rule| rule.kind.value().is_none()) {
        return Err(ParseError::Shape("a rule without a type".to_string()));
    }
    Ok(rules.into_iter().map(branch_protection::reduced).collect())
}

/// `GET /repos/{owner}/{repo}/rulesets/{ruleset_id}`
pub(super) fn ruleset(bytes: &[u8]) -> Result<Ruleset, ParseError> {
    let ruleset: Ruleset = object(bytes)?;
    if ruleset.id.value().is_some() {
        Ok(ruleset)
    } else {
        Err(ParseError::Shape("no id of a ruleset".to_string()))
    }
}

/// `GET /repos/{owner}/{repo}/codeowners/errors`
pub(super) fn codeowners_errors(bytes: &[u8]) -> Result<CodeownersErrors, ParseError> {
    let errors: CodeownersErrors = object(bytes)?;
    if errors.errors.value().is_some() {
        Ok(errors)
    } else {
        Err(ParseError::Shape("no list of errors".to_string()))
    }
}

/// `GET /repos/{owner}/{repo}`. The answer proves that the repository exists, so it must really be a repository.
pub(super) fn repository(bytes: &[u8]) -> Result<Repository, ParseError> {
    let repository: Repository = object(bytes)?;
    if repository.id.is_some() || repository.full_name.is_some() {
        Ok(repository)
    } else {
        Err(ParseError::Shape("neither the id nor the name of a repository".to_string()))
    }
}

/// `GET /user`: whom the token acts for. Nothing else of the answer is read, because the rest is personal.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct User {
    pub(super) login: String,
    pub(super) id: u64,
}

pub(super) fn user(bytes: &[u8]) -> Result<User, ParseError> {
    object(bytes)
}

/// `GET /repos/{owner}/{repo}/contents/{path}`
#[derive(Debug, Clone)]
pub(super) enum Contents {
    File(File),
    /// Something else, and its address.
    Other(NotAFile, Option<String>),
}

/// What can take the place of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NotAFile {
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
pub(super) struct File {
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    pub(super) name: Option<String>,
    pub(super) path: Option<String>,
    pub(super) size: Option<u64>,
    pub(super) encoding: Option<String>,
    pub(super) content: Option<String>,
    pub(super) url: Option<String>,
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
    pub(super) fn parse(bytes: &[u8]) -> Result<Contents, ParseError> {
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
    pub(super) fn decoded(&self) -> Option<Vec<u8>> {
        let Contents::File(file) = self else { return None };
        let stripped: Vec<u8> =
            file.content.as_deref()?.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
        BASE64.decode(stripped).ok()
    }
}

pub(super) fn reduced_contents(contents: &Contents) -> Vec<u8> {
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

/// The address of a directory: that of its entries without their names. Fails if they are in several directories.
fn directory<'a>(entries: impl Iterator<Item = Option<&'a String>>) -> Result<Option<String>, ParseError> {
    let mut parents = entries.flatten().map(|url| {
        let path = url.split_once('?').map_or(url.as_str(), |(path, _)| path);
        path.rsplit_once('/').map_or(path, |(parent, _)| parent)
    });
    let Some(first) = parents.next() else { return Ok(None) };
    if parents.all(|parent| parent == first) {
        Ok(Some(first.to_string()))
    } else {
        Err(ParseError::Shape("entries of several directories".to_string()))
    }
}

/// The names to look for in directory listings.
const LISTED: [&str; 3] = [".github", "docs", "CODEOWNERS"];

/// The number of entries at which the host silently truncates a listing.
const LONGEST_LISTING: usize = 1_000;

/// `GET /repos/{owner}/{repo}/contents/{path}` of a directory, reduced to the names in `LISTED`.
#[derive(Debug, Clone)]
pub(super) struct Listing {
    entries: Vec<ListedEntry>,
    /// Whether the listing is not truncated, and every entry has a name and a type.
    whole: bool,
    /// The address of the directory. Not kept: a kept listing has been compared.
    address: Option<String>,
}

/// An entry of a directory.
#[derive(Debug, Clone, Deserialize, Serialize)]
struct ListedEntry {
    name: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(skip_serializing)]
    url: Option<String>,
}

/// What a listing says about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listed {
    /// There is no entry with this name.
    Nothing,
    /// The entry is a directory.
    Directory,
    /// The entry is something else, or the listing is incomplete.
    Other,
}

impl Listing {
    pub(super) fn parse(bytes: &[u8]) -> Result<Listing, ParseError> {
        let entries: Vec<ListedEntry> = Object::all(serde_json::from_slice(bytes)?);
        let whole = entries.len() < LONGEST_LISTING
            && entries.iter().all(|entry| entry.name.is_some() && entry.kind.is_some());
        let address = directory(entries.iter().map(|entry| entry.url.as_ref()))?;
        let wanted =
            |entry: &ListedEntry| whole && entry.name.as_deref().is_some_and(|name| LISTED.contains(&name));
        Ok(Listing { entries: entries.into_iter().filter(wanted).collect(), whole, address })
    }

    pub(super) fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    pub(super) fn find(&self, name: &str) -> Listed {
        let found = self.entries.iter().find(|entry| entry.name.as_deref() == Some(name));
        match found.map(|entry| entry.kind.as_deref()) {
            None if self.whole => Listed::Nothing,
            Some(Some("dir")) => Listed::Directory,
            None | Some(_) => Listed::Other,
        }
    }
}

/// Keeps an incomplete listing as one whose only entry has no name.
pub(super) fn reduced_listing(listing: &Listing) -> Vec<u8> {
    if listing.whole { json_bytes(&listing.entries) } else { b"[{}]".to_vec() }
}

/// `GET /repos/{owner}/{repo}/branches/{branch}`, without the commit, which names people.
pub(super) fn branch(bytes: &[u8]) -> Result<BranchState, ParseError> {
    let branch: BranchState = object(bytes)?;
    if branch.name.value().is_some() && branch.protected.value().is_some() {
        Ok(branch)
    } else {
        Err(ParseError::Shape("neither the name nor the protection of a branch".to_string()))
    }
}

fn map(value: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(value) {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

pub(super) fn json_bytes<T: Serialize>(value: &T) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
