//! Sends one webhook: a POST in the form of Standard Webhooks, signed with HMAC-SHA256, to a public address.
//!
//! Whoever administers an organization names the address, so it must not lead into the network of the platform: the client
//! connects only to addresses that it has checked itself, and follows no redirect.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::redirect::Policy;
use ring::hmac;
use url::{Host, Url};

use crate::error::Error;
use crate::id::random_bytes;
use crate::time::Time;

/// The time for one attempt, as the standard recommends.
const PATIENCE: Duration = Duration::from_secs(15);
const SECRET: &str = "whsec_";
/// The longest address.
const URL_BYTES: usize = 2_000;

/// A message to send.
#[derive(Clone, PartialEq, Eq)]
pub struct Message {
    /// Its id, the same in every attempt.
    pub id: String,
    /// The address.
    pub url: String,
    /// The secret that signs it.
    pub secret: String,
    /// The JSON.
    pub body: String,
}

impl std::fmt::Debug for Message {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Message").field("id", &self.id).finish_non_exhaustive()
    }
}

/// Sends messages.
#[derive(Debug, Clone)]
pub struct Sender {
    client: reqwest::Client,
    private: bool,
}

impl Sender {
    /// A sender; `private` allows addresses of private networks and plain HTTP.
    ///
    /// # Errors
    /// Fails with [`Error::Internal`] if there is no client.
    pub fn new(private: bool) -> Result<Sender, Error> {
        // The client panics without a cryptography provider. A second call does nothing.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = reqwest::Client::builder()
            // A proxy would resolve the name, and connect wherever it leads.
            .no_proxy()
            .redirect(Policy::none())
            .timeout(PATIENCE)
            .user_agent(concat!("evidence-platform/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Checked { private })
            .build()
            .map_err(|error| Error::internal("no client for webhooks", error))?;
        Ok(Sender { client, private })
    }

    /// Sends a message once. Any 2xx is success.
    ///
    /// # Errors
    /// Returns the reason in words, without the path of the address.
    pub async fn send(&self, message: &Message, now: Time) -> Result<(), String> {
        let url = parse(&message.url).map_err(|error| error.to_string())?;
        check(&url, self.private)?;
        let seconds = now.0.div_euclid(1_000);
        let signature = sign(&message.secret, &message.id, seconds, &message.body)
            .ok_or("the secret of the webhook is damaged")?;
        let request = self
            .client
            .post(url)
            .header("content-type", "application/json")
            .header("webhook-id", &message.id)
            .header("webhook-timestamp", seconds)
            .header("webhook-signature", signature)
            .body(message.body.clone());
        match request.send().await {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(format!("HTTP {}", answer.status().as_u16())),
            Err(error) if error.is_timeout() => {
                Err(format!("no answer within {} seconds", PATIENCE.as_secs()))
            }
            Err(error) => Err(evidence_bundle::text::Chain(&error.without_url()).to_string()),
        }
    }
}

/// A new secret: `whsec_` and the base64 of 32 random bytes.
///
/// # Errors
/// Fails with [`Error::Internal`] if the operating system provides no random bytes.
pub fn new_secret() -> Result<String, Error> {
    Ok(format!("{SECRET}{}", STANDARD.encode(random_bytes::<32>()?)))
}

/// The value of `webhook-signature` (Standard Webhooks, version 1); `None` for a secret of another form.
pub fn sign(secret: &str, id: &str, seconds: i64, body: &str) -> Option<String> {
    let key = STANDARD.decode(secret.strip_prefix(SECRET)?).ok()?;
    let key = hmac::Key::new(hmac::HMAC_SHA256, &key);
    let tag = hmac::sign(&key, format!("{id}.{seconds}.{body}").as_bytes());
    Some(format!("v1,{}", STANDARD.encode(tag.as_ref())))
}

/// Parses the address of a webhook.
///
/// # Errors
/// Fails with [`Error::Invalid`].
pub fn parse(text: &str) -> Result<Url, Error> {
    let invalid = |what: &str| Error::Invalid(format!("the address of a webhook {what}"));
    let url =
        Url::parse(text).map_err(|_| invalid("must be a URL, as https://hooks.example.com/evidence"))?;
    if !matches!(url.scheme(), "https" | "http") || url.host().is_none() {
        return Err(invalid("must begin with https://"));
    }
    if !url.username().is_empty() || url.password().is_some() || url.fragment().is_some() {
        return Err(invalid("must have no user, password or fragment"));
    }
    if text.len() > URL_BYTES {
        return Err(invalid("must have at most 2,000 bytes"));
    }
    Ok(url)
}

/// Refuses what needs the operator's permission. Names are checked when they are resolved.
fn check(url: &Url, private: bool) -> Result<(), String> {
    if private {
        return Ok(());
    }
    if url.scheme() != "https" {
        return Err("plain HTTP is refused; the operator can allow it with `serve --private-webhooks`".into());
    }
    let address = match url.host() {
        Some(Host::Ipv4(address)) => IpAddr::V4(address),
        Some(Host::Ipv6(address)) => IpAddr::V6(address),
        _ => return Ok(()),
    };
    if is_public(address) { Ok(()) } else { Err(PRIVATE.to_owned()) }
}

const PRIVATE: &str =
    "the address is in a private network; the operator can allow it with `serve --private-webhooks`";

/// Resolves names, and passes on only addresses that may be connected to: what is checked is what is used.
struct Checked {
    private: bool,
}

impl Resolve for Checked {
    fn resolve(&self, name: Name) -> Resolving {
        let private = self.private;
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let allowed: Vec<SocketAddr> =
                found.filter(|address| private || is_public(address.ip())).collect();
            if allowed.is_empty() {
                return Err(PRIVATE.into());
            }
            Ok::<Addrs, _>(Box::new(allowed.into_iter()))
        })
    }
}

