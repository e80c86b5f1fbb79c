//! The days of a period, and the intervals at which evidence is expected.

use evidence_bundle::document::Cadence;
use evidence_bundle::time;

/// The seconds of a day.
pub(super) const DAY: i64 = 86_400;

/// A period of whole days in UTC, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The first day, counted from 1970.
    first: i64,
    /// The last day.
    last: i64,
}

impl Period {
    /// The period between two days. `None` if the last comes before the first.
    pub fn new(first: Day, last: Day) -> Option<Period> {
        (first.0 <= last.0).then_some(Period { first: first.0, last: last.0 })
    }

    /// The number of days.
    pub fn days(&self) -> u64 {
        u64::try_from(self.last.saturating_sub(self.first).saturating_add(1)).unwrap_or_default()
    }

    /// Its days as `YYYY-MM-DD`, in order.
    pub fn dates(&self) -> impl Iterator<Item = String> {
        (self.first..=self.last).map(|day| Day(day).to_string())
    }

    /// The first second.
    pub(super) fn start(&self) -> i64 {
        self.first.saturating_mul(DAY)
    }

    /// The first second after the period.
    pub(super) fn end(&self) -> i64 {
        self.last.saturating_add(1).saturating_mul(DAY)
    }

    /// The day of this time, counted from the first day. `None` outside the period.
    pub fn day_of(&self, seconds: i64) -> Option<usize> {
        let day = seconds.div_euclid(DAY);
        (self.first..=self.last).contains(&day).then(|| usize::try_from(day - self.first).ok())?
    }

    /// How many intervals of this length the period has; the last one may be shorter.
    pub(super) fn units(&self, length: i64) -> usize {
        let all = self.end().saturating_sub(self.start());
        usize::try_from(all.saturating_add(length - 1).div_euclid(length)).unwrap_or_default()
    }

    /// The interval of this time.
    pub(super) fn unit_of(&self, seconds: i64, length: i64) -> usize {
        usize::try_from(seconds.saturating_sub(self.start()).div_euclid(length)).unwrap_or_default()
    }
}

/// A day in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day(i64);

impl Day {
    /// The day that is written `YYYY-MM-DD`.
    pub fn parse(text: &str) -> Option<Day> {
        let is_plain = text.len() == 10 && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'-');
        let seconds = is_plain.then(|| time::parse(&format!("{text}T00:00:00Z")))??;
        Some(Day::of(seconds))
    }

    /// The day of this time.
    pub fn of(seconds: i64) -> Day {
        Day(seconds.div_euclid(DAY))
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&date(self.0.saturating_mul(DAY)))
    }
}

/// The day of this time as `YYYY-MM-DD`.
pub(super) fn date(seconds: i64) -> String {
    time::format(seconds).and_then(|text| text.get(..10).map(str::to_owned)).unwrap_or_default()
}

/// A time as RFC 3339.
pub(super) fn instant(seconds: i64) -> String {
    time::format(seconds).unwrap_or_default()
}

/// The seconds of the interval in which a bundle is expected. Without a cadence, days are counted.
pub(super) fn length(cadence: Option<Cadence>) -> i64 {
    match cadence {
        None | Some(Cadence::Daily) => DAY,
        Some(Cadence::Weekly) => 7 * DAY,
        Some(Cadence::Hours(hours)) => i64::from(hours.max(1)).saturating_mul(3_600),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_those_of_utc() {
        for text in ["2026-02-30", "2026-1-1", "2026-01-01T", "", "+026-01-01", "2026-13-01"] {
            assert_eq!(Day::parse(text), None, "{text}");
        }
        let day = |text| Day::parse(text).unwrap();
        let period = Period::new(day("2024-02-28"), day("2024-03-01")).unwrap();
        assert_eq!(period.dates().collect::<Vec<_>>(), ["2024-02-28", "2024-02-29", "2024-03-01"]);
        assert_eq!(period.days(), 3);
        assert_eq!(period.day_of(period.start() - 1), None);
        assert_eq!(period.day_of(period.start()), Some(0));
        assert_eq!(period.day_of(period.end() - 1), Some(2));
        assert_eq!(period.day_of(period.end()), None);
        assert!(Period::new(day("2024-03-01"), day("2024-02-28")).is_none());
    }

    #[test]
    fn the_last_interval_may_be_shorter() {
        let period =
            Period::new(Day::parse("2026-01-01").unwrap(), Day::parse("2026-01-31").unwrap()).unwrap();
        let units = |cadence| period.units(length(cadence));
        assert_eq!(units(None), 31);
        assert_eq!(units(Some(Cadence::Weekly)), 5);
        assert_eq!(units(Some(Cadence::Hours(6))), 124);
        assert_eq!(units(Some(Cadence::Hours(0))), 744);
        assert_eq!(period.unit_of(period.end() - 1, length(Some(Cadence::Weekly))), 4);
    }
}
