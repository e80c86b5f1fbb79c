//! API keys and session tokens: generation, parsing, hashing, comparison. A key is shown once, when it is created, and
//! never stored.
//!
//! The platform stores the SHA-256 of the whole key. A slow password hash would add nothing: the secret is 256 random
//! bits, so it cannot be guessed from its hash. A fast hash keeps refused requests cheap.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::error::Error;
use crate::id::random_hex;

const MARK: &str = "evp";
const PREFIX_DIGITS: usize = 16;
const SECRET_DIGITS: usize = 64;

/// An API key: `evp_`, 16 hex digits that identify it, `_`, 64 secret hex digits.
#[derive(Clone)]
pub struct ApiKey {
    text: String,
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ApiKey({}_...)", self.prefix())
    }
}

impl ApiKey {
    /// Generates a key.
    ///
    /// # Errors
    /// Fails with [`Error::Internal`] if the operating system provides no random bytes.
    pub fn random() -> Result<ApiKey, Error> {
        Ok(ApiKey { text: format!("{MARK}_{}_{}", random_hex::<8>()?, random_hex::<32>()?) })
    }

    /// Parses a key. `None` for anything malformed.
    pub fn parse(text: &str) -> Option<ApiKey> {
        let mut parts = text.split('_');
        let (mark, prefix, secret) = (parts.next()?, parts.next()?, parts.next()?);
        let right = mark == MARK && lower_hex(prefix, PREFIX_DIGITS) && lower_hex(secret, SECRET_DIGITS);
        (right && parts.next().is_none()).then(|| ApiKey { text: text.to_owned() })
    }

    /// The public part, which identifies the key: it may be shown and logged.
    pub fn prefix(&self) -> &str {
        self.text.get(..MARK.len() + 1 + PREFIX_DIGITS).unwrap_or_default()
    }

    /// The whole key, to be shown once to its creator.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The hash to store.
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.text.as_bytes()).into())
    }
}

/// The stored hash of an API key. Compared in constant time.
#[derive(Clone)]
pub struct KeyHash([u8; 32]);

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(...)")
    }
}

impl KeyHash {
    /// Parses the stored form.
    pub(crate) fn stored(text: &str) -> Option<KeyHash> {
        hex::decode(text).ok()?.try_into().ok().map(KeyHash)
    }

    /// The stored form.
    pub(crate) fn to_stored(&self) -> String {
        hex::encode(self.0)
    }

    /// Whether both are hashes of the same key.
    pub fn matches(&self, other: &KeyHash) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// The secret of a browser session: 64 hex digits.
#[derive(Clone)]
pub struct SessionToken {
    text: String,
}

impl fmt::Debug for SessionToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionToken(...)")
    }
}

impl SessionToken {
    /// Generates a token.
    ///
    /// # Errors
    /// Fails with [`Error::Internal`] if the operating system provides no random bytes.
    pub fn random() -> Result<SessionToken, Error> {
        Ok(SessionToken { text: random_hex::<32>()? })
    }

    /// Parses a token. `None` for anything malformed.
    pub fn parse(text: &str) -> Option<SessionToken> {
        lower_hex(text, SECRET_DIGITS).then(|| SessionToken { text: text.to_owned() })
    }

    /// The whole token, for the cookie.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// The hash to store.
    pub fn hash(&self) -> SessionHash {
        SessionHash(Sha256::digest(self.text.as_bytes()).into())
    }
}

/// The stored hash of a session token. The database looks it up, so it needs no comparison in constant time: timing
/// would reveal something about a hash, not about the token.
#[derive(Clone)]
pub struct SessionHash([u8; 32]);

impl fmt::Debug for SessionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionHash(...)")
    }
}

impl SessionHash {
    /// The stored form.
    pub(crate) fn to_stored(&self) -> String {
        hex::encode(self.0)
    }
}

fn lower_hex(text: &str, digits: usize) -> bool {
    text.len() == digits && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_read_back_and_never_printed() {
        let key = ApiKey::random().unwrap();
        let read = ApiKey::parse(key.reveal()).unwrap();
        assert!(read.hash().matches(&key.hash()));
        assert!(KeyHash::stored(&key.hash().to_stored()).unwrap().matches(&key.hash()));
        assert!(!ApiKey::random().unwrap().hash().matches(&key.hash()));
        let secret = key.reveal().rsplit('_').next().unwrap();
        assert!(!format!("{key:?} {:?}", key.hash()).contains(secret));
        assert_eq!(key.prefix().len(), 20);
    }

    #[test]
    fn nothing_else_is_a_key() {
        let key = ApiKey::random().unwrap();
        let upper = key.reveal().to_uppercase();
        let longer = format!("{}0", key.reveal());
        let more = format!("{}_0", key.reveal());
        for text in ["", "evp", "evp__", "Bearer", key.prefix(), &upper, &longer, &more, "evp_\u{e9}"] {
            assert!(ApiKey::parse(text).is_none(), "{text}");
        }
    }
}
