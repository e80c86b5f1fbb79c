//! The pace of requests: a sliding window, so that no more requests reach a host in a minute than it tolerates.
//!
//! Pure: the caller reports when requests start and end, and learns when the next one may start. It never sleeps. It
//! does not know the primary limit (see `quota`) or how many requests may run at once (see `concurrency`).
//!
//! The host counts a request when it arrives, at some time between its start and its answer. So a request counts from
//! its start until a minute after its end: whatever the latency, the host never sees more in a minute.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// A sliding window of a minute with at most this many requests.
#[derive(Debug, Clone)]
pub struct Pace {
    /// Requests per minute; zero is a pace without limit.
    most: usize,
    /// Requests in flight.
    open: usize,
    /// When the requests of the last minute ended, the oldest first.
    ended: VecDeque<Timestamp>,
}

/// What the next request has to wait for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Blocked {
    /// For this time; then ask again.
    Until(Timestamp),
    /// For a request in flight to end.
    Answer,
}

impl Pace {
    /// At most `per_minute` requests in any minute; 0 means no limit.
    pub fn new(per_minute: u32) -> Pace {
        let most = usize::try_from(per_minute).unwrap_or(usize::MAX);
        Pace { most, open: 0, ended: VecDeque::new() }
    }

    /// Stops pacing, for a host without rate-limit headers, which has no limits to respect.
    pub fn disable(&mut self) {
        *self = Pace::new(0);
    }

    /// Whether there is a limit at all.
    pub fn is_enabled(&self) -> bool {
        self.most > 0
    }

    /// Starts a request. The caller must report its end with [`Pace::end`].
    ///
    /// # Errors
    ///
    /// Returns what to wait for if the window is full; nothing has started then.
    pub fn start(&mut self, now: Timestamp) -> Result<(), Blocked> {
        if self.most == 0 {
            return Ok(());
        }
        self.forget_elapsed(now);
        if self.open + self.ended.len() < self.most {
            self.open += 1;
            return Ok(());
        }
        Err(self.ended.front().map_or(Blocked::Answer, |oldest| Blocked::Until(minute_after(*oldest))))
    }

    /// Notes that a request has ended, with an answer or without.
    pub fn end(&mut self, now: Timestamp) {
        // A request from before the pace was disabled does not count.
        if self.open > 0 {
            self.open -= 1;
            self.ended.push_back(now);
        }
    }

    /// Takes back a start: the request was not sent.
    pub(super) fn withdraw(&mut self) {
        self.open = self.open.saturating_sub(1);
    }

    /// How many requests start one after the other without waiting for the pace, if an answer takes `latency` and
    /// `in_flight` are in flight; and the time until the next one may start.
    pub fn left(
        &mut self,
        now: Timestamp,
        latency: SignedDuration,
        in_flight: usize,
    ) -> (u64, SignedDuration) {
        self.forget_elapsed(now);
        let rounds = |number: usize| {
            let round = i32::try_from(1 + number / in_flight.max(1)).unwrap_or(i32::MAX);
            latency.saturating_mul(round)
        };
        let mut left = self.most.saturating_sub(self.open + self.ended.len());
        for ended in &self.ended {
            let free = minute_after(*ended).duration_since(now);
            if free > rounds(left) {
                return (u64::try_from(left).unwrap_or(u64::MAX), free);
            }
            left += 1;
        }
        (u64::try_from(left).unwrap_or(u64::MAX), MINUTE)
    }

    /// The most requests in a minute; 0 means no limit.
    pub fn per_minute(&self) -> u64 {
        u64::try_from(self.most).unwrap_or(u64::MAX)
    }

    /// Drops the requests that ended a minute ago. If the clock was set back, an end in the future counts as now: no
    /// wait is ever longer than a minute.
    fn forget_elapsed(&mut self, now: Timestamp) {
        self.ended.iter_mut().rev().take_while(|ended| **ended > now).for_each(|ended| *ended = now);
        while self.ended.front().is_some_and(|oldest| minute_after(*oldest) <= now) {
            self.ended.pop_front();
        }
    }
}

