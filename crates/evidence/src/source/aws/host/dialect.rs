//! The provider's protocol: signs every request, and parses answers in either format.
//!
//! This module parses an answer, and `answer` classifies it. It also detects how wrong this machine's clock is. It
//! sends nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::SystemTime;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

use super::answer::{self, BodyForm, ErrorDocument};
use super::endpoint::ServiceEndpoint;
use super::login::Login;
use evidence_http::quota::QuotaReading;
use evidence_http::retry::{Class, http_date, retry_after_seconds};
use evidence_http::{Answer, CallError, Credential, Dialect, Meaning, Request};

/// The clock difference, in seconds, from which a refusal is attributed to the clock. The provider tolerates five
/// minutes, in some services fifteen.
const SKEW: u64 = 240;

/// The error of this machine's clock, shared by all hosts of a run.
#[derive(Debug, Default)]
pub(crate) struct Skew {
    /// The offset in seconds to add to this machine's time.
    offset: AtomicI64,
    /// The offset is set only once. A host that still refuses has another reason.
    taken: AtomicBool,
}

impl Skew {
    /// The learned offset in seconds: positive if this machine's clock is behind, zero if nothing was learned.
    pub(crate) fn seconds(&self) -> i64 {
        self.offset.load(Ordering::Relaxed)
    }

    /// A time of this machine as the provider's clock would show it, as far as their difference is known.
    pub(crate) fn by_provider(&self, time: Timestamp) -> Timestamp {
        time.checked_add(SignedDuration::from_secs(self.seconds())).unwrap_or(time)
    }

    /// Sets the offset from a refusal's `Date`, if it shows that the clock is wrong.
    fn learn_from(&self, date: Option<i64>, now: Timestamp) {
        let Some(offset) = date.map(|date| date.saturating_sub(now.as_second())) else { return };
        if offset.unsigned_abs() >= SKEW && !self.taken.swap(true, Ordering::Relaxed) {
            self.offset.store(offset, Ordering::Relaxed);
        }
    }
}

fn time(now: Timestamp, offset: i64) -> SystemTime {
    now.checked_add(SignedDuration::from_secs(offset)).unwrap_or(now).into()
}

/// The offset that a request was signed with: the time in its signature minus the time it was sent.
fn signed_with(answer: &Answer<'_>) -> Option<i64> {
    let signed = answer.sent.get("x-amz-date")?.to_str().ok()?;
    let signed = jiff::fmt::strtime::parse("%Y%m%dT%H%M%SZ", signed).ok()?.to_datetime().ok()?;
    let signed = jiff::tz::Offset::UTC.to_timestamp(signed).ok()?;
    Some(signed.as_second().saturating_sub(answer.sent_at.as_second()))
}

/// One service at one address, with its credentials.
pub(crate) struct CloudDialect {
    /// What signs; nothing for questions that carry their proof in the body.
    pub(crate) login: Option<Arc<Login>>,
    pub(crate) endpoint: ServiceEndpoint,
    pub(crate) skew: Arc<Skew>,
}

impl Credential for CloudDialect {
    fn ready(&self) -> BoxFuture<'_, Result<(), CallError>> {
        async { if let Some(login) = &self.login { login.ensure().await } else { Ok(()) } }.boxed()
    }

    fn authorize(&self, request: &mut Request, now: Timestamp) -> Result<(), String> {
        let Some(login) = &self.login else { return Ok(()) };
        let credentials = login.value().ok_or("there are no credentials to sign with")?;
        credentials.sign(request, &self.endpoint, time(now, self.skew.seconds()))
    }
}

