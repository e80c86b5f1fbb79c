//! The waivers of one bundle, read while it is verified.

use evidence_bundle::document::{WaiverMatch, WaiverRecord, WaiverState};
use evidence_bundle::waiver::accepts;

/// A waiver of a bundle, with the failures that it accepts, or would accept on another day.
#[derive(Debug)]
pub(super) struct FoundWaiver {
    pub(super) record: [Box<str>; 4],
    pub(super) state: WaiverState,
    pub(super) failures: Vec<FoundFailure>,
}

/// A failure: source, rule and subject.
pub(super) type FoundFailure = [Box<str>; 3];

/// Reads the waivers of a bundle.
#[derive(Debug, Default)]
pub(super) struct FoundWaivers {
    pub(super) all: Vec<FoundWaiver>,
    /// The checks that the next waiver names.
    named: Vec<WaiverMatch>,
}

impl FoundWaivers {
    pub(super) fn named(&mut self, check: &WaiverMatch) {
        if check.status == evidence_bundle::Status::Fail {
            self.named.push(check.clone());
        }
    }

    pub(super) fn waiver(&mut self, waiver: &WaiverRecord<()>) {
        let named = std::mem::take(&mut self.named).into_iter();
        let failures = named.filter(|check| accepts(waiver, check.status, &check.reason));
        let failures =
            failures.map(|check| [check.source.into(), check.rule.into(), check.subject.into()]).collect();
        let WaiverRecord { id, approved_by, approved_at, expires_at, state, .. } = waiver;
        let record = [id, approved_by, approved_at, expires_at].map(|text| text.as_str().into());
        self.all.push(FoundWaiver { record, state: *state, failures });
    }
}
