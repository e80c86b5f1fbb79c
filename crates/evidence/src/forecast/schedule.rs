//! How long a number of requests takes at best, given the hourly limit, the pace and the latency.
//!
//! Pure arithmetic, and the only implementation: every forecast and docs/scale.md use it. It does not account for
//! retries or for other users of the same limit.
//!
//! How a run proceeds under all three constraints:
//! - Answers take `latency`, and `in_flight` requests run concurrently: requests start in rounds.
//! - A request counts until a minute after its answer (see `evidence_http::pace`). So `per_minute` requests start in
//!   rounds, and the next one starts a minute after the first one's answer: each block begins a minute and a latency
//!   after the one before.
//! - An interface that limits the host's time instead of the number of requests has a pace too: as many requests as fit.
//! - When the hourly limit is used up, nothing starts until its window ends. Requests that the host will not count
//!   (unchanged answers) wait too, since the client cannot know this beforehand.

use evidence_text::{saturating_i64, saturating_u64};
use jiff::SignedDuration;

/// The window of the hourly limit in milliseconds.
const WINDOW: u64 = 3_600_000;

/// How long after the end of a window the run resumes, in milliseconds (see `evidence_http::quota`).
const AFTER_RESET: u64 = 1_000;

const MINUTE: u64 = 60_000;

/// The host's limits and speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// The number of concurrent requests.
    pub in_flight: u64,
    /// The latency of an answer.
    pub latency: SignedDuration,
    /// Requests at the beginning or the end that nothing can run beside: each takes a full latency.
    pub alone: u64,
    /// The maximum number of requests in any minute; 0 means no limit.
    pub per_minute: u64,
    /// What is left of the present minute; `None` if all of it is.
    pub minute: Option<Minute>,
    /// The hourly limit, if there is one.
    pub hourly: Option<Hourly>,
}

/// A minute of which a part is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Minute {
    /// Requests that may still start.
    pub left: u64,
    /// The time until more may start.
    pub ends: SignedDuration,
}

/// The hourly limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hourly {
    /// Requests left in the current window.
    pub now: u64,
    /// Requests available in every further window.
    pub then: u64,
    /// When the current window ends.
    pub ends: SignedDuration,
}

/// A sequence of requests of one kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Phase {
    /// The number of requests.
    pub requests: u64,
    /// How many of them the hourly limit counts, spread evenly.
    pub counted: u64,
}

/// The result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    /// The duration of the requests, waits included.
    pub after: SignedDuration,
    /// How many times the run waits for the hourly limit.
    pub waits: u64,
}

/// Computes when the last answer of all phases arrives.
pub fn schedule(phases: &[Phase], terms: &Terms) -> Schedule {
    let phases: Vec<[Phase; 1]> = phases.iter().map(|phase| [*phase]).collect();
    side_by_side(&phases, &[*terms])
}

/// The same for a client of several interfaces, each with its own terms. A phase has requests to each of them, which go on
/// together, so that the slowest one decides. A phase begins when the one before has ended.
pub fn side_by_side<const LINES: usize>(phases: &[[Phase; LINES]], terms: &[Terms; LINES]) -> Schedule {
    let mut going = Going { lines: terms.each_ref().map(Line::new), waits: 0 };
    for phase in phases {
        going.through(*phase);
    }
    let after = saturating_i64(going.end());
    Schedule { after: SignedDuration::from_millis(after), waits: going.waits }
}

/// The state of a run.
struct Going<const LINES: usize> {
    lines: [Line; LINES],
    waits: u64,
}

/// The state of one interface.
struct Line {
    burst: Burst,
    /// Requests sent in this burst.
    sent: u64,
    hourly: Option<Left>,
}

/// The remaining hourly limit.
struct Left {
    requests: u64,
    then: u64,
    /// When the window ends and requests resume.
    over: u64,
}

impl Line {
    fn new(terms: &Terms) -> Line {
        let mut burst = Burst {
            began: 0,
            latency: milliseconds(terms.latency),
            in_flight: terms.in_flight.max(1),
            alone: terms.alone,
            per_minute: terms.per_minute,
            first: (0, 0),
        };
        burst.first = match terms.minute {
            Some(minute) => (minute.left, milliseconds(minute.ends)),
            None => burst.whole_minute(),
        };
        let hourly = terms.hourly.map(|hourly| Left {
            requests: hourly.now,
            then: hourly.then.max(1),
            over: milliseconds(hourly.ends).saturating_add(AFTER_RESET),
        });
        Line { burst, sent: 0, hourly }
    }

    fn end(&self) -> u64 {
        self.burst.end_of(self.sent)
    }

