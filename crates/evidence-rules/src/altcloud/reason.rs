//! Reasons shared by several checks of this source; those of one rule are next to it.

use crate::rule::Reason;

/// All reasons, in the order of the documentation.
pub static ALL: &[&Reason] = &[&INFORMATION];

/// The check is a list or a record, and no verdict.
pub static INFORMATION: Reason = Reason::new("information", "For information");
