//! Times: Unix milliseconds inside, RFC 3339 outside, and an injectable clock.
//!
//! Nothing else in the crate reads the system's clock.

use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use evidence_bundle::text::saturating_i64;
use serde::{Serialize, Serializer};

/// Milliseconds of one day.
pub const DAY_MS: i64 = 86_400_000;

/// A time in Unix milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub i64);

impl Time {
    /// The time this many days later.
    pub fn plus_days(self, days: u32) -> Time {
        Time(self.0.saturating_add(i64::from(days).saturating_mul(DAY_MS)))
    }

    /// The time this many seconds later.
    pub fn plus_seconds(self, seconds: u64) -> Time {
        let millis = i64::try_from(seconds).unwrap_or(i64::MAX).saturating_mul(1_000);
        Time(self.0.saturating_add(millis))
    }

    /// The time this many seconds earlier.
    pub fn minus_seconds(self, seconds: u64) -> Time {
        let millis = saturating_i64(seconds).saturating_mul(1_000);
        Time(self.0.saturating_sub(millis))
    }

    /// Parses RFC 3339 with any offset; truncates to milliseconds.
    pub fn parse(text: &str) -> Option<Time> {
        text.parse::<jiff::Timestamp>().ok().map(|time| Time(time.as_millisecond()))
    }
}

/// A day (UTC) or an RFC 3339 time: its first millisecond, and its last second, which for a day is before midnight.
pub fn day_or_time(text: &str) -> Option<(Time, Time)> {
    if let Some(time) = Time::parse(text) {
        return Some((time, time));
    }
    let first = Time::parse(&format!("{text}T00:00:00Z")).filter(|_| text.len() == 10)?;
    Some((first, Time(first.plus_days(1).0.saturating_sub(1_000))))
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match jiff::Timestamp::from_millisecond(self.0) {
            Ok(time) => time.fmt(f),
            Err(_) => write!(f, "{}ms", self.0),
        }
    }
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The source of the time of day: the system, or a test.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Time + Send + Sync>);

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

impl Clock {
    /// The system's clock.
    pub fn system() -> Clock {
        Clock::new(|| {
            let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
            Time(saturating_i64(since.as_millis()))
        })
    }

    /// A clock that calls this function.
    pub fn new(now: impl Fn() -> Time + Send + Sync + 'static) -> Clock {
        Clock(Arc::new(now))
    }

    /// The current time.
    pub fn now(&self) -> Time {
        (self.0)()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read() {
        let time = Time(1_767_323_045_120);
        assert_eq!(time.to_string(), "2026-01-02T03:04:05.12Z");
        assert_eq!(Time::parse("2026-01-02T03:04:05.12Z"), Some(time));
        assert_eq!(Time::parse("2026-01-02T04:04:05.12+01:00"), Some(time));
        assert_eq!(Time::parse("tomorrow"), None);
        assert_eq!(time.plus_days(1).minus_seconds(86_400), time);
    }
}
