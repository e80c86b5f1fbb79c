//! Whether a trail that is logging also delivers, according to its status and the time of the answer.

use jiff::Timestamp;

use super::super::super::record::{Moment, TrailStatus};
use super::{Criterion, TRAIL_NOT_DELIVERED_YET};
use crate::observation::Field;
use crate::rule::reason;
use evidence_http::single_line;

/// Trails deliver every few minutes. After this many seconds without a delivery, a trail counts as not delivering.
const LONGEST: i64 = 24 * 60 * 60;

/// Judges the deliveries in a status that was read at `at`.
///
/// A trail without a recent delivery neither passes nor fails while one may still come: logging may have been started,
/// or restarted, less than a day ago.
pub(in super::super::super) fn of(status: &TrailStatus, at: Timestamp) -> Criterion {
    if let Some(error) = error(status) {
        return Criterion::Failed(format!("the latest delivery failed: {}", single_line(error)));
    }
    let since = |time: Timestamp| at.as_second().saturating_sub(time.as_second());
    let started = match time(&status.start_logging_time) {
        Time::At(started) => Some(started),
        Time::Never | Time::Unclear => None,
    };
    let latest = match time(&status.latest_delivery_time) {
        Time::At(latest) if since(latest) <= LONGEST => return Criterion::Met(String::new()),
        Time::At(latest) => format!("no delivery since {}", shown(latest)),
        Time::Never => match started {
            Some(started) => format!("no delivery since logging started at {}", shown(started)),
            None => return Criterion::Open(&reason::NO_EVIDENCE, "deliveries not reported".to_string()),
        },
        Time::Unclear => {
            return Criterion::Open(&reason::NO_EVIDENCE, "deliveries not reported".to_string());
        }
    };
    match started {
        Some(started) if since(started) <= LONGEST => {
            let words = format!("{latest}; logging started at {}", shown(started));
            Criterion::Open(&TRAIL_NOT_DELIVERED_YET, words)
        }
        _ => Criterion::Failed(latest),
    }
}

/// The error of the latest delivery, if it failed.
pub(in super::super::super) fn error(status: &TrailStatus) -> Option<&str> {
    status.latest_delivery_error.value().map(String::as_str).filter(|error| !error.trim().is_empty())
}

/// A time in the answer.
enum Time {
    At(Timestamp),
    /// Absent: the provider omits events that have not happened.
    Never,
    /// Present, but not a time.
    Unclear,
}

fn time(field: &Field<Moment>) -> Time {
    let time = match field {
        Field::Absent => return Time::Never,
        Field::Null => None,
        Field::Value(Moment::Seconds(seconds)) => {
            seconds.as_f64().filter(|seconds| *seconds >= 0.0).and_then(whole_seconds)
        }
        Field::Value(Moment::Text(text)) => text.parse().ok(),
    };
    time.map_or(Time::Unclear, Time::At)
}

/// The number rounded down to a whole second.
fn whole_seconds(seconds: f64) -> Option<Timestamp> {
    let duration = jiff::SignedDuration::try_from_secs_f64(seconds.floor()).ok()?;
    Timestamp::from_second(duration.as_secs()).ok()
}

fn shown(time: Timestamp) -> String {
    evidence_bundle::time::format(time.as_second()).unwrap_or_else(|| "a time far away".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: i64 = 1_795_300_000;

    fn said(criterion: &Criterion) -> &'static str {
        match criterion {
            Criterion::Met(_) => "met",
            Criterion::Failed(_) => "failed",
            Criterion::Open(reason, _) => reason.code,
        }
    }

    /// Every form of the three fields, compared with the rule written as a formula.
    #[test]
    fn the_whole_domain() {
        let moments = || {
            let seconds = |ago: i64| Field::Value(Moment::Seconds((NOW - ago).into()));
            let text = |text: &str| Field::Value(Moment::Text(text.to_string()));
            // (the field, seconds ago, whether it is a time or absent)
            [
                (Field::Absent, None, true),
                (Field::Null, None, false),
                (seconds(-600), Some(-600), true),
                (seconds(0), Some(0), true),
                (seconds(LONGEST), Some(LONGEST), true),
                (seconds(LONGEST + 1), Some(LONGEST + 1), true),
                (seconds(400 * LONGEST), Some(400 * LONGEST), true),
                (seconds(NOW), Some(NOW), true),
                (text("2026-11-21T00:00:00Z"), Some(NOW - 1_795_219_200), true),
                (text("2025-01-01T00:00:00Z"), Some(NOW - 1_735_689_600), true),
                (text("yesterday"), None, false),
                (text(""), None, false),
                (Field::Value(Moment::Seconds(serde_json::Number::from_f64(1e300).unwrap())), None, false),
            ]
        };
        let errors = [Field::Absent, Field::Null, Field::Value(String::new()), Field::Value(" ".to_string())];
        let failing = Field::Value("AccessDenied".to_string());
        let mut count = 0;
        for (latest, delivered_ago, latest_is_clear) in moments() {
            for (started, started_ago, _) in moments() {
                for error in errors.iter().chain([&failing]) {
                    let status = TrailStatus {
                        latest_delivery_time: latest.clone(),
                        start_logging_time: started.clone(),
                        latest_delivery_error: error.clone(),
                        ..TrailStatus::default()
                    };
                    let just_started = started_ago.is_some_and(|ago| ago <= LONGEST);
                    let expected = if *error == failing {
                        "failed"
                    } else if !latest_is_clear {
                        "no_evidence"
                    } else if delivered_ago.is_some_and(|ago| ago <= LONGEST) {
                        "met"
                    } else if delivered_ago.is_none() && started_ago.is_none() {
                        "no_evidence"
                    } else if just_started {
                        "trail_not_delivered_yet"
                    } else {
                        "failed"
                    };
                    let at = Timestamp::from_second(NOW).unwrap();
                    assert_eq!(said(&of(&status, at)), expected, "{status:?}");
                    count += 1;
                }
            }
        }
        assert_eq!(count, 13 * 13 * 5);
        for at in [Timestamp::MIN, Timestamp::MAX] {
            let status =
                TrailStatus { latest_delivery_time: moments()[3].0.clone(), ..TrailStatus::default() };
            let _ = of(&status, at);
        }
    }
}
