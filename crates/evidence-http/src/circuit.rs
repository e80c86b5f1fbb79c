//! When to give an endpoint up: a request that fails for every subject is not repeated 2,000 times.
//!
//! A request names its kind of question, and all requests of a kind share a [`Circuit`]. It counts requests that
//! failed after all their attempts, never attempts: it does not see faults that pass within the attempts. A refusal that
//! is a fact ("not found", "no permission") is an answer; an error or an unusable answer is a failure. [`Record::hope`] decides, and is pure. A circuit that has opened stays open for the run.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use super::reply::{FailureKind, Reply, RequestFailure};
use super::retry::{Class, RefusalCause};

/// The outcomes of the requests of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Record {
    /// One of them had an answer.
    answered: bool,
    /// How many have failed since the last answer.
    failed: u32,
}

/// How much to try for a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TryBudget {
    /// Every request has all its attempts.
    Full,
    /// One attempt each: with all attempts, an endpoint that hangs would take minutes for every request.
    Once,
    /// No more requests.
    None,
}

impl Record {
    /// A kind that has answered before gets five times the patience. So the client never gives up one that answers
    /// now and then, and one that stops answering in the middle of a run does not delay it for hours.
    fn hope(self) -> TryBudget {
        let (once, none) = if self.answered { (20, 100) } else { (5, 20) };
        match self.failed {
            failed if failed >= none => TryBudget::None,
            failed if failed >= once => TryBudget::Once,
            _ => TryBudget::Full,
        }
    }
}

/// A kind that the client gave up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GivenUp {
    /// The kind.
    pub kind: &'static str,
    /// How many requests failed in a row.
    pub failed: u32,
    /// How the last of them failed.
    pub last: String,
    /// How many requests were not sent because of it.
    pub not_asked: u64,
}

/// The circuits of a client and its siblings, by the kind of question.
#[derive(Default)]
pub(super) struct Circuits {
    kinds: Mutex<BTreeMap<&'static str, Arc<Circuit>>>,
}

impl Circuits {
    /// The circuit of a kind.
    pub(super) fn of(&self, kind: &'static str) -> Arc<Circuit> {
        let mut kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(kinds.entry(kind).or_default())
    }

    /// The kinds that the client gave up.
    pub(super) fn given_up(&self) -> Vec<GivenUp> {
        let kinds = self.kinds.lock().unwrap_or_else(PoisonError::into_inner);
        kinds.iter().filter_map(|(kind, circuit)| circuit.given_up(kind)).collect()
    }
}

/// The circuit of one kind.
#[derive(Default)]
pub(super) struct Circuit {
    state: Mutex<State>,
    opened: Notify,
}

#[derive(Default)]
struct State {
    record: Record,
    /// How the last request failed, once the circuit is open.
    last: Option<String>,
    not_asked: u64,
}

impl Circuit {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How much to try now.
    pub(super) fn hope(&self) -> TryBudget {
        let state = self.lock();
        if state.last.is_some() { TryBudget::None } else { state.record.hope() }
    }

