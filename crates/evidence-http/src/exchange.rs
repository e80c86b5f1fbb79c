//! One request and its raw answer, before any interpretation.

use jiff::Timestamp;
use reqwest::header::HeaderMap;

use super::request::Answer;
use super::words::innermost;

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
    let mut bytes = Vec::with_capacity(announced);
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                if bytes.len() + chunk.len() > limit {
                    return Body::TooLarge;
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok(None) => return Body::Complete(bytes),
            Err(error) if error.is_timeout() => return Body::Broken("the answer took too long".to_string()),
            Err(error) => return Body::Broken(format!("the answer was truncated: {}", innermost(&error))),
        }
    }
}
