//! Why a connection failed, and whether it will fail the same way at every attempt.
//!
//! Faulty certificates, TLS versions and a proxy's refusals do not pass in seconds. The advice is the same for all
//! sources, except for the setting that names a certificate.

use std::error::Error;
use std::io;
use std::time::Duration;

use evidence_os::place;
use jiff::Timestamp;
use rustls::{AlertDescription, CertificateError};
use url::Url;

use super::proxy::{Proxy, ProxyError};
use super::setup::CONNECT_TIMEOUT;
use super::words::{innermost, single_line};

/// Why connections to a host fail until a person intervenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// The issuer of the host's certificate is not trusted.
    UnknownIssuer,
    /// The certificate is for other hosts.
    WrongName,
    /// The certificate has expired.
    Expired,
    /// The certificate is not valid yet.
    NotYetValid,
    /// Any other fault of the certificate.
    Certificate,
    /// The host and this client share no version of TLS or no cipher.
    Tls,
    /// The proxy that this variable names requires credentials, or different ones.
    ProxyCredentials(&'static str),
    /// The proxy that this variable names refuses to connect to the host.
    ProxyRefuses(&'static str),
    /// This variable is set, but its value is not a proxy address.
    ProxyVariable(&'static str),
}

/// What the help lines refer to.
#[derive(Debug, Clone, Copy)]
pub struct HelpTarget<'a> {
    /// The host.
    pub host: &'a str,
    /// The setting that holds its address.
    pub address: &'a str,
    /// The setting of the configuration that names a certificate to trust, if the source has one.
    pub ca_file: Option<&'a str>,
}

impl Obstacle {
    /// The advice, one line each.
    pub fn help(self, target: HelpTarget<'_>) -> Vec<String> {
        let HelpTarget { host, address, ca_file } = target;
        let line = match self {
            Obstacle::UnknownIssuer => {
                let trust = match ca_file {
                    Some(ca_file) => format!("add its certificate (PEM) with {ca_file}"),
                    None if place::HAS_CERTIFICATE_FILE => {
                        "add its certificate to the machine's store, or set SSL_CERT_FILE to a PEM file with \
                             all trusted certificates"
                            .to_string()
                    }
                    None => "add its certificate to the machine's store".to_string(),
                };
                return vec![
                    format!("for a private certificate authority, {trust}"),
                    "a proxy that inspects TLS presents a certificate of its own authority".to_string(),
                ];
            }
            Obstacle::WrongName => format!("check {address}: its host name must be in the certificate"),
            Obstacle::Expired => "renew the certificate; check the clock of this machine too".to_string(),
            Obstacle::NotYetValid => "check the clock of this machine, then the certificate".to_string(),
            Obstacle::Certificate => "replace the certificate with a valid one".to_string(),
            Obstacle::Tls => format!("enable TLS 1.2 or newer on {host}, or on the proxy that inspects TLS"),
            Obstacle::ProxyCredentials(variable) => {
                // The screen would take a full example address for a secret.
                format!(
                    "put the proxy's user and password into {variable}, as user:password@ before the host"
                )
            }
            Obstacle::ProxyRefuses(variable) => format!(
                "have the proxy allow {host}, or correct {variable}; if {host} needs no proxy, add it to NO_PROXY"
            ),
            Obstacle::ProxyVariable(variable) => {
                format!("set {variable} to http://proxy:port or https://proxy:port, or unset it")
            }
        };
        vec![line]
    }
}

/// Why a request has no answer.
#[derive(Debug)]
pub(super) struct TransportError {
    /// A description.
    pub(super) text: String,
    /// The obstacle, if the failure is permanent.
    pub(super) obstacle: Option<Obstacle>,
}

impl From<String> for TransportError {
    fn from(text: String) -> TransportError {
        TransportError { text, obstacle: None }
    }
}

impl From<ProxyError> for TransportError {
    fn from(unusable: ProxyError) -> TransportError {
        TransportError {
            text: unusable.to_string(),
            obstacle: Some(Obstacle::ProxyVariable(unusable.variable)),
        }
    }
}

/// Why a request to `url` has no answer. If a proxy did not let the request through, asks the proxy once more,
/// since the HTTP client does not reveal the proxy's status.
pub(super) async fn trouble(
    error: &reqwest::Error,
    url: &Url,
    timeout: Duration,
    proxy: &Proxy,
) -> TransportError {
    let lasts = |text: String, obstacle| TransportError {
        text: format!("cannot connect: {text}"),
        obstacle: Some(obstacle),
    };
    let (tls, tunnel) = (causes(error).find_map(|cause| cause.downcast_ref()), tunnel(error));
    let whose = if tunnel.is_some() { "the proxy's certificate" } else { "the certificate" };
    if let Some((text, obstacle)) = tls.and_then(|error| of_tls(error, whose)) {
        return lasts(text, obstacle);
    }
    let (Some(tunnel), Some(variable)) = (tunnel, proxy.variable()) else {
        return describe(error, timeout).into();
    };
    let name = proxy.name(url).unwrap_or_else(|| variable.to_string());
    let status = match tunnel.as_str() {
        "proxy authorization required" => Some(407),
        "unsuccessful" => proxy.status(url, timeout.min(CONNECT_TIMEOUT)).await,
        _ => None,
    };
    let host = url.host_str().unwrap_or_default();
    match status {
        Some(407) => lasts(
            format!("the proxy {name} asks for credentials (HTTP 407)"),
            Obstacle::ProxyCredentials(variable),
        ),
        Some(403) => {
            let text = format!("the proxy {name} refuses to connect to {host} (HTTP 403)");
            lasts(text, Obstacle::ProxyRefuses(variable))
        }
        Some(status) if status != 200 => {
            format!("cannot connect: the proxy {name} answers HTTP {status} for {host}").into()
        }
        _ if error.is_timeout() => describe(error, timeout).into(),
        _ => format!("cannot connect through the proxy {name}: {}", innermost(error)).into(),
    }
}

/// Describes a connection failure by its innermost cause, without the URL.
fn describe(error: &reqwest::Error, timeout: Duration) -> String {
    let cause = innermost(error);
    if error.is_timeout() {
        format!("no answer within {} s", timeout.as_secs_f64())
    } else if error.is_connect() {
        format!("cannot connect: {cause}")
    } else {
        format!("the connection failed: {cause}")
    }
}

/// The error and its causes. The `source` of an [`io::Error`] skips the error that it wraps, so this visits that
/// error too.
fn causes<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    let cause = |error: &&'a (dyn Error + 'static)| {
        let error: &'a (dyn Error + 'static) = *error;
        match error.downcast_ref::<io::Error>() {
            Some(io) => io.get_ref().map(|wrapped| wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    };
    std::iter::successors(Some(error), cause)
}

