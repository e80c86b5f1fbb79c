//! What a credential sends, and its renewal: in time, for all workers at once, and when the host refuses it.
//!
//! A [`Login`] decides when to renew; a [`Renewal`] knows how. So a new way to sign in implements only [`Renewal`].

use std::sync::{Mutex, MutexGuard, PoisonError};

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderValue};

use super::credential::Credential;
use super::reply::CallError;
use super::request::Request;

/// Something to send, and when it expires.
#[derive(Debug, Clone)]
pub struct Lease<T> {
    /// What to send.
    pub value: T,
    /// When it expires, by the clock of [`Renewal::now`]; `None` if that is unknown.
    pub expires: Option<Timestamp>,
}

/// Where new leases come from.
pub trait Renewal<T>: Send + Sync {
    /// Requests a new lease.
    fn renew(&self) -> BoxFuture<'_, Result<Lease<T>, CallError>>;

    /// The time by which leases expire: the provider's, as far as it is known.
    fn now(&self) -> Timestamp;
}

/// When to renew.
#[derive(Debug, Clone, Copy)]
pub struct RenewalTerms {
    /// How long before the end, for a renewed value at most half of its lifetime: longer than a request with its retries
    /// takes.
    pub before_end: SignedDuration,
    /// After how long a time without a request, for example a pause for a limit or a suspended machine.
    pub after_pause: Option<SignedDuration>,
    /// How many new values in a row the host may refuse before the login gives up. With 0, a refusal is final.
    pub refusals: u32,
}

/// What a credential sends.
pub struct Login<T> {
    state: Mutex<State<T>>,
    renewing: Option<(RenewalTerms, Box<dyn Renewal<T>>)>,
    /// The holder renews. The others wait for its result.
    turn: tokio::sync::Mutex<()>,
}

struct State<T> {
    held: Option<Held<T>>,
    /// How many new values the host has refused in a row.
    refused: u32,
    /// How many renewals were tried, and how the last one failed.
    tried: u64,
    failure: Option<CallError>,
}

struct Held<T> {
    lease: Lease<T>,
    /// When to renew it.
    due: Option<Timestamp>,
    /// When it was last sent or obtained.
    used: Timestamp,
    standing: Standing,
}

/// What the host thinks of a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Standing {
    New,
    Accepted,
    Refused,
}

/// Whether to renew now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Need {
    No,
    /// The present value still serves if the renewal fails.
    Soon,
    /// There is no valid value.
    Now,
}

impl<T> Lease<T> {
    /// When to renew it, this long before its end.
    fn due(&self, before_end: SignedDuration) -> Option<Timestamp> {
        self.expires.map(|end| end.checked_sub(before_end).unwrap_or(end))
    }
}

impl<T: Clone + Send + Sync> Login<T> {
    /// A value that is never renewed.
    pub fn fixed(value: T) -> Login<T> {
        let login = Login { renewing: None, ..Login::empty() };
        login.lock().hold(Lease { value, expires: None }, None, Timestamp::MIN);
        login
    }

    /// Values that `renewal` provides, the first one when it is first needed.
    pub fn renewed(terms: RenewalTerms, renewal: Box<dyn Renewal<T>>) -> Login<T> {
        Login { renewing: Some((terms, renewal)), ..Login::empty() }
    }

    fn empty() -> Login<T> {
        let state = State { held: None, refused: 0, tried: 0, failure: None };
        Login { state: Mutex::new(state), renewing: None, turn: tokio::sync::Mutex::new(()) }
    }

