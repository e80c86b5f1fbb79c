//! The proxy that the environment names: its address, its exceptions, and its answers.
//!
//! A variable that is set but does not name a proxy is an error: the HTTP client would ignore it, and send credentials
//! past the intended proxy. No text here shows a variable's value, which may hold a password.

use std::ffi::OsStr;
use std::fmt;
use std::time::Duration;

use hyper_util::client::proxy::matcher::{Intercept, Matcher};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use url::Url;

/// The longest answer of a proxy that is read for its status.
const STATUS_LIMIT: u64 = 1_024;

/// The proxy for `https` addresses, if a variable names one. `http` is for loopback and uses no
/// proxy.
#[derive(Clone, Default)]
pub struct Proxy {
    https: Option<Setting>,
    /// `NO_PROXY`
    exempt: String,
}

#[derive(Clone)]
struct Setting {
    variable: &'static str,
    /// The value, if it is the address of a proxy.
    address: Option<String>,
}

/// Environment variables.
pub trait Variables {
    /// The variable as the operating system gave it, if it is set, empty or not.
    fn raw(&self, name: &str) -> Option<&OsStr>;
}

/// A proxy variable that cannot be used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the environment variable {variable} is set but does not name an HTTP proxy")]
pub struct ProxyError {
    /// Its name.
    pub variable: &'static str,
}

/// The value is left out: it may hold a password.
impl fmt::Debug for Proxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Proxy").field("variable", &self.variable()).field("exempt", &self.exempt).finish()
    }
}

impl Proxy {
    /// Reads the variables as the HTTP client does: either spelling, the first if both are set; `ALL_PROXY` if the
    /// one for `https` is absent or empty.
    pub fn from_env(env: &impl Variables) -> Proxy {
        let set = |names: [&'static str; 2]| names.into_iter().find_map(|name| Some((name, env.raw(name)?)));
        let used = |names| set(names).filter(|(_, value)| !value.is_empty());
        let https = used(["HTTPS_PROXY", "https_proxy"]).or_else(|| used(["ALL_PROXY", "all_proxy"]));
        let https = https.map(|(variable, value)| {
            let address = value.to_str().filter(|value| is_address(value)).map(str::to_string);
            Setting { variable, address }
        });
        let exempt = set(["NO_PROXY", "no_proxy"]).and_then(|(_, value)| value.to_str());
        Proxy { https, exempt: exempt.unwrap_or_default().to_string() }
    }

    /// Checks that each of these addresses can be reached as the variables say.
    ///
    /// # Errors
    ///
    /// Fails if one of them needs a proxy, and the variable does not name one.
    pub fn check<'a>(&self, urls: impl IntoIterator<Item = &'a Url>) -> Result<(), ProxyError> {
        match &self.https {
            Some(Setting { variable, address: None }) => {
                // Any proxy address reveals the exceptions.
                let matcher = self.matcher("http://proxy.invalid");
                match urls.into_iter().any(|url| intercept(&matcher, url).is_some()) {
                    true => Err(ProxyError { variable }),
                    false => Ok(()),
                }
            }
            Some(Setting { address: Some(_), .. }) | None => Ok(()),
        }
    }

    /// The variable that names the proxy.
    pub(super) fn variable(&self) -> Option<&'static str> {
        self.https.as_ref().map(|setting| setting.variable)
    }

    /// The proxy for `url` as messages show it: its host and port, without credentials, and the variable.
    pub fn name(&self, url: &Url) -> Option<String> {
        let proxy = intercept(&self.matcher(self.address()?), url)?;
        let port = proxy.uri().port_u16().map(|port| format!(":{port}")).unwrap_or_default();
        Some(format!("{}{port} ({})", proxy.uri().host()?, self.variable()?))
    }

    /// A client that uses the proxy.
    pub(super) fn used_by(&self, builder: reqwest::ClientBuilder) -> reqwest::Result<reqwest::ClientBuilder> {
        let Some(address) = self.address() else { return Ok(builder) };
        let exempt = reqwest::NoProxy::from_string(&self.exempt);
        Ok(builder.proxy(reqwest::Proxy::https(address)?.no_proxy(exempt)))
    }

    /// The proxy's status for a tunnel to `url`, which the HTTP client does not reveal.
    pub(super) async fn status(&self, url: &Url, patience: Duration) -> Option<u16> {
        let proxy = intercept(&self.matcher(self.address()?), url)?;
        if proxy.uri().scheme_str() != Some("http") {
            return None;
        }
        let host = proxy.uri().host()?.trim_matches(['[', ']']);
        let port = proxy.uri().port_u16().unwrap_or(80);
        let target = format!("{}:{}", url.host_str()?, url.port_or_known_default()?);
        let credentials = proxy.basic_auth().and_then(|value| value.to_str().ok());
        let credentials =
            credentials.map(|value| format!("Proxy-Authorization: {value}\r\n")).unwrap_or_default();
        let question = format!("CONNECT {target} HTTP/1.1\r\nHost: {target}\r\n{credentials}\r\n");
        let asked = async {
            let mut stream = TcpStream::connect((host, port)).await.ok()?;
            stream.write_all(question.as_bytes()).await.ok()?;
            let (mut stream, mut answer) = (stream.take(STATUS_LIMIT), Vec::new());
            while !answer.contains(&b'\n') && stream.read_buf(&mut answer).await.ok()? > 0 {}
            // `HTTP/1.1 403 Forbidden`
            let line = String::from_utf8_lossy(&answer).into_owned();
            line.strip_prefix("HTTP/1.")?.split_whitespace().nth(1)?.parse().ok()
        };
        tokio::time::timeout(patience, asked).await.ok()?
    }

    fn address(&self) -> Option<&str> {
        self.https.as_ref()?.address.as_deref()
    }

    fn matcher(&self, address: &str) -> Matcher {
        Matcher::builder().https(address).no(self.exempt.as_str()).build()
    }
}

