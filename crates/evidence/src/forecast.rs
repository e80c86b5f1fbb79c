//! When a collection would be through: the pace, the host's limit, and nothing measured.
//!
//! Pure arithmetic over a [`Plan`]. The limit's window is taken for an hour, as the host documents it; the requests
//! that other tools of the same user send meanwhile are not known.

use jiff::{SignedDuration, Timestamp};

use crate::source::Plan;

/// Requests kept back from every window: where a run pauses (specification, "Pause threshold").
const KEPT_BACK: u64 = 100;

/// The window of the primary limit in seconds.
const WINDOW_SECONDS: u64 = 3_600;

/// Without a pace, the host's own speed decides; this many requests a second is what 32 in flight make of answers
/// that take a third of a second.
const UNPACED_PER_SECOND: u64 = 96;

/// A forecast.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    /// How long the requests take, waits included.
    pub after: SignedDuration,
    /// How often the run waits for the limit.
    pub windows: u64,
}

/// When the plan's requests (at most) would be through, starting `now`.
pub fn finish(plan: &Plan, now: Timestamp) -> Forecast {
    let requests = plan.requests_maximum;
    let Some(rate) = &plan.rate_limit else {
        return Forecast { after: seconds(paced(requests, 0)), windows: 0 };
    };
    let pace = u64::from(plan.requests_per_minute);
    let mut left = requests;
    let available = rate.remaining.saturating_sub(KEPT_BACK);
    let first = left.min(available);
    left -= first;
    if left == 0 {
        return Forecast { after: seconds(paced(first, pace)), windows: 0 };
    }
    let reset: Option<Timestamp> = rate.reset.parse().ok();
    let until_reset = reset.map_or(WINDOW_SECONDS, |reset| {
        u64::try_from(reset.duration_since(now).as_secs()).unwrap_or(0).min(WINDOW_SECONDS)
    });
    let per_window = rate.limit.saturating_sub(KEPT_BACK).max(1);
    let full_windows = (left - 1) / per_window;
    let last = left - full_windows * per_window;
    let after = until_reset.max(paced(first, pace)) + full_windows * WINDOW_SECONDS + paced(last, pace);
    Forecast { after: seconds(after), windows: full_windows + 1 }
}

/// Seconds for `requests` in one go: a minute's worth goes at the host's own speed, and the next when the minute is over.
fn paced(requests: u64, per_minute: u64) -> u64 {
    let own_speed = requests.div_ceil(UNPACED_PER_SECOND);
    let Some(minutes) = requests.saturating_sub(1).checked_div(per_minute) else { return own_speed };
    let last = requests.saturating_sub(minutes.saturating_mul(per_minute));
    own_speed.max(minutes.saturating_mul(60).saturating_add(last.div_ceil(UNPACED_PER_SECOND)))
}

fn seconds(seconds: u64) -> SignedDuration {
    SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX))
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
            (4_900, Some(5_000), 900, 300 + 5, 0),
            (4_901, Some(5_000), 0, 1_801, 1),
            (4_900 * 2, Some(5_000), 0, 1_800 + 52, 1),
            (4_900 * 2 + 1, Some(5_000), 0, 1_800 + 3_600 + 1, 2),
            (10, Some(100), 0, 1_801, 1),
            (10, Some(0), 0, 1_801, 1),
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
