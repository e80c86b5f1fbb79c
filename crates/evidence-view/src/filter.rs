//! Which checks are shown.

use evidence_bundle::Status;
use evidence_bundle::document::Check;

use crate::glob::matches;

/// Which checks are shown: an empty list means all, several entries mean any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckFilter {
    /// What was found.
    pub statuses: Vec<Status>,
    /// The identifiers of controls; case does not count.
    pub controls: Vec<String>,
    /// The codes of rules; case does not count.
    pub rules: Vec<String>,
    /// The names of sources; case does not count.
    pub sources: Vec<String>,
    /// Subjects, where `*` stands for any characters and `?` for one; case does not count.
    pub subjects: Vec<String>,
}

impl CheckFilter {
    /// Whether checks of the control with this identifier are shown.
    pub fn has_control(&self, id: &str) -> bool {
        is_any(&self.controls, id)
    }

    /// Whether this check is shown, if its control is.
    pub fn matches(&self, check: &Check) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&check.status))
            && is_any(&self.rules, &check.rule)
            && is_any(&self.sources, &check.source)
            && (self.subjects.is_empty() || self.subjects.iter().any(|glob| matches(glob, &check.subject)))
    }
}

fn is_any(wanted: &[String], text: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|one| one.eq_ignore_ascii_case(text))
}
