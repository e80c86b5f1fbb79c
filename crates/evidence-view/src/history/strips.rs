//! The days of a rule as rows of cells, and as runs of days with the same result.

use evidence_bundle::Status;
use evidence_bundle::document::Cadence;

use super::model::{History, RuleDay, RuleDays};

/// The days up to which a cell is a day and a row a month. Of a longer period, a cell is a week and a row a year.
const DAYS: usize = 400;
/// The days of a week.
const WEEK: usize = 7;

/// A month of days, or a year of weeks.
#[derive(Debug, PartialEq, Eq)]
pub struct StripRow {
    /// `2026-03`, or `2026`.
    pub label: String,
    /// How many places of the row come before its first cell.
    pub before: usize,
    /// Its cells.
    pub cells: Vec<StripCell>,
}

/// A day or a week.
#[derive(Debug, PartialEq, Eq)]
pub struct StripCell {
    /// The worst result; `None` without a bundle.
    pub result: Option<Status>,
    /// Whether a day of it has more bundles than are expected.
    pub is_twice: bool,
    /// The first day.
    pub first: String,
    /// The last day.
    pub last: String,
}

/// Days one after the other.
#[derive(Debug, PartialEq, Eq)]
pub struct Run {
    /// The first day.
    pub first: String,
    /// The last day.
    pub last: String,
}

impl Run {
    /// Its days in words.
    pub fn words(&self) -> String {
        if self.first == self.last { self.first.clone() } else { format!("{} to {}", self.first, self.last) }
    }
}

impl History {
    /// Whether a cell is a day, and not a week.
    pub fn shows_days(&self) -> bool {
        self.dates().len() <= DAYS
    }

    /// The days of a rule as rows.
    pub fn strip(&self, rule: &RuleDays) -> Vec<StripRow> {
        let dates = self.dates();
        let (size, label_length) = if dates.len() <= DAYS { (1, 7) } else { (WEEK, 4) };
        let mut rows: Vec<StripRow> = Vec::new();
        for (days, dates) in rule.days.chunks(size).zip(dates.chunks(size)) {
            let (Some(first), Some(last)) = (dates.first(), dates.last()) else { continue };
            let label = first.get(..label_length).unwrap_or_default();
            let is_twice = days.iter().any(|day| self.is_twice(day));
            let cell = StripCell { result: worst(days), is_twice, first: first.clone(), last: last.clone() };
            match rows.last_mut() {
                Some(row) if row.label == label => row.cells.push(cell),
                _ => {
                    let day = first.get(8..).and_then(|day| day.parse::<usize>().ok()).unwrap_or(1);
                    let before = if size == 1 { day.saturating_sub(1) } else { 0 };
                    rows.push(StripRow { label: label.to_owned(), before, cells: vec![cell] });
                }
            }
        }
        rows
    }

    /// The runs of a rule's days of this kind, in order.
    pub fn runs(&self, rule: &RuleDays, is_meant: impl Fn(&RuleDay) -> bool) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut is_open = false;
        for (day, date) in rule.days.iter().zip(self.dates()) {
            let is_same = is_meant(day);
            match runs.last_mut() {
                Some(run) if is_same && is_open => run.last = date,
                _ if is_same => runs.push(Run { first: date.clone(), last: date }),
                _ => {}
            }
            is_open = is_same;
        }
        runs
    }

    /// Whether a rule has more bundles on this day than are expected.
    pub fn is_twice(&self, day: &RuleDay) -> bool {
        day.bundles > 1 && !matches!(self.cadence, Some(Cadence::Hours(_)))
    }
}

/// The worst result of these days; a day without a bundle counts only if all are without one.
fn worst(days: &[RuleDay]) -> Option<Status> {
    days.iter().filter_map(|day| day.result).min_by_key(|result| result.urgency())
}
