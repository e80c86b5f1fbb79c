//! Classifies the provider's answers, in both error formats: the only place that compares its codes.
//!
//! Two services answer in XML, two in JSON, and an intermediary may use the other format. So the format is detected
//! from the body, not from the service. The code decides what a refusal means; the message is for people. Everything
//! here is pure.

use super::endpoint::Region;
use super::xml;
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Refused, single_line};

/// The longest known code has fewer than 50 characters.
const MAXIMUM_CODE: usize = 100;

/// An error document.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct ErrorDocument {
    /// The provider's code, such as `AccessDenied`, without its namespace.
    pub(crate) code: Option<String>,
    /// The provider's message: one line of limited length.
    pub(crate) message: Option<String>,
    /// The provider's id of the request.
    pub(crate) request_id: Option<String>,
}

/// The form of a body, by its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BodyForm {
    /// Begins with `{`.
    Json,
    /// Begins with `<` and is not an HTML page.
    Xml,
    /// An HTML page from a proxy or a wrong address, never from the provider's API.
    Page,
    /// Only white space.
    Empty,
    /// Anything else.
    Other,
}

/// Detects the form of the body.
pub(crate) fn form(body: &[u8]) -> BodyForm {
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

/// Reads an error document. `header` is `x-amzn-errortype`, used if the body has no code.
pub(crate) fn read(header: Option<&str>, body: &[u8]) -> ErrorDocument {
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
    // Read each member separately: one of an undocumented type must not hide the others.
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
    let code = part("Code").as_deref().and_then(code);
    let is_elsewhere = code.as_deref().and_then(kind) == Some(CodeKind::Elsewhere);
    let region = part("Region").filter(|_| is_elsewhere).map(|region| format!("{IN_REGION}{region}"));
    ErrorDocument {
        code,
        message: region.or_else(|| error.and_then(|error| error.find("Message")?.text()).map(words)),
        request_id: text(root.find("RequestId").or_else(|| root.find("RequestID"))),
    }
}

/// The first line of a message. After a refused signature, the message continues with everything that should have been
/// signed, including the session token.
fn words(message: &str) -> String {
    single_line(message.trim().lines().next().unwrap_or_default())
}

/// The bare code: services add a namespace before it (`com.amazon.coral.service#`) or a URL after it.
fn code(text: &str) -> Option<String> {
    let text = text.rsplit_once('#').map_or(text, |(_, code)| code);
    let text = text.split_once(':').map_or(text, |(code, _)| code).trim();
    let good = (1..=MAXIMUM_CODE).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte));
    good.then(|| text.to_string())
}

/// Codes and their meanings. An asterisk marks a prefix.
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
            "NoSuchBucket",
            "NoSuchBucketPolicy",
            "NoSuchPublicAccessBlockConfiguration",
        ],
    ),
    (
        CodeKind::Fault,
        &["InternalFailure", "InternalError", "InternalServer*", "ServiceUnavailable*", "RequestTimeout*"],
    ),
    (CodeKind::Elsewhere, &["PermanentRedirect", "AuthorizationHeaderMalformed"]),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CodeKind {
    Throttled,
    Unauthorized,
    Denied,
    NotFound,
    Fault,
    /// Another region has the bucket: with 301, or with 400 for the region in the signature.
    Elsewhere,
}

fn kind(code: &str) -> Option<CodeKind> {
    let matches = |pattern: &&str| match pattern.strip_suffix('*') {
        Some(beginning) => code.starts_with(beginning),
        None => code == *pattern,
    };
    CODES.iter().find(|(_, codes)| codes.iter().any(matches)).map(|(kind, _)| *kind)
}

