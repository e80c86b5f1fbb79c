//! Why a connection failed, and whether it will fail the same way at every attempt.
//!
//! Faulty certificates, TLS versions and a proxy's refusals do not pass in seconds. Neither does a name that does not
//! resolve, a dead proxy or a page instead of an answer, as long as the host has never answered: then an address is
//! wrong. Later, they may be a disturbance of the network. The advice is the same for all sources, except for the
//! setting that names a certificate.

use std::error::Error;
use std::io;
use std::time::Duration;

use evidence_os::place;
use evidence_text::saturating_i64;
use jiff::Timestamp;
use rustls::{AlertDescription, CertificateError};
use url::Url;

use super::proxy::{Proxy, ProxyError};
use super::setup::CONNECT_TIMEOUT;
use super::words::{innermost, single_line};

/// Why connections to a host fail until a person intervenes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PermanentFailure {
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
    /// The proxy that this variable names cannot be reached.
    ProxyUnreachable(&'static str),
    /// The host's name does not exist.
    UnknownName,
    /// The host does not speak the protocol of its address.
    Protocol,
    /// A page of a login, a proxy or a website answers instead of the API.
    Page,
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

impl PermanentFailure {
    /// Whether it will not go away by itself. A disturbed network can look like permanent failures, but only where
    /// something has been answered before: by this host, or by any host of the same provider.
    pub(super) fn lasts(self, host_answered: bool, any_answered: bool) -> bool {
        match self {
            PermanentFailure::UnknownName | PermanentFailure::Protocol => !host_answered,
            PermanentFailure::ProxyUnreachable(_) | PermanentFailure::Page => !any_answered,
            PermanentFailure::UnknownIssuer
            | PermanentFailure::WrongName
            | PermanentFailure::Expired
            | PermanentFailure::NotYetValid
            | PermanentFailure::Certificate
            | PermanentFailure::Tls
            | PermanentFailure::ProxyCredentials(_)
            | PermanentFailure::ProxyRefuses(_)
            | PermanentFailure::ProxyVariable(_) => true,
        }
    }

    /// The advice, one line each.
    pub fn help(self, target: HelpTarget<'_>) -> Vec<String> {
        let HelpTarget { host, address, ca_file } = target;
        let line = match self {
            PermanentFailure::UnknownIssuer => {
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
            PermanentFailure::WrongName => {
                format!("check {address}: its host name must be in the certificate")
            }
            PermanentFailure::Expired => {
                "renew the certificate; check the clock of this machine too".to_string()
            }
            PermanentFailure::NotYetValid => {
                "check the clock of this machine, then the certificate".to_string()
            }
            PermanentFailure::Certificate => "replace the certificate with a valid one".to_string(),
            PermanentFailure::Tls => {
                format!("enable TLS 1.2 or newer on {host}, or on the proxy that inspects TLS")
            }
            PermanentFailure::ProxyCredentials(variable) => {
                // The screen would take a full example address for a secret.
                format!(
                    "put the proxy's user and password into {variable}, as user:password@ before the host"
                )
            }
            PermanentFailure::ProxyRefuses(variable) => format!(
                "have the proxy allow {host}, or correct {variable}; if {host} needs no proxy, add it to NO_PROXY"
            ),
            PermanentFailure::ProxyUnreachable(variable) => {
                return vec![
                    format!("start the proxy, or correct or unset the variable {variable}"),
                    format!("if {host} needs no proxy: `export NO_PROXY={host}`"),
                ];
            }
            PermanentFailure::UnknownName => {
                format!(
                    "check {address}, and the name server of this machine; behind a proxy, set HTTPS_PROXY"
                )
            }
            PermanentFailure::Protocol => {
                format!("check {address}: its scheme and port must be those of the API")
            }
            PermanentFailure::Page => {
                return vec![
                    format!("check that {address} is the address of the API, not of a website"),
                    format!("a login page or a proxy may answer instead of {host}: let this machine pass"),
                ];
            }
            PermanentFailure::ProxyVariable(variable) => {
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
    /// The failure, if the failure is permanent.
    pub(super) permanent: Option<PermanentFailure>,
}

impl From<String> for TransportError {
    fn from(text: String) -> TransportError {
        TransportError { text, permanent: None }
    }
}

impl From<ProxyError> for TransportError {
    fn from(unusable: ProxyError) -> TransportError {
        TransportError {
            text: unusable.to_string(),
            permanent: Some(PermanentFailure::ProxyVariable(unusable.variable)),
        }
    }
}

/// Why a request to `url` has no answer. If a proxy did not let the request through, asks the proxy once more,
/// since the HTTP client does not reveal the proxy's status.
pub(super) async fn transport_error(
    error: &reqwest::Error,
    url: &Url,
    timeout: Duration,
    proxy: &Proxy,
) -> TransportError {
    let lasts = |text: String, permanent| TransportError {
        text: format!("cannot connect: {text}"),
        permanent: Some(permanent),
    };
    let (tls, tunnel) = (causes(error).find_map(|cause| cause.downcast_ref()), tunnel(error));
    let whose = if tunnel.is_some() { "the proxy's certificate" } else { "the certificate" };
    if let Some((text, permanent)) = tls.and_then(|error| of_tls(error, whose)) {
        return lasts(text, permanent);
    }
    let (Some(tunnel), Some(variable)) = (tunnel, proxy.variable()) else {
        return match (name_error(error), url.host_str()) {
            (Some(NameError::Unknown), Some(host)) => {
                lasts(format!("the name {host} does not resolve"), PermanentFailure::UnknownName)
            }
            _ if is_strange(error) => {
                lasts("the host does not speak HTTP".to_string(), PermanentFailure::Protocol)
            }
            _ => describe(error, timeout).into(),
        };
    };
    let name = proxy.name(url).unwrap_or_else(|| variable.to_string());
    if tunnel == "failed to create underlying connection" {
        let dead = PermanentFailure::ProxyUnreachable(variable);
        if name_error(error) == Some(NameError::Unknown) {
            return lasts(format!("the name of the proxy {name} does not resolve"), dead);
        }
        if causes(error).any(is_refused) {
            return lasts(format!("the proxy {name} refuses connections"), dead);
        }
    }
    let status = match tunnel.as_str() {
        "proxy authorization required" => Some(407),
        "unsuccessful" => proxy.status(url, timeout.min(CONNECT_TIMEOUT)).await,
        _ => None,
    };
    let host = url.host_str().unwrap_or_default();
    match status {
        Some(407) => lasts(
            format!("the proxy {name} asks for credentials (HTTP 407)"),
            PermanentFailure::ProxyCredentials(variable),
        ),
        // 501: a server that is not a proxy.
        Some(status @ (400..=407 | 409..=428 | 430..=499 | 501)) => {
            let text = format!("the proxy {name} refuses to connect to {host} (HTTP {status})");
            lasts(text, PermanentFailure::ProxyRefuses(variable))
        }
        Some(status) if status != 200 => {
            format!("cannot connect: the proxy {name} answers HTTP {status} for {host}").into()
        }
        _ if error.is_timeout() => describe(error, timeout).into(),
        _ => format!("cannot connect through the proxy {name}: {}", innermost(error)).into(),
    }
}

/// Why a name has no address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum NameError {
    /// It does not exist, or has no address.
    Unknown,
    /// The name server did not answer, or does not know yet.
    Other,
}

/// Why the name of the host, or of its proxy, has no address; `None` if that is not the failure.
fn name_error(error: &reqwest::Error) -> Option<NameError> {
    let resolver = causes(error).find(|cause| cause.to_string() == "dns error")?;
    let io: Option<&io::Error> = causes(resolver).find_map(|cause| cause.downcast_ref());
    Some(io.map_or(NameError::Other, of_resolver))
}

/// The system's resolver reports the reason as text only, except on Windows. The text is never translated.
fn of_resolver(error: &io::Error) -> NameError {
    const UNKNOWN: [&str; 5] = [
        // glibc
        "Name or service not known",
        "No address associated with hostname",
        // musl
        "Name does not resolve",
        "Name has no usable address",
        // macOS
        "nodename nor servname provided",
    ];
    /// WSAHOST_NOT_FOUND and WSANO_DATA
    const WINDOWS: [i32; 2] = [11_001, 11_004];
    let text = error.to_string();
    let known = error.raw_os_error().is_some_and(|code| WINDOWS.contains(&code))
        || UNKNOWN.iter().any(|unknown| text.contains(unknown));
    if known { NameError::Unknown } else { NameError::Other }
}

fn is_refused(error: &(dyn Error + 'static)) -> bool {
    error.downcast_ref::<io::Error>().is_some_and(|error| error.kind() == io::ErrorKind::ConnectionRefused)
}

/// Whether the host answered in another protocol. The type of the error is private, so only its text identifies it.
fn is_strange(error: &reqwest::Error) -> bool {
    causes(error).any(|cause| cause.to_string() == "invalid HTTP version parsed")
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

fn of_tls(error: &rustls::Error, whose: &str) -> Option<(String, PermanentFailure)> {
    match error {
        rustls::Error::InvalidCertificate(error) => Some(of_certificate(error, whose)),
        rustls::Error::NoCertificatesPresented => {
            Some(("the host presents no certificate".to_string(), PermanentFailure::Certificate))
        }
        rustls::Error::PeerIncompatible(_)
        | rustls::Error::AlertReceived(
            AlertDescription::ProtocolVersion
            | AlertDescription::InsufficientSecurity
            | AlertDescription::HandshakeFailure,
        ) => Some((
            "the host and this client have no TLS version or cipher in common".to_string(),
            PermanentFailure::Tls,
        )),
        rustls::Error::InvalidMessage(_) => {
            Some(("the host does not speak TLS".to_string(), PermanentFailure::Protocol))
        }
        // Anything else may be a disturbed connection.
        _ => None,
    }
}

fn of_certificate(error: &CertificateError, whose: &str) -> (String, PermanentFailure) {
    let at = |time: rustls::pki_types::UnixTime| {
        let seconds = saturating_i64(time.as_secs());
        Timestamp::from_second(seconds).map(|time| time.to_string()).unwrap_or_default()
    };
    match error {
        // A different certificate of the same name is the trusted one.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            (format!("{whose} was issued by an untrusted authority"), PermanentFailure::UnknownIssuer)
        }
        CertificateError::NotValidForNameContext { expected, presented } => {
            // `DnsName("code.example")`
            let name = |shown: &String| shown.split('"').nth(1).unwrap_or(shown).to_string();
            let names: Vec<String> = presented.iter().map(name).collect();
            let text = format!("{whose} is not for {}, but for {}", expected.to_str(), names.join(", "));
            (single_line(&text), PermanentFailure::WrongName)
        }
        CertificateError::NotValidForName => {
            (format!("{whose} is for other hosts"), PermanentFailure::WrongName)
        }
        CertificateError::ExpiredContext { not_after, .. } => {
            (format!("{whose} expired at {}", at(*not_after)), PermanentFailure::Expired)
        }
        CertificateError::Expired => (format!("{whose} has expired"), PermanentFailure::Expired),
        CertificateError::NotValidYetContext { not_before, .. } => {
            (format!("{whose} is not valid before {}", at(*not_before)), PermanentFailure::NotYetValid)
        }
        CertificateError::NotValidYet => (format!("{whose} is not valid yet"), PermanentFailure::NotYetValid),
        other => (
            format!("{whose} cannot be used: {}", single_line(&other.to_string())),
            PermanentFailure::Certificate,
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_lasts() {
        use PermanentFailure::*;
        let each = [(false, false), (false, true), (true, true)];
        for (permanent, lasts) in [
            (UnknownName, [true, true, false]),
            (Protocol, [true, true, false]),
            (ProxyUnreachable("HTTPS_PROXY"), [true, false, false]),
            (Page, [true, false, false]),
            (ProxyRefuses("HTTPS_PROXY"), [true; 3]),
            (UnknownIssuer, [true; 3]),
        ] {
            assert_eq!(each.map(|(host, any)| permanent.lasts(host, any)), lasts, "{permanent:?}");
        }
    }

    #[test]
    fn a_name_server_that_does_not_answer_is_another_matter() {
        let said = "failed to lookup address information: ";
        for (text, known) in [
            ("Name or service not known", NameError::Unknown),
            ("No address associated with hostname", NameError::Unknown),
            ("Name does not resolve", NameError::Unknown),
            ("Name has no usable address", NameError::Unknown),
            ("nodename nor servname provided, or not known", NameError::Unknown),
            ("Temporary failure in name resolution", NameError::Other),
            ("Try again", NameError::Other),
            ("Non-recoverable failure in name resolution", NameError::Other),
            ("Device or resource busy", NameError::Other),
        ] {
            assert_eq!(of_resolver(&io::Error::other(format!("{said}{text}"))), known, "{text}");
        }
        for (code, known) in
            [(11_001, NameError::Unknown), (11_004, NameError::Unknown), (11_002, NameError::Other)]
        {
            assert_eq!(of_resolver(&io::Error::from_raw_os_error(code)), known, "{code}");
        }
    }
}