impl Dialect for CloudDialect {
    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let body = answer.body.unwrap_or_default();
        let form = answer::form(body);
        let date = answer.header("date").and_then(http_date);
        let header_id = || {
            let id = answer.header("x-amzn-requestid").or_else(|| answer.header("x-amz-request-id"));
            id.map(evidence_http::single_line)
        };
        let (class, ErrorDocument { code, message, request_id }) = if answer.status == 200 {
            // A proxy's page answers nothing. The call's parser checks any other body.
            if form == BodyForm::Page {
                let message = Some(
                    "with a page that does not come from the provider, perhaps from a proxy".to_string(),
                );
                (Class::Page, ErrorDocument { message, ..ErrorDocument::default() })
            } else {
                (Class::Success, ErrorDocument::default())
            }
        } else {
            let fault = answer::read(answer.header("x-amzn-errortype"), body);
            let retry_after = answer.header("retry-after").and_then(|text| retry_after_seconds(text, date));
            let class = answer::classify(answer.status, &fault, form, retry_after);
            let skewed =
                class == Class::Unauthorized && fault.code.as_deref().is_some_and(answer::may_be_skew) && {
                    self.skew.learn_from(date, answer.now);
                    // The offset changes only once in a run, so this is true at most once per request. Several requests
                    // signed before the change can be refused after it.
                    signed_with(answer).is_some_and(|offset| offset != self.skew.seconds())
                };
            // Retried as after a fault, signed with the corrected time.
            (if skewed { Class::HostFault { retry_after: None } } else { class }, fault)
        };
        // The provider does not report its limits in answers.
        let reading = QuotaReading { limit: None, remaining: None, reset: None, date };
        Meaning { class, code, message, request_id: header_id().or(request_id), permission: None, reading }
    }
}

#[cfg(test)]
mod tests {
    use super::super::endpoint::{Region, Service};
    use super::super::sign::Credentials;
    use super::*;
    use evidence_http::retry::RefusalCause;
    use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

    fn dialect() -> CloudDialect {
        let endpoint =
            ServiceEndpoint::new(Service::Iam, &Region::new("eu-central-1").unwrap(), None).unwrap();
        let credentials = Credentials::new("AKIDEXAMPLE", "not-a-real-secret", None).unwrap();
        CloudDialect { login: Some(Arc::new(Login::fixed(credentials))), endpoint, skew: Arc::default() }
    }

