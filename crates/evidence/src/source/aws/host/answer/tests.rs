//! Every refusal: both formats, every code, every status.

use super::*;

fn fault(code: Option<&str>, message: Option<&str>) -> ErrorDocument {
    ErrorDocument { code: code.map(str::to_string), message: message.map(str::to_string), request_id: None }
}

#[test]
fn both_forms_are_read_whatever_the_service() {
    let query = r#"<ErrorResponse xmlns="https://iam.amazonaws.com/doc/2010-05-08/"><Error><Type>Sender</Type>
        <Code>NoSuchEntity</Code><Message>The Password Policy with domain name 1 cannot be found.</Message></Error>
        <RequestId>7a62c49f</RequestId></ErrorResponse>"#;
    let bare = "<Error><Code>AccessDenied</Code><Message>no</Message><RequestId>r</RequestId></Error>";
    let nested = "<Response><Errors><Error><Code>AuthFailure</Code><Message>m</Message></Error></Errors>\
                  <RequestID>id</RequestID></Response>";
    /// Header, body, code, message, request id.
    type Row<'a> = (Option<&'a str>, &'a str, Option<&'a str>, Option<&'a str>, Option<&'a str>);
    let table: &[Row<'_>] = &[
        (
            None,
            query,
            Some("NoSuchEntity"),
            Some("The Password Policy with domain name 1 cannot be found."),
            Some("7a62c49f"),
        ),
        (None, bare, Some("AccessDenied"), Some("no"), Some("r")),
        (None, nested, Some("AuthFailure"), Some("m"), Some("id")),
        (
            None,
            r#"{"__type":"ThrottlingException","message":"Rate exceeded"}"#,
            Some("ThrottlingException"),
            Some("Rate exceeded"),
            None,
        ),
        (
            None,
            r#"{"__type":"com.amazon.coral.service#AccessDeniedException","Message":"m"}"#,
            Some("AccessDeniedException"),
            Some("m"),
            None,
        ),
        (None, r#" {"code":"X","message":null}"#, Some("X"), None, None),
        (None, r#"{"__type":7,"message":"m"}"#, None, Some("m"), None),
        (None, r#"{"message":7,"Message":"b"}"#, None, Some("b"), None),
        (
            Some("ExpiredTokenException:http://internal.amazon.com/x/"),
            "{}",
            Some("ExpiredTokenException"),
            None,
            None,
        ),
        (Some("Header"), r#"{"__type":"Body"}"#, Some("Body"), None, None),
        (Some("Header"), "", Some("Header"), None, None),
        (Some("a b"), "", None, None, None),
        (None, "<html><Error><Code>AccessDenied</Code></Error></html>", None, None, None),
        (None, "<Error><Code>AccessDenied</Code>", None, None, None),
        (None, "{\"__type\":", None, None, None),
        (None, "Forbidden", None, None, None),
        (None, "", None, None, None),
        (None, r#"{"__type":"line\nbreak"}"#, None, None, None),
        (
            None,
            r#"{"message":"first\nThe Canonical String ... x-amz-security-token:..."}"#,
            None,
            Some("first"),
            None,
        ),
        (None, r#"{"message":"\u001b[31mred"}"#, None, Some("\\u{1b}[31mred"), None),
    ];
    for (header, body, code, message, request_id) in table {
        let read = read(*header, body.as_bytes());
        assert_eq!(read.code.as_deref(), *code, "{body}");
        assert_eq!(read.message.as_deref(), *message, "{body}");
        assert_eq!(read.request_id.as_deref(), *request_id, "{body}");
    }
}

#[test]
fn the_form_is_taken_from_the_body() {
    let table = [
        ("{", BodyForm::Json),
        (" \n{}", BodyForm::Json),
        ("<ErrorResponse>", BodyForm::Xml),
        ("<?xml version='1.0'?><a/>", BodyForm::Xml),
        ("<!DOCTYPE html><html>", BodyForm::Page),
        ("<HTML>", BodyForm::Page),
        ("", BodyForm::Empty),
        (" \r\n", BodyForm::Empty),
        ("[1]", BodyForm::Other),
        ("null", BodyForm::Other),
    ];
    for (body, expected) in table {
        assert_eq!(form(body.as_bytes()), expected, "{body:?}");
    }
}

#[test]
fn every_code_means_one_thing_with_every_status() {
    let table: &[(&str, Class)] = &[
        ("Throttling", Class::Throttled { retry_after: None }),
        ("ThrottlingException", Class::Throttled { retry_after: None }),
        ("ThrottledException", Class::Throttled { retry_after: None }),
        ("RequestThrottled", Class::Throttled { retry_after: None }),
        ("RequestThrottledException", Class::Throttled { retry_after: None }),
        ("TooManyRequestsException", Class::Throttled { retry_after: None }),
        ("RequestLimitExceeded", Class::Throttled { retry_after: None }),
        ("SlowDown", Class::Throttled { retry_after: None }),
        ("PriorRequestNotComplete", Class::Throttled { retry_after: None }),
        ("ExpiredToken", Class::Unauthorized),
        ("ExpiredTokenException", Class::Unauthorized),
        ("InvalidClientTokenId", Class::Unauthorized),
        ("UnrecognizedClientException", Class::Unauthorized),
        ("SignatureDoesNotMatch", Class::Unauthorized),
        ("InvalidSignatureException", Class::Unauthorized),
        ("IncompleteSignature", Class::Unauthorized),
        ("MissingAuthenticationToken", Class::Unauthorized),
        ("MissingAuthenticationTokenException", Class::Unauthorized),
        ("AuthFailure", Class::Unauthorized),
        ("RequestExpired", Class::Unauthorized),
        ("AccessDenied", Class::Forbidden(RefusalCause::Permission)),
        ("AccessDeniedException", Class::Forbidden(RefusalCause::Permission)),
        ("UnauthorizedOperation", Class::Forbidden(RefusalCause::Permission)),
        ("OptInRequired", Class::Forbidden(RefusalCause::Permission)),
        ("NoSuchEntity", Class::NotFound),
        ("NoSuchEntityException", Class::NotFound),
        ("TrailNotFoundException", Class::NotFound),
        ("ResourceNotFoundException", Class::NotFound),
        ("InternalFailure", Class::HostFault { retry_after: None }),
        ("ServiceUnavailable", Class::HostFault { retry_after: None }),
        ("ServiceUnavailableException", Class::HostFault { retry_after: None }),
    ];
    for (code, class) in table {
        for status in [400, 401, 403, 404, 429, 500, 503] {
            for form in [BodyForm::Json, BodyForm::Xml, BodyForm::Empty] {
                assert_eq!(classify(status, &fault(Some(code), None), form, None), *class, "{status} {code}");
            }
        }
    }
}

#[test]
fn a_status_alone_is_believed_only_where_no_code_says_more() {
    let unknown = fault(Some("SomethingNew"), Some("m"));
    let none = fault(None, None);
    let rate = fault(None, Some("Rate exceeded"));
    let fault_class = Class::HostFault { retry_after: Some(3) };
    // (status, with an unknown code, without a code, a page)
    let table: &[(u16, Class, Class, Class)] = &[
        (301, Class::Redirect, Class::Redirect, Class::Redirect),
        (400, Class::Unexpected, Class::Unexpected, fault_class),
        (401, Class::Unauthorized, Class::Unauthorized, fault_class),
        (
            403,
            Class::Forbidden(RefusalCause::Permission),
            Class::Forbidden(RefusalCause::Intermediary),
            Class::Forbidden(RefusalCause::Intermediary),
        ),
        (404, Class::Unexpected, Class::Unexpected, fault_class),
        (408, fault_class, fault_class, fault_class),
        (413, Class::Unexpected, Class::Unexpected, fault_class),
        (
            429,
            Class::Throttled { retry_after: Some(3) },
            Class::Throttled { retry_after: Some(3) },
            Class::Throttled { retry_after: Some(3) },
        ),
        (500, fault_class, fault_class, fault_class),
        (503, fault_class, fault_class, fault_class),
        (599, fault_class, fault_class, fault_class),
    ];
    for (status, with_code, without, page) in table {
        assert_eq!(classify(*status, &unknown, BodyForm::Json, Some(3)), *with_code, "{status}");
        assert_eq!(classify(*status, &none, BodyForm::Empty, Some(3)), *without, "{status}");
        assert_eq!(classify(*status, &none, BodyForm::Page, Some(3)), *page, "{status}");
        assert_eq!(classify(*status, &rate, BodyForm::Json, None), Class::Throttled { retry_after: None });
    }
    // Every status has a class, and none is a success here.
    for status in 0..=999 {
        let class = classify(status, &none, BodyForm::Other, None);
        assert!(!matches!(class, Class::Success | Class::NotFound), "{status}");
    }
}

#[test]
fn codes_that_a_wrong_clock_or_a_closed_region_can_cause() {
    for code in
        ["SignatureDoesNotMatch", "InvalidSignatureException", "RequestTimeTooSkewed", "RequestExpired"]
    {
        assert!(may_be_skew(code) && !is_unknown_key(code), "{code}");
    }
    for code in ["InvalidClientTokenId", "UnrecognizedClientException"] {
        assert!(is_unknown_key(code) && !may_be_skew(code), "{code}");
    }
    for code in ["ExpiredToken", "AccessDenied", "IncompleteSignature"] {
        assert!(!is_unknown_key(code) && !may_be_skew(code), "{code}");
    }
}
