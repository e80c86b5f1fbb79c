//! One endpoint of a host, declared once: where it is, how much of an answer is read, how it is read, and what is kept.
//!
//! It knows no host: each source has a list of its own calls.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::reply::Reply;
use super::request::{ParseError, Request};

/// What stays as it is in the value of a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// An endpoint.
pub struct Call<T: 'static> {
    /// What documents call it: path and query below the base with `{parameters}`, or the name of the action.
    pub name: &'static str,
    /// What it is for, for documents.
    pub purpose: &'static str,
    /// How often a run makes it, for documents.
    pub times: &'static str,
    /// See [`Request::kind`].
    pub kind: Option<&'static str>,
    /// The media type: for a GET of the answer (`Accept`), for a POST of the question (`Content-Type`).
    pub media_type: &'static str,
    /// How many bytes of an answer are read at most; more than its largest honest answer.
    pub limit: usize,
    /// Reads a good answer.
    pub parse: fn(&[u8]) -> Result<T, ParseError>,
    /// How its answers are kept for later runs, if they are.
    pub keep: Option<Keeping<T>>,
}

/// How answers to a call are kept.
pub struct Keeping<T> {
    /// The number of the call in the cache.
    pub kind: u8,
    /// What the source uses of an answer, in the host's own form: the reader makes the same of it as of the answer.
    pub reduce: fn(&T) -> Vec<u8>,
    /// What an encoding hides in the record, for the screen.
    pub clear: fn(&T) -> Option<Vec<u8>>,
    /// Headers on which something rests, in lower case. An answer that had one is not confirmed by one that has not.
    pub headers: &'static [&'static str],
    /// Whether a resumed run takes this answer over from the killed one. Only what says something by itself: what is
    /// concluded from several answers must not be of several times.
    pub resumable: fn(&Reply<T>) -> bool,
}

impl<T> Keeping<T> {
    /// Kept as `kind`: no header matters, no encoding hides anything, and a resumed run asks anew.
    pub const fn new(kind: u8, reduce: fn(&T) -> Vec<u8>) -> Keeping<T> {
        Keeping { kind, reduce, clear: |_| None, headers: &[], resumable: |_| false }
    }
}

impl<T> Call<T> {
    /// Its address below `base`. Values are percent-encoded: none of them leaves its segment of the path, or its place
    /// in the query.
    pub fn url(&self, base: &Url, parameters: &[(&str, &str)]) -> Url {
        let value = |part| parameter(part, parameters);
        let (path, query) = match self.name.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (self.name, None),
        };
        let mut url = base.clone();
        // A base that cannot have path segments (mailto:) is refused by the configuration.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(path.split('/').skip(1).map(value));
        }
        if let Some(query) = query {
            let pairs: Vec<String> = query
                .split('&')
                .map(|pair| match pair.split_once('=') {
                    Some((name, part)) => format!("{name}={}", encoded(value(part))),
                    None => pair.to_string(),
                })
                .collect();
            url.set_query(Some(&pairs.join("&")));
        }
        url
    }

    /// The question by GET, with these parameters.
    pub fn get(&self, base: &Url, parameters: &[(&str, &str)]) -> Request {
        self.get_at(base, self.url(base, parameters))
    }

    /// The question by GET at `url`, which is below `base`; log lines call it by its path and query there.
    pub fn get_at(&self, base: &Url, url: Url) -> Request {
        let path = url.path().strip_prefix(base.path().trim_end_matches('/')).unwrap_or(url.path());
        let label = match url.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_string(),
        };
        let request = Request::get(url, label).header("accept", self.media_type);
        Request { kind: self.kind, ..request }
    }

    /// The question by POST at `url`, called `label`.
    pub fn post(&self, url: Url, label: String, body: Vec<u8>) -> Request {
        Request { kind: self.kind, ..Request::post(url, label, self.media_type, body) }
    }

    /// Its number in the cache, if its answers are kept.
    pub fn kept_as(&self) -> Option<u8> {
        self.keep.as_ref().map(|keep| keep.kind)
    }
}

/// The value of `{name}`; anything else stands for itself.
fn parameter<'a>(part: &'a str, parameters: &[(&str, &'a str)]) -> &'a str {
    let name = part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let given = name.and_then(|name| parameters.iter().find(|(given, _)| *given == name));
    given.map_or(part, |(_, value)| value)
}

/// A value as a query holds it.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(name: &'static str) -> Call<()> {
        Call {
            name,
            purpose: "",
            times: "",
            kind: Some("a kind"),
            media_type: "application/json",
            limit: 1,
            parse: |_| Ok(()),
            keep: None,
        }
    }

    #[test]
    fn what_is_put_into_an_address_cannot_leave_its_place() {
        assert_eq!(encoded("a&b=c#d/e?f g\n"), "a%26b%3Dc%23d%2Fe%3Ff%20g%0A");
        let base = Url::parse("https://h.example/base/").unwrap();
        let call = call("/repos/{owner}/{repo}/branches?whose={owner}&maxResults=1");
        let request = call.get(&base, &[("owner", "a/b?c#d&e=f"), ("repo", "..")]);
        assert_eq!(request.url.host_str(), Some("h.example"));
        assert_eq!(request.url.path(), "/base/repos/a%2Fb%3Fc%23d&e=f/branches");
        assert_eq!(request.url.query(), Some("whose=a%2Fb%3Fc%23d%26e%3Df&maxResults=1"));
        let label = "/repos/a%2Fb%3Fc%23d&e=f/branches?whose=a%2Fb%3Fc%23d%26e%3Df&maxResults=1";
        assert_eq!((request.label.as_str(), request.kind), (label, Some("a kind")));
        assert_eq!(request.headers["accept"], "application/json");
        let elsewhere =
            call.get_at(&base, Url::parse("https://h.example/base/organizations/1?page=2").unwrap());
        assert_eq!(elsewhere.label, "/organizations/1?page=2");
    }
}
