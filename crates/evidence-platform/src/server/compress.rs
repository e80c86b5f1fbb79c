//! Compresses answers that are text, for clients that take gzip. It works on the parts of a body as they are sent, so that no
//! answer waits for its end or is in memory twice.
//!
//! No answer mixes a secret with what a stranger chooses: keys are shown once, in an answer to their own request, and pages
//! have no token.

use std::io::Write as _;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use flate2::Compression;
use flate2::write::GzEncoder;
use http::header::{
    ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_LENGTH, CONTENT_RANGE, CONTENT_TYPE, ETAG, VARY,
};
use http::{HeaderMap, HeaderValue};
use hyper::body::{Body as HttpBody, Frame};

/// Shorter answers are sent as they are.
const LEAST_BYTES: u64 = 1_000;

/// Whether the client takes gzip.
pub(super) fn is_wanted(headers: &HeaderMap) -> bool {
    let values = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).any(|coding| {
        let mut parts = coding.split(';').map(str::trim);
        let is_gzip = parts.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip"));
        let is_refused = parts.any(|part| {
            part.strip_prefix("q=")
                .is_some_and(|weight| weight.parse::<f32>().is_ok_and(|weight| weight <= 0.0))
        });
        is_gzip && !is_refused
    })
}

/// Compresses an answer that is text. Says in every such answer that it depends on what the client takes.
pub(super) fn compressed(mut response: Response, is_wanted: bool) -> Response {
    let headers = response.headers();
    let kind = headers.get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    let is_text = kind.starts_with("text/")
        || ["application/json", "application/problem+json", "application/jsonl", "image/svg+xml"]
            .iter()
            .any(|known| kind.starts_with(known));
    let is_fixed = [CONTENT_ENCODING, CONTENT_RANGE, ETAG].iter().any(|name| headers.contains_key(name));
    // The digest of a download is that of the bytes as they are sent.
    if !is_text || is_fixed || headers.contains_key("content-digest") {
        return response;
    }
    let announced = || headers.get(CONTENT_LENGTH)?.to_str().ok()?.parse::<u64>().ok();
    let size = HttpBody::size_hint(response.body()).exact().or_else(announced);
    let is_short = size.is_some_and(|size| size < LEAST_BYTES);
    response.headers_mut().append(VARY, HeaderValue::from_static("Accept-Encoding"));
    if !is_wanted || is_short || response.status().is_redirection() {
        return response;
    }
    let headers = response.headers_mut();
    headers.remove(CONTENT_LENGTH);
    headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    response.map(|body| {
        let encoder = Some(GzEncoder::new(Vec::new(), Compression::fast()));
        Body::new(Compressed { body, encoder })
    })
}

/// A body in gzip.
struct Compressed {
    body: Body,
    /// `None` after the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl HttpBody for Compressed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let this = &mut *self;
        loop {
            let Some(encoder) = &mut this.encoder else { return Poll::Ready(None) };
            match Pin::new(&mut this.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(Some(Ok(frame))) => {
                    // Answers have no trailers.
                    let Ok(data) = frame.into_data() else { continue };
                    if let Err(error) = encoder.write_all(&data) {
                        return Poll::Ready(Some(Err(axum::Error::new(error))));
                    }
                    let ready = std::mem::take(encoder.get_mut());
                    if !ready.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(ready.into()))));
                    }
                }
                Poll::Ready(None) => {
                    let Some(rest) = this.encoder.take().map(GzEncoder::finish) else {
                        return Poll::Ready(None);
                    };
                    return Poll::Ready(Some(
                        rest.map(|rest| Frame::data(rest.into())).map_err(axum::Error::new),
                    ));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_taken_by_name_and_weight() {
        let takes = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(ACCEPT_ENCODING, value.parse().unwrap());
            }
            is_wanted(&headers)
        };
        for values in [&["gzip"][..], &["br, GZIP"], &["br", "gzip;q=0.5"], &["gzip ; q=1"]] {
            assert!(takes(values), "{values:?}");
        }
        for values in [&[][..], &["br"], &["gzip;q=0"], &["gzip; q=0.0, br"], &["xgzip"], &["identity"]] {
            assert!(!takes(values), "{values:?}");
        }
    }
}
