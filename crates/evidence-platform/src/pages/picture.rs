//! The picture of a timeline: a lane for each control, a column for each bundle, and below them how many checks had
//! which result. Coordinates only; the template draws them. The table on the same page says the same in words.

use std::fmt::Write as _;

use evidence_bundle::Status;
use evidence_bundle::document::Counts;
use evidence_view::words::{StatusLabel, label};
use evidence_view::{Timeline, sanitized, timelines};

use super::words::Moment;
use crate::store::BundleRow;

/// Units of the picture between the beginnings of two columns.
const STEP: usize = 26;
/// Units of a cell's side.
const CELL: usize = 22;
/// Units left of the first column; the names of controls stand there.
const GUTTER: usize = 96;
/// Units above the first lane; the marks of incomplete bundles stand there.
const HEAD: usize = 18;
/// Units of the bars' height.
const BARS: usize = 56;
/// Units below the bars; the days stand there.
const FOOT: usize = 26;
/// The least columns between two days that are written.
const DAYS_APART: usize = 4;
/// Columns of a picture: what fits beside each other on a desk's screen. Older bundles are in the list.
const COLUMNS: usize = 40;
/// Lanes of a picture.
const LANES: usize = 32;

/// The picture of all bundles of one subject and one framework.
pub(super) struct Picture {
    pub(super) subject: String,
    pub(super) framework: String,
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) bars_top: usize,
    pub(super) bars_bottom: usize,
    /// How many checks the highest bar shows.
    pub(super) most_checks: u64,
    pub(super) lanes: Vec<Lane>,
    /// How many controls have no lane.
    pub(super) more_lanes: usize,
    pub(super) columns: Vec<Column>,
}

/// A control.
pub(super) struct Lane {
    pub(super) control: String,
    pub(super) baseline: usize,
}

/// A bundle.
pub(super) struct Column {
    pub(super) id: String,
    pub(super) x: usize,
    pub(super) center: usize,
    /// Everything in words.
    pub(super) title: String,
    pub(super) incomplete: bool,
    pub(super) cells: Vec<Cell>,
    pub(super) bars: Vec<Bar>,
    /// The day, where there is room for it.
    pub(super) day: Option<String>,
}

/// What was found about a control in a bundle.
pub(super) struct Cell {
    pub(super) y: usize,
    pub(super) label: StatusLabel,
}

/// A part of a bar.
pub(super) struct Bar {
    pub(super) y: usize,
    pub(super) height: usize,
    pub(super) class: &'static str,
}

impl Picture {
    /// The pictures of these bundles, newest first: one for each timeline. In a picture time goes from left to right.
    pub(super) fn all(newest_first: &[BundleRow]) -> Vec<Picture> {
        timelines(newest_first, COLUMNS, LANES).into_iter().filter_map(Picture::of).collect()
    }

    fn of(timeline: Timeline<'_, BundleRow>) -> Option<Picture> {
        let Timeline { bundles, controls, more_controls } = timeline;
        let newest = &bundles.first()?.overview;
        let checks = |bundle: &BundleRow| bundle.overview.checks().unwrap_or_default();
        let most_checks = bundles.iter().map(|bundle| sum(&checks(bundle))).max().unwrap_or_default();
        let bars_top = HEAD + controls.len() * STEP + 8;
        let bars_bottom = bars_top + BARS;
        let mut last_day: Option<(usize, String)> = None;
        let columns = bundles.iter().rev().enumerate().map(|(index, bundle)| {
            let x = GUTTER + index * STEP;
            let moment = Moment::of(bundle.collected_at);
            let room = last_day.as_ref().is_none_or(|(last, _)| index >= last + DAYS_APART);
            let day = room.then(|| {
                let known = last_day.as_ref().map(|(_, year)| year.as_str());
                let text = short_day(&moment.day, known);
                last_day = Some((index, year(&moment.day).to_owned()));
                text
            });
            Column {
                id: bundle.id.clone(),
                x,
                center: x + CELL / 2,
                title: title(bundle, &moment),
                incomplete: !bundle.overview.complete,
                cells: cells(bundle, &controls),
                bars: bars(&checks(bundle), most_checks, bars_bottom),
                day,
            }
        });
        let columns: Vec<Column> = columns.collect();
        let lanes = controls.iter().enumerate().map(|(index, control)| Lane {
            control: sanitized(control),
            baseline: HEAD + index * STEP + CELL - 6,
        });
        Some(Picture {
            subject: sanitized(&newest.organization),
            framework: sanitized(&newest.framework),
            // The last day that is written is wider than its column.
            width: GUTTER + columns.len() * STEP + 48,
            height: bars_bottom + FOOT,
            bars_top,
            bars_bottom,
            most_checks,
            lanes: lanes.collect(),
            more_lanes: more_controls,
            columns,
        })
    }
}