    /// The same login, which begins with a lease that was obtained elsewhere.
    #[must_use]
    pub fn starting_with(self, lease: Lease<T>) -> Login<T> {
        if let Some((terms, renewal)) = &self.renewing {
            // It may have been obtained long ago, so nothing is known of its whole life.
            let due = lease.due(terms.before_end);
            self.lock().hold(lease, due, renewal.now());
        }
        self
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The value to send; `None` before the first [`Login::ensure`].
    pub fn value(&self) -> Option<T> {
        self.lock().held.as_ref().map(|held| held.lease.value.clone())
    }

    /// Ensures that the value serves for the next request. Of all callers that find it does not, one renews it; the
    /// others take its result, also if that is a failure.
    ///
    /// # Errors
    ///
    /// Fails if the value has expired or was refused, and cannot be renewed.
    pub async fn ensure(&self) -> Result<(), CallError> {
        let Some((terms, renewal)) = &self.renewing else { return Ok(()) };
        let tried = {
            let mut state = self.lock();
            if state.need(renewal.now(), terms) == Need::No {
                return Ok(());
            }
            state.tried
        };
        let _turn = self.turn.lock().await;
        let need = {
            let mut state = self.lock();
            let need = state.need(renewal.now(), terms);
            if need == Need::No {
                return Ok(());
            }
            if state.tried != tried
                && let Some(failure) = &state.failure
            {
                return Err(failure.clone());
            }
            need
        };
        let renewed = renewal.renew().await;
        let (mut state, now) = (self.lock(), renewal.now());
        state.tried += 1;
        match renewed {
            Ok(lease) => {
                let lifetime = lease.expires.map_or(SignedDuration::MAX, |end| end.duration_since(now));
                let due = lease.due(terms.before_end.min(lifetime.max(SignedDuration::ZERO) / 2));
                state.hold(lease, due, now);
                Ok(())
            }
            Err(_) if need == Need::Soon => {
                state.keep(now);
                Ok(())
            }
            Err(error) => {
                state.failure = Some(error.clone());
                Err(error)
            }
        }
    }

    /// Learns that the host accepted the value that `is_it` recognises.
    pub fn note_accepted(&self, is_it: impl FnOnce(&T) -> bool) {
        let mut state = self.lock();
        if let Some(held) = &mut state.held
            && held.standing == Standing::New
            && is_it(&held.lease.value)
        {
            held.standing = Standing::Accepted;
            state.refused = 0;
        }
    }

    /// Learns that the host refused the value that `is_it` recognises. Returns whether another one can be tried.
    pub fn note_refused(&self, is_it: impl FnOnce(&T) -> bool) -> bool {
        let Some((terms, _)) = self.renewing.as_ref().filter(|(terms, _)| terms.refusals > 0) else {
            return false;
        };
        let mut state = self.lock();
        if let Some(held) = &mut state.held
            && held.standing != Standing::Refused
            && is_it(&held.lease.value)
        {
            let was_new = std::mem::replace(&mut held.standing, Standing::Refused) == Standing::New;
            state.refused += u32::from(was_new);
        }
        state.refused < terms.refusals
    }
}

impl<T> State<T> {
    fn hold(&mut self, lease: Lease<T>, due: Option<Timestamp>, now: Timestamp) {
        self.held = Some(Held { lease, due, used: now, standing: Standing::New });
        self.failure = None;
    }

    /// Whether to renew at `now`. If not, the value counts as used.
    fn need(&mut self, now: Timestamp, terms: &RenewalTerms) -> Need {
        let Some(held) = self.held.as_mut().filter(|held| held.standing != Standing::Refused) else {
            return Need::Now;
        };
        if held.lease.expires.is_some_and(|end| now >= end) {
            return Need::Now;
        }
        let is_due = held.due.is_some_and(|due| now >= due);
        let paused = terms.after_pause.is_some_and(|pause| now.duration_since(held.used) > pause);
        if is_due || paused {
            return Need::Soon;
        }
        held.used = now;
        Need::No
    }

    /// Keeps the value although it could not be renewed: the next try is at its end, or after the next pause.
    fn keep(&mut self, now: Timestamp) {
        if let Some(held) = &mut self.held {
            held.used = now;
            held.due = held.due.filter(|due| now < *due);
        }
    }
}

/// `Bearer <token>`, marked sensitive so that no layer prints it; `None` if a header cannot hold the token.
pub fn bearer(token: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(&format!("Bearer {token}")).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// Sends the value as `Authorization`.
impl Credential for Login<HeaderValue> {
    fn ready(&self) -> BoxFuture<'_, Result<(), CallError>> {
        self.ensure().boxed()
    }

    fn authorize(&self, request: &mut Request, _now: Timestamp) -> Result<(), String> {
        let value = self.value().ok_or("there is nothing to sign in with")?;
        request.headers.insert(AUTHORIZATION, value);
        Ok(())
    }

    fn accepted(&self, sent: &HeaderMap) {
        self.note_accepted(|value| sent.get(AUTHORIZATION) == Some(value));
    }

    fn refused(&self, sent: &HeaderMap) -> bool {
        self.note_refused(|value| sent.get(AUTHORIZATION) == Some(value))
    }
}

#[cfg(test)]
mod tests;
