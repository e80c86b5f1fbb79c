//! Access tokens: obtains them in exchange for assertions and renews them.
//!
//! Assertions go only to the exchange, and tokens only to the API: each has its own clients. A token is renewed before
//! it expires, and once if the API stops accepting it. The calls of each scope have their own gate, so that a refusal
//! in one part of the API does not block the others. Nothing here depends on what the calls are.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, PoisonError};

use evidence_bundle::document::Warning;
use evidence_text::saturating_i64;
use jiff::{SignedDuration, Timestamp};
use tokio::sync::Mutex;
use zeroize::Zeroizing;

use super::answer::says_time;
use super::assertion::assertion;
use super::dialect::DirectoryApi;
use super::listing::ListingError;
use super::scopes::{OAuthScope, joined};
use super::service_account::ServiceAccount;
use super::token::{TOKEN, TokenAnswer};
use crate::env::Clock;
use crate::jwt;
use crate::source::google::names::NAME;
use evidence_http::retry::{Class, http_date};
use evidence_http::{
    self, Answered, Call, Client, FailureKind, GivenUp, Login, Refused, Request, RequestFailure, bearer,
};
use evidence_screen::Screen;

/// The grant type (RFC 7523), form-encoded.
const GRANT: &str = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion=";

/// The assumed lifetime of a token if the answer does not state one.
const SHORT_LIFETIME: u64 = 600;

/// A token is renewed this many seconds before it expires: longer than a single request takes.
const MARGIN: u64 = 60;

/// A smaller clock difference cannot be why an exchange was refused.
const SMALLEST_SKEW: i64 = 5;

/// The service account's access to the API on behalf of one administrator.
pub(crate) struct Access {
    account: ServiceAccount,
    admin: String,
    /// The client of the exchange.
    exchange: Client,
    /// The client whose siblings call the API.
    api: Client,
    clock: Clock,
    screen: Arc<Screen>,
    /// The offset in seconds from this machine's clock to the provider's.
    skew: AtomicI64,
    state: Mutex<TokenState>,
    /// Every client that ever held a token.
    made: std::sync::Mutex<Vec<(OAuthScope, Arc<Client>)>>,
}

#[derive(Default)]
struct TokenState {
    scopes: Vec<OAuthScope>,
    grant: Option<Arc<Grant>>,
    /// Why no further token is requested.
    over: Option<RequestFailure>,
    /// Scopes that are refused even with a fresh token.
    closed: Vec<(OAuthScope, RequestFailure)>,
}

/// A token, held by the clients that send it.
struct Grant {
    number: u64,
    /// When to stop using it, by this machine's clock.
    until: Timestamp,
    clients: Vec<(OAuthScope, Arc<Client>)>,
}

impl Access {
    /// Access without a token yet. `exchange` calls the account's `token_uri`, `api` the API.
    pub(crate) fn new(
        account: ServiceAccount,
        admin: String,
        exchange: Client,
        api: Client,
        clock: Clock,
        screen: Arc<Screen>,
    ) -> Access {
        let (skew, state, made) = (AtomicI64::new(0), Mutex::default(), std::sync::Mutex::default());
        Access { account, admin, exchange, api, clock, screen, skew, state, made }
    }

    /// The service account.
    pub(crate) fn account(&self) -> &ServiceAccount {
        &self.account
    }

    /// The number of requests sent so far, retries included, and the number of retries.
    pub(crate) fn requests(&self) -> (u64, u64) {
        let both = |count: fn(&Client) -> u64| count(&self.exchange).saturating_add(count(&self.api));
        (both(Client::requests), both(Client::retries))
    }

    /// The listings that were given up.
    pub(crate) fn given_up(&self) -> Vec<GivenUp> {
        self.api.given_up()
    }

    /// How long limits held requests back. Scopes run concurrently, so the longest total counts; a scope's tokens are
    /// used one after the other, and every call waits for the exchange.
    pub(crate) fn paused(&self) -> SignedDuration {
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let of = |scope: &OAuthScope| {
            let clients = made.iter().filter(|(of, _)| of == scope);
            clients.fold(SignedDuration::ZERO, |sum, (_, client)| sum.saturating_add(client.paused()))
        };
        let longest = OAuthScope::ALL.iter().map(of).max().unwrap_or(SignedDuration::ZERO);
        longest.saturating_add(self.exchange.paused())
    }

