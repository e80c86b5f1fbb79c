//! How much of the host's time the requests of the last minute took, for an interface that limits it.
//!
//! Pure: the caller reports when requests start and end, and learns when the next one may start. A client cannot see the
//! time that a host computes, only that an answer took. This counts all of it, less what the shortest answer took.

use std::collections::VecDeque;

use jiff::{SignedDuration, Timestamp};

use super::pace::{Blocked, minute_after};

const MINUTE: SignedDuration = SignedDuration::from_secs(60);

/// The time of the requests of the last minute, and how much is allowed.
#[derive(Debug, Clone)]
pub(super) struct Work {
    /// `None` without a limit.
    most: Option<SignedDuration>,
    /// When the requests in flight started.
    open: Vec<Timestamp>,
    /// When the requests of the last minute ended, and how long they took; the oldest first.
    ended: VecDeque<(Timestamp, SignedDuration)>,
    /// How long the last one took.
    last: SignedDuration,
    /// How long all of them took.
    total: SignedDuration,
}

impl Work {
    /// At most this much of the host's time in any minute.
    pub(super) fn new(most: Option<SignedDuration>) -> Work {
        let last = SignedDuration::from_secs(1);
        Work { most, open: Vec::new(), ended: VecDeque::new(), last, total: SignedDuration::ZERO }
    }

    /// Stops limiting, for a host without limits.
    pub(super) fn disable(&mut self) {
        self.most = None;
    }

    /// Starts a request, which is expected to take as long as the last one. The caller must report its end.
    ///
    /// # Errors
    ///
    /// Returns what to wait for if the minute's time is used up; nothing has started then.
    pub(super) fn start(&mut self, now: Timestamp) -> Result<(), Blocked> {
        let Some(most) = self.most else { return Ok(()) };
        while self.ended.front().is_some_and(|(ended, _)| now.duration_since(*ended) >= MINUTE) {
            self.ended.pop_front();
        }
        let used: SignedDuration = self.ended.iter().map(|(_, took)| *took).sum();
        let under_way: SignedDuration =
            self.open.iter().map(|began| now.duration_since(*began).max(self.last)).sum();
        // One request at a time is always allowed once the minute is over, however long it takes.
        let idle = self.open.is_empty() && self.ended.is_empty();
        if !idle && used + under_way + self.last > most {
            return Err(match self.ended.front() {
                Some((ended, _)) => Blocked::Until(minute_after(*ended)),
                None => Blocked::Answer,
            });
        }
        self.open.push(now);
        Ok(())
    }

    /// How many requests like the last ones fit into a minute, how many of them start without waiting for this limit if an
    /// answer takes `latency` and `in_flight` are in flight, and the time until the next one may start. `None` without a
    /// limit.
    pub(super) fn left(
        &self,
        now: Timestamp,
        latency: SignedDuration,
        in_flight: usize,
    ) -> Option<(u64, u64, SignedDuration)> {
        let most = self.most?;
        let ended = || self.ended.iter().filter(|(ended, _)| now.duration_since(*ended) < MINUTE);
        let used: SignedDuration = ended().map(|(_, took)| *took).sum();
        let each = match i32::try_from(ended().count()) {
            Ok(count) if count > 0 => used / count,
            _ => self.last,
        };
        let each = u64::try_from(each.as_millis()).unwrap_or(0).max(1);
        let requests = |room: SignedDuration| u64::try_from(room.as_millis()).unwrap_or(0) / each;
        let rounds = |requests: u64| {
            let round = requests / u64::try_from(in_flight.max(1)).unwrap_or(u64::MAX);
            latency.saturating_mul(i32::try_from(round.saturating_add(1)).unwrap_or(i32::MAX))
        };
        let under_way: SignedDuration =
            self.open.iter().map(|began| now.duration_since(*began).max(self.last)).sum();
        let mut room = most - used - under_way;
        for (ended, took) in ended() {
            let free = minute_after(*ended).duration_since(now);
            if free > rounds(requests(room)) {
                return Some((requests(most).max(1), requests(room), free));
            }
            room += *took;
        }
        Some((requests(most).max(1), requests(room), MINUTE))
    }

    /// A request that started at `began` has ended, with an answer or without. The way to the host took `way` of that.
    pub(super) fn end(&mut self, began: Timestamp, now: Timestamp, way: SignedDuration) {
        if self.most.is_none() {
            return;
        }
        if let Some(at) = self.open.iter().position(|open| *open == began) {
            self.open.swap_remove(at);
            self.last = (now.duration_since(began) - way).clamp(SignedDuration::ZERO, MINUTE);
            self.total += self.last;
            self.ended.push_back((now, self.last));
        }
    }

