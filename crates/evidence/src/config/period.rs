//! `period`: the days that the rules about events look at.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use evidence_settings::declare::{Format, Section, Shape};
use evidence_settings::decode::{Decoder, Fields};
use evidence_settings::keys;
use evidence_settings::problem::Complaint;

use crate::day::{DATE, date};

/// The days if none are configured.
const DEFAULT_DAYS: i64 = 90;

/// The most days.
const MOST_DAYS: i64 = 366;

/// From when to when events count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Period {
    /// The beginning.
    pub from: Timestamp,
    /// The end, which may be after the run: only what is past is read.
    pub to: Timestamp,
}

impl Period {
    /// The days before the run.
    fn before(now: i64, days: i64) -> Period {
        let to = Timestamp::from_second(now).unwrap_or(Timestamp::UNIX_EPOCH);
        let span = SignedDuration::from_hours(days.saturating_mul(24));
        Period { from: to.checked_sub(span).unwrap_or(Timestamp::UNIX_EPOCH), to }
    }

    /// The period if none is configured.
    pub(crate) fn usual(now: i64) -> Period {
        Period::before(now, DEFAULT_DAYS)
    }

    /// The setting in documents.
    pub(crate) fn setting(self) -> Value {
        let stamp = |at: Timestamp| evidence_bundle::time::format(at.as_second());
        json!({ "from": stamp(self.from), "to": stamp(self.to) })
    }
}

keys! {
    DAYS = integer("days", 90, 1..=366, "How many days before the run. Not with `from` and `to`.")
        example "365", also &["last"];
    FROM = optional("from", Shape::Text(Format::Custom(&DATE)), "The first day, in UTC.")
        rule "with `to`", example "2026-07-01", also &["start", "since"];
    TO = optional("to", Shape::Text(Format::Custom(&DATE)), "The last day, in UTC, which counts to its end or to the run.")
        rule "with `from`; at most 366 days with the first; not in the future", example "2026-09-30", also &["end", "until"];
}

/// `period`
pub(super) static SECTION: Section = Section::new(
    "period",
    "The days that rules about events look at: merged changes, and pushes.",
    &[&DAYS, &FROM, &TO],
);

/// The period; `None` if it is wrong.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Period> {
    let days = decoder.integer::<i64>(fields, &DAYS)?;
    let from = decoder.text(fields, &FROM);
    let to = decoder.text(fields, &TO);
    if !fields.has(&FROM) && !fields.has(&TO) {
        return Some(Period::before(decoder.now, days));
    }
    let place = fields.place();
    let mut wrong = |complaint: Complaint| decoder.problems.add(place.clone(), fields.path(), complaint);
    if fields.has(&DAYS) {
        wrong(
            Complaint::new("`period` has `days` and also `from` or `to`")
                .help("remove `days`, or the other two"),
        );
        return None;
    }
    if !fields.has(&FROM) || !fields.has(&TO) {
        wrong(
            Complaint::new("`period` needs both `from` and `to`").help("add the other day, or write `days`"),
        );
        return None;
    }
    let (first, last) = (date(&from?.value)?, date(&to?.value)?);
    let (begin, end) = (start_of(first)?, start_of(last.tomorrow().ok()?)?);
    let span = first.until(last).ok()?.get_days();
    if span < 0 || i64::from(span) >= MOST_DAYS {
        let text = format!("`period` is from {first} to {last}, not 1 to {MOST_DAYS} days");
        wrong(Complaint::new(text).help("write the earlier day in `from`"));
        return None;
    }
    if begin.as_second() > decoder.now || start_of(last)?.as_second() > decoder.now {
        wrong(
            Complaint::new(format!("`period` ends on {last}, which is in the future"))
                .help("write a day that is past, or today"),
        );
        return None;
    }
    Some(Period { from: begin, to: end.checked_sub(SignedDuration::from_secs(1)).ok()? })
}

/// The beginning of a day, in UTC.
fn start_of(day: Date) -> Option<Timestamp> {
    day.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
}
