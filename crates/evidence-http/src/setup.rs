//! Builds the HTTP client of a host: time-outs, certificates, proxy, no redirects.

use std::time::Duration;

use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::redirect::Policy;

use super::settings::ClientSettings;
use super::words::innermost;

/// The longest name resolution and handshake. A host that takes longer is down, whatever the request time-out is.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

impl ClientSettings {
    /// Builds the client, with the machine's proxy and certificates unless it is plain HTTP on loopback. It follows
    /// no redirects: the caller sends the next request itself, so that it is counted.
    pub(super) fn build(&self) -> Result<reqwest::Client, String> {
        let mut headers = HeaderMap::new();
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("evidence/", env!("CARGO_PKG_VERSION"))));
        headers.insert(ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .no_gzip()
            .redirect(Policy::none())
            .timeout(self.timeout)
            .connect_timeout(self.timeout.min(CONNECT_TIMEOUT))
            .pool_max_idle_per_host(self.max_concurrency.get())
            .tcp_nodelay(true)
            .referer(false);
        if self.plain {
            builder = builder.no_proxy().tls_certs_only([]);
        } else if !self.roots.is_empty() {
            let roots = reqwest::Certificate::from_pem_bundle(&self.roots).map_err(|error| {
                format!("cannot read certificates from {}: {}", self.store, innermost(&error))
            })?;
            if roots.is_empty() {
                return Err(format!("{} holds no certificate in PEM form", self.store));
            }
            builder = builder.tls_certs_merge(roots);
        }
        if !self.plain {
            // The error would show the address, and with it a password.
            builder = self.proxy.used_by(builder).map_err(|_| "the proxy cannot be used".to_string())?;
        }
        builder.build().map_err(|error| {
            let (cause, store) = (innermost(&error), self.store);
            format!("cannot set up TLS: {cause} (check the certificate store; {store} names one)")
        })
    }
}
