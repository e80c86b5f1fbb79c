//! Records which requests a finding rests on, at any depth of the code that asks.
//!
//! [`recorded`] runs a future and returns the requests made meanwhile. Otherwise a source would have to pass a list
//! through every function that asks, and forgetting it once would lose evidence.

use std::cell::RefCell;

use jiff::Timestamp;
use reqwest::header::IF_NONE_MATCH;

use super::reply::{Answered, Meta, Refused, Reply, RequestFailure};
use super::request::Request;
use super::retry::Class;

tokio::task_local! {
    static TRAIL: RefCell<Vec<Asked>>;
}

/// A request, and how it ended. Repeated attempts and redirects are part of the one request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// Path and query below the base of the API, or the name of the action. Never a credential.
    pub path: String,
    /// The status of the last answer; none if there was no answer.
    pub status: Option<u16>,
    /// The host's message, or why there was no answer; `None` for a good answer.
    pub message: Option<String>,
    /// The entity tag of the answer, or the one that the host confirmed.
    pub etag: Option<String>,
    /// The host's id for the last answer.
    pub request_id: Option<String>,
    /// When it ended, or for an answer taken over, when that came.
    pub at: Timestamp,
    /// The permission that a refused request lacks, if the host names it.
    pub permission: Option<String>,
}

/// Runs `work` and returns the requests that it made, in the order in which they ended.
pub async fn recorded<F: Future>(work: F) -> (F::Output, Vec<Asked>) {
    TRAIL
        .scope(RefCell::default(), async {
            let output = work.await;
            (output, TRAIL.with(RefCell::take))
        })
        .await
}

/// Adds requests of an earlier observation to the current recording, if there is one.
pub fn replay(asked: Vec<Asked>) {
    // Fails outside a recording.
    let _ = TRAIL.try_with(|trail| trail.borrow_mut().extend(asked));
}

/// Notes how a request ended, if there is a recording.
pub(super) fn note<T>(request: &Request, outcome: &Result<Reply<T>, RequestFailure>, now: Timestamp) {
    // A request that was never sent does not count.
    if outcome.as_ref().is_err_and(|failure| failure.attempts == 0) {
        return;
    }
    // Fails outside a recording: the requests of an upload are not evidence.
    let _ = TRAIL.try_with(|trail| trail.borrow_mut().push(asked(request, outcome, now)));
}

fn asked<T>(request: &Request, outcome: &Result<Reply<T>, RequestFailure>, now: Timestamp) -> Asked {
    let asked = Asked {
        method: request.method.name(),
        path: request.label.clone(),
        status: None,
        message: None,
        etag: None,
        request_id: None,
        at: now,
        permission: None,
    };
    match outcome {
        Ok(Ok(Answered { meta, .. })) => Asked {
            status: Some(meta.status),
            etag: meta.etag.clone(),
            request_id: meta.request_id.clone(),
            at: meta.received_at,
            ..asked
        },
        Ok(Err(Refused { class, message, permission, meta, .. })) => Asked {
            status: Some(meta.status),
            etag: if *class == Class::NotModified { confirmed(request, meta) } else { None },
            message: message.clone(),
            request_id: meta.request_id.clone(),
            at: meta.received_at,
            permission: permission.clone(),
            ..asked
        },
        Err(failure) => Asked {
            status: failure.status,
            message: Some(failure.to_string()),
            request_id: failure.request_id.clone(),
            ..asked
        },
    }
}

/// The tag of an answer that did not change: a host need not repeat it.
fn confirmed(request: &Request, meta: &Meta) -> Option<String> {
    let asked = || request.headers.get(IF_NONE_MATCH)?.to_str().ok().map(str::to_string);
    meta.etag.clone().or_else(asked)
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;
    use url::Url;

    use super::*;
    use crate::reply::FailureKind;
    use crate::retry::RefusalCause;

    fn request(label: &str) -> Request {
        Request::get(Url::parse("https://h.example/").unwrap(), label)
    }

    /// How the trail describes each outcome, and that nested recordings have their own requests.
    #[test]
    fn every_request_belongs_to_the_innermost_recording() {
        let good: Result<Reply<()>, RequestFailure> =
            Ok(Ok(Answered { value: (), meta: Meta { status: 200, ..Meta::default() } }));
        let refused: Result<Reply<()>, RequestFailure> = Ok(Err(Refused {
            class: Class::Forbidden(RefusalCause::Permission),
            code: None,
            message: Some("the host's words".to_string()),
            permission: Some("administration=read".to_string()),
            meta: Meta { status: 403, request_id: Some("r".to_string()), ..Meta::default() },
        }));
        let failed: Result<Reply<()>, RequestFailure> = Err(RequestFailure {
            attempts: 1,
            ..RequestFailure::local(FailureKind::Transport("cannot connect".to_string()))
        });
        let unsent: Result<Reply<()>, RequestFailure> =
            Err(RequestFailure::local(FailureKind::Unauthorized("expired".to_string())));
        let now = Timestamp::UNIX_EPOCH;
        note(&request("/nobody"), &good, now);
        let ((inner, after), outer) = recorded(async {
            note(&request("/outer"), &refused, now);
            let ((), inner) = recorded(async { note(&request("/inner"), &good, now) }).await;
            note(&request("/after"), &failed, now);
            note(&request("/unsent"), &unsent, now);
            (inner, ())
        })
        .now_or_never()
        .unwrap();
        let () = after;
        let described = |asked: &[Asked]| -> Vec<String> {
            let line = |asked: &Asked| {
                format!("{} {:?} {:?} {:?}", asked.path, asked.status, asked.message, asked.permission)
            };
            asked.iter().map(line).collect()
        };
        assert_eq!(described(&inner), ["/inner Some(200) None None"]);
        assert_eq!(
            described(&outer),
            [
                r#"/outer Some(403) Some("the host's words") Some("administration=read")"#,
                r#"/after None Some("cannot connect") None"#,
            ]
        );
    }
}
