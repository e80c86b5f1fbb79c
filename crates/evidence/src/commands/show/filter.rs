//! Which checks are shown.

use evidence_bundle::Status;
use evidence_bundle::document::Check;

use crate::cli::{ShowArgs, StatusName};
use crate::glob::matches;

/// Which checks are shown: an empty list means all, several entries mean any of them.
pub(super) struct Filter {
    statuses: Vec<Status>,
    controls: Vec<String>,
    rules: Vec<String>,
    sources: Vec<String>,
    subjects: Vec<String>,
}

impl Filter {
    pub(super) fn new(args: &ShowArgs) -> Filter {
        let status = |name: &StatusName| match name {
            StatusName::Pass => Status::Pass,
            StatusName::Fail => Status::Fail,
            StatusName::NotVerifiable => Status::NotVerifiable,
            StatusName::NotApplicable => Status::NotApplicable,
        };
        Filter {
            statuses: args.status.iter().map(status).collect(),
            controls: args.control.clone(),
            rules: args.rule.clone(),
            sources: args.source.clone(),
            subjects: args.subject.clone(),
        }
    }

    pub(super) fn has_control(&self, id: &str) -> bool {
        is_any(&self.controls, id)
    }

    pub(super) fn matches(&self, check: &Check) -> bool {
        (self.statuses.is_empty() || self.statuses.contains(&check.status))
            && is_any(&self.rules, &check.rule)
            && is_any(&self.sources, &check.source)
            && (self.subjects.is_empty() || self.subjects.iter().any(|glob| matches(glob, &check.subject)))
    }
}

fn is_any(wanted: &[String], text: &str) -> bool {
    wanted.is_empty() || wanted.iter().any(|one| one.eq_ignore_ascii_case(text))
}
