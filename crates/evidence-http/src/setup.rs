//! The HTTP client of a host as it is made: time-outs, certificates, proxy, no redirects.

use std::time::Duration;

use reqwest::header::{HeaderMap, HeaderValue, USER_AGENT};
use reqwest::redirect::Policy;

use super::proxy::Proxy;
use super::words::innermost;

/// The longest name resolution and handshake. A host that takes longer is down, whatever the request time-out is.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// What the HTTP client of a host is made with.
pub(super) struct Setup<'a> {
    /// Time for one request, from connecting to the last byte.
    pub(super) timeout: Duration,
    /// Connections kept open.
    pub(super) idle: usize,
    /// Further root certificates, PEM.
    pub(super) roots: &'a [u8],
    /// The proxy of the environment.
    pub(super) proxy: &'a Proxy,
    /// What names another certificate store, for the message that there is none.
    pub(super) store: &'static str,
    /// Plain HTTP on loopback.
    pub(super) plain: bool,
}

impl Setup<'_> {
    /// The client: the machine's proxy and certificates, unless it is plain HTTP on loopback. It follows no redirect:
    /// whoever may follow one sends the next request himself, so that it is counted.
    pub(super) fn build(self) -> Result<reqwest::Client, String> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("evidence/", env!("CARGO_PKG_VERSION"))));
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .redirect(Policy::none())
            .timeout(self.timeout)
            .connect_timeout(self.timeout.min(CONNECT_TIMEOUT))
            .pool_max_idle_per_host(self.idle)
            .tcp_nodelay(true)
            .referer(false);
        if self.plain {
            builder = builder.no_proxy().tls_certs_only([]);
        } else if !self.roots.is_empty() {
            let roots = reqwest::Certificate::from_pem_bundle(self.roots)
                .map_err(|error| format!("cannot read certificates from ca_file: {}", innermost(&error)))?;
            if roots.is_empty() {
                return Err("ca_file holds no certificate in PEM form".to_string());
            }
            builder = builder.tls_certs_merge(roots);
        }
        if !self.plain {
            // The error would show the address, and with it a password.
            builder = self.proxy.used_by(builder).map_err(|_| "the proxy cannot be used".to_string())?;
        }
        builder.build().map_err(|error| {
            let (cause, store) = (innermost(&error), self.store);
            format!("cannot set up TLS: {cause} (is there a certificate store? {store} names one)")
        })
    }
}
