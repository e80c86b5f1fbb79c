//! The tables of a period.

use std::borrow::Cow;
use std::io;

use super::model::{Change, Exception, History, Input, PopulationChange, RuleDay, RuleDays};
use super::period::{Day, Period};
use crate::csv::{BYTE_ORDER_MARK, Row, Table, checksum};

/// A rule on a day.
struct DayRow<'a>(&'a str, &'a RuleDays, &'a RuleDay);

impl Row<8> for DayRow<'_> {
    const COLUMNS: [&'static str; 8] =
        ["date", "control", "source", "rule", "bundles", "covered", "result", "failing"];

    fn cells(&self) -> [Cow<'_, str>; 8] {
        let DayRow(date, rule, day) = self;
        [
            (*date).into(),
            rule.control.as_str().into(),
            rule.source.as_str().into(),
            rule.rule.as_str().into(),
            day.bundles.to_string().into(),
            yes(day.covered),
            day.result.map_or("no_bundle", |result| result.as_str()).into(),
            day.failing.to_string().into(),
        ]
    }
}

impl Row<15> for Exception {
    const COLUMNS: [&'static str; 15] = [
        "number",
        "control",
        "source",
        "rule",
        "subject",
        "reason",
        "began",
        "last_pass",
        "first_fail",
        "last_fail",
        "first_pass",
        "ended",
        "bundles",
        "unseen",
        "waivers",
    ];

    fn cells(&self) -> [Cow<'_, str>; 15] {
        let time = |time: &'_ Option<String>| time.clone().unwrap_or_default().into();
        let waivers: Vec<String> = self.waivers.iter().map(|waiver| waiver.words(self.bundles)).collect();
        [
            // A spreadsheet would take some numbers for ones in exponent form.
            format!("#{}", self.number).into(),
            self.control.as_str().into(),
            self.source.as_str().into(),
            self.rule.as_str().into(),
            self.subject.as_str().into(),
            self.reason.as_str().into(),
            self.began.code().into(),
            time(&self.last_pass),
            self.first_fail.as_str().into(),
            self.last_fail.as_str().into(),
            time(&self.first_pass),
            self.ended.code().into(),
            self.bundles.to_string().into(),
            self.unseen.to_string().into(),
            waivers.join(" | ").into(),
        ]
    }
}

impl Row<4> for PopulationChange {
    const COLUMNS: [&'static str; 4] = ["date", "change", "name", "was"];

    fn cells(&self) -> [Cow<'_, str>; 4] {
        let was = self.was.as_deref().unwrap_or_default();
        [self.date.as_str().into(), self.change.into(), self.name.as_str().into(), was.into()]
    }
}

impl Row<4> for Change {
    const COLUMNS: [&'static str; 4] = ["time", "change", "was", "is"];

    fn cells(&self) -> [Cow<'_, str>; 4] {
        let hash = |text: &str| if self.change == "configuration" { checksum(text) } else { text.to_owned() };
        [self.time.as_str().into(), self.change.into(), hash(&self.was).into(), hash(&self.is).into()]
    }
}

impl Row<7> for Input {
    const COLUMNS: [&'static str; 7] =
        ["created_at", "bundle_id", "checksums_sha256", "key_id", "complete", "fixed_time", "back_dated"];

    fn cells(&self) -> [Cow<'_, str>; 7] {
        [
            self.created_at.as_str().into(),
            self.bundle_id.as_str().into(),
            checksum(&self.checksums_sha256).into(),
            self.key_id.as_str().into(),
            yes(self.complete),
            yes(self.fixed_time),
            yes(self.back_dated),
        ]
    }
}

fn yes(is: bool) -> Cow<'static, str> {
    Cow::Borrowed(if is { "yes" } else { "no" })
}

impl History {
    /// The days of the period as `YYYY-MM-DD`.
    pub fn dates(&self) -> Vec<String> {
        let day = |text: &str| Day::parse(text);
        let period = day(&self.from).zip(day(&self.to)).and_then(|(from, to)| Period::new(from, to));
        period.map(|period| period.dates().collect()).unwrap_or_default()
    }

    /// The tables, each with the name of its file.
    ///
    /// # Errors
    /// Fails if a table cannot be written into memory.
    pub fn tables(&self) -> io::Result<[(&'static str, Vec<u8>); 5]> {
        let dates = self.dates();
        let mut days: Vec<DayRow<'_>> = Vec::new();
        for rule in &self.rules {
            days.extend(dates.iter().zip(&rule.days).map(|(date, day)| DayRow(date, rule, day)));
        }
        // By day, and within a day in the order of the rules.
        days.sort_by_key(|row| row.0);
        Ok([
            ("days.csv", table(&days)?),
            ("failures.csv", table(&self.exceptions)?),
            ("population.csv", table(&self.population)?),
            ("events.csv", table(&self.changes)?),
            ("inputs.csv", table(&self.inputs)?),
        ])
    }
}

/// The bytes of a table, with a byte-order mark if it needs one.
fn table<const COLUMNS: usize, R: Row<COLUMNS>>(rows: &[R]) -> io::Result<Vec<u8>> {
    let mut table = Table::of::<COLUMNS, R>(Vec::new())?;
    rows.iter().try_for_each(|row| table.row(row))?;
    let mut bytes = if table.is_ascii() { Vec::new() } else { BYTE_ORDER_MARK.as_bytes().to_vec() };
    bytes.extend(table.finish()?);
    Ok(bytes)
}
