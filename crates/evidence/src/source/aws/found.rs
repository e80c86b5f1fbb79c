//! Constructors for items of a collection, shared by every part of this source.

use super::config::NAME;
use crate::observation::{ArtifactKind, Failed, Observation, Seen};
use crate::source::CollectionItem;
use evidence_http::{Asked, single_line};
use evidence_rules::rule::{Reason, reason};

/// An observation of this source.
pub(super) fn observation(kind: &'static ArtifactKind, subject: &str, seen: Seen) -> Observation {
    Observation::new(NAME, kind, subject, seen)
}

/// A collection item for something that was not read.
pub(super) fn unread(
    kind: &'static ArtifactKind,
    subject: &str,
    seen: Seen,
    requests: Vec<Asked>,
) -> CollectionItem {
    CollectionItem::Inspected(Observation { requests, ..observation(kind, subject, seen) }.into())
}

/// The provider did not give a usable answer.
pub(super) fn host_error(message: String) -> Failed {
    failed(&reason::HOST_ERROR, message)
}

/// A configured resource does not exist.
pub(super) fn not_found(message: String) -> Failed {
    failed(&reason::NOT_FOUND, message)
}

fn failed(reason: &'static Reason, message: String) -> Failed {
    Failed { reason, message: single_line(&message), status: None, request_id: None }
}

/// Why a call was not made, with the permission it requires.
pub(super) fn not_asked(permission: &str, text: &str) -> String {
    format!("{permission}: {text}")
}

/// Why something was not read or cannot be stored; `None` for an artifact.
pub(super) fn unread_reason(seen: &Seen) -> Option<&'static Reason> {
    match seen {
        Seen::Artifact { .. } | Seen::Withheld { .. } => None,
        Seen::Nothing { reason, .. } | Seen::Denied { reason, .. } => Some(reason),
        Seen::Failed(failed) => Some(failed.reason),
    }
}
