//! What passes: the password policy, the audit trail, the retention of logs. Pure functions over what was read.
//!
//! What was not read neither passes nor fails: a region or a status that is not known keeps a check from failing
//! where it might be the one that passes. Nothing here asks or guesses.

pub mod password;
pub mod reason;
pub mod retention;
pub mod trail;

pub use self::password::PASSWORD_POLICY;
pub use self::retention::LOG_RETENTION;
pub use self::trail::AUDIT_TRAIL;

use crate::rule::Rule;

/// All of them, in the order of documents.
pub static ALL: &[&Rule] = &[&PASSWORD_POLICY, &AUDIT_TRAIL, &LOG_RETENTION];
