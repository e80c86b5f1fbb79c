//! API keys and session tokens: made, read, hashed, compared. A key is shown once, when it is made, and never kept.
//!
//! What is kept is the SHA-256 of the whole key. A slow password hash would buy nothing: the secret is 256 random bits,
//! not something people choose, so the hash leaves nothing to guess. A fast one keeps a refused request cheap.

use std::fmt;

use sha2::{Digest as _, Sha256};
use subtle::ConstantTimeEq as _;

use crate::error::Error;
use crate::id::random_hex;

const MARK: &str = "evp";
const PREFIX_DIGITS: usize = 16;
const SECRET_DIGITS: usize = 64;

/// An API key: `evp_`, 16 hex digits that name it, `_`, 64 hex digits that are secret.
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
    /// A new key.
    ///
    /// # Errors
    /// [`Error::Internal`] if the operating system gives no random bytes.
    pub fn random() -> Result<ApiKey, Error> {
        Ok(ApiKey { text: format!("{MARK}_{}_{}", random_hex::<8>()?, random_hex::<32>()?) })
    }

    /// Reads a key. `None` for anything that cannot be one.
    pub fn parse(text: &str) -> Option<ApiKey> {
        let mut parts = text.split('_');
        let (mark, prefix, secret) = (parts.next()?, parts.next()?, parts.next()?);
        let right = mark == MARK && lower_hex(prefix, PREFIX_DIGITS) && lower_hex(secret, SECRET_DIGITS);
        (right && parts.next().is_none()).then(|| ApiKey { text: text.to_owned() })
    }

    /// What names the key and is no secret: it may be shown and logged.
    pub fn prefix(&self) -> &str {
        self.text.get(..MARK.len() + 1 + PREFIX_DIGITS).unwrap_or_default()
    }

    /// The whole key. Show it to the one who asked for it, once.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// What is kept of the key.
    pub fn hash(&self) -> KeyHash {
        KeyHash(Sha256::digest(self.text.as_bytes()).into())
    }
}

/// What is kept of an API key. Compared in constant time.
#[derive(Clone)]
pub struct KeyHash([u8; 32]);

impl fmt::Debug for KeyHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("KeyHash(...)")
    }
}

impl KeyHash {
    /// Reads the form in which it is kept.
    pub(crate) fn stored(text: &str) -> Option<KeyHash> {
        hex::decode(text).ok()?.try_into().ok().map(KeyHash)
    }

    /// The form in which it is kept.
    pub(crate) fn to_stored(&self) -> String {
        hex::encode(self.0)
    }

    /// Whether both are of the same key.
    pub fn matches(&self, other: &KeyHash) -> bool {
        self.0.ct_eq(&other.0).into()
    }
}

/// What a browser shows in place of a key: 64 hex digits that are secret.
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
    /// A new token.
    ///
    /// # Errors
    /// [`Error::Internal`] if the operating system gives no random bytes.
    pub fn random() -> Result<SessionToken, Error> {
        Ok(SessionToken { text: random_hex::<32>()? })
    }

    /// Reads a token. `None` for anything that cannot be one.
    pub fn parse(text: &str) -> Option<SessionToken> {
        lower_hex(text, SECRET_DIGITS).then(|| SessionToken { text: text.to_owned() })
    }

    /// The whole token. For the cookie.
    pub fn reveal(&self) -> &str {
        &self.text
    }

    /// What is kept of the token.
    pub fn hash(&self) -> SessionHash {
        SessionHash(Sha256::digest(self.text.as_bytes()).into())
    }
}

/// What is kept of a session token. It is looked up, so it needs no comparison in constant time: an attacker who could measure
/// one would learn about a hash, not about the token.
#[derive(Clone)]
pub struct SessionHash([u8; 32]);

impl fmt::Debug for SessionHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SessionHash(...)")
    }
}

impl SessionHash {
    /// The form in which it is kept.
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
