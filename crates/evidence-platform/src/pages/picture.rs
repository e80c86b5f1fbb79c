//! The picture of a timeline: a lane for each control over a time axis, and below them bars with the number of checks
//! by result. This module computes coordinates; the template draws them. The table on the same page has the same
//! content as text.
//!
//! The axis has slots of equal length, such as a day. A slot without a bundle stays empty, so that gaps are visible. If
//! a slot has several bundles, each lane shows the worst result, and the link leads to the newest.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use evidence_bundle::Status;
use evidence_bundle::document::Counts;
use evidence_bundle::text::saturating_u64;
use evidence_view::words::{StatusLabel, label};
use evidence_view::{Overview, Timeline, sanitized, timelines};

use super::axis::{Axis, Tick};
use super::words::{Moment, counted, grouped, time_marks};
use crate::store::BundleRow;

/// The height of a lane, including the gap.
const LANE: usize = 22;
const LANE_STEP: usize = 28;
/// The width left of the first slot, for the names of the lanes.
const GUTTER: usize = 104;
/// The height of the bars.
const BARS: usize = 56;
/// The height below the bars, for the dates.
const FOOT: usize = 26;
/// The slot width from which a cell has room for a sign.
const SIGN_ROOM: usize = 18;
/// The most lanes of a picture.
const LANES: usize = 32;
/// The most characters of a control's identifier.
const ID_CHARACTERS: usize = 64;
/// The most bundles that a title names.
const NAMED: usize = 5;

/// The parts of a bundle that the picture needs.
pub(super) struct Plotted {
    id: String,
    /// When it was collected, in milliseconds.
    time: i64,
    marks: Vec<&'static str>,
    overview: Overview,
}

impl AsRef<Overview> for Plotted {
    fn as_ref(&self) -> &Overview {
        &self.overview
    }
}

impl Plotted {
    /// Drops everything that the picture does not show.
    pub(super) fn of(bundle: BundleRow) -> Plotted {
        let marks = time_marks(&bundle);
        let mut overview = bundle.overview;
        overview.controls.clear();
        overview.sources.clear();
        for control in overview.judgement.iter_mut().flat_map(|judgement| &mut judgement.controls) {
            (control.title, control.reason) = (String::new(), String::new());
            control.id = control.id.chars().take(ID_CHARACTERS).collect();
        }
        Plotted { id: bundle.id, time: bundle.collected_at.0, marks, overview }
    }
}

/// The picture of the bundles of one subject and one framework.
pub(super) struct Picture {
    pub(super) subject: String,
    pub(super) framework: String,
    pub(super) bundles: String,
    /// The length of a slot as text.
    pub(super) slot: &'static str,
    pub(super) width: usize,
    pub(super) height: usize,
    /// The left and right end of the slots.
    pub(super) left: usize,
    pub(super) right: usize,
    pub(super) bars_top: usize,
    pub(super) bars_bottom: usize,
    /// The number of checks of the highest bar.
    pub(super) most_checks: String,
    pub(super) lanes: Vec<Lane>,
    /// The number of controls without a lane.
    pub(super) more_lanes: usize,
    pub(super) columns: Vec<Column>,
    pub(super) ticks: Vec<Tick>,
    /// Whether cells show the sign of their status. Small cells have no room for it and differ in height instead.
    pub(super) signs: bool,
}

/// A control, or a mark of bundles.
pub(super) struct Lane {
    pub(super) name: String,
    pub(super) y: usize,
}

/// The bundles of one slot.
pub(super) struct Column {
    /// The newest of them.
    pub(super) id: String,
    pub(super) x: usize,
    pub(super) width: usize,
    /// A full description as text.
    pub(super) title: String,
    pub(super) cells: Vec<Cell>,
    pub(super) bars: Vec<Bar>,
}

/// The result of a control, or a mark.
pub(super) struct Cell {
    pub(super) y: usize,
    pub(super) height: usize,
    pub(super) class: &'static str,
    pub(super) sign: &'static str,
}

/// A part of a bar.
pub(super) struct Bar {
    pub(super) y: usize,
    pub(super) height: usize,
    pub(super) class: &'static str,
}

