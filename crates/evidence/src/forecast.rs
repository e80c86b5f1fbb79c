//! The one forecast of a run: the dry run, the progress, the log and the waits all show it.
//!
//! Pure arithmetic. What will be asked is a list of [`Work`]; what the client's host allows and how fast it answers is
//! its [`Standing`]; [`schedule`] is how the client's gate lets requests through under both. A host that is asked for many
//! subjects at once has a second interface with limits of its own, the [`Queries`], in the same schedule. During a run,
//! [`Outlook`] replaces what was assumed by what was measured. Requests that the user's other tools send meanwhile are not
//! known.

pub mod schedule;

use evidence_http::{PAUSE_THRESHOLD, Standing};
use jiff::{SignedDuration, Timestamp};

use self::schedule::{Hourly, Minute, Phase, Terms};
use crate::source::Plan;
pub use crate::source::{PerHundred, Queries, Standings, Work};

/// Requests reserved in every window: the run pauses at this number (specification, "Pause threshold").
pub const KEPT_BACK: u64 = PAUSE_THRESHOLD;

/// The number of requests in flight of a source that does not say.
const IN_FLIGHT: u64 = 32;

/// The latency of an answer before it is measured.
const LATENCY: SignedDuration = SignedDuration::from_millis(333);

/// How much of the host's time a query for many subjects takes before it is measured, usually and at least. The host allows
/// [`QUERY_TIME_PER_MINUTE`] of it.
const QUERY_TIME: SignedDuration = SignedDuration::from_millis(1_250);
const LEAST_QUERY_TIME: SignedDuration = SignedDuration::from_millis(625);
const QUERY_TIME_PER_MINUTE: SignedDuration = SignedDuration::from_secs(55);

/// What a query costs before it is measured.
const POINTS_PER_QUERY: u64 = 2;

/// What is assumed counts as much as this many measured subjects: so many that a few unusual ones at the beginning do not
/// make minutes of a forecast.
const WEIGHT: u64 = 50;

/// The shortest time that says how fast a source without known requests goes.
const MEASURED: SignedDuration = SignedDuration::from_secs(3);

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
    let forecast =
        |phases: &[[Phase; 2]]| Forecast::of(phases, &terms(plan.standings.as_ref(), QUERY_TIME), now);
    let page = plan.standings.and_then(|standings| Some(standings.queries?.page));
    let usual = plan.work.iter().map(|work| Kind::new(work).left(page));
    let queries: u64 = usual.clone().map(|[_, queries]| queries.requests).sum();
    let single = |requests: u64, queries: u64| {
        // The queries of the least are in its number.
        let requests = requests.saturating_sub(queries);
        let counted = requests.saturating_sub(plan.requests_free);
        [Phase { requests, counted }, Phase { requests: queries, counted: queries }]
    };
    let fastest = terms(plan.standings.as_ref(), LEAST_QUERY_TIME);
    let least = Forecast::of(&[single(plan.requests_minimum, queries)], &fastest, now);
    let most = forecast(&[single(plan.requests_maximum, 0)]);
    let before = Phase { requests: plan.requests_before, counted: plan.requests_before };
    let usual: Vec<[Phase; 2]> = std::iter::once([before, Phase::default()]).chain(usual).collect();
    let usual = if plan.work.is_empty() { least } else { forecast(&usual) };
    // What is usual may be more or less than what this plan allows.
    let usual = if usual.after < least.after { least } else { usual };
    Range { least, usual: if usual.after > most.after { most } else { usual }, most }
}

