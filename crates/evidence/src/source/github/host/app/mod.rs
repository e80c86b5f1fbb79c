//! Signs in as an app: finds its installation, and requests tokens with only the permissions that the rules need.
//!
//! A token lives for an hour. It is renewed before its end, after a pause, and once for a request that the host refuses
//! with 401. Neither a token nor the proof that it is exchanged for is stored or shown.

pub(crate) mod installation;
pub(crate) mod permissions;
pub(crate) mod signer;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, OnceLock};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderValue;
use serde::Serialize;
use url::Url;

use self::installation::{INSTALLATION, INSTALLATIONS, Installation, NAMED_INSTALLATION, TOKEN};
use self::permissions::writing;
use self::signer::Skew;
use super::api::Api;
use super::token;
use crate::env::Clock;
use evidence_http::{CallError, Client, FailureKind, Lease, Login, Renewal, RenewalTerms, RequestFailure};
use evidence_screen::Screen;

/// When a token is renewed. Two new ones that the host refuses end the source.
const TERMS: RenewalTerms = RenewalTerms {
    before_end: SignedDuration::from_mins(5),
    after_pause: Some(SignedDuration::from_mins(1)),
    refusals: 2,
};

/// What the host granted with the first token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grant {
    pub(crate) permissions: BTreeMap<String, String>,
    pub(crate) repository_selection: String,
}

/// The requests about an app.
pub(crate) struct App {
    /// The client that signs as the app.
    pub(crate) client: Client,
    pub(crate) base: Url,
    pub(crate) skew: Arc<Skew>,
    pub(crate) clock: Clock,
    pub(crate) screen: Arc<Screen>,
}

impl App {
    /// Every installation of the app.
    pub(crate) async fn installations(&self) -> Result<Vec<Installation>, CallError> {
        let api = Api { client: &self.client, base: &self.base, organization: "" };
        Ok(api.pages(&INSTALLATIONS, &[]).await?.0)
    }

    /// The installation for an organization, or the one with this number.
    pub(crate) async fn installation(
        &self,
        org: &str,
        number: Option<u64>,
    ) -> Result<Installation, CallError> {
        let (call, parameter) = match number {
            Some(number) => (&NAMED_INSTALLATION, ("installation", number.to_string())),
            None => (&INSTALLATION, ("org", org.to_string())),
        };
        let request = call.get(&self.base, &[(parameter.0, &parameter.1)]);
        Ok(self.client.ask(&request, call).await?.value)
    }
}

/// The tokens of an installation.
pub(crate) struct Tokens {
    app: App,
    installation: u64,
    wanted: BTreeSet<&'static str>,
    first: OnceLock<Grant>,
}

impl Tokens {
    /// The tokens of an installation, with these permissions.
    pub(crate) fn new(app: App, installation: u64, wanted: BTreeSet<&'static str>) -> Arc<Tokens> {
        Arc::new(Tokens { app, installation, wanted, first: OnceLock::new() })
    }

    /// The login that sends them.
    pub(crate) fn login(self: &Arc<Tokens>) -> Login<HeaderValue> {
        Login::renewed(TERMS, Box::new(Renewing(Arc::clone(self))))
    }

    /// What the host granted with the first token, if there was one.
    pub(crate) fn grant(&self) -> Option<&Grant> {
        self.first.get()
    }

    async fn request(&self) -> Result<Lease<HeaderValue>, CallError> {
        #[derive(Serialize)]
        struct Question<'a> {
            permissions: BTreeMap<&'a str, &'a str>,
        }
        let question = Question { permissions: self.wanted.iter().map(|name| (*name, "read")).collect() };
        let failure = |kind| CallError::Failed(RequestFailure::local(kind));
        let body = serde_json::to_vec(&question)
            .map_err(|error| failure(FailureKind::Transport(error.to_string())))?;
        let installation = self.installation.to_string();
        let url = TOKEN.url(&self.app.base, &[("installation", &installation)]);
        let label = TOKEN.name.replace("{installation}", &installation);
        let answered = self.app.client.ask(&TOKEN.post(url, label, body), &TOKEN).await?;
        let granted = answered.value;
        self.app.screen.learn([granted.expose()]);
        let header = token::header(granted.expose())
            .ok_or_else(|| failure(FailureKind::UnexpectedShape("`token` is not a token".to_string())))?;
        let grant = Grant {
            permissions: granted.permissions.clone(),
            repository_selection: granted.repository_selection.clone(),
        };
        let writes = writing(&grant.permissions);
        self.first.get_or_init(|| grant);
        if !writes.is_empty() {
            let text = format!("the installation's token can write ({})", writes.join(", "));
            return Err(failure(FailureKind::Unauthorized(text)));
        }
        Ok(Lease { value: header, expires: Some(granted.expires) })
    }
}

struct Renewing(Arc<Tokens>);

impl Renewal<HeaderValue> for Renewing {
    fn renew(&self) -> BoxFuture<'_, Result<Lease<HeaderValue>, CallError>> {
        self.0.request().boxed()
    }

    fn now(&self) -> Timestamp {
        self.0.app.skew.by_host(self.0.app.clock.now())
    }
}
