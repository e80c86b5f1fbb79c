//! An answer that is read on its own, as if there were no other: for the fuzzer.

use serde::Serialize;

use crate::observation::{ArtifactKind, Inspection, Seen};
use crate::source::CollectionItem;
use crate::source::aws::names::NAME;
use crate::source::aws::observe::observation;
use evidence_http::Meta;
use evidence_rules::rule::Verdict;

/// Its account and its region.
pub(super) const ACCOUNT: &str = "111122223333";
pub(super) const REGION: &str = "eu-central-1";

/// An artifact and its verdict.
pub(super) fn inspected(
    kind: &'static ArtifactKind,
    filename: &str,
    record: &impl Serialize,
    verdict: Verdict,
) -> Vec<CollectionItem> {
    let seen = Seen::artifact(NAME, filename, record, None, &Meta::default());
    let inspection = Inspection::from(observation(kind, ACCOUNT, seen));
    // The verdict is that of the first rule of the kind.
    let rules = kind.rules.iter().take(1);
    let judged = rules.fold(inspection, |all, rule| all.judged(rule, ACCOUNT, verdict.clone()));
    vec![CollectionItem::Inspected(judged)]
}
