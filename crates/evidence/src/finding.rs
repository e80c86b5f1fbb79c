//! The most important results: the checks that did not pass, grouped by rule and reason, the most severe first, each with
//! what to do.
//!
//! A group keeps a count and a few subjects, however many checks there are.

pub mod group;

use std::borrow::Cow;

use evidence_bundle::document::{Severity, Status};

use crate::source::place::Remedy;
use evidence_text::saturating_u64;

/// How many subjects of a group are listed.
pub const SUBJECTS_NAMED: usize = 5;

/// What the checks of a group share.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct FindingKey {
    /// The control.
    pub control: String,
    /// The source.
    pub source: String,
    /// The code of the rule.
    pub rule: String,
    /// Fail or not verifiable.
    pub status: Status,
    /// The code of the reason.
    pub reason: String,
}

/// The checks that did not pass one rule for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// What they share.
    pub key: FindingKey,
    /// How much it matters; `None` for the codes of another version.
    pub severity: Option<Severity>,
    /// What to do; empty for the codes of another version.
    pub remediation: Cow<'static, str>,
    /// The page where the setting of the first subject is changed, if it has one.
    pub page: Option<String>,
    /// The number of checks.
    pub count: u64,
    /// The subjects of the first checks.
    pub subjects: Vec<String>,
}

impl Finding {
    /// How many checks have a subject that is not listed.
    pub fn unnamed(&self) -> u64 {
        self.count.saturating_sub(saturating_u64(self.subjects.len()))
    }
}

/// The groups, the most severe first, and the changes that repair many checks.
#[derive(Debug, Default)]
pub struct WorstFirst {
    /// The groups.
    pub groups: Vec<Finding>,
    /// Each change that repairs more than one check, with their number.
    pub remedies: Vec<(Remedy, u64)>,
}

impl WorstFirst {
    /// The groups with the same reason and remedy as one: what is not verifiable often has one cause for several rules.
    pub fn by_cause(&self) -> Vec<Finding> {
        let mut causes: Vec<Finding> = Vec::new();
        for group in &self.groups {
            let cause = |other: &Finding| (other.key.status, other.remediation.clone());
            let same = |other: &Finding| {
                (&other.key.source, &other.key.reason) == (&group.key.source, &group.key.reason)
                    && cause(other) == cause(group)
            };
            let Some(known) = causes.iter_mut().find(|known| same(known)) else {
                causes.push(group.clone());
                continue;
            };
            if !known.key.control.split(' ').any(|control| control == group.key.control) {
                known.key.control = format!("{} {}", known.key.control, group.key.control);
            }
            known.count = known.count.saturating_add(group.count);
            let new: Vec<String> =
                group.subjects.iter().filter(|subject| !known.subjects.contains(subject)).cloned().collect();
            known.subjects.extend(new);
            known.subjects.truncate(SUBJECTS_NAMED);
        }
        causes
    }
}
