//! Who asks the provider to sign: the identity attached to the machine, or one of another identity provider.
//!
//! Neither has a long-lived key. The tokens that prove them go to the provider alone, and are renewed before they expire.

use std::sync::Arc;

use evidence_screen::Screen;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use reqwest::header::{HeaderName, HeaderValue};
use url::Url;
use zeroize::Zeroizing;

use super::federation::{Federation, TOKEN_LIMIT, TokenPlace};
use super::token::{TokenAnswer, lease, token};
use crate::env::Clock;
use evidence_http::{
    Call, CallError, Client, FailureKind, Lease, ParseError, Renewal, Request, RequestFailure,
};

/// The permission to have something signed, and nothing else.
pub(crate) const SCOPE: &str = "https://www.googleapis.com/auth/iam";

/// The header without which the machine's service does not answer, and by which it says who it is.
pub(crate) const FLAVOR: &str = "metadata-flavor";
pub(crate) const GOOGLE: &str = "Google";

/// A token of the identity attached to the machine.
pub(crate) static ATTACHED_TOKEN: Call<TokenAnswer> = Call {
    name: "/computeMetadata/v1/instance/service-accounts/default/token",
    purpose: "with `mode: sign_jwt`, at the machine's metadata service: a token of the attached identity",
    times: "once, and again before it expires",
    kind: None,
    media_type: "application/json",
    limit: TOKEN_LIMIT,
    parse: token,
    subject: None,
    keep: None,
};

/// The address of that identity.
pub(crate) static ATTACHED_NAME: Call<String> = Call {
    name: "/computeMetadata/v1/instance/service-accounts/default/email",
    purpose: "with `mode: sign_jwt`, at the machine's metadata service: which identity that is",
    times: "once",
    kind: None,
    media_type: "text/plain",
    limit: TOKEN_LIMIT,
    parse: name,
    subject: None,
    keep: None,
};

/// A token of another identity provider.
pub(crate) static FOREIGN_TOKEN: Call<Zeroizing<Vec<u8>>> = Call {
    name: "{credential_source.url}",
    purpose: "with `mode: sign_jwt` and a federation file that names an address: a token of the identity provider",
    times: "once, and again before the exchanged one expires",
    kind: None,
    media_type: "application/json",
    limit: TOKEN_LIMIT,
    parse: whole,
    subject: None,
    keep: None,
};

/// The exchange of that token for one of the provider.
pub(crate) static EXCHANGE: Call<TokenAnswer> = Call {
    name: "POST {token_url}",
    purpose: "with `mode: sign_jwt` and a federation file: the exchange of that token",
    times: "once, and again before it expires",
    kind: None,
    media_type: "application/x-www-form-urlencoded",
    limit: TOKEN_LIMIT,
    parse: token,
    subject: None,
    keep: None,
};

fn name(bytes: &[u8]) -> Result<String, ParseError> {
    let text = std::str::from_utf8(bytes).unwrap_or_default().trim();
    let is_word = !text.is_empty() && text.len() <= 512 && text.bytes().all(|byte| byte.is_ascii_graphic());
    is_word.then(|| text.to_string()).ok_or_else(|| ParseError::Shape("not one word".to_string()))
}

#[expect(clippy::unnecessary_wraps, reason = "the form of every parser; the file says what is inside")]
fn whole(bytes: &[u8]) -> Result<Zeroizing<Vec<u8>>, ParseError> {
    Ok(Zeroizing::new(bytes.to_vec()))
}

/// The identity that asks.
#[derive(Debug, Clone)]
pub(crate) enum Identity {
    /// The one attached to the machine, with the address of its metadata service.
    Attached(Url),
    /// One of another identity provider.
    Federated(Federation),
}

impl Identity {
    /// What must never be printed.
    pub(crate) fn secrets(&self) -> Vec<String> {
        match self {
            Identity::Attached(_) => Vec::new(),
            Identity::Federated(federation) => federation.secrets(),
        }
    }

    /// The identity in words.
    pub(crate) fn shown(&self) -> String {
        match self {
            Identity::Attached(_) => "the attached identity".to_string(),
            Identity::Federated(federation) => format!("an identity of {}", federation.audience),
        }
    }
}

