//! The one forecast of a run: the dry run, the progress, the log and the waits all show it.
//!
//! Pure arithmetic. What will be asked is a list of [`Work`]; what the client's host allows and how fast it answers is
//! its [`Standing`]; [`schedule`] is how the client's gate lets requests through under both. During a run, [`Outlook`]
//! replaces what was assumed by what was measured. Requests that the user's other tools send meanwhile are not known.

pub mod schedule;

use evidence_http::{PAUSE_THRESHOLD, Standing};
use jiff::{SignedDuration, Timestamp};

use self::schedule::{Hourly, Minute, Phase, Terms};
use crate::source::Plan;

/// Requests reserved in every window: the run pauses at this number (specification, "Pause threshold").
pub const KEPT_BACK: u64 = PAUSE_THRESHOLD;

/// The number of requests in flight of a source that does not say.
const IN_FLIGHT: u64 = 32;

/// The latency of an answer before it is measured.
const LATENCY: SignedDuration = SignedDuration::from_millis(333);

/// What is assumed counts as much as this many measured subjects.
const WEIGHT: u64 = 20;

/// The shortest time that says how fast a source without known requests goes.
const MEASURED: SignedDuration = SignedDuration::from_secs(3);

/// Requests to send: a question about each of several subjects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Work {
    /// How many subjects there are.
    pub subjects: u64,
    /// How many of them have an answer of an interrupted run that can be taken over.
    pub resumed: u64,
    /// What these take nevertheless.
    pub rest: PerHundred,
    /// What the others take.
    pub usual: PerHundred,
}

/// The usual number of requests about a hundred subjects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PerHundred {
    /// All.
    pub requests: u64,
    /// Those that count against the limit.
    pub counted: u64,
}

/// When something will be done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// From now, waits included.
    pub after: SignedDuration,
    /// By this machine's clock.
    pub done: Timestamp,
    /// How many waits for the limit are left.
    pub waits: u64,
}

/// The forecasts of a dry run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Range {
    /// With as few requests as possible.
    pub least: Forecast,
    /// With the usual number of requests.
    pub usual: Forecast,
    /// With as many as possible.
    pub most: Forecast,
}

/// The forecasts for this plan, if its run began `now`.
pub fn of(plan: &Plan, now: Timestamp) -> Range {
    let terms = plan.standing.as_ref().map_or_else(unlimited, Terms::of);
    let forecast = |requests: u64, free: u64| {
        let phase = Phase { requests, counted: requests.saturating_sub(free) };
        Forecast::of(&[phase], &terms, now)
    };
    let usual = plan.requests_usual.unwrap_or(plan.requests_minimum);
    let usual = usual.clamp(plan.requests_minimum, plan.requests_maximum.max(plan.requests_minimum));
    Range {
        least: forecast(plan.requests_minimum, plan.requests_free),
        usual: forecast(usual, plan.requests_free.max(plan.usually_free)),
        most: forecast(plan.requests_maximum, plan.requests_free),
    }
}

fn unlimited() -> Terms {
    Terms { in_flight: IN_FLIGHT, latency: LATENCY, alone: 0, per_minute: 0, minute: None, hourly: None }
}

impl Terms {
    /// The terms of a client from now on.
    fn of(standing: &Standing) -> Terms {
        let Standing { now, in_flight, latency, per_minute, left_in_minute, minute_ends, budget, .. } =
            *standing;
        Terms {
            in_flight,
            latency: latency.unwrap_or(LATENCY),
            alone: 0,
            per_minute,
            minute: (left_in_minute < per_minute)
                .then_some(Minute { left: left_in_minute, ends: minute_ends }),
            hourly: budget.map(|budget| Hourly {
                now: budget.now,
                then: budget.then,
                // The client waits a second longer, which the schedule adds.
                ends: (budget.next.duration_since(now) - SignedDuration::from_secs(1))
                    .max(SignedDuration::ZERO),
            }),
        }
    }
}

impl Forecast {
    fn of(phases: &[Phase], terms: &Terms, now: Timestamp) -> Forecast {
        let schedule = schedule::schedule(phases, terms);
        Forecast::after(schedule.after, schedule.waits, now)
    }

    fn after(after: SignedDuration, waits: u64, now: Timestamp) -> Forecast {
        Forecast { after, done: now.checked_add(after).unwrap_or(Timestamp::MAX), waits }
    }
}

/// What a run has done, and what it will still do.
#[derive(Debug, Clone)]
pub struct Outlook {
    began: Timestamp,
    /// Observations, whether or not their requests are known.
    expected: u64,
    done: u64,
    kinds: Vec<Kind>,
    /// Observations before those of the kinds.
    before: u64,
    /// Requests that belong to what is done.
    accounted: u64,
}

/// Work in progress.
#[derive(Debug, Clone, Copy)]
struct Kind {
    work: Work,
    /// Subjects for which answers of an interrupted run were taken over.
    taken_over: u64,
    /// Subjects as far as the interrupted run came, and those after it. The order is the same in both runs.
    resumed: Tally,
    others: Tally,
}

/// Subjects that are done, and the requests that they took.
#[derive(Debug, Clone, Copy, Default)]
struct Tally {
    subjects: u64,
    requests: u64,
    counted: u64,
}

