//! The result of the last check that writes work.

use std::time::Instant;

use tokio::sync::Mutex;

/// The last result and its time.
pub(super) type LastProbe = Mutex<Option<(Instant, Probe)>>;

/// The result of a check.
#[derive(Debug, Clone, Default)]
pub(super) struct Probe {
    pub(super) refused: bool,
    pub(super) failed: Vec<String>,
}
