//! The workspace's rules, with their reasons, advice and judgements, one file each.
//!
//! Pure functions over what was read. What was not read neither passes nor fails.

pub mod administrators;
pub mod artifact;
pub mod lifecycle;
pub mod record;
pub mod two_step;
mod words;

pub use self::administrators::ADMINISTRATORS;
pub use self::lifecycle::USER_LIFECYCLE_LOG;
pub use self::two_step::TWO_STEP_VERIFICATION;

use crate::source_rules::SourceRules;

/// The rules and reasons of this source.
pub static RULES: SourceRules = SourceRules {
    source: "altcloud",
    kinds: artifact::ALL,
    rules: &[&TWO_STEP_VERIFICATION, &ADMINISTRATORS, &USER_LIFECYCLE_LOG],
    reasons: &[],
};
