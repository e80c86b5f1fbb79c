//! The reasons that only the cloud's checks have, and what to do about each.

use evidence_bundle::document::Category::{Misconfigured, Missing, Partial};
use evidence_bundle::document::Severity::{Critical, High, Medium};

use crate::rule::{Advice, Reason};

/// All of them, in the order of the documentation.
pub static ALL: &[&Reason] = &[
    &PASSWORD_POLICY_MISSING,
    &PASSWORD_TOO_SHORT,
    &PASSWORD_CHARACTERS_NOT_REQUIRED,
    &AUDIT_TRAIL_MISSING,
    &AUDIT_TRAIL_NOT_LOGGING,
    &AUDIT_TRAIL_NOT_MULTI_REGION,
    &LOG_RETENTION_TOO_SHORT,
    &NO_LOG_GROUPS,
    &REGION_NOT_ENABLED,
];

/// The account has no password policy.
pub static PASSWORD_POLICY_MISSING: Reason = Reason {
    code: "password_policy_missing",
    advice: Some(Advice {
        severity: High,
        category: Missing,
        title: "the account has no password policy",
        remediation: "Set a password policy for the account: at least 8 characters (14 recommended), with upper and \
                      lower case letters, numbers and symbols. Without one the provider's default applies.",
    }),
};

/// Passwords may be shorter than 8 characters.
pub static PASSWORD_TOO_SHORT: Reason = Reason {
    code: "password_too_short",
    advice: Some(Advice {
        severity: High,
        category: Misconfigured,
        title: "passwords of fewer than 8 characters are allowed",
        remediation: "Raise the minimum length in the account's password policy to at least 8 (14 recommended).",
    }),
};

/// Not all four kinds of characters are required.
pub static PASSWORD_CHARACTERS_NOT_REQUIRED: Reason = Reason {
    code: "password_characters_not_required",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "passwords need not have all four kinds of characters",
        remediation: "Require upper case letters, lower case letters, numbers and symbols in the account's password \
                      policy.",
    }),
};

/// There is no trail.
pub static AUDIT_TRAIL_MISSING: Reason = Reason {
    code: "audit_trail_missing",
    advice: Some(Advice {
        severity: Critical,
        category: Missing,
        title: "there is no audit trail",
        remediation: "Create a trail that applies to all regions and delivers to a bucket that few can write to.",
    }),
};

/// No trail is logging.
pub static AUDIT_TRAIL_NOT_LOGGING: Reason = Reason {
    code: "audit_trail_not_logging",
    advice: Some(Advice {
        severity: Critical,
        category: Misconfigured,
        title: "no audit trail is logging",
        remediation: "Start logging on a trail that applies to all regions.",
    }),
};

/// What is logging covers one region only.
pub static AUDIT_TRAIL_NOT_MULTI_REGION: Reason = Reason {
    code: "audit_trail_not_multi_region",
    advice: Some(Advice {
        severity: High,
        category: Misconfigured,
        title: "no audit trail that covers all regions is logging",
        remediation: "Let a trail that is logging apply to all regions: what is done in another region is not \
                      recorded otherwise.",
    }),
};

/// A log group keeps its events for less than 90 days.
pub static LOG_RETENTION_TOO_SHORT: Reason = Reason {
    code: "log_retention_too_short",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "log groups keep their events for less than 90 days",
        remediation: "Set the retention of the log groups that `actual` names to at least 90 days (365 recommended); \
                      if they hold nothing that is evidence, name the others in `log_groups`.",
    }),
};

/// The region has no log group in scope.
pub static NO_LOG_GROUPS: Reason = Reason { code: "no_log_groups", advice: None };

/// The region does not know the credentials that the account's home knows.
pub static REGION_NOT_ENABLED: Reason = Reason {
    code: "region_not_enabled",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the region does not accept the credentials",
        remediation: "The region may not be enabled for the account: enable it, or take it out of `regions`. It may \
                      also have been enabled only minutes ago.",
    }),
};
