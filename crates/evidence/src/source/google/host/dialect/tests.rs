use jiff::Timestamp;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use super::*;
use evidence_http::retry::{Class, RefusalCause};

const HTML: &[u8] = b"<!DOCTYPE html><html><title>Error 403 (Forbidden)!!1</title>";

fn understand(dialect: &dyn Dialect, status: u16, headers: &[(&str, &str)], body: &[u8]) -> Meaning {
    let mut map = HeaderMap::new();
    for (name, value) in headers {
        map.insert(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
    }
    let now = Timestamp::UNIX_EPOCH;
    dialect.understand(&Answer {
        status,
        headers: &map,
        body: Some(body),
        raw: false,
        sent: &HeaderMap::new(),
        sent_at: now,
        now,
    })
}

fn error(code: u16, reason: &str, message: &str) -> Vec<u8> {
    let errors = serde_json::json!([{"domain": "global", "reason": reason, "message": message}]);
    serde_json::json!({"error": {"code": code, "message": message, "errors": errors}})
        .to_string()
        .into_bytes()
}

#[test]
fn what_the_api_says() {
    use Class::{
        Forbidden, Gone, HostFault, NotFound, NotModified, Redirect, Success, Throttled, Unauthorized,
    };
    let fault = HostFault { retry_after: None };
    let throttled = Throttled { retry_after: None };
    let table: Vec<(u16, Vec<u8>, Class, Option<&str>)> = vec![
        (200, b"{}".to_vec(), Success, None),
        (200, HTML.to_vec(), Class::Page, None),
        (301, Vec::new(), Redirect, None),
        (304, Vec::new(), NotModified, None),
        (400, error(400, "invalid", "Invalid Input: domain"), Class::Unexpected, Some("invalid")),
        (401, error(401, "authError", "Invalid Credentials"), Unauthorized, Some("authError")),
        (401, HTML.to_vec(), Forbidden(RefusalCause::Intermediary), None),
        (
            401,
            error(401, "authError", "Access denied. You are not authorized to read activity records."),
            Forbidden(RefusalCause::Permission),
            Some("authError"),
        ),
        (
            403,
            error(403, "forbidden", "Not Authorized to access this resource/api"),
            Forbidden(RefusalCause::Permission),
            Some("forbidden"),
        ),
        (
            403,
            error(403, "insufficientPermissions", "Insufficient Permission"),
            Forbidden(RefusalCause::Permission),
            Some("insufficientPermissions"),
        ),
        // A message that mentions a limit does not make it a limit.
        (
            403,
            error(403, "forbidden", "quotaExceeded"),
            Forbidden(RefusalCause::Permission),
            Some("forbidden"),
        ),
        (403, error(403, "rateLimitExceeded", "Rate Limit Exceeded"), throttled, Some("rateLimitExceeded")),
        (403, error(403, "userRateLimitExceeded", ""), throttled, Some("userRateLimitExceeded")),
        (403, error(403, "quotaExceeded", "Quota exceeded"), throttled, Some("quotaExceeded")),
        (403, error(403, "dailyLimitExceeded", ""), throttled, Some("dailyLimitExceeded")),
        (
            403,
            br#"{"error": {"code": 403, "message": "m", "status": "RESOURCE_EXHAUSTED"}}"#.to_vec(),
            throttled,
            Some("RESOURCE_EXHAUSTED"),
        ),
        (
            403,
            error(403, "accessNotConfigured", "m"),
            Forbidden(RefusalCause::Permission),
            Some("accessNotConfigured"),
        ),
        (
            403,
            br#"{"error": {"code": 403, "message": "m", "status": "PERMISSION_DENIED", "errors": [{"reason":
                "forbidden"}], "details": [{"reason": "SERVICE_DISABLED"}]}}"#
                .to_vec(),
            Forbidden(RefusalCause::Permission),
            Some("accessNotConfigured"),
        ),
        (403, HTML.to_vec(), Forbidden(RefusalCause::Intermediary), None),
        (404, error(404, "notFound", "Domain not found."), NotFound, Some("notFound")),
        (404, HTML.to_vec(), Class::Page, None),
        (408, Vec::new(), fault, None),
        (410, error(410, "gone", ""), Gone, Some("gone")),
        (
            412,
            error(412, "conditionNotMet", "User creation is not complete."),
            Class::Unexpected,
            Some("conditionNotMet"),
        ),
        (429, error(429, "rateLimitExceeded", ""), throttled, Some("rateLimitExceeded")),
        (429, HTML.to_vec(), throttled, None),
        (500, error(500, "backendError", ""), fault, Some("backendError")),
        (502, HTML.to_vec(), fault, None),
        (503, b"".to_vec(), fault, None),
    ];
    for (status, body, class, code) in table {
        let text = String::from_utf8_lossy(&body).into_owned();
        let meaning = understand(&DirectoryApi, status, &[], &body);
        assert_eq!(meaning.class, class, "{status} {text}");
        assert_eq!(meaning.code.as_deref(), code, "{status} {text}");
        assert!(
            !meaning.message.unwrap_or_default().contains('<'),
            "a page of HTML is quoted: {status} {text}"
        );
    }
}

