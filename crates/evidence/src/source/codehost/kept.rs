//! What is kept of each answer between runs: the fields that are used, in the host's own form.
//!
//! The law of this file: what [`wire`](super::wire) reads from a kept record is what it read from the answer. A field that
//! got lost here would be a setting that is not there any more, and nobody changed it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value, json};

use super::record::BranchProtection;
use super::wire::{Contents, NotAFile, Organization, Repository};
use crate::http::{Keeping, Reply};
use crate::observation::Field;

/// `GET /orgs/{org}`: the connection test, so that a resumed run asks it anew. What the token may do stands in headers.
pub(super) static ORGANIZATION: Keeping<Organization> = Keeping {
    kind: 1,
    reduce: organization,
    clear: |_| None,
    headers: &["x-oauth-scopes", "github-authentication-token-expiration"],
    resumable: |_| false,
};

/// A page of `GET /orgs/{org}/repos`. Where the next one is and whether repositories were left out stands in headers; a
/// resumed run asks anew what there is to look at.
pub(super) static PAGE: Keeping<Vec<Repository>> = Keeping {
    kind: 2,
    reduce: page,
    clear: |_| None,
    headers: &["link", "x-github-sso"],
    resumable: |_| false,
};

/// `GET /repos/{owner}/{repo}/branches/{branch}/protection`
pub(super) static PROTECTION: Keeping<BranchProtection> =
    Keeping { kind: 3, reduce: protection, clear: |_| None, headers: &[], resumable: is_told };

/// `GET /repos/{owner}/{repo}/contents/{path}`
pub(super) static CONTENTS: Keeping<Contents> =
    Keeping { kind: 4, reduce: contents, clear: decoded, headers: &[], resumable: is_whole_file };

/// The same, for the file's own bytes.
pub(super) static RAW: Keeping<Vec<u8>> =
    Keeping { kind: 5, reduce: Vec::clone, clear: |_| None, headers: &[], resumable: |_| false };

/// `GET /repos/{owner}/{repo}`, of which only the existence matters.
pub(super) static EXISTS: Keeping<()> = Keeping {
    kind: 6,
    reduce: |()| br#"{"full_name":""}"#.to_vec(),
    clear: |_| None,
    headers: &[],
    resumable: |_| false,
};

/// The rule, or the host's word that there is none. "Not Found" alone is no word: whoever may see the rule is told it
/// the next time.
fn is_told(reply: &Reply<BranchProtection>) -> bool {
    match reply {
        Reply::Good(_) => true,
        Reply::Refused(refused) => refused
            .message
            .as_deref()
            .is_some_and(|message| !message.trim().trim_end_matches('.').eq_ignore_ascii_case("not found")),
    }
}

/// A file with its content. That there is none in a place, or something else, is one of several answers that are
/// looked at together.
fn is_whole_file(reply: &Reply<Contents>) -> bool {
    let Reply::Good(answered) = reply else { return false };
    let Contents::File(file) = &answered.value else { return false };
    file.content.as_deref().is_some_and(|content| !content.is_empty()) || file.size == Some(0)
}

fn organization(organization: &Organization) -> Vec<u8> {
    let mut kept = object(serde_json::to_value(&organization.settings));
    let counts = &organization.counts;
    for (name, count) in
        [("public_repos", counts.public_repos), ("total_private_repos", counts.total_private_repos)]
    {
        if let Some(count) = count {
            kept.insert(name.to_string(), count.into());
        }
    }
    bytes(&Value::Object(kept))
}

fn page(repositories: &Vec<Repository>) -> Vec<u8> {
    serde_json::to_vec(repositories).unwrap_or_default()
}

fn protection(protection: &BranchProtection) -> Vec<u8> {
    let mut kept = object(serde_json::to_value(protection));
    // The newer form of the list is no field of the artifact, and is judged.
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
    bytes(&Value::Object(kept))
}

fn contents(contents: &Contents) -> Vec<u8> {
    match contents {
        Contents::File(file) => serde_json::to_vec(file).unwrap_or_default(),
        Contents::Other(NotAFile::Directory) => b"[]".to_vec(),
        Contents::Other(NotAFile::SymbolicLink) => br#"{"type":"symlink"}"#.to_vec(),
        Contents::Other(NotAFile::Submodule) => br#"{"type":"submodule"}"#.to_vec(),
    }
}

/// The file itself, which base64 hides.
fn decoded(contents: &Contents) -> Option<Vec<u8>> {
    let Contents::File(file) = contents else { return None };
    let stripped: Vec<u8> =
        file.content.as_deref()?.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    BASE64.decode(stripped).ok()
}

fn object(value: serde_json::Result<Value>) -> Map<String, Value> {
    match value {
        Ok(Value::Object(map)) => map,
        _ => Map::new(),
    }
}

fn bytes(value: &Value) -> Vec<u8> {
    serde_json::to_vec(value).unwrap_or_default()
}

#[cfg(test)]
mod tests;
