//! One endpoint of a host, declared once: its address, how much of an answer to read, how to read it, and what to keep.
//!
//! Nothing here depends on a host: each source lists its own calls.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use url::Url;

use super::reply::Reply;
use super::request::{ParseError, Request};

/// The characters that a query value keeps unescaped.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// An endpoint.
pub struct Call<T: 'static> {
    /// Its name in documents: path and query below the base with `{parameters}`, or the name of the action.
    pub name: &'static str,
    /// Its purpose, for documents.
    pub purpose: &'static str,
    /// How often a run makes it, for documents.
    pub times: &'static str,
    /// See [`Request::kind`].
    pub kind: Option<&'static str>,
    /// The media type: for a GET of the answer (`Accept`), for a POST of the question (`Content-Type`).
    pub media_type: &'static str,
    /// The most bytes of an answer to read; more than its largest honest answer has.
    pub limit: usize,
    /// Reads a good answer.
    pub parse: fn(&[u8]) -> Result<T, ParseError>,
    /// How a good answer names its subject, if it does.
    pub subject: Option<Subject<T>>,
    /// How the cache keeps its answers, if it does.
    pub keep: Option<Keeping<T>>,
}

/// How an answer names its subject. An answer about something else is not evidence: the request fails.
pub struct Subject<T> {
    /// The fields that name it, for documents.
    pub fields: &'static str,
    /// What the answer is about and what it should be about, as "this instead of that"; `None` if it is about that, or
    /// does not say.
    pub other: fn(&T, &AskedAbout<'_>) -> Option<String>,
}

impl<T> Clone for Subject<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Subject<T> {}

/// What a request asks about.
#[derive(Debug, Clone, Copy)]
pub struct AskedAbout<'a> {
    /// [`Request::subject`], or the request's label.
    pub subject: &'a str,
    /// Whether the host redirected the request, which it does after a rename.
    pub redirected: bool,
}

/// Reads the body of a good answer.
pub type Parse<'a, T> = &'a (dyn Fn(&[u8]) -> Result<T, ParseError> + Sync);

/// How to read a good answer.
pub(super) struct Reading<'a, T> {
    /// Whether it is the bytes of a file.
    pub(super) raw: bool,
    /// The most bytes to read.
    pub(super) limit: usize,
    pub(super) parse: Parse<'a, T>,
    pub(super) subject: Option<Subject<T>>,
}

/// The same without the type of the answer, so that what sends is compiled once and not for each type.
pub(super) struct Reader<'a> {
    pub(super) raw: bool,
    pub(super) limit: usize,
    /// Reads a body and keeps the value. Returns what it is about, if that is not what was asked about.
    pub(super) read: ReadBody<'a>,
}

