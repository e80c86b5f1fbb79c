//! The provider's protocol, of the API and of the exchange. This module parses an answer, and `answer` classifies it. It
//! sends nothing.

use serde_json::Value;

use super::answer::{classify, classify_exchange, code};
use super::identity::{FLAVOR, GOOGLE};
use evidence_http::quota::QuotaReading;
use evidence_http::retry::{Class, RefusalCause, http_date, retry_after_seconds};
use evidence_http::{Answer, Dialect, Meaning, single_line};

/// The API.
pub(crate) struct DirectoryApi;

impl Dialect for DirectoryApi {
    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let is_json = is_json(answer);
        let document = document(answer, is_json);
        let error = document.as_ref().and_then(|document| document.get("error"));
        let reasons = error.map(reasons).unwrap_or_default();
        let message = error.and_then(|error| error.get("message").unwrap_or(error).as_str()).map(single_line);
        let class = classify(answer.status, is_json, &reasons, message.as_deref(), retry_after(answer));
        let code = code(&reasons).map(single_line);
        Meaning { class, code, message, request_id: None, permission: None, reading: reading(answer) }
    }
}

/// The exchange of assertions for tokens. The assertion is the credential, and is part of the body.
pub(crate) struct TokenExchange;

impl Dialect for TokenExchange {
    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let is_json = is_json(answer);
        let document = document(answer, is_json);
        let text = |name: &str| document.as_ref().and_then(|document| document.get(name)?.as_str());
        let code = text("error");
        let message = text("error_description").or(code).map(single_line);
        let class = classify_exchange(answer.status, is_json, code, retry_after(answer));
        Meaning {
            class,
            code: code.map(single_line),
            message,
            request_id: None,
            permission: None,
            reading: reading(answer),
        }
    }
}

/// A service that issues tokens: of this machine, or of another identity provider. Only the status counts.
pub(crate) struct TokenService {
    /// Whether each answer must name the provider: a stranger at the address of the metadata service does not.
    pub(crate) of_machine: bool,
}

impl Dialect for TokenService {
    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let foreign = self.of_machine && answer.header(FLAVOR) != Some(GOOGLE);
        let class = match answer.status {
            200 if foreign => Class::Page,
            200 => Class::Success,
            301 | 302 | 303 | 307 | 308 => Class::Redirect,
            400 | 401 | 403 => Class::Forbidden(RefusalCause::Permission),
            404 => Class::NotFound,
            408 | 500..=599 => Class::HostFault { retry_after: retry_after(answer) },
            429 => Class::Throttled { retry_after: retry_after(answer) },
            _ => Class::Unexpected,
        };
        let document = document(answer, is_json(answer));
        let text = |name: &str| document.as_ref().and_then(|document| document.get(name)?.as_str());
        let message = text("error_description").or(text("message")).or(text("error")).map(single_line);
        Meaning { class, code: None, message, request_id: None, permission: None, reading: reading(answer) }
    }
}

/// Every reason in an error document, the most specific first: `errors[].reason`, `details[].reason`, `status`.
fn reasons(error: &Value) -> Vec<&str> {
    let listed = |name: &str| error.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut reasons: Vec<&str> = ["errors", "details"]
        .into_iter()
        .flat_map(listed)
        .filter_map(|item| item.get("reason")?.as_str())
        .collect();
    reasons.extend(error.get("status").and_then(Value::as_str));
    reasons
}

fn document(answer: &Answer<'_>, is_json: bool) -> Option<Value> {
    if answer.status == 200 || !is_json {
        return None;
    }
    serde_json::from_slice(answer.body?).ok()
}

/// Decided by the body, not by the content type. An HTML page is not an answer.
fn is_json(answer: &Answer<'_>) -> bool {
    let content_type = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let may_be_json = answer.body.is_some() && answer.first_byte().is_none_or(|byte| b"{[".contains(&byte));
    content_type.contains("json") || (!content_type.contains("html") && may_be_json)
}

fn retry_after(answer: &Answer<'_>) -> Option<u64> {
    let date = answer.header("date").and_then(http_date);
    retry_after_seconds(answer.header("retry-after")?, date)
}

/// The provider does not report what is left of its limits.
fn reading(answer: &Answer<'_>) -> QuotaReading {
    QuotaReading {
        limit: None,
        remaining: None,
        reset: None,
        date: answer.header("date").and_then(http_date),
    }
}

#[cfg(test)]
mod tests;
