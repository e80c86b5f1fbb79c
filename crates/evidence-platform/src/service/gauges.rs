//! The numbers of the last check of what is stored.

use prometheus_client::metrics::gauge::Gauge;

/// Numbers of the last check, for monitoring.
#[derive(Debug, Clone, Default)]
pub struct CheckGauges {
    /// Damaged bundles.
    pub damaged: Gauge,
    /// Blobs without a bundle.
    pub strays: Gauge,
    /// When the last complete check ended, in Unix seconds.
    pub finished: Gauge,
}
