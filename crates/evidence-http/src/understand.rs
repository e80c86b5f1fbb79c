//! What one exchange says: turns it into a reply or a failure, and passes its limits on to the gate.

use std::sync::atomic::Ordering;

use super::call::{AskedAbout, Reader};
use super::client::Client;
use super::exchange::{Attempt, Body, Exchange, text};
use super::gate::Feedback;
use super::permanent::PermanentFailure;
use super::reply::{Answered, FailureKind, Meta, Outcome, Refused, RequestFailure};
use super::request::{Meaning, Method, ParseError, Request};
use super::retry::{Class, RefusalCause, RetryDecision, decide_within};
use super::watch::Exchanged;
use super::words::{fault_text, page_text, single_line};

impl Client {
    /// Turns an exchange into a reply or a failure, and passes its limits on to the gate. Also returns whether the host
    /// refused a credential that can be renewed.
    pub(super) fn understand(
        &self,
        exchange: Exchange,
        attempt: &Attempt<'_>,
        reader: &mut Reader<'_>,
    ) -> (Class, bool, Outcome) {
        let answer = exchange.answer(reader.raw, attempt.now);
        let Meaning { mut class, code, message, request_id, permission, reading } =
            self.dialect.understand(&answer);
        let Exchange { sent, status, headers, redirected_to, body, .. } = exchange;
        let mut renewable = false;
        let meta = Meta {
            path: attempt.request.label.clone(),
            status,
            etag: text(&headers, "etag"),
            request_id: request_id.clone(),
            headers: Box::new(headers),
            redirected_to,
            received_at: attempt.now,
        };
        let fail = |kind| {
            Err(RequestFailure {
                kind,
                status: Some(status),
                request_id: request_id.clone(),
                attempts: attempt.number,
            })
        };
        let outcome = match (class, body) {
            (Class::Success, Body::Complete(bytes)) => {
                match (reader.read)(&bytes, &about(attempt.request, &meta)) {
                    Ok(None) => Ok(Ok(Answered { value: (), meta })),
                    Ok(Some(other)) => fail(FailureKind::Foreign(single_line(&other))),
                    Err(ParseError::Shape(text)) => fail(FailureKind::UnexpectedShape(single_line(&text))),
                    Err(ParseError::Broken(text)) => {
                        class = Class::HostFault { retry_after: None };
                        fail(FailureKind::HostFault(format!("the answer is {}", single_line(&text))))
                    }
                }
            }
            (Class::Success, Body::Broken(text)) => {
                class = Class::Transport;
                fail(FailureKind::Transport(text))
            }
            (Class::Success, Body::TooLarge) => fail(FailureKind::TooLarge { limit: reader.limit }),
            (Class::Page, _) if self.lasts(PermanentFailure::Page) => fail(FailureKind::PermanentFailure(
                PermanentFailure::Page,
                page_text(status, message.as_deref()),
            )),
            (Class::Page, _) => {
                let text = page_text(status, message.as_deref());
                fail(FailureKind::HostFault(format!("{text}; check that api_url is the address of the API")))
            }
            (Class::HostFault { .. } | Class::Transport, _) => {
                fail(FailureKind::HostFault(fault_text(status, message.as_deref())))
            }
            (Class::PrimaryLimit { reset }, _) => {
                fail(FailureKind::RateLimited { limit: reading.limit, reset })
            }
            (Class::SecondaryLimit { .. }, _) => fail(FailureKind::SecondaryLimit),
            (Class::Throttled { .. }, _) => {
                fail(FailureKind::Throttled(message.unwrap_or_else(|| format!("HTTP {status}"))))
            }
            (Class::Redirect, _) => fail(FailureKind::Redirect(match &meta.redirected_to {
                Some(location) => format!("refused to follow a redirect to {}", single_line(location)),
                None => "the host sent a redirect without a target".to_string(),
            })),
            // A truncated refusal may be any refusal, for example a limit.
            (_, Body::Broken(text)) => {
                class = Class::Transport;
                fail(FailureKind::Transport(text))
            }
            (class, _) => {
                renewable = class == Class::Unauthorized && self.credential.refused(&sent);
                let locked_out = class == Class::Forbidden(RefusalCause::LoginAttempts);
                if locked_out || (class == Class::Unauthorized && !renewable) {
                    // Every further bad try prolongs the lock-out of the credential's owner.
                    let text = message.clone().unwrap_or_else(|| format!("HTTP {status}"));
                    let kind = FailureKind::Unauthorized(text);
                    self.gate.close(RequestFailure { status: Some(status), ..RequestFailure::local(kind) });
                }
                Ok(Err(Refused { class, code, message, permission, meta }))
            }
        };
        if matches!(class, Class::Success | Class::NotModified | Class::NotFound) {
            self.credential.accepted(&sent);
        }
        if matches!(class, Class::Success | Class::NotFound) {
            self.counts.answered.store(true, Ordering::Relaxed);
        }
        let again = decide_within(self.settings.attempts, class, attempt.number, 0.0);
        let rest = match (class, again) {
            (Class::SecondaryLimit { .. }, RetryDecision::RetryAfter(rest)) => Some(rest),
            _ => None,
        };
        self.gate.leave(attempt.ticket, Some(&Feedback { class, reading, rest }), attempt.now);
        (class, renewable, outcome)
    }

    /// Whether it is certain that the failure will not go away by itself.
    pub(super) fn lasts(&self, permanent: PermanentFailure) -> bool {
        permanent.lasts(self.gate.has_answered(), self.counts.answered.load(Ordering::Relaxed))
    }

    pub(super) fn report(&self, request: &Request, attempt: u32, outcome: &Outcome) {
        if !self.watch.wants_exchanges() {
            return;
        }
        let result = match outcome {
            Ok(Ok(answer)) => answer.meta.status.to_string(),
            Ok(Err(refused)) if refused.class == Class::NotModified => "304 unchanged".to_string(),
            Ok(Err(refused)) => format!("{} {}", refused.meta.status, refused.text()),
            Err(failure) => failure.to_string(),
        };
        self.report_result(request, attempt, &result);
    }

    pub(super) fn report_result(&self, request: &Request, attempt: u32, result: &str) {
        let method = match request.method {
            Method::Get => "GET",
            Method::Post => "POST",
            Method::Put => "PUT",
        };
        self.watch.exchanged(Exchanged { method, path: &request.label, result, attempt });
    }
}

fn about<'a>(request: &'a Request, meta: &Meta) -> AskedAbout<'a> {
    let subject = request.subject.as_deref().unwrap_or(&request.label);
    AskedAbout { subject, redirected: meta.redirected_to.is_some() }
}
