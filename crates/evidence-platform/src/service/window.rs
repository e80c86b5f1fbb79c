//! The times in which a trusted key counts.

use crate::time::Time;

/// When a key counts, by the time of receipt.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Window {
    /// The first time.
    pub from: Option<Time>,
    /// The last second.
    pub until: Option<Time>,
}
