//! Errors as clients see them: problem details (RFC 9457). The types and their statuses are published and stable.
//!
//! A problem contains nothing from the database, the storage or another organization; that goes to the log.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use evidence_bundle::NewerBundle;
use evidence_bundle::text::Chain;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::Error;
use crate::principal::Caller;

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// A parameter or the body cannot be used.
    InvalidRequest,
    /// `Content-Digest` is missing or malformed.
    DigestMissing,
    /// The body does not have the digest.
    DigestMismatch,
    /// The body is incomplete.
    BodyIncomplete,
    /// No valid key.
    Unauthenticated,
    /// The role does not have the capability.
    Forbidden,
    /// The thing or the address does not exist in this organization.
    NotFound,
    /// The address does not support the method.
    MethodNotAllowed,
    /// The body arrived too slowly.
    TooSlow,
    /// It exists already.
    Exists,
    /// Another bundle has the id.
    BundleIdTaken,
    /// Under legal hold.
    LegalHold,
    /// Under retention.
    Retained,
    /// Retention cannot be shortened.
    RetentionShortened,
    /// The clock of the platform has jumped, or the platform was off.
    ClockAhead,
    /// The organization trusts no key.
    NoTrustedKey,
    /// Too large.
    TooLarge,
    /// The request addresses another host.
    Misdirected,
    /// The bundle is not what a trusted key signed.
    BundleRefused,
    /// The bundle has a later version of the format than this platform reads.
    NewerVersion,
    /// Internal error of the platform.
    Internal,
    /// The transfer coding is not supported.
    UnsupportedCoding,
    /// The storage refuses the platform.
    StorageRefused,
    /// Evidence is overdue.
    Late,
    /// Too many requests at once.
    Busy,
    /// Database or storage do not answer.
    Unavailable,
}

