//! How a client of a host behaves.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::proxy::Proxy;

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Time for one request, from connecting to the last byte.
    pub timeout: Duration,
    /// Requests in flight.
    pub max_concurrency: NonZeroUsize,
    /// Requests per minute; 0 is unpaced.
    pub requests_per_minute: u32,
    /// Whether the host tells its limits in its answers, so that one whose answers tell none has none to keep to.
    pub tells_limits: bool,
    /// Wait for the reset when the limit is nearly used up.
    pub rate_limit_pause: bool,
    /// Further root certificates, PEM.
    pub roots: Vec<u8>,
    /// The proxy of the environment.
    pub proxy: Proxy,
    /// Plain HTTP on loopback: needs neither a proxy nor the machine's certificates, which a bare container does not
    /// have.
    pub plain: bool,
}
