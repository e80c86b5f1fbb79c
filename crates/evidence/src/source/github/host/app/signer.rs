//! The app's proof of who it is: a JSON Web Token, signed anew for each request about the app itself.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{AUTHORIZATION, HeaderMap};
use ring::rsa::KeyPair;
use serde::Serialize;

use super::super::answer::says_wrong_time;
use super::super::dialect::CodeHostDialect;
use crate::jwt;
use crate::source::github::config::Issuer;
use evidence_http::retry::{Class, http_date};
use evidence_http::{Answer, Credential, Dialect, Meaning, Request, bearer};
use evidence_screen::Screen;

/// How long before its issue a token is dated, in seconds, since clocks differ.
const BEFORE: i64 = 60;

/// How long a token is valid, in seconds: the host allows ten minutes.
const LIFETIME: i64 = 540;

/// A smaller difference of the clocks cannot be why a token was refused, in seconds.
const SMALLEST_SKEW: i64 = 5;

/// The offset of the host's clock from this machine's, as its answers show it.
#[derive(Debug, Default)]
pub(crate) struct Skew {
    seconds: AtomicI64,
    /// Whether a refusal has changed it since a request was last signed again.
    learned: AtomicBool,
}

impl Skew {
    /// A time of this machine as the host's clock would show it.
    pub(crate) fn by_host(&self, time: Timestamp) -> Timestamp {
        let skew = SignedDuration::from_secs(self.seconds.load(Ordering::Relaxed));
        time.checked_add(skew).unwrap_or(time)
    }

    /// Learns the host's time; returns whether it differs from what was known.
    fn learn(&self, date: Option<i64>, now: Timestamp) -> bool {
        let Some(date) = date else { return false };
        let skew = date.saturating_sub(now.as_second());
        let skew = if skew.abs() < SMALLEST_SKEW { 0 } else { skew };
        self.seconds.swap(skew, Ordering::Relaxed).abs_diff(skew) >= SMALLEST_SKEW.unsigned_abs()
    }
}

/// Signs the requests about the app.
pub(crate) struct Signer {
    pub(crate) issuer: Issuer,
    pub(crate) key: KeyPair,
    pub(crate) skew: Arc<Skew>,
    pub(crate) screen: Arc<Screen>,
}

#[derive(Serialize)]
struct Claims<'a> {
    iat: i64,
    exp: i64,
    iss: &'a Issued<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Issued<'a> {
    Number(u64),
    Text(&'a str),
}

impl Credential for Signer {
    fn authorize(&self, request: &mut Request, now: Timestamp) -> Result<(), String> {
        let now = self.skew.by_host(now).as_second();
        let iss = match &self.issuer {
            Issuer::AppId(number) => Issued::Number(*number),
            Issuer::ClientId(text) => Issued::Text(text),
        };
        let claims = Claims { iat: now.saturating_sub(BEFORE), exp: now.saturating_add(LIFETIME), iss: &iss };
        let token = jwt::signed(None, &claims, &self.key)?;
        // Without its signature it is worthless.
        self.screen.learn([jwt::signature(&token)]);
        let header = bearer(&token).ok_or("the app's proof does not fit into a header")?;
        request.headers.insert(AUTHORIZATION, header);
        Ok(())
    }

    /// Another signature helps if the clock was the reason.
    fn refused(&self, _sent: &HeaderMap) -> bool {
        self.skew.learned.swap(false, Ordering::Relaxed)
    }
}

/// The host's protocol for requests about the app: also learns the host's time, by which tokens end.
pub(crate) struct AppDialect {
    pub(crate) skew: Arc<Skew>,
}

impl Dialect for AppDialect {
    fn prepare(&self, request: &mut Request) {
        CodeHostDialect.prepare(request);
    }

    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let mut meaning = CodeHostDialect.understand(answer);
        let changed = self.skew.learn(answer.header("date").and_then(http_date), answer.now);
        if changed && meaning.class == Class::Unauthorized && says_wrong_time(meaning.message.as_deref()) {
            self.skew.learned.store(true, Ordering::Relaxed);
        }
        // A created token is a good answer.
        if answer.status == 201 {
            meaning.class = Class::Success;
        }
        meaning
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use reqwest::header::{DATE, HeaderValue};

    use super::*;

    const KEY: &str = include_str!("../../../../../../evidence-bundle/tests/keys/rsa.pem");

    fn signer(issuer: Issuer) -> Signer {
        let key = jwt::private_key(KEY).unwrap();
        Signer { issuer, key, skew: Arc::default(), screen: Arc::new(Screen::new(&[])) }
    }

    fn claims(signer: &Signer, now: i64) -> serde_json::Value {
        let url = "https://h.example/app".parse().unwrap();
        let mut request = Request::get(url, "/app");
        signer.authorize(&mut request, Timestamp::from_second(now).unwrap()).unwrap();
        let header = &request.headers[AUTHORIZATION];
        assert!(header.is_sensitive());
        let token = header.to_str().unwrap().strip_prefix("Bearer ").unwrap();
        let claims = token.split('.').nth(1).unwrap();
        serde_json::from_slice(&URL_SAFE_NO_PAD.decode(claims).unwrap()).unwrap()
    }

    #[test]
    fn the_proof_names_the_app_and_ends_within_ten_minutes() {
        let expected = serde_json::json!({"iat": 940, "exp": 1_540, "iss": 17});
        assert_eq!(claims(&signer(Issuer::AppId(17)), 1_000), expected);
        let expected = serde_json::json!({"iat": 940, "exp": 1_540, "iss": "Iv23liX"});
        assert_eq!(claims(&signer(Issuer::ClientId("Iv23liX".to_string())), 1_000), expected);
    }

    #[test]
    fn a_wrong_clock_is_learned_from_one_refusal() {
        let signer = signer(Issuer::AppId(17));
        let dialect = AppDialect { skew: Arc::clone(&signer.skew) };
        let mut headers = HeaderMap::new();
        headers.insert(DATE, HeaderValue::from_static("Thu, 01 Jan 1970 01:00:00 GMT"));
        let understand = |status, message: &str| {
            let body = format!(r#"{{"message": "{message}"}}"#);
            let now = Timestamp::from_second(0).unwrap();
            let answer = Answer {
                status,
                headers: &headers,
                body: Some(body.as_bytes()),
                raw: false,
                sent: &headers,
                sent_at: now,
                now,
            };
            dialect.understand(&answer).class
        };
        let text = "'Expiration time' claim ('exp') is too far in the future";
        assert_eq!(understand(401, text), Class::Unauthorized);
        assert!(signer.refused(&headers));
        assert_eq!(claims(&signer, 0)["iat"], 3_540);
        assert_eq!(understand(401, text), Class::Unauthorized);
        assert!(!signer.refused(&headers), "the time was known");
        assert_eq!(understand(201, ""), Class::Success);
        // Any other refusal has another reason.
        signer.skew.seconds.store(0, Ordering::Relaxed);
        assert_eq!(understand(401, "A JSON web token could not be decoded"), Class::Unauthorized);
        assert!(!signer.refused(&headers));
    }
}
