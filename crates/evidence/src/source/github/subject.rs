//! How the code host's answers name the organization, repository, branch or directory that they are about.
//!
//! A proxy or a cache can send the answer to another request. Its settings must not become evidence about this one, so
//! each call compares what its answers name. After a redirect, the owner and the name of a repository may differ, since
//! the host redirects after a rename: `interpret` decides about the owner.

use super::wire::{Contents, Listing, Organization, Repository};
use evidence_http::call::decoded;
use evidence_http::{AskedAbout, Subject};
use evidence_rules::codehost::record::{BranchProtection, BranchRule, BranchState, Ruleset};
use evidence_rules::field::Field;

pub(super) const ORGANIZATION: Subject<Organization> = Subject {
    fields: "`login`",
    other: |organization, about| {
        let asked = about.subject.strip_prefix("/orgs/")?;
        let login = organization.settings.login.value()?;
        differs(login.eq_ignore_ascii_case(&decoded(asked)), login, asked)
    },
};

pub(super) const REPOSITORY: Subject<Repository> = Subject {
    fields: "`full_name`",
    other: |repository, about| of_repository(repository.full_name.as_deref()?, about),
};

pub(super) const PROTECTION: Subject<BranchProtection> =
    Subject { fields: "`url`", other: |protection, about| of_address(protection.url.value()?, about) };

pub(super) const BRANCH: Subject<BranchState> =
    Subject { fields: "`_links.self`", other: |branch, about| of_address(branch.address()?, about) };

pub(super) const CONTENTS: Subject<Contents> = Subject {
    fields: "`url`, or `path` without it; of a directory, the `url` of its entries",
    other: |contents, about| match contents {
        Contents::File(file) => match (&file.url, &file.path) {
            (Some(url), _) => of_address(url, about),
            (None, Some(path)) => {
                let asked = Place::of(about.subject)?;
                let asked = asked.rest.strip_prefix("contents/")?;
                differs(path == asked, path, asked)
            }
            (None, None) => None,
        },
        Contents::Other(_, url) => of_address(url.as_deref()?, about),
    },
};

pub(super) const DIRECTORY: Subject<Listing> =
    Subject { fields: "`url` of its entries", other: |listing, about| of_address(listing.address()?, about) };

pub(super) const RULES: Subject<Vec<BranchRule>> = Subject {
    fields: "`ruleset_source` of a repository or organization",
    other: |rules, about| {
        rules.iter().find_map(|rule| of_source(&rule.ruleset_source_type, &rule.ruleset_source, about))
    },
};

pub(super) const RULESET: Subject<Ruleset> = Subject {
    fields: "`id`; `source` of a repository or organization",
    other: |ruleset, about| of_source(&ruleset.source_type, &ruleset.source, about),
};

/// A place in a repository, decoded.
struct Place {
    repository: String,
    rest: String,
    /// The same, as it came.
    raw: String,
}

impl Place {
    /// The place with this address; `None` if it is not below `/repos/`, as the next page of a listing.
    fn of(address: &str) -> Option<Place> {
        let (_, path) = address.split_once("/repos/")?;
        let path = path.split_once('?').map_or(path, |(path, _)| path);
        let (owner, path) = path.split_once('/')?;
        let (name, rest) = path.split_once('/').unwrap_or((path, ""));
        let repository = format!("{}/{}", decoded(owner), decoded(name));
        let raw = rest.trim_end_matches('/').to_string();
        Some(Place { repository, rest: decoded(&raw), raw })
    }
}

fn of_address(url: &str, about: &AskedAbout<'_>) -> Option<String> {
    let asked = Place::of(about.subject)?;
    let whole = |place: &Place| format!("{}/{}", place.repository, place.rest);
    let Some(found) = Place::of(url) else { return differs(false, url, &whole(&asked)) };
    let is_it = about.redirected || found.repository.eq_ignore_ascii_case(&asked.repository);
    // Not every host escapes a name that contains an escape itself.
    let same = found.rest == asked.rest || found.raw == asked.rest;
    differs(is_it && same, &whole(&found), &whole(&asked))
}

fn of_repository(full_name: &str, about: &AskedAbout<'_>) -> Option<String> {
    let asked = Place::of(about.subject)?;
    let is_it = about.redirected || full_name.eq_ignore_ascii_case(&asked.repository);
    differs(is_it, full_name, &asked.repository)
}

/// An enterprise can have any name.
fn of_source(kind: &Field<String>, source: &Field<String>, about: &AskedAbout<'_>) -> Option<String> {
    let source = source.value()?;
    match kind.value()?.as_str() {
        "Repository" => of_repository(source, about),
        "Organization" => {
            let asked = Place::of(about.subject)?;
            let (owner, _) = asked.repository.split_once('/')?;
            differs(source.eq_ignore_ascii_case(owner), source, owner)
        }
        _ => None,
    }
}

fn differs(is_it: bool, found: &str, asked: &str) -> Option<String> {
    (!is_it).then(|| format!("{found} instead of {asked}"))
}

#[cfg(test)]
mod tests;
