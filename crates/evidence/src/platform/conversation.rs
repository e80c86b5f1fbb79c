//! The requests to one platform and its last answers.
//!
//! The shared HTTP client sends, waits and retries. This module adds the platform's specifics: the meaning of its
//! answers, and their text, kept until the caller asks for it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use reqwest::header::{ACCEPT, HeaderValue};

use super::problem::ProblemDetails;
use crate::report::{Event, Reporter, Uploading};
use evidence_http::quota::QuotaReading;
use evidence_http::retry::{Class, RefusalCause, http_date, retry_after_seconds};
use evidence_http::{Answer, Dialect, FailureKind, Meaning, Request, RequestFailure, Watch, single_line};
use evidence_screen::Screen;

/// The client's side of one platform.
pub(super) struct Conversation {
    /// The maximum number of attempts per request.
    pub(super) attempts: u32,
    pub(super) screen: Screen,
    pub(super) reporter: Arc<dyn Reporter>,
    pub(super) said: Mutex<RequestLog>,
}

/// The platform's answers to one request.
#[derive(Debug, Default)]
pub(super) struct RequestLog {
    /// The number of attempts.
    pub(super) attempts: u32,
    /// The last answer, if it is not a success.
    pub(super) refusal: Option<BadAnswer>,
}

/// An answer other than a success.
#[derive(Debug)]
pub(super) enum BadAnswer {
    /// A refusal, with the platform's message.
    Problem(ProblemDetails),
    /// An answer from something other than the platform: a page, or a redirect.
    Foreign(String),
}

impl Conversation {
    /// Takes the platform's answers since the last call.
    pub(super) fn take(&self) -> RequestLog {
        std::mem::take(&mut *self.lock())
    }

    /// Untrusted text, made safe to print.
    pub(super) fn clean(&self, text: &str) -> String {
        self.screen.redact(&single_line(text.trim())).into_owned()
    }

    fn lock(&self) -> MutexGuard<'_, RequestLog> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Dialect for Conversation {
    fn prepare(&self, request: &mut Request) {
        let accepted = HeaderValue::from_static("application/json, application/problem+json");
        request.headers.insert(ACCEPT, accepted);
        let mut said = self.lock();
        *said = RequestLog { attempts: said.attempts + 1, refusal: None };
    }

    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let (class, refusal) = understand(answer, &|text| self.clean(text));
        self.lock().refusal = refusal;
        Meaning {
            class,
            code: None,
            message: None,
            request_id: None,
            permission: None,
            reading: QuotaReading::default(),
        }
    }
}

/// Reports progress and failed attempts as events of the run.
impl Watch for Conversation {
    fn again(&self, _host: &str, failure: &RequestFailure, wait: Duration) {
        let text = match &self.lock().refusal {
            Some(BadAnswer::Problem(problem)) => {
                let status = format!("HTTP {}", problem.status);
                problem.text().map_or(status.clone(), |words| format!("{status}: {words}"))
            }
            Some(BadAnswer::Foreign(text)) => text.clone(),
            None => self.clean(&plain(failure.kind.clone())),
        };
        self.reporter.event(Event::Upload(Uploading::Again {
            text: &text,
            attempt: failure.attempts,
            of: self.attempts,
            wait,
        }));
    }

    fn sent(&self, bytes: u64) {
        self.reporter.event(Event::Upload(Uploading::Sent(bytes)));
    }
}

/// Why no answer came, without the number of attempts.
pub(super) fn plain(kind: FailureKind) -> String {
    RequestFailure::local(kind).to_string()
}

/// Classifies an answer, and reads its message if it is not a success. Every text passes through `clean`.
fn understand(answer: &Answer<'_>, clean: &dyn Fn(&str) -> String) -> (Class, Option<BadAnswer>) {
    let status = answer.status;
    let content_type = answer.header("content-type").unwrap_or_default().to_ascii_lowercase();
    let media = content_type.split(';').next().unwrap_or_default().trim();
    let is_json = media == "application/json" || media.ends_with("+json");
    let date = answer.header("date").and_then(http_date);
    let retry_after = answer.header("retry-after").and_then(|value| retry_after_seconds(value, date));
    let foreign = |text: &str| Some(BadAnswer::Foreign(format!("HTTP {status} {text}")));
    match classify(status, retry_after) {
        Class::Success if is_json => (Class::Success, None),
        Class::Success => (Class::Unexpected, foreign("with a page that is not JSON")),
        Class::Redirect => {
            let to = answer.header("location").map_or("nowhere".to_string(), clean);
            (Class::Redirect, foreign(&format!("with a redirect to {to}")))
        }
        class => {
            let problem = ProblemDetails::read(status, answer.body.filter(|_| is_json), clean);
            // The request was correct when it was sent, so it was damaged in transit.
            let damaged = status == 400 && problem.is_damage();
            let class = if damaged { Class::HostFault { retry_after } } else { class };
            (class, Some(BadAnswer::Problem(problem)))
        }
    }
}