/// Whether an address is one of the public internet.
fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let special = matches!(
        (a, b, c),
        (0 | 10 | 127, _, _)
            | (100, 64..=127, _)
            | (169, 254, _)
            | (172, 16..=31, _)
            | (192, 0, 0 | 2)
            | (192, 88, 99)
            | (192, 168, _)
            | (198, 18 | 19, _)
            | (198, 51, 100)
            | (203, 0, 113)
            | (224..=255, _, _)
    );
    !special
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    let segments = address.segments();
    let embedded = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        is_public_v4(Ipv4Addr::new(a, b, c, d))
    };
    match segments {
        // Mapped (::ffff:0:0/96) and translated (64:ff9b::/96) addresses are those of IPv4.
        [0, 0, 0, 0, 0, 0xffff, high, low] | [0x64, 0xff9b, 0, 0, 0, 0, high, low] => embedded(high, low),
        // 6to4
        [0x2002, high, low, ..] => embedded(high, low),
        // Teredo, ORCHID, benchmarking, documentation
        [0x2001, 0..=0x1ff, ..] | [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => false,
        // Only 2000::/3 is given out.
        [first, ..] => first & 0xe000 == 0x2000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of the standard's libraries.
    #[test]
    fn a_signature_is_that_of_the_standard() {
        let signature = sign(
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "msg_p5jXN8AQM9LWM0D4loKWxJek",
            1_614_265_330,
            "{\"test\": 2432232314}",
        );
        assert_eq!(signature.unwrap(), "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=");
        assert!(sign("whsec_!", "m", 0, "").is_none() && sign("MfKQ9r8G", "m", 0, "").is_none());
        let (one, other) = (new_secret().unwrap(), new_secret().unwrap());
        assert!(one != other && sign(&one, "m", 0, "").is_some());
    }

    #[test]
    fn only_public_addresses_are_public() {
        for address in ["1.1.1.1", "93.184.216.34", "2606:4700::1111", "172.32.0.1", "100.63.0.1"] {
            assert!(is_public(address.parse().unwrap()), "{address}");
        }
        for address in [
            "0.0.0.0",
            "10.1.2.3",
            "100.64.0.1",
            "127.0.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.1",
            "192.0.0.1",
            "192.0.2.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::a9fe:a9fe",
            "2002:7f00:1::",
            "2002:a00:1::1",
            "fc00::1",
            "fd12::1",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2001:db8::1",
            "2001::1",
            "100::1",
        ] {
            assert!(!is_public(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn an_address_is_checked_however_it_is_written() {
        let check = |text: &str| check(&parse(text).unwrap(), false);
        assert!(check("https://hooks.example.com/x?y=z").is_ok());
        for text in [
            "http://hooks.example.com/",
            "https://127.0.0.1/",
            "https://2130706433/",
            "https://0x7f.1/",
            "https://0177.0.0.1/",
            "https://[::1]/",
            "https://[::ffff:169.254.169.254]/latest",
        ] {
            assert!(check(text).is_err(), "{text}");
        }
        for text in
            ["", "hooks.example.com", "ftp://x.example/", "https://u:p@x.example/", "https://x.example/#y"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[tokio::test]
    async fn a_name_that_leads_inside_is_refused() {
        let message = |url: &str| Message {
            id: "msg_1".into(),
            url: url.into(),
            secret: new_secret().unwrap(),
            body: "{}".into(),
        };
        let sender = Sender::new(false).unwrap();
        let refused = sender.send(&message("https://localhost:1/secret"), Time(0)).await.unwrap_err();
        assert!(refused.contains("private network") && !refused.contains("secret"), "{refused}");
    }
}
