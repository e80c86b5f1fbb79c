//! The assertion that a service account exchanges for a token: a JSON Web Token, signed with RS256 (RFC 7515, RFC
//! 7523).
//!
//! Pure except for the random blinding of the signature. It sends nothing and reads no clock.

use serde::Serialize;
use zeroize::Zeroizing;

use super::service_account::{Key, ServiceAccount};
use crate::jwt;

/// The lifetime of an assertion in seconds: the maximum that the provider accepts, and what its own clients use.
const LIFETIME: i64 = 3_600;

/// What an assertion says.
#[derive(Serialize)]
pub(crate) struct Claims<'a> {
    iss: &'a str,
    scope: &'a str,
    aud: &'a str,
    iat: i64,
    exp: i64,
    sub: &'a str,
}

/// The assertion of `account` for the administrator `admin` and `scopes`, issued at `now` in seconds since 1970.
pub(crate) fn claims<'a>(
    account: &'a ServiceAccount,
    admin: &'a str,
    scopes: &'a str,
    now: i64,
) -> Claims<'a> {
    Claims {
        iss: &account.email,
        scope: scopes,
        aud: &account.audience,
        iat: now,
        exp: now.saturating_add(LIFETIME),
        sub: admin,
    }
}

impl Claims<'_> {
    /// The assertion, signed with a key.
    ///
    /// # Errors
    ///
    /// Fails if the key cannot sign. The message contains no part of the key.
    pub(crate) fn signed(&self, key: &Key) -> Result<Zeroizing<String>, String> {
        jwt::signed(Some(&key.id), self, &key.pair)
    }
}

#[cfg(test)]
mod tests {
    use base64::Engine as _;
    use base64::engine::general_purpose::URL_SAFE_NO_PAD;
    use ring::signature::{RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};

    use super::super::service_account::{SignIn, Signer};
    use super::*;

    const KEY: &str = include_str!("../../../../../evidence-bundle/tests/keys/rsa.pem");

    #[test]
    fn it_says_who_for_whom_what_and_when_and_is_signed() {
        let file = serde_json::json!({
            "type": "service_account", "private_key_id": "key-1", "private_key": KEY,
            "client_email": "reader@evidence.example", "token_uri": "http://127.0.0.1:8080",
        });
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("credentials.json");
        std::fs::write(&path, file.to_string()).unwrap();
        let loaded = super::super::service_account::load("X", path.to_str()).unwrap().value;
        let SignIn { account, signer: Signer::Key(key) } = &loaded else { panic!() };
        let text = claims(account, "admin@acme.example", "scope-a scope-b", 1_795_000_000);
        let text = text.signed(key).unwrap();
        let parts: Vec<&str> = text.split('.').collect();
        let json = |part: &str| -> serde_json::Value {
            serde_json::from_slice(&URL_SAFE_NO_PAD.decode(part).unwrap()).unwrap()
        };
        assert_eq!(json(parts[0]), serde_json::json!({"alg": "RS256", "typ": "JWT", "kid": "key-1"}));
        assert_eq!(
            json(parts[1]),
            serde_json::json!({
                "iss": "reader@evidence.example", "sub": "admin@acme.example", "scope": "scope-a scope-b",
                // Exactly as in the file: a normalised address would end with a slash.
                "aud": "http://127.0.0.1:8080", "iat": 1_795_000_000, "exp": 1_795_003_600,
            })
        );
        let public = key.pair.public().as_ref();
        let signed = text.rsplit_once('.').unwrap().0;
        let signature = URL_SAFE_NO_PAD.decode(parts[2]).unwrap();
        UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, public)
            .verify(signed.as_bytes(), &signature)
            .unwrap();
    }
}
