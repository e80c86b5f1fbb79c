//! How the provider is spoken to: the bearer token for the API, nothing for the exchange, and what answers mean.
//!
//! The meaning of an answer is a pure function of its status, the reasons in it and whether it is JSON at all;
//! a number or a word that happens to occur in a message decides nothing. It never sends.

use jiff::Timestamp;
use reqwest::header::{AUTHORIZATION, HeaderValue};
use serde_json::Value;

use crate::http::quota::Reading;
use crate::http::retry::{Class, Refusal, http_date, retry_after_seconds};
use crate::http::{Answer, Dialect, Meaning, Request, one_line};

/// Reasons of a 403 that mean "too fast", whatever its message says.
const LIMITS: &[&str] = &[
    "rateLimitExceeded",
    "userRateLimitExceeded",
    "quotaExceeded",
    "dailyLimitExceeded",
    "RATE_LIMIT_EXCEEDED",
    "RESOURCE_EXHAUSTED",
];

/// Reasons of a 403 that mean that the API is switched off in the service account's project.
const DISABLED: &[&str] = &["accessNotConfigured", "SERVICE_DISABLED"];

/// The reason by which this tool knows that the API is switched off.
pub(super) const API_DISABLED: &str = "accessNotConfigured";

/// How the log says, with a 401, that the token is good and the administrator lacks the privilege.
const NOT_AUTHORIZED: &str = "Access denied. You are not authorized";

/// Errors of the exchange that pass by themselves.
const PASSING: &[&str] = &["internal_failure", "server_error", "temporarily_unavailable"];

/// Speaks to the API with one access token.
pub(super) struct Bearer(HeaderValue);

impl Bearer {
    /// The dialect with `token`; `None` if it cannot stand in a header.
    pub(super) fn new(token: &str) -> Option<Bearer> {
        let mut header = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
        // So that no layer below prints it.
        header.set_sensitive(true);
        Some(Bearer(header))
    }
}

impl Dialect for Bearer {
    fn authorize(&self, request: &mut Request, _now: Timestamp) -> Result<(), String> {
        request.headers.insert(AUTHORIZATION, self.0.clone());
        Ok(())
    }

    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let is_json = is_json(answer);
        let document = document(answer, is_json);
        let error = document.as_ref().and_then(|document| document.get("error"));
        let reasons = error.map(reasons).unwrap_or_default();
        let message = error.and_then(|error| error.get("message").unwrap_or(error).as_str()).map(one_line);
        let class = match classify(answer.status, is_json, &reasons, retry_after(answer)) {
            Class::Unauthorized
                if message.as_deref().is_some_and(|message| message.starts_with(NOT_AUTHORIZED)) =>
            {
                Class::Forbidden(Refusal::Permission)
            }
            class => class,
        };
        let code = if reasons.iter().any(|reason| DISABLED.contains(reason)) {
            Some(API_DISABLED.to_string())
        } else {
            reasons.first().map(|reason| one_line(reason))
        };
        Meaning { class, code, message, request_id: None, reading: reading(answer) }
    }
}

/// Speaks to the address that exchanges assertions for tokens. The assertion is the credential, and is in the body.
pub(super) struct Exchange;

impl Dialect for Exchange {
    fn authorize(&self, _request: &mut Request, _now: Timestamp) -> Result<(), String> {
        Ok(())
    }

    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let is_json = is_json(answer);
        let document = document(answer, is_json);
        let text = |name: &str| document.as_ref().and_then(|document| document.get(name)?.as_str());
        let code = text("error");
        let message = text("error_description").or(code).map(one_line);
        let class = classify_exchange(answer.status, is_json, code, retry_after(answer));
        Meaning { class, code: code.map(one_line), message, request_id: None, reading: reading(answer) }
    }
}

/// What an answer of the API means. Total: every status has a class.
fn classify(status: u16, is_json: bool, reasons: &[&str], retry_after: Option<u64>) -> Class {
    match status {
        200 if !is_json => Class::HostFault { retry_after: None },
        200 => Class::Success,
        301 | 302 | 303 | 307 | 308 => Class::Redirect,
        304 => Class::NotModified,
        401 if !is_json => Class::Forbidden(Refusal::Intermediary),
        401 => Class::Unauthorized,
        429 => Class::Throttled { retry_after },
        403 if reasons.iter().any(|reason| LIMITS.contains(reason)) => Class::Throttled { retry_after },
        403 if !is_json => Class::Forbidden(Refusal::Intermediary),
        403 => Class::Forbidden(Refusal::Permission),
        // A page that says "not found" is a wrong address or a proxy, and no word about a domain.
        404 if !is_json => Class::HostFault { retry_after: None },
        404 => Class::NotFound,
        408 | 500..=599 => Class::HostFault { retry_after },
        410 => Class::Gone,
        _ => Class::Unexpected,
    }
}

/// What an answer to an exchange means. A refusal never closes the way to this host: which of several scopes is
/// refused, and whether the clock was wrong, is found out by asking again differently.
fn classify_exchange(status: u16, is_json: bool, code: Option<&str>, retry_after: Option<u64>) -> Class {
    match status {
        200 if !is_json => Class::HostFault { retry_after: None },
        200 => Class::Success,
        301 | 302 | 303 | 307 | 308 => Class::Redirect,
        429 => Class::Throttled { retry_after },
        408 | 500..=599 => Class::HostFault { retry_after },
        _ if code.is_some_and(|code| LIMITS.contains(&code)) => Class::Throttled { retry_after },
        _ if code.is_some_and(|code| PASSING.contains(&code)) => Class::HostFault { retry_after },
        400..=499 if code.is_some() => Class::Forbidden(Refusal::Permission),
        404 => Class::HostFault { retry_after: None },
        400..=499 if !is_json => Class::Forbidden(Refusal::Intermediary),
        _ => Class::Unexpected,
    }
}

/// Every reason in an error document, the most telling first: `errors[].reason`, `details[].reason`, `status`.
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

/// What the body is decides, rather than what it is called. A page of HTML is nobody's answer to this question.
fn is_json(answer: &Answer<'_>) -> bool {
    let content_type = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let may_be_json = answer.body.is_some() && answer.first_byte().is_none_or(|byte| b"{[".contains(&byte));
    content_type.contains("json") || (!content_type.contains("html") && may_be_json)
}

fn retry_after(answer: &Answer<'_>) -> Option<u64> {
    let date = answer.header("date").and_then(http_date);
    retry_after_seconds(answer.header("retry-after")?, date)
}

/// The provider says nothing of what is left of its limits.
fn reading(answer: &Answer<'_>) -> Reading {
    Reading { limit: None, remaining: None, reset: None, date: answer.header("date").and_then(http_date) }
}

#[cfg(test)]
mod tests;
