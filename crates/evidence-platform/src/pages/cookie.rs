//! The cookie that holds a session's token, and the check that a form comes from one of our pages.

use http::header::{COOKIE, HOST, ORIGIN};
use http::{HeaderMap, HeaderValue};

use crate::error::Error;
use crate::service::SESSION_SECONDS;

/// The name of the cookie over https. Browsers then prevent other sites from setting it (RFC 6265bis, section
/// 4.1.3.2).
const SECURE_NAME: &str = "__Host-evidence-platform-session";
/// The name of the cookie on a local machine.
const PLAIN_NAME: &str = "evidence-platform-session";

fn name(secure: bool) -> &'static str {
    if secure { SECURE_NAME } else { PLAIN_NAME }
}

/// The token in a request's cookies, if there is exactly one.
pub fn token(headers: &HeaderMap, secure: bool) -> Option<&str> {
    let name = name(secure).as_bytes();
    let mut found = None;
    for header in headers.get_all(COOKIE) {
        // Other services on the same host, on any port, can set cookies with arbitrary bytes.
        for pair in header.as_bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii) {
            let value = pair.strip_prefix(name).and_then(|rest| rest.strip_prefix(b"="));
            let Some(value) = value else { continue };
            if found.replace(value).is_some() {
                return None;
            }
        }
    }
    found.and_then(|value| str::from_utf8(value).ok())
}

/// The header that sets the cookie.
///
/// # Errors
/// Fails with [`Error::Internal`] if the token is not a valid header value.
pub fn set(token: &str, secure: bool) -> Result<HeaderValue, Error> {
    header(&format!("{}={token}; Max-Age={SESSION_SECONDS}", name(secure)), secure)
}

/// The header that removes the cookie.
///
/// # Errors
/// Never fails in practice.
pub fn remove(secure: bool) -> Result<HeaderValue, Error> {
    header(&format!("{}=; Max-Age=0", name(secure)), secure)
}

/// Lax: a link to a bundle in a mail works, but a form on another site is sent without the cookie.
fn header(text: &str, secure: bool) -> Result<HeaderValue, Error> {
    let secure = if secure { "; Secure" } else { "" };
    HeaderValue::from_str(&format!("{text}; Path=/; HttpOnly; SameSite=Lax{secure}"))
        .map_err(|error| Error::internal("a cookie cannot be written", error))
}

/// Whether a form comes from one of our own pages, according to the browser. Other clients send no such header,
/// and another site cannot make them submit a form.
pub fn is_own_form(headers: &HeaderMap) -> bool {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("?"));
    if let Some(site) = text("sec-fetch-site") {
        return matches!(site, "same-origin" | "none");
    }
    match (text(ORIGIN.as_str()), text(HOST.as_str())) {
        (None, _) => true,
        (Some(origin), Some(host)) => origin.split_once("://").is_some_and(|(_, origin)| origin == host),
        (Some(_), None) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(pairs: &[(&'static str, &str)]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
        }
        headers
    }

    #[test]
    fn one_cookie_and_nothing_else() {
        let read = |cookies: &[&str], secure| {
            let pairs: Vec<_> = cookies.iter().map(|cookie| ("cookie", *cookie)).collect();
            token(&headers(&pairs), secure).map(str::to_owned)
        };
        assert_eq!(read(&["a=b; evidence-platform-session=x; c=d"], false).as_deref(), Some("x"));
        assert_eq!(read(&["a=b", "evidence-platform-session=x"], false).as_deref(), Some("x"));
        assert_eq!(read(&["__Host-evidence-platform-session=x"], true).as_deref(), Some("x"));
        // With https, a name that other sites could set does not count.
        assert_eq!(read(&["evidence-platform-session=x"], true), None);
        assert_eq!(read(&["evidence-platform-session=x; evidence-platform-session=y"], false), None);
        assert_eq!(read(&["evidence-platform-sessions=x"], false), None);
        assert_eq!(read(&["other=caf\u{e9}; evidence-platform-session=x"], false).as_deref(), Some("x"));
        assert_eq!(read(&[], false), None);
    }

    #[test]
    fn the_cookie_is_kept_from_scripts_and_other_sites() {
        let cookie = set("abc", true).unwrap();
        assert_eq!(
            cookie.to_str().unwrap(),
            "__Host-evidence-platform-session=abc; Max-Age=43200; Path=/; HttpOnly; SameSite=Lax; Secure"
        );
        assert!(!set("abc", false).unwrap().to_str().unwrap().contains("Secure"));
        assert!(remove(false).unwrap().to_str().unwrap().contains("Max-Age=0"));
    }

    #[test]
    fn a_form_of_another_site_is_recognised() {
        let table: &[(&[(&'static str, &str)], bool)] = &[
            (&[], true),
            (&[("sec-fetch-site", "same-origin"), ("origin", "https://evil.example")], true),
            (&[("sec-fetch-site", "none")], true),
            (&[("sec-fetch-site", "same-site")], false),
            (&[("sec-fetch-site", "cross-site")], false),
            (&[("origin", "http://127.0.0.1:8321"), ("host", "127.0.0.1:8321")], true),
            (&[("origin", "https://evil.example"), ("host", "127.0.0.1:8321")], false),
            (&[("origin", "null"), ("host", "127.0.0.1:8321")], false),
            (&[("origin", "http://127.0.0.1:8321")], false),
        ];
        for (pairs, own) in table {
            assert_eq!(is_own_form(&headers(pairs)), *own, "{pairs:?}");
        }
    }
}
