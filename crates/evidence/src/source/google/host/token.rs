//! The exchange of an assertion for a token.

use std::fmt;

use evidence_text::saturating_i64;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderValue;
use serde::Deserialize;
use zeroize::Zeroizing;

use crate::json::object;
use evidence_http::{Call, FailureKind, Lease, ParseError, RequestFailure, bearer};

/// The exchange of an assertion.
pub(crate) static TOKEN: Call<TokenAnswer> = Call {
    name: "POST {token_uri}",
    purpose: "an access token",
    times: "once, and again before it expires",
    kind: None,
    media_type: "application/x-www-form-urlencoded",
    // A token is about 1 kB, and the answer contains little else.
    limit: 64 * 1024,
    parse: token,
    subject: None,
    keep: None,
};

/// The answer of the exchange.
#[derive(Deserialize)]
pub(crate) struct TokenAnswer {
    /// The access token.
    pub(crate) access_token: String,
    /// The lifetime in seconds.
    pub(crate) expires_in: Option<u64>,
    token_type: Option<String>,
}

impl fmt::Debug for TokenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}

/// Parses the answer of the exchange. No error quotes it.
pub(crate) fn token(bytes: &[u8]) -> Result<TokenAnswer, ParseError> {
    let token: TokenAnswer = object(bytes).map_err(|error| match error {
        ParseError::Broken(_) => ParseError::Broken("broken JSON".to_string()),
        ParseError::Shape(_) => ParseError::Shape("no access token".to_string()),
    })?;
    let is_word =
        !token.access_token.is_empty() && token.access_token.bytes().all(|byte| byte.is_ascii_graphic());
    let is_bearer = token.token_type.as_deref().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    if is_word && is_bearer {
        return Ok(token);
    }
    Err(ParseError::Shape("no bearer token".to_string()))
}

/// The assumed lifetime of a token if the answer does not state one.
const SHORT_LIFETIME: u64 = 600;

/// A token and its end, by the clock that says `now`.
pub(crate) fn lease(token: TokenAnswer, now: Timestamp) -> Result<Lease<HeaderValue>, RequestFailure> {
    let lifetime = SignedDuration::from_secs(saturating_i64(token.expires_in.unwrap_or(SHORT_LIFETIME)));
    let token = Zeroizing::new(token.access_token);
    let bad = || {
        RequestFailure::local(FailureKind::UnexpectedShape(
            "the token has characters that a header cannot hold".to_string(),
        ))
    };
    let value = bearer(&token).ok_or_else(bad)?;
    Ok(Lease { value, expires: Some(now.checked_add(lifetime).unwrap_or(Timestamp::MAX)) })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_one_word_and_no_error_quotes_it() {
        let good = br#"{"access_token": "ya29.not-real", "expires_in": 3599, "token_type": "Bearer"}"#;
        let read = token(good).unwrap();
        assert_eq!((read.access_token.as_str(), read.expires_in), ("ya29.not-real", Some(3599)));
        assert!(!format!("{read:?}").contains("not-real"));
        let others = [
            r#"{"access_token": "secret two", "token_type": "Bearer"}"#,
            r#"{"access_token": "", "token_type": "Bearer"}"#,
            r#"{"access_token": "secret", "token_type": "MAC"}"#,
            r#"{"access_token": 7}"#,
            r#"{"id_token": "secret"}"#,
            r#"{"access_token": "x", "expires_in": "secret"}"#,
            r#"["secret", 7, null]"#,
            r#"{"access_token": "secret"#,
        ];
        for text in others {
            let error = token(text.as_bytes()).unwrap_err();
            assert!(!format!("{error:?}").contains("secret"), "{text}: {error:?}");
        }
    }
}
