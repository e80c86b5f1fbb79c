//! What the provider's answers mean: read, not there, not shown, or failed.
//!
//! A refusal is not a failure: what may not be seen is not known, and the rest goes on. The provider's code decides,
//! never a part of its message.

use super::api::{Call, GET_ACCOUNT_PASSWORD_POLICY, GET_TRAIL_STATUS};
use super::endpoint::Region;
use super::fault::is_unknown_key;
use super::rules::reason::REGION_NOT_ENABLED;
use crate::evaluate::{Reason, reason};
use crate::http::retry::{Class, Refusal};
use crate::http::{Answered, Failure, Meta, Refused, Reply};
use crate::observation::{Failed, Seen};

/// What one call brought.
#[derive(Debug, Clone)]
pub(super) enum Look<T> {
    /// The setting.
    Read(T, Meta),
    /// The provider says that there is none, in its own words.
    Nothing(String),
    /// The provider does not show it.
    Denied { reason: &'static Reason, detail: String },
    /// No usable answer.
    Failed(Failed),
}

impl<T> Look<T> {
    /// What the answer to `call` means; `region` if the call is one that each region answers for itself.
    pub(super) fn of(call: &Call, region: Option<&Region>, answer: Result<Reply<T>, Failure>) -> Look<T> {
        let what = match region {
            Some(region) => format!("{} in {region}", call.permission()),
            None => call.permission(),
        };
        match answer {
            Ok(Reply::Good(Answered { value, meta })) => Look::Read(value, meta),
            Ok(Reply::Refused(refused)) => refusal(call, &what, &refused),
            Err(failure) => Look::Failed(Failed {
                reason: &reason::HOST_ERROR,
                message: format!("{what}: {failure}"),
                status: failure.status,
                request_id: failure.request_id,
            }),
        }
    }

    /// Why it was not read; `None` if it was, or if there is nothing.
    pub(super) fn unread(&self) -> Option<&'static Reason> {
        match self {
            Look::Read(..) | Look::Nothing(_) => None,
            Look::Denied { reason, .. } => Some(reason),
            Look::Failed(failed) => Some(failed.reason),
        }
    }

    /// The same for a value of another kind, which there is none of.
    pub(super) fn without_value<U>(&self) -> Look<U> {
        match self {
            Look::Read(..) => Look::Nothing(String::new()),
            Look::Nothing(words) => Look::Nothing(words.clone()),
            Look::Denied { reason, detail } => Look::Denied { reason, detail: detail.clone() },
            Look::Failed(failed) => Look::Failed(failed.clone()),
        }
    }

    /// As an observation of something that was not read; `None` if it was.
    pub(super) fn unseen(&self) -> Option<Seen> {
        match self {
            Look::Read(..) | Look::Nothing(_) => None,
            Look::Denied { reason, detail } => Some(Seen::Denied { reason, detail: detail.clone() }),
            Look::Failed(failed) => Some(Seen::Failed(failed.clone())),
        }
    }
}

fn refusal<T>(call: &Call, what: &str, refused: &Refused) -> Look<T> {
    let words = words(refused);
    match refused.class {
        Class::NotFound if *call == GET_TRAIL_STATUS => {
            // The list showed the trail a moment ago. It is gone, or it is another account's.
            Look::Denied { reason: &reason::NOT_FOUND, detail: format!("{what}: {words}") }
        }
        Class::NotFound if *call == GET_ACCOUNT_PASSWORD_POLICY => Look::Nothing(words),
        Class::Forbidden(Refusal::Permission) => {
            Look::Denied { reason: &reason::PERMISSION_DENIED, detail: format!("{what} is denied: {words}") }
        }
        // The account's home knows the key, or the run would have ended there.
        Class::Unauthorized if call.is_regional() && refused.code.as_deref().is_some_and(is_unknown_key) => {
            let detail =
                format!("{what} is refused: {words} (the region may not be enabled for the account)");
            Look::Denied { reason: &REGION_NOT_ENABLED, detail }
        }
        _ => Look::Failed(Failed {
            reason: &reason::HOST_ERROR,
            message: format!("{what}: {words} (HTTP {})", refused.meta.status),
            status: Some(refused.meta.status),
            request_id: refused.meta.request_id.clone(),
        }),
    }
}

