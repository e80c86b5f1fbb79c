//! Reasons shared by several checks of this source; those of one rule are next to it.

use super::policy_rules::{DEFAULT_VALUE, POLICY_REACH_UNKNOWN, VALUE_NOT_VISIBLE};
use crate::rule::Reason;

/// All reasons, in the order of the documentation.
pub static ALL: &[&Reason] = &[&INFORMATION, &DEFAULT_VALUE, &POLICY_REACH_UNKNOWN, &VALUE_NOT_VISIBLE];

/// The check is a list or a record, and no verdict.
pub static INFORMATION: Reason = Reason::new("information", "For information");
