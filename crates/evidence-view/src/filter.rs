//! Which rows of a list count.

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Member};

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
        (self.statuses.is_empty() || self.statuses.contains(&check.status)) && self.matches_but_status(check)
    }

    pub(crate) fn matches_but_status(&self, check: &Check) -> bool {
        is_any(&self.rules, &check.rule)
            && is_any(&self.sources, &check.source)
            && has_form(&self.subjects, &check.subject)
    }
}

/// Which members of the population count: an empty list means all, several entries mean any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberFilter {
    /// The names of sources; case does not count.
    pub sources: Vec<String>,
    /// Kinds, such as `repository`; case does not count.
    pub kinds: Vec<String>,
    /// Names, where `*` stands for any characters and `?` for one; case does not count.
    pub names: Vec<String>,
    /// Only members in scope.
    pub in_scope: bool,
}

impl MemberFilter {
    /// Whether this member counts.
    pub fn matches(&self, member: &Member) -> bool {
        is_any(&self.sources, &member.source)
            && is_any(&self.kinds, &member.kind)
            && has_form(&self.names, &member.name)
            && (member.in_scope || !self.in_scope)
    }
}

fn has_form(globs: &[String], text: &str) -> bool {
    globs.is_empty() || globs.iter().any(|glob| matches(glob, text))
}

fn is_any(wanted: &[String], text: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|one| one.eq_ignore_ascii_case(text))
}