/// How a tunnel through a proxy failed. The error's type is private, so only its text identifies it.
fn tunnel(error: &reqwest::Error) -> Option<String> {
    causes(error).find_map(|cause| cause.to_string().strip_prefix("tunnel error: ").map(str::to_string))
}

fn of_tls(error: &rustls::Error, whose: &str) -> Option<(String, Obstacle)> {
    match error {
        rustls::Error::InvalidCertificate(error) => Some(of_certificate(error, whose)),
        rustls::Error::NoCertificatesPresented => {
            Some(("the host presents no certificate".to_string(), Obstacle::Certificate))
        }
        rustls::Error::PeerIncompatible(_)
        | rustls::Error::AlertReceived(
            AlertDescription::ProtocolVersion
            | AlertDescription::InsufficientSecurity
            | AlertDescription::HandshakeFailure,
        ) => Some((
            "the host and this client have no TLS version or cipher in common".to_string(),
            Obstacle::Tls,
        )),
        // Anything else may be a disturbed connection.
        _ => None,
    }
}

fn of_certificate(error: &CertificateError, whose: &str) -> (String, Obstacle) {
    let at = |time: rustls::pki_types::UnixTime| {
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        Timestamp::from_second(seconds).map(|time| time.to_string()).unwrap_or_default()
    };
    match error {
        // A different certificate of the same name is the trusted one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            (format!("{whose} was issued by an untrusted authority"), Obstacle::UnknownIssuer)
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            // `DnsName("code.example")`
            let name = |shown: &String| shown.split('"').nth(1).unwrap_or(shown).to_string();
            let names: Vec<String> = presented.iter().map(name).collect();
            let text = format!("{whose} is not for {}, but for {}", expected.to_str(), names.join(", "));
            (single_line(&text), Obstacle::WrongName)
        }
        CertificateError::NotValidForName => (format!("{whose} is for other hosts"), Obstacle::WrongName),
        CertificateError::ExpiredContext { not_after, .. } => {
            (format!("{whose} expired at {}", at(*not_after)), Obstacle::Expired)
        }
        CertificateError::Expired => (format!("{whose} has expired"), Obstacle::Expired),
        CertificateError::NotValidYetContext { not_before, .. } => {
            (format!("{whose} is not valid before {}", at(*not_before)), Obstacle::NotYetValid)
        }
        CertificateError::NotValidYet => (format!("{whose} is not valid yet"), Obstacle::NotYetValid),
        other => {
            (format!("{whose} cannot be used: {}", single_line(&other.to_string())), Obstacle::Certificate)
        }
    }
}
