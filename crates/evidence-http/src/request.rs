//! Requests, and the dialects in which hosts differ.
//!
//! A [`Dialect`] is the part of HTTP that is specific to one provider: which headers every request has, and what an
//! answer means. It never sends, waits or retries: the client does, for every host alike. How a request proves who asks
//! is a [`Credential`](super::Credential)'s matter.

use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderValue};
use url::Url;

use super::quota::QuotaReading;
use super::retry::Class;
use super::upload::UploadFile;

/// The method of a request. No method changes anything: `Post` and `Put` are for protocols whose questions do not fit into
/// an address, and a source lists the few questions that it asks that way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// GET.
    Get,
    /// POST with the question in the body.
    Post,
    /// PUT without a body, by which a machine's own metadata service issues a token.
    Put,
}

impl Method {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
        }
    }
}

/// A question to a host, without the credentials.
#[derive(Debug, Clone)]
pub struct Request {
    /// Its method.
    pub method: Method,
    /// Its address.
    pub url: Url,
    /// Its headers; the client adds `User-Agent`, the dialect and the credential theirs.
    pub headers: HeaderMap,
    /// Its body; empty for a GET.
    pub body: Vec<u8>,
    /// Its name in log lines and the manifest: path and query, or the name of the action. Never a credential.
    pub label: String,
    /// The readable name of its kind. The client gives up a whole kind if none of its requests has an answer. `None`
    /// if the request is the only one of its kind.
    pub kind: Option<&'static str>,
    /// What it asks about, if its label does not name that.
    pub subject: Option<String>,
    /// Whether it changes what the host keeps: only an [`UploadClient`](super::UploadClient) accepts one.
    pub(super) order: bool,
    /// The file to send with an order.
    pub(super) upload: Option<UploadFile>,
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
            subject: None,
            order: false,
            upload: None,
        }
    }

    /// A POST with this body, called `label`.
    pub fn post(url: Url, label: impl Into<String>, content_type: &'static str, body: Vec<u8>) -> Request {
        let mut request = Request { method: Method::Post, body, ..Request::get(url, label) };
        request.headers.insert(reqwest::header::CONTENT_TYPE, HeaderValue::from_static(content_type));
        request
    }

    /// A PUT without a body, called `label`.
    pub fn put(url: Url, label: impl Into<String>) -> Request {
        Request { method: Method::Put, ..Request::get(url, label) }
    }

    /// The same request as one of this kind.
    pub fn of_kind(self, kind: &'static str) -> Request {
        Request { kind: Some(kind), ..self }
    }

    /// The same request with a header.
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
    /// The body; `None` if it is truncated or longer than allowed.
    pub body: Option<&'a [u8]>,
    /// Whether the request was for the raw bytes of a file.
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
    /// Its class, which decides what to do.
    pub class: Class,
    /// The host's code for an error, such as `NoSuchEntity`, if it has codes.
    pub code: Option<String>,
    /// The host's message for an error: one line, bounded.
    pub message: Option<String>,
    /// The host's id for this request.
    pub request_id: Option<String>,
    /// The permission that the request lacks, if the host names it.
    pub permission: Option<String>,
    /// What the answer says about a limit.
    pub reading: QuotaReading,
}

/// The protocol details of one host.
pub trait Dialect: Send + Sync {
    /// Adds the headers that every request to this host has, before a credential signs it.
    fn prepare(&self, _request: &mut Request) {}

    /// Interprets an answer. Total: every answer has a meaning.
    fn understand(&self, answer: &Answer<'_>) -> Meaning;
}

/// Why the body of a good answer is not usable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ParseError {
    /// It is broken: cut off, or not of the format. A fault of the host, and worth asking again.
    Broken(String),
    /// It is well-formed, but not as documented. Asking again would not change it.
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