/// Obtains tokens that prove an identity.
pub(crate) struct Prover {
    pub(crate) identity: Identity,
    /// The client of the metadata service, or of the exchange.
    pub(crate) client: Client,
    /// The client of the identity provider, if the token is at an address.
    pub(crate) issuer: Option<Client>,
    pub(crate) clock: Clock,
    pub(crate) screen: Arc<Screen>,
}

impl Prover {
    /// The address of the attached identity; `None` for any other, and if the service does not say.
    pub(crate) async fn name(&self) -> Option<String> {
        let Identity::Attached(base) = &self.identity else { return None };
        let request = ATTACHED_NAME.get(base, &[]).header(FLAVOR, GOOGLE);
        self.client.ask(&request, &ATTACHED_NAME).await.ok().map(|answered| answered.value)
    }

    /// A new token. Every failure says where it is.
    async fn prove(&self) -> Result<TokenAnswer, String> {
        let token = match &self.identity {
            Identity::Attached(base) => {
                let request = ATTACHED_TOKEN.get(base, &[]).header(FLAVOR, GOOGLE);
                let answered = self.client.ask(&request, &ATTACHED_TOKEN).await;
                answered.map_err(|error| said(base, "has no token of an attached identity", &error))?.value
            }
            Identity::Federated(federation) => {
                let foreign = self.foreign(federation).await?;
                self.screen.learn([foreign.as_bytes()]);
                let url = &federation.token_url;
                let body = federation.question(&foreign, SCOPE);
                let request = EXCHANGE.post(url.clone(), url.path().to_string(), body);
                let answered = self.client.ask(&request, &EXCHANGE).await;
                let what = format!("refuses the token of {}", federation.shown());
                answered.map_err(|error| said(url, &what, &error))?.value
            }
        };
        self.screen.learn([&token.access_token]);
        Ok(token)
    }

    /// A token of the other identity provider.
    async fn foreign(&self, federation: &Federation) -> Result<Zeroizing<String>, String> {
        let named = |what: String| format!("{} {what}", federation.shown());
        let (url, headers) = match &federation.place {
            TokenPlace::File(path) => return federation.read(path).map_err(named),
            TokenPlace::Address(url, headers) => (url, headers),
        };
        let mut request = Request::get(url.clone(), url.path());
        for (name, value) in headers {
            let name = HeaderName::from_bytes(name.as_bytes());
            let (Ok(name), Ok(mut value)) = (name, HeaderValue::from_str(value)) else {
                return Err(named("needs a header that cannot be sent".to_string()));
            };
            value.set_sensitive(true);
            request.headers.insert(name, value);
        }
        let issuer = self.issuer.as_ref().unwrap_or(&self.client);
        let answered = issuer.ask(&request, &FOREIGN_TOKEN).await;
        let answered = answered.map_err(|error| said(url, "gives no token", &error))?;
        federation.token(&answered.value).map_err(named)
    }

    /// The number of requests sent so far, and of retries.
    pub(crate) fn requests(&self) -> (u64, u64) {
        let of = |client: &Client| (client.requests(), client.retries());
        let (first, second) = (of(&self.client), self.issuer.as_ref().map(of).unwrap_or_default());
        (first.0.saturating_add(second.0), first.1.saturating_add(second.1))
    }
}

/// `metadata.google.internal has no token ...: not found (HTTP 404)`.
fn said(url: &Url, what: &str, error: &CallError) -> String {
    let host = url.host_str().unwrap_or("the host");
    match error {
        CallError::Refused(refused) => {
            let code = refused.code.as_ref().map_or_else(String::new, |code| format!("{code} "));
            format!("{host} {what}: {code}({}, HTTP {})", refused.text(), refused.meta.status)
        }
        CallError::Failed(failure) => format!("{host}: {failure}"),
    }
}

impl Renewal<HeaderValue> for Prover {
    fn renew(&self) -> BoxFuture<'_, Result<Lease<HeaderValue>, CallError>> {
        async {
            let failed = |text| RequestFailure::local(FailureKind::Transport(text));
            let token = self.prove().await.map_err(failed)?;
            Ok(lease(token, self.clock.now())?)
        }
        .boxed()
    }

    /// Leases end by this machine's clock.
    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}
