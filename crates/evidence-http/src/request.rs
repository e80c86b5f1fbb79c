//! What is asked, and how a host is spoken to: requests, and the dialects that make hosts differ.
//!
//! A [`Dialect`] is the part of HTTP that is one provider's own: how a request proves who asks, and what an answer
//! means. It never sends, waits or retries: the client does, for every host alike.

use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderValue};
use url::Url;

use super::parcel::Parcel;
use super::quota::QuotaReading;
use super::retry::Class;

/// How something is asked. There is no method that changes anything: `Post` is for protocols whose questions do not
/// fit into an address, and a source names the few questions it asks that way in its own list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// POST with the question in the body.
    Post,
}

/// A question to a host, without the credentials.
#[derive(Debug, Clone)]
pub struct Request {
    /// How it is asked.
    pub method: Method,
    /// Where.
    pub url: Url,
    /// Its headers; the client adds `User-Agent`, the dialect whatever proves who asks.
    pub headers: HeaderMap,
    /// Its body; empty for a GET.
    pub body: Vec<u8>,
    /// What log lines and the manifest call it: path and query, or the name of the action. Never a credential.
    pub label: String,
    /// What people call all questions of this kind, which are given up together if none of them is answered. Without,
    /// it is the only one of its kind.
    pub kind: Option<&'static str>,
    /// Whether it is an order to a host that keeps things: only an [`Uplink`](super::Uplink) takes one.
    pub(super) order: bool,
    /// The file that goes with an order.
    pub(super) parcel: Option<Parcel>,
}

impl Request {
    /// A GET of `url`, called `label`.
    pub fn get(url: Url, label: impl Into<String>) -> Request {
        let label = label.into();
        Request {
            method: Method::Get,
            url,
            headers: HeaderMap::new(),
            body: Vec::new(),
            label,
            kind: None,
            order: false,
            parcel: None,
        }
    }

    /// A question by POST, called `label`.
    pub fn post(url: Url, label: impl Into<String>, content_type: &'static str, body: Vec<u8>) -> Request {
        let mut request = Request { method: Method::Post, body, ..Request::get(url, label) };
        request.headers.insert(reqwest::header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        request
    }

    /// The same as one of many of this kind.
    pub fn of_kind(self, kind: &'static str) -> Request {
        Request { kind: Some(kind), ..self }
    }

    /// The same with a header.
    pub fn header(mut self, name: &'static str, value: &'static str) -> Request {
        self.headers.insert(name, HeaderValue::from_static(value));
        self
    }
}

/// An answer as a dialect sees it.
#[derive(Debug, Clone, Copy)]
pub struct Answer<'a> {
    /// The HTTP status.
    pub status: u16,
    /// Its headers.
    pub headers: &'a HeaderMap,
    /// The body; `None` if it broke off or is longer than was allowed.
    pub body: Option<&'a [u8]>,
    /// Whether a file's own bytes were asked for, whatever they are.
    pub raw: bool,
    /// The headers of the request as they were sent, credentials included.
    pub sent: &'a HeaderMap,
    /// When it was sent, by this machine's clock.
    pub sent_at: Timestamp,
    /// This machine's time.
    pub now: Timestamp,
}

impl Answer<'_> {
    /// The header as text, if it is there once and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The first byte of the body that is not white space.
    pub fn first_byte(&self) -> Option<u8> {
        self.body?.iter().copied().find(|byte| !byte.is_ascii_whitespace())
    }
}

/// What an answer means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Meaning {
    /// What to do about it.
    pub class: Class,
    /// The host's code for an error, such as `NoSuchEntity`, if it has codes.
    pub code: Option<String>,
    /// The host's words for an error: one line, bounded.
    pub message: Option<String>,
    /// By which the host knows this request.
    pub request_id: Option<String>,
    /// The permission that the host says the request needs, if it refused for want of one and says so.
    pub permission: Option<String>,
    /// What the answer says of a limit.
    pub reading: QuotaReading,
}

/// How one host is spoken to.
pub trait Dialect: Send + Sync {
    /// Puts on the request what the host wants to see on it: a token, a signature. Called for every attempt, since a
    /// signature ages.
    ///
    /// # Errors
    ///
    /// If it cannot be made; the text says why, without any part of a credential.
    fn authorize(&self, request: &mut Request, now: Timestamp) -> Result<(), String>;

    /// What an answer means. Total: every answer means something.
    fn understand(&self, answer: &Answer<'_>) -> Meaning;
}

/// Why the body of a good answer is not what was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseError {
    /// It is broken: cut off, or not of the format. A fault of the host, and worth asking again.
    Broken(String),
    /// It is well-formed and says something else than documented. Asking again would not change it.
    Shape(String),
}

impl From<serde_json::Error> for ParseError {
    fn from(error: serde_json::Error) -> ParseError {
        if error.is_data() {
            ParseError::Shape(error.to_string())
        } else {
            ParseError::Broken(format!("broken JSON: {error}"))
        }
    }
}
