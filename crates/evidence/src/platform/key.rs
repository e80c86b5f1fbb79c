//! The API key of an evidence platform.

use std::fmt;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret as _, SecretString};

use evidence_os::secret::{Place, SecretError, how_to_set};
use evidence_screen::{Screen, is_sought};

/// The beginning of every key: other secrets, in the wrong variable, are never sent.
const PREFIX: &str = "evp_";

/// The platform's API key. `Debug` never prints its value, and there is no `Display`.
#[derive(Clone)]
pub struct ApiKey(SecretString);

impl ApiKey {
    /// A key from a variable's value. Surrounding white space is dropped, since a key read from a file ends with a line
    /// break. `None` if the rest does not begin as every key does, is not a valid header value, or is so weak that the
    /// screen does not look for it.
    pub fn new(value: &str) -> Option<ApiKey> {
        let value = value.trim();
        let usable = value.starts_with(PREFIX)
            && value.bytes().all(|byte| byte.is_ascii_graphic())
            && is_sought(value.as_bytes());
        usable.then(|| ApiKey(SecretString::from(value)))
    }

    /// Registers the key with the screen.
    pub(super) fn register_secret(&self, screen: &Screen) {
        screen.learn([self.0.expose_secret()]);
    }

    /// `Authorization: Bearer <key>`, marked sensitive so that no layer below prints it.
    pub(super) fn header(&self) -> Option<HeaderValue> {
        evidence_http::bearer(self.0.expose_secret())
    }
}

impl fmt::Debug for ApiKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("ApiKey(redacted)")
    }
}

/// Why no API key is available.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ApiKeyError {
    /// The variable is not set, or empty.
    #[error("the environment variable {0} is not set")]
    Unset(String),
    /// The value cannot be a key.
    #[error("{0} does not hold a platform's API key: keys begin with {PREFIX} and are one word")]
    Unusable(Place),
    /// Both a variable and a file are set, or the file cannot be read.
    #[error(transparent)]
    Secret(#[from] SecretError),
}

impl ApiKeyError {
    /// What to do about it.
    pub fn help(&self) -> String {
        match self {
            ApiKeyError::Unset(name) => how_to_set(name, "key"),
            ApiKeyError::Unusable(place) => place.advice("the key alone"),
            ApiKeyError::Secret(error) => error.help(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_one_word_and_never_shown() {
        assert!(ApiKey::new("").is_none());
        assert!(ApiKey::new(" \n").is_none());
        assert!(ApiKey::new("evp_two words").is_none());
        assert!(ApiKey::new("evp_schlüssel").is_none());
        assert!(ApiKey::new("evp_made-up\nkey").is_none());
        assert!(ApiKey::new("evp_").is_none());
        assert!(ApiKey::new("evp_1x").is_none());
        assert!(ApiKey::new("evp_123x").is_some());
        for other in ["ghp_1234567x", "EVP_1234567x", "Bearer evp_1234567x", "_evp_1234567x", "correct-horse"]
        {
            assert!(ApiKey::new(other).is_none(), "{other}");
        }
        let key = ApiKey::new(" evp_made-up-key-of-no-platform\n").unwrap();
        assert_eq!(format!("{key:?}"), "ApiKey(redacted)");
        let header = key.header().unwrap();
        assert!(header.is_sensitive());
        assert_eq!(header.to_str().unwrap(), "Bearer evp_made-up-key-of-no-platform");
        assert!(!format!("{header:?}").contains("made-up"));
    }
}
