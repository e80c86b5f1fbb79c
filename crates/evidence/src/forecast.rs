//! Estimates when a collection would finish, from the pace and the host's limit. Nothing is measured.
//!
//! Pure arithmetic over a [`Plan`]; the rules are in [`schedule`]. The limit's window is assumed to be an hour, as the
//! host documents it. Requests that the user's other tools send meanwhile are not known.

pub mod schedule;

use jiff::{SignedDuration, Timestamp};

use self::schedule::{Hourly, Phase, Schedule, Terms};
use crate::source::Plan;

/// Requests reserved in every window: the run pauses at this number (specification, "Pause threshold").
pub const KEPT_BACK: u64 = 100;

/// The default number of requests in flight.
const IN_FLIGHT: u64 = 32;

/// The assumed latency of an answer: a third of a second.
const LATENCY: SignedDuration = SignedDuration::from_millis(333);

/// The window of the primary limit.
const WINDOW: SignedDuration = SignedDuration::from_hours(1);

/// A forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// How long the requests take, waits included.
    pub after: SignedDuration,
    /// How many times the run waits for the limit.
    pub windows: u64,
}

/// When the plan's requests (at most) would finish, starting `now`. Requests that the limit does not count affect only
/// the pace.
pub fn finish(plan: &Plan, now: Timestamp) -> Forecast {
    let requests = plan.requests_maximum;
    let hourly = plan.rate_limit.as_ref().map(|rate| {
        let reset: Option<Timestamp> = rate.reset.parse().ok();
        let ends =
            reset.map_or(WINDOW, |reset| reset.duration_since(now).clamp(SignedDuration::ZERO, WINDOW));
        Hourly {
            now: rate.remaining.saturating_sub(KEPT_BACK),
            then: rate.limit.saturating_sub(KEPT_BACK),
            ends,
        }
    });
    // A host without a limit has no pace either.
    let per_minute = if hourly.is_some() { u64::from(plan.requests_per_minute) } else { 0 };
    let terms = Terms { in_flight: IN_FLIGHT, latency: LATENCY, alone: 0, per_minute, hourly };
    let phases = [Phase { requests, counted: requests.saturating_sub(plan.requests_free) }];
    let Schedule { after, waits } = schedule::schedule(&phases, &terms);
    Forecast {
        after: SignedDuration::from_secs(after.as_secs() + i64::from(after.subsec_nanos() > 0)),
        windows: waits,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence_bundle::document::RateLimitRecord;

    fn plan(requests: u64, remaining: Option<u64>, per_minute: u32) -> Plan {
        Plan {
            requests_maximum: requests,
            requests_per_minute: per_minute,
            rate_limit: remaining.map(|remaining| RateLimitRecord {
                limit: 5_000,
                remaining,
                reset: "2026-11-21T09:30:00Z".to_string(),
            }),
            ..Plan::default()
        }
    }

    #[test]
    fn the_limit_decides_when_there_are_more_requests_than_it_leaves() {
        let now: Timestamp = "2026-11-21T09:00:00Z".parse().unwrap();
        let table = [
            // requests, remaining, pace → seconds, waits
            (96, None, 900, 1, 0),
            (960, Some(5_000), 0, 10, 0),
            (900, Some(5_000), 900, 10, 0),
            (1_800, Some(5_000), 900, 60 + 10, 0),
            (4_900, Some(5_000), 900, 300 + 6, 0),
            // A second after the reset, plus one answer.
            (4_901, Some(5_000), 0, 1_801 + 1, 1),
            (4_900 * 2, Some(5_000), 0, 1_801 + 52, 1),
            (4_900 * 2 + 1, Some(5_000), 0, 1_801 + 3_601 + 1, 2),
            (10, Some(100), 0, 1_801 + 1, 1),
            (10, Some(0), 0, 1_801 + 1, 1),
        ];
        for (requests, remaining, pace, after, windows) in table {
            let forecast = finish(&plan(requests, remaining, pace), now);
            assert_eq!(
                forecast,
                Forecast { after: SignedDuration::from_secs(after), windows },
                "{requests} requests, {remaining:?} remaining, {pace} per minute"
            );
        }
    }
}