impl ProblemKind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [ProblemKind; 26] = [
        ProblemKind::InvalidRequest,
        ProblemKind::DigestMissing,
        ProblemKind::DigestMismatch,
        ProblemKind::BodyIncomplete,
        ProblemKind::Unauthenticated,
        ProblemKind::Forbidden,
        ProblemKind::NotFound,
        ProblemKind::MethodNotAllowed,
        ProblemKind::TooSlow,
        ProblemKind::Exists,
        ProblemKind::BundleIdTaken,
        ProblemKind::LegalHold,
        ProblemKind::Retained,
        ProblemKind::RetentionShortened,
        ProblemKind::ClockAhead,
        ProblemKind::NoTrustedKey,
        ProblemKind::TooLarge,
        ProblemKind::Misdirected,
        ProblemKind::BundleRefused,
        ProblemKind::NewerVersion,
        ProblemKind::Internal,
        ProblemKind::UnsupportedCoding,
        ProblemKind::StorageRefused,
        ProblemKind::Late,
        ProblemKind::Busy,
        ProblemKind::Unavailable,
    ];

    /// The last part of the type URN.
    pub fn code(self) -> &'static str {
        match self {
            ProblemKind::InvalidRequest => "invalid-request",
            ProblemKind::DigestMissing => "digest-missing",
            ProblemKind::DigestMismatch => "digest-mismatch",
            ProblemKind::BodyIncomplete => "body-incomplete",
            ProblemKind::Unauthenticated => "unauthenticated",
            ProblemKind::Forbidden => "forbidden",
            ProblemKind::NotFound => "not-found",
            ProblemKind::MethodNotAllowed => "method-not-allowed",
            ProblemKind::TooSlow => "too-slow",
            ProblemKind::Exists => "exists",
            ProblemKind::BundleIdTaken => Error::BUNDLE_ID_TAKEN,
            ProblemKind::LegalHold => "legal-hold",
            ProblemKind::Retained => "retained",
            ProblemKind::RetentionShortened => "retention-shortened",
            ProblemKind::ClockAhead => "clock-ahead",
            ProblemKind::NoTrustedKey => "no-trusted-key",
            ProblemKind::Misdirected => "misdirected",
            ProblemKind::UnsupportedCoding => "unsupported-coding",
            ProblemKind::TooLarge => "too-large",
            ProblemKind::BundleRefused => "bundle-refused",
            ProblemKind::NewerVersion => NewerBundle::CODE,
            ProblemKind::Internal => "internal",
            ProblemKind::StorageRefused => "storage-refused",
            ProblemKind::Late => "late",
            ProblemKind::Busy => "busy",
            ProblemKind::Unavailable => "unavailable",
        }
    }

    /// The type: a URN, not an address.
    pub fn urn(self) -> String {
        format!("urn:evidence-platform:problem:{}", self.code())
    }

    /// The status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            ProblemKind::InvalidRequest
            | ProblemKind::DigestMissing
            | ProblemKind::DigestMismatch
            | ProblemKind::BodyIncomplete => StatusCode::BAD_REQUEST,
            ProblemKind::Unauthenticated => StatusCode::UNAUTHORIZED,
            ProblemKind::Forbidden => StatusCode::FORBIDDEN,
            ProblemKind::NotFound => StatusCode::NOT_FOUND,
            ProblemKind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            ProblemKind::TooSlow => StatusCode::REQUEST_TIMEOUT,
            ProblemKind::Exists
            | ProblemKind::BundleIdTaken
            | ProblemKind::LegalHold
            | ProblemKind::Retained
            | ProblemKind::RetentionShortened
            | ProblemKind::ClockAhead
            | ProblemKind::NoTrustedKey => StatusCode::CONFLICT,
            ProblemKind::Misdirected => StatusCode::MISDIRECTED_REQUEST,
            ProblemKind::UnsupportedCoding => StatusCode::NOT_IMPLEMENTED,
            ProblemKind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            ProblemKind::BundleRefused | ProblemKind::NewerVersion => StatusCode::UNPROCESSABLE_ENTITY,
            ProblemKind::Internal | ProblemKind::StorageRefused => StatusCode::INTERNAL_SERVER_ERROR,
            ProblemKind::Late | ProblemKind::Busy | ProblemKind::Unavailable => {
                StatusCode::SERVICE_UNAVAILABLE
            }
        }
    }

    /// The title of the kind, always the same.
    pub fn title(self) -> &'static str {
        match self {
            ProblemKind::InvalidRequest => "The request cannot be used",
            ProblemKind::DigestMissing => "The digest of the body is missing",
            ProblemKind::DigestMismatch => "The body does not match the announced digest",
            ProblemKind::BodyIncomplete => "The body is incomplete",
            ProblemKind::Unauthenticated => "No valid API key",
            ProblemKind::Forbidden => "The key does not allow this",
            ProblemKind::NotFound => "Not found",
            ProblemKind::MethodNotAllowed => "Method not allowed",
            ProblemKind::TooSlow => "The body arrived too slowly",
            ProblemKind::Exists => "Already exists",
            ProblemKind::BundleIdTaken => "Another bundle has this id",
            ProblemKind::LegalHold => "The bundle is under legal hold",
            ProblemKind::Retained => "The bundle is under retention",
            ProblemKind::RetentionShortened => "Retention cannot be shortened",
            ProblemKind::ClockAhead => "The platform's clock is ahead",
            ProblemKind::NoTrustedKey => "The organization trusts no signing key",
            ProblemKind::Misdirected => "The request is for another host",
            ProblemKind::UnsupportedCoding => "The transfer coding is not supported",
            ProblemKind::TooLarge => "The body is too large",
            ProblemKind::BundleRefused => "The bundle is not what a trusted key signed",
            ProblemKind::NewerVersion => "The bundle was made by a newer evidence",
            ProblemKind::Internal => "Internal error of the platform",
            ProblemKind::StorageRefused => "The storage refuses the platform",
            ProblemKind::Late => "Evidence is overdue",
            ProblemKind::Busy => "Too many requests at once; try again",
            ProblemKind::Unavailable => "The database or the storage does not answer; try again",
        }
    }

    /// Advice for the client.
    pub fn advice(self) -> &'static str {
        match self {
            ProblemKind::InvalidRequest => "Read `detail`.",
            ProblemKind::DigestMissing => "Send `Content-Digest: sha-256=:<base64>:` (RFC 9530).",
            ProblemKind::DigestMismatch | ProblemKind::BodyIncomplete => "Send the bundle again.",
            ProblemKind::Unauthenticated => {
                "Send `Authorization: Bearer <key>` with a key that is not revoked."
            }
            ProblemKind::Forbidden => "Use a key with a role that allows it.",
            ProblemKind::NotFound => {
                "Check the address. Resources of other organizations are not found either."
            }
            ProblemKind::MethodNotAllowed => "Use a method listed in the header `Allow`.",
            ProblemKind::TooSlow => "Try again over a faster connection.",
            ProblemKind::Exists => "Choose another name.",
            ProblemKind::BundleIdTaken => {
                "Compare the two bundles. The stored one is unchanged. Collect again to get a bundle with a new id."
            }
            ProblemKind::LegalHold => "Release the legal hold first.",
            ProblemKind::Retained => "Wait until the time in `detail`.",
            ProblemKind::RetentionShortened => "Send a later time.",
            ProblemKind::ClockAhead => {
                "Ask the operator to check the clock. If it is right, `serve --accept-clock` allows deletions again."
            }
            ProblemKind::Misdirected => {
                "Use the platform's address. Its operator adds names with `serve --host-names`."
            }
            ProblemKind::UnsupportedCoding => {
                "Send `Content-Length`, or the transfer coding `chunked` alone."
            }
            ProblemKind::NoTrustedKey => "Ask an administrator to add the public key that signs the bundles.",
            ProblemKind::TooLarge => {
                "Make a smaller bundle, or ask the operator to raise `--max-bundle-size`."
            }
            ProblemKind::BundleRefused => {
                "`reason` is a code of the bundle format, as `evidence verify` shows it. For `limit`, make a smaller \
                 bundle, or ask the operator to raise `--max-inflated-size`."
            }
            ProblemKind::NewerVersion => {
                "Ask the operator to update the platform, then send the bundle again."
            }
            ProblemKind::Internal => "Send the request id to the operator.",
            ProblemKind::StorageRefused => "Tell the operator. The platform's log has the storage's reason.",
            ProblemKind::Late => {
                "Find out why no newer bundle arrived. `detail` has the age of the newest one."
            }
            ProblemKind::Busy | ProblemKind::Unavailable => {
                "Try again after the number of seconds in `Retry-After`."
            }
        }
    }
}

