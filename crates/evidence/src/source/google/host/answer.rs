//! Classifies the provider's answers: the only place that compares its reasons and messages.
//!
//! A pure function of an answer's status, its reasons and whether it is JSON. A number or word that happens to occur in
//! a message never decides.

use evidence_http::Refused;
use evidence_http::retry::{Class, RefusalCause};

/// Reasons of a 403 that mean "too fast", whatever the message.
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

/// The reason that this tool reports for a disabled API.
const API_DISABLED: &str = "accessNotConfigured";

/// The log's 401 message for a valid token of an administrator without the privilege.
const NOT_AUTHORIZED: &str = "Access denied. You are not authorized";

/// Temporary errors of the exchange.
const PASSING: &[&str] = &["internal_failure", "server_error", "temporarily_unavailable"];

/// Classifies an answer of the API.
pub(crate) fn classify(
    status: u16,
    is_json: bool,
    reasons: &[&str],
    message: Option<&str>,
    retry_after: Option<u64>,
) -> Class {
    match status {
        200 if !is_json => Class::Page,
        200 => Class::Success,
        301 | 302 | 303 | 307 | 308 => Class::Redirect,
        304 => Class::NotModified,
        401 if !is_json => Class::Forbidden(RefusalCause::Intermediary),
        401 if message.is_some_and(|message| message.starts_with(NOT_AUTHORIZED)) => {
            Class::Forbidden(RefusalCause::Permission)
        }
        401 => Class::Unauthorized,
        429 => Class::Throttled { retry_after },
        403 if reasons.iter().any(|reason| LIMITS.contains(reason)) => Class::Throttled { retry_after },
        403 if !is_json => Class::Forbidden(RefusalCause::Intermediary),
        403 => Class::Forbidden(RefusalCause::Permission),
        // A page that says "not found" comes from a wrong address or a proxy, and says nothing about a domain.
        404 if !is_json => Class::Page,
        404 => Class::NotFound,
        408 | 500..=599 => Class::HostFault { retry_after },
        410 => Class::Gone,
        _ => Class::Unexpected,
    }
}

/// Classifies an answer of the exchange. A refusal never closes the gate: further attempts find out which scope was
/// refused, or whether the clock was wrong.
pub(crate) fn classify_exchange(
    status: u16,
    is_json: bool,
    code: Option<&str>,
    retry_after: Option<u64>,
) -> Class {
    match status {
        200 if !is_json => Class::Page,
        200 => Class::Success,
        301 | 302 | 303 | 307 | 308 => Class::Redirect,
        429 => Class::Throttled { retry_after },
        408 | 500..=599 => Class::HostFault { retry_after },
        _ if code.is_some_and(|code| LIMITS.contains(&code)) => Class::Throttled { retry_after },
        _ if code.is_some_and(|code| PASSING.contains(&code)) => Class::HostFault { retry_after },
        400..=499 if code.is_some() => Class::Forbidden(RefusalCause::Permission),
        404 => Class::Page,
        400..=499 if !is_json => Class::Forbidden(RefusalCause::Intermediary),
        _ => Class::Unexpected,
    }
}

/// The code of a refusal: the decisive one of its reasons, else the first.
pub(crate) fn code<'a>(reasons: &[&'a str]) -> Option<&'a str> {
    if reasons.iter().any(|reason| DISABLED.contains(reason)) {
        return Some(API_DISABLED);
    }
    reasons.first().copied()
}

/// Whether the API is switched off in the service account's project.
pub(crate) fn says_disabled(refused: &Refused) -> bool {
    refused.code.as_deref() == Some(API_DISABLED)
}

/// Whether a token has too few scopes for a call: those of the instance that it is attached to.
pub(crate) fn says_scope(refused: &Refused) -> bool {
    matches!(refused.code.as_deref(), Some("ACCESS_TOKEN_SCOPE_INSUFFICIENT" | "insufficientPermissions"))
}

/// Whether an exchange was refused because of the requested scopes.
pub(crate) fn says_scopes(refused: &Refused) -> bool {
    matches!(refused.code.as_deref(), Some("unauthorized_client" | "invalid_scope"))
}

/// Whether an exchange was refused because of the assertion's times, `iat` and `exp`.
pub(crate) fn says_time(refused: &Refused) -> bool {
    refused.code.as_deref() == Some("invalid_grant")
        && refused.message.as_deref().is_some_and(|message| {
            let mut words = message.split(|c: char| !c.is_ascii_alphanumeric());
            words.any(|word| ["iat", "exp", "timeframe"].iter().any(|about| word.eq_ignore_ascii_case(about)))
        })
}