/// The terms of both interfaces, with the time that a query takes the host if it was not measured.
fn terms(standings: Option<&Standings>, query_time: SignedDuration) -> [Terms; 2] {
    let requests = standings.map_or_else(unlimited, |standings| Terms::of(&standings.requests));
    let Some(queries) = standings.and_then(|standings| standings.queries) else {
        return [requests, unlimited()];
    };
    let mut terms = Terms::of(&queries.standing);
    if queries.standing.latency.is_none() {
        // A host that limits no requests limits no queries.
        let fit = QUERY_TIME_PER_MINUTE.as_millis() / query_time.as_millis().max(1);
        let per_minute = if requests.hourly.is_some() { u64::try_from(fit).unwrap_or(0) } else { 0 };
        terms = Terms { latency: query_time + requests.latency, per_minute, minute: None, ..terms };
    }
    let each = queries.points.div_ceil(queries.standing.sent.max(1));
    let each = if each == 0 { POINTS_PER_QUERY } else { each };
    let hourly =
        terms.hourly.map(|hourly| Hourly { now: hourly.now / each, then: hourly.then / each, ..hourly });
    [requests, Terms { hourly, ..terms }]
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
    fn of(phases: &[[Phase; 2]], terms: &[Terms; 2], now: Timestamp) -> Forecast {
        let schedule = schedule::side_by_side(phases, terms);
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
    /// Requests that belong to what is done, and queries.
    accounted: u64,
    queried: u64,
}

/// Work in progress.
#[derive(Debug, Clone, Copy)]
struct Kind {
    work: Work,
    /// Subjects that are done and say nothing about those that are left.
    apart: u64,
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
    /// Queries for many subjects, of which this is the first. They are not among the others.
    pub queries: u64,
}

impl Outlook {
    /// The outlook of a collection that begins now, after this many requests.
    pub fn new(began: Timestamp, sent: u64) -> Outlook {
        Outlook { began, expected: 0, done: 0, kinds: Vec::new(), before: 0, accounted: sent, queried: 0 }
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
        self.queried = self.queried.saturating_add(measured.queries);
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
            if kind.work.in_bulk.is_some() && kind.done() == 0 {
                // The first one is read by itself, since that shows what is permitted.
                kind.apart = 1;
                return;
            }
            let is_resumed = measured.resumed > 0 || kind.done() < kind.work.resumed;
            let tally = if is_resumed { &mut kind.resumed } else { &mut kind.others };
            tally.subjects += 1;
            tally.requests += measured.sent;
            tally.counted += measured.counted;
        }
    }

    /// When everything that is expected will be done. `None` if that cannot be said yet, or nothing is left.
    pub fn forecast(&mut self, standings: Option<&Standings>, now: Timestamp) -> Option<Forecast> {
        let left = self.expected.checked_sub(self.done).filter(|left| *left > 0)?;
        match standings.filter(|_| !self.kinds.is_empty()) {
            Some(standings) => {
                Some(Forecast::of(&self.phases(standings), &terms(Some(standings), QUERY_TIME), now))
            }
            None => self.at_this_rate(left, now),
        }
    }

    /// The requests and queries that are not sent yet.
    fn phases(&mut self, standings: &Standings) -> Vec<[Phase; 2]> {
        let queries = standings.queries.as_ref();
        if queries.is_none() {
            self.kinds.iter_mut().for_each(Kind::read_one_by_one);
        }
        // Sent for observations that are not complete, or not yet next in order.
        let asked = queries.map_or(0, |queries| queries.standing.sent);
        let ahead = standings.requests.sent.saturating_sub(self.accounted);
        let mut ahead = [ahead, asked.saturating_sub(self.queried)];
        let phase = |kind: &Kind| {
            let mut phases = kind.left(queries.map(|queries| queries.page));
            for (phase, ahead) in phases.iter_mut().zip(&mut ahead) {
                let sent = (*ahead).min(phase.requests);
                *ahead -= sent;
                phase.take(sent);
            }
            phases
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

impl Kind {
    fn new(work: &Work) -> Kind {
        Kind { work: *work, apart: 0, resumed: Tally::default(), others: Tally::default() }
    }

    fn done(&self) -> u64 {
        self.apart + self.resumed.subjects + self.others.subjects
    }

    /// Expects no more queries. What was measured beside them says nothing about what is left.
    fn read_one_by_one(&mut self) {
        if self.work.in_bulk.take().is_some() {
            self.apart += std::mem::take(&mut self.others).subjects;
        }
    }

    /// The requests of what is left, and the queries for this many subjects each.
    fn left(&self, page: Option<u64>) -> [Phase; 2] {
        let left = self.work.subjects.saturating_sub(self.done());
        let resumed = left.min(self.work.resumed.saturating_sub(self.resumed.subjects));
        let in_bulk = page.zip(self.work.in_bulk);
        let usual = in_bulk.map_or(self.work.usual, |(_, usual)| usual);
        let (again, others) =
            (self.resumed.of(resumed, self.work.rest), self.others.of(left - resumed, usual));
        let requests = Phase {
            requests: again.requests.saturating_add(others.requests),
            counted: again.counted.saturating_add(others.counted),
        };
        let queries = in_bulk.map_or(0, |(page, _)| (left - resumed).div_ceil(page.max(1)));
        [requests, Phase { requests: queries, counted: queries }]
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
