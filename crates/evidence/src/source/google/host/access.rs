//! Access tokens: obtains them in exchange for assertions and renews them.
//!
//! Assertions go only to the exchange, and tokens only to the API: each has its own clients. A [`Login`] renews the token
//! before it expires, and when the API stops accepting it. The calls of each scope have their own gate, so that a
//! refusal in one part of the API does not block the others. Nothing here depends on what the calls are.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, OnceLock};

use evidence_bundle::document::Warning;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{HeaderMap, HeaderValue};

use super::answer::says_time;
use super::assertion::claims;
use super::dialect::DirectoryApi;
use super::listing::ListingError;
use super::scopes::{OAuthScope, joined};
use super::service_account::{Key, ServiceAccount};
use super::sign_jwt::{Remote, Unsigned};
use super::token::{TOKEN, TokenAnswer, lease};
use crate::env::Clock;
use crate::jwt;
use crate::source::google::names::NAME;
use evidence_http::retry::http_date;
use evidence_http::{
    Answered, Call, CallError, Client, Credential, FailureKind, GivenUp, Lease, Login, Refused, Renewal,
    RenewalTerms, Request, RequestFailure,
};
use evidence_screen::Screen;

/// The grant type (RFC 7523), form-encoded.
const GRANT: &str = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";

/// When a token is renewed: before it ends, for longer than a single request takes, and when the API refuses it.
const TERMS: RenewalTerms =
    RenewalTerms { before_end: SignedDuration::from_mins(1), after_pause: None, refusals: 2 };

/// A smaller clock difference cannot be why an exchange was refused.
const SMALLEST_SKEW: i64 = 5;

/// The service account's access to the API on behalf of one administrator.
pub(crate) struct Access {
    exchange: Arc<Exchange>,
    /// The client whose siblings call the API.
    api: Client,
    /// The client of each scope, once there is a token.
    clients: OnceLock<Vec<(OAuthScope, Client)>>,
}

/// Exchanges assertions for tokens.
struct Exchange {
    account: ServiceAccount,
    signing: Signing,
    admin: String,
    client: Client,
    clock: Clock,
    screen: Arc<Screen>,
    /// The offset in seconds from this machine's clock to the provider's.
    skew: AtomicI64,
}

/// What signs assertions, ready for it.
pub(crate) enum Signing {
    /// A key of this machine.
    Key(Box<Key>),
    /// The provider.
    Remote(Box<Remote>),
}

/// Why there is no token.
pub(crate) enum NoToken {
    /// Nothing signed the assertion.
    Unsigned(Unsigned),
    /// The exchange did not give one.
    Exchange(ListingError),
}

/// Exchanges a new assertion for a token of these scopes, until that fails.
struct Renewing {
    exchange: Arc<Exchange>,
    scopes: Vec<OAuthScope>,
    /// Why no further token is requested.
    over: OnceLock<RequestFailure>,
}

/// What the calls of one scope send. A scope that refuses a new token too ends only its own calls, and leaves the token to
/// the others.
struct OfScope {
    login: Arc<Login<HeaderValue>>,
    /// Whether the last answer refused a token.
    refused: AtomicBool,
}

impl Credential for OfScope {
    fn ready(&self) -> BoxFuture<'_, Result<(), CallError>> {
        self.login.ready()
    }

    fn authorize(&self, request: &mut Request, now: Timestamp) -> Result<(), String> {
        self.login.authorize(request, now)
    }

    fn accepted(&self, sent: &HeaderMap) {
        self.refused.store(false, Ordering::Relaxed);
        self.login.accepted(sent);
    }

    fn refused(&self, sent: &HeaderMap) -> bool {
        !self.refused.swap(true, Ordering::Relaxed) && self.login.refused(sent)
    }
}

impl Access {
    /// Access without a token yet. `exchange` calls the account's `token_uri`, `api` the API.
    pub(crate) fn new(
        account: ServiceAccount,
        signing: Signing,
        admin: String,
        exchange: Client,
        api: Client,
        clock: Clock,
        screen: Arc<Screen>,
    ) -> Access {
        let skew = AtomicI64::new(0);
        let exchange = Arc::new(Exchange { account, signing, admin, client: exchange, clock, screen, skew });
        Access { exchange, api, clients: OnceLock::new() }
    }

