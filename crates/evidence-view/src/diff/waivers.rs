//! The waivers that differ between two bundles. A waiver changes no result, so they are a list of their own.

use std::collections::{BTreeMap, BTreeSet};

use evidence_bundle::document::{WaiverRecord, WaiverState};
use serde::Serialize;

use super::Diff;
use crate::waivers::{Waiver, Waivers};

/// A waiver that differs.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct WaiverChange {
    /// Its id.
    pub id: String,
    /// How: `came`, `gone`, `renewed`, `shortened`, `expired`, `in_force` or `changed`.
    pub change: &'static str,
    /// On the left, if it is there.
    pub from: Option<WaiverTerms>,
    /// On the right, if it is there.
    pub to: Option<WaiverTerms>,
}

/// A waiver of one bundle.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct WaiverTerms {
    /// Whether it applied.
    pub state: WaiverState,
    /// The source.
    pub source: String,
    /// The rule.
    pub rule: String,
    /// Who approved it.
    pub approved_by: String,
    /// Its first day.
    pub approved_at: String,
    /// Its last day.
    pub expires_at: String,
    /// How many failures it accepts, or would accept on another day.
    pub failures: u64,
}

impl WaiverTerms {
    fn of(waiver: &Waiver) -> WaiverTerms {
        let WaiverRecord { state, source, rule, approved_by, approved_at, expires_at, .. } = &waiver.record;
        WaiverTerms {
            state: *state,
            source: source.clone(),
            rule: rule.clone(),
            approved_by: approved_by.clone(),
            approved_at: approved_at.clone(),
            expires_at: expires_at.clone(),
            failures: waiver.failures,
        }
    }

    /// In words. The texts are not sanitized.
    pub fn words(&self) -> String {
        let WaiverTerms { state, rule, approved_by, approved_at, expires_at, failures, .. } = self;
        let failures = crate::words::counted(*failures, "failure");
        let accepts = match state {
            WaiverState::Applied => format!(", accepts {failures}"),
            WaiverState::Expired | WaiverState::NotYetValid => format!(", {failures} without a waiver"),
            WaiverState::NotMatched | WaiverState::NotNeeded | WaiverState::Unused => String::new(),
        };
        let state = crate::waivers::state(*state);
        format!("{rule}, {state}, approved {approved_at} by {approved_by}, until {expires_at}{accepts}")
    }
}

impl WaiverChange {
    /// How it differs, in words.
    pub fn words(&self) -> &'static str {
        match self.change {
            "came" => "new",
            "gone" => "removed",
            "in_force" => "in force again",
            other => other,
        }
    }
}

/// The waivers that differ, by id.
pub(super) fn changes(left: Option<&Waivers>, right: Option<&Waivers>) -> Vec<WaiverChange> {
    let by_id = |waivers: Option<&'_ Waivers>| -> BTreeMap<String, Waiver> {
        let all = waivers.into_iter().flat_map(|waivers| &waivers.all);
        all.map(|waiver| (waiver.record.id.clone(), waiver.clone())).collect()
    };
    let (left, right) = (by_id(left), by_id(right));
    let ids: BTreeSet<&String> = left.keys().chain(right.keys()).collect();
    let change = |id: &String| {
        let (from, to) = (left.get(id), right.get(id));
        let change = match (from, to) {
            (Some(from), Some(to)) => kind(from, to)?,
            (Some(_), None) => "gone",
            (None, _) => "came",
        };
        let (from, to) = (from.map(WaiverTerms::of), to.map(WaiverTerms::of));
        Some(WaiverChange { id: id.clone(), change, from, to })
    };
    ids.into_iter().filter_map(change).collect()
}

/// How the waiver differs; `None` if it does not. Swapped sides give the opposite.
fn kind(from: &Waiver, to: &Waiver) -> Option<&'static str> {
    let is_over = |waiver: &Waiver| waiver.record.state == WaiverState::Expired;
    // Days are written so that their order is that of the texts.
    match from.record.expires_at.cmp(&to.record.expires_at) {
        std::cmp::Ordering::Less => return Some("renewed"),
        std::cmp::Ordering::Greater => return Some("shortened"),
        std::cmp::Ordering::Equal => {}
    }
    match (is_over(from), is_over(to)) {
        (false, true) => return Some("expired"),
        (true, false) => return Some("in_force"),
        (_, _) => {}
    }
    let is_same = from.record == to.record && (from.matches, from.failures) == (to.matches, to.failures);
    (!is_same).then_some("changed")
}

impl Diff {
    /// The same differences without waivers: the same checks, and the same classes.
    #[must_use]
    pub fn without_waivers(mut self) -> Diff {
        self.waivers.clear();
        for check in &mut self.checks {
            for outcome in [&mut check.from, &mut check.to].into_iter().flatten() {
                outcome.waiver = None;
            }
        }
        self
    }

    /// How many checks of this class have no waiver on the right side, and how many have one.
    pub fn unwaived(&self, class: crate::difference::Class) -> (u64, u64) {
        let waived = self.checks.iter().filter(|check| check.class == super::code(class));
        let waived = waived.filter(|check| check.to.as_ref().is_some_and(|to| to.waiver.is_some())).count();
        let waived = u64::try_from(waived).unwrap_or(u64::MAX);
        (self.count(class).saturating_sub(waived), waived)
    }
}
