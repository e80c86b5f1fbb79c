//! The operator's settings.

use std::time::Duration;

use crate::spool::Patience;

/// What the operator of the platform decides.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How much and how slowly an upload may arrive.
    pub patience: Patience,
    /// For how many days a bundle is kept if the uploader does not say.
    pub retention_days: u32,
    /// The fewest days that an uploader can ask for.
    pub min_retention_days: u32,
    /// How many uploads may be under way at once; one organization can have half of them.
    pub uploads: usize,
    /// How many bytes an uploaded bundle may inflate to; at most those of [`crate::verify::LIMITS`].
    pub inflated_bytes: u64,
    /// How many bundles may be verified or shown at once; one organization can have half of them.
    pub readers: usize,
    /// How old, in seconds, what a crash left must be before it is removed. Longer than any upload takes.
    pub leftovers_seconds: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        let patience = Patience {
            bytes: 100_000_000,
            idle: Duration::from_secs(30),
            total: Duration::from_secs(15 * 60),
        };
        // Two for each processor: one organization keeps all of them busy, and the system divides them with a second.
        let readers = std::thread::available_parallelism().map_or(2, usize::from).saturating_mul(2);
        Settings {
            patience,
            retention_days: 365,
            min_retention_days: 0,
            uploads: 64,
            inflated_bytes: 2 << 30,
            readers,
            leftovers_seconds: 2 * 60 * 60,
        }
    }
}
