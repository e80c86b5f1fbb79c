//! What passes: the password policy, the audit trail, the retention of logs. Pure functions over what was read.
//!
//! What was not read neither passes nor fails: a region or a status that is not known keeps a check from failing
//! where it might be the one that passes. Nothing here asks or guesses.

pub(super) mod password;
pub mod reason;
pub(super) mod retention;
pub(super) mod trail;

use evidence_bundle::document::Category::Improvement;
use evidence_bundle::document::Severity::Info;

use crate::control::Control;
use crate::rule::{Advice, Rule};

/// All of them, in the order of the controls.
pub static ALL: &[&Rule] = &[&PASSWORD_POLICY, &AUDIT_TRAIL, &LOG_RETENTION];

/// CC6.1: passwords are long and varied.
pub static PASSWORD_POLICY: Rule = Rule {
    code: "password-policy",
    control: Control::Cc6_1,
    expected: "a password policy of at least 8 characters that requires upper and lower case letters, numbers and \
               symbols",
    permission: "Allow `iam:GetAccountPasswordPolicy` to the user or role that collects.",
    improvement: Some(Advice {
        severity: Info,
        category: Improvement,
        title: "passwords of fewer than 14 characters are allowed",
        remediation: "Raise the minimum length in the account's password policy to 14.",
    }),
};

/// CC7.2: what is done in the account is recorded.
pub static AUDIT_TRAIL: Rule = Rule {
    code: "audit-trail",
    control: Control::Cc7_2,
    expected: "at least one trail that covers all regions and is logging",
    permission: "Allow `cloudtrail:DescribeTrails` and `cloudtrail:GetTrailStatus` to the user or role that collects.",
    improvement: None,
};

/// CC7.2: logs are kept.
pub static LOG_RETENTION: Rule = Rule {
    code: "log-retention",
    control: Control::Cc7_2,
    expected: "every log group in scope keeps its events for at least 90 days, or forever",
    permission: "Allow `logs:DescribeLogGroups` to the user or role that collects.",
    improvement: Some(Advice {
        severity: Info,
        category: Improvement,
        title: "some log groups keep their events for less than a year",
        remediation: "Set the retention of the log groups to 365 days or more, or let them never expire.",
    }),
};
