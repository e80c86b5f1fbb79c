//! The id of a key.

use std::fmt;
use std::str::FromStr;

/// The id of a public key: the SHA-256 of its DER SubjectPublicKeyInfo (RFC 8410, section 4).
///
/// The same number as `openssl pkey -pubin -in key.pub.pem -outform DER | sha256sum`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId([u8; 32]);

impl KeyId {
    /// The key id with this digest.
    pub fn from_digest(digest: [u8; 32]) -> KeyId {
        KeyId(digest)
    }

    /// The digest itself.
    pub fn digest(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", hex::encode(self.0))
    }
}

/// The text is not a key id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not a key id (sha256: and 64 lower-case hex digits)")]
pub struct NotAKeyId;

impl FromStr for KeyId {
    type Err = NotAKeyId;

    fn from_str(text: &str) -> Result<KeyId, NotAKeyId> {
        let digits = text.strip_prefix("sha256:").ok_or(NotAKeyId)?;
        crate::checksums::parse_digest(digits.as_bytes()).map(KeyId).ok_or(NotAKeyId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_id_has_one_form() {
        let id = KeyId::from_digest([0xab; 32]);
        assert_eq!(id.to_string().parse(), Ok(id));
        assert_eq!(id.digest(), &[0xab; 32]);
        for text in ["", "sha256:", "SHA256:", &"ab".repeat(32), &format!("sha256:{}", "AB".repeat(32))] {
            assert_eq!(text.parse::<KeyId>(), Err(NotAKeyId), "{text}");
        }
        assert!(NotAKeyId.to_string().contains("64 lower-case hex digits"));
    }
}