    /// Begins a new window if the present one is over at `moment`.
    fn renew(&mut self, moment: u64) {
        let Some(left) = &mut self.hourly else { return };
        while left.over <= moment {
            left.requests = left.then;
            left.over = left.over.saturating_add(WINDOW).saturating_add(AFTER_RESET);
        }
    }
}

impl<const LINES: usize> Going<LINES> {
    fn end(&self) -> u64 {
        self.lines.iter().map(Line::end).max().unwrap_or(0)
    }

    /// A phase proceeds in steps: as many as the interface with the most requests has.
    fn through(&mut self, mut phase: [Phase; LINES]) {
        let end = self.end();
        for Line { burst, sent, .. } in self.lines.iter_mut().filter(|line| line.end() < end) {
            burst.rest_until(end, sent);
        }
        loop {
            let steps = phase.iter().map(|part| part.requests).max().unwrap_or(0);
            if steps == 0 {
                return;
            }
            let lines = || self.lines.iter().zip(&phase);
            // How many before a limit is used up, and when that is over.
            let used_up = lines().filter_map(|(line, part)| {
                let left = line.hourly.as_ref()?;
                let before = part.until_counted(left.requests);
                (before < part.requests).then(|| (steps_before(before, part.requests, steps), left.over))
            });
            let used_up = used_up.min();
            let allowed = used_up.map_or(steps, |(allowed, _)| allowed);
            let over = self.lines.iter().filter_map(|line| Some(line.hourly.as_ref()?.over)).min();
            let start = |step: u64| {
                let starts = lines().filter_map(|(line, part)| {
                    let last = share(part.requests, step, steps).checked_sub(1)?;
                    Some(line.burst.start_of(line.sent.saturating_add(last)))
                });
                starts.max().unwrap_or(0)
            };
            let began = over.map_or(allowed, |over| most(allowed, |step| start(step) < over));
            for (line, part) in self.lines.iter_mut().zip(&mut phase) {
                let requests = share(part.requests, began, steps);
                let counted = part.take(requests);
                line.sent = line.sent.saturating_add(requests);
                if let Some(left) = &mut line.hourly {
                    left.requests = left.requests.saturating_sub(counted);
                }
            }
            let Some(mut over) = over.filter(|_| began < steps) else { return };
            if let Some((_, until)) = used_up.filter(|_| began == allowed) {
                over = until;
                for Line { burst, sent, .. } in &mut self.lines {
                    burst.rest_until(over, sent);
                }
                self.waits += 1;
            }
            self.lines.iter_mut().for_each(|line| line.renew(over));
        }
    }
}

/// How many of `steps` can be made if this many of an interface's requests can start.
fn steps_before(requests: u64, of: u64, steps: u64) -> u64 {
    // The most steps whose share is not more.
    let beyond = (u128::from(requests) + 1) * u128::from(steps);
    saturating_u64(beyond.div_ceil(u128::from(of.max(1))).saturating_sub(1))
}

/// The largest of the numbers up to `most` for which all from 1 on are so.
fn most(most: u64, is_so: impl Fn(u64) -> bool) -> u64 {
    let (mut all, mut none) = (0, most + 1);
    while none - all > 1 {
        let middle = all + (none - all) / 2;
        if is_so(middle) { all = middle } else { none = middle }
    }
    all
}

impl Phase {
    /// How many of its requests can start before more than `most` would be counted. Rounding this down would lose a
    /// request in each window, and over a long run a whole window.
    fn until_counted(self, most: u64) -> u64 {
        if self.counted <= most {
            return self.requests;
        }
        let beyond = u128::from(self.requests) * (u128::from(most) + 1);
        let before = beyond.div_ceil(u128::from(self.counted)).saturating_sub(1);
        saturating_u64(before)
    }

    /// Removes this many requests, and returns how many of them are counted.
    pub(super) fn take(&mut self, requests: u64) -> u64 {
        let counted = share(self.counted, requests, self.requests);
        self.requests -= requests.min(self.requests);
        self.counted = self.counted.saturating_sub(counted);
        counted
    }
}

/// Requests without a pause from `began` on; times in milliseconds.
struct Burst {
    began: u64,
    latency: u64,
    in_flight: u64,
    alone: u64,
    per_minute: u64,
    /// How many requests start in the first minute, and when the next minute's start.
    first: (u64, u64),
}

impl Burst {
    /// When the request with this number, from 0, starts.
    fn start_of(&self, number: u64) -> u64 {
        let rounds = |number: u64| {
            let alone = number.min(self.alone);
            (alone + (number - alone) / self.in_flight).saturating_mul(self.latency)
        };
        let answers = rounds(number);
        let (first, next) = self.first;
        let later = number.checked_sub(first).filter(|_| self.per_minute > 0);
        let pace = later.map_or(0, |later| {
            let blocks = (later / self.per_minute).saturating_mul(MINUTE.saturating_add(self.latency));
            next.saturating_add(blocks).saturating_add(rounds(later % self.per_minute))
        });
        self.began.saturating_add(answers.max(pace))
    }