    /// The service account.
    pub(crate) fn account(&self) -> &ServiceAccount {
        &self.exchange.account
    }

    /// The identity that asks the provider to sign, in words, if no key does.
    pub(crate) fn identity(&self) -> Option<String> {
        self.exchange.remote().map(Remote::shown)
    }

    /// The number of requests sent so far, retries included, and the number of retries.
    pub(crate) fn requests(&self) -> (u64, u64) {
        let both = |count: fn(&Client) -> u64| count(&self.exchange.client).saturating_add(count(&self.api));
        let (requests, retries) = self.exchange.remote().map(Remote::requests).unwrap_or_default();
        (both(Client::requests).saturating_add(requests), both(Client::retries).saturating_add(retries))
    }

    /// The listings that were given up.
    pub(crate) fn given_up(&self) -> Vec<GivenUp> {
        self.api.given_up()
    }

    /// How long limits held requests back. Scopes run concurrently, so the longest total counts; every call waits for the
    /// exchange.
    pub(crate) fn paused(&self) -> SignedDuration {
        let clients = self.clients.get().into_iter().flatten();
        let longest = clients.map(|(_, client)| client.paused()).max().unwrap_or(SignedDuration::ZERO);
        let signing = self.exchange.remote().map_or(SignedDuration::ZERO, Remote::paused);
        longest.saturating_add(self.exchange.client.paused()).saturating_add(signing)
    }

    /// A time of this machine as the provider's clock would show it, if their difference is known.
    pub(crate) fn by_provider(&self, time: Timestamp) -> Timestamp {
        self.exchange.by_provider(time)
    }

    /// A warning if this machine's clock is wrong.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let skew = self.exchange.skew.load(Ordering::Relaxed);
        let side = if skew > 0 { "behind" } else { "ahead of" };
        (skew != 0).then(|| {
            let message = format!(
                "this machine's clock is {} s {side} the provider's: assertions use the provider's time",
                skew.unsigned_abs()
            );
            NAME.warning("clock_skewed", message, None)
        })
    }

    /// Requests a token for `scopes` without using it.
    pub(crate) async fn ask(&self, scopes: &[OAuthScope]) -> Result<TokenAnswer, NoToken> {
        self.exchange.ask(scopes).await
    }

    /// Uses `token`, and requests further tokens for `scopes`.
    pub(crate) fn start(&self, scopes: &[OAuthScope], token: TokenAnswer) -> Result<(), RequestFailure> {
        let lease = lease(token, self.exchange.clock.now())?;
        let (exchange, scopes) = (Arc::clone(&self.exchange), scopes.to_vec());
        let renewing = Renewing { exchange, scopes: scopes.clone(), over: OnceLock::new() };
        let login = Arc::new(Login::renewed(TERMS, Box::new(renewing)).starting_with(lease));
        let client = |scope| {
            let credential = OfScope { login: Arc::clone(&login), refused: AtomicBool::new(false) };
            (scope, self.api.sibling(Arc::new(DirectoryApi), Arc::new(credential)))
        };
        self.clients.get_or_init(|| scopes.into_iter().map(client).collect());
        Ok(())
    }

    /// Sends a request of `scope` with a valid token.
    pub(crate) async fn send<T: Send>(
        &self,
        scope: OAuthScope,
        request: &Request,
        call: &Call<T>,
    ) -> Result<Answered<T>, CallError> {
        match self.clients.get().into_iter().flatten().find(|(of, _)| *of == scope) {
            Some((_, client)) => client.ask(request, call).await,
            None => {
                let text = format!("the scope {} is not delegated", scope.name());
                Err(RequestFailure::local(FailureKind::Unauthorized(text)).into())
            }
        }
    }
}

impl NoToken {
    /// The failure of a request that waits for a token.
    fn into_failure(self) -> RequestFailure {
        let error = match self {
            NoToken::Exchange(ListingError::NotDelegated(_, text)) => {
                return RequestFailure::local(FailureKind::Unauthorized(text));
            }
            NoToken::Exchange(ListingError::Failed(failure)) => CallError::Failed(failure),
            NoToken::Exchange(ListingError::Refused(refused)) => CallError::Refused(refused),
            NoToken::Unsigned(Unsigned::Unproved(error) | Unsigned::Refused(error)) => error,
        };
        match error {
            CallError::Failed(failure) => failure,
            CallError::Refused(refused) => {
                let text = format!("the token could not be renewed: {}", refused.text());
                RequestFailure {
                    status: Some(refused.meta.status),
                    ..RequestFailure::local(FailureKind::Unauthorized(text))
                }
            }
        }
    }
}