/// Classifies a status. A refusal with a time to retry is temporary.
fn classify(status: u16, retry_after: Option<u64>) -> Class {
    match status {
        200..=299 => Class::Success,
        300..=399 => Class::Redirect,
        401 => Class::Unauthorized,
        403 => Class::Forbidden(RefusalCause::Permission),
        404 => Class::NotFound,
        408 | 500..=599 => Class::HostFault { retry_after },
        429 => Class::Throttled { retry_after },
        409 | 423 | 425 if retry_after.is_some() => Class::Throttled { retry_after },
        _ => Class::Unexpected,
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use reqwest::header::{CONTENT_TYPE, HeaderMap};

    use super::*;
    use evidence_http::retry::{RetryDecision, decide};

    #[test]
    fn every_status_means_something() {
        for status in 0..=u16::MAX {
            let (plain, asked) = (classify(status, None), classify(status, Some(7)));
            let retried = |class| matches!(decide(class, 1, 0.0), RetryDecision::RetryAfter(_));
            let faults = status == 408 || status == 429 || (500..600).contains(&status);
            assert_eq!(retried(plain), faults, "{status}");
            assert_eq!(retried(asked), faults || [409, 423, 425].contains(&status), "{status}");
            assert_eq!(plain == Class::Success, (200..300).contains(&status), "{status}");
        }
    }

    fn answered(status: u16, media: &'static str, body: &str) -> (Class, Option<BadAnswer>) {
        let headers = HeaderMap::from_iter([(CONTENT_TYPE, HeaderValue::from_static(media))]);
        understand(
            &Answer {
                status,
                headers: &headers,
                body: Some(body.as_bytes()),
                raw: false,
                sent: &HeaderMap::new(),
                sent_at: Timestamp::UNIX_EPOCH,
                now: Timestamp::UNIX_EPOCH,
            },
            &|text| single_line(text.trim()),
        )
    }

    fn problem(status: u16, media: &'static str, body: &str) -> (Class, ProblemDetails) {
        match answered(status, media, body) {
            (class, Some(BadAnswer::Problem(problem))) => (class, problem),
            other => panic!("{body}: {other:?}"),
        }
    }

    #[test]
    fn problems_are_one_bounded_line() {
        for (body, words) in [
            (r#"{"title":"Forbidden","detail":"no\nway\u001b[2J"}"#, Some(r"no\u{a}way\u{1b}[2J")),
            (r#"{"title":"Forbidden","detail":" "}"#, Some("Forbidden")),
            (r#"{"title":"  ","detail":null}"#, None),
            (r#"{"title":7}"#, None),
            ("<html>", None),
            ("", None),
        ] {
            assert_eq!(problem(403, "application/problem+json", body).1.words.as_deref(), words, "{body}");
        }
        let long = format!(r#"{{"detail":"{}"}}"#, "word ".repeat(1_000));
        assert!(problem(422, "application/json; charset=utf-8", &long).1.words.unwrap().len() < 600);
        // A page is never quoted, whatever it contains.
        let page = problem(502, "text/html", r#"{"title":"x"}"#).1;
        assert_eq!(page, ProblemDetails { status: 502, ..ProblemDetails::default() });
    }

    #[test]
    fn a_body_damaged_on_its_way_is_sent_again() {
        let of = |status, code: &str| {
            let body =
                format!(r#"{{"type":"urn:evidence-platform:problem:{code}","reason":"r","request_id":"q"}}"#);
            problem(status, "application/problem+json", &body)
        };
        for (status, code, again) in [
            (400, "digest-mismatch", true),
            (400, "body-incomplete", true),
            (400, "digest-missing", false),
            (400, "invalid-request", false),
            (422, "digest-mismatch", false),
            (409, "no-trusted-key", false),
        ] {
            let (class, problem) = of(status, code);
            assert_eq!(class == Class::HostFault { retry_after: None }, again, "{status} {code}");
            assert_eq!(problem.code.as_deref(), Some(code));
            assert_eq!((problem.reason.as_deref(), problem.request_id.as_deref()), (Some("r"), Some("q")));
        }
        let other = r#"{"type":"https://example.com/digest-mismatch"}"#;
        assert_eq!(problem(400, "application/problem+json", other).1.code, None);
    }

    #[test]
    fn a_page_is_no_answer() {
        for media in ["text/html", "", "application/jsonx", "text/json"] {
            assert!(
                matches!(answered(200, media, "{}"), (Class::Unexpected, Some(BadAnswer::Foreign(_)))),
                "{media}"
            );
        }
        let good = answered(201, "application/json; charset=utf-8", "{}");
        assert!(matches!(good, (Class::Success, None)), "{good:?}");
    }
}
