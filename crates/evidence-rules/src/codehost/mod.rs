//! The code host's rules, and the pure functions that judge by them.
//!
//! Each rule has its own file and its own heading in the documentation. Nothing here sends a request.

pub mod artifact;
pub mod branch_protection;
pub mod codeowners;
pub mod default_owners;
pub mod reason;
pub mod record;
pub mod two_factor;

pub use self::branch_protection::BRANCH_PROTECTION;
pub use self::default_owners::CODEOWNERS_DEFAULT_RULE;
pub use self::two_factor::TWO_FACTOR_REQUIRED;

use crate::source_rules::SourceRules;

/// The rules and reasons of this source.
pub static RULES: SourceRules = SourceRules {
    source: "codehost",
    kinds: artifact::ALL,
    rules: &[&TWO_FACTOR_REQUIRED, &CODEOWNERS_DEFAULT_RULE, &BRANCH_PROTECTION],
    reasons: reason::ALL,
};
