//! How an error looks to a client: problem details (RFC 9457). The types and their statuses are published and stable.
//!
//! Nothing of the database, the storage or another organization gets into a problem; that goes to the log.

use std::sync::Arc;

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use evidence_bundle::NewerBundle;
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::error::Error;

/// The media type of a problem.
pub const MEDIA_TYPE: &str = "application/problem+json";

/// The kinds of problems.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A parameter or the body cannot be used.
    InvalidRequest,
    /// `Content-Digest` is missing or malformed.
    DigestMissing,
    /// The body does not have the digest.
    DigestMismatch,
    /// The body broke off.
    BodyIncomplete,
    /// No key that counts.
    Unauthenticated,
    /// The role does not allow it.
    Forbidden,
    /// No such thing in this organization, or no such address.
    NotFound,
    /// The address does not know the method.
    MethodNotAllowed,
    /// The body came too slowly.
    TooSlow,
    /// Exists already.
    Exists,
    /// Under legal hold.
    LegalHold,
    /// Under retention.
    Retained,
    /// Retention cannot be shortened.
    RetentionShortened,
    /// The organization trusts no key.
    NoTrustedKey,
    /// Too large.
    TooLarge,
    /// The bundle is not what a trusted key signed.
    BundleRefused,
    /// The bundle is of a later version of the format than this platform reads.
    NewerVersion,
    /// A fault of the platform.
    Internal,
    /// The storage refuses the platform.
    StorageRefused,
    /// Too much at once.
    Busy,
    /// Database or storage do not answer.
    Unavailable,
}

impl Kind {
    /// Every kind, in the order of the documentation.
    pub const ALL: [Kind; 21] = [
        Kind::InvalidRequest,
        Kind::DigestMissing,
        Kind::DigestMismatch,
        Kind::BodyIncomplete,
        Kind::Unauthenticated,
        Kind::Forbidden,
        Kind::NotFound,
        Kind::MethodNotAllowed,
        Kind::TooSlow,
        Kind::Exists,
        Kind::LegalHold,
        Kind::Retained,
        Kind::RetentionShortened,
        Kind::NoTrustedKey,
        Kind::TooLarge,
        Kind::BundleRefused,
        Kind::NewerVersion,
        Kind::Internal,
        Kind::StorageRefused,
        Kind::Busy,
        Kind::Unavailable,
    ];

    /// The last part of the type.
    pub fn code(self) -> &'static str {
        match self {
            Kind::InvalidRequest => "invalid-request",
            Kind::DigestMissing => "digest-missing",
            Kind::DigestMismatch => "digest-mismatch",
            Kind::BodyIncomplete => "body-incomplete",
            Kind::Unauthenticated => "unauthenticated",
            Kind::Forbidden => "forbidden",
            Kind::NotFound => "not-found",
            Kind::MethodNotAllowed => "method-not-allowed",
            Kind::TooSlow => "too-slow",
            Kind::Exists => "exists",
            Kind::LegalHold => "legal-hold",
            Kind::Retained => "retained",
            Kind::RetentionShortened => "retention-shortened",
            Kind::NoTrustedKey => "no-trusted-key",
            Kind::TooLarge => "too-large",
            Kind::BundleRefused => "bundle-refused",
            Kind::NewerVersion => NewerBundle::CODE,
            Kind::Internal => "internal",
            Kind::StorageRefused => "storage-refused",
            Kind::Busy => "busy",
            Kind::Unavailable => "unavailable",
        }
    }

    /// The type: a name, not an address.
    pub fn urn(self) -> String {
        format!("urn:evidence-platform:problem:{}", self.code())
    }

    /// The status of the answer.
    pub fn status(self) -> StatusCode {
        match self {
            Kind::InvalidRequest | Kind::DigestMissing | Kind::DigestMismatch | Kind::BodyIncomplete => {
                StatusCode::BAD_REQUEST
            }
            Kind::Unauthenticated => StatusCode::UNAUTHORIZED,
            Kind::Forbidden => StatusCode::FORBIDDEN,
            Kind::NotFound => StatusCode::NOT_FOUND,
            Kind::MethodNotAllowed => StatusCode::METHOD_NOT_ALLOWED,
            Kind::TooSlow => StatusCode::REQUEST_TIMEOUT,
            Kind::Exists
            | Kind::LegalHold
            | Kind::Retained
            | Kind::RetentionShortened
            | Kind::NoTrustedKey => StatusCode::CONFLICT,
            Kind::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
            Kind::BundleRefused | Kind::NewerVersion => StatusCode::UNPROCESSABLE_ENTITY,
            Kind::Internal | Kind::StorageRefused => StatusCode::INTERNAL_SERVER_ERROR,
            Kind::Busy | Kind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
        }
    }

    /// The kind in words, always the same.
    pub fn title(self) -> &'static str {
        match self {
            Kind::InvalidRequest => "The request cannot be used",
            Kind::DigestMissing => "The digest of the body is missing",
            Kind::DigestMismatch => "The body does not have the digest that was announced",
            Kind::BodyIncomplete => "The body broke off",
            Kind::Unauthenticated => "No valid API key",
            Kind::Forbidden => "The role of the key does not allow this",
            Kind::NotFound => "Not found",
            Kind::MethodNotAllowed => "The method is not known here",
            Kind::TooSlow => "The body came too slowly",
            Kind::Exists => "It exists already",
            Kind::LegalHold => "The bundle is under legal hold",
            Kind::Retained => "The bundle must still be kept",
            Kind::RetentionShortened => "Retention cannot be shortened",
            Kind::NoTrustedKey => "The organization trusts no signing key",
            Kind::TooLarge => "The body is too large",
            Kind::BundleRefused => "The bundle is not what a trusted key signed",
            Kind::NewerVersion => "The bundle was made by a newer evidence",
            Kind::Internal => "A fault of the platform",
            Kind::StorageRefused => "The storage refuses the platform",
            Kind::Busy => "Too much at once; try again",
            Kind::Unavailable => "The database or the storage does not answer; try again",
        }
    }

    /// What to do about it.
    pub fn advice(self) -> &'static str {
        match self {
            Kind::InvalidRequest => "Read `detail`.",
            Kind::DigestMissing => "Send `Content-Digest: sha-256=:<base64>:` (RFC 9530).",
            Kind::DigestMismatch | Kind::BodyIncomplete => "Send the bundle again.",
            Kind::Unauthenticated => "Send `Authorization: Bearer <key>` with a key that is not revoked.",
            Kind::Forbidden => "Use a key with another role.",
            Kind::NotFound => "Check the address; what other organizations have is not found either.",
            Kind::MethodNotAllowed => "Read the header `Allow`.",
            Kind::TooSlow => "Try again over a faster line.",
            Kind::Exists => "Choose another name.",
            Kind::LegalHold => "Release the hold first, if you may.",
            Kind::Retained => "Wait until the time in `detail`.",
            Kind::RetentionShortened => "Send a later time.",
            Kind::NoTrustedKey => "Have an administrator add the public key that signs the bundles.",
            Kind::TooLarge => "Make a smaller bundle, or have the operator raise `--max-bundle-size`.",
            Kind::BundleRefused => {
                "`reason` is a code of the bundle format; `evidence verify` shows the same. For `limit`, make a smaller \
                 bundle, or have the operator raise `--max-inflated-size`."
            }
            Kind::NewerVersion => "Have the operator update the platform, then send the bundle again.",
            Kind::Internal => "Tell the operator the request id.",
            Kind::StorageRefused => "Tell the operator: the platform's log says what the storage refuses.",
            Kind::Busy | Kind::Unavailable => "Try again after the seconds in `Retry-After`.",
        }
    }
}

