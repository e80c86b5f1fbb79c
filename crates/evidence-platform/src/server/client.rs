//! The address that a request comes from, directly or through reverse proxies.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, HeaderName};
use ipnet::IpNet;

use crate::error::Error;

const FORWARDED_FOR: HeaderName = HeaderName::from_static("x-forwarded-for");

/// The peer of the connection.
#[derive(Debug, Clone, Copy)]
pub(super) struct Peer(pub(super) IpAddr);

/// The address of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client(pub IpAddr);

impl<S: Send + Sync> FromRequestParts<S> for Client {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Client, Error> {
        let missing = Error::Internal("the request has no address", None);
        parts.extensions.get().copied().ok_or(missing)
    }
}

/// The proxies whose `X-Forwarded-For` is trusted.
#[derive(Debug, Clone)]
pub struct Proxies(Arc<[IpNet]>);

impl Proxies {
    /// The proxies in these networks.
    pub fn within(networks: &[IpNet]) -> Proxies {
        Proxies(networks.into())
    }

    /// The first address from the right that is not a trusted proxy. Each proxy appends its peer; the client can invent
    /// everything further left.
    pub(super) fn client(&self, peer: IpAddr, headers: &HeaderMap) -> Client {
        let mut client = peer.to_canonical();
        for value in headers.get_all(FORWARDED_FOR).iter().rev() {
            for part in value.to_str().unwrap_or_default().rsplit(',') {
                if !self.0.iter().any(|network| network.contains(&client)) {
                    return Client(client);
                }
                let Some(before) = address(part.trim()) else { return Client(client) };
                client = before;
            }
        }
        Client(client)
    }
}

/// Parses an address as proxies write it, with or without a port.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|text| text.strip_suffix(']')).unwrap_or(text);
    let parsed = bare.parse().ok().or_else(|| text.parse().ok().map(|socket: SocketAddr| socket.ip()));
    parsed.map(|address: IpAddr| address.to_canonical())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_name_the_client() {
        let proxies = ["10.0.0.0/8", "fd00::/8", "192.0.2.1/32"].map(|network| network.parse().unwrap());
        let table: &[(&str, &[&str], &str)] = &[
            ("203.0.113.9", &[], "203.0.113.9"),
            // The header of an untrusted peer is ignored.
            ("203.0.113.9", &["198.51.100.1"], "203.0.113.9"),
            ("10.0.0.1", &[], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1"], "198.51.100.1"),
            ("::ffff:10.0.0.1", &["::ffff:198.51.100.1"], "198.51.100.1"),
            // Entries that the client sent itself are ignored.
            ("10.0.0.1", &["127.0.0.1, 198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["127.0.0.1", "198.51.100.1"], "198.51.100.1"),
            ("10.0.0.1", &["127.0.0.1, 198.51.100.1 ,10.0.0.2", "192.0.2.1"], "198.51.100.1"),
            ("fd00::1", &["2001:db8::1"], "2001:db8::1"),
            ("10.0.0.1", &["198.51.100.1:4711"], "198.51.100.1"),
            ("10.0.0.1", &["[2001:db8::1]:4711"], "2001:db8::1"),
            ("10.0.0.1", &["[2001:db8::1]"], "2001:db8::1"),
            // Only proxies: the leftmost one.
            ("10.0.0.1", &["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
            // An unreadable entry ends the search.
            ("10.0.0.1", &["unknown"], "10.0.0.1"),
            ("10.0.0.1", &["198.51.100.1, , 10.0.0.2"], "10.0.0.2"),
            ("10.0.0.1", &["198.51.100.1", "caf\u{e9}"], "10.0.0.1"),
        ];
        for (peer, values, expected) in table {
            let mut headers = HeaderMap::new();
            for value in *values {
                headers.append(FORWARDED_FOR, http::HeaderValue::from_bytes(value.as_bytes()).unwrap());
            }
            let client = |trusted| Proxies::within(trusted).client(peer.parse().unwrap(), &headers).0;
            assert_eq!(client(&proxies).to_string(), *expected, "{peer} {values:?}");
            assert_eq!(client(&[]), peer.parse::<IpAddr>().unwrap().to_canonical(), "{values:?}");
        }
    }
}
