//! The primary limit: how many requests the host still answers this hour, and when to wait.
//!
//! Pure: the caller passes the numbers of answers and the time, and learns whether the next request may start. It
//! never sleeps, so that all workers can wait together, visibly, and be interrupted.
//!
//! Three things make it harder than a subtraction:
//! - The host keeps several counters. From one answer to the next `remaining` can rise and `reset` can move, and
//!   answers arrive out of order. So the quota keeps the smallest number of every window that has not yet reset; the
//!   smallest of all decides, with its own reset.
//! - The reset is a time by the host's clock. The quota measures it against the same answer's `Date`, never against
//!   this machine's clock alone.
//! - A host without limits sends no numbers. That means that there is no limit, not that it is exhausted.

use jiff::{SignedDuration, Timestamp};

/// The longest wait for a reset in seconds: the hour of a window, and a minute for clocks and delays.
pub const LONGEST_WAIT_SECONDS: i64 = 3_660;

/// The window of the limit in seconds, as the host documents it.
const WINDOW_SECONDS: i64 = 3_600;

/// How many seconds to wait when the host says that the limit is used up, but not when it resets.
const UNKNOWN_RESET_SECONDS: i64 = 60;

/// How many windows to remember. The host has a handful of counters; more are noise.
const WINDOWS: usize = 8;

/// What one answer says about the primary limit; a field is `None` if its header is missing or not a
/// number.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct QuotaReading {
    /// `X-RateLimit-Limit`: requests per window.
    pub limit: Option<u64>,
    /// `X-RateLimit-Remaining`: requests left in this window.
    pub remaining: Option<u64>,
    /// `X-RateLimit-Reset`: end of this window in seconds since 1970, by the host's clock.
    pub reset: Option<i64>,
    /// `Date`: when the host answered, in seconds since 1970 by its own clock.
    pub date: Option<i64>,
}

/// The state of the limit, as last known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaStatus {
    /// Requests per window, if the host said so.
    pub limit: Option<u64>,
    /// Requests left.
    pub remaining: u64,
    /// End of the window in seconds since 1970 by the host's clock, if the host said so.
    pub reset: Option<i64>,
}

/// Whether the next request may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admit {
    /// Yes.
    Go,
    /// Not before this time, by this machine's clock. Then ask again.
    WaitUntil(Timestamp),
    /// No: the host says that the limit is used up, and the caller does not want to wait.
    Exhausted {
        /// Requests per window, if the host said so.
        limit: Option<u64>,
        /// End of the window in seconds since 1970 by the host's clock, if the host said so.
        reset: Option<i64>,
        /// When new requests are available, by this machine's clock.
        until: Timestamp,
    },
}

/// What the limit allows in this window and in the next one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// Requests that may still start.
    pub now: u64,
    /// Requests that may start in each further window.
    pub then: u64,
    /// When the next window begins, by this machine's clock.
    pub next: Timestamp,
}

/// How many requests of this limit are left to others.
pub fn kept_back(limit: Option<u64>, threshold: u64) -> u64 {
    match limit {
        Some(limit) if limit <= threshold => (limit / 10).max(1),
        _ => threshold,
    }
}

/// What is known about the primary limit.
#[derive(Debug, Clone, Default)]
pub struct Quota {
    windows: Vec<Window>,
    /// The window that the host declared used up.
    exhausted: Option<Window>,
    /// Host's clock minus this machine's, in seconds.
    offset: i64,
    last: Option<QuotaStatus>,
}

#[derive(Debug, Clone, Copy)]
struct Window {
    status: QuotaStatus,
    /// When requests may start again, by this machine's clock.
    wake: Timestamp,
}

impl Quota {
    /// Nothing known yet: admits everything.
    pub fn new() -> Quota {
        Quota::default()
    }

    /// Records an answer's numbers; `now` is when its headers arrived, by this machine's clock.
    ///
    /// Every answer counts, including refusals. An answer without numbers changes nothing.
    pub fn observe(&mut self, reading: QuotaReading, now: Timestamp) {
        if let Some(date) = reading.date {
            self.offset = date.saturating_sub(now.as_second());
        }
        let Some(remaining) = reading.remaining else { return };
        let status = QuotaStatus { limit: reading.limit, remaining, reset: reading.reset };
        // Concurrent answers arrive in any order; what is reported does not depend on it.
        let before =
            self.last.filter(|last| last.reset == status.reset).map_or(remaining, |last| last.remaining);
        self.last = Some(QuotaStatus { remaining: remaining.min(before), ..status });
        // Without a reset there is nothing to wait for; if the limit is used up the host will say so.
        let Some(reset) = reading.reset else { return };
        let wake = self.wake(Some(reset), now);
        self.forget_elapsed(now);
        match self.windows.iter_mut().find(|window| window.status.reset == Some(reset)) {
            Some(window) => {
                window.wake = wake;
                window.status.limit = reading.limit.or(window.status.limit);
                window.status.remaining = window.status.remaining.min(remaining);
            }
            None => self.windows.push(Window { status, wake }),
        }
        if self.windows.len() > WINDOWS {
            // Forget the least restrictive one.
            self.windows.sort_by_key(|window| window.status.remaining);
            self.windows.truncate(WINDOWS);
        }
    }