    /// The provider's time, if known; else this machine's.
    fn now(&self) -> Timestamp {
        self.by_provider(self.clock.now())
    }

    /// A time of this machine as the provider's clock would show it, if their difference is known.
    pub(crate) fn by_provider(&self, time: Timestamp) -> Timestamp {
        let skew = SignedDuration::from_secs(self.skew.load(Ordering::Relaxed));
        time.checked_add(skew).unwrap_or(time)
    }

    /// A warning if this machine's clock is wrong.
    pub(crate) fn warning(&self) -> Option<Warning> {
        let skew = self.skew.load(Ordering::Relaxed);
        let side = if skew > 0 { "behind" } else { "ahead of" };
        (skew != 0).then(|| {
            let message = format!(
                "this machine's clock is {} s {side} the provider's: assertions use the provider's time",
                skew.unsigned_abs()
            );
            NAME.warning("clock_skewed", message, None)
        })
    }

    /// Requests a token for `scopes` without using it. Tries again with the provider's own time if the exchange refused
    /// because of the clock.
    pub(crate) async fn ask(&self, scopes: &[OAuthScope]) -> Result<TokenAnswer, ListingError> {
        let refused = match self.ask_once(scopes).await? {
            Ok(token) => return Ok(token),
            Err(refused) => refused,
        };
        if self.learn_time(&refused) {
            return self.ask_once(scopes).await?.map_err(ListingError::Refused);
        }
        Err(ListingError::Refused(refused))
    }

