//! When a source will be done, in words.

use jiff::{SignedDuration, Timestamp, tz::TimeZone};

use crate::forecast::Forecast;
use evidence_text::counted;

/// With more time left than this, the time of day says more than a number of minutes.
const SHORT: SignedDuration = SignedDuration::from_mins(10);

/// `40 s left`, `done about 20:35Z, 2 waits left`: with this many waits.
pub(super) fn ending(forecast: &Forecast, waits: u64) -> String {
    let Forecast { after, done, .. } = *forecast;
    let waits = match waits {
        0 => String::new(),
        waits => format!(", {} left", counted(waits, "wait", "waits")),
    };
    if after <= SHORT {
        let seconds = after.as_secs() + i64::from(after.subsec_nanos() > 0);
        let left =
            if seconds <= 90 { format!("{seconds} s") } else { format!("{} min", (seconds + 59) / 60) };
        return format!("{left} left{waits}");
    }
    let now = done.checked_sub(after).unwrap_or(done);
    format!("done about {}{waits}", time(done, now))
}

/// `20:35Z`; on another day `Sun 20:35Z`, and after a week with the date.
pub(super) fn time(at: Timestamp, now: Timestamp) -> String {
    let day = |time: Timestamp| TimeZone::UTC.to_datetime(time).date();
    let format = match at.duration_since(now) {
        _ if day(at) == day(now) => "%H:%MZ",
        later if later < SignedDuration::from_hours(6 * 24) => "%a %H:%MZ",
        _ => "%Y-%m-%d %H:%MZ",
    };
    at.strftime(format).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_in_words() {
        let now: Timestamp = "2026-11-21T17:30:00Z".parse().unwrap();
        let forecast = |seconds: i64| {
            let after = SignedDuration::from_millis(seconds * 1_000 - 200);
            Forecast { after, done: now.checked_add(after).unwrap(), waits: 0 }
        };
        let table = [
            (40, 0, "40 s left"),
            (90, 0, "90 s left"),
            (91, 1, "2 min left, 1 wait left"),
            (600, 0, "10 min left"),
            (11_100, 2, "done about 20:34Z, 2 waits left"),
            (86_400, 24, "done about Sun 17:29Z, 24 waits left"),
            (864_000, 240, "done about 2026-12-01 17:29Z, 240 waits left"),
        ];
        for (seconds, waits, text) in table {
            assert_eq!(ending(&forecast(seconds), waits), text);
        }
    }
}