pub(super) fn minute_after(time: Timestamp) -> Timestamp {
    time.checked_add(MINUTE).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + milliseconds).unwrap()
    }

    /// Requests that are answered at once.
    fn burst(pace: &mut Pace, now: Timestamp) -> usize {
        let started = (0..1_000_000).take_while(|_| pace.start(now).is_ok()).count();
        (0..started).for_each(|_| pace.end(now));
        started
    }

    #[test]
    fn a_full_window_then_nothing_for_a_minute() {
        for per_minute in [1, 7, 60, 900, 5_000, 100_000] {
            let mut pace = Pace::new(per_minute);
            let most = per_minute as usize;
            assert_eq!(burst(&mut pace, at(0)), most);
            assert_eq!(pace.start(at(0)), Err(Blocked::Until(at(60_000))));
            assert_eq!(burst(&mut pace, at(59_999)), 0);
            assert_eq!(burst(&mut pace, at(60_000)), most);
            assert_eq!(burst(&mut pace, at(3_600_000)), most, "an idle hour saves nothing up");
        }
    }

    /// In the middle of a minute's requests, those of the minute before make room for the rest of them.
    #[test]
    fn what_is_left_of_a_minute() {
        let latency = SignedDuration::from_millis(300);
        let mut pace = Pace::new(900);
        assert_eq!(pace.left(at(0), latency, 32), (900, MINUTE));
        // Two minutes of rounds of 32, one minute and one answer apart.
        let round = |pace: &mut Pace, start: i64| {
            let started = (0..32).take_while(|_| pace.start(at(start)).is_ok()).count();
            (0..started).for_each(|_| pace.end(at(start + 300)));
            started
        };
        for number in 0..29 {
            round(&mut pace, number * 300);
        }
        assert_eq!(pace.left(at(9_000), latency, 32), (0, SignedDuration::from_millis(51_300)));
        (0..10).for_each(|number| assert_eq!(round(&mut pace, 60_300 + number * 300), 32));
        let (left, ends) = pace.left(at(63_300), latency, 32);
        assert_eq!((left, ends), (900 - 320, SignedDuration::from_millis(60_600 + 60_000 - 63_300)));
        // Answers that take so long that the pace never holds a request back.
        let mut pace = Pace::new(900);
        for number in 0..30 {
            round(&mut pace, number * 3_000);
        }
        assert_eq!(pace.left(at(90_000), SignedDuration::from_secs(3), 32), (900, MINUTE));
    }

    #[test]
    fn every_end_makes_room_a_minute_later() {
        let mut pace = Pace::new(3);
        for second in [0, 10, 20] {
            assert_eq!(pace.start(at(second * 1_000)), Ok(()));
            pace.end(at(second * 1_000 + 500));
        }
        assert_eq!(pace.start(at(30_000)), Err(Blocked::Until(at(60_500))));
        assert_eq!(pace.start(at(60_500)), Ok(()));
        assert_eq!(pace.start(at(60_500)), Err(Blocked::Until(at(70_500))));
    }

    /// A request in flight may arrive at any time until its answer is here.
    #[test]
    fn a_request_counts_for_as_long_as_it_may_arrive() {
        let mut pace = Pace::new(2);
        assert_eq!((pace.start(at(0)), pace.start(at(0))), (Ok(()), Ok(())));
        assert_eq!(pace.start(at(3_600_000)), Err(Blocked::Answer));
        pace.end(at(3_600_000));
        assert_eq!(pace.start(at(3_600_000)), Err(Blocked::Until(at(3_660_000))));
    }

    #[test]
    fn no_limit_is_no_limit() {
        let mut pace = Pace::new(0);
        assert!(!pace.is_enabled());
        assert!((0..10_000).all(|_| pace.start(at(0)).is_ok()));
        let mut pace = Pace::new(1);
        assert!(pace.is_enabled());
        assert_eq!(pace.start(at(0)), Ok(()));
        pace.disable();
        pace.end(at(0));
        assert!((0..10_000).all(|_| pace.start(at(0)).is_ok()));
    }

    #[test]
    fn a_clock_set_back_is_harmless() {
        let mut pace = Pace::new(60);
        burst(&mut pace, at(0));
        let day = 86_400_000;
        assert_eq!(pace.start(at(-day)), Err(Blocked::Until(at(-day + 60_000))));
        assert_eq!(pace.start(at(-day + 60_000)), Ok(()));
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let mut pace = Pace::new(1);
        assert_eq!(pace.start(Timestamp::MIN), Ok(()));
        pace.end(Timestamp::MIN);
        assert_eq!(pace.start(Timestamp::MAX), Ok(()));
        pace.end(Timestamp::MAX);
        assert!(pace.start(Timestamp::MAX).is_ok_and(|()| true) || pace.open == 0);
    }

    /// Simulates a caller that always wants to start one more request: it waits as long as the pace asks for, and
    /// its requests arrive at any time between their start and their end. Returns the arrivals.
    fn arrivals(per_minute: u32, requests: usize, at_once: usize, ways: &[(i64, i64)]) -> Vec<i64> {
        let mut pace = Pace::new(per_minute);
        let (mut now, mut arrived) = (0, Vec::new());
        // When each request in flight ends.
        let mut flying: Vec<i64> = Vec::new();
        let mut number = 0;
        while number < requests {
            flying.retain(|end| {
                if *end <= now {
                    pace.end(at(*end));
                }
                *end > now
            });
            let next_end = flying.iter().copied().min();
            if flying.len() >= at_once {
                now = next_end.unwrap();
                continue;
            }
            match pace.start(at(now)) {
                Ok(()) => {
                    let (there, back) = ways[number % ways.len()];
                    arrived.push(now + there);
                    flying.push(now + there + back);
                    number += 1;
                }
                Err(Blocked::Answer) => now = next_end.expect("somebody is on the way"),
                Err(Blocked::Until(when)) => {
                    let when = when.as_millisecond() - at(0).as_millisecond();
                    assert!(when > now, "told to wait for what is over");
                    now = next_end.map_or(when, |end| end.min(when));
                }
            }
        }
        arrived
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// The host never sees more than the limit in any minute, whatever the latency; and a caller that never
        /// rests reaches the limit.
        #[test]
        fn no_minute_has_more(
            per_minute in 1u32..1_000,
            at_once in 1usize..100,
            minutes in 1usize..4,
            ways in proptest::collection::vec((0i64..20_000, 0i64..2_000), 1..20),
        ) {
            let most = per_minute as usize;
            let mut arrived = arrivals(per_minute, most * minutes + most / 2 + 1, at_once, &ways);
            arrived.sort_unstable();
            for (first, beyond) in arrived.iter().zip(arrived.iter().skip(most)) {
                prop_assert!(beyond - first >= 60_000, "{} requests in {} ms", most + 1, beyond - first);
            }
        }

        /// Whatever the clock does, no wait is longer than a minute, and every wait ends.
        #[test]
        fn bounded(per_minute in 1u32..50, steps in proptest::collection::vec(-120_000i64..120_000, 1..200)) {
            let mut pace = Pace::new(per_minute);
            let mut now = 0;
            for step in steps {
                now += step;
                match pace.start(at(now)) {
                    Ok(()) => pace.end(at(now)),
                    Err(Blocked::Until(when)) => {
                        let wait = when.duration_since(at(now));
                        prop_assert!(wait > SignedDuration::ZERO && wait <= MINUTE);
                        prop_assert_eq!(pace.start(when), Ok(()));
                        pace.end(when);
                    }
                    Err(Blocked::Answer) => prop_assert!(false, "nothing is on its way"),
                }
            }
        }
    }

    /// The figure of the code host: the first 900 at once, and never more than 900 in a minute.
    #[test]
    fn the_first_minute_has_nine_hundred_and_not_more() {
        let arrived = arrivals(900, 4_000, 32, &[(40, 40)]);
        assert_eq!(arrived.iter().filter(|at| **at < 60_000).count(), 900);
        assert!(arrived.iter().zip(arrived.iter().skip(900)).all(|(first, beyond)| beyond - first >= 60_000));
        // It is not slower than necessary.
        assert!(*arrived.last().unwrap() < 5 * 61_000, "{:?}", arrived.last());
    }
}
