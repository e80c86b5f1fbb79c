//! The one gate that every request to a host passes: how many at once, how fast, and whether the host wants a rest.
//!
//! All workers share it, so a limit that one of them meets is respected by all, they wait together, and one of them
//! shows the wait. The numbers come from the pure parts; this file only holds them and waits.

use std::sync::{Mutex, MutexGuard, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

use super::clock::Clock;
use super::concurrency::{Concurrency, Ticket};
use super::pace::{Blocked, Pace};
use super::quota::{Admit, Quota};
use super::reply::{FailureKind, RequestFailure};
use super::retry::Class;
use super::settings::ClientSettings;
use super::watch::{WaitReason, Watch};

/// Fewer remaining requests than this, and the run waits for the reset (specification, "Pause threshold").
pub(super) const PAUSE_THRESHOLD: u64 = 100;

/// A pacing wait from which on it is shown: what stands still for seconds looks like a failure.
const SHOWN_PACE: SignedDuration = SignedDuration::from_secs(3);

/// How often a wait is shown again.
const COUNTDOWN_STEP: SignedDuration = SignedDuration::from_secs(1);

pub(super) struct Gate {
    state: Mutex<State>,
    /// Who holds this is the next to start: requests start in the order in which they came, and only one of them
    /// watches for a free place or counts down a wait.
    turn: tokio::sync::Mutex<()>,
    /// Tells the next in turn that a place has become free.
    free: Notify,
    /// Ends a wait that has lost its purpose.
    closed: Notify,
    pause: bool,
}

struct State {
    concurrency: Concurrency,
    pace: Pace,
    quota: Quota,
    in_flight: usize,
    /// Until when a secondary limit holds everything back.
    held_until: Option<Timestamp>,
    /// A refusal that every further request would meet too: ask nothing more.
    closed: Option<RequestFailure>,
    paused: SignedDuration,
    /// Until when waits are in `paused`.
    paused_until: Timestamp,
    answered: bool,
    tells_limits: bool,
}

/// A wait that is shown until it is over, or given up.
struct Shown<'a>(&'a dyn Watch);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.0.wait_over();
    }
}

enum Admission {
    Start(Ticket),
    Full,
    Wait(Timestamp, WaitReason),
    Refuse(RequestFailure),
}

/// What was learned from one answer.
pub(super) struct Feedback {
    pub(super) class: Class,
    pub(super) reading: super::quota::QuotaReading,
    /// How long a secondary limit asks everybody to rest.
    pub(super) rest: Option<std::time::Duration>,
}

