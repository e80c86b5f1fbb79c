//! The endpoints below a repository, or below an organization, that have a file of their own. To add one, add its file and its row.

mod alerts;
pub(super) mod changes;
mod codeowners;
mod open_alerts;
mod people;
mod protection;
mod ruleset;

use super::part::{OrganizationPart, Part};

/// Those below a repository.
pub(super) static PARTS: &[&Part] = &[
    &protection::BRANCH,
    &protection::PROTECTION,
    &ruleset::RULES,
    &ruleset::RULESET,
    &codeowners::ERRORS,
    &alerts::ALERTS,
    &changes::PULLS,
    &changes::REVIEWS,
    &changes::ACTIVITY,
];

/// Those below an organization.
pub(super) static ORGANIZATION_PARTS: &[&OrganizationPart] =
    &[&people::MEMBERS, &people::OUTSIDERS, &open_alerts::OPEN_ALERTS];
