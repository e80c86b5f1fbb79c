//! What the provider's answers mean, in both forms in which refusals come: the only place that compares its codes.
//!
//! Two services answer XML, two JSON; what stands between may use the other form. So the form is taken from the body,
//! not from the service. The code decides what a refusal means; the message is for people. All of it is pure.

use super::xml;
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Refused, single_line};

/// The longest code there is has under 50 characters.
const MAXIMUM_CODE: usize = 100;

/// An error document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ErrorDocument {
    /// The provider's code, such as `AccessDenied`, without its name space.
    pub(super) code: Option<String>,
    /// The provider's words: one line, bounded.
    pub(super) message: Option<String>,
    /// By which the provider knows the request.
    pub(super) request_id: Option<String>,
}

/// What a body is, by its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BodyForm {
    /// Begins with `{`.
    Json,
    /// Begins with `<` and is not a page.
    Xml,
    /// A page for people: from a proxy or a wrong address, never from the provider's API.
    Page,
    /// Nothing but white space.
    Empty,
    /// Anything else.
    Other,
}

/// What the body is.
pub(super) fn form(body: &[u8]) -> BodyForm {
    let body = body.trim_ascii_start();
    let begins =
        |word: &str| body.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word.as_bytes()));
    match body.first() {
        None => BodyForm::Empty,
        Some(b'{') => BodyForm::Json,
        Some(b'<') if begins("<html") || begins("<!doctype html") || begins("<head") || begins("<body") => {
            BodyForm::Page
        }
        Some(b'<') => BodyForm::Xml,
        Some(_) => BodyForm::Other,
    }
}

/// Reads an error document; `header` is `x-amzn-errortype`, which counts if the body has no code.
pub(super) fn read(header: Option<&str>, body: &[u8]) -> ErrorDocument {
    let mut fault = match form(body) {
        BodyForm::Json => from_json(body),
        BodyForm::Xml => from_xml(body),
        BodyForm::Page | BodyForm::Empty | BodyForm::Other => ErrorDocument::default(),
    };
    if fault.code.is_none() {
        fault.code = header.and_then(code);
    }
    fault
}

fn from_json(body: &[u8]) -> ErrorDocument {
    // Member by member: one of another type than documented must not hide what the others say.
    let value = serde_json::from_slice::<serde_json::Value>(body).unwrap_or_default();
    let first = |names: &[&str]| names.iter().find_map(|name| value.get(name)?.as_str());
    ErrorDocument {
        code: first(&["__type", "code", "Code"]).and_then(code),
        message: first(&["message", "Message", "errorMessage"]).map(words),
        request_id: None,
    }
}

fn from_xml(body: &[u8]) -> ErrorDocument {
    let Ok(root) = xml::parse(body) else { return ErrorDocument::default() };
    let text = |element: Option<&xml::Element>| element.and_then(xml::Element::text).map(single_line);
    let error = root.find("Error");
    let part = |name: &str| text(error.and_then(|error| error.find(name)));
    ErrorDocument {
        code: part("Code").as_deref().and_then(code),
        message: error.and_then(|error| error.find("Message")?.text()).map(words),
        request_id: text(root.find("RequestId").or_else(|| root.find("RequestID"))),
    }
}

/// The first line of a message. A refused signature is followed by all that should have been signed, the session token
/// included.
fn words(message: &str) -> String {
    single_line(message.trim().lines().next().unwrap_or_default())
}

/// The code alone: services put a name space before it (`com.amazon.coral.service#`) or an address behind it.
fn code(text: &str) -> Option<String> {
    let text = text.rsplit_once('#').map_or(text, |(_, code)| code);
    let text = text.split_once(':').map_or(text, |(code, _)| code).trim();
    let good = (1..=MAXIMUM_CODE).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    good.then(|| text.to_string())
}

