//! The criteria for the password policy, the audit trail and log retention. Pure functions over what was read.
//!
//! What was not read neither passes nor fails: an unknown region or status prevents a failure if it might be the one
//! that passes. Nothing here sends a request or guesses.

pub mod password;
pub mod reason;
pub mod record;
pub mod retention;
pub mod trail;

pub use self::password::PASSWORD_POLICY;
pub use self::retention::LOG_RETENTION;
pub use self::trail::AUDIT_TRAIL;

use self::password::PasswordFacts;
use self::record::RegionLogGroups;
use self::trail::AuditTrail;
use crate::rule::Judge;
use crate::source_rules::SourceRules;

/// The rules and reasons of this source.
pub static RULES: SourceRules = SourceRules {
    source: "cloud",
    kinds: artifact::ALL,
    rules: &[&PASSWORD_POLICY, &AUDIT_TRAIL, &LOG_RETENTION],
    reasons: reason::ALL,
};

/// The rules over the password policy of an account.
pub static OF_PASSWORDS: &[&Judge<PasswordFacts>] = &[&password::JUDGE];

/// The rules over the trails of an account.
pub static OF_TRAILS: &[&Judge<AuditTrail>] = &[&trail::JUDGE];

/// The rules over the log groups of a region.
pub static OF_LOG_GROUPS: &[&Judge<RegionLogGroups>] = &[&retention::JUDGE];

/// The kinds of artifacts, and the rules that use each.
pub mod artifact {
    use crate::inspection::ArtifactKind;

    /// `password_policy.json`
    pub static PASSWORD_POLICY: ArtifactKind =
        ArtifactKind { name: "password_policy", rules: &[&super::PASSWORD_POLICY] };

    /// `account_summary.json`
    pub static ACCOUNT_SUMMARY: ArtifactKind =
        ArtifactKind { name: "account_summary", rules: &[&super::PASSWORD_POLICY] };

    /// `audit_trails.json`
    pub static AUDIT_TRAILS: ArtifactKind =
        ArtifactKind { name: "audit_trails", rules: &[&super::AUDIT_TRAIL] };

    /// `trail_{name}_status.json`, and `trail_{name}_status_{region}.json` for other regions than its home
    pub static TRAIL_STATUS: ArtifactKind =
        ArtifactKind { name: "trail_status", rules: &[&super::AUDIT_TRAIL] };

    /// `trail_{name}_event_selectors.json`
    pub static EVENT_SELECTORS: ArtifactKind =
        ArtifactKind { name: "trail_event_selectors", rules: &[&super::AUDIT_TRAIL] };

    /// `log_groups.json`
    pub static LOG_GROUPS: ArtifactKind =
        ArtifactKind { name: "log_groups", rules: &[&super::LOG_RETENTION] };

    /// Every kind.
    pub static ALL: &[&ArtifactKind] =
        &[&PASSWORD_POLICY, &ACCOUNT_SUMMARY, &AUDIT_TRAILS, &TRAIL_STATUS, &EVENT_SELECTORS, &LOG_GROUPS];
}
