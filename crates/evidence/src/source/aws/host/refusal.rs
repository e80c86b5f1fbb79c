//! Interprets the provider's answers: read, refused, or failed.
//!
//! A refusal is not a failure: the setting is unknown, and the run continues. The provider's code decides, never its
//! message.

use super::action::Action;
use super::answer::{RefusalMeaning, meaning};
use super::endpoint::{Region, Service};
use crate::observation::{Failed, Seen};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Answered, Asked, CallError, Meta, Refused, recorded, single_line};
use evidence_rules::cloud::reason::{REGION_NOT_ENABLED, SERVICE_NOT_IN_REGION};
use evidence_rules::rule::{Reason, reason};

/// The result of one call: the answer, or why it could not be read.
pub(crate) type ReadResult<T> = Result<(T, Meta), Unread>;

/// Why something was not read.
#[derive(Debug, Clone)]
pub(crate) enum Unread {
    /// The provider refuses access.
    Denied { reason: &'static Reason, detail: String },
    /// The provider says that there is nothing to read.
    Nothing { reason: &'static Reason, detail: String },
    /// No usable answer.
    Failed(Failed),
}

impl Unread {
    /// The reason.
    pub(crate) fn reason(&self) -> &'static Reason {
        match self {
            Unread::Denied { reason, .. } | Unread::Nothing { reason, .. } => reason,
            Unread::Failed(failed) => failed.reason,
        }
    }

    /// The same as an observation.
    pub(crate) fn seen(&self) -> Seen {
        match self {
            Unread::Denied { reason, detail } => Seen::Denied { reason, detail: detail.clone() },
            Unread::Nothing { reason, detail } => Seen::Nothing { reason, detail: detail.clone() },
            Unread::Failed(failed) => Seen::Failed(failed.clone()),
        }
    }
}

/// A reading, and the requests for it.
pub(crate) type Recorded<T> = (ReadResult<T>, Vec<Asked>);

/// Runs a reading with `action` and returns the requests that it made. The renewal of credentials is not one of them.
pub(crate) async fn with_requests<T, R>(
    action: &Action<T>,
    reading: impl Future<Output = R>,
) -> (R, Vec<Asked>) {
    with_requests_of(&[action.permission()], reading).await
}

/// The same with several calls, by their permissions.
pub(crate) async fn with_requests_of<R>(
    permissions: &[&str],
    reading: impl Future<Output = R>,
) -> (R, Vec<Asked>) {
    let (read, mut requests) = recorded(reading).await;
    requests.retain(|asked| asked.path.split(' ').next().is_some_and(|name| permissions.contains(&name)));
    (read, requests)
}

/// The failure, as text. Refusals are warnings of the connection test instead.
pub(crate) fn failure<T>(read: &ReadResult<T>) -> Option<String> {
    match read {
        Err(Unread::Failed(failed)) => Some(failed.message.clone()),
        Ok(_) | Err(Unread::Denied { .. } | Unread::Nothing { .. }) => None,
    }
}

/// The name of a call in messages.
pub(crate) fn call_name<T>(action: &Action<T>, region: Option<&Region>) -> String {
    match region {
        Some(region) => format!("{} in {region}", action.permission()),
        None => action.permission().to_string(),
    }
}

/// Interprets the answer to `action`. `region` is set for calls that each region answers for itself.
pub(crate) fn of<T>(
    action: &Action<T>,
    region: Option<&Region>,
    answer: Result<Answered<T>, CallError>,
) -> ReadResult<T> {
    let what = call_name(action, region);
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

fn refusal<T>(action: &Action<T>, what: &str, refused: &Refused) -> Unread {
    let words = words(refused);
    match meaning(refused) {
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
        RefusalMeaning::NoService if action.service == Service::GuardDuty => Unread::Nothing {
            reason: &SERVICE_NOT_IN_REGION,
            detail: format!("{what}: {words} (the region does not offer the service)"),
        },
        RefusalMeaning::NoBucket if action.service.is_storage() => Unread::Failed(Failed {
            status: Some(refused.meta.status),
            request_id: refused.meta.request_id.clone(),
            ..not_found(format!("{what}: {words}"))
        }),
        RefusalMeaning::NoTrail
        | RefusalMeaning::NoBucket
        | RefusalMeaning::NoSetting
        | RefusalMeaning::Elsewhere
        | RefusalMeaning::NoService
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
pub(crate) fn words(refused: &Refused) -> String {
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

/// Can only happen for the home region of a trail: the configuration checks its own regions.
pub(crate) fn no_address<T>(action: &Action<T>, region: &Region) -> Unread {
    let text = format!("{}: the address of {region} is not known", action.permission());
    Unread::Failed(host_error(text))
}

/// The provider did not give a usable answer.
pub(crate) fn host_error(message: String) -> Failed {
    failed(&reason::HOST_ERROR, message)
}

/// A configured resource does not exist.
pub(crate) fn not_found(message: String) -> Failed {
    failed(&reason::NOT_FOUND, message)
}

fn failed(reason: &'static Reason, message: String) -> Failed {
    Failed { reason, message: single_line(&message), status: None, request_id: None }
}

/// Why a call was not made, with the permission it requires.
pub(crate) fn not_asked(permission: &str, text: &str) -> String {
    format!("{permission}: {text}")
}
