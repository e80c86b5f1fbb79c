//! A time axis in slots of equal length: about the usual interval between bundles, and as many as fit on a screen.

use crate::time::{DAY_MS, Time};

use super::words::Moment;

/// The possible lengths of a slot, in milliseconds and as text.
const SLOTS: [(i64, &str); 13] = [
    (1_000, "second"),
    (5_000, "5 seconds"),
    (15_000, "15 seconds"),
    (60_000, "minute"),
    (300_000, "5 minutes"),
    (900_000, "15 minutes"),
    (3_600_000, "hour"),
    (3 * 3_600_000, "3 hours"),
    (12 * 3_600_000, "12 hours"),
    (DAY_MS, "day"),
    (7 * DAY_MS, "week"),
    (28 * DAY_MS, "4 weeks"),
    (364 * DAY_MS, "year"),
];

/// The most slots of an axis: the days of a leap year, and the day on which it ends.
const MOST_SLOTS: i64 = 367;
/// The width of all slots together, in units.
const WIDTH: usize = 1_101;
/// The largest width of a slot.
const MOST_STEP: usize = 26;
/// The width of a character of a label.
const CHARACTER: usize = 7;
/// The gap between two labels.
const LABEL_GAP: usize = 16;
/// The slot width below which only the beginnings of months are labelled.
const MONTHS_BELOW: usize = 12;

/// The axis.
#[derive(Debug)]
pub(super) struct Axis {
    /// The number of the first slot since the Unix epoch.
    first: i64,
    length: i64,
    words: &'static str,
    /// The number of slots.
    pub(super) slots: usize,
    /// The width of a slot.
    pub(super) step: usize,
}

/// A label of the axis.
#[derive(Debug)]
pub(super) struct Tick {
    pub(super) x: usize,
    /// The width of the text.
    pub(super) width: usize,
    pub(super) text: String,
}

impl Axis {
    /// An axis from the first to the last of these times, which are in order.
    pub(super) fn of(times: &[i64]) -> Option<Axis> {
        let (first, last) = (*times.first()?, *times.last()?);
        let mut gaps: Vec<i64> =
            times.windows(2).filter_map(|pair| Some(pair.last()?.saturating_sub(*pair.first()?))).collect();
        gaps.sort_unstable();
        let usual = gaps.get(gaps.len() / 2).copied().unwrap_or(DAY_MS);
        // Scheduled runs are some minutes early or late.
        let usual = usual.saturating_add(usual / 10);
        let count =
            |length: i64| last.div_euclid(length).saturating_sub(first.div_euclid(length)).saturating_add(1);
        let fits = |length: i64| count(length) <= MOST_SLOTS;
        let usual = SLOTS.iter().rev().find(|(length, _)| *length <= usual).or(SLOTS.first())?.0;
        let slot = SLOTS.iter().find(|(length, _)| *length >= usual && fits(*length)).or(SLOTS.last());
        let (length, words) = *slot?;
        let slots = usize::try_from(count(length).clamp(1, MOST_SLOTS)).ok()?;
        let step = (WIDTH / slots).min(MOST_STEP);
        Some(Axis { first: first.div_euclid(length), length, words, slots, step })
    }

    /// The length of a slot as text.
    pub(super) fn slot_words(&self) -> &'static str {
        self.words
    }

    /// The slot of this time.
    pub(super) fn slot(&self, time: i64) -> usize {
        let slot = time.div_euclid(self.length).saturating_sub(self.first);
        usize::try_from(slot).unwrap_or_default().min(self.slots.saturating_sub(1))
    }

    /// The labels from `left` on, which do not overlap.
    pub(super) fn ticks(&self, left: usize) -> Vec<Tick> {
        let months = self.length == DAY_MS && self.step < MONTHS_BELOW && self.slots > 62;
        let (mut ticks, mut free) = (Vec::new(), left);
        let mut known = Moment { machine: String::new(), day: String::new(), clock: String::new() };
        for index in 0..self.slots {
            let start = i64::try_from(index).unwrap_or_default().saturating_add(self.first);
            let moment = Moment::of(Time(start.saturating_mul(self.length)));
            let x = left.saturating_add(index.saturating_mul(self.step));
            if x < free || (months && !moment.day.ends_with("-01")) {
                continue;
            }
            let text = self.text(&moment, &known, months);
            let width = text.chars().count().saturating_mul(CHARACTER);
            free = x.saturating_add(width).saturating_add(LABEL_GAP);
            known = moment;
            ticks.push(Tick { x, width, text });
        }
        ticks
    }

    /// The parts that differ from the previous label.
    fn text(&self, moment: &Moment, before: &Moment, months: bool) -> String {
        let day = || short_day(&moment.day, year(&before.day), months);
        let clock = if self.length < 60_000 { Some(&*moment.clock) } else { moment.clock.get(..5) };
        let clock = clock.unwrap_or_default();
        if self.length >= DAY_MS {
            day()
        } else if moment.day == before.day {
            clock.to_owned()
        } else {
            format!("{} {clock}", day())
        }
    }
}