    fn understand(
        dialect: &CloudDialect,
        status: u16,
        headers: &[(&'static str, &str)],
        body: &str,
    ) -> Meaning {
        understand_signed(dialect, &sign(dialect), status, headers, body)
    }

    fn understand_signed(
        dialect: &CloudDialect,
        sent: &HeaderMap,
        status: u16,
        headers: &[(&'static str, &str)],
        body: &str,
    ) -> Meaning {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(HeaderName::from_static(name), HeaderValue::from_str(value).unwrap());
        }
        dialect.understand(&Answer {
            status,
            headers: &map,
            body: Some(body.as_bytes()),
            raw: false,
            sent,
            sent_at: now(),
            now: now(),
        })
    }

    fn now() -> Timestamp {
        "2026-11-21T00:00:00Z".parse().unwrap()
    }

    fn sign(dialect: &CloudDialect) -> HeaderMap {
        let mut request = Request::post(dialect.endpoint.url.clone(), "x", "text/plain", Vec::new());
        dialect.authorize(&mut request, now()).unwrap();
        request.headers
    }

    #[test]
    fn a_good_answer_is_anything_but_a_page() {
        let dialect = dialect();
        for body in ["<x/>", "{}", "", "7"] {
            let meaning = understand(&dialect, 200, &[("x-amzn-requestid", "r-1")], body);
            assert_eq!(
                (meaning.class, meaning.request_id.as_deref()),
                (Class::Success, Some("r-1")),
                "{body:?}"
            );
        }
        let page = understand(&dialect, 200, &[], "<!doctype html><title>Sign in</title>");
        assert_eq!(page.class, Class::Page);
    }

    #[test]
    fn a_refusal_is_told_with_code_words_and_number() {
        let body = "<ErrorResponse><Error><Code>AccessDenied</Code><Message>no</Message></Error>\
                    <RequestId>body</RequestId></ErrorResponse>";
        let meaning = understand(&dialect(), 403, &[], body);
        assert_eq!(meaning.class, Class::Forbidden(RefusalCause::Permission));
        assert_eq!(meaning.code.as_deref(), Some("AccessDenied"));
        assert_eq!(meaning.message.as_deref(), Some("no"));
        assert_eq!(meaning.request_id.as_deref(), Some("body"));
        let throttled =
            understand(&dialect(), 400, &[("retry-after", "3")], r#"{"__type":"ThrottlingException"}"#);
        assert_eq!(throttled.class, Class::Throttled { retry_after: Some(3) });
    }

    /// The offset is set once, from a refusal that a wrong clock can cause and a `Date` that shows one.
    #[test]
    fn a_wrong_clock_is_corrected_once() {
        let refused = |code: &str| format!(r#"{{"__type":"{code}"}}"#);
        let date = |text: &'static str| [("date", text)];
        let again = Class::HostFault { retry_after: None };
        let midnight = "Sat, 21 Nov 2026 00:00:00 GMT";
        let later = "Sat, 21 Nov 2026 00:20:00 GMT";
        let table = [
            ("InvalidSignatureException", Some(later), again, 1_200),
            ("SignatureDoesNotMatch", Some("Fri, 20 Nov 2026 12:00:00 GMT"), again, -43_200),
            ("RequestExpired", Some(later), again, 1_200),
            ("SignatureDoesNotMatch", Some(midnight), Class::Unauthorized, 0),
            ("SignatureDoesNotMatch", Some("Sat, 21 Nov 2026 00:03:59 GMT"), Class::Unauthorized, 0),
            ("SignatureDoesNotMatch", Some("nonsense"), Class::Unauthorized, 0),
            ("SignatureDoesNotMatch", None, Class::Unauthorized, 0),
            ("ExpiredToken", Some(later), Class::Unauthorized, 0),
            ("InvalidClientTokenId", Some(later), Class::Unauthorized, 0),
        ];
        for (code, text, class, seconds) in table {
            let dialect = dialect();
            let headers = text.map(date);
            let headers = headers.as_ref().map_or(&[][..], |headers| &headers[..]);
            assert_eq!(understand(&dialect, 403, headers, &refused(code)).class, class, "{code} {text:?}");
            assert_eq!(dialect.skew.seconds(), seconds, "{code} {text:?}");
            // The second time, the credentials are at fault.
            if class == again {
                let second = understand(&dialect, 403, headers, &refused(code));
                assert_eq!((second.class, dialect.skew.seconds()), (Class::Unauthorized, seconds));
            }
        }
        let skew = Skew::default();
        skew.learn_from(Some(i64::MAX), Timestamp::MIN);
        assert!(skew.seconds() > 0);
        for offset in [0, skew.seconds(), i64::MIN, i64::MAX] {
            let _ = time(Timestamp::MAX, offset);
            let _ = time(Timestamp::MIN, offset);
        }
    }

    /// Several requests are signed before the first refusal: each is retried exactly once.
    #[test]
    fn every_request_that_was_signed_with_the_wrong_time_is_tried_again_once() {
        let dialect = dialect();
        let refused = r#"{"__type":"InvalidSignatureException"}"#;
        // The second and third arrive a second later, and the third has no `Date`.
        let dates = [Some("Sat, 21 Nov 2026 00:10:00 GMT"), Some("Sat, 21 Nov 2026 00:10:01 GMT"), None];
        let early = sign(&dialect);
        for date in dates {
            let headers: Vec<(&str, &str)> = date.iter().map(|date| ("date", *date)).collect();
            let first = understand_signed(&dialect, &early, 403, &headers, refused);
            assert_eq!(first.class, Class::HostFault { retry_after: None }, "{date:?}");
            assert_eq!(dialect.skew.seconds(), 600, "taken once");
            assert_eq!(understand(&dialect, 403, &headers, refused).class, Class::Unauthorized);
        }
        // A request signed with the right time from the start is not retried.
        assert_eq!(understand(&dialect, 403, &[], refused).class, Class::Unauthorized);
    }
}
