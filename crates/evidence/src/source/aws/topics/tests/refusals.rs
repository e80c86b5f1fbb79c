//! What each refusal means.

use super::super::audit_trails::home::of_trail;
use super::super::audit_trails::listing::DESCRIBE_TRAILS;
use super::super::audit_trails::status::GET_TRAIL_STATUS;
use super::super::password_policy::{Policy, of_policy};
use crate::source::aws::host::answer;
use crate::source::aws::host::endpoint::Region;
use crate::source::aws::host::refusal::{ReadResult, Unread, of};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{CallError, Meta, Refused};
use evidence_http::{FailureKind, RequestFailure};

fn refused(class: Class, code: Option<&str>) -> CallError {
    let meta = Meta { status: 403, request_id: Some("r".to_string()), ..Meta::default() };
    let message = Some("the host's words".to_string());
    CallError::Refused(Refused { class, code: code.map(str::to_string), message, permission: None, meta })
}

fn outcome_of<T>(read: &ReadResult<T>) -> (&'static str, &'static str) {
    match read {
        Ok(_) => ("read", ""),
        Err(Unread::Denied { reason, .. }) => ("denied", reason.code),
        Err(Unread::Nothing { reason, .. }) => ("nothing", reason.code),
        Err(Unread::Failed(failed)) => ("failed", failed.reason.code),
    }
}

fn policy_outcome(read: &ReadResult<Policy>) -> (&'static str, &'static str) {
    match read {
        Ok((Policy::Missing(words), _)) => {
            assert_eq!(words, "the host's words");
            ("nothing", "")
        }
        read => outcome_of(read),
    }
}

/// Every class of answer for every kind of call.
#[test]
fn what_each_refusal_means() {
    let region = Region::new("eu-central-1").unwrap();
    let permission = Class::Forbidden(RefusalCause::Permission);
    // (class, code, for the policy, for a list of a region, for a trail's status)
    let failed = ("failed", "host_error");
    let denied = ("denied", "permission_denied");
    let nothing = ("nothing", "");
    let gone = ("denied", "not_found");
    let table = [
        (Class::NotFound, Some("NoSuchEntity"), nothing, failed, failed),
        (Class::NotFound, Some("NoSuchEntityException"), nothing, failed, failed),
        (Class::NotFound, Some("TrailNotFound"), failed, failed, gone),
        (Class::NotFound, Some("TrailNotFoundException"), failed, failed, gone),
        (Class::NotFound, Some("ResourceNotFoundException"), failed, failed, failed),
        (Class::NotFound, Some("NoSuchEntityAtThisProxy"), failed, failed, failed),
        (Class::NotFound, None, failed, failed, failed),
        (Class::Unexpected, Some("NoSuchEntity"), failed, failed, failed),
        (Class::Unexpected, Some("TrailNotFoundException"), failed, failed, failed),
        (permission, Some("AccessDenied"), denied, denied, denied),
        (Class::Forbidden(RefusalCause::Intermediary), Some(""), failed, failed, failed),
        (
            Class::Unauthorized,
            Some("UnrecognizedClientException"),
            failed,
            ("denied", "region_not_enabled"),
            ("denied", "region_not_enabled"),
        ),
        (Class::Unauthorized, Some("ExpiredToken"), failed, failed, failed),
        (Class::Unauthorized, Some("SignatureDoesNotMatch"), failed, failed, failed),
        (Class::Unexpected, Some("ValidationException"), failed, failed, failed),
        (Class::Gone, Some("Gone"), failed, failed, failed),
    ];
    for (class, code, policy, list, status) in table {
        let read = of_policy(Err(refused(class, code)));
        assert_eq!(policy_outcome(&read), policy, "{class:?} {code:?}");
        let read = of(&DESCRIBE_TRAILS, Some(&region), Err(refused(class, code)));
        assert_eq!(outcome_of(&read), list, "{class:?} {code:?}");
        let read = of_trail(&GET_TRAIL_STATUS, Some(&region), Err(refused(class, code)));
        assert_eq!(outcome_of(&read), status, "{class:?} {code:?}");
    }
    let failure = RequestFailure::local(FailureKind::Transport("cannot connect".to_string()));
    let Err(Unread::Failed(failed)) = of(&DESCRIBE_TRAILS, Some(&region), Err(CallError::Failed(failure)))
    else {
        panic!()
    };
    assert_eq!(failed.message, "cloudtrail:DescribeTrails in eu-central-1: cannot connect");
    let Err(Unread::Denied { detail, .. }) = of_policy(Err(refused(permission, Some("x")))) else { panic!() };
    assert_eq!(detail, "iam:GetAccountPasswordPolicy is denied: the host's words");
}

/// From the raw answer to its meaning: the policy is missing only if the provider's own code says so.
#[test]
fn no_policy_and_no_trail_are_said_by_their_own_codes_alone() {
    let xml = |code: &str| {
        format!("<ErrorResponse><Error><Code>{code}</Code><Message>m</Message></Error></ErrorResponse>")
    };
    let json = |code: &str| format!(r#"{{"__type":"{code}","message":"m"}}"#);
    // (status, header, body, there is no policy, there is no trail)
    let table = [
        (404, None, xml("NoSuchEntity"), true, false),
        (404, None, json("NoSuchEntityException"), true, false),
        (404, Some("NoSuchEntity"), String::new(), true, false),
        (400, None, json("TrailNotFoundException"), false, true),
        (400, None, json("com.amazonaws.cloudtrail#TrailNotFoundException"), false, true),
        (400, Some("TrailNotFoundException:"), "{}".to_string(), false, true),
        (404, None, xml("NoSuchEntityOfAnyKind"), false, false),
        (404, None, xml("ResourceNotFoundException"), false, false),
        (404, None, json("ResourceNotFoundException"), false, false),
        (404, Some("ResourceNotFoundException"), String::new(), false, false),
        (404, Some("UnknownOperationException"), String::new(), false, false),
        (404, Some("NotFound"), "{}".to_string(), false, false),
        (404, Some("NoSuchEntity"), xml("NoSuchKey"), false, false),
        (404, None, xml("NoSuchBucket"), false, false),
        (404, None, json("TrailNotFoundByTheProxy"), false, false),
        (404, None, String::new(), false, false),
        (404, None, "not found".to_string(), false, false),
        (404, None, "{\"message\":\"NoSuchEntity\"}".to_string(), false, false),
        (404, None, "<html>NoSuchEntity</html>".to_string(), false, false),
    ];
    for (status, header, body, no_policy, no_trail) in table {
        let fault = answer::read(header, body.as_bytes());
        let class = answer::classify(status, &fault, answer::form(body.as_bytes()), None);
        let answer = || Refused {
            class,
            code: fault.code.clone(),
            message: fault.message.clone(),
            permission: None,
            meta: Meta { status, ..Meta::default() },
        };
        let policy = of_policy(Err(CallError::Refused(answer())));
        assert_eq!(matches!(policy, Ok((Policy::Missing(_), _))), no_policy, "{header:?} {body}");
        let trail = of_trail(&GET_TRAIL_STATUS, None, Err(CallError::Refused(answer())));
        assert_eq!(outcome_of(&trail) == ("denied", "not_found"), no_trail, "{header:?} {body}");
        assert!(no_policy || outcome_of(&policy) == ("failed", "host_error"), "{header:?} {body}");
        assert!(no_trail || outcome_of(&trail) == ("failed", "host_error"), "{header:?} {body}");
    }
}