    /// How long all requests took so far; zero without a limit.
    pub(super) fn total(&self) -> SignedDuration {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + milliseconds).unwrap()
    }

    fn limited() -> Work {
        Work::new(Some(SignedDuration::from_secs(55)))
    }

    /// The most time that ended in any minute, of requests that take as long as these, as many at once as allowed.
    fn busiest(takes: &[i64], at_once: usize) -> (i64, i64) {
        let mut work = limited();
        let (mut now, mut flying, mut ended) = (0, Vec::new(), Vec::new());
        let mut next = takes.iter().copied().peekable();
        while next.peek().is_some() || !flying.is_empty() {
            flying.retain(|(began, end): &(i64, i64)| {
                if *end <= now {
                    work.end(at(*began), at(*end), SignedDuration::ZERO);
                    ended.push((*end, end - began));
                }
                *end > now
            });
            let soonest = flying.iter().map(|(_, end)| *end).min();
            let Some(takes) = next.peek().copied().filter(|_| flying.len() < at_once) else {
                now = soonest.unwrap_or(now);
                continue;
            };
            match work.start(at(now)) {
                Ok(()) => {
                    flying.push((now, now + takes));
                    next.next();
                }
                Err(Blocked::Answer) => now = soonest.unwrap(),
                Err(Blocked::Until(until)) => {
                    let until = until.as_millisecond() - at(0).as_millisecond();
                    assert!(until > now);
                    now = soonest.map_or(until, |end| end.min(until));
                }
            }
        }
        let within = |from: i64| {
            ended.iter().filter(|(end, _)| (from..from + 60_000).contains(end)).map(|(_, took)| took).sum()
        };
        (ended.iter().map(|(end, _)| within(*end)).max().unwrap(), now)
    }

    #[test]
    fn no_minute_has_more_than_its_time() {
        for (takes, at_once) in [(1_250, 3), (300, 32), (9_000, 4), (50, 100)] {
            let (most, after) = busiest(&[takes; 400], at_once);
            assert!(most <= 55_000, "{takes} ms, {at_once} at once: {most}");
            // Most of it is used: the rest is for the requests under way, which may take longer than expected.
            assert!(after <= 400 * takes * 60 / 44 + 60_000, "{takes} ms, {at_once} at once: {after}");
        }
    }

    #[test]
    fn a_request_that_takes_longer_than_the_minute_s_time_is_possible() {
        let (most, _) = busiest(&[58_000; 3], 1);
        assert_eq!(most, 58_000);
    }

    #[test]
    fn no_limit_is_no_limit() {
        let mut work = Work::new(None);
        assert!((0..1_000).all(|_| work.start(at(0)).is_ok()));
        work.end(at(0), at(100), SignedDuration::ZERO);
        assert_eq!(work.total(), SignedDuration::ZERO);
    }

    /// As many are left as start at once afterwards, and the next one when it was said.
    #[test]
    fn what_is_left_of_the_minute_s_time() {
        let latency = SignedDuration::from_millis(1_250);
        assert_eq!(Work::new(None).left(at(0), latency, 32), None);
        let mut work = limited();
        assert_eq!(work.left(at(0), latency, 32), Some((55, 55, MINUTE)), "a second each is assumed");
        for _ in 0..30 {
            work.start(at(0)).unwrap();
        }
        (0..30).for_each(|_| work.end(at(0), at(1_250), SignedDuration::ZERO));
        let (per_minute, left, ends) = work.left(at(1_250), latency, 32).unwrap();
        assert_eq!((per_minute, left, ends), (44, 14, MINUTE));
        let started = (0..100).take_while(|_| work.start(at(1_250)).is_ok()).count();
        assert_eq!((started, work.left(at(2_000), latency, 32).unwrap().1), (14, 0));
        (0..14).for_each(|_| work.end(at(1_250), at(2_500), SignedDuration::ZERO));
        assert_eq!(work.left(at(31_250), latency, 32), Some((44, 0, SignedDuration::from_secs(30))));
        assert_eq!(work.start(at(61_249)), Err(Blocked::Until(at(61_250))));
        // The first thirty of a minute ago make room, and those after them do so in time.
        assert_eq!(work.left(at(61_250), latency, 32), Some((44, 44, MINUTE)));
    }

    #[test]
    fn the_time_of_all_requests_is_known() {
        let mut work = limited();
        for number in 0..3 {
            work.start(at(number * 100_000)).unwrap();
            work.end(at(number * 100_000), at(number * 100_000 + 900), SignedDuration::from_millis(200));
        }
        assert_eq!(work.total(), SignedDuration::from_millis(2_100));
    }
}