/// Codes, or with an asterisk beginnings of codes, and what they mean.
const CODES: &[(CodeKind, &[&str])] = &[
    (
        CodeKind::Throttled,
        &[
            "Throttling*",
            "Throttled*",
            "RequestThrottled*",
            "TooManyRequests*",
            "RequestLimitExceeded",
            "SlowDown",
            "PriorRequestNotComplete",
        ],
    ),
    (
        CodeKind::Unauthorized,
        &[
            "ExpiredToken*",
            "InvalidClientTokenId",
            "UnrecognizedClientException",
            "InvalidAccessKeyId",
            "InvalidToken",
            "SignatureDoesNotMatch",
            "InvalidSignature*",
            "IncompleteSignature*",
            "MissingAuthenticationToken*",
            "AuthFailure",
            "RequestExpired",
            "RequestTimeTooSkewed",
            "RequestInTheFuture",
        ],
    ),
    (
        CodeKind::Denied,
        &["AccessDenied*", "UnauthorizedOperation", "UnauthorizedAccess", "NotAuthorized*", "OptInRequired"],
    ),
    (
        CodeKind::NotFound,
        &[
            "NoSuchEntity",
            "NoSuchEntityException",
            "TrailNotFound",
            "TrailNotFoundException",
            "ResourceNotFound*",
        ],
    ),
    (
        CodeKind::Fault,
        &["InternalFailure", "InternalError", "InternalServer*", "ServiceUnavailable*", "RequestTimeout*"],
    ),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeKind {
    Throttled,
    Unauthorized,
    Denied,
    NotFound,
    Fault,
}

fn kind(code: &str) -> Option<CodeKind> {
    let matches = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(beginning) => code.starts_with(beginning),
        None => code == *pattern,
    };
    CODES.iter().find(|(_, codes)| codes.iter().any(matches)).map(|(kind, _)| *kind)
}

/// What an answer means that is not good. Total: every status has a class.
///
/// The code comes first: the provider sends the same code with different statuses (400 for a throttled call, 403 for
/// an expired token). A status alone is believed only where no code says more.
pub(super) fn classify(
    status: u16,
    fault: &ErrorDocument,
    form: BodyForm,
    retry_after: Option<u64>,
) -> Class {
    let throttled = fault.message.as_deref().is_some_and(|message| message.starts_with("Rate exceeded"));
    match fault.code.as_deref().and_then(kind) {
        Some(CodeKind::Throttled) => return Class::Throttled { retry_after },
        Some(CodeKind::Unauthorized) => return Class::Unauthorized,
        Some(CodeKind::Denied) => return Class::Forbidden(RefusalCause::Permission),
        Some(CodeKind::NotFound) => return Class::NotFound,
        Some(CodeKind::Fault) => return Class::HostFault { retry_after },
        None if throttled => return Class::Throttled { retry_after },
        None => {}
    }
    match status {
        301 | 302 | 303 | 307 | 308 => Class::Redirect,
        429 => Class::Throttled { retry_after },
        408 | 500..=599 => Class::HostFault { retry_after },
        // Without a code it is not the provider's own: its refusals always have one.
        403 if fault.code.is_none() => Class::Forbidden(RefusalCause::Intermediary),
        403 => Class::Forbidden(RefusalCause::Permission),
        _ if form == BodyForm::Page => Class::HostFault { retry_after },
        401 => Class::Unauthorized,
        // A 404 without a known code is a wrong address, not the absence of what was asked for.
        _ => Class::Unexpected,
    }
}

/// Whether a refusal with this code can come from a clock that is wrong: the provider refuses signatures that are
/// more than five minutes (in some services fifteen) from its own time, partly under the code of a wrong secret.
pub(super) fn may_be_skew(code: &str) -> bool {
    const CODES: &[&str] = &[
        "SignatureDoesNotMatch",
        "AuthFailure",
        "RequestExpired",
        "RequestTimeTooSkewed",
        "RequestInTheFuture",
    ];
    CODES.contains(&code) || code.starts_with("InvalidSignature")
}

/// What a refusal says about what was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RefusalMeaning {
    /// What IAM was asked for does not exist.
    NoEntity,
    /// There is no such trail.
    NoTrail,
    /// The credentials may not see it.
    Denied,
    /// The access key itself is not known there.
    UnknownKey,
    /// Nothing about what was asked for, or not the provider's own answer.
    Nothing,
}

/// What a refusal says, by the provider's code and never by a part of its message.
pub(super) fn said(refused: &Refused) -> RefusalMeaning {
    match (refused.class, refused.code.as_deref().unwrap_or_default()) {
        (Class::NotFound, "NoSuchEntity" | "NoSuchEntityException") => RefusalMeaning::NoEntity,
        (Class::NotFound, "TrailNotFound" | "TrailNotFoundException") => RefusalMeaning::NoTrail,
        (Class::Forbidden(RefusalCause::Permission), _) => RefusalMeaning::Denied,
        (Class::Unauthorized, code) if is_unknown_key(code) => RefusalMeaning::UnknownKey,
        _ => RefusalMeaning::Nothing,
    }
}

/// Whether a refusal with this code says that the access key itself is not known there.
pub(super) fn is_unknown_key(code: &str) -> bool {
    matches!(code, "InvalidClientTokenId" | "UnrecognizedClientException" | "InvalidAccessKeyId")
}

#[cfg(test)]
mod tests;
