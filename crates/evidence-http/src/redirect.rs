//! Where a redirect leads, if the client may follow it.
//!
//! Pure: from a request and its answer it derives the next request. It never sends, and never leaves the origin
//! of the first request, since the credentials go along.

use std::borrow::Cow;

use reqwest::header::{HeaderMap, LOCATION};
use url::Url;

use super::request::{Method, Request};

/// How many redirects within the host's own origin the client follows. Browsers allow 20; clients of this API
/// never need more than two.
const MAXIMUM_REDIRECTS: usize = 5;

/// A request and the redirects followed so far.
pub(super) struct RedirectChain<'a> {
    meant: &'a Request,
    now: Cow<'a, Request>,
    hops: usize,
}

impl<'a> RedirectChain<'a> {
    /// The chain that begins with this request.
    pub(super) fn new(meant: &'a Request) -> RedirectChain<'a> {
        RedirectChain { meant, now: Cow::Borrowed(meant), hops: 0 }
    }

    /// The next request.
    pub(super) fn request(&self) -> &Request {
        &self.now
    }

    /// Path and query of where the redirects led, if that differs from the original request.
    pub(super) fn elsewhere(&self) -> Option<String> {
        let url = &self.now.url;
        (*url != self.meant.url).then(|| match url.query() {
            Some(query) => format!("{}?{query}", url.path()),
            None => url.path().to_string(),
        })
    }

    /// Follows the redirect and returns `true`, unless the status is not a redirect, the target is at another origin or
    /// has credentials, or the chain is too long.
    ///
    /// A POST stays a POST: some redirects ask for a GET instead, which would be a different question, so the client
    /// does not follow those.
    pub(super) fn follow(&mut self, status: u16, headers: &HeaderMap) -> bool {
        let may = match (status, self.now.method) {
            // An order is for the named host and path only.
            _ if self.meant.order => false,
            (301 | 302 | 303 | 307 | 308, Method::Get) | (307 | 308, Method::Post) => {
                self.hops < MAXIMUM_REDIRECTS
            }
            _ => false,
        };
        let Some(url) = may.then(|| target(&self.now.url, headers)).flatten() else { return false };
        if url.origin() != self.meant.url.origin() || !url.username().is_empty() || url.password().is_some() {
            return false;
        }
        self.now.to_mut().url = url;
        self.hops += 1;
        true
    }
}

/// The target of `Location`, relative to the request (RFC 9110, section 10.2.2). Some hosts send it in UTF-8.
fn target(base: &Url, headers: &HeaderMap) -> Option<Url> {
    let location = std::str::from_utf8(headers.get(LOCATION)?.as_bytes()).ok()?;
    base.join(location).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use reqwest::header::HeaderValue;

    const BASE: &str = "https://api.example/things/acme/web?page=2";

    fn get() -> Request {
        Request::get(BASE.parse().unwrap(), "web").header("accept", "application/json")
    }

    fn post() -> Request {
        Request::post(BASE.parse().unwrap(), "List", "text/plain", b"question".to_vec())
    }

    fn location(to: &str) -> HeaderMap {
        [(LOCATION, HeaderValue::from_bytes(to.as_bytes()).unwrap())].into_iter().collect()
    }

    /// Where a redirect with this `Location` leads, if the client follows it.
    fn led(meant: &Request, status: u16, headers: &HeaderMap) -> Option<String> {
        let mut chain = RedirectChain::new(meant);
        chain.follow(status, headers).then(|| chain.request().url.to_string())
    }

    #[test]
    fn every_status_is_followed_or_not_as_it_was_asked() {
        for status in 0..1_000 {
            let redirect = [301, 302, 303, 307, 308].contains(&status);
            assert_eq!(led(&get(), status, &location("/there")).is_some(), redirect, "GET {status}");
            let asked_alike = [307, 308].contains(&status);
            assert_eq!(led(&post(), status, &location("/there")).is_some(), asked_alike, "POST {status}");
        }
    }

    #[test]
    fn an_order_leads_nowhere() {
        for meant in [get(), post()] {
            let order = Request { order: true, ..meant };
            for status in 300..400 {
                assert_eq!(led(&order, status, &location("/there")), None, "{status}");
            }
        }
    }

    #[test]
    fn only_the_address_changes() {
        for meant in [get(), post()] {
            let mut chain = RedirectChain::new(&meant);
            assert!(chain.elsewhere().is_none());
            assert!(chain.follow(307, &location("/there?page=3")));
            let now = chain.request();
            assert_eq!((now.method, &now.headers, &now.body), (meant.method, &meant.headers, &meant.body));
            assert_eq!(
                (now.label.as_str(), now.url.as_str()),
                (meant.label.as_str(), "https://api.example/there?page=3")
            );
            assert_eq!(chain.elsewhere().as_deref(), Some("/there?page=3"));
            assert!(chain.follow(307, &location("there")), "the next one is relative to this one");
            assert_eq!(chain.elsewhere().as_deref(), Some("/there"));
            assert!(chain.follow(307, &location(BASE)), "and back");
            assert!(chain.elsewhere().is_none());
        }
    }

    #[test]
    fn nothing_leads_to_another_origin() {
        let table = [
            ("https://api.example/there", Some("https://api.example/there")),
            ("https://API.example:443/there", Some("https://api.example/there")),
            ("//api.example/there", Some("https://api.example/there")),
            ("?page=3", Some("https://api.example/things/acme/web?page=3")),
            ("/straße", Some("https://api.example/stra%C3%9Fe")),
            ("", Some(BASE)),
            ("http://api.example/there", None),
            ("https://api.example:8443/there", None),
            ("https://example/there", None),
            ("//elsewhere.example/there", None),
            ("https://api.example@elsewhere.example/there", None),
            ("https://user@api.example/there", None),
            ("https://:password@api.example/there", None),
            ("file:///etc/passwd", None),
            ("data:,x", None),
            ("http://[", None),
        ];
        for (to, expected) in table {
            assert_eq!(led(&get(), 301, &location(to)).as_deref(), expected, "{to}");
        }
        assert_eq!(led(&get(), 301, &HeaderMap::new()), None, "the host does not say where");
        let garbled = [(LOCATION, HeaderValue::from_bytes(b"/\xff").unwrap())].into_iter().collect();
        assert_eq!(led(&get(), 301, &garbled), None, "neither text nor UTF-8");
    }

    /// The origin of the original request counts, whatever the number of hops.
    #[test]
    fn a_way_has_an_end() {
        let meant = get();
        let mut chain = RedirectChain::new(&meant);
        for hop in 0..MAXIMUM_REDIRECTS {
            assert!(chain.follow(302, &location(&format!("/{hop}"))), "{hop}");
            assert!(!chain.follow(302, &location("https://elsewhere.example/")), "{hop}");
        }
        assert!(!chain.follow(302, &location("/further")));
        assert_eq!(chain.elsewhere().as_deref(), Some("/4"), "stays where it was");
    }
}
