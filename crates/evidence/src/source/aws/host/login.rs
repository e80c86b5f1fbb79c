//! The credentials for the hosts of one account: those in the variables, or a role's, which expire and are renewed in
//! time.

use std::sync::Arc;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::{SignedDuration, Timestamp};

use super::sign::Credentials;
use evidence_http::{CallError, Lease, RenewalTerms};
use evidence_screen::Screen;

/// Credentials are renewed five minutes before they expire: longer than a request with its retries takes. A refusal is
/// final, since the provider names expired credentials as the cause of no other refusal.
const TERMS: RenewalTerms =
    RenewalTerms { before_end: SignedDuration::from_mins(5), after_pause: None, refusals: 0 };

/// The credentials for all hosts of one account.
pub(crate) type Login = evidence_http::Login<Credentials>;

/// The source of new credentials.
pub(crate) struct Renewal {
    /// Requests new credentials.
    pub(crate) ask: Box<dyn Fn() -> BoxFuture<'static, Result<Credentials, CallError>> + Send + Sync>,
    /// The provider's time, which decides about expiry.
    pub(crate) now: Box<dyn Fn() -> Timestamp + Send + Sync>,
    /// The screen must learn new secrets too.
    pub(crate) screen: Arc<Screen>,
}

impl Renewal {
    /// A login that begins with these credentials.
    pub(crate) fn login(self, first: Credentials) -> Login {
        Login::renewed(TERMS, Box::new(self)).starting_with(lease(first))
    }
}

impl evidence_http::Renewal<Credentials> for Renewal {
    fn renew(&self) -> BoxFuture<'_, Result<Lease<Credentials>, CallError>> {
        async {
            let credentials = (self.ask)().await?;
            self.screen.learn(credentials.secrets());
            Ok(lease(credentials))
        }
        .boxed()
    }

    fn now(&self) -> Timestamp {
        (self.now)()
    }
}

fn lease(credentials: Credentials) -> Lease<Credentials> {
    Lease { expires: credentials.expires(), value: credentials }
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex as StateMutex;
    use std::sync::atomic::{AtomicI64, Ordering};

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
            now: Box::new(move || Timestamp::from_second(now.load(Ordering::Relaxed)).unwrap()),
            screen: Arc::new(Screen::new(&[])),
        };
        (renewal.login(credentials("FIRST", end)), time, asked)
    }

    /// The access key id in use at a time, or `None` if the credentials have expired.
    fn at(login: &Login, time: &AtomicI64, seconds: i64) -> Option<String> {
        time.store(seconds, Ordering::Relaxed);
        let renewed = login.ensure().now_or_never().unwrap();
        renewed.ok().map(|()| login.value().unwrap().access_key_id().to_string())
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
        assert_eq!(at(&login, &time, 200_000_000_000).as_deref(), Some("FIRST"));
        assert_eq!(asked.load(Ordering::Relaxed), 0);
    }
}
