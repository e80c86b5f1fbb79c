//! The host's access token. It can be sent, and searched for in artifacts, but never printed.

use std::fmt;

use reqwest::header::HeaderValue;
use secrecy::{ExposeSecret, SecretString};
use sha2::{Digest as _, Sha256};

use crate::credential::{Expected, trimmed};

/// The kinds of tokens, by the code host's documented prefixes.
const PREFIXES: [(&str, &str); 5] = [
    ("github_pat_", "fine-grained token"),
    ("ghp_", "classic token"),
    ("gho_", "OAuth app token"),
    ("ghu_", "app user token"),
    (INSTALLATION, "app installation token"),
];

/// The prefix of tokens that end within the hour, such as a job's `GITHUB_TOKEN`.
pub(crate) const INSTALLATION: &str = "ghs_";

/// What the token's variable should hold.
pub(crate) static EXPECTED: Expected = Expected {
    noun: "an access token",
    own: &[PREFIXES[0].0, PREFIXES[1].0, PREFIXES[2].0, PREFIXES[3].0, PREFIXES[4].0],
    example: "github_pat_...",
};

/// An access token. `Debug` never prints its value, and there is no `Display`.
#[derive(Clone)]
pub(crate) struct Token(SecretString);

/// Why a variable's value cannot be a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TokenError {
    /// Empty, or only white space.
    #[error("it is empty")]
    Empty,
    /// A space or control character inside: a bad paste, or a file with more than the token.
    #[error("it has spaces, line breaks or other characters that tokens never contain")]
    NotOneWord,
}

impl Token {
    /// A token from a variable's value. Surrounding white space is dropped, since a token read from a file ends with a
    /// line break.
    ///
    /// # Errors
    ///
    /// Fails if the rest is empty or not a valid header value.
    pub(crate) fn new(value: &str) -> Result<Token, TokenError> {
        let value = trimmed(value);
        if value.is_empty() {
            return Err(TokenError::Empty);
        }
        if !value.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TokenError::NotOneWord);
        }
        Ok(Token(SecretString::from(value)))
    }

    /// The value, for the screen.
    pub(crate) fn expose(&self) -> &str {
        self.0.expose_secret()
    }

    /// Tells tokens apart without showing one.
    pub(crate) fn digest(&self) -> String {
        hex::encode(Sha256::digest(self.expose()))
    }

    /// The kind of token, by the code host's documented prefix, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        let value = self.expose();
        PREFIXES.iter().find(|(prefix, _)| value.starts_with(prefix)).map_or("token", |(_, kind)| kind)
    }

    /// Whether the token is that of an app's installation, for which no account can be asked.
    pub(crate) fn is_of_installation(&self) -> bool {
        self.expose().starts_with(INSTALLATION)
    }

    /// `Authorization: token <value>`, marked sensitive so that no layer below prints it.
    pub(crate) fn header(&self) -> Option<HeaderValue> {
        header(self.expose())
    }
}

/// The header that sends a token.
pub(crate) fn header(token: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&format!("token {token}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token(redacted)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_never_shown() {
        let token = Token::new(" not-a-real-token\n").unwrap();
        assert_eq!(token.expose(), "not-a-real-token");
        assert_eq!(format!("{token:?}"), "Token(redacted)");
        let header = token.header().unwrap();
        assert!(header.is_sensitive());
        assert!(!format!("{header:?}").contains("not-a-real-token"));
        assert_eq!(Token::new(" \n").unwrap_err(), TokenError::Empty);
        assert_eq!(Token::new("two words").unwrap_err(), TokenError::NotOneWord);
        assert_eq!(Token::new("line\nbreak").unwrap_err(), TokenError::NotOneWord);
    }
}
