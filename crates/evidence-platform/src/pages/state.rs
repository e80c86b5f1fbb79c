//! The state of the controls in a bundle, compared with the previous bundle.
//!
//! It derives from the counts that the platform stores for each bundle. Counts do not show checks that changed places:
//! the page that compares the two bundles names them.

use std::cmp::Ordering;

use evidence_bundle::Status;
use evidence_bundle::document::Counts;
use evidence_view::{ControlOverview, Overview, sanitized};

use super::words::grouped;

/// A control now and before.
pub(super) struct ControlState {
    pub(super) id: String,
    pub(super) title: String,
    pub(super) status: Status,
    /// The previous status, if it differs.
    pub(super) was: Option<Status>,
    /// Whether the previous bundle lacks the control.
    pub(super) is_new: bool,
    pub(super) numbers: [Number; 4],
}

/// How many checks of a control have one status.
pub(super) struct Number {
    pub(super) count: u64,
    /// The difference from the previous number.
    pub(super) delta: Option<Delta>,
}

/// A difference other than zero.
pub(super) struct Delta {
    /// With its sign: `+2`.
    pub(super) text: String,
    /// `better`, `worse`, or neither.
    pub(super) class: &'static str,
}

impl ControlState {
    /// The controls of this bundle; `None` if its results have an unknown form.
    pub(super) fn all(now: &Overview, before: Option<&Overview>) -> Option<Vec<ControlState>> {
        let before = before.and_then(|before| before.judgement.as_ref());
        let state = |control: &ControlOverview| {
            let known = before.map(|before| before.controls.iter().find(|known| known.id == control.id));
            let old = known.flatten();
            ControlState {
                id: sanitized(&control.id),
                title: sanitized(&control.title),
                status: control.status,
                was: old.map(|old| old.status).filter(|old| *old != control.status),
                is_new: known.is_some() && old.is_none(),
                numbers: numbers(control.checks, old.map(|old| old.checks)),
            }
        };
        Some(now.judgement.as_ref()?.controls.iter().map(state).collect())
    }

    /// Whether any number or the status differs from the previous bundle.
    pub(super) fn changed(&self) -> bool {
        self.was.is_some() || self.is_new || self.numbers.iter().any(|number| number.delta.is_some())
    }
}

fn numbers(now: Counts, before: Option<Counts>) -> [Number; 4] {
    let of = |status: Status, count: fn(&Counts) -> u64| {
        // For an increase, and for a decrease.
        let classes = match status {
            Status::Fail | Status::NotVerifiable => ["worse", "better"],
            Status::Pass => ["better", ""],
            Status::NotApplicable => ["", ""],
        };
        let delta = before.and_then(|before| delta(count(&before), count(&now), classes));
        Number { count: count(&now), delta }
    };
    [
        of(Status::Fail, |counts| counts.fail),
        of(Status::NotVerifiable, |counts| counts.not_verifiable),
        of(Status::Pass, |counts| counts.pass),
        of(Status::NotApplicable, |counts| counts.not_applicable),
    ]
}

fn delta(before: u64, now: u64, [more, fewer]: [&'static str; 2]) -> Option<Delta> {
    match now.cmp(&before) {
        Ordering::Equal => None,
        Ordering::Greater => {
            Some(Delta { text: format!("+{}", grouped(now.saturating_sub(before))), class: more })
        }
        Ordering::Less => {
            Some(Delta { text: format!("−{}", grouped(before.saturating_sub(now))), class: fewer })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn differences_have_a_sign_and_say_what_is_worse() {
        let old = Counts { pass: 1_500, fail: 1, not_verifiable: 2, not_applicable: 3 };
        let new = Counts { pass: 100, fail: 4, not_verifiable: 1, not_applicable: 3 };
        let shown = numbers(new, Some(old)).map(|number| number.delta.map(|delta| (delta.text, delta.class)));
        let expected = [Some(("+3", "worse")), Some(("−1", "better")), Some(("−1,400", "")), None];
        assert_eq!(shown, expected.map(|delta| delta.map(|(text, class)| (text.to_owned(), class))));
        assert!(numbers(new, None).iter().all(|number| number.delta.is_none()));
    }
}