impl Gate {
    pub(super) fn new(settings: &ClientSettings) -> Gate {
        Gate {
            state: Mutex::new(State {
                concurrency: Concurrency::new(settings.max_concurrency.get()),
                pace: Pace::new(settings.requests_per_minute),
                quota: Quota::new(),
                in_flight: 0,
                held_until: None,
                closed: None,
                paused: SignedDuration::ZERO,
                paused_until: Timestamp::MIN,
                answered: false,
                tells_limits: settings.tells_limits,
            }),
            turn: tokio::sync::Mutex::new(()),
            free: Notify::new(),
            closed: Notify::new(),
            pause: settings.rate_limit_pause,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the next request may start. Whoever gets in must [`Gate::leave`].
    pub(super) async fn enter(&self, clock: &Clock, watch: &dyn Watch) -> Result<Ticket, RequestFailure> {
        let _turn = self.turn.lock().await;
        loop {
            let step = self.lock().step(clock.now(), self.pause);
            match step {
                Admission::Start(ticket) => return Ok(ticket),
                Admission::Refuse(failure) => return Err(failure),
                Admission::Full => self.free.notified().await,
                Admission::Wait(until, reason) => self.wait(until, reason, clock, watch).await,
            }
        }
    }

    /// Waits for everybody, and shows it. Most pacing waits are a fraction of a second, and showing one would be noise.
    pub(super) async fn wait(&self, until: Timestamp, reason: WaitReason, clock: &Clock, watch: &dyn Watch) {
        let begun = clock.now();
        if reason == WaitReason::Pace && until.duration_since(begun) < SHOWN_PACE {
            return clock.sleep_until(until).await;
        }
        let shown = Shown(watch);
        loop {
            let now = clock.now();
            if now >= until {
                break;
            }
            watch.waiting(reason, until, until.duration_since(now));
            let step = now.checked_add(COUNTDOWN_STEP).unwrap_or(until);
            tokio::select! {
                () = clock.sleep_until(step.min(until)) => {}
                () = self.closed.notified() => break,
            }
        }
        drop(shown);
        if reason != WaitReason::Pace {
            self.lock().waited(begun, clock.now());
        }
    }

    /// The request has an answer, or will have none.
    pub(super) fn leave(&self, ticket: Ticket, feedback: Option<&Feedback>, now: Timestamp) {
        let mut state = self.lock();
        state.in_flight = state.in_flight.saturating_sub(1);
        state.pace.end(now);
        if let Some(feedback) = feedback {
            state.learn(ticket, feedback, now);
        }
        drop(state);
        self.free.notify_one();
    }

    /// Refuses every further request with the same failure: what one answer said holds for all.
    pub(super) fn close(&self, failure: RequestFailure) {
        self.lock().closed.get_or_insert(failure);
        self.closed.notify_waiters();
    }

    /// What the host last said of its limit.
    pub(super) fn status(&self) -> Option<super::quota::QuotaStatus> {
        self.lock().quota.last()
    }

    /// How long requests were held back by limits, pacing not counted.
    pub(super) fn paused(&self) -> SignedDuration {
        self.lock().paused
    }
}

impl State {
    fn step(&mut self, now: Timestamp, pause: bool) -> Admission {
        if let Some(failure) = &self.closed {
            return Admission::Refuse(failure.clone());
        }
        if let Some(until) = self.held_until {
            if until > now {
                return Admission::Wait(until, WaitReason::SecondaryLimit);
            }
            self.held_until = None;
        }
        if self.in_flight >= self.concurrency.allowed() {
            return Admission::Full;
        }
        let in_flight = u64::try_from(self.in_flight).unwrap_or(u64::MAX);
        match self.quota.admit(now, in_flight, PAUSE_THRESHOLD, pause) {
            Admit::Go => {}
            Admit::WaitUntil(until) => return Admission::Wait(until, WaitReason::PrimaryLimit),
            Admit::Exhausted { limit, reset, .. } => {
                return Admission::Refuse(RequestFailure::local(FailureKind::RateLimited { limit, reset }));
            }
        }
        match self.pace.start(now) {
            Ok(()) => {}
            Err(Blocked::Until(until)) => return Admission::Wait(until, WaitReason::Pace),
            Err(Blocked::Answer) => return Admission::Full,
        }
        self.in_flight += 1;
        Admission::Start(self.concurrency.start())
    }

    /// Counts a wait; what several waited for side by side counts once.
    fn waited(&mut self, begun: Timestamp, ended: Timestamp) {
        let begun = begun.max(self.paused_until);
        self.paused += ended.duration_since(begun).max(SignedDuration::ZERO);
        self.paused_until = self.paused_until.max(ended);
    }

    fn learn(&mut self, ticket: Ticket, feedback: &Feedback, now: Timestamp) {
        self.quota.observe(feedback.reading, now);
        match feedback.class {
            Class::PrimaryLimit { reset } => self.quota.refused(reset, now),
            Class::SecondaryLimit { .. } => {
                self.concurrency.refused(ticket);
                if let Some(rest) = feedback.rest {
                    let until =
                        SignedDuration::try_from(rest).ok().and_then(|rest| now.checked_add(rest).ok());
                    self.held_until = self.held_until.max(until);
                }
            }
            Class::Throttled { .. } => {
                self.concurrency.refused(ticket);
            }
            Class::Success | Class::NotModified | Class::NotFound => self.concurrency.succeeded(ticket),
            _ => {}
        }
        // A host that could tell its limits, and tells none in its first good answer, has none: pacing it would only
        // cost time.
        if !self.answered && matches!(feedback.class, Class::Success | Class::NotFound) {
            self.answered = true;
            if self.tells_limits && !self.quota.is_limited() {
                self.pace.disable();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    /// A host that could tell its limits and tells none has none; one that never tells them has them all the same.
    #[test]
    fn only_a_host_that_could_tell_its_limits_is_taken_to_have_none() {
        for (tells_limits, paced) in [(true, false), (false, true)] {
            let gate = Gate::new(&ClientSettings {
                max_concurrency: NonZeroUsize::new(10).unwrap(),
                requests_per_minute: 2,
                tells_limits,
                rate_limit_pause: true,
                ..ClientSettings::default()
            });
            let now = Timestamp::UNIX_EPOCH;
            for _ in 0..2 {
                let Admission::Start(ticket) = gate.lock().step(now, true) else {
                    panic!("the first two may start")
                };
                let reading = crate::quota::QuotaReading::default();
                gate.leave(ticket, Some(&Feedback { class: Class::Success, reading, rest: None }), now);
            }
            let waits = matches!(gate.lock().step(now, true), Admission::Wait(_, WaitReason::Pace));
            assert_eq!(waits, paced, "tells_limits: {tells_limits}");
        }
    }
}
