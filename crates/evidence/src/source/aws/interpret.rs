//! Interprets the provider's answers: read, refused, or failed.
//!
//! A refusal is not a failure: the setting is unknown, and the run continues. The provider's code decides, never its
//! message.

use super::answer::{RefusalMeaning, said};
use super::calls::{Action, GET_ACCOUNT_PASSWORD_POLICY, GET_EVENT_SELECTORS, GET_TRAIL_STATUS};
use super::endpoint::Region;
use crate::observation::{Failed, Seen};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Answered, CallError, Meta, Refused};
use evidence_rules::cloud::reason::REGION_NOT_ENABLED;
use evidence_rules::cloud::record::PasswordPolicy;
use evidence_rules::rule::{Reason, reason};

/// The result of one call: the answer, or why it could not be read.
pub(super) type ReadResult<T> = Result<(T, Meta), Unread>;

/// Why something was not read.
#[derive(Debug, Clone)]
pub(super) enum Unread {
    /// The provider refuses access.
    Denied { reason: &'static Reason, detail: String },
    /// No usable answer.
    Failed(Failed),
}

impl Unread {
    /// The reason.
    pub(super) fn reason(&self) -> &'static Reason {
        match self {
            Unread::Denied { reason, .. } => reason,
            Unread::Failed(failed) => failed.reason,
        }
    }

    /// The same as an observation.
    pub(super) fn seen(&self) -> Seen {
        match self {
            Unread::Denied { reason, detail } => Seen::Denied { reason, detail: detail.clone() },
            Unread::Failed(failed) => Seen::Failed(failed.clone()),
        }
    }
}

/// The account's password policy.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Policy {
    /// The policy.
    Set(PasswordPolicy),
    /// The provider reports that there is no policy, with its message.
    Missing(String),
}

/// Interprets the answer to `action`. `region` is set for calls that each region answers for itself.
pub(super) fn of<T>(
    action: &Action<T>,
    region: Option<&Region>,
    answer: Result<Answered<T>, CallError>,
) -> ReadResult<T> {
    let what = match region {
        Some(region) => format!("{} in {region}", action.permission()),
        None => action.permission().to_string(),
    };
    match answer {
        Ok(Answered { value, meta }) => Ok((value, meta)),
        Err(CallError::Refused(refused)) => Err(refusal(action, &what, &refused)),
        Err(CallError::Failed(failure)) => Err(Unread::Failed(Failed {
            reason: &reason::HOST_ERROR,
            message: format!("{what}: {failure}"),
            status: failure.status,
            request_id: failure.request_id,
        })),
    }
}

/// Interprets the answer about the password policy. A missing policy is a finding, so only the provider's specific code
/// counts: neither a plain 404, nor a code for another missing resource.
pub(super) fn of_policy(answer: Result<Answered<PasswordPolicy>, CallError>) -> ReadResult<Policy> {
    match answer {
        Err(CallError::Refused(refused)) if said(&refused) == RefusalMeaning::NoEntity => {
            Ok((Policy::Missing(words(&refused)), refused.meta))
        }
        answer => {
            of(&GET_ACCOUNT_PASSWORD_POLICY, None, answer).map(|(policy, meta)| (Policy::Set(policy), meta))
        }
    }
}

fn refusal<T>(action: &Action<T>, what: &str, refused: &Refused) -> Unread {
    let words = words(refused);
    match said(refused) {
        // The listing just showed the trail, so it was deleted or belongs to another account.
        RefusalMeaning::NoTrail if action.is(&GET_TRAIL_STATUS) || action.is(&GET_EVENT_SELECTORS) => {
            Unread::Denied { reason: &reason::NOT_FOUND, detail: format!("{what}: {words}") }
        }
        RefusalMeaning::Denied => Unread::Denied {
            reason: &reason::PERMISSION_DENIED,
            detail: format!("{what} is denied: {words}"),
        },
        // The account's home region knows the key, or the run would have ended there.
        RefusalMeaning::UnknownKey if action.is_regional() => {
            let detail =
                format!("{what} is refused: {words} (the region may not be enabled for the account)");
            Unread::Denied { reason: &REGION_NOT_ENABLED, detail }
        }
        RefusalMeaning::NoTrail
        | RefusalMeaning::UnknownKey
        | RefusalMeaning::NoEntity
        | RefusalMeaning::Nothing => Unread::Failed(Failed {
            reason: &reason::HOST_ERROR,
            message: format!("{what}: {words} (HTTP {})", refused.meta.status),
            status: Some(refused.meta.status),
            request_id: refused.meta.request_id.clone(),
        }),
    }
}

/// The provider's message, else its code, else the status.
pub(super) fn words(refused: &Refused) -> String {
    match (&refused.message, &refused.code) {
        (Some(message), _) if !message.is_empty() => message.clone(),
        (_, Some(code)) => code.clone(),
        _ => match refused.class {
            Class::Forbidden(RefusalCause::Intermediary) => {
                "a refusal that does not come from the provider".to_string()
            }
            _ => "no message".to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer;
    use super::super::calls::DESCRIBE_TRAILS;
    use super::*;
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
            let read = of(&GET_TRAIL_STATUS, Some(&region), Err(refused(class, code)));
            assert_eq!(outcome_of(&read), status, "{class:?} {code:?}");
        }
        let failure = RequestFailure::local(FailureKind::Transport("cannot connect".to_string()));
        let Err(Unread::Failed(failed)) =
            of(&DESCRIBE_TRAILS, Some(&region), Err(CallError::Failed(failure)))
        else {
            panic!()
        };
        assert_eq!(failed.message, "cloudtrail:DescribeTrails in eu-central-1: cannot connect");
        let Err(Unread::Denied { detail, .. }) = of_policy(Err(refused(permission, Some("x")))) else {
            panic!()
        };
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
            let trail = of(&GET_TRAIL_STATUS, None, Err(CallError::Refused(answer())));
            assert_eq!(outcome_of(&trail) == ("denied", "not_found"), no_trail, "{header:?} {body}");
            assert!(no_policy || outcome_of(&policy) == ("failed", "host_error"), "{header:?} {body}");
            assert!(no_trail || outcome_of(&trail) == ("failed", "host_error"), "{header:?} {body}");
        }
    }
}
