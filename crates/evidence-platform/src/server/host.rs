//! Whom a request addresses: the names under which the server may be reached, and the framing that it accepts.
//!
//! A page of another site can point its own name at this server (DNS rebinding); the browser then sends requests here, with
//! that name. An IP address or `localhost` cannot be pointed elsewhere.

use std::net::IpAddr;
use std::sync::Arc;

use http::header::{HOST, TRANSFER_ENCODING};
use http::uri::Authority;
use http::{HeaderMap, Uri, Version};

use crate::error::Error;

/// Paths that a health check may ask for under any name.
const HEALTH: [&str; 2] = ["/healthz", "/readyz"];

/// The names under which the server may be reached, besides IP addresses and `localhost`.
#[derive(Debug, Clone, Default)]
pub struct HostNames(Arc<[String]>);

impl HostNames {
    /// These names, as [`host_name`] reads them.
    pub fn new(names: &[String]) -> HostNames {
        HostNames(names.into())
    }

    /// Refuses requests to other hosts, and those that two servers could understand differently.
    ///
    /// # Errors
    /// Fails with [`Error::Misdirected`], [`Error::Invalid`] or [`Error::UnsupportedCoding`].
    pub(super) fn check(&self, address: &Uri, headers: &HeaderMap, version: Version) -> Result<(), Error> {
        let host = well_formed(headers, version)?.filter(|_| !HEALTH.contains(&address.path()));
        let named = host.iter().map(Authority::host).chain(address.host());
        match named.into_iter().all(|host| self.has(host)) {
            true => Ok(()),
            false => Err(Error::Misdirected),
        }
    }

    /// Whether this host, without a port, is one of them.
    fn has(&self, host: &str) -> bool {
        let host = host.strip_suffix('.').unwrap_or(host).to_ascii_lowercase();
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']')).unwrap_or(&host);
        bare.parse::<IpAddr>().is_ok()
            || host == "localhost"
            || host.ends_with(".localhost")
            || self.0.contains(&host)
    }
}

/// Reads a host name, without a port.
///
/// # Errors
/// Returns the rule if it is not one.
pub fn host_name(text: &str) -> Result<String, String> {
    let name = text.strip_suffix('.').unwrap_or(text).to_ascii_lowercase();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let label = |label: &str| !label.is_empty() && label.len() <= 63 && label.bytes().all(plain);
    match name.len() <= 253 && name.split('.').all(label) {
        true => Ok(name),
        false => Err("write names as evidence.example.com, without a scheme or a port".to_owned()),
    }
}

/// The host of the header `Host`.
fn well_formed(headers: &HeaderMap, version: Version) -> Result<Option<Authority>, Error> {
    let invalid = |what: &str| Error::Invalid(what.to_owned());
    let codings = headers.get_all(TRANSFER_ENCODING).iter();
    let codings: Vec<String> = codings
        .flat_map(|value| value.as_bytes().split(|byte| *byte == b','))
        .map(|coding| String::from_utf8_lossy(coding).trim().to_ascii_lowercase())
        .collect();
    match codings.split_last() {
        None => {}
        Some((last, [])) if last == "chunked" => {}
        Some((_, before)) if before.iter().any(|coding| coding == "chunked") => {
            return Err(invalid("the transfer coding chunked must be the last and occur once"));
        }
        Some(_) => return Err(Error::UnsupportedCoding),
    }
    let mut hosts = headers.get_all(HOST).iter();
    let Some(host) = hosts.next() else {
        return match version {
            Version::HTTP_11 => Err(invalid("the request has no header Host")),
            _ => Ok(None),
        };
    };
    if hosts.next().is_some() {
        return Err(invalid("the request has more than one header Host"));
    }
    let host = Authority::try_from(host.as_bytes()).ok().filter(|host| !host.as_str().contains('@'));
    host.map(Some).ok_or_else(|| invalid("the header Host is not a host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_is_ours_or_cannot_be_pointed_elsewhere() {
        let ours = HostNames::new(&[host_name("Evidence.example.com.").unwrap()]);
        for host in
            ["evidence.example.com", "EVIDENCE.example.COM.", "127.0.0.1", "[::1]", "192.0.2.7", "localhost"]
        {
            assert!(ours.has(host), "{host}");
        }
        for host in [
            "example.com",
            "x.evidence.example.com",
            "evidence.example.com.evil.test",
            "localhost.evil.test",
            "127.0.0.1.evil.test",
            "0x7f.1",
            "2130706433",
            "",
        ] {
            assert!(!ours.has(host), "{host}");
        }
        assert!(
            HostNames::default().has("app.localhost") && !HostNames::default().has("evidence.example.com")
        );
        for name in [
            "",
            "https://evidence.example.com",
            "evidence.example.com:443",
            "a..b",
            "b\u{fc}cher.example",
            "*",
        ] {
            assert!(host_name(name).is_err(), "{name}");
        }
    }
}
