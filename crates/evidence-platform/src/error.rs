//! Every failure of the service, as one closed enum. [`crate::api::problem`] decides how it looks to a client.
//!
//! No variant holds a secret. Error texts of the database and the storage stay in the log.

use std::error::Error as StdError;

use evidence_bundle::text::Chain;
use evidence_bundle::{NewerBundle, Reason};

use crate::role::{Capability, Role};
use crate::time::Time;

/// A cause of any type.
pub type Cause = Box<dyn StdError + Send + Sync>;

/// Why the service did not fulfil a request.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// No key, an unknown key, or a revoked key: clients do not learn which.
    #[error("no valid API key was given")]
    Unauthenticated,
    /// The key's role lacks the capability.
    #[error("a key with the role {role} may not {}", .capability.as_str())]
    Forbidden {
        /// The role.
        role: Role,
        /// The missing capability.
        capability: Capability,
    },
    /// The key does not reach the organization that the request means.
    #[error("{0}")]
    Elsewhere(String),
    /// It does not exist in this organization.
    #[error("no such {0}")]
    NotFound(&'static str),
    /// A parameter or the body of the request cannot be used.
    #[error("{0}")]
    Invalid(String),
    /// Like [`Error::Invalid`], with a cause that the caller may see.
    #[error("{0}")]
    Unusable(String, #[source] Cause),
    /// The upload does not announce its digest.
    #[error("the header Content-Digest is missing or has no valid sha-256")]
    DigestMissing,
    /// The bytes that arrived do not have the announced digest.
    #[error("the SHA-256 of the body differs from Content-Digest")]
    DigestMismatch,
    /// The body is incomplete.
    #[error("the body ended before it was complete")]
    BodyIncomplete,
    /// The body is larger than this limit.
    #[error("the body is larger than {0} bytes")]
    TooLarge(u64),
    /// The body arrived too slowly.
    #[error("the body arrived too slowly")]
    TooSlow,
    /// The bundle is not what a trusted key signed.
    #[error("{detail}")]
    Refused {
        /// The verifier's reason.
        reason: Reason,
        /// The detail of the verifier.
        detail: String,
    },
    /// The bundle has a later version of the format than this platform reads.
    #[error("{0}")]
    NewerVersion(Box<NewerBundle>),
    /// The stored bytes are missing, or differ from those that were accepted.
    #[error("{detail}")]
    Damaged {
        /// `blob-missing`, `digest-mismatch`, or a code of the bundle format.
        reason: &'static str,
        /// What was found.
        detail: String,
    },
    /// The organization trusts no key, so nothing can be verified.
    #[error("the organization trusts no signing key yet")]
    NoTrustedKey,
    /// The name is taken.
    #[error("{0} exists already")]
    Exists(&'static str),
    /// The organization has another bundle with this id.
    #[error("another bundle has the id {0}: its bytes differ, and a stored bundle never changes")]
    BundleIdTaken(String),
    /// The bundle is under legal hold.
    #[error("the bundle is under legal hold")]
    LegalHold,
    /// The retention of the bundle ends at this time.
    #[error("the bundle must be kept until {0}")]
    Retained(Time),
    /// The new retention would end before this time, the current end.
    #[error("the bundle is kept until {0}; this can be extended, not shortened")]
    RetentionShortened(Time),
    /// The clock is further than a day ahead of this time, the last that the platform recorded.
    #[error("the platform's clock is more than a day ahead of {0}, when it last ran, so it deletes nothing")]
    ClockAhead(Time),
    /// The request addresses another host.
    #[error("the platform is not served under the host name of this request")]
    Misdirected,
    /// The body has a transfer coding other than `chunked`.
    #[error("the only supported transfer coding is chunked")]
    UnsupportedCoding,
    /// The same bytes are being stored or deleted, or too many requests are active. Try again.
    #[error("too many requests at once; try again")]
    Busy,
    /// The database or the storage does not answer.
    #[error("the database or the storage does not answer; try again")]
    Unavailable(#[source] Cause),
    /// The storage refuses the platform until its operator acts. The log has the reason.
    #[error("the storage refuses the platform; trying again does not help, its operator must act")]
    StorageRefused,
    /// A store does not accept writes.
    #[error("{detail}")]
    NotReady {
        /// Whether the storage refuses the platform.
        refused: bool,
        /// Which stores, as text.
        detail: String,
    },
    /// Another process checks what is stored.
    #[error(
        "another process is checking; this one can go on when that ends, or 15 minutes after it was killed"
    )]
    CheckHeld,
    /// What is stored is not what was accepted.
    #[error("{0}")]
    Unsound(String),
    /// Evidence is overdue.
    #[error("{0}")]
    Late(String),
    /// An internal error of the platform.
    #[error("{0}")]
    Internal(&'static str, #[source] Option<Cause>),
}

impl Error {
    /// The published code of [`Error::BundleIdTaken`].
    pub const BUNDLE_ID_TAKEN: &str = "bundle-id-taken";

    /// An internal error with its cause.
    pub(crate) fn internal(what: &'static str, cause: impl Into<Cause>) -> Error {
        Error::Internal(what, Some(cause.into()))
    }

    /// An unusable value with its cause.
    pub(crate) fn unusable(what: impl Into<String>, cause: impl Into<Cause>) -> Error {
        Error::Unusable(what.into(), cause.into())
    }

    /// The stored bytes are missing.
    pub(crate) fn blob_missing() -> Error {
        Error::Damaged { reason: "blob-missing", detail: "the stored bytes are missing".to_owned() }
    }

    /// The stored bytes have changed.
    pub(crate) fn digest_mismatch() -> Error {
        let detail = "the SHA-256 of the stored bytes changed".to_owned();
        Error::Damaged { reason: "digest-mismatch", detail }
    }

    /// A task panicked or was cancelled.
    pub(crate) fn join(error: tokio::task::JoinError) -> Error {
        Error::internal("a task was ended", error)
    }

    /// The causes, for the log; empty without a cause.
    pub fn causes(&self) -> String {
        self.source().map(|cause| Chain(cause).to_string()).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the text of an error contains that of its cause.
    fn repeats(error: &(dyn StdError + 'static)) -> bool {
        let mut wrapper = error;
        while let Some(cause) = wrapper.source() {
            if wrapper.to_string().contains(&cause.to_string()) {
                return true;
            }
            wrapper = cause;
        }
        false
    }

    #[test]
    fn no_chain_repeats_itself() {
        let full = || std::io::Error::other("no space left on device");
        let json = serde_json::from_str::<u8>("x").unwrap_err();
        let key = evidence_bundle::PublicKey::parse(b"x").unwrap_err();
        let errors = [
            Error::from(full()),
            Error::from(sqlx::Error::PoolTimedOut),
            Error::internal("no random bytes", full()),
            Error::Internal("a trusted key is damaged", None),
            Error::unusable("the JSON body cannot be used", json),
            Error::unusable("the public key cannot be used", key),
        ];
        for error in errors {
            assert!(!repeats(&error), "{error}: {}", error.causes());
            assert_eq!(error.source().is_none(), error.causes().is_empty());
        }
        // A library that repeats its cause is logged once.
        let error = Error::from(sqlx::Error::Io(full()));
        let shown = Chain(&error).to_string();
        assert_eq!(shown.matches("no space left").count(), 1, "{shown}");
        assert!(shown.starts_with("the database or the storage does not answer"), "{shown}");
    }
}