/// Whether the HTTP client can use the value. It parses the schemes of other proxies too, but does not support them.
fn is_address(value: &str) -> bool {
    let matcher = Matcher::builder().https(value).build();
    let Ok(anywhere) = Url::parse("https://host.invalid/") else { return false };
    intercept(&matcher, &anywhere).is_some_and(|proxy| {
        matches!(proxy.uri().scheme_str(), Some("http" | "https")) && reqwest::Proxy::https(value).is_ok()
    })
}

fn intercept(matcher: &Matcher, url: &Url) -> Option<Intercept> {
    matcher.intercept(&url.as_str().parse().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Given<'a>(&'a [(&'a str, &'a str)]);

    impl Variables for Given<'_> {
        fn raw(&self, name: &str) -> Option<&OsStr> {
            self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| OsStr::new(*value))
        }
    }

    fn proxy(variables: &[(&str, &str)]) -> Proxy {
        Proxy::from_env(&Given(variables))
    }

    #[test]
    fn what_names_a_proxy() {
        for (value, usable) in [
            ("http://proxy.example:3128", true),
            ("https://user:pass%40word@proxy.example", true),
            ("proxy.example:3128", true),
            ("user:password@proxy.example:3128", true),
            ("proxy.example", true),
            ("http://[::1]:3128/", true),
            ("HTTP://PROXY.EXAMPLE", true),
            ("::nonsense::", false),
            ("ftp://proxy.example:21", false),
            ("socks5://proxy.example:1080", false),
            ("socks5h://proxy.example:1080", false),
            ("gopher://proxy.example", false),
            ("http://", false),
            ("http:///path", false),
            ("http://proxy.example:port", false),
            ("http://proxy.example:99999", false),
            (" http://proxy.example", false),
            ("http://proxy.example\n", false),
            ("http://two words", false),
            (" ", false),
        ] {
            let proxy = proxy(&[("HTTPS_PROXY", value)]);
            let host = Url::parse("https://code.example/api").unwrap();
            assert_eq!(proxy.check([&host]).is_ok(), usable, "{value:?}");
            assert_eq!(proxy.address().is_some(), usable, "{value:?}");
            assert!(!format!("{proxy:?}").contains("pass"), "{proxy:?}");
            let builder = || reqwest::Client::builder().tls_certs_only([]);
            assert!(proxy.used_by(builder()).is_ok(), "{value:?}");
        }
    }

    #[test]
    fn who_is_exempt() {
        for (exempt, host, spared) in [
            ("", "https://code.example/", false),
            ("*", "https://code.example/", true),
            ("code.example", "https://code.example/", true),
            ("a.example, .example", "https://code.example:8443/x", true),
            ("ode.example", "https://code.example/", false),
            ("10.0.0.0/8", "https://10.1.2.3/", true),
            ("::1", "https://[::1]:8443/", true),
            ("", "http://localhost:8080/", true),
        ] {
            let proxy = proxy(&[("ALL_PROXY", "::nonsense::"), ("NO_PROXY", exempt)]);
            let host = Url::parse(host).unwrap();
            let expected = if spared { Ok(()) } else { Err(ProxyError { variable: "ALL_PROXY" }) };
            assert_eq!(proxy.check([&host]), expected, "{exempt:?} {host}");
        }
    }

    #[test]
    fn the_first_of_several_variables() {
        for (variables, used) in [
            (&[][..], None),
            (
                &[("HTTPS_PROXY", "http://a"), ("https_proxy", "http://b"), ("ALL_PROXY", "http://c")],
                Some("http://a"),
            ),
            (&[("https_proxy", "http://b"), ("ALL_PROXY", "http://c")], Some("http://b")),
            (&[("HTTPS_PROXY", ""), ("https_proxy", "http://b")], None),
            (&[("HTTPS_PROXY", ""), ("all_proxy", "http://d")], Some("http://d")),
            (&[("ALL_PROXY", "http://c"), ("all_proxy", "http://d")], Some("http://c")),
            (&[("HTTP_PROXY", "http://e")], None),
        ] {
            assert_eq!(proxy(variables).address(), used, "{variables:?}");
        }
    }
}
