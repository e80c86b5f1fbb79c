//! Which observations were made together: the rows of a group follow each other.

use super::cloud::is_unopened;
use super::group::Row;
use crate::altcloud::artifact::{ADMINISTRATORS_EFFECTIVE, POLICIES, USER_ACTIVITY};
use crate::cloud::artifact::{
    ACCOUNT_SUMMARY, AUDIT_TRAILS, EVENT_SELECTORS, PASSWORD_POLICY, PUBLIC_ACCESS, REGIONAL, TRAIL_STATUS,
};
use crate::codehost::artifact::{
    ALERTS, BRANCH, BRANCH_ACTIVITY, BRANCH_HISTORY, BRANCH_RULES, CHANGES, CODEOWNERS, CODEOWNERS_ERRORS,
    MERGED_CHANGES, PROTECTION, RULESET, SECURITY,
};
use crate::inspection::{ArtifactKind, Shown};

/// The failed connection test of a source.
pub(super) static CONNECTION: ArtifactKind = ArtifactKind { name: "connection", rules: &[] };

/// Whether `next`, the row that follows them, was made together with these rows.
pub(super) fn joins(rows: &[Row], next: &Row) -> bool {
    let Some(first) = rows.first() else { return false };
    let same = first.subject == next.subject;
    let begins = |kind: &ArtifactKind| *first.kind == *kind;
    let is_any = |kinds: &[&ArtifactKind]| kinds.iter().any(|kind| **kind == *next.kind);
    if begins(&PROTECTION) {
        same && is_any(&[&BRANCH_HISTORY, &BRANCH_RULES, &BRANCH, &RULESET])
    } else if begins(&CODEOWNERS) {
        same && is_any(&[&CODEOWNERS_ERRORS])
    } else if begins(&CHANGES) {
        same && is_any(&[&MERGED_CHANGES, &BRANCH_ACTIVITY])
    } else if begins(&SECURITY) {
        same && is_any(&[&ALERTS])
    } else if REGIONAL.iter().any(|kind| begins(kind)) {
        let account = |subject: &str| subject.split_once('/').map(|(account, _)| account.to_owned());
        let of_first = account(&first.subject);
        of_first.is_some() && of_first == account(&next.subject) && is_any(&[first.kind])
    } else if begins(&PUBLIC_ACCESS) {
        // The buckets that were not read have rows of their own.
        let is_part = next.subject.strip_prefix(&*first.subject).is_some_and(|rest| rest.starts_with('/'));
        is_part && is_any(&[&PUBLIC_ACCESS])
    } else if begins(&PASSWORD_POLICY) {
        same && is_any(&[&ACCOUNT_SUMMARY])
    } else if begins(&AUDIT_TRAILS) {
        let opened = matches!(first.shown(), Shown::Artifact | Shown::Excluded(_)) || !is_unopened(next);
        !is_unopened(first) && opened && is_any(&[&AUDIT_TRAILS, &TRAIL_STATUS, &EVENT_SELECTORS])
    } else if [&USER_ACTIVITY, &ADMINISTRATORS_EFFECTIVE, &POLICIES].into_iter().any(begins) {
        same && is_any(&[first.kind])
    } else {
        false
    }
}
