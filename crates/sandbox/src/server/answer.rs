//! Parsed requests, and answers before they are sent.

use crate::clock::Clock;
use bytes::Bytes;
use flate2::{Compress, Compression, FlushCompress, Status};
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use jiff::Timestamp;
use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Duration;

/// A request for the backends. No `Debug`: headers and body hold credentials.
pub(crate) struct Call {
    pub(crate) method: String,
    /// As sent.
    pub(crate) path_and_query: String,
    /// Without the base path; undecoded.
    pub(crate) path: String,
    pub(crate) query: String,
    pub(crate) headers: HeaderMap,
    pub(crate) http2: bool,
    pub(crate) request_id: String,
    pub(crate) now: Timestamp,
    pub(crate) in_flight: u64,
    /// The engine's own scheme, address and port.
    pub(crate) origin: String,
    /// The body: up to the host's limit, else empty with `body_too_large` set.
    pub(crate) body: Bytes,
    pub(crate) body_too_large: bool,
    /// The action and its region, on a host whose calls all have the same path; set by the engine.
    pub(crate) action: Option<Action>,
    /// Added to the offset of a listing page, to simulate repositories created or deleted while a client pages.
    pub(crate) shift: i64,
}

impl Call {
    pub(super) fn new(
        parts: hyper::http::request::Parts,
        base_path: &str,
        clock: &Clock,
        number: u64,
        in_flight: u64,
        origin: &str,
    ) -> Self {
        let whole = parts.uri.path();
        let path = whole.strip_prefix(base_path).unwrap_or(whole).to_owned();
        let query = parts.uri.query().unwrap_or_default().to_owned();
        let path_and_query = parts.uri.path_and_query().map_or_else(|| whole.to_owned(), ToString::to_string);
        let now = clock.now();
        // Five groups of hexadecimal digits, the last one the time; only uniqueness matters.
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let request_id = format!(
            "{:04X}:{:04X}:{:07X}:{:07X}:{:08X}",
            mixed >> 48,
            (mixed >> 32) & 0xffff,
            0x0100_0000 + number,
            mixed & 0x0fff_ffff,
            now.as_second()
        );
        Self {
            method: parts.method.as_str().to_owned(),
            path_and_query,
            path,
            query,
            headers: parts.headers,
            http2: parts.version == hyper::Version::HTTP_2,
            request_id,
            now,
            in_flight,
            origin: origin.to_owned(),
            body_too_large: false,
            body: Bytes::new(),
            action: None,
            shift: 0,
        }
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }

    /// The same request for another page, for a listing without end.
    pub(crate) fn with_query(&self, query: String) -> Self {
        Self {
            method: self.method.clone(),
            path_and_query: self.path_and_query.clone(),
            path: self.path.clone(),
            query,
            headers: self.headers.clone(),
            http2: self.http2,
            request_id: self.request_id.clone(),
            now: self.now,
            in_flight: self.in_flight,
            origin: self.origin.clone(),
            body: self.body.clone(),
            body_too_large: self.body_too_large,
            action: self.action.clone(),
            shift: self.shift,
        }
    }

    /// The same request for another path.
    pub(crate) fn with_path(&self, path: &str) -> Self {
        let (path, query) = path.split_once('?').unwrap_or((path, ""));
        Self { path: path.to_owned(), ..self.with_query(query.to_owned()) }
    }

    /// The value of a query parameter, as sent.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, v)| v)
    }

    pub(crate) fn is_head(&self) -> bool {
        self.method == "HEAD"
    }

    pub(crate) fn accepts_gzip(&self) -> bool {
        self.header("accept-encoding").is_some_and(|value| {
            value
                .split(',')
                .map(str::trim)
                .any(|item| item == "gzip" || item.starts_with("gzip;q=1") || item == "*")
        })
    }
}

/// The largest body of a request, unless the host sets another limit; the real hosts' limits are beyond what a reading
/// client sends.
pub(crate) const MAX_BODY: usize = 1 << 20;

/// A call of a host that names its calls outside the path, such as `iam:GetAccountPasswordPolicy`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Action {
    pub(crate) name: String,
    pub(crate) region: String,
}

/// The body of a request. `Ok(None)` if it is too large; an error if the client disconnects.
pub(super) async fn read_body(
    body: hyper::body::Incoming,
    limit: usize,
) -> Result<Option<Bytes>, Box<dyn std::error::Error + Send + Sync>> {
    match Limited::new(body, limit).collect().await {
        Ok(body) => Ok(Some(body.to_bytes())),
        Err(error) if error.is::<LengthLimitError>() => Ok(None),
        Err(error) => Err(error),
    }
}

/// Reads at least this many bytes of the body, or all of it, and discards them.
pub(super) async fn read_some(mut body: hyper::body::Incoming, bytes: usize) {
    let mut read = 0;
    while read < bytes {
        match body.frame().await {
            Some(Ok(frame)) => read += frame.data_ref().map_or(0, Bytes::len),
            Some(Err(_)) | None => return,
        }
    }
}

