//! Observations and warnings of this source.

use evidence_bundle::document::Warning;

use super::host::refusal::{ReadResult, Unread};
use super::names::NAME;
use crate::observation::{ArtifactKind, Observation, Seen};
use crate::source::CollectionItem;
use evidence_http::Asked;
use evidence_rules::cloud::reason::REGION_NOT_ENABLED;
use evidence_rules::rule::Reason;

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

/// Why something was not read or cannot be stored; `None` for an artifact.
pub(super) fn unread_reason(seen: &Seen) -> Option<&'static Reason> {
    match seen {
        Seen::Artifact { .. } | Seen::Withheld { .. } => None,
        Seen::Nothing { reason, .. } | Seen::Denied { reason, .. } => Some(reason),
        Seen::Failed(failed) => Some(failed.reason),
    }
}

/// A warning for a refusal. `lost` describes the consequence for the checks.
pub(super) fn denied<T>(read: &ReadResult<T>, lost: &str, subject: &str) -> Option<Warning> {
    let Err(Unread::Denied { reason, detail }) = read else { return None };
    let text = format!("{detail}; {lost}");
    Some(if **reason == REGION_NOT_ENABLED {
        warning("region_not_enabled", text, subject)
    } else {
        warning("permission_denied", text, subject)
    })
}

/// A warning of this source.
pub(super) fn warning(code: &str, message: String, subject: &str) -> Warning {
    NAME.warning(code, message, Some(subject))
}
