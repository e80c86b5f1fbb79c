//! What was found about a control or a check.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reasons for which a check is not verifiable because the run lacks access or information. Such a check makes a
/// bundle incomplete, as an error or an exclusion does.
pub const LACKING_REASONS: [&str; 10] = [
    "permission_denied",
    "sso_required",
    "two_factor_not_visible",
    "default_repository_permission_not_visible",
    "secret_scanning_not_visible",
    "secret_scanning_push_protection_not_visible",
    "members_not_visible",
    "open_alerts_not_visible",
    "population_incomplete",
    "region_not_enabled",
];

/// Whether the run lacks something for a check; see [`LACKING_REASONS`].
pub fn is_lacking(status: Status, reason: &str) -> bool {
    status == Status::NotVerifiable && LACKING_REASONS.contains(&reason)
}

/// What was found about a control or a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// The evidence was read and meets the rule.
    Pass,
    /// The evidence was read and does not meet the rule.
    Fail,
    /// The evidence could not be read, so nothing is said.
    NotVerifiable,
    /// The rule does not apply to the subject.
    NotApplicable,
}

impl Status {
    /// Every status, in the order in which they are counted.
    pub const ALL: [Status; 4] = [Status::Pass, Status::Fail, Status::NotVerifiable, Status::NotApplicable];

    /// Every status, the most urgent first.
    pub const BY_URGENCY: [Status; 4] =
        [Status::Fail, Status::NotVerifiable, Status::Pass, Status::NotApplicable];

    /// The place in the order of urgency; the most urgent has the lowest number.
    pub fn urgency(self) -> usize {
        Status::BY_URGENCY.iter().position(|status| *status == self).unwrap_or_default()
    }

    /// The status as documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Status::Pass => "pass",
            Status::Fail => "fail",
            Status::NotVerifiable => "not_verifiable",
            Status::NotApplicable => "not_applicable",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
