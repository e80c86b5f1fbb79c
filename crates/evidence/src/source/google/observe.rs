//! Observations of this source, and what is missing in a listing: the gaps become observations of their own.
//!
//! Nothing here sends a request or judges. Whatever was read is kept, even if other parts are missing.

use std::collections::HashSet;
use std::hash::Hash;

use super::host::answer::says_disabled;
use super::host::listing::{Listing, ListingError};
use super::names::NAME;
use crate::observation::{ArtifactKind, Failed, Observation, Seen};
use crate::source::{CollectionItem, Plan};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Asked, Refused};
use evidence_rules::rule::reason;

/// The maximum number of names shown.
const NAMED: usize = 3;

/// A gap in a listing: its name, the problem, and the requests for it.
pub(super) type Gap<'a> = (String, &'a ListingError, &'a [Asked]);

/// The gap in `listing`, whose display name is `what`.
pub(super) fn gap<'a, T>(what: &str, listing: &'a Listing<T>) -> Option<Gap<'a>> {
    let what = match listing.pages {
        0 => what.to_string(),
        pages => format!("{what}, after page {pages}"),
    };
    Some((what, listing.problem.as_ref()?, &listing.requests))
}

/// Adds the failures and the refusals that would leave a collection incomplete to a plan, one line each. Unknown domains
/// are warnings of the connection test instead.
pub(super) fn plan_gaps<'a>(plan: &mut Plan, gaps: impl IntoIterator<Item = Gap<'a>>) {
    for (what, problem, _) in gaps {
        match (outcome_of(problem), problem) {
            (_, ListingError::Refused(refused)) if refused.class == Class::NotFound => {}
            (Seen::Failed(failed), _) => plan.failed.push(format!("{what}: {}", failed.message)),
            (Seen::Denied { detail, .. }, _) => plan.unreadable.push(format!("{what}: {detail}")),
            (Seen::Artifact { .. } | Seen::Nothing { .. } | Seen::Withheld { .. }, _) => {}
        }
    }
}

/// Gaps for the same reason are reported together: one missing privilege is one warning.
pub(super) fn merged(gaps: Vec<Gap<'_>>) -> Vec<(Seen, Vec<Asked>)> {
    let mut merged: Vec<(Vec<String>, Seen, Vec<Asked>)> = Vec::new();
    for (what, problem, asked) in gaps {
        let seen = outcome_of(problem);
        match merged.iter_mut().find(|(_, other, _)| words(other) == words(&seen)) {
            Some((names, _, requests)) => {
                names.push(what);
                requests.extend_from_slice(asked);
            }
            None => merged.push((vec![what], seen, asked.to_vec())),
        }
    }
    merged.into_iter().map(|(names, seen, requests)| (about(&named(&names), seen), requests)).collect()
}

/// The first names of a list.
fn named(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The key by which gaps are grouped: whether the provider answered, and its message.
fn words(seen: &Seen) -> (bool, &str) {
    match seen {
        Seen::Failed(failed) => (false, &failed.message),
        Seen::Denied { detail, .. } | Seen::Nothing { detail, .. } => (true, detail),
        Seen::Artifact { .. } | Seen::Withheld { .. } => (true, ""),
    }
}

fn about(what: &str, seen: Seen) -> Seen {
    match seen {
        Seen::Denied { reason, detail } => Seen::Denied { reason, detail: format!("{what}: {detail}") },
        Seen::Failed(failed) => {
            Seen::Failed(Failed { message: format!("{what}: {}", failed.message), ..failed })
        }
        other => other,
    }
}

/// Removes duplicates. Identical items come from pages that shifted while they were read. Items that differ under the
/// same key are all kept and judged.
pub(super) fn distinct<'a, T: Eq + Hash>(
    items: impl IntoIterator<Item = &'a T>,
    key: fn(&T) -> Option<&str>,
) -> Vec<&'a T> {
    let mut known = HashSet::new();
    items.into_iter().filter(|item| key(item).is_none() || known.insert(*item)).collect()
}

/// Copies of the items.
pub(super) fn cloned<T: Clone>(items: Vec<&T>) -> Vec<T> {
    items.into_iter().cloned().collect()
}

/// An observation of this source.
pub(super) fn observation(kind: &'static ArtifactKind, subject: &str, seen: Seen) -> Observation {
    Observation::new(NAME, kind, subject, seen)
}

/// A collection item for something that was not read.
pub(super) fn unread(
    kind: &'static ArtifactKind,
    subject: &str,
    (seen, requests): (Seen, Vec<Asked>),
) -> CollectionItem {
    CollectionItem::Inspected(Observation { requests, ..observation(kind, subject, seen) }.into())
}

/// The observation of something that was not read: refused or failed.
fn outcome_of(problem: &ListingError) -> Seen {
    let refused = match problem {
        ListingError::Failed(failure) => return Seen::Failed(Failed::of(failure)),
        ListingError::NotDelegated(scope, text) => {
            let detail =
                format!("the scope {} is not delegated to the service account ({text})", scope.name());
            return Seen::Denied { reason: &reason::PERMISSION_DENIED, detail };
        }
        ListingError::Refused(refused) => refused,
    };
    let reason = match refused.class {
        Class::Forbidden(RefusalCause::Permission) => {
            return Seen::Denied { reason: &reason::PERMISSION_DENIED, detail: refusal_text(refused) };
        }
        Class::NotFound => &reason::NOT_FOUND,
        Class::Unauthorized => &reason::PERMISSION_DENIED,
        _ => &reason::HOST_ERROR,
    };
    Seen::Failed(Failed {
        reason,
        message: format!("{} (HTTP {})", refusal_text(refused), refused.meta.status),
        status: Some(refused.meta.status),
        request_id: refused.meta.request_id.clone(),
    })
}

/// The provider's message, or an explanation if it has none.
pub(super) fn refusal_text(refused: &Refused) -> String {
    let text = refused.text();
    if says_disabled(refused) {
        return format!("an API is not enabled in the service account's project ({text})");
    }
    if refused.class == Class::Unauthorized {
        return format!("the credentials are no longer accepted, not even with a fresh token ({text})");
    }
    text
}
