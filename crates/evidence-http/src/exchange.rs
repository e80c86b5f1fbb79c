//! One request and its raw answer, before any interpretation.

use std::io::{self, Write};

use flate2::write::MultiGzDecoder;
use jiff::Timestamp;
use reqwest::header::{CONTENT_ENCODING, HeaderMap, HeaderValue};

use super::gate::Pass;
use super::request::{Answer, Request};
use super::words::{innermost, single_line};

/// The raw answer to one request.
pub(super) struct Exchange {
    pub(super) sent: HeaderMap,
    pub(super) sent_at: Timestamp,
    pub(super) status: u16,
    pub(super) headers: HeaderMap,
    pub(super) redirected_to: Option<String>,
    pub(super) body: Body,
}

impl Exchange {
    /// The answer as the dialect sees it.
    pub(super) fn answer(&self, raw: bool, now: Timestamp) -> Answer<'_> {
        let body = match &self.body {
            Body::Complete(bytes) => Some(bytes.as_slice()),
            Body::TooLarge | Body::Broken(_) => None,
        };
        let Exchange { status, headers, sent, sent_at, .. } = self;
        Answer { status: *status, headers, body, raw, sent, sent_at: *sent_at, now }
    }
}

/// One attempt at a request.
pub(super) struct Attempt<'a> {
    pub(super) request: &'a Request,
    /// Its number, from 1.
    pub(super) number: u32,
    pub(super) ticket: Pass,
    pub(super) now: Timestamp,
}

/// A body as far as it was read.
pub(super) enum Body {
    Complete(Vec<u8>),
    TooLarge,
    Broken(String),
}

pub(super) fn text(headers: &HeaderMap, name: &str) -> Option<String> {
    headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_string)
}

pub(super) async fn read_body(response: &mut reqwest::Response, limit: usize) -> Body {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    if announced > limit {
        return Body::TooLarge;
    }
    let Some(mut unpacked) =
        Unpacked::new(response.headers(), Bounded { bytes: Vec::with_capacity(announced), limit })
    else {
        return Body::Broken("the answer has a Content-Encoding that was not requested".to_string());
    };
    loop {
        let added = match response.chunk().await {
            Ok(Some(chunk)) => unpacked.add(&chunk),
            Ok(None) => return unpacked.end(),
            Err(error) if error.is_timeout() => return Body::Broken("the answer took too long".to_string()),
            Err(error) => return Body::Broken(format!("the answer was truncated: {}", innermost(&error))),
        };
        if let Err(error) = added {
            return broken(&error);
        }
    }
}

fn broken(error: &io::Error) -> Body {
    match error.kind() {
        io::ErrorKind::FileTooLarge => Body::TooLarge,
        _ => Body::Broken(format!("the answer cannot be unpacked: {}", single_line(&error.to_string()))),
    }
}

/// A body while it arrives. The HTTP library could unpack it, but would remove the headers that say how long it is.
enum Unpacked {
    Plain(Bounded),
    /// `bool`: whether any byte has arrived. An answer without a body may have the header too.
    Gzip(Box<MultiGzDecoder<Bounded>>, bool),
}

impl Unpacked {
    /// `None` for an encoding that this client does not accept.
    fn new(headers: &HeaderMap, unpacked: Bounded) -> Option<Unpacked> {
        let mut encodings = headers.get_all(CONTENT_ENCODING).iter();
        let encoding = encodings.next().map(HeaderValue::as_bytes).unwrap_or_default().to_ascii_lowercase();
        match (encoding.as_slice(), encodings.next()) {
            (b"" | b"identity", None) => Some(Unpacked::Plain(unpacked)),
            (b"gzip" | b"x-gzip", None) => {
                Some(Unpacked::Gzip(Box::new(MultiGzDecoder::new(unpacked)), false))
            }
            _ => None,
        }
    }

    fn add(&mut self, bytes: &[u8]) -> io::Result<()> {
        match self {
            Unpacked::Plain(unpacked) => unpacked.write_all(bytes),
            Unpacked::Gzip(decoder, began) => {
                *began |= !bytes.is_empty();
                decoder.write_all(bytes)
            }
        }
    }

    fn end(self) -> Body {
        match self {
            Unpacked::Plain(Bounded { bytes, .. }) => Body::Complete(bytes),
            Unpacked::Gzip(_, false) => Body::Complete(Vec::new()),
            Unpacked::Gzip(decoder, true) => match decoder.finish() {
                Ok(Bounded { bytes, .. }) => Body::Complete(bytes),
                Err(error) => broken(&error),
            },
        }
    }
}

/// Bytes up to a limit.
struct Bounded {
    bytes: Vec<u8>,
    limit: usize,
}

impl Write for Bounded {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.bytes.len().saturating_add(bytes.len()) > self.limit {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
