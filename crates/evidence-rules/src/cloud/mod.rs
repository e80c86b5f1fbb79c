//! The criteria for the password policy, the audit trail and log retention. Pure functions over what was read.
//!
//! What was not read neither passes nor fails: an unknown region or status prevents a failure if it might be the one
//! that passes. Nothing here sends a request or guesses.

pub mod artifact;
pub mod password;
pub mod reason;
pub mod record;
pub mod retention;
pub mod trail;

pub use self::password::PASSWORD_POLICY;
pub use self::retention::LOG_RETENTION;
pub use self::trail::AUDIT_TRAIL;

use crate::source_rules::SourceRules;

/// The rules and reasons of this source.
pub static RULES: SourceRules = SourceRules {
    source: "cloud",
    kinds: artifact::ALL,
    rules: &[&PASSWORD_POLICY, &AUDIT_TRAIL, &LOG_RETENTION],
    reasons: reason::ALL,
};