/// A version 4 UUID from a request's number, as the hosts that use such ids write it.
pub(crate) fn uuid(of: &str) -> String {
    let half = |salt: u8| {
        let mut hasher = DefaultHasher::new();
        (salt, of).hash(&mut hasher);
        hasher.finish()
    };
    let (high, low) = (half(0), half(1));
    format!(
        "{:08x}-{:04x}-4{:03x}-{:04x}-{:012x}",
        high >> 32,
        (high >> 16) & 0xffff,
        high & 0xfff,
        0x8000 | (low >> 48) & 0x3fff,
        low & 0xffff_ffff_ffff
    )
}

/// An answer.
#[derive(Clone, Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Bytes,
    /// The compressed body, if it is cached.
    pub(crate) gzip: Option<Bytes>,
    /// How long the host works on it, beside the latency.
    pub(crate) takes: Duration,
}

impl Answer {
    pub(crate) fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self { status, headers: HeaderMap::new(), body: body.into(), gzip: None, takes: Duration::ZERO }
    }

    pub(crate) fn set(&mut self, name: HeaderName, value: &str) {
        // Drop values that a header cannot hold: hostile names end up in some of these.
        if let Ok(value) = HeaderValue::from_str(value) {
            self.headers.insert(name, value);
        }
    }

    pub(crate) fn set_static(&mut self, name: HeaderName, value: &'static str) {
        self.headers.insert(name, HeaderValue::from_static(value));
    }

    /// Compresses a large body permanently.
    pub(crate) fn keep_compressed(&mut self) {
        self.gzip = Some(gzip(&self.body));
    }

    pub(super) fn into_response(
        mut self,
        call: &Call,
        compression: bool,
        spelling: Option<&hyper::http::Extensions>,
    ) -> hyper::Response<Full<Bytes>> {
        // Below this size the saving is smaller than the header that announces it.
        const WORTH_COMPRESSING: usize = 256;
        let bodiless = matches!(self.status, 204 | 304);
        if compression
            && !bodiless
            && self.body.len() >= WORTH_COMPRESSING
            && call.accepts_gzip()
            && !self.headers.contains_key(header::CONTENT_ENCODING)
        {
            self.body = match self.gzip.take() {
                Some(kept) => kept,
                None => gzip(&self.body),
            };
            self.set_static(header::CONTENT_ENCODING, "gzip");
        }
        let length = self.body.len();
        let body = if call.is_head() || bodiless { Bytes::new() } else { self.body };
        if call.is_head() && !bodiless {
            self.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(length));
        }
        let mut response = hyper::Response::new(Full::new(body));
        *response.status_mut() = hyper::StatusCode::from_u16(self.status).unwrap_or_default();
        *response.headers_mut() = self.headers;
        if let (Some(spelling), false) = (spelling, call.http2) {
            *response.extensions_mut() = spelling.clone();
        }
        response
    }
}

/// The tag of a body. Like the host's, it changes with the token and the representation.
pub(crate) fn identity_etag(body: &[u8], token: &str, accept: &str) -> String {
    let mut tag = String::with_capacity(68);
    tag.push_str("W/\"");
    for salt in 0u8..4 {
        let mut hasher = DefaultHasher::new();
        salt.hash(&mut hasher);
        if salt == 0 {
            body.hash(&mut hasher);
        } else {
            // One hash distinguishes bodies; the rest only adds length.
            tag.hash(&mut hasher);
        }
        token.hash(&mut hasher);
        accept.hash(&mut hasher);
        tag.push_str(&format!("{:016x}", hasher.finish()));
    }
    tag.push('"');
    tag
}

thread_local! {
    // A compressor has 250 kB of state, so share one between all answers.
    static DEFLATE: RefCell<Compress> = RefCell::new(Compress::new(Compression::fast(), false));
}

pub(crate) fn gzip(body: &[u8]) -> Bytes {
    let mut out = Vec::with_capacity(body.len() / 3 + 64);
    out.extend_from_slice(&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]);
    DEFLATE.with_borrow_mut(|deflate| {
        deflate.reset();
        loop {
            let done = usize::try_from(deflate.total_in()).unwrap_or(usize::MAX);
            let rest = body.get(done..).unwrap_or_default();
            match deflate.compress_vec(rest, &mut out, FlushCompress::Finish) {
                Ok(Status::StreamEnd) | Err(_) => break,
                Ok(_) => out.reserve(body.len() / 4 + 64),
            }
        }
    });
    let mut crc = flate2::Crc::new();
    crc.update(body);
    out.extend_from_slice(&crc.sum().to_le_bytes());
    out.extend_from_slice(&crc.amount().to_le_bytes());
    Bytes::from(out)
}
