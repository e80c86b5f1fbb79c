//! What a client brings back: an answer, a refusal that stands, or the reason why there is neither.
//!
//! These are the words in which sources hear of HTTP; nothing here sends.

use jiff::Timestamp;
use reqwest::header::HeaderMap;

use super::obstacle::Obstacle;
use super::retry::Class;

/// Where an answer came from.
#[derive(Debug, Clone, Default)]
pub struct Meta {
    /// What was asked: path and query below the API's base, or the name of the action.
    pub path: String,
    /// HTTP status.
    pub status: u16,
    /// `ETag`
    pub etag: Option<String>,
    /// By which the host knows the request.
    pub request_id: Option<String>,
    /// The answer's headers; boxed, since an answer is moved about and they are large.
    pub headers: Box<HeaderMap>,
    /// Where the answer came from if the host redirected.
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
    /// What it said.
    pub value: T,
    /// Where it came from.
    pub meta: Meta,
}

/// A refusal that stands.
#[derive(Debug, Clone)]
pub struct Refused {
    /// What it means.
    pub class: Class,
    /// The host's code for it, if it has codes.
    pub code: Option<String>,
    /// The host's message, if it gave one: one line, bounded.
    pub message: Option<String>,
    /// The permission that the host says the request needs, if it says so.
    pub permission: Option<String>,
    /// Where it came from.
    pub meta: Meta,
}

impl Refused {
    /// The host's message, or what the status says if it gave none.
    pub fn text(&self) -> String {
        self.message.clone().unwrap_or_else(|| match self.class {
            Class::Unauthorized => "Bad credentials".to_string(),
            Class::NotFound => "Not Found".to_string(),
            _ => "no message".to_string(),
        })
    }
}

/// An answer that stands: a good one, or a refusal that asking again would not change.
pub type Reply<T> = Result<Answered<T>, Refused>;

/// Why there is no good answer.
#[derive(Debug, Clone, thiserror::Error)]
pub enum CallError {
    /// The host will not, and asking again would not change it.
    #[error("{}", .0.text())]
    Refused(Refused),
    /// There is no answer.
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

/// There is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", describe(.kind, *status, *attempts))]
pub struct RequestFailure {
    /// What went wrong.
    pub kind: FailureKind,
    /// The last HTTP status, if there was one.
    pub status: Option<u16>,
    /// The request id of the last answer, if there was one.
    pub request_id: Option<String>,
    /// How often it was tried; 0 if it was not even sent.
    pub attempts: u32,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FailureKind {
    /// The connection: name, route, TLS, time-out, reset, truncated body.
    Transport(String),
    /// The same, and it will fail the same way however often it is tried.
    Obstacle(Obstacle, String),
    /// The host answered with faults until the attempts were used up.
    HostFault(String),
    /// The primary limit is used up and waiting is not wanted, or did not help.
    RateLimited {
        /// Requests per window.
        limit: Option<u64>,
        /// When it resets, in seconds since 1970 by the host's clock.
        reset: Option<i64>,
    },
    /// The secondary limit held through all attempts.
    SecondaryLimit,
    /// The host was asked too fast, through all attempts.
    Throttled(String),
    /// The token stopped being accepted, so nothing more was asked.
    Unauthorized(String),
    /// The body is longer than this endpoint's largest honest answer.
    TooLarge {
        /// The bound, in bytes.
        limit: usize,
    },
    /// A good answer whose JSON is not of the documented shape.
    UnexpectedShape(String),
    /// A redirect away from the API's own origin, or in circles.
    Redirect(String),
    /// Too many requests of the same kind have failed: this one was not sent, or not waited for.
    GivenUp {
        /// How many failed in a row.
        failed: u32,
        /// With what the last of them failed.
        last: String,
    },
}

impl RequestFailure {
    /// A failure of a request that was not sent.
    pub fn local(kind: FailureKind) -> RequestFailure {
        RequestFailure { kind, status: None, request_id: None, attempts: 0 }
    }
}

fn describe(kind: &FailureKind, status: Option<u16>, attempts: u32) -> String {
    let text = match kind {
        FailureKind::Transport(text)
        | FailureKind::Obstacle(_, text)
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

    /// A text that has its cause in it would be said twice wherever the chain is shown.
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
