//! `period`: the days that the rules about events look at.

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use evidence_settings::declare::{Format, Key, Section, Shape};
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
    DAYS = integer("days", 90, 1..=366, "How many days to the end, if `from` is absent.")
        example "365", also &["last"];
    FROM = optional("from", Shape::Text(Format::Custom(&DATE)), "The first day, in UTC.")
        rule "at most 366 days before the end, and not in the future", example "2026-07-01", also &["start", "since"];
    TO = optional("to", Shape::Text(Format::Custom(&DATE)), "The last day, in UTC; without it, the run is the end.")
        rule "not before `from`, and not in the future", example "2026-09-30", also &["end", "until"];
}

/// `period`
pub(super) static SECTION: Section = Section::new(
    "period",
    "The days that rules about events look at: merged changes, and pushes.",
    &[&DAYS, &FROM, &TO],
);

/// The period; `None` if it is wrong.
pub(super) fn decode(decoder: &mut Decoder<'_, '_>, fields: &Fields) -> Option<Period> {
    let days = decoder.integer::<i64>(fields, &DAYS);
    let from = day(decoder, fields, &FROM);
    let to = day(decoder, fields, &TO);
    let (days, from, to) = (days?, from?, to?);
    let now = decoder.now;
    let end = match to {
        Some(last) => start_of(last.tomorrow().ok()?)?.as_second().saturating_sub(1),
        None => now,
    };
    let begin = match from {
        Some(first) => start_of(first)?,
        None => Period::before(end, days).from,
    };
    let last = to.and_then(start_of).map_or(now, Timestamp::as_second);
    let text = if begin.as_second() > now || last > now {
        "`period` ends in the future".to_string()
    } else if begin.as_second() > end || end.saturating_sub(begin.as_second()) > MOST_DAYS * 24 * 60 * 60 {
        format!("`period` is not 1 to {MOST_DAYS} days")
    } else {
        return Some(Period { from: begin, to: Timestamp::from_second(end).ok()? });
    };
    let complaint = Complaint::new(text)
        .help("write the earlier day in `from`, and in `to` a day that is past, or today");
    decoder.problems.add(fields.place(), fields.path(), complaint);
    None
}

/// A day, if the key is given; `None` if it is wrong.
fn day(decoder: &mut Decoder<'_, '_>, fields: &Fields, key: &'static Key) -> Option<Option<Date>> {
    if !fields.has(key) {
        return Some(None);
    }
    date(&decoder.text(fields, key)?.value).map(Some)
}

/// The beginning of a day, in UTC.
fn start_of(day: Date) -> Option<Timestamp> {
    day.to_zoned(TimeZone::UTC).ok().map(|at| at.timestamp())
}