    /// Waits for `work`, unless the kind is given up in the meantime.
    pub(super) async fn unless_given_up<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        let given_up = async {
            loop {
                // Subscribe before checking, so that no notification in between is lost.
                let opened = self.opened.notified();
                if self.hope() == TryBudget::None {
                    return;
                }
                opened.await;
            }
        };
        tokio::select! {
            biased;
            done = work => Some(done),
            () = given_up => None,
        }
    }

    /// Why a request has no answer after this many attempts.
    pub(super) fn failure(&self, attempts: u32) -> RequestFailure {
        let state = self.lock();
        let (failed, last) = (state.record.failed, state.last.clone().unwrap_or_default());
        RequestFailure { attempts, ..RequestFailure::local(FailureKind::GivenUp { failed, last }) }
    }

    /// Counts the outcome of a request. Returns `true` if it opens the circuit.
    pub(super) fn note(&self, outcome: &Result<Reply<()>, RequestFailure>) -> bool {
        let mut state = self.lock();
        if let Err(RequestFailure { kind: FailureKind::GivenUp { .. }, attempts, .. }) = outcome {
            state.not_asked += u64::from(*attempts == 0);
            return false;
        }
        if state.last.is_some() {
            return false;
        }
        match Outcome::of(outcome) {
            Outcome::Answer => state.record = Record { answered: true, failed: 0 },
            Outcome::OfTheClient => {}
            Outcome::Failure(text) => {
                state.record.failed += 1;
                if state.record.hope() == TryBudget::None {
                    state.last = Some(text);
                    drop(state);
                    self.opened.notify_waiters();
                    return true;
                }
            }
        }
        false
    }

    /// The report, if the client gave it up.
    pub(super) fn given_up(&self, kind: &'static str) -> Option<GivenUp> {
        let state = self.lock();
        let last = state.last.clone()?;
        Some(GivenUp { kind, failed: state.record.failed, last, not_asked: state.not_asked })
    }
}

/// What an outcome says about the endpoint.
enum Outcome {
    /// It answers: with data, or with a refusal that is a fact.
    Answer,
    /// It fails, in this way.
    Failure(String),
    /// Nothing: it concerns the client.
    OfTheClient,
}

