//! The code host's protocol: the API version, and the interpretation of answers.
//!
//! This module parses an answer, and `answer::classify` classifies it. It sends nothing.

use reqwest::header::{CACHE_CONTROL, HeaderValue};
use serde::Deserialize;

use super::answer::{AnswerParts, asks_for_sso, classify};
use crate::json::object;
use evidence_http::quota::QuotaReading;
use evidence_http::retry::http_date;
use evidence_http::{Answer, Dialect, Meaning, ParseError, Request, single_line};

/// The requested API version: the one that every server supports, public or self-hosted.
const API_VERSION: &str = "2022-11-28";

/// The code host's API.
pub(crate) struct CodeHostDialect;

#[derive(Deserialize, Default)]
struct ErrorDocument {
    message: Option<String>,
    /// Some older answers use `error` instead.
    error: Option<serde_json::Value>,
    documentation_url: Option<String>,
}

impl Dialect for CodeHostDialect {
    fn prepare(&self, request: &mut Request) {
        request.headers.insert("x-github-api-version", HeaderValue::from_static(API_VERSION));
        // An intermediate cache may repeat an earlier answer, which would not be evidence of the current state.
        request.headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    }

    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let mut is_json = is_json(answer);
        let mut document = ErrorDocument::default();
        if let Some(bytes) = answer.body.filter(|bytes| answer.status != 200 && is_json && !bytes.is_empty())
        {
            match object(bytes) {
                Ok(read) => document = read,
                // Broken JSON is not the host's answer, whatever its content type.
                Err(error) => is_json = matches!(error, ParseError::Shape(_)),
            }
        }
        let message = document
            .message
            .or_else(|| document.error.and_then(|error| error.as_str().map(str::to_string)))
            .map(|message| single_line(&message));
        let number = |name: &str| answer.header(name).and_then(|value| value.trim().parse::<i64>().ok());
        let reading = QuotaReading {
            limit: number("x-ratelimit-limit").and_then(|value| u64::try_from(value).ok()),
            remaining: number("x-ratelimit-remaining").and_then(|value| u64::try_from(value).ok()),
            reset: number("x-ratelimit-reset"),
            date: answer.header("date").and_then(http_date),
        };
        let class = classify(&AnswerParts {
            status: answer.status,
            retry_after: answer.header("retry-after"),
            remaining: reading.remaining,
            reset: reading.reset,
            date: reading.date,
            sso_required: asks_for_sso(answer.header("x-github-sso")),
            message: message.as_deref(),
            documentation_url: document.documentation_url.as_deref(),
            is_json,
        });
        let request_id = answer.header("x-github-request-id").map(str::to_string);
        // Successful answers have this header too, where it adds nothing.
        let permission = answer.header("x-accepted-github-permissions").map(str::trim);
        let permission = permission.filter(|text| !text.is_empty() && answer.status >= 400).map(single_line);
        Meaning { class, code: None, message, request_id, permission, reading }
    }
}

/// Decided by the body, not by the content type: some hosts send none, or plain text. An HTML page is not an answer.
fn is_json(answer: &Answer<'_>) -> bool {
    let content_type = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let may_be_json = answer.body.is_some() && answer.first_byte().is_none_or(|byte| b"{[".contains(&byte));
    content_type.contains("json")
        || (answer.status == 200 && answer.raw && !content_type.contains("html"))
        || (!content_type.contains("html") && may_be_json)
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use reqwest::header::HeaderMap;

    use super::*;

    /// The message decides between an absence and a refusal, and a list is not a message.
    #[test]
    fn the_words_of_a_refusal_are_an_object_s() {
        let dialect = CodeHostDialect;
        let headers = HeaderMap::new();
        for (body, message) in [
            (r#"{"message": "Branch not protected"}"#, Some("Branch not protected")),
            (r#"["Branch not protected", null, null]"#, None),
            (r#""Branch not protected""#, None),
        ] {
            let answer = Answer {
                status: 404,
                headers: &headers,
                body: Some(body.as_bytes()),
                raw: false,
                sent: &headers,
                sent_at: Timestamp::UNIX_EPOCH,
                now: Timestamp::UNIX_EPOCH,
            };
            assert_eq!(dialect.understand(&answer).message.as_deref(), message, "{body}");
        }
    }
}