/// See [`Reader::read`].
type ReadBody<'a> = &'a mut (dyn FnMut(&[u8], &AskedAbout<'_>) -> Result<Option<String>, ParseError> + Send);

/// How the cache keeps the answers to a call.
pub struct Keeping<T> {
    /// The number of the call in the cache.
    pub kind: u8,
    /// The part of an answer that the source uses, in the host's own form: `parse` reads both alike.
    pub reduce: fn(&T) -> Vec<u8>,
    /// The decoded form of what the record encodes, for the screen.
    pub clear: fn(&T) -> Option<Vec<u8>>,
    /// Significant headers, in lower case. A "not modified" without a header that the kept answer had does not
    /// confirm it.
    pub headers: &'static [&'static str],
    /// Whether the host knows when its answer last changed, by the answer itself, so that it can be asked by that time.
    pub dated: bool,
    /// Whether a resumed run takes this answer over from the killed one. Only for answers that are conclusive by
    /// themselves: a conclusion from several answers needs all of them from the same run.
    pub resumable: fn(&Reply<T>) -> bool,
}

impl<T> Keeping<T> {
    /// Keeps answers as `kind`: no significant headers, nothing encoded, and a resumed run asks
    /// again.
    pub const fn new(kind: u8, reduce: fn(&T) -> Vec<u8>) -> Keeping<T> {
        Keeping { kind, reduce, clear: |_| None, headers: &[], dated: false, resumable: |_| false }
    }
}

/// What a call asks, without the type of its answer.
#[derive(Debug, Clone, Copy)]
pub struct Question {
    /// [`Call::name`]
    pub name: &'static str,
    kind: Option<&'static str>,
    media_type: &'static str,
}

impl<T> Call<T> {
    /// What it asks.
    pub fn question(&self) -> Question {
        Question { name: self.name, kind: self.kind, media_type: self.media_type }
    }

    /// [`Question::url`]
    pub fn url(&self, base: &Url, parameters: &[(&str, &str)]) -> Url {
        self.question().url(base, parameters)
    }

    /// [`Question::get`]
    pub fn get(&self, base: &Url, parameters: &[(&str, &str)]) -> Request {
        self.question().get(base, parameters)
    }

    /// [`Question::get_at`]
    pub fn get_at(&self, base: &Url, url: Url) -> Request {
        self.question().get_at(base, url)
    }

    /// [`Question::post`]
    pub fn post(&self, url: Url, label: String, body: Vec<u8>) -> Request {
        self.question().post(url, label, body)
    }

    /// Its number in the cache, if the cache keeps its answers.
    pub fn kept_as(&self) -> Option<u8> {
        self.keep.as_ref().map(|keep| keep.kind)
    }
}

impl Question {
    /// Its address below `base`. Percent-encodes the values: none of them can leave its path segment or its place in
    /// the query.
    pub fn url(&self, base: &Url, parameters: &[(&str, &str)]) -> Url {
        let value = |part| parameter(part, parameters);
        let (path, query) = match self.name.split_once('?') {
            Some((path, query)) => (path, Some(query)),
            None => (self.name, None),
        };
        let mut url = base.clone();
        // The configuration refuses a base that cannot have path segments (mailto:).
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

    /// The GET request with these parameters.
    pub fn get(&self, base: &Url, parameters: &[(&str, &str)]) -> Request {
        self.get_at(base, self.url(base, parameters))
    }

    /// The GET request for `url`, which is below `base`; its path and query below `base` are its label.
    pub fn get_at(&self, base: &Url, url: Url) -> Request {
        let path = url.path().strip_prefix(base.path().trim_end_matches('/')).unwrap_or(url.path());
        let label = match url.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_string(),
        };
        let request = Request::get(url, label).header("accept", self.media_type);
        Request { kind: self.kind, ..request }
    }

    /// The POST request to `url`, called `label`.
    pub fn post(&self, url: Url, label: String, body: Vec<u8>) -> Request {
        Request { kind: self.kind, ..Request::post(url, label, self.media_type, body) }
    }
}

/// The value of `{name}`; any other part unchanged.
fn parameter<'a>(part: &'a str, parameters: &[(&str, &'a str)]) -> &'a str {
    let name = part.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let given = name.and_then(|name| parameters.iter().find(|(given, _)| *given == name));
    given.map_or(part, |(_, value)| value)
}

/// A value encoded for a query.
pub fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

/// The value that a host or this client encoded.
pub fn decoded(text: &str) -> String {
    percent_decode_str(text).decode_utf8_lossy().into_owned()
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
            subject: None,
            keep: None,
        }
    }

    #[test]
    fn what_is_put_into_an_address_cannot_leave_its_place() {
        assert_eq!(encoded("a&b=c#d/e?f g\n"), "a%26b%3Dc%23d%2Fe%3Ff%20g%0A");
        let base = Url::parse("https://h.example/base/").unwrap();
        let call = call("/things/{owner}/{thing}/branches?whose={owner}&maxResults=1");
        let request = call.get(&base, &[("owner", "a/b?c#d&e=f"), ("thing", "..")]);
        assert_eq!(request.url.host_str(), Some("h.example"));
        assert_eq!(request.url.path(), "/base/things/a%2Fb%3Fc%23d&e=f/branches");
        assert_eq!(request.url.query(), Some("whose=a%2Fb%3Fc%23d%26e%3Df&maxResults=1"));
        let label = "/things/a%2Fb%3Fc%23d&e=f/branches?whose=a%2Fb%3Fc%23d%26e%3Df&maxResults=1";
        assert_eq!((request.label.as_str(), request.kind), (label, Some("a kind")));
        assert_eq!(request.headers["accept"], "application/json");
        let elsewhere = call.get_at(&base, Url::parse("https://h.example/base/moved/1?page=2").unwrap());
        assert_eq!(elsewhere.label, "/moved/1?page=2");
    }
}
