//! A trusted key.

use crate::key::PublicKey;

/// The namespace that an allowed-signers line must name to count for bundles.
pub const NAMESPACE: &str = "evidence-bundle";

/// A trusted key, the source of the trust, and the key's validity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrustedKey {
    /// The source of the trust, for messages: a file's name, a line, a principal.
    pub label: String,
    /// The key.
    pub key: PublicKey,
    /// The first Unix second at which the key is valid.
    pub valid_after: Option<i64>,
    /// The last Unix second at which the key is valid.
    pub valid_before: Option<i64>,
}

impl TrustedKey {
    /// Whether the key is valid at this Unix second. Both ends are inclusive, as in OpenSSH.
    pub fn is_valid_at(&self, time: i64) -> bool {
        self.valid_after.is_none_or(|after| after <= time)
            && self.valid_before.is_none_or(|before| time <= before)
    }
}