/// Classifies an answer that is not a success.
///
/// The code comes first: the provider sends the same code with different statuses (400 for a throttled call, 403 for an
/// expired token). The status decides only without a more specific code.
pub(crate) fn classify(
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
        Some(CodeKind::Elsewhere) => return Class::Unexpected,
        None if throttled => return Class::Throttled { retry_after },
        None => {}
    }
    match status {
        301 | 302 | 303 | 307 | 308 => Class::Redirect,
        429 => Class::Throttled { retry_after },
        408 | 500..=599 => Class::HostFault { retry_after },
        // The provider's refusals always have a code, so this answer is not the provider's.
        403 if fault.code.is_none() => Class::Forbidden(RefusalCause::Intermediary),
        403 => Class::Forbidden(RefusalCause::Permission),
        _ if form == BodyForm::Page => Class::HostFault { retry_after },
        401 => Class::Unauthorized,
        // A 404 without a known code means a wrong address, not a missing resource.
        _ => Class::Unexpected,
    }
}

/// Whether a wrong clock can cause a refusal with this code. The provider refuses signatures that differ from its time
/// by more than five minutes (fifteen in some services), sometimes with the code of a wrong secret.
pub(crate) fn may_be_skew(code: &str) -> bool {
    const CODES: &[&str] = &[
        "SignatureDoesNotMatch",
        "AuthFailure",
        "RequestExpired",
        "RequestTimeTooSkewed",
        "RequestInTheFuture",
    ];
    CODES.contains(&code) || code.starts_with("InvalidSignature")
}

/// The meaning of a refusal for the requested resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RefusalMeaning {
    /// The requested IAM entity does not exist.
    NoEntity,
    /// The trail does not exist.
    NoTrail,
    /// The credentials lack permission.
    Denied,
    /// The access key itself is unknown.
    UnknownKey,
    /// The bucket does not exist.
    NoBucket,
    /// There is no block of public access, or no policy.
    NoSetting,
    /// The bucket is in another region.
    Elsewhere,
    /// The region does not know the call, so it does not offer the service.
    NoService,
    /// Nothing about the requested resource, or not the provider's answer.
    Nothing,
}

/// The meaning of a refusal, by the provider's code and never by its message.
pub(crate) fn meaning(refused: &Refused) -> RefusalMeaning {
    match (refused.class, refused.code.as_deref().unwrap_or_default()) {
        (Class::NotFound, "NoSuchEntity" | "NoSuchEntityException") => RefusalMeaning::NoEntity,
        (Class::NotFound, "TrailNotFound" | "TrailNotFoundException") => RefusalMeaning::NoTrail,
        (Class::NotFound, "NoSuchBucket") => RefusalMeaning::NoBucket,
        (Class::NotFound, "NoSuchPublicAccessBlockConfiguration" | "NoSuchBucketPolicy") => {
            RefusalMeaning::NoSetting
        }
        (Class::Unexpected, code) if kind(code) == Some(CodeKind::Elsewhere) => RefusalMeaning::Elsewhere,
        (_, "UnknownOperationException" | "InvalidAction") => RefusalMeaning::NoService,
        (Class::Forbidden(RefusalCause::Permission), _) => RefusalMeaning::Denied,
        (Class::Unauthorized, code) if is_unknown_key(code) => RefusalMeaning::UnknownKey,
        _ => RefusalMeaning::Nothing,
    }
}

/// The beginning of the message that says where a bucket is, in place of the provider's.
const IN_REGION: &str = "the bucket is in ";

/// The region that has the bucket, by the header or by the element of an answer from another region.
pub(crate) fn region_of_bucket(refused: &Refused) -> Option<Region> {
    let header = refused.meta.header("x-amz-bucket-region");
    header.or_else(|| refused.message.as_deref()?.strip_prefix(IN_REGION)).and_then(Region::new)
}

/// Whether this code means that the access key itself is unknown.
pub(crate) fn is_unknown_key(code: &str) -> bool {
    matches!(code, "InvalidClientTokenId" | "UnrecognizedClientException" | "InvalidAccessKeyId")
}

#[cfg(test)]
mod tests;