fn cells(bundle: &BundleRow, controls: &[&str]) -> Vec<Cell> {
    let cell = |(index, id): (usize, &&str)| {
        Some(Cell { y: HEAD + index * STEP, label: label(bundle.overview.status(id)?) })
    };
    controls.iter().enumerate().filter_map(cell).collect()
}

/// The checks in a bar: those that do not apply say nothing about the state.
fn sum(counts: &Counts) -> u64 {
    counts.fail.saturating_add(counts.not_verifiable).saturating_add(counts.pass)
}

/// The parts of a bar from the ground up: failed, not verifiable, passed. What is there at all has at least one unit.
fn bars(counts: &Counts, most: u64, ground: usize) -> Vec<Bar> {
    let parts = [
        (counts.fail, Status::Fail),
        (counts.not_verifiable, Status::NotVerifiable),
        (counts.pass, Status::Pass),
    ];
    let mut y = ground;
    let mut bars = Vec::new();
    for (count, status) in parts {
        if count == 0 {
            continue;
        }
        let height = u128::from(count) * BARS as u128 / u128::from(most.max(1));
        let height = usize::try_from(height).unwrap_or(BARS).max(1);
        y = y.saturating_sub(height);
        bars.push(Bar { y, height, class: status.as_str() });
    }
    bars
}

fn title(bundle: &BundleRow, moment: &Moment) -> String {
    let mut text = format!("{} {} UTC", moment.day, moment.clock);
    match &bundle.overview.judgement {
        None => text.push_str("\nresults of an unknown form"),
        Some(judgement) => {
            for control in judgement.controls.iter().take(LANES) {
                let _ = write!(text, "\n{}: {}", sanitized(&control.id), label(control.status).word);
            }
        }
    }
    if !bundle.overview.complete {
        text.push_str("\nincomplete");
    }
    text
}

fn year(day: &str) -> &str {
    day.split('-').next().unwrap_or_default()
}

/// `20 Nov`, with the year where it is another than the one that was written before.
fn short_day(day: &str, known_year: Option<&str>) -> String {
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let mut parts = day.rsplit('-');
    let (day_of_month, month) = (parts.next(), parts.next());
    let month = month.and_then(|month| month.parse::<usize>().ok()?.checked_sub(1));
    let (Some(number), Some(month)) = (day_of_month, month.and_then(|month| MONTHS.get(month))) else {
        return day.to_owned();
    };
    let number = number.trim_start_matches('0');
    if known_year == Some(year(day)) {
        format!("{number} {month}")
    } else {
        format!("{number} {month} {}", year(day))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bar_shows_whatever_is_there() {
        let counts = Counts { pass: 9_999, fail: 1, not_verifiable: 0, not_applicable: 7 };
        let parts = bars(&counts, sum(&counts), 100);
        assert_eq!(parts.iter().map(|bar| bar.class).collect::<Vec<_>>(), ["fail", "pass"]);
        assert_eq!(parts[0].height, 1, "one failed check of ten thousand is seen");
        assert_eq!(parts[1].height, BARS - 1);
        assert!(bars(&Counts::default(), 0, 100).is_empty());
    }

    #[test]
    fn days_are_short() {
        assert_eq!(short_day("2026-01-02", None), "2 Jan 2026");
        assert_eq!(short_day("2026-11-20", Some("2026")), "20 Nov");
        assert_eq!(short_day("2027-01-01", Some("2026")), "1 Jan 2027");
        assert_eq!(short_day("damaged", None), "damaged");
    }
}
