//! Why an input is not a trust root.

use super::key::NAMESPACE;
use crate::key::KeyError;

/// Why an input is not a trust root.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TrustError {
    /// The key of a public key file cannot be used.
    #[error("{label}")]
    Key {
        /// The label of the file.
        label: String,
        /// What is wrong with the key.
        source: KeyError,
    },
    /// A line of an allowed-signers file cannot be used.
    #[error("{label}, line {line}")]
    Line {
        /// The label of the file.
        label: String,
        /// The number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        source: SignerLineError,
    },
    /// An allowed-signers file is not UTF-8 text.
    #[error("{label}: not UTF-8 text")]
    NotText {
        /// The label of the file.
        label: String,
    },
    /// An allowed-signers file names no key for bundles.
    #[error(
        "{label}: no line trusts a key for bundles (a line needs the option namespaces=\"{NAMESPACE}\" and a principal that \
         it does not negate)"
    )]
    NoSigner {
        /// The label of the file.
        label: String,
    },
    /// A fingerprint has neither of the two forms.
    #[error("{text:?} is not a fingerprint (sha256: and 64 hex digits, or SHA256: and 43 base64 characters)")]
    Fingerprint {
        /// The text.
        text: String,
    },
}

/// What is wrong with a line of an allowed-signers file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SignerLineError {
    /// The line ends before its key.
    #[error("the line ends before its key")]
    Incomplete,
    /// A quotation mark is not closed.
    #[error("a quotation mark is not closed")]
    Quote,
    /// An option is unknown.
    #[error("unknown option {0:?}")]
    UnknownOption(String),
    /// An option is repeated.
    #[error("option {0:?} is repeated")]
    BadOption(String),
    /// The value of an option has no quotation marks, which OpenSSH demands.
    #[error("the value of {0:?} needs quotation marks: name=\"value\"")]
    Unquoted(String),
    /// A time has none of the forms that OpenSSH knows, or does not exist.
    #[error("{0:?} is not a time of the form YYYYMMDD[HHMM[SS]][Z]")]
    BadTime(String),
    /// `valid-before` is not later than `valid-after`.
    #[error("valid-before is not later than valid-after")]
    EmptyWindow,
    /// The line trusts a certificate authority, but bundles carry keys, not certificates.
    #[error("cert-authority is not supported: a bundle carries a key, not a certificate")]
    CertificateAuthority,
    /// The key cannot be used.
    #[error(transparent)]
    Key(KeyError),
}
