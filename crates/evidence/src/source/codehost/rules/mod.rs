//! What the code host's evidence must show: its rules, and the pure functions that judge by them.
//!
//! One rule, one file, one heading in the documentation. Nothing here asks the host.

pub mod branch_protection;
pub mod default_owners;
pub mod reason;
pub mod two_factor;

pub use self::branch_protection::BRANCH_PROTECTION;
pub use self::default_owners::CODEOWNERS_DEFAULT_RULE;
pub use self::two_factor::TWO_FACTOR_REQUIRED;

use crate::rule::Rule;

/// All of them, in the order of documents.
pub static ALL: &[&Rule] = &[&TWO_FACTOR_REQUIRED, &CODEOWNERS_DEFAULT_RULE, &BRANCH_PROTECTION];