/// The name of a mark, and whether a bundle has it.
type Mark = (&'static str, fn(&Plotted) -> bool);

/// The marks that a bundle can have besides its results.
const MARKS: [Mark; 2] = [
    ("incomplete", |bundle| !bundle.overview.complete),
    ("time in doubt", |bundle| !bundle.marks.is_empty()),
];

impl Picture {
    /// The pictures of these bundles, which come newest first: one for each timeline. In a picture time runs from
    /// left to right.
    pub(super) fn all(newest_first: &[Plotted]) -> Vec<Picture> {
        timelines(newest_first, usize::MAX, LANES).into_iter().filter_map(Picture::of).collect()
    }

    fn of(timeline: Timeline<'_, Plotted>) -> Option<Picture> {
        let Timeline { bundles, controls, more_controls } = timeline;
        let newest = &bundles.first()?.overview;
        let times: Vec<i64> = bundles.iter().rev().map(|bundle| bundle.time).collect();
        let axis = Axis::of(&times)?;
        let marks = MARKS.iter().filter(|(_, has)| bundles.iter().any(|bundle| has(bundle)));
        let marks: Vec<_> = marks.collect();
        let names =
            controls.iter().map(|id| sanitized(id)).chain(marks.iter().map(|(name, _)| (*name).to_owned()));
        let lanes: Vec<Lane> =
            names.enumerate().map(|(index, name)| Lane { name, y: index * LANE_STEP }).collect();
        let bars_top = lanes.len() * LANE_STEP + 8;
        let bars_bottom = bars_top + BARS;

        // By slot, the newest first, like the list.
        let mut slots: BTreeMap<usize, Vec<&Plotted>> = BTreeMap::new();
        for bundle in &bundles {
            slots.entry(axis.slot(bundle.time)).or_default().push(bundle);
        }
        let checks = |bundle: &Plotted| bundle.overview.checks().unwrap_or_default();
        let shown = || slots.values().filter_map(|bundles| bundles.first());
        let most_checks = shown().map(|bundle| sum(&checks(bundle))).max().unwrap_or_default();
        let signs = axis.step >= SIGN_ROOM;
        let columns = slots.iter().filter_map(|(slot, bundles)| {
            let newest = bundles.first()?;
            let found = controls.iter().enumerate().filter_map(|(index, id)| {
                let status = worst(bundles.iter().filter_map(|bundle| bundle.overview.status(id)))?;
                Some(cell(index, label(status), if signs { LANE } else { height(status) }))
            });
            let marked = marks.iter().enumerate().filter(|(_, (_, has))| bundles.iter().any(|one| has(one)));
            let marked = marked.map(|(index, _)| {
                let mark = StatusLabel { sign: "△", word: "", code: "mark" };
                cell(controls.len() + index, mark, LANE)
            });
            Some(Column {
                id: newest.id.clone(),
                x: GUTTER + slot * axis.step,
                width: axis.step.saturating_sub(if signs { 4 } else { 1 }).max(2),
                title: title(bundles),
                cells: found.chain(marked).collect(),
                bars: bars(&checks(newest), most_checks, bars_bottom),
            })
        });
        let columns: Vec<Column> = columns.collect();
        let right = GUTTER + axis.slots * axis.step;
        let ticks = axis.ticks(GUTTER);
        let room = ticks.last().map(|tick| tick.x + tick.width + 4).unwrap_or_default();
        Some(Picture {
            subject: sanitized(&newest.organization),
            framework: sanitized(&newest.framework),
            bundles: counted(saturating_u64(bundles.len()), "bundle"),
            slot: axis.slot_words(),
            width: right.max(room).max(GUTTER + 160),
            height: bars_bottom + FOOT,
            left: GUTTER,
            right,
            bars_top,
            bars_bottom,
            most_checks: grouped(most_checks),
            lanes,
            more_lanes: more_controls,
            columns,
            ticks,
            signs,
        })
    }
}

fn cell(index: usize, label: StatusLabel, height: usize) -> Cell {
    Cell { y: index * LANE_STEP + LANE - height, height, class: label.code, sign: label.sign }
}

/// The height of a cell without a sign: statuses that need attention are higher.
fn height(status: Status) -> usize {
    match status {
        Status::Fail => LANE,
        Status::NotVerifiable => 16,
        Status::Pass => 10,
        Status::NotApplicable => 4,
    }
}

fn worst(statuses: impl Iterator<Item = Status>) -> Option<Status> {
    statuses.min_by_key(|status| status.urgency())
}

/// The checks in a bar: not applicable ones do not count.
fn sum(counts: &Counts) -> u64 {
    counts.fail.saturating_add(counts.not_verifiable).saturating_add(counts.pass)
}

/// The parts of a bar from the bottom up: failed, not verifiable, passed. A part that is not empty has at least one
/// unit.
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

fn title(bundles: &[&Plotted]) -> String {
    let mut text = String::new();
    for bundle in bundles.iter().take(NAMED) {
        let moment = Moment::of(crate::time::Time(bundle.time));
        let _ = writeln!(text, "{} {} UTC", moment.day, moment.clock);
        match &bundle.overview.judgement {
            None => text.push_str("results of an unknown format\n"),
            Some(judgement) => {
                for control in judgement.controls.iter().take(LANES) {
                    let _ = writeln!(text, "{}: {}", sanitized(&control.id), label(control.status).word);
                }
            }
        }
        if !bundle.overview.complete {
            text.push_str("incomplete\n");
        }
        bundle.marks.iter().for_each(|mark| _ = writeln!(text, "{mark}"));
    }
    if let Some(more) = bundles.len().checked_sub(NAMED).filter(|more| *more > 0) {
        let _ = writeln!(text, "and {more} more bundles");
    }
    text.trim_end().to_owned()
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
    fn the_worst_of_a_slot_counts() {
        use Status::{Fail, NotApplicable, NotVerifiable, Pass};
        for (statuses, expected) in [
            (&[Pass, Fail][..], Some(Fail)),
            (&[NotApplicable, NotVerifiable, Pass], Some(NotVerifiable)),
            (&[], None),
        ] {
            assert_eq!(worst(statuses.iter().copied()), expected);
        }
    }
}