impl Outcome {
    fn of(outcome: &Result<Reply<()>, RequestFailure>) -> Outcome {
        let refused = match outcome {
            Ok(Ok(_)) => return Outcome::Answer,
            Ok(Err(refused)) => refused,
            Err(failure) => {
                return match failure.kind {
                    FailureKind::Transport(_)
                    | FailureKind::PermanentFailure(..)
                    | FailureKind::HostFault(_)
                    | FailureKind::TooLarge { .. }
                    | FailureKind::UnexpectedShape(_)
                    | FailureKind::Foreign(_)
                    | FailureKind::Redirect(_) => Outcome::Failure(failure.to_string()),
                    FailureKind::RateLimited { .. }
                    | FailureKind::SecondaryLimit
                    | FailureKind::Throttled(_)
                    | FailureKind::Unauthorized(_)
                    | FailureKind::GivenUp { .. } => Outcome::OfTheClient,
                };
            }
        };
        match refused.class {
            Class::Success
            | Class::NotModified
            | Class::NotFound
            | Class::Blocked
            | Class::Forbidden(RefusalCause::Permission) => Outcome::Answer,
            Class::Unauthorized
            | Class::Forbidden(RefusalCause::LoginAttempts)
            | Class::PrimaryLimit { .. }
            | Class::SecondaryLimit { .. }
            | Class::Throttled { .. } => Outcome::OfTheClient,
            // An error, or not the host's own answer: it says nothing about the subject.
            Class::Forbidden(RefusalCause::Intermediary)
            | Class::Gone
            | Class::Redirect
            | Class::HostFault { .. }
            | Class::Page
            | Class::Transport
            | Class::Unexpected => {
                Outcome::Failure(format!("{} (HTTP {})", refused.text(), refused.meta.status))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;
    use crate::reply::{Answered, Meta, Refused};

    /// The whole domain: whether anything has answered, and how many have failed since.
    #[test]
    fn hope_fades() {
        for (answered, failed, hope) in [
            (false, 0..5, TryBudget::Full),
            (false, 5..20, TryBudget::Once),
            (false, 20..1_000, TryBudget::None),
            (true, 0..20, TryBudget::Full),
            (true, 20..100, TryBudget::Once),
            (true, 100..1_000, TryBudget::None),
        ] {
            for failed in failed {
                assert_eq!(Record { answered, failed }.hope(), hope, "{answered} {failed}");
            }
        }
    }

    fn failure(kind: FailureKind) -> RequestFailure {
        RequestFailure { attempts: 5, ..RequestFailure::local(kind) }
    }

    type Noted = Result<Reply<()>, RequestFailure>;

    fn failed(kind: FailureKind) -> Noted {
        Err(failure(kind))
    }

    fn refused(class: Class) -> Noted {
        let meta = Meta { status: 418, ..Meta::default() };
        Ok(Err(Refused { class, code: None, message: None, permission: None, meta }))
    }

    /// What each outcome counts as: how many more failures the circuit allows after nineteen.
    #[test]
    fn only_failures_count() {
        let broken = || failed(FailureKind::HostFault("HTTP 502".to_string()));
        let text = || "x".to_string();
        let limited = FailureKind::RateLimited { limit: None, reset: None };
        let forbidden = |cause| refused(Class::Forbidden(cause));
        for (outcome, endured) in [
            (Ok(Ok(Answered { value: (), meta: Meta::default() })), 99),
            (refused(Class::NotFound), 99),
            (refused(Class::Blocked), 99),
            (refused(Class::NotModified), 99),
            (forbidden(RefusalCause::Permission), 99),
            (forbidden(RefusalCause::LoginAttempts), 0),
            (refused(Class::Unauthorized), 0),
            (failed(limited), 0),
            (failed(FailureKind::SecondaryLimit), 0),
            (failed(FailureKind::Throttled(text())), 0),
            (failed(FailureKind::Unauthorized(text())), 0),
        ] {
            let circuit = Circuit::default();
            assert!((0..19).all(|_| !circuit.note(&broken())));
            assert!(!circuit.note(&outcome), "{outcome:?}");
            assert_eq!((0..).find(|_| circuit.note(&broken())), Some(endured), "{outcome:?}");
        }
        for outcome in [
            failed(FailureKind::Transport(text())),
            failed(FailureKind::HostFault(text())),
            failed(FailureKind::TooLarge { limit: 1 }),
            failed(FailureKind::UnexpectedShape(text())),
            failed(FailureKind::Foreign(text())),
            failed(FailureKind::Redirect(text())),
            forbidden(RefusalCause::Intermediary),
            refused(Class::Unexpected),
            refused(Class::Gone),
        ] {
            let circuit = Circuit::default();
            assert!((0..19).all(|_| !circuit.note(&outcome)), "{outcome:?}");
            assert!(circuit.note(&outcome), "{outcome:?}");
        }
    }

    #[test]
    fn what_waits_is_given_up_and_counted() {
        let circuits = Circuits::default();
        let circuit = circuits.of("a kind");
        let mut waiting = Box::pin(circuit.unless_given_up(std::future::pending::<()>()));
        assert!(waiting.as_mut().now_or_never().is_none());
        assert_eq!(circuits.given_up(), Vec::new());
        let transport = failed(FailureKind::Transport("no answer within 60 s".to_string()));
        assert_eq!((1..).find(|_| circuit.note(&transport)), Some(20));
        assert_eq!(waiting.as_mut().now_or_never(), Some(None));
        // Work that is complete counts.
        assert_eq!(circuit.unless_given_up(std::future::ready(7)).now_or_never(), Some(Some(7)));
        // One request was under way and counts as sent; the other does not. No later outcome closes the
        // circuit.
        for attempts in [1, 0] {
            assert!(!circuit.note(&Err(circuit.failure(attempts))));
        }
        assert!(!circuit.note(&refused(Class::NotFound)));
        assert_eq!(circuit.hope(), TryBudget::None);
        let last = "no answer within 60 s (after 5 attempts)".to_string();
        let expected = GivenUp { kind: "a kind", failed: 20, last, not_asked: 1 };
        assert_eq!(circuits.given_up(), [expected]);
        assert_eq!(circuits.of("another kind").hope(), TryBudget::Full);
        assert_eq!(
            circuit.failure(0).to_string(),
            "not asked: 20 consecutive requests failed: no answer within 60 s (after 5 attempts)"
        );
        assert_eq!(
            circuit.failure(1).to_string(),
            "given up: 20 consecutive requests failed: no answer within 60 s (after 5 attempts)"
        );
    }
}
