//! The listing of a directory, reduced to the names on the way to CODEOWNERS.
//!
//! "Not Found" has no entity tag and counts against the limit in every run; a listing has one.

use serde::{Deserialize, Serialize};

use crate::json::Object;
use crate::source::github::host::api::{JSON, MIB};
use crate::source::github::host::compare::of_address;
use crate::source::github::host::kept::json_bytes;
use evidence_http::{Call, Keeping, ParseError, Subject};

/// The listing of a directory. Only the names on the way to CODEOWNERS are kept.
pub(super) const fn call(name: &'static str, times: &'static str) -> Call<Listing> {
    Call {
        name,
        purpose: "`codeowners-default-rule`: what is missing, in an answer that has an entity tag",
        times,
        kind: Some("directories"),
        media_type: JSON,
        // The host truncates it at 1,000 entries, about 1 MB.
        limit: 8 * MIB,
        parse: Listing::parse,
        subject: Some(Subject {
            fields: "`url` of its entries",
            other: |listing, about| of_address(listing.address()?, about),
        }),
        keep: Some(Keeping::new(10, reduced)),
    }
}

/// The names to look for in directory listings.
const LISTED: [&str; 3] = [".github", "docs", "CODEOWNERS"];

/// The number of entries at which the host silently truncates a listing.
const LONGEST_LISTING: usize = 1_000;

/// `GET /repos/{owner}/{repo}/contents/{path}` of a directory, reduced to the names in `LISTED`.
#[derive(Debug, Clone)]
pub(crate) struct Listing {
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
pub(crate) enum Listed {
    /// There is no entry with this name.
    Nothing,
    /// The entry is a directory.
    Directory,
    /// The entry is something else, or the listing is incomplete.
    Other,
}

impl Listing {
    fn parse(bytes: &[u8]) -> Result<Listing, ParseError> {
        let entries: Vec<ListedEntry> = Object::all(serde_json::from_slice(bytes)?);
        let whole = entries.len() < LONGEST_LISTING
            && entries.iter().all(|entry| entry.name.is_some() && entry.kind.is_some());
        let address = directory(entries.iter().map(|entry| entry.url.as_ref()))?;
        let wanted =
            |entry: &ListedEntry| whole && entry.name.as_deref().is_some_and(|name| LISTED.contains(&name));
        Ok(Listing { entries: entries.into_iter().filter(wanted).collect(), whole, address })
    }

    fn address(&self) -> Option<&str> {
        self.address.as_deref()
    }

    pub(crate) fn find(&self, name: &str) -> Listed {
        let found = self.entries.iter().find(|entry| entry.name.as_deref() == Some(name));
        match found.map(|entry| entry.kind.as_deref()) {
            None if self.whole => Listed::Nothing,
            Some(Some("dir")) => Listed::Directory,
            None | Some(_) => Listed::Other,
        }
    }
}

/// Keeps an incomplete listing as one whose only entry has no name.
fn reduced(listing: &Listing) -> Vec<u8> {
    if listing.whole { json_bytes(&listing.entries) } else { b"[{}]".to_vec() }
}

/// The address of a directory: that of its entries without their names. Fails if they are in several directories.
pub(super) fn directory<'a>(
    entries: impl Iterator<Item = Option<&'a String>>,
) -> Result<Option<String>, ParseError> {
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