impl Renewal<HeaderValue> for Renewing {
    fn renew(&self) -> BoxFuture<'_, Result<Lease<HeaderValue>, CallError>> {
        async {
            if let Some(failure) = self.over.get() {
                return Err(failure.clone().into());
            }
            let asked = self.exchange.ask(&self.scopes).await.map_err(NoToken::into_failure);
            let renewed = asked.and_then(|token| lease(token, self.now()));
            renewed.map_err(|failure| self.over.get_or_init(|| failure).clone().into())
        }
        .boxed()
    }

    /// Leases end by this machine's clock.
    fn now(&self) -> Timestamp {
        self.exchange.clock.now()
    }
}

impl Exchange {
    /// The provider, if it signs.
    fn remote(&self) -> Option<&Remote> {
        match &self.signing {
            Signing::Key(_) => None,
            Signing::Remote(remote) => Some(remote),
        }
    }

    /// A time of this machine as the provider's clock would show it, if their difference is known.
    fn by_provider(&self, time: Timestamp) -> Timestamp {
        let skew = SignedDuration::from_secs(self.skew.load(Ordering::Relaxed));
        time.checked_add(skew).unwrap_or(time)
    }

    /// Requests a token for `scopes` without using it. Tries again with the provider's own time if the exchange refused
    /// because of the clock.
    async fn ask(&self, scopes: &[OAuthScope]) -> Result<TokenAnswer, NoToken> {
        let refused = match self.ask_once(scopes).await? {
            Ok(token) => return Ok(token),
            Err(refused) => refused,
        };
        if self.learn_time(&refused) {
            let again = self.ask_once(scopes).await?;
            return again.map_err(|refused| NoToken::Exchange(ListingError::Refused(refused)));
        }
        Err(NoToken::Exchange(ListingError::Refused(refused)))
    }

    async fn ask_once(&self, scopes: &[OAuthScope]) -> Result<Result<TokenAnswer, Refused>, NoToken> {
        let failed = |failure| NoToken::Exchange(ListingError::Failed(failure));
        let now = self.by_provider(self.clock.now()).as_second();
        let scopes = joined(scopes, " ");
        let claims = claims(&self.account, &self.admin, &scopes, now);
        let assertion = match &self.signing {
            Signing::Remote(remote) => remote.sign(&claims).await.map_err(NoToken::Unsigned)?,
            Signing::Key(key) => {
                let local = |text| failed(RequestFailure::local(FailureKind::Transport(text)));
                claims.signed(key).map_err(local)?
            }
        };
        // A token can be had for an assertion until it expires, so it is just as secret. Without its signature it is
        // worthless.
        self.screen.learn([jwt::signature(&assertion)]);
        let url = self.account.token_uri.clone();
        let label = url.path().to_string();
        let body = format!("{GRANT}{}", assertion.as_str()).into_bytes();
        match self.client.ask(&TOKEN.post(url, label, body), &TOKEN).await {
            Ok(answered) => {
                // Every token arrives here, whether or not it is used.
                self.screen.learn([&answered.value.access_token]);
                Ok(Ok(answered.value))
            }
            Err(CallError::Refused(refused)) => Ok(Err(refused)),
            Err(CallError::Failed(failure)) => Err(failed(failure)),
        }
    }

    /// Learns the provider's time from a refusal. `false` if the refusal has another cause, or the time was known.
    fn learn_time(&self, refused: &Refused) -> bool {
        if !says_time(refused) {
            return false;
        }
        let Some(theirs) = refused.meta.header("date").and_then(http_date) else { return false };
        let skew = theirs.saturating_sub(refused.meta.received_at.as_second());
        let known = self.skew.swap(skew, Ordering::Relaxed);
        skew.abs_diff(known) >= SMALLEST_SKEW.unsigned_abs()
    }
}
