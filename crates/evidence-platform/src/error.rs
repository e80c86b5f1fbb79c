//! What can go wrong in the service, as one closed enum. How it looks to a client is decided in [`crate::api::problem`].
//!
//! No variant holds a secret, and what the database or the storage said stays in the log.

use std::fmt;

use evidence_bundle::{NewerBundle, Reason};

use crate::role::{Capability, Role};
use crate::time::Time;

/// A cause that goes to the log and nowhere else.
pub type Cause = Box<dyn std::error::Error + Send + Sync>;

/// Why the service did not do what it was asked.
#[derive(Debug)]
pub enum Error {
    /// No key, a key that does not exist, or a revoked key: which of them is not told.
    Unauthenticated,
    /// The key's role does not allow it.
    Forbidden {
        /// The role.
        role: Role,
        /// What it lacks.
        capability: Capability,
    },
    /// There is no such thing in this organization.
    NotFound(&'static str),
    /// A parameter or the body of the request cannot be used.
    Invalid(String),
    /// The upload does not say its digest.
    DigestMissing,
    /// The bytes that arrived do not have the digest that was said.
    DigestMismatch,
    /// The body ended or broke before its end.
    BodyIncomplete,
    /// The body is larger than this.
    TooLarge(u64),
    /// The body came too slowly.
    TooSlow,
    /// The bundle is not what a trusted key signed.
    Refused {
        /// The verifier's reason.
        reason: Reason,
        /// What it found.
        detail: String,
    },
    /// The bundle is of a later version of the format than this platform reads.
    NewerVersion(Box<NewerBundle>),
    /// The stored bytes are missing, or are not those that were accepted.
    Damaged {
        /// `blob-missing`, `digest-mismatch`, or a code of the bundle format.
        reason: &'static str,
        /// What was found.
        detail: String,
    },
    /// The organization trusts no key, so nothing can be verified.
    NoTrustedKey,
    /// Something of that name exists already.
    Exists(&'static str),
    /// The bundle is under legal hold.
    LegalHold,
    /// The bundle must be kept until then.
    Retained(Time),
    /// The retention would end before it ends now.
    RetentionShortened(Time),
    /// The same bytes are being stored or deleted at this moment, or too much is going on. Try again.
    Busy,
    /// The database or the storage does not answer.
    Unavailable(Cause),
    /// The storage refuses the platform until its operator acts. The log says why.
    StorageRefused,
    /// A store takes no writes.
    NotReady {
        /// Whether the storage refuses the platform.
        refused: bool,
        /// Which stores, in words.
        detail: String,
    },
    /// A fault of the platform.
    Internal(&'static str, Option<Cause>),
}

impl Error {
    /// A fault of the platform with its cause.
    pub(crate) fn internal(what: &'static str, cause: impl Into<Cause>) -> Error {
        Error::Internal(what, Some(cause.into()))
    }

    /// The stored bytes are not there.
    pub(crate) fn blob_missing() -> Error {
        Error::Damaged { reason: "blob-missing", detail: "the stored bytes are missing".to_owned() }
    }

    /// The stored bytes are others.
    pub(crate) fn digest_mismatch() -> Error {
        let detail = "the stored bytes do not have the SHA-256 that was stored".to_owned();
        Error::Damaged { reason: "digest-mismatch", detail }
    }

    /// The cause that belongs into the log.
    pub fn cause(&self) -> Option<&(dyn std::error::Error + Send + Sync + 'static)> {
        match self {
            Error::Unavailable(cause) | Error::Internal(_, Some(cause)) => Some(cause.as_ref()),
            Error::Internal(_, None)
            | Error::Unauthenticated
            | Error::Forbidden { .. }
            | Error::NotFound(_)
            | Error::Invalid(_)
            | Error::DigestMissing
            | Error::DigestMismatch
            | Error::BodyIncomplete
            | Error::TooLarge(_)
            | Error::TooSlow
            | Error::Refused { .. }
            | Error::NewerVersion(_)
            | Error::Damaged { .. }
            | Error::NoTrustedKey
            | Error::Exists(_)
            | Error::LegalHold
            | Error::Retained(_)
            | Error::RetentionShortened(_)
            | Error::StorageRefused
            | Error::NotReady { .. }
            | Error::Busy => None,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unauthenticated => f.write_str("no valid API key was given"),
            Error::Forbidden { role, capability } => {
                write!(f, "a key with the role {role} may not {}", capability.as_str())
            }
            Error::NotFound(what) => write!(f, "no such {what}"),
            Error::Invalid(detail) => f.write_str(detail),
            Error::DigestMissing => {
                f.write_str("the header Content-Digest with a sha-256 is missing or malformed")
            }
            Error::DigestMismatch => {
                f.write_str("the body does not have the SHA-256 that Content-Digest says")
            }
            Error::BodyIncomplete => f.write_str("the body ended before it was complete"),
            Error::TooLarge(limit) => write!(f, "the body is larger than {limit} bytes"),
            Error::TooSlow => f.write_str("the body came too slowly"),
            Error::Refused { detail, .. } => f.write_str(detail),
            Error::NewerVersion(newer) => newer.fmt(f),
            Error::Damaged { detail, .. } => f.write_str(detail),
            Error::NoTrustedKey => f.write_str("the organization trusts no signing key yet"),
            Error::Exists(what) => write!(f, "{what} exists already"),
            Error::LegalHold => f.write_str("the bundle is under legal hold"),
            Error::Retained(until) => write!(f, "the bundle must be kept until {until}"),
            Error::RetentionShortened(until) => {
                write!(f, "the bundle is kept until {until}; this can be extended, not shortened")
            }
            Error::Busy => f.write_str("too much is going on; try again"),
            Error::Unavailable(_) => f.write_str("the database or the storage does not answer; try again"),
            Error::StorageRefused => f.write_str(
                "the storage refuses the platform; trying again does not help, its operator must act",
            ),
            Error::NotReady { detail, .. } => f.write_str(detail),
            Error::Internal(what, _) => f.write_str(what),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause().map(|cause| cause as _)
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Error {
        Error::Unavailable(Box::new(error))
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Error {
        Error::Unavailable(Box::new(error))
    }
}