fn year(day: &str) -> &str {
    day.split('-').next().unwrap_or_default()
}

/// `20 Nov`, with the year if it differs from the previous label; without the day if only months are labelled.
fn short_day(day: &str, known_year: &str, months: bool) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut parts = day.rsplit('-');
    let (day_of_month, month) = (parts.next(), parts.next());
    let month = month.and_then(|month| month.parse::<usize>().ok()?.checked_sub(1));
    let (Some(number), Some(month)) = (day_of_month, month.and_then(|month| MONTHS.get(month))) else {
        return day.to_owned();
    };
    let number = if months { String::new() } else { format!("{} ", number.trim_start_matches('0')) };
    if known_year == year(day) {
        format!("{number}{month}")
    } else {
        format!("{number}{month} {}", year(day))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600_000;
    /// 2026-01-02T00:00:00Z
    const START: i64 = 1_767_312_000_000;

    fn axis(times: impl IntoIterator<Item = i64>) -> Axis {
        Axis::of(&times.into_iter().map(|time| START + time).collect::<Vec<_>>()).unwrap()
    }

    #[test]
    fn slots_are_as_long_as_bundles_lie_apart() {
        let nightly = |nights: i64| (0..nights).map(|night| night * DAY_MS + (night % 7) * 60_000);
        for (axis, words, slots, step) in [
            (axis(nightly(365)), "day", 365, 3),
            (axis(nightly(3)), "day", 3, MOST_STEP),
            (axis([0]), "day", 1, MOST_STEP),
            (axis([0, 10_000, 20_000]), "5 seconds", 5, MOST_STEP),
            (axis([0, 100, 20_000]), "15 seconds", 2, MOST_STEP),
            (axis((0..48).map(|hour| hour * HOUR)), "hour", 48, 22),
            // Many in one night, and one a year earlier.
            (axis([0, 365 * DAY_MS, 365 * DAY_MS + 1, 365 * DAY_MS + 2]), "day", 366, 3),
            (axis((0..20).map(|week| week * 7 * DAY_MS)), "week", 20, MOST_STEP),
            (axis([0, 40_000 * DAY_MS]), "year", 111, 9),
        ] {
            assert_eq!((axis.words, axis.slots, axis.step), (words, slots, step));
        }
        assert!(Axis::of(&[]).is_none());
        let nights = axis(nightly(365));
        assert_eq!((nights.slot(START), nights.slot(START + 364 * DAY_MS), nights.slot(0)), (0, 364, 0));
        // Extreme times.
        assert!(Axis::of(&[i64::MIN, 0, i64::MAX]).unwrap().slot(i64::MAX) < 367);
    }

    #[test]
    fn labels_do_not_touch_and_have_what_differs() {
        let texts = |axis: &Axis| {
            let ticks = axis.ticks(100);
            assert!(ticks.windows(2).all(|pair| pair[0].x + pair[0].width < pair[1].x), "{ticks:?}");
            ticks.into_iter().map(|tick| tick.text).collect::<Vec<_>>()
        };
        let year = texts(&axis((0..365).map(|night| night * DAY_MS)));
        assert_eq!(year.first().map(String::as_str), Some("Feb 2026"));
        assert_eq!(year.last().map(String::as_str), Some("Jan 2027"));
        assert_eq!(
            texts(&axis((0..9).map(|night| night * DAY_MS))),
            ["2 Jan 2026", "6 Jan", "8 Jan", "10 Jan"]
        );
        let hours = texts(&axis((20..40).map(|hour| hour * HOUR)));
        assert_eq!(
            hours,
            ["2 Jan 2026 20:00", "3 Jan 01:00", "05:00", "07:00", "09:00", "11:00", "13:00", "15:00"]
        );
    }

    #[test]
    fn days_are_short() {
        assert_eq!(short_day("2026-01-02", "", false), "2 Jan 2026");
        assert_eq!(short_day("2026-11-20", "2026", false), "20 Nov");
        assert_eq!(short_day("2027-01-01", "2026", true), "Jan 2027");
        assert_eq!(short_day("damaged", "", false), "damaged");
    }
}