    async fn ask_once(&self, scopes: &[OAuthScope]) -> Result<Result<TokenAnswer, Refused>, ListingError> {
        let local = |text| ListingError::Failed(RequestFailure::local(FailureKind::Transport(text)));
        let now = self.now().as_second();
        let assertion = assertion(&self.account, &self.admin, &joined(scopes, " "), now).map_err(local)?;
        // A token can be had for an assertion until it expires, so it is just as secret. Without its signature it is
        // worthless.
        self.screen.learn([jwt::signature(&assertion)]);
        let url = self.account.token_uri.clone();
        let label = url.path().to_string();
        let body = format!("{GRANT}{}", assertion.as_str()).into_bytes();
        match self.exchange.ask(&TOKEN.post(url, label, body), &TOKEN).await {
            Ok(answered) => {
                // Every token arrives here, whether or not it is used.
                self.screen.learn([&answered.value.access_token]);
                Ok(Ok(answered.value))
            }
            Err(evidence_http::CallError::Refused(refused)) => Ok(Err(refused)),
            Err(evidence_http::CallError::Failed(failure)) => Err(ListingError::Failed(failure)),
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

    /// Uses `token`, and requests further tokens for `scopes`.
    pub(crate) async fn start(
        &self,
        scopes: &[OAuthScope],
        token: TokenAnswer,
    ) -> Result<(), RequestFailure> {
        let mut state = self.state.lock().await;
        state.scopes = scopes.to_vec();
        state.grant = Some(Arc::new(self.grant(scopes, token, 1)?));
        Ok(())
    }

    fn grant(&self, scopes: &[OAuthScope], token: TokenAnswer, number: u64) -> Result<Grant, RequestFailure> {
        let lifetime = token.expires_in.unwrap_or(SHORT_LIFETIME);
        let token = Zeroizing::new(token.access_token);
        let usable = lifetime.saturating_sub(MARGIN.min(lifetime / 2));
        let usable = SignedDuration::from_secs(saturating_i64(usable));
        let until = self.clock.now().checked_add(usable).unwrap_or(Timestamp::MAX);
        let bad = || {
            RequestFailure::local(FailureKind::UnexpectedShape(
                "the token has characters that a header cannot hold".to_string(),
            ))
        };
        let credential = Arc::new(Login::fixed(bearer(&token).ok_or_else(bad)?));
        let sibling = || self.api.sibling(Arc::new(DirectoryApi), credential.clone());
        let client = |scope: &OAuthScope| (*scope, Arc::new(sibling()));
        let clients: Vec<_> = scopes.iter().map(client).collect();
        self.made.lock().unwrap_or_else(PoisonError::into_inner).extend(clients.iter().cloned());
        Ok(Grant { number, until, clients })
    }

    /// Sends a request of `scope` with a valid token. Renews the token once if the API does not accept it.
    pub(crate) async fn send<T>(
        &self,
        scope: OAuthScope,
        request: &Request,
        call: &Call<T>,
    ) -> Result<Answered<T>, evidence_http::CallError> {
        let grant = self.current(scope).await?;
        let first = grant.send(scope, request, call).await;
        if rejected(&first).is_none() {
            return first;
        }
        let renewed = self.renewed(scope, &grant).await?;
        let second = renewed.send(scope, request, call).await;
        if let Some(text) = rejected(&second) {
            // The API refuses a fresh token too, so the token is not the cause. Stop requesting.
            let failure = RequestFailure::local(FailureKind::Unauthorized(text));
            self.state.lock().await.closed.push((scope, failure));
        }
        second
    }

    async fn current(&self, scope: OAuthScope) -> Result<Arc<Grant>, RequestFailure> {
        let mut state = self.state.lock().await;
        state.is_open(scope)?;
        match &state.grant {
            Some(grant) if self.clock.now() < grant.until => Ok(Arc::clone(grant)),
            _ => self.renew(&mut state).await,
        }
    }

    /// A newer token than `stale`. Requests one only if no other call has done so meanwhile.
    async fn renewed(&self, scope: OAuthScope, stale: &Grant) -> Result<Arc<Grant>, RequestFailure> {
        let mut state = self.state.lock().await;
        state.is_open(scope)?;
        match &state.grant {
            Some(grant) if grant.number != stale.number => Ok(Arc::clone(grant)),
            _ => self.renew(&mut state).await,
        }
    }

    /// Holds the lock, so that other calls that need a token wait for this one.
    async fn renew(&self, state: &mut TokenState) -> Result<Arc<Grant>, RequestFailure> {
        let number = state.grant.as_ref().map_or(0, |grant| grant.number).saturating_add(1);
        let asked = self.ask(&state.scopes).await.map_err(|problem| match problem {
            ListingError::Failed(failure) => failure,
            ListingError::NotDelegated(_, text) => RequestFailure::local(FailureKind::Unauthorized(text)),
            ListingError::Refused(refused) => {
                let text = format!("the token could not be renewed: {}", refused.text());
                RequestFailure {
                    status: Some(refused.meta.status),
                    ..RequestFailure::local(FailureKind::Unauthorized(text))
                }
            }
        });
        match asked.and_then(|token| self.grant(&state.scopes, token, number)) {
            Ok(grant) => {
                let grant = Arc::new(grant);
                state.grant = Some(Arc::clone(&grant));
                Ok(grant)
            }
            Err(failure) => {
                state.over = Some(failure.clone());
                Err(failure)
            }
        }
    }
}

impl TokenState {
    fn is_open(&self, scope: OAuthScope) -> Result<(), RequestFailure> {
        let closed = self.closed.iter().find(|(closed, _)| *closed == scope).map(|(_, failure)| failure);
        self.over.as_ref().or(closed).map_or(Ok(()), |failure| Err(failure.clone()))
    }
}

impl Grant {
    async fn send<T>(
        &self,
        scope: OAuthScope,
        request: &Request,
        call: &Call<T>,
    ) -> Result<Answered<T>, evidence_http::CallError> {
        match self.clients.iter().find(|(of, _)| *of == scope) {
            Some((_, client)) => client.ask(request, call).await,
            None => {
                let text = format!("the scope {} is not delegated", scope.name());
                Err(RequestFailure::local(FailureKind::Unauthorized(text)).into())
            }
        }
    }
}

/// The provider's message if it did not accept the token, for this request or an earlier one.
fn rejected<T>(answer: &Result<Answered<T>, evidence_http::CallError>) -> Option<String> {
    match answer {
        Err(evidence_http::CallError::Refused(refused)) if refused.class == Class::Unauthorized => {
            Some(refused.text())
        }
        Err(evidence_http::CallError::Failed(RequestFailure {
            kind: FailureKind::Unauthorized(text),
            ..
        })) => Some(text.clone()),
        _ => None,
    }
}
