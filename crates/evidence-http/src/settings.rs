//! How a client of a host behaves.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::proxy::Proxy;
use super::retry::MAXIMUM_ATTEMPTS;

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct ClientSettings {
    /// Time for one request, from connecting to the last byte.
    pub timeout: Duration,
    /// Requests in flight.
    pub max_concurrency: NonZeroUsize,
    /// Requests per minute; 0 is unpaced.
    pub requests_per_minute: u32,
    /// Whether hosts of this kind report their limits, so that one that reports none has none.
    pub tells_limits: bool,
    /// Wait for the reset when the limit is nearly used up.
    pub rate_limit_pause: bool,
    /// The most attempts for one request.
    pub attempts: u32,
    /// Further root certificates, PEM.
    pub roots: Vec<u8>,
    /// The name of a certificate store, for the message that none was found.
    pub store: &'static str,
    /// The proxy of the environment.
    pub proxy: Proxy,
    /// Plain HTTP on loopback: it needs neither a proxy nor the machine's certificates, which a bare container
    /// lacks.
    pub plain: bool,
}

/// One request at a time, as fast as the host answers, for a host that does not report limits.
impl Default for ClientSettings {
    fn default() -> ClientSettings {
        ClientSettings {
            timeout: Duration::from_secs(30),
            max_concurrency: NonZeroUsize::MIN,
            requests_per_minute: 0,
            tells_limits: false,
            rate_limit_pause: false,
            attempts: MAXIMUM_ATTEMPTS,
            roots: Vec::new(),
            store: "SSL_CERT_FILE",
            proxy: Proxy::default(),
            plain: false,
        }
    }
}
