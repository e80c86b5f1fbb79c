//! The endpoints below a repository that have a file of their own. To add one, add its file and its row.

mod alerts;
mod codeowners;
mod protection;
mod ruleset;

use super::part::Part;
pub(super) use ruleset::branch_rules;

/// Every one of them.
pub(super) static PARTS: &[&Part] = &[
    &protection::BRANCH,
    &protection::PROTECTION,
    &ruleset::RULES,
    &ruleset::RULESET,
    &codeowners::ERRORS,
    &alerts::ALERTS,
];
