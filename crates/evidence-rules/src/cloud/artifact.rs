//! The kinds of artifacts, and the rules that use each.

use crate::cloud::trail::AUDIT_TRAIL;
use crate::cloud::{password, retention};
use crate::inspection::ArtifactKind;

/// `password_policy.json`
pub static PASSWORD_POLICY: ArtifactKind =
    ArtifactKind { name: "password_policy", rules: &[&password::PASSWORD_POLICY] };

/// `account_summary.json`
pub static ACCOUNT_SUMMARY: ArtifactKind =
    ArtifactKind { name: "account_summary", rules: &[&password::PASSWORD_POLICY] };

/// `audit_trails.json`
pub static AUDIT_TRAILS: ArtifactKind = ArtifactKind { name: "audit_trails", rules: &[&AUDIT_TRAIL] };

/// `trail_{name}_status.json`, and `trail_{name}_status_{region}.json` for other regions than its home
pub static TRAIL_STATUS: ArtifactKind = ArtifactKind { name: "trail_status", rules: &[&AUDIT_TRAIL] };

/// `trail_{name}_event_selectors.json`
pub static EVENT_SELECTORS: ArtifactKind =
    ArtifactKind { name: "trail_event_selectors", rules: &[&AUDIT_TRAIL] };

/// `log_groups.json`
pub static LOG_GROUPS: ArtifactKind =
    ArtifactKind { name: "log_groups", rules: &[&retention::LOG_RETENTION] };

/// Every kind.
pub static ALL: &[&ArtifactKind] =
    &[&PASSWORD_POLICY, &ACCOUNT_SUMMARY, &AUDIT_TRAILS, &TRAIL_STATUS, &EVENT_SELECTORS, &LOG_GROUPS];
