//! Compares what an answer says that it is about with the request.
//!
//! A proxy or a cache can send the answer to another request. Its settings must not become evidence about this one, so
//! each call compares what its answers name. After a redirect, the owner and the name of a repository may differ, since
//! the host redirects after a rename: `refusal` decides about the owner.

use evidence_http::AskedAbout;
use evidence_http::call::decoded;
use evidence_rules::field::Field;

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

/// Whether the address in an answer is the requested one.
pub(crate) fn of_address(url: &str, about: &AskedAbout<'_>) -> Option<String> {
    let asked = Place::of(about.subject)?;
    let whole = |place: &Place| format!("{}/{}", place.repository, place.rest);
    let Some(found) = Place::of(url) else { return differs(false, url, &whole(&asked)) };
    let is_it = about.redirected || found.repository.eq_ignore_ascii_case(&asked.repository);
    // Not every host escapes a name that contains an escape itself.
    let same = found.rest == asked.rest || found.raw == asked.rest;
    differs(is_it && same, &whole(&found), &whole(&asked))
}

/// Whether the name in an answer is that of the requested repository.
pub(crate) fn of_repository(full_name: &str, about: &AskedAbout<'_>) -> Option<String> {
    let asked = Place::of(about.subject)?;
    let is_it = about.redirected || full_name.eq_ignore_ascii_case(&asked.repository);
    differs(is_it, full_name, &asked.repository)
}

/// Whether the source of a rule is the requested repository or its organization. An enterprise can have any name.
pub(crate) fn of_source(
    kind: &Field<String>,
    source: &Field<String>,
    about: &AskedAbout<'_>,
) -> Option<String> {
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

/// The difference, unless it is the requested one.
pub(crate) fn differs(is_it: bool, found: &str, asked: &str) -> Option<String> {
    (!is_it).then(|| format!("{found} instead of {asked}"))
}

/// Where in a repository an address is, decoded; `None` if it is not below `/repos/`.
pub(crate) fn place_of(address: &str) -> Option<String> {
    Place::of(address).map(|place| place.rest)
}