/// What the provider says: its words, or its code, or what little the status tells.
pub(super) fn words(refused: &Refused) -> String {
    match (&refused.message, &refused.code) {
        (Some(message), _) if !message.is_empty() => message.clone(),
        (_, Some(code)) => code.clone(),
        _ => match refused.class {
            Class::Forbidden(Refusal::Intermediary) => "a refusal that is not the provider's own".to_string(),
            _ => "no message".to_string(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::super::api::DESCRIBE_TRAILS;
    use super::*;
    use crate::http::FailureKind;

    fn refused(class: Class, code: &str) -> Result<Reply<()>, Failure> {
        let meta = Meta { status: 403, request_id: Some("r".to_string()), ..Meta::default() };
        let message = Some("the host's words".to_string());
        Ok(Reply::Refused(Refused { class, code: Some(code.to_string()), message, meta }))
    }

    fn told(look: &Look<()>) -> (&'static str, &'static str) {
        match look {
            Look::Read(..) => ("read", ""),
            Look::Nothing(_) => ("nothing", ""),
            Look::Denied { reason, .. } => ("denied", reason.code),
            Look::Failed(failed) => ("failed", failed.reason.code),
        }
    }

    /// Every class of answer for every kind of call.
    #[test]
    fn what_each_refusal_means() {
        let region = Region::new("eu-central-1").unwrap();
        let permission = Class::Forbidden(Refusal::Permission);
        // (class, code, for the policy, for a list of a region, for a trail's status)
        let failed = ("failed", "host_error");
        let denied = ("denied", "permission_denied");
        let table = [
            (Class::NotFound, "NoSuchEntity", ("nothing", ""), failed, ("denied", "not_found")),
            (permission, "AccessDenied", denied, denied, denied),
            (Class::Forbidden(Refusal::Intermediary), "", failed, failed, failed),
            (
                Class::Unauthorized,
                "UnrecognizedClientException",
                failed,
                ("denied", "region_not_enabled"),
                ("denied", "region_not_enabled"),
            ),
            (Class::Unauthorized, "ExpiredToken", failed, failed, failed),
            (Class::Unauthorized, "SignatureDoesNotMatch", failed, failed, failed),
            (Class::Unexpected, "ValidationException", failed, failed, failed),
            (Class::Gone, "Gone", failed, failed, failed),
        ];
        for (class, code, policy, list, status) in table {
            let look = Look::of(&GET_ACCOUNT_PASSWORD_POLICY, None, refused(class, code));
            assert_eq!(told(&look), policy, "{class:?} {code}");
            let look = Look::of(&DESCRIBE_TRAILS, Some(&region), refused(class, code));
            assert_eq!(told(&look), list, "{class:?} {code}");
            let look = Look::of(&GET_TRAIL_STATUS, Some(&region), refused(class, code));
            assert_eq!(told(&look), status, "{class:?} {code}");
            assert_eq!(look.unread().is_some(), look.unseen().is_some());
        }
        let failure = Failure::local(FailureKind::Transport("cannot connect".to_string()));
        let Look::Failed(failed) = Look::<()>::of(&DESCRIBE_TRAILS, Some(&region), Err(failure)) else {
            panic!()
        };
        assert_eq!(failed.message, "cloudtrail:DescribeTrails in eu-central-1: cannot connect");
        let Look::Denied { detail, .. } =
            Look::of(&GET_ACCOUNT_PASSWORD_POLICY, None, refused(permission, "x"))
        else {
            panic!()
        };
        assert_eq!(detail, "iam:GetAccountPasswordPolicy is denied: the host's words");
    }
}
