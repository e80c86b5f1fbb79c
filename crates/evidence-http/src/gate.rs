//! The one gate that every request to a host passes: how many at once, how fast, and whether the host wants a rest.
//!
//! All workers share it: when one meets a limit, all respect it and wait together, and one of them shows the wait.
//! The pure parts compute the numbers; this file only holds them and waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use jiff::{SignedDuration, Timestamp};
use tokio::sync::Notify;

use super::clock::Clock;
use super::concurrency::{Concurrency, Ticket};
use super::pace::{Blocked, Pace};
use super::quota::{Admit, Quota};
use super::reply::{FailureKind, RequestFailure};
use super::retry::Class;
use super::settings::ClientSettings;
use super::standing::{Latency, Standing};
use super::watch::{WaitReason, Watch};
use super::work::Work;

/// Fewer remaining requests than this, and the run waits for the reset (specification, "Pause threshold").
pub const PAUSE_THRESHOLD: u64 = 100;

/// The shortest pacing wait that is shown: a display that does not change for seconds looks like a
/// failure.
const SHOWN_PACE: SignedDuration = SignedDuration::from_secs(3);

/// How often to update a displayed wait.
const COUNTDOWN_STEP: SignedDuration = SignedDuration::from_secs(1);

pub(super) struct Gate {
    state: Mutex<State>,
    /// The holder is the next to start: requests start in the order in which they came, and only one of them
    /// waits for a free place or counts down a wait.
    turn: tokio::sync::Mutex<()>,
    /// Notifies the next in turn that a place is free.
    free: Notify,
    /// Ends a wait that is no longer useful.
    closed: Notify,
    pause: bool,
    /// The gate of another interface of the same host, for the same credential.
    beside: OnceLock<Arc<Gate>>,
    /// The shortest time to an answer of either, in nanoseconds: what the way to the host takes.
    shortest: Arc<AtomicU64>,
}

/// That a request may start. Every request returns it with its answer.
#[derive(Clone, Copy)]
pub(super) struct Pass {
    ticket: Ticket,
    began: Timestamp,
}

struct State {
    concurrency: Concurrency,
    pace: Pace,
    work: Work,
    quota: Quota,
    in_flight: usize,
    latency: Latency,
    /// When the rest that a secondary limit asked for ends.
    held_until: Option<Timestamp>,
    /// A refusal that holds for every further request: send no more.
    closed: Option<RequestFailure>,
    paused: SignedDuration,
    /// The end of the last wait that `paused` includes.
    paused_until: Timestamp,
    /// Whether a good answer has arrived.
    answered: bool,
    tells_limits: bool,
}

/// A displayed wait, until it ends or is dropped.
struct Shown<'a>(&'a dyn Watch);

impl Drop for Shown<'_> {
    fn drop(&mut self) {
        self.0.wait_over();
    }
}

enum Admission {
    Start(Pass),
    Full,
    Wait(Timestamp, WaitReason),
    Refuse(RequestFailure),
}

/// What the gate learns from one answer.
pub(super) struct Feedback {
    pub(super) class: Class,
    pub(super) reading: super::quota::QuotaReading,
    /// How long a rest a secondary limit asks for.
    pub(super) rest: Option<std::time::Duration>,
}