/// The requests of one observation.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Measured {
    /// Sent by this run.
    pub sent: u64,
    /// How many of these the host counts.
    pub counted: u64,
    /// Taken over from an interrupted run.
    pub resumed: u64,
}

impl Outlook {
    /// The outlook of a collection that begins now, after this many requests.
    pub fn new(began: Timestamp, sent: u64) -> Outlook {
        Outlook { began, expected: 0, done: 0, kinds: Vec::new(), before: 0, accounted: sent }
    }

    /// Expects this many further observations. The last of them are `work`, in this order.
    pub fn expect(&mut self, observations: u64, work: &[Work]) {
        let known: u64 = work.iter().map(|work| work.subjects).sum();
        self.before = self.before.saturating_add(observations.saturating_sub(known));
        self.expected = self.done.max(self.expected).saturating_add(observations);
        self.kinds.extend(work.iter().map(Kind::new));
    }

    /// Notes requests that belong to no observation.
    pub fn asked(&mut self, measured: Measured) {
        self.accounted = self.accounted.saturating_add(measured.sent);
    }

    /// Notes the next observation.
    pub fn observed(&mut self, measured: Measured) {
        self.asked(measured);
        self.done += 1;
        if self.expected == 0 {
            return;
        }
        if self.before > 0 {
            self.before -= 1;
            return;
        }
        if let Some(kind) = self.kinds.iter_mut().find(|kind| kind.done() < kind.work.subjects) {
            let is_resumed = measured.resumed > 0 || kind.taken_over < kind.work.resumed;
            kind.taken_over += u64::from(measured.resumed > 0);
            let tally = if is_resumed { &mut kind.resumed } else { &mut kind.others };
            tally.subjects += 1;
            tally.requests += measured.sent;
            tally.counted += measured.counted;
        }
    }

    /// When everything that is expected will be done. `None` if that cannot be said yet, or nothing is left.
    pub fn forecast(&self, standing: Option<&Standing>, now: Timestamp) -> Option<Forecast> {
        let left = self.expected.checked_sub(self.done).filter(|left| *left > 0)?;
        match standing.filter(|_| !self.kinds.is_empty()) {
            Some(standing) => Some(Forecast::of(&self.phases(standing), &Terms::of(standing), now)),
            None => self.at_this_rate(left, now),
        }
    }

    /// The requests that are not sent yet.
    fn phases(&self, standing: &Standing) -> Vec<Phase> {
        // Sent for observations that are not complete, or not yet next in order.
        let mut ahead = standing.sent.saturating_sub(self.accounted);
        let phase = |kind: &Kind| {
            let mut phase = kind.left();
            let sent = ahead.min(phase.requests);
            ahead -= sent;
            phase.take(sent);
            phase
        };
        self.kinds.iter().map(phase).collect()
    }

    /// As long as so far, for each observation.
    fn at_this_rate(&self, left: u64, now: Timestamp) -> Option<Forecast> {
        let elapsed = now.duration_since(self.began);
        if elapsed < MEASURED || self.done == 0 {
            return None;
        }
        let milliseconds = elapsed.as_millis().saturating_mul(i128::from(left)) / i128::from(self.done);
        let after = SignedDuration::from_millis(i64::try_from(milliseconds).unwrap_or(i64::MAX));
        Some(Forecast::after(after, 0, now))
    }
}

impl Work {
    /// The requests that it usually takes.
    pub fn usual(&self) -> Phase {
        Kind::new(self).left()
    }
}

impl Kind {
    fn new(work: &Work) -> Kind {
        Kind { work: *work, taken_over: 0, resumed: Tally::default(), others: Tally::default() }
    }

    fn done(&self) -> u64 {
        self.resumed.subjects + self.others.subjects
    }

    /// The requests of what is left.
    fn left(&self) -> Phase {
        let left = self.work.subjects.saturating_sub(self.done());
        let missing = self.work.resumed.saturating_sub(self.taken_over);
        // Not every subject has an answer to take over.
        let each = self.resumed.subjects.saturating_mul(missing).checked_div(self.taken_over);
        let resumed = left.min(each.unwrap_or(missing));
        let (again, others) =
            (self.resumed.of(resumed, self.work.rest), self.others.of(left - resumed, self.work.usual));
        Phase {
            requests: again.requests.saturating_add(others.requests),
            counted: again.counted.saturating_add(others.counted),
        }
    }
}

impl Tally {
    /// The requests of this many more: as many for each as so far, and as assumed before there is much to go by.
    fn of(&self, left: u64, assumed: PerHundred) -> Phase {
        let of = |measured: u64, assumed: u64| {
            let rate = measured.saturating_mul(100).saturating_add(assumed.saturating_mul(WEIGHT));
            let (left, rate) = (u128::from(left), u128::from(rate));
            let subjects = u128::from(self.subjects.saturating_add(WEIGHT)) * 100;
            u64::try_from((left * rate).div_ceil(subjects)).unwrap_or(u64::MAX)
        };
        let requests = of(self.requests, assumed.requests);
        Phase { requests, counted: of(self.counted, assumed.counted).min(requests) }
    }
}

#[cfg(test)]
mod tests;
