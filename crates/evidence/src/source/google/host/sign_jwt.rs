//! Assertions that the provider signs with a key that only it has (`signJwt` of IAM Credentials).

use std::sync::Arc;

use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderValue;
use serde::Deserialize;
use tokio::sync::OnceCell;
use url::Url;
use zeroize::Zeroizing;

use super::assertion::Claims;
use super::dialect::DirectoryApi;
use super::identity::{Identity, Prover};
use crate::json::object;
use evidence_http::{
    Call, CallError, Client, FailureKind, Lease, Login, ParseError, Renewal, RenewalTerms, RequestFailure,
};

/// The question for a signature.
pub(crate) static SIGN: Call<Zeroizing<String>> = Call {
    name: "POST {iam_url}/v1/projects/-/serviceAccounts/{service_account}:signJwt",
    purpose: "with `mode: sign_jwt`: the signature of an assertion, with a key that only the provider has",
    times: "once for each exchange",
    kind: None,
    media_type: "application/json",
    limit: 64 * 1024,
    parse: signed,
    subject: None,
    keep: None,
};

/// When a token is renewed: before it ends, for longer than a signature and an exchange take, and when it is refused.
const TERMS: RenewalTerms =
    RenewalTerms { before_end: SignedDuration::from_mins(1), after_pause: None, refusals: 2 };

/// An assertion that nothing signed.
pub(crate) enum Unsigned {
    /// There is no token that proves the identity.
    Unproved(CallError),
    /// The provider does not sign.
    Refused(CallError),
}

/// The provider as the holder of a service account's key.
pub(crate) struct Remote {
    url: Url,
    client: Client,
    login: Arc<Login<HeaderValue>>,
    prover: Arc<Prover>,
    /// The address of the attached identity, once it was asked for.
    name: OnceCell<Option<String>>,
}

/// The prover, which the login and the record of the run share.
struct Shared(Arc<Prover>);

impl Renewal<HeaderValue> for Shared {
    fn renew(&self) -> BoxFuture<'_, Result<Lease<HeaderValue>, CallError>> {
        self.0.renew()
    }

    fn now(&self) -> Timestamp {
        self.0.now()
    }
}

impl Remote {
    /// The provider at `iam_url`, which signs for the service account `email`. `client` calls it.
    pub(crate) fn new(iam_url: &Url, email: &str, client: &Client, prover: Prover) -> Remote {
        let mut url = iam_url.clone();
        let method = format!("{email}:signJwt");
        // The configuration refuses a base that cannot have path segments.
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["v1", "projects", "-", "serviceAccounts", method.as_str()]);
        }
        let prover = Arc::new(prover);
        let login = Arc::new(Login::renewed(TERMS, Box::new(Shared(Arc::clone(&prover)))));
        let client = client.sibling(Arc::new(DirectoryApi), login.clone());
        Remote { url, client, login, prover, name: OnceCell::new() }
    }

    /// Has the provider sign the claims.
    pub(crate) async fn sign(&self, claims: &Claims<'_>) -> Result<Zeroizing<String>, Unsigned> {
        #[derive(serde::Serialize)]
        struct Question {
            payload: String,
        }
        self.login.ensure().await.map_err(Unsigned::Unproved)?;
        self.name.get_or_init(|| self.prover.name()).await;
        let local = |error: serde_json::Error| {
            Unsigned::Refused(RequestFailure::local(FailureKind::Transport(error.to_string())).into())
        };
        let payload = serde_json::to_string(claims).map_err(local)?;
        let body = serde_json::to_vec(&Question { payload }).map_err(local)?;
        let request = SIGN.post(self.url.clone(), self.url.path().to_string(), body);
        let answered = self.client.ask(&request, &SIGN).await.map_err(Unsigned::Refused)?;
        Ok(answered.value)
    }

    /// The identity that asks, in words.
    pub(crate) fn shown(&self) -> String {
        let identity = &self.prover.identity;
        match (identity, self.name.get().and_then(Option::as_deref)) {
            (Identity::Attached(_), Some(name)) => format!("{} {name}", identity.shown()),
            _ => identity.shown(),
        }
    }

    /// The number of requests sent so far, and of retries.
    pub(crate) fn requests(&self) -> (u64, u64) {
        let (requests, retries) = self.prover.requests();
        (requests.saturating_add(self.client.requests()), retries.saturating_add(self.client.retries()))
    }

    /// How long limits held requests back.
    pub(crate) fn paused(&self) -> SignedDuration {
        self.client.paused()
    }
}

/// Parses the answer. No error quotes it: an assertion is a credential.
fn signed(bytes: &[u8]) -> Result<Zeroizing<String>, ParseError> {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Signed {
        signed_jwt: String,
    }
    let signed: Signed = object(bytes).map_err(|error| match error {
        ParseError::Broken(_) => ParseError::Broken("broken JSON".to_string()),
        ParseError::Shape(_) => ParseError::Shape("no signed token".to_string()),
    })?;
    let text = Zeroizing::new(signed.signed_jwt);
    let is_part = |part: &str| {
        !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_".contains(&byte))
    };
    let is_token = text.split('.').count() == 3 && text.split('.').all(is_part);
    if is_token { Ok(text) } else { Err(ParseError::Shape("no signed token".to_string())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_has_three_parts_and_no_error_quotes_it() {
        let good = br#"{"keyId": "abc", "signedJwt": "aA1.b-B.c_C"}"#;
        assert_eq!(signed(good).unwrap().as_str(), "aA1.b-B.c_C");
        for text in [
            r#"{"keyId": "secret"}"#,
            r#"{"signedJwt": "secret.secret"}"#,
            r#"{"signedJwt": "secret..x"}"#,
            r#"{"signedJwt": "a.b.c&assertion=secret"}"#,
            r#"{"signedJwt": 7, "x": "secret"}"#,
            r#"["secret"]"#,
            r#"{"signedJwt": "secret"#,
        ] {
            let error = signed(text.as_bytes()).unwrap_err();
            assert!(!format!("{error:?}").contains("secret"), "{error:?}");
        }
    }
}