impl Gate {
    pub(super) fn new(settings: &ClientSettings) -> Gate {
        Gate {
            state: Mutex::new(State {
                concurrency: Concurrency::new(settings.max_concurrency.get()),
                pace: Pace::new(settings.requests_per_minute),
                work: Work::new(settings.host_time_per_minute),
                quota: Quota::new(),
                in_flight: 0,
                latency: Latency::default(),
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
            beside: OnceLock::new(),
            shortest: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }

    /// The gate of another interface of the same host. The first client that asks for it decides the settings.
    pub(super) fn beside(&self, settings: &ClientSettings) -> Arc<Gate> {
        let new = || Arc::new(Gate { shortest: Arc::clone(&self.shortest), ..Gate::new(settings) });
        Arc::clone(self.beside.get_or_init(new))
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until the next request may start. The caller must then call [`Gate::leave`].
    pub(super) async fn enter(&self, clock: &Clock, watch: &dyn Watch) -> Result<Pass, RequestFailure> {
        let _turn = self.turn.lock().await;
        loop {
            let step = self.lock().step(clock.now(), self.pause);
            match step {
                Admission::Start(pass) => return Ok(pass),
                Admission::Refuse(failure) => return Err(failure),
                Admission::Full => self.free.notified().await,
                Admission::Wait(until, reason) => self.wait(until, reason, clock, watch).await,
            }
        }
    }

    /// Waits on behalf of all workers, and shows it. Most pacing waits last a fraction of a second; showing those would
    /// be noise.
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

    /// Notes that a request has an answer, or will have none.
    pub(super) fn leave(&self, pass: Pass, feedback: Option<&Feedback>, now: Timestamp) {
        let mut state = self.lock();
        let in_flight = state.in_flight;
        state.latency.until(in_flight, now);
        state.in_flight = in_flight.saturating_sub(1);
        state.pace.end(now);
        state.work.end(pass.began, now, self.way(pass, feedback.is_some(), now));
        if let Some(feedback) = feedback {
            state.latency.answered();
            state.learn(pass.ticket, feedback, now);
        }
        drop(state);
        self.free.notify_one();
    }

    /// What the way to the host takes, as far as is known with this answer.
    fn way(&self, pass: Pass, answered: bool, now: Timestamp) -> SignedDuration {
        let took = u64::try_from(now.duration_since(pass.began).as_nanos()).unwrap_or(0);
        if answered {
            self.shortest.fetch_min(took, Ordering::Relaxed);
        }
        let shortest = self.shortest.load(Ordering::Relaxed);
        if shortest == u64::MAX {
            SignedDuration::ZERO
        } else {
            SignedDuration::from_nanos(i64::try_from(shortest).unwrap_or(0))
        }
    }

    /// Refuses every further request with the same failure.
    pub(super) fn close(&self, failure: RequestFailure) {
        self.lock().closed.get_or_insert(failure);
        self.closed.notify_waiters();
    }

    /// The host's last report of its limit.
    pub(super) fn status(&self) -> Option<super::quota::QuotaStatus> {
        self.lock().quota.last()
    }

    /// Where a client that has sent this many requests stands.
    pub(super) fn standing(&self, sent: u64, now: Timestamp) -> Standing {
        let mut state = self.lock();
        let in_flight = u64::try_from(state.in_flight).unwrap_or(u64::MAX);
        let (latency, allowed) = (state.latency.mean(), state.concurrency.allowed());
        let (mut left_in_minute, mut minute_ends) =
            state.pace.left(now, latency.unwrap_or_default(), allowed);
        let mut per_minute = state.pace.per_minute();
        if let Some((fit, left, ends)) = state.work.left(now, latency.unwrap_or_default(), allowed) {
            per_minute = if per_minute == 0 { fit } else { per_minute.min(fit) };
            if left < left_in_minute || state.pace.per_minute() == 0 {
                (left_in_minute, minute_ends) = (left, ends);
            }
        }
        if let Some(held) = state.held_until.filter(|held| *held > now) {
            (left_in_minute, minute_ends) = (0, minute_ends.max(held.duration_since(now)));
        }
        let budget = state.quota.budget(now, in_flight, PAUSE_THRESHOLD);
        Standing {
            now,
            sent,
            in_flight: u64::try_from(allowed).unwrap_or(u64::MAX),
            latency,
            per_minute,
            left_in_minute,
            minute_ends,
            budget,
        }
    }

    /// Whether the host has given a good answer.
    pub(super) fn has_answered(&self) -> bool {
        self.lock().answered
    }

    /// How long the host took for all requests, if its time is limited.
    pub(super) fn host_time(&self) -> SignedDuration {
        self.lock().work.total()
    }

    /// How long limits held requests back, not counting pacing.
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
        match self.work.start(now) {
            Ok(()) => {}
            Err(blocked) => {
                // Not sent: it takes no part of the pace.
                self.pace.withdraw();
                return match blocked {
                    Blocked::Until(until) => Admission::Wait(until, WaitReason::Pace),
                    Blocked::Answer => Admission::Full,
                };
            }
        }
        self.latency.until(self.in_flight, now);
        self.in_flight += 1;
        Admission::Start(Pass { ticket: self.concurrency.start(), began: now })
    }

    /// Counts a wait; simultaneous waits count once.
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
        // A host of a kind that reports its limits, but whose first good answer reports none, has none. Pacing it
        // would only cost time.
        if !self.answered && matches!(feedback.class, Class::Success | Class::NotFound) {
            self.answered = true;
            if self.tells_limits && !self.quota.is_limited() {
                self.pace.disable();
                self.work.disable();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZeroUsize;

    /// A missing limit means no limit only for hosts that otherwise report their limits.
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
