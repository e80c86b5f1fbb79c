//! Any `Link` header: the result prints back to itself, and no link leads away from the host or contains credentials.

use evidence_http::link::{self, Link};
use url::Url;

pub fn run(header: &[u8]) -> bool {
    let header = String::from_utf8_lossy(header);
    let links = link::parse(&header);
    let printed = links.iter().map(Link::to_string).collect::<Vec<_>>().join(", ");
    assert_eq!(link::parse(&printed), links, "{printed:?}");
    let found = link::target([&*header].into_iter(), "next");
    assert_eq!(link::target([&*printed].into_iter(), "next"), found);
    // Several headers are equivalent to one with all links.
    let single: Vec<String> = links.iter().map(Link::to_string).collect();
    assert_eq!(link::target(single.iter().map(String::as_str), "NEXT"), found);

    let base = Url::parse("https://api.example.com:8443/api/v3/").unwrap();
    let within = link::within(&base, [&*header].into_iter(), "next");
    assert_eq!(matches!(within, Ok(None)), found.is_none());
    let Ok(Some(url)) = within else { return false };
    assert_eq!((url.scheme(), url.host_str(), url.port()), ("https", Some("api.example.com"), Some(8443)));
    assert_eq!((url.username(), url.password()), ("", None));
    assert!(url.as_str().starts_with("https://api.example.com:8443/"), "{url}");
    true
}
