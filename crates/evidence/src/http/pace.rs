//! The pace of requests: a token bucket, so that a fast host is not asked more often per minute than it tolerates.
//!
//! Pure: it is told the time and answers when the next request may start. It never sleeps. It knows nothing of the
//! primary limit (see `quota`) nor of how many requests may run at once (see `concurrency`).

use jiff::{SignedDuration, Timestamp};

const MINUTE: i128 = 60_000_000_000;

/// A token bucket that holds one minute's worth of requests and refills evenly.
#[derive(Debug, Clone)]
pub struct Pace {
    /// What one request costs, in nanoseconds; zero is a pace without limit.
    cost: i128,
    /// What may be spent, in nanoseconds; never more than a minute.
    credit: i128,
    updated: Option<Timestamp>,
}

impl Pace {
    /// At most `per_minute` requests at once, and that many per minute afterwards; 0 means no limit.
    pub fn new(per_minute: u32) -> Pace {
        let cost = if per_minute == 0 { 0 } else { MINUTE / i128::from(per_minute) };
        Pace { cost, credit: MINUTE, updated: None }
    }

    /// Stops pacing: for a host whose answers carry no rate-limit headers, which has no limits to respect.
    pub fn disable(&mut self) {
        self.cost = 0;
    }

    /// Whether there is a limit at all.
    pub fn is_enabled(&self) -> bool {
        self.cost > 0
    }

    /// Takes one request out of the bucket.
    ///
    /// A clock that goes backwards earns nothing and costs nothing: the wait it is told is never longer than the
    /// time between two requests.
    ///
    /// # Errors
    ///
    /// The time at which to ask again, if the bucket is empty; nothing was taken then.
    pub fn next(&mut self, now: Timestamp) -> Result<(), Timestamp> {
        if self.cost == 0 {
            return Ok(());
        }
        let elapsed = self.updated.map_or(0, |updated| now.duration_since(updated).as_nanos().max(0));
        self.updated = Some(now);
        self.credit = self.credit.saturating_add(elapsed).min(MINUTE);
        if self.credit >= self.cost {
            self.credit -= self.cost;
            return Ok(());
        }
        let missing = i64::try_from(self.cost - self.credit).unwrap_or(i64::MAX);
        Err(now.checked_add(SignedDuration::from_nanos(missing)).unwrap_or(Timestamp::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(milliseconds: i64) -> Timestamp {
        Timestamp::from_millisecond(1_800_000_000_000 + milliseconds).unwrap()
    }

    /// How many requests start between the two times, by a caller that always wants to.
    fn started(pace: &mut Pace, from: i64, to: i64) -> usize {
        let mut count = 0;
        let mut now = at(from);
        while now < at(to) {
            match pace.next(now) {
                Ok(()) => count += 1,
                Err(when) => {
                    assert!(when > now);
                    now = when;
                }
            }
        }
        count
    }

    #[test]
    fn a_full_bucket_then_an_even_flow() {
        for per_minute in [1, 7, 60, 900, 5_000, 100_000] {
            let mut pace = Pace::new(per_minute);
            let burst = (0..200_000).take_while(|_| pace.next(at(0)).is_ok()).count();
            assert_eq!(burst, per_minute as usize);
            let minute = started(&mut pace, 0, 60_000);
            assert!(minute.abs_diff(per_minute as usize) <= 1, "{per_minute}: {minute}");
        }
    }

    #[test]
    fn tells_when_to_come_back() {
        let mut pace = Pace::new(60);
        while pace.next(at(0)).is_ok() {}
        assert_eq!(pace.next(at(0)), Err(at(1_000)));
        assert_eq!(pace.next(at(400)), Err(at(1_000)));
        assert_eq!(pace.next(at(1_000)), Ok(()));
        assert_eq!(pace.next(at(1_000)), Err(at(2_000)));
    }

    #[test]
    fn an_idle_hour_saves_up_one_minute() {
        let mut pace = Pace::new(10);
        while pace.next(at(0)).is_ok() {}
        assert_eq!((0..100).take_while(|_| pace.next(at(3_600_000)).is_ok()).count(), 10);
    }

    #[test]
    fn no_limit_is_no_limit() {
        let mut pace = Pace::new(0);
        assert!(!pace.is_enabled());
        assert!((0..10_000).all(|_| pace.next(at(0)).is_ok()));
        let mut pace = Pace::new(1);
        assert!(pace.is_enabled());
        pace.disable();
        assert!((0..10_000).all(|_| pace.next(at(0)).is_ok()));
    }

    #[test]
    fn a_clock_set_back_is_harmless() {
        let mut pace = Pace::new(60);
        while pace.next(at(0)).is_ok() {}
        let day = 86_400_000;
        assert_eq!(pace.next(at(-day)), Err(at(-day + 1_000)));
        assert_eq!(pace.next(at(-day + 1_000)), Ok(()));
    }

    #[test]
    fn the_ends_of_time_do_not_overflow() {
        let mut pace = Pace::new(1);
        assert_eq!(pace.next(Timestamp::MIN), Ok(()));
        assert_eq!(pace.next(Timestamp::MAX), Ok(()));
        assert_eq!(pace.next(Timestamp::MAX), Err(Timestamp::MAX));
    }

    proptest! {
        /// Whatever the clock does, the wait is at most the time between two requests, and the bucket never lets
        /// more through than it held plus what forward time earned.
        #[test]
        fn bounded(per_minute in 1u32..2_000, steps in proptest::collection::vec(-120_000i64..120_000, 1..200)) {
            let mut pace = Pace::new(per_minute);
            let mut now = 0;
            let mut forward = 0;
            let mut count = 0i64;
            for step in steps {
                now += step;
                forward += step.max(0);
                match pace.next(at(now)) {
                    Ok(()) => count += 1,
                    Err(when) => {
                        let wait = when.duration_since(at(now)).as_nanos();
                        prop_assert!(wait > 0 && wait <= MINUTE / i128::from(per_minute));
                    }
                }
            }
            prop_assert!(count <= i64::from(per_minute) + forward * i64::from(per_minute) / 60_000 + 1);
        }
    }
}
