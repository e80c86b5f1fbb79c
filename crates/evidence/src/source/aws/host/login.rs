//! The credentials for a host: those in the variables, or a role's, which expire and are renewed in time.

use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex as StateMutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::Mutex;

use super::sign::Credentials;
use evidence_http::CallError;
use evidence_screen::Screen;

/// How many seconds before they expire credentials are renewed: longer than a request with its retries takes.
const MARGIN: i64 = 300;

/// The credentials for all hosts of one account.
pub(crate) struct Login {
    credentials: StateMutex<Credentials>,
    renewal: Option<Renewal>,
    /// How many seconds before expiry to renew. After a failed attempt it is 0: the next attempt is at expiry.
    margin: AtomicI64,
    /// Allows one renewal at a time; other requests wait for its result.
    turn: Mutex<()>,
}

/// The source of new credentials.
pub(crate) struct Renewal {
    /// Requests new credentials.
    pub(crate) ask: Box<dyn Fn() -> BoxFuture<'static, Result<Credentials, CallError>> + Send + Sync>,
    /// The provider's time, which decides about expiry, in seconds since 1970.
    pub(crate) now: Box<dyn Fn() -> i64 + Send + Sync>,
    /// The screen must learn new secrets too.
    pub(crate) screen: Arc<Screen>,
}

impl Login {
    /// A login with these credentials. Without a renewal, they are used as long as they last.
    pub(crate) fn new(credentials: Credentials, renewal: Option<Renewal>) -> Login {
        let (credentials, margin) = (StateMutex::new(credentials), AtomicI64::new(MARGIN));
        Login { credentials, renewal, margin, turn: Mutex::new(()) }
    }

    /// The current credentials.
    pub(crate) fn credentials(&self) -> Credentials {
        self.credentials.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Ensures that the credentials last for the next request.
    ///
    /// # Errors
    ///
    /// Fails if the credentials have expired and cannot be renewed.
    pub(crate) async fn renew(&self) -> Result<(), CallError> {
        let Some(renewal) = self.renewal.as_ref().filter(|renewal| self.is_time(renewal)) else {
            return Ok(());
        };
        let _turn = self.turn.lock().await;
        if !self.is_time(renewal) {
            return Ok(());
        }
        match (renewal.ask)().await {
            Ok(credentials) => {
                renewal.screen.learn(credentials.secrets());
                self.margin.store(MARGIN, Ordering::Relaxed);
                *self.credentials.lock().unwrap_or_else(PoisonError::into_inner) = credentials;
                Ok(())
            }
            Err(error) => {
                // The current credentials are still valid: try again when they expire.
                let ended = self.margin.swap(0, Ordering::Relaxed) == 0;
                if ended { Err(error) } else { Ok(()) }
            }
        }
    }

    /// Whether to renew the credentials now.
    fn is_time(&self, renewal: &Renewal) -> bool {
        let left = self.credentials().expires().map(|end| end.as_second().saturating_sub((renewal.now)()));
        left.is_some_and(|left| left <= self.margin.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use futures_util::FutureExt as _;
    use jiff::Timestamp;

    use super::*;
    use evidence_http::{FailureKind, RequestFailure};

    fn credentials(id: &str, end: Option<i64>) -> Credentials {
        let made = Credentials::new(id, "not-a-real-secret", Some("not-a-real-token")).unwrap();
        made.until(end.map(|end| Timestamp::from_second(end).unwrap()))
    }

    /// A login with a fake clock, and the results of its renewals; `None` is a failure.
    fn login(
        end: Option<i64>,
        next: Vec<Option<(&'static str, i64)>>,
    ) -> (Login, Arc<AtomicI64>, Arc<AtomicI64>) {
        let (time, asked) = (Arc::new(AtomicI64::new(0)), Arc::new(AtomicI64::new(0)));
        let next = StateMutex::new(VecDeque::from(next));
        let (now, count) = (Arc::clone(&time), Arc::clone(&asked));
        let ask = move || {
            count.fetch_add(1, Ordering::Relaxed);
            let given = next.lock().unwrap().pop_front().flatten();
            let failure = || RequestFailure::local(FailureKind::Transport("cannot connect".to_string()));
            let result = given.map(|(id, end)| credentials(id, Some(end)));
            std::future::ready(result.ok_or_else(|| CallError::Failed(failure()))).boxed()
        };
        let renewal = Renewal {
            ask: Box::new(ask),
            now: Box::new(move || now.load(Ordering::Relaxed)),
            screen: Arc::new(Screen::new(&[])),
        };
        (Login::new(credentials("FIRST", end), Some(renewal)), time, asked)
    }

    /// The access key id in use at a time, or `None` if the credentials have expired.
    fn at(login: &Login, time: &AtomicI64, seconds: i64) -> Option<String> {
        time.store(seconds, Ordering::Relaxed);
        let renewed = login.renew().now_or_never().unwrap();
        renewed.ok().map(|()| login.credentials().access_key_id().to_string())
    }

    #[test]
    fn credentials_are_renewed_before_they_end() {
        let (login, time, asked) = login(Some(900), vec![Some(("SECOND", 1_800)), Some(("THIRD", 2_700))]);
        let table = [(0, "FIRST"), (599, "FIRST"), (600, "SECOND"), (601, "SECOND"), (1_700, "THIRD")];
        for (seconds, id) in table {
            assert_eq!(at(&login, &time, seconds).as_deref(), Some(id), "{seconds}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 2);
    }

    #[test]
    fn a_renewal_that_fails_is_tried_again_at_the_end() {
        let (login, time, asked) = login(Some(900), vec![None, None, Some(("SECOND", 1_800))]);
        let (first, second) = (Some("FIRST"), Some("SECOND"));
        for (seconds, id) in [(700, first), (800, first), (900, None), (901, second), (1_600, second)] {
            assert_eq!(at(&login, &time, seconds).as_deref(), id, "{seconds}");
        }
        assert_eq!(asked.load(Ordering::Relaxed), 4);
    }

    #[test]
    fn credentials_without_an_end_are_never_renewed() {
        let (login, time, asked) = login(None, Vec::new());
        assert_eq!(at(&login, &time, i64::MAX).as_deref(), Some("FIRST"));
        assert_eq!(asked.load(Ordering::Relaxed), 0);
    }
}
