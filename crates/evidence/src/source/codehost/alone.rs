//! Each answer by itself, without a host: what it comes to is what the collection makes of it.
//!
//! Nothing here decides; the reading is in `wire`, the meaning in `look`.

use super::artifact;
use super::look::{self, Target};
use super::wire::{self, Contents, Organization};
use crate::http::{Meta, ParseError};
use crate::source::{Answer, Found};

/// A repository that the answers are about.
const TARGET: Target<'_> = Target { owner: "acme", name: "web" };

pub(super) static ANSWERS: &[Answer] = &[
    Answer { call: "GET /orgs/{org}", read: organization },
    Answer { call: "GET /orgs/{org}/repos", read: repositories },
    Answer { call: "GET /repos/{owner}/{repo}/branches/{branch}/protection", read: protection },
    Answer { call: "GET /repos/{owner}/{repo}/contents/CODEOWNERS", read: contents },
];

fn organization(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let settings = Organization::parse(bytes)?.settings;
    Ok(vec![Found::Inspected(look::organization("acme", &settings, &Meta::default()))])
}

fn repositories(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let count = u64::try_from(wire::repositories(bytes)?.len()).unwrap_or(u64::MAX);
    let text = String::new();
    Ok(vec![Found::Population { discovered: Some(count), in_scope: count, expected: 0, text }])
}

fn protection(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let look = look::protection_shown(TARGET, wire::protection(bytes)?, &Meta::default());
    Ok(vec![Found::Inspected(look.inspection(&artifact::PROTECTION, "acme/web".into()))])
}

/// Nothing where the file has to be read on its own, or is none.
fn contents(bytes: &[u8]) -> Result<Vec<Found>, ParseError> {
    let Contents::File(file) = Contents::parse(bytes)? else { return Ok(Vec::new()) };
    let look = look::file_shown(TARGET, "CODEOWNERS", &file, &Meta::default());
    let inspection = look.map(|look| look.inspection(&artifact::CODEOWNERS, "acme/web".into()));
    Ok(inspection.map(Found::Inspected).into_iter().collect())
}