    /// Records that the host refused a request because the limit is used up. Call it after
    /// [`Quota::observe`] for the same answer, with the reset that the classification found.
    pub fn refused(&mut self, reset: Option<i64>, now: Timestamp) {
        let limit = self.last.and_then(|status| status.limit);
        let status = QuotaStatus { limit, remaining: 0, reset };
        self.exhausted = Some(Window { status, wake: self.wake(reset, now) });
    }

    /// Whether the next request may start.
    ///
    /// `in_flight` is how many requests have started without an answer yet: their answers will lower the number.
    /// With `pause`, requests stop when fewer than `threshold` would be left, until a second after the reset;
    /// without, they stop when the host has refused one.
    ///
    /// If the limit does not exceed the threshold (60 per hour without a token), a tenth of the limit replaces the
    /// threshold: otherwise no request could start.
    pub fn admit(&mut self, now: Timestamp, in_flight: u64, threshold: u64, pause: bool) -> Admit {
        self.forget_elapsed(now);
        if let Some(window) = &self.exhausted {
            let QuotaStatus { limit, reset, .. } = window.status;
            let until = window.wake;
            return if pause { Admit::WaitUntil(until) } else { Admit::Exhausted { limit, reset, until } };
        }
        if !pause {
            return Admit::Go;
        }
        let wake = self
            .windows
            .iter()
            .filter(|window| {
                let kept_back = kept_back(window.status.limit, threshold);
                window.status.remaining.saturating_sub(in_flight) < kept_back
            })
            .map(|window| window.wake)
            .max();
        wake.map_or(Admit::Go, Admit::WaitUntil)
    }

    /// Whether any answer has had numbers; if none has, the host has no limits.
    pub fn is_limited(&self) -> bool {
        self.last.is_some() || self.exhausted.is_some()
    }

    /// The numbers of the last answer's window, with the fewest requests left of all its answers so far: for a report.
    pub fn last(&self) -> Option<QuotaStatus> {
        self.last
    }

    /// The window with the fewest requests left, of those that have not reset.
    pub fn tightest(&mut self, now: Timestamp) -> Option<QuotaStatus> {
        self.forget_elapsed(now);
        self.windows.iter().map(|window| window.status).min_by_key(|status| status.remaining)
    }

    /// What the limit allows, for a forecast; `None` if no answer has had numbers.
    pub fn budget(&mut self, now: Timestamp, in_flight: u64, threshold: u64) -> Option<Budget> {
        self.forget_elapsed(now);
        let tightest = self.windows.iter().min_by_key(|window| window.status.remaining);
        let limit = tightest.and_then(|window| window.status.limit).or(self.last.and_then(|last| last.limit));
        let kept_back = kept_back(limit, threshold);
        let allowed = |remaining: u64| remaining.saturating_sub(kept_back);
        if let Some(window) = &self.exhausted {
            return Some(Budget { now: 0, then: allowed(limit.unwrap_or_default()), next: window.wake });
        }
        let (remaining, next) = match tightest {
            Some(window) => (window.status.remaining.saturating_sub(in_flight), window.wake),
            // The window is over, and the next one begins with the next answer.
            None => (limit?, later(now, WINDOW_SECONDS + 1)),
        };
        Some(Budget { now: allowed(remaining), then: allowed(limit.unwrap_or(remaining)), next })
    }

    /// When requests may start again: a second after the reset, at least a second and at most
    /// [`LONGEST_WAIT_SECONDS`] from now. A reset in the past costs one second: without a wait, the client would
    /// hammer a host that refuses.
    fn wake(&self, reset: Option<i64>, now: Timestamp) -> Timestamp {
        let seconds = match reset {
            Some(reset) => reset
                .saturating_sub(now.as_second().saturating_add(self.offset))
                .saturating_add(1)
                .clamp(1, LONGEST_WAIT_SECONDS),
            None => UNKNOWN_RESET_SECONDS,
        };
        later(now, seconds)
    }

    /// Drops the windows that are over, and shortens waits that became too long when the clock was
    /// set back.
    fn forget_elapsed(&mut self, now: Timestamp) {
        let latest = later(now, LONGEST_WAIT_SECONDS);
        self.windows.retain(|window| window.wake > now);
        self.exhausted = self.exhausted.filter(|window| window.wake > now);
        for window in self.windows.iter_mut().chain(self.exhausted.as_mut()) {
            window.wake = window.wake.min(latest);
        }
    }
}

fn later(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests;
