//! What a client returns: an answer, a final refusal, or the reason why there is neither.
//!
//! Sources see HTTP only through these types; nothing here sends.

use jiff::Timestamp;
use reqwest::header::HeaderMap;

use super::permanent::PermanentFailure;
use super::retry::Class;

/// Where an answer came from.
#[derive(Debug, Clone, Default)]
pub struct Meta {
    /// The request: path and query below the API's base, or the name of the action.
    pub path: String,
    /// HTTP status.
    pub status: u16,
    /// `ETag`
    pub etag: Option<String>,
    /// The host's id for the request.
    pub request_id: Option<String>,
    /// The answer's headers; boxed, since they are large and answers are moved often.
    pub headers: Box<HeaderMap>,
    /// The final address if the host redirected.
    pub redirected_to: Option<String>,
    /// When the answer was complete, by this machine's clock.
    pub received_at: Timestamp,
}

impl Meta {
    /// The header as text, if it is there and is text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| value.to_str().ok())
    }
}

/// A good answer.
#[derive(Debug, Clone)]
pub struct Answered<T> {
    /// Its value.
    pub value: T,
    /// Where it came from.
    pub meta: Meta,
}

/// A final refusal.
#[derive(Debug, Clone)]
pub struct Refused {
    /// Its class.
    pub class: Class,
    /// The host's code for it, if it has codes.
    pub code: Option<String>,
    /// The host's message, if it gave one: one line, bounded.
    pub message: Option<String>,
    /// The permission that the request needs, if the host names it.
    pub permission: Option<String>,
    /// Where it came from.
    pub meta: Meta,
}

impl Refused {
    /// The host's message, or a description of the status if there is none.
    pub fn text(&self) -> String {
        self.message.clone().unwrap_or_else(|| match self.class {
            Class::Unauthorized => "Bad credentials".to_string(),
            Class::NotFound => "Not Found".to_string(),
            _ => "no message".to_string(),
        })
    }
}

/// A final answer: a good one, or a refusal that asking again would not change.
pub type Reply<T> = Result<Answered<T>, Refused>;

/// How a request ended, without the value of a good answer, which its reader keeps.
pub(super) type Outcome = Result<Reply<()>, RequestFailure>;

/// Why a call has no good answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The host refuses, and asking again would not change it.
    #[error("{}", .0.text())]
    Refused(Refused),
    /// The request has no answer.
    #[error(transparent)]
    Failed(RequestFailure),
}

impl From<Refused> for CallError {
    fn from(refused: Refused) -> CallError {
        CallError::Refused(refused)
    }
}

impl From<RequestFailure> for CallError {
    fn from(failure: RequestFailure) -> CallError {
        CallError::Failed(failure)
    }
}

/// A request without an answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", describe(.kind, *status, *attempts))]
pub struct RequestFailure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The last HTTP status, if there was one.
    pub status: Option<u16>,
    /// The request id of the last answer, if there was one.
    pub request_id: Option<String>,
    /// How often it was tried; 0 if it was never sent.
    pub attempts: u32,
}

/// The reason for a missing answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureKind {
    /// The connection: name, route, TLS, time-out, reset, truncated body.
    Transport(String),
    /// The same, and it will fail the same way at every attempt.
    PermanentFailure(PermanentFailure, String),
    /// The host answered with faults at every attempt.
    HostFault(String),
    /// The primary limit is used up, and waiting is disabled or did not help.
    RateLimited {
        /// Requests per window.
        limit: Option<u64>,
        /// When it resets, in seconds since 1970 by the host's clock.
        reset: Option<i64>,
    },
    /// The secondary limit held through all attempts.
    SecondaryLimit,
    /// The host throttled every attempt.
    Throttled(String),
    /// The host no longer accepts the token, so the client stopped asking.
    Unauthorized(String),
    /// The body is longer than this endpoint's largest honest answer.
    TooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// A good answer whose JSON does not have the documented shape.
    UnexpectedShape(String),
    /// A good answer about something else than the request: the text names both.
    Foreign(String),
    /// A redirect away from the API's own origin, or in circles.
    Redirect(String),
    /// Too many requests of the same kind failed: this one was not sent, or was abandoned.
    GivenUp {
        /// How many failed in a row.
        failed: u32,
        /// How the last of them failed.
        last: String,
    },
}

impl RequestFailure {
    /// The failure of a request that was not sent.
    pub fn local(kind: FailureKind) -> RequestFailure {
        RequestFailure { kind, status: None, request_id: None, attempts: 0 }
    }
}

fn describe(kind: &FailureKind, status: Option<u16>, attempts: u32) -> String {
    let text = match kind {
        FailureKind::Transport(text)
        | FailureKind::PermanentFailure(_, text)
        | FailureKind::HostFault(text)
        | FailureKind::Redirect(text) => text.clone(),
        FailureKind::RateLimited { limit, reset } => {
            let status = status.map_or_else(String::new, |status| format!(" (HTTP {status})"));
            let limit = limit.map_or_else(String::new, |limit| format!(" of {limit}"));
            let reset = reset.and_then(|reset| Timestamp::from_second(reset).ok());
            let reset = reset.map_or_else(String::new, |reset| format!(", resets at {reset}"));
            format!("API rate limit exceeded{status}: 0{limit} requests remaining{reset}")
        }
        FailureKind::SecondaryLimit => "the host's secondary rate limit was not lifted".to_string(),
        FailureKind::Throttled(text) => format!("the host asks for fewer requests: {text}"),
        FailureKind::Unauthorized(text) => {
            format!("not asked: the host no longer accepts the credentials ({text})")
        }
        FailureKind::TooLarge { limit } => {
            format!("the answer exceeds the limit of {limit} bytes for this call")
        }
        FailureKind::Foreign(text) => format!("the answer is about {text}"),
        FailureKind::UnexpectedShape(text) => format!("the answer does not have the documented form: {text}"),
        FailureKind::GivenUp { failed, last } => {
            let what = if attempts == 0 { "not asked" } else { "given up" };
            format!("{what}: {failed} consecutive requests failed: {last}")
        }
    };
    if attempts > 1 { format!("{text} (after {attempts} attempts)") } else { text }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;
    use crate::proxy::ProxyError;

    /// Including the cause in the text would repeat it wherever the chain is shown.
    #[test]
    fn error_display_chain_doesnt_repeat() {
        let failure = RequestFailure::local(FailureKind::Transport("connection refused".to_string()));
        let errors: [Box<dyn Error>; 3] = [
            Box::new(ProxyError { variable: "HTTPS_PROXY" }),
            Box::new(failure.clone()),
            Box::new(CallError::Failed(failure)),
        ];
        for error in &errors {
            let mut wrapper: &dyn Error = error.as_ref();
            while let Some(cause) = wrapper.source() {
                assert!(!wrapper.to_string().contains(&cause.to_string()), "{wrapper:?} repeats {cause}");
                wrapper = cause;
            }
        }
    }
}
