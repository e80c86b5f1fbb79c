//! Filters of rows.

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Member};

use crate::glob::matches;

/// A filter of checks: an empty list matches all, several entries match any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckFilter {
    /// The statuses.
    pub statuses: Vec<Status>,
    /// The identifiers of controls; case is ignored.
    pub controls: Vec<String>,
    /// The codes of rules; case is ignored.
    pub rules: Vec<String>,
    /// The names of sources; case is ignored.
    pub sources: Vec<String>,
    /// Subjects, where `*` matches any characters and `?` one; case is ignored.
    pub subjects: Vec<String>,
}

impl CheckFilter {
    /// Whether checks of the control with this identifier can match.
    pub fn has_control(&self, id: &str) -> bool {
        is_any(&self.controls, id)
    }

    /// Whether this check matches, if its control does.
    pub fn matches(&self, check: &Check) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&check.status)) && self.matches_but_status(check)
    }

    pub(crate) fn matches_but_status(&self, check: &Check) -> bool {
        is_any(&self.rules, &check.rule)
            && is_any(&self.sources, &check.source)
            && has_form(&self.subjects, &check.subject)
    }
}

/// A filter of members of the population: an empty list matches all, several entries match any of them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MemberFilter {
    /// The names of sources; case is ignored.
    pub sources: Vec<String>,
    /// Kinds, such as `repository`; case is ignored.
    pub kinds: Vec<String>,
    /// Names, where `*` matches any characters and `?` one; case is ignored.
    pub names: Vec<String>,
    /// Only members in scope.
    pub in_scope: bool,
}

impl MemberFilter {
    /// Whether this member matches.
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