/// The kind of an error.
pub fn kind(error: &Error) -> ProblemKind {
    match error {
        Error::Unauthenticated => ProblemKind::Unauthenticated,
        Error::Forbidden { .. } | Error::Elsewhere(_) => ProblemKind::Forbidden,
        Error::NotFound(_) => ProblemKind::NotFound,
        Error::Invalid(_) | Error::Unusable(..) => ProblemKind::InvalidRequest,
        Error::DigestMissing => ProblemKind::DigestMissing,
        Error::DigestMismatch => ProblemKind::DigestMismatch,
        Error::BodyIncomplete => ProblemKind::BodyIncomplete,
        Error::TooLarge(_) => ProblemKind::TooLarge,
        Error::TooSlow => ProblemKind::TooSlow,
        Error::Refused { .. } => ProblemKind::BundleRefused,
        Error::NewerVersion(_) => ProblemKind::NewerVersion,
        Error::ClockAhead(_) => ProblemKind::ClockAhead,
        Error::NoTrustedKey => ProblemKind::NoTrustedKey,
        Error::Misdirected => ProblemKind::Misdirected,
        Error::UnsupportedCoding => ProblemKind::UnsupportedCoding,
        Error::Exists(_) => ProblemKind::Exists,
        Error::BundleIdTaken(_) => ProblemKind::BundleIdTaken,
        Error::LegalHold => ProblemKind::LegalHold,
        Error::Retained(_) => ProblemKind::Retained,
        Error::RetentionShortened(_) => ProblemKind::RetentionShortened,
        Error::Late(_) => ProblemKind::Late,
        Error::Busy | Error::CheckHeld => ProblemKind::Busy,
        Error::Unavailable(_) | Error::NotReady { refused: false, .. } => ProblemKind::Unavailable,
        Error::StorageRefused | Error::NotReady { refused: true, .. } => ProblemKind::StorageRefused,
        Error::Internal(..) | Error::Damaged { .. } | Error::Unsound(_) => ProblemKind::Internal,
    }
}

/// Problem details (RFC 9457).
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Problem {
    /// What kind of problem it is: a stable URN.
    #[serde(rename = "type")]
    pub kind: String,
    /// The kind in words.
    pub title: String,
    /// The HTTP status.
    pub status: u16,
    /// What happened this time.
    pub detail: String,
    /// Why a bundle is refused: a code of the bundle format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The name of the request, as in the header `X-Request-Id` and in the platform's log.
    pub request_id: String,
}

/// A problem without its body: the outermost layer adds the request id and writes the body.
#[derive(Debug, Clone)]
pub(crate) struct PendingProblem {
    pub(crate) kind: ProblemKind,
    pub(crate) error: Option<Arc<Error>>,
    /// Whether to render it as a page for a browser.
    pub(crate) person: bool,
    /// The principal who is signed in there.
    pub(crate) who: Option<Box<Caller>>,
}

/// If the answer is a problem, marks it to be rendered as a page, for the principal who is signed in, if any.
pub(super) fn for_people(mut response: Response, who: Option<Caller>) -> Response {
    if let Some(problem) = response.extensions_mut().get_mut::<PendingProblem>() {
        problem.person = true;
        problem.who = who.map(Box::new);
    }
    response
}

impl PendingProblem {
    /// The detail of this occurrence. Shows a cause only if the caller can act on it.
    pub(crate) fn detail(&self) -> String {
        match self.error.as_deref() {
            Some(error @ Error::Unusable(..)) => Chain(error).to_string(),
            Some(error) => error.to_string(),
            None => self.kind.title().to_owned(),
        }
    }

    /// The body as JSON.
    pub(crate) fn json(&self, request_id: &str) -> Body {
        let reason = match self.error.as_deref() {
            Some(Error::Refused { reason, .. }) => Some(reason.code().to_owned()),
            _ => None,
        };
        let problem = Problem {
            kind: self.kind.urn(),
            title: self.kind.title().to_owned(),
            status: self.kind.status().as_u16(),
            detail: self.detail(),
            reason,
            request_id: request_id.to_owned(),
        };
        Body::from(serde_json::to_vec(&problem).unwrap_or_default())
    }
}

impl IntoResponse for ProblemKind {
    fn into_response(self) -> Response {
        respond(PendingProblem { kind: self, error: None, person: false, who: None })
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        respond(PendingProblem { kind: kind(&self), error: Some(Arc::new(self)), person: false, who: None })
    }
}

fn respond(problem: PendingProblem) -> Response {
    let kind = problem.kind;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = kind.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    match kind {
        ProblemKind::Unauthenticated => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        ProblemKind::Busy | ProblemKind::Unavailable => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        _ => {}
    }
    response.extensions_mut().insert(problem);
    response
}
