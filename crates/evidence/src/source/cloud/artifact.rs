//! The kinds of artifacts, and the rules that use each.

use crate::observation::ArtifactKind;
use evidence_rules::cloud::{self as rules, AUDIT_TRAIL};

/// `password_policy.json`
pub(super) static PASSWORD_POLICY: ArtifactKind =
    ArtifactKind { name: "password_policy", rules: &[&rules::PASSWORD_POLICY] };

/// `account_summary.json`
pub(super) static ACCOUNT_SUMMARY: ArtifactKind =
    ArtifactKind { name: "account_summary", rules: &[&rules::PASSWORD_POLICY] };

/// `audit_trails.json`
pub(super) static AUDIT_TRAILS: ArtifactKind = ArtifactKind { name: "audit_trails", rules: &[&AUDIT_TRAIL] };

/// `trail_{name}_status.json`, and `trail_{name}_status_{region}.json` for other regions than its home
pub(super) static TRAIL_STATUS: ArtifactKind = ArtifactKind { name: "trail_status", rules: &[&AUDIT_TRAIL] };

/// `trail_{name}_event_selectors.json`
pub(super) static EVENT_SELECTORS: ArtifactKind =
    ArtifactKind { name: "trail_event_selectors", rules: &[&AUDIT_TRAIL] };

/// `log_groups.json`
pub(super) static LOG_GROUPS: ArtifactKind =
    ArtifactKind { name: "log_groups", rules: &[&rules::LOG_RETENTION] };
