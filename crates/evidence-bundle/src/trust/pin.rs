//! A pinned fingerprint.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;

use super::error::TrustError;
use crate::key::{KeyId, PublicKey};

/// A pinned fingerprint: it trusts the key that a bundle names if the fingerprint matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pin {
    KeyId(KeyId),
    Ssh(String),
}

impl Pin {
    /// Reads a fingerprint of either form.
    pub(super) fn parse(text: &str) -> Result<Pin, TrustError> {
        let is_digest = |base64: &&str| STANDARD_NO_PAD.decode(base64).is_ok_and(|digest| digest.len() == 32);
        match text.strip_prefix("SHA256:").filter(is_digest) {
            Some(_) => Ok(Pin::Ssh(text.to_owned())),
            None => {
                text.parse().map(Pin::KeyId).map_err(|_| TrustError::Fingerprint { text: text.to_owned() })
            }
        }
    }

    pub(super) fn matches(&self, key: &PublicKey) -> bool {
        match self {
            Pin::KeyId(id) => *id == key.key_id(),
            Pin::Ssh(fingerprint) => *fingerprint == key.ssh_fingerprint(),
        }
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pin::KeyId(id) => write!(f, "fingerprint {id}"),
            Pin::Ssh(fingerprint) => write!(f, "fingerprint {fingerprint}"),
        }
    }
}
