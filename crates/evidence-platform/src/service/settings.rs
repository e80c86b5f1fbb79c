//! The operator's settings.

use std::time::Duration;

use evidence_bundle::TrustRoot;

use crate::spool::UploadLimits;

/// The longest retention, a hundred years.
pub(super) const RETENTION_DAYS: u32 = 36_500;

/// The retention unless the operator or the upload says otherwise.
const YEAR: u32 = 365;

/// The settings that the operator chooses.
#[derive(Debug, Clone)]
pub struct Settings {
    /// How large and how slow an upload may be.
    pub patience: UploadLimits,
    /// How many days a bundle is kept unless the upload says otherwise.
    pub retention_days: u32,
    /// The fewest days that an upload can request; by default a year, or the retention if that is shorter.
    pub min_retention_days: Option<u32>,
    /// How many days after the end of its retention a bundle is deleted; `None`: never by itself.
    pub purge_after_days: Option<u32>,
    /// How many uploads may run at once; one organization gets at most half.
    pub uploads: usize,
    /// How many bytes an uploaded bundle may inflate to; at most those of [`crate::verify::LIMITS`].
    pub inflated_bytes: u64,
    /// How many bundles may be verified or shown at once; one organization gets at most half.
    pub readers: usize,
    /// The most bytes of the kept rows and reports of all bundles.
    pub rows_bytes: u64,
    /// Whether to refuse uploads of bundles with checks that this version cannot judge again.
    pub require_judgement: bool,
    /// Whether webhooks may use plain HTTP and addresses of private networks.
    pub private_webhooks: bool,
    /// The list of revoked keys; the trusted keys come from the database.
    pub revoked: TrustRoot,
    /// The minimum age in seconds of leftovers of a crash before they are removed. Longer than any upload takes.
    pub leftovers_seconds: u64,
}

impl Settings {
    /// The fewest days that an upload can request.
    pub fn least_retention_days(&self) -> u32 {
        self.min_retention_days.unwrap_or(self.retention_days.min(YEAR))
    }
}

impl Default for Settings {
    fn default() -> Settings {
        let patience = UploadLimits {
            bytes: 100_000_000,
            idle: Duration::from_secs(30),
            total: Duration::from_secs(15 * 60),
        };
        // Two for each processor: one organization alone keeps all processors busy, and the system divides them with
        // a second.
        let readers = std::thread::available_parallelism().map_or(2, usize::from).saturating_mul(2);
        Settings {
            patience,
            retention_days: YEAR,
            min_retention_days: None,
            purge_after_days: None,
            uploads: 64,
            inflated_bytes: 2 << 30,
            readers,
            rows_bytes: 2 << 30,
            require_judgement: false,
            private_webhooks: false,
            revoked: TrustRoot::new(),
            leftovers_seconds: 2 * 60 * 60,
        }
    }
}
