//! Where a client stands with its limits at one moment: what a forecast begins with.

use jiff::{SignedDuration, Timestamp};

use super::quota::Budget;

/// How many answers the measured latency rests on: older ones count less and less.
const MEASURED: u64 = 1_024;

/// What a client has sent, what its host still allows, and how fast it answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Standing {
    /// The time, by the client's clock.
    pub now: Timestamp,
    /// Requests sent so far, without repeats.
    pub sent: u64,
    /// How many requests may be in flight.
    pub in_flight: u64,
    /// How long an answer takes, as measured.
    pub latency: Option<SignedDuration>,
    /// The most requests in any minute, by number or by the host's time that they take; 0 means no limit.
    pub per_minute: u64,
    /// How many of them start before the pace holds one back.
    pub left_in_minute: u64,
    /// The time until that one may start.
    pub minute_ends: SignedDuration,
    /// The hourly limit, if the host has one.
    pub budget: Option<Budget>,
}

/// Measures the latency: the time that requests were in flight, divided by their answers.
#[derive(Debug, Default)]
pub(super) struct Latency {
    /// Milliseconds, of all requests together.
    waited: u64,
    answers: u64,
    at: Option<Timestamp>,
}

impl Latency {
    /// Notes that this many requests were in flight until now.
    pub(super) fn until(&mut self, in_flight: usize, now: Timestamp) {
        let since = self.at.replace(now).map_or(0, |at| now.duration_since(at).as_millis());
        let in_flight = u64::try_from(in_flight).unwrap_or(u64::MAX);
        let waited = u64::try_from(since).unwrap_or(0).saturating_mul(in_flight);
        self.waited = self.waited.saturating_add(waited);
    }

    /// Notes that one of them has its answer.
    pub(super) fn answered(&mut self) {
        self.answers += 1;
        if self.answers >= 2 * MEASURED {
            (self.answers, self.waited) = (self.answers / 2, self.waited / 2);
        }
    }

    pub(super) fn mean(&self) -> Option<SignedDuration> {
        let mean = self.waited.checked_div(self.answers)?;
        Some(SignedDuration::from_millis(i64::try_from(mean).unwrap_or(i64::MAX)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latency_is_that_of_the_requests_in_flight() {
        let at = |milliseconds| Timestamp::from_millisecond(milliseconds).unwrap();
        let mut latency = Latency::default();
        assert_eq!(latency.mean(), None);
        // Four at once, answered after 300 ms; then an idle hour; then one that takes 800 ms.
        (0..4).for_each(|in_flight| latency.until(in_flight, at(0)));
        for in_flight in (1..=4).rev() {
            latency.until(in_flight, at(300));
            latency.answered();
        }
        assert_eq!(latency.mean(), Some(SignedDuration::from_millis(300)));
        latency.until(0, at(3_600_000));
        latency.until(1, at(3_600_800));
        latency.answered();
        assert_eq!(latency.mean(), Some(SignedDuration::from_millis(400)));
        // A slower host is noticed, however long the run was.
        for answer in 1..10_000 {
            latency.until(1, at(3_600_800 + answer * 1_000));
            latency.answered();
        }
        assert!(latency.mean().unwrap() > SignedDuration::from_millis(990));
    }
}