    /// A minute in which nothing has started.
    fn whole_minute(&self) -> (u64, u64) {
        (self.per_minute, MINUTE.saturating_add(self.latency))
    }

    /// When this many requests have their answers.
    fn end_of(&self, sent: u64) -> u64 {
        sent.checked_sub(1).map_or(self.began, |last| self.start_of(last).saturating_add(self.latency))
    }

    /// Starts nothing until `moment`. After less than a minute the pace still counts the earlier requests, so the pause
    /// only shifts what follows, and only by what the pace would not have waited anyway.
    fn rest_until(&mut self, moment: u64, sent: &mut u64) {
        if moment >= self.end_of(*sent).saturating_add(MINUTE) {
            (self.began, self.alone, *sent) = (moment, 0, 0);
            self.first = self.whole_minute();
        } else {
            self.began = self.began.saturating_add(moment.saturating_sub(self.start_of(*sent)));
        }
    }
}

/// `whole × part / of`, as an integer.
fn share(whole: u64, part: u64, of: u64) -> u64 {
    let share = u128::from(whole) * u128::from(part) / u128::from(of.max(1));
    saturating_u64(share)
}

fn milliseconds(duration: SignedDuration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const HOUR: SignedDuration = SignedDuration::from_hours(1);

    fn all(requests: u64) -> [Phase; 1] {
        [Phase { requests, counted: requests }]
    }

    fn terms(in_flight: u64, per_minute: u64, hourly: Option<Hourly>) -> Terms {
        let latency = SignedDuration::from_millis(300);
        Terms { in_flight, latency, alone: 0, per_minute, minute: None, hourly }
    }

    /// Milliseconds and waits.
    fn of(phases: &[Phase], terms: &Terms) -> (i128, u64) {
        let schedule = schedule(phases, terms);
        (schedule.after.as_millis(), schedule.waits)
    }

    #[test]
    fn each_of_the_three_can_be_what_is_waited_for() {
        let hourly = |left: u64| Some(Hourly { now: left, then: left, ends: HOUR });
        // Latency alone: rounds of 32.
        assert_eq!(of(&all(0), &terms(32, 0, None)), (0, 0));
        assert_eq!(of(&all(32), &terms(32, 0, None)), (300, 0));
        assert_eq!(of(&all(33), &terms(32, 0, None)), (600, 0));
        assert_eq!(of(&all(100), &Terms { alone: 2, ..terms(32, 0, None) }), ((2 + 4) * 300, 0));
        // The pace: the 901st starts a minute after the first one's answer.
        assert_eq!(of(&all(900), &terms(32, 900, None)), (29 * 300, 0));
        assert_eq!(of(&all(901), &terms(32, 900, None)), (60_300 + 300, 0));
        assert_eq!(of(&all(1_801), &terms(32, 900, None)), (2 * 60_300 + 300, 0));
        // One request at a time is slower than the pace.
        assert_eq!(of(&all(1_000), &terms(1, 900, None)), (1_000 * 300, 0));
        // The hourly limit: the run resumes a second after the reset.
        assert_eq!(of(&all(4_900), &terms(32, 0, hourly(4_900))), (154 * 300, 0));
        assert_eq!(of(&all(4_901), &terms(32, 0, hourly(4_900))), (3_601_000 + 300, 1));
        assert_eq!(of(&all(9_801), &terms(32, 0, hourly(4_900))), (2 * 3_601_000 + 300, 2));
        assert_eq!(of(&all(5_001), &terms(1, 0, hourly(5_000))), (3_601_000 + 300, 1));
    }

    /// A run that goes on in the middle of a minute: 300 of it are left, and more may start after 40 s.
    #[test]
    fn a_minute_that_is_partly_used_goes_on() {
        let minute = Some(Minute { left: 300, ends: SignedDuration::from_secs(40) });
        let terms = Terms { minute, ..terms(32, 900, None) };
        assert_eq!(of(&all(300), &terms), (10 * 300, 0));
        assert_eq!(of(&all(301), &terms), (40_000 + 300, 0));
        assert_eq!(of(&all(1_200), &terms), (40_000 + 29 * 300, 0));
        assert_eq!(of(&all(1_201), &terms), (40_000 + 60_300 + 300, 0));
        // A wait for the hour is long enough for a whole minute.
        let hourly = Some(Hourly { now: 10, then: 4_900, ends: SignedDuration::from_mins(10) });
        assert_eq!(of(&all(910), &Terms { hourly, ..terms }), (601_000 + 29 * 300, 1));
    }

    #[test]
    fn what_is_not_counted_does_not_use_the_limit_up_and_waits_all_the_same() {
        let hourly = Some(Hourly { now: 4_900, then: 4_900, ends: HOUR });
        let terms = terms(32, 900, hourly);
        // 110,000 uncounted requests take what the pace allows: 122 full minutes, and 200 more.
        let free = Phase { requests: 110_000, counted: 0 };
        assert_eq!(of(&[free], &terms), (122 * 60_300 + 7 * 300, 0));
        // Half of them counted: 9,800 start within eleven minutes, then the run waits for the rest of the hour.
        let half = Phase { requests: 98_000, counted: 49_000 };
        let last = 10 * 60_300 + 25 * 300;
        assert_eq!(of(&[half], &terms), (9 * 3_601_000 + last, 9));
        // So few that each window ends before they use it up.
        let few = Phase { requests: 110_000, counted: 5_500 };
        assert_eq!(of(&[few], &terms), of(&[free], &terms));
    }

    /// Every window is used fully: 58.99 windows' worth of requests needs no sixtieth window.
    #[test]
    fn no_request_is_lost_between_windows() {
        let hourly = Hourly { now: 871, then: 4_900, ends: SignedDuration::from_secs(127) };
        let terms = terms(3, 522, Some(hourly));
        let waits = |requests| of(&[Phase { requests, counted: 289_925 }], &terms).1;
        // More uncounted requests leave some of the first, short window unused, which causes no wait.
        assert_eq!((waits(363_729), waits(372_464)), (59, 58));
    }

    /// Two interfaces go on together: the slower one decides, and a wait of one holds both back.
    #[test]
    fn the_slower_interface_decides() {
        let queries = Terms { latency: SignedDuration::from_millis(1_250), ..terms(32, 44, None) };
        let hourly = Hourly { now: 4_900, then: 4_900, ends: HOUR };
        let requests = terms(32, 900, Some(hourly));
        let of = |phases: &[[u64; 2]]| {
            let phase = |number: u64| Phase { requests: number, counted: number };
            let phases: Vec<[Phase; 2]> = phases.iter().map(|phase_of| phase_of.map(phase)).collect();
            let schedule = side_by_side(&phases, &[requests, queries]);
            (schedule.after.as_millis(), schedule.waits)
        };
        let alone = |number, terms: &Terms| super::schedule(&all(number), terms).after.as_millis();
        assert_eq!(of(&[[0, 1_000]]).0, alone(1_000, &queries));
        assert_eq!(of(&[[2_000, 0]]).0, alone(2_000, &requests));
        // 1,000 queries take 22 minutes, 2,000 requests two.
        assert_eq!(of(&[[2_000, 1_000]]).0, alone(1_000, &queries));
        // A phase begins after the one before.
        let both = alone(1_000, &queries) + alone(900, &requests);
        assert!((of(&[[0, 1_000], [900, 0]]).0 - both).abs() < 5_000, "{both}");
        // After 4,900 of 6,500 requests, three quarters of the queries are done, and the last quarter waits too.
        let (after, waits) = of(&[[6_500, 1_000], [0, 1_000]]);
        let rest = alone(1_000 - 754, &queries) + alone(1_000, &queries);
        assert_eq!(waits, 1);
        assert!((after - 3_601_000 - rest).abs() < 65_000, "{after}, {rest}");
        // So slow that the hour is over before its limit is used up.
        assert_eq!(of(&[[6_500, 5_000]]), (alone(5_000, &queries), 0));
    }

    proptest! {
        /// More requests, or more counted requests, never take less time; and no run beats any single limit.
        #[test]
        fn monotonous(
            requests in 0u64..400_000, counted in 0u64..400_000, more in 0u64..10_000,
            in_flight in 1u64..100, per_minute in 0u64..2_000, now in 0u64..6_000, ends in 0i64..3_600,
        ) {
            let hourly = Hourly { now, then: 4_900, ends: SignedDuration::from_secs(ends) };
            let terms = terms(in_flight, per_minute, Some(hourly));
            let phase = |requests: u64, counted: u64| [Phase { requests, counted: counted.min(requests) }];
            let of = |requests, counted| schedule(&phase(requests, counted), &terms).after;
            let whole = of(requests, counted);
            // A share is a whole number of requests, and a pause of less than a minute is rounded up: hence the
            // tolerance.
            let minute = SignedDuration::from_mins(2);
            prop_assert!(of(requests + more, counted) + minute >= whole);
            let paced = Terms { hourly: None, ..terms };
            let unpaced = Terms { per_minute: 0, ..paced };
            for freer in [paced, unpaced] {
                prop_assert!(whole >= schedule(&phase(requests, 0), &freer).after);
            }
        }
    }
}