/// The kind of an error.
pub fn kind(error: &Error) -> Kind {
    match error {
        Error::Unauthenticated => Kind::Unauthenticated,
        Error::Forbidden { .. } => Kind::Forbidden,
        Error::NotFound(_) => Kind::NotFound,
        Error::Invalid(_) => Kind::InvalidRequest,
        Error::DigestMissing => Kind::DigestMissing,
        Error::DigestMismatch => Kind::DigestMismatch,
        Error::BodyIncomplete => Kind::BodyIncomplete,
        Error::TooLarge(_) => Kind::TooLarge,
        Error::TooSlow => Kind::TooSlow,
        Error::Refused { .. } => Kind::BundleRefused,
        Error::NewerVersion(_) => Kind::NewerVersion,
        Error::NoTrustedKey => Kind::NoTrustedKey,
        Error::Exists(_) => Kind::Exists,
        Error::LegalHold => Kind::LegalHold,
        Error::Retained(_) => Kind::Retained,
        Error::RetentionShortened(_) => Kind::RetentionShortened,
        Error::Busy => Kind::Busy,
        Error::Unavailable(_) | Error::NotReady { refused: false, .. } => Kind::Unavailable,
        Error::StorageRefused | Error::NotReady { refused: true, .. } => Kind::StorageRefused,
        Error::Internal(..) | Error::Damaged { .. } => Kind::Internal,
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

/// What a response carries until the outermost layer knows the name of the request and writes the body.
#[derive(Debug, Clone)]
pub(crate) struct Unwritten {
    pub(crate) kind: Kind,
    pub(crate) error: Option<Arc<Error>>,
    /// Whether a person reads it, not a program.
    pub(crate) person: bool,
}

/// Marks a problem, if the answer is one, as one that a person reads.
pub(super) fn for_people(mut response: Response) -> Response {
    if let Some(problem) = response.extensions_mut().get_mut::<Unwritten>() {
        problem.person = true;
    }
    response
}

impl Unwritten {
    /// The body for a program.
    pub(crate) fn json(&self, request_id: &str) -> Body {
        let reason = match self.error.as_deref() {
            Some(Error::Refused { reason, .. }) => Some(reason.code().to_owned()),
            _ => None,
        };
        let problem = Problem {
            kind: self.kind.urn(),
            title: self.kind.title().to_owned(),
            status: self.kind.status().as_u16(),
            detail: self.error.as_ref().map_or_else(|| self.kind.title().to_owned(), ToString::to_string),
            reason,
            request_id: request_id.to_owned(),
        };
        Body::from(serde_json::to_vec(&problem).unwrap_or_default())
    }
}

impl IntoResponse for Kind {
    fn into_response(self) -> Response {
        respond(Unwritten { kind: self, error: None, person: false })
    }
}

impl IntoResponse for Error {
    fn into_response(self) -> Response {
        respond(Unwritten { kind: kind(&self), error: Some(Arc::new(self)), person: false })
    }
}

fn respond(problem: Unwritten) -> Response {
    let kind = problem.kind;
    let mut response = Response::new(Body::empty());
    *response.status_mut() = kind.status();
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(MEDIA_TYPE));
    match kind {
        Kind::Unauthenticated => {
            headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        Kind::Busy | Kind::Unavailable => {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("5"));
        }
        _ => {}
    }
    response.extensions_mut().insert(problem);
    response
}
