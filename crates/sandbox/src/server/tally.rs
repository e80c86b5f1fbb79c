//! Counters of a host: requests, connections, the most requests at once, and the times of the first and the last.
//!
//! They do not depend on what was requested; that is in the log.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A snapshot of a host's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// How many requests arrived.
    pub requests: u64,
    /// How many connections were opened.
    pub connections: u64,
    /// The most requests in flight at any moment. See [`Server::highest_concurrency`](super::Server).
    pub highest_concurrency: u64,
    /// When the first request arrived, by the system's clock.
    pub first_request: Option<SystemTime>,
    /// When the last request ended, answered or aborted, by the system's clock.
    pub last_answer: Option<SystemTime>,
}

/// The counters. Times are microseconds since the epoch, 0 for none.
#[derive(Debug, Default)]
pub(super) struct Tally {
    in_flight: AtomicU64,
    peak: AtomicU64,
    served: AtomicU64,
    connections: AtomicU64,
    first: AtomicU64,
    last: AtomicU64,
}

/// A request that counts as in flight until this is dropped.
pub(super) struct Counted<'a> {
    tally: &'a Tally,
    /// The number of earlier requests.
    pub(super) number: u64,
    /// The number of requests in flight, including this one.
    pub(super) in_flight: u64,
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.tally.in_flight.fetch_sub(1, Ordering::Relaxed);
        self.tally.last.fetch_max(now(), Ordering::Relaxed);
    }
}

impl Tally {
    pub(super) fn connected(&self) {
        self.connections.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn arrive(&self) -> Counted<'_> {
        let number = self.served.fetch_add(1, Ordering::Relaxed);
        let in_flight = self.in_flight.fetch_add(1, Ordering::Relaxed) + 1;
        self.peak.fetch_max(in_flight, Ordering::Relaxed);
        let _ = self.first.compare_exchange(0, now(), Ordering::Relaxed, Ordering::Relaxed);
        Counted { tally: self, number, in_flight }
    }

    pub(super) fn requests(&self) -> u64 {
        self.served.load(Ordering::Relaxed)
    }

    /// Resets the counters; requests in flight stay in flight.
    pub(super) fn clear(&self) {
        for counter in [&self.served, &self.connections, &self.first, &self.last] {
            counter.store(0, Ordering::Relaxed);
        }
        self.peak.store(self.in_flight.load(Ordering::Relaxed), Ordering::Relaxed);
    }

    pub(super) fn summary(&self) -> Summary {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let time = |counter: &AtomicU64| match count(counter) {
            0 => None,
            micros => UNIX_EPOCH.checked_add(Duration::from_micros(micros)),
        };
        Summary {
            requests: self.requests(),
            connections: count(&self.connections),
            highest_concurrency: count(&self.peak),
            first_request: time(&self.first),
            last_answer: time(&self.last),
        }
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
}