/// Status and body, then the class, code and message.
type Expected = (u16, &'static [u8], Class, Option<&'static str>, Option<&'static str>);

#[test]
fn what_the_exchange_says() {
    use Class::{Forbidden, HostFault, Redirect, Success, Throttled};
    let refused = Forbidden(RefusalCause::Permission);
    let fault = HostFault { retry_after: None };
    let table: Vec<Expected> = vec![
        (200, b"{}", Success, None, None),
        (200, HTML, Class::Page, None, None),
        (302, b"", Redirect, None, None),
        (
            400,
            br#"{"error": "invalid_grant", "error_description": "Invalid JWT Signature."}"#,
            refused,
            Some("invalid_grant"),
            Some("Invalid JWT Signature."),
        ),
        (
            401,
            br#"{"error": "unauthorized_client", "error_description": "Client is unauthorized"}"#,
            refused,
            Some("unauthorized_client"),
            Some("Client is unauthorized"),
        ),
        (403, br#"{"error": "access_denied"}"#, refused, Some("access_denied"), Some("access_denied")),
        (
            403,
            br#"{"error": "rateLimitExceeded"}"#,
            Throttled { retry_after: None },
            Some("rateLimitExceeded"),
            Some("rateLimitExceeded"),
        ),
        (400, br#"{"error": "internal_failure"}"#, fault, Some("internal_failure"), Some("internal_failure")),
        (400, br#"{"hello": 1}"#, Class::Unexpected, None, None),
        (403, HTML, Forbidden(RefusalCause::Intermediary), None, None),
        (404, HTML, Class::Page, None, None),
        (429, b"{}", Throttled { retry_after: None }, None, None),
        (500, br#"{"error": "internal_failure"}"#, fault, Some("internal_failure"), Some("internal_failure")),
        (503, HTML, fault, None, None),
    ];
    for (status, body, class, code, message) in table {
        let text = String::from_utf8_lossy(body);
        let meaning = understand(&TokenExchange, status, &[], body);
        assert_eq!(meaning.class, class, "{status} {text}");
        assert_eq!(meaning.code.as_deref(), code, "{status} {text}");
        assert_eq!(meaning.message.as_deref(), message, "{status} {text}");
    }
}

#[test]
fn every_status_means_something_and_only_a_good_one_is_good() {
    for status in 100..=599 {
        for body in [b"{}".as_slice(), HTML, b"", b"[1", b"{\"error\": 7}", b"{\"error\": {\"errors\": 7}}"] {
            for dialect in [&DirectoryApi as &dyn Dialect, &TokenExchange] {
                let meaning = understand(dialect, status, &[], body);
                assert_eq!(
                    meaning.class == Class::Success,
                    status == 200 && body != HTML,
                    "{status} {body:?}"
                );
            }
        }
    }
}

#[test]
fn waits_that_are_asked_for_are_read() {
    let date = ("date", "Sat, 21 Nov 2026 10:00:00 GMT");
    let later = ("retry-after", "Sat, 21 Nov 2026 10:00:30 GMT");
    for (headers, seconds) in
        [(vec![("retry-after", "7")], Some(7)), (vec![date, later], Some(30)), (vec![later], None)]
    {
        let meaning = understand(&DirectoryApi, 429, &headers, b"{}");
        assert_eq!(meaning.class, Class::Throttled { retry_after: seconds });
        let meaning = understand(&TokenExchange, 503, &headers, b"{}");
        assert_eq!(meaning.class, Class::HostFault { retry_after: seconds });
    }
}
