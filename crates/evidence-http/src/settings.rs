//! How a client of a host behaves.

use std::num::NonZeroUsize;
use std::time::Duration;

use jiff::SignedDuration;

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
    /// How much of the host's time requests may take in a minute, if that is limited.
    pub host_time_per_minute: Option<SignedDuration>,
    /// Whether a fault of the host ends a request: the caller asks for less instead of the same again.
    pub faults_are_final: bool,
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
            host_time_per_minute: None,
            faults_are_final: false,
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
