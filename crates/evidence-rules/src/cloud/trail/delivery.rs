//! Whether a trail that is logging also delivers, according to its status and the time of the answer.

use jiff::Timestamp;

use super::{Criterion, DELIVERY_UNCONFIRMED};
pub use crate::age::{judged_at, read_judged_at};
use crate::cloud::record::{Moment, TrailStatus};
use crate::field::Field;
use crate::rule::reason;
use evidence_text::single_line;

/// Trails deliver logs every few minutes while something happens, and a digest every hour if they validate files. After
/// this many seconds, no delivery is worth a look.
const LONGEST: i64 = 24 * 60 * 60;

/// The name of the fact that tells in which region, other than its home, a trail was looked at.
pub const REGION: &str = "region";

/// Judges the deliveries in a status, for a run that began at `at`.
///
/// A quiet region has no logs to deliver, so the time of the latest log alone proves no failure. A digest comes even then.
pub fn of(status: &TrailStatus, at: Timestamp) -> Criterion {
    if let Some(error) = error(status) {
        return Criterion::Failed(error);
    }
    let since = |time: Timestamp| at.as_second().saturating_sub(time.as_second());
    let open = |reason, words: String| Criterion::Open(reason, words);
    let log = time(&status.latest_delivery_time);
    let digest = time(&status.latest_digest_delivery_time);
    match (&log, &digest) {
        (Time::At(log), _) if since(*log) <= LONGEST => return Criterion::Met(String::new()),
        (Time::Unclear, _) => return open(&reason::NO_EVIDENCE, "deliveries not reported".to_string()),
        (_, Time::At(digest)) if since(*digest) <= LONGEST => {
            return Criterion::Met(format!("no log since a day, the latest digest at {}", shown(*digest)));
        }
        _ => {}
    }
    let quiet = |what: &str, time: &Time| match time {
        Time::At(time) => format!("no {what} since {}", shown(*time)),
        Time::Never => format!("no {what} yet"),
        Time::Unclear => format!("the time of the latest {what} is not reported"),
    };
    let words = format!("{}, {}", quiet("log", &log), quiet("digest", &digest));
    if !matches!((&log, &digest), (Time::Never, Time::Never)) {
        return open(&DELIVERY_UNCONFIRMED, words);
    }
    match time(&status.start_logging_time) {
        Time::At(started) if since(started) <= LONGEST => {
            open(&DELIVERY_UNCONFIRMED, format!("{words}; logging started at {}", shown(started)))
        }
        Time::At(started) => {
            Criterion::Failed(format!("nothing delivered since logging started at {}", shown(started)))
        }
        Time::Never | Time::Unclear => open(&reason::NO_EVIDENCE, "deliveries not reported".to_string()),
    }
}

/// The deliveries of a trail in another region than its home, where only an error counts: the region may be quiet.
pub fn elsewhere(status: &TrailStatus, region: &str) -> Option<Criterion> {
    error(status).map(|error| Criterion::Failed(format!("{error} (in {region})")))
}

/// The error of the latest delivery of a log or a digest, if it failed.
pub fn error(status: &TrailStatus) -> Option<String> {
    let said = |field: &Field<String>| {
        let text = field.value().map(|text| single_line(text)).unwrap_or_default();
        (!text.trim().is_empty()).then_some(text)
    };
    let log = said(&status.latest_delivery_error).map(|text| format!("the latest delivery failed: {text}"));
    log.or_else(|| {
        let digest = said(&status.latest_digest_delivery_error)?;
        Some(format!("the latest delivery of a digest failed: {digest}"))
    })
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

    /// Every form of the five fields, compared with the rule written as a formula.
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
        let is_recent = |ago: Option<i64>| ago.is_some_and(|ago| ago <= LONGEST);
        let mut count = 0;
        for (latest, delivered_ago, latest_is_clear) in moments() {
            for (digest, digest_ago, digest_is_clear) in moments() {
                for (started, started_ago, _) in moments() {
                    let expected = if !latest_is_clear && !is_recent(delivered_ago) {
                        "no_evidence"
                    } else if is_recent(delivered_ago) || is_recent(digest_ago) {
                        "met"
                    } else if delivered_ago.is_some()
                        || digest_ago.is_some()
                        || !digest_is_clear
                        || is_recent(started_ago)
                    {
                        "delivery_unconfirmed"
                    } else if started_ago.is_some() {
                        "failed"
                    } else {
                        "no_evidence"
                    };
                    let of_errors = |log: &Field<String>, digest_error: &Field<String>| TrailStatus {
                        latest_delivery_time: latest.clone(),
                        latest_digest_delivery_time: digest.clone(),
                        start_logging_time: started.clone(),
                        latest_delivery_error: log.clone(),
                        latest_digest_delivery_error: digest_error.clone(),
                        ..TrailStatus::default()
                    };
                    let at = Timestamp::from_second(NOW).unwrap();
                    for error in &errors {
                        let status = of_errors(error, error);
                        assert_eq!(said(&of(&status, at)), expected, "{status:?}");
                        assert_eq!(said(&of(&of_errors(&failing, error), at)), "failed");
                        assert_eq!(said(&of(&of_errors(error, &failing), at)), "failed");
                        assert!(elsewhere(&status, "us-east-1").is_none());
                        assert!(elsewhere(&of_errors(error, &failing), "us-east-1").is_some());
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(count, 13 * 13 * 13 * 4);
        for at in [Timestamp::MIN, Timestamp::MAX] {
            let status =
                TrailStatus { latest_delivery_time: moments()[3].0.clone(), ..TrailStatus::default() };
            let _ = of(&status, at);
        }
    }
}
