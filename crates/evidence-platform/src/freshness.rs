//! How fresh an organization's evidence is, and since when a bundle is overdue.

use crate::time::Time;

/// The age of an organization's newest bundle, at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Freshness {
    /// When the organization was created.
    pub created_at: Time,
    /// The older of the times at which the newest bundle was collected and received; `None` without a bundle.
    pub newest: Option<Time>,
    /// After how many hours a bundle is expected; `None` if nothing is expected.
    pub expect_hours: Option<u32>,
    /// The moment.
    pub now: Time,
}

impl Freshness {
    /// The age of the newest bundle.
    pub fn age_seconds(&self) -> Option<u64> {
        self.newest.map(|newest| seconds(newest, self.now))
    }

    /// The time by which the next bundle was expected, if it has passed. Without any bundle, the time since the
    /// organization was created counts.
    pub fn late_since(&self) -> Option<Time> {
        let expected = i64::from(self.expect_hours?).saturating_mul(3_600_000);
        let due = Time(self.newest.unwrap_or(self.created_at).0.saturating_add(expected));
        (due < self.now).then_some(due)
    }

    /// The age in words.
    pub fn words(&self) -> String {
        let newest = match self.age_seconds() {
            Some(age) => format!("last bundle {} ago", duration(age)),
            None => "no bundle yet".to_owned(),
        };
        match self.expect_hours {
            Some(hours) => format!("{newest}, expected every {hours} h"),
            None => newest,
        }
    }
}

fn seconds(from: Time, to: Time) -> u64 {
    u64::try_from(to.0.saturating_sub(from.0)).unwrap_or_default() / 1_000
}

/// A duration in its largest fitting unit.
pub fn duration(seconds: u64) -> String {
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;

    fn at(hours: i64, newest: Option<i64>, expect_hours: Option<u32>) -> Freshness {
        let time = |hours: i64| Time(hours * HOUR);
        Freshness { created_at: time(0), newest: newest.map(time), expect_hours, now: time(hours) }
    }

    #[test]
    fn late_begins_after_the_expected_hours() {
        let late = |hours, newest, expected| at(hours, newest, expected).late_since();
        assert_eq!(late(126, Some(100), Some(26)), None, "due just now");
        assert_eq!(late(127, Some(100), Some(26)), Some(Time(126 * HOUR)));
        assert_eq!(late(9_000, Some(100), None), None, "nothing is expected");
        assert_eq!(late(27, None, Some(26)), Some(Time(26 * HOUR)), "never a bundle");
        assert_eq!(late(25, None, Some(26)), None);
        // A clock that went back makes nothing late, and no age is negative.
        assert_eq!(late(50, Some(100), Some(1)), None);
        assert_eq!(at(50, Some(100), None).age_seconds(), Some(0));
    }

    #[test]
    fn the_age_in_words() {
        assert_eq!(at(103, Some(100), Some(26)).words(), "last bundle 3 h ago, expected every 26 h");
        assert_eq!(at(244, Some(100), None).words(), "last bundle 6 days ago");
        assert_eq!(at(1, None, Some(26)).words(), "no bundle yet, expected every 26 h");
        assert_eq!([90, 600].map(duration), ["90 s", "10 min"]);
    }
}
