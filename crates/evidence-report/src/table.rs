//! The tables for spreadsheets. Every row names its organization and bundle, so that a copied row keeps its origin.

mod begin;
mod criteria;
mod events;
mod lists;
mod observations;

use std::io::{self, Write};

use evidence_bundle::document::{ArtifactRecord, Check, Member};
use evidence_bundle::path::{MANIFEST, NORMALIZED, OBSERVATIONS, POPULATION, WAIVERS};
use evidence_view::csv::{CheckRow, Table};
use evidence_view::waivers::{self as marks, Waiver, Waivers};
use evidence_view::{CheckSink, ControlHead, each_check};

use self::begin::{ORIGIN, Origin, mark};
use crate::documents::{Documents, rows, unknown, waivers};
use crate::requests::{self, Requests};
use crate::shared::{Logs, Shared};

pub(crate) use self::criteria::criteria;
pub(crate) use self::events::events;
pub(crate) use self::lists::{changes, people};
pub(crate) use self::observations::observations;

/// `derived/checks.csv`: the columns of every table of checks, the requests behind the evidence, and the waiver of each
/// failure if the bundle has waivers.
pub(crate) fn checks(documents: &dyn Documents, shared: &mut Shared, out: &mut dyn Write) -> io::Result<()> {
    let origin = Origin::of(documents, shared)?;
    let waivers = waivers(documents)?;
    let (paths, column): (&[&str], &[&str]) = match waivers {
        Some(_) => (&[NORMALIZED, MANIFEST, WAIVERS], &["waiver"]),
        None => (&[NORMALIZED, MANIFEST], &[]),
    };
    mark(documents, shared, paths, out)?;
    let requests = shared.requests(documents)?;
    let columns = [&requests::COLUMNS[..], column, &ORIGIN].concat();
    let mut table = Some(Table::with::<_, CheckRow<'_>>(out, &columns)?);
    documents.open(NORMALIZED, &mut |contents| {
        let Some(table) = table.take() else { return Ok(()) };
        let mut sink = Sink { table, origin: &origin, requests, waivers: waivers.as_ref() };
        if !each_check(contents, &mut sink)? {
            return Err(unknown(NORMALIZED));
        }
        sink.table.finish().map(|_| ())
    })
}

struct Sink<'a, W: Write> {
    table: Table<W>,
    origin: &'a Origin,
    requests: &'a Requests,
    waivers: Option<&'a Waivers>,
}

impl<W: Write> CheckSink for Sink<'_, W> {
    fn control(&mut self, _: &ControlHead) {}

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        let requests = self.requests.of(&check.evidence);
        let requests = requests.each_ref().map(AsRef::as_ref);
        let waiver = self.waivers.map(|waivers| {
            let key = marks::key(&control.id, &check.source, &check.rule, &check.subject);
            waivers.of(key).map(Waiver::mark).unwrap_or_default()
        });
        let waiver: Vec<&str> = waiver.as_deref().into_iter().collect();
        let more = [&requests[..], waiver.as_slice(), &self.origin.cells()].concat();
        self.table.row_with(&CheckRow(control, &check), &more)
    }
}

/// `derived/artifacts.csv`
pub(crate) fn artifacts(
    documents: &dyn Documents,
    shared: &mut Shared,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (origin, mut logs) = (Origin::of(documents, shared)?, Logs::default());
    mark(documents, shared, &[MANIFEST, OBSERVATIONS], out)?;
    let requests = shared.requests(documents)?;
    let (_, columns) = requests::COLUMNS.split_at(1);
    let mut table = Table::with::<8, ArtifactRecord>(out, &[columns, &ORIGIN].concat())?;
    rows(documents, MANIFEST, "artifacts", |artifact: ArtifactRecord| {
        logs.add(&artifact);
        let request = requests.of_artifact(&artifact.filename);
        table.row_with(&artifact, &[&request[..], &origin.cells()].concat())
    })?;
    shared.set_logs(logs);
    table.finish().map(|_| ())
}

/// `derived/population.csv`
pub(crate) fn population(
    documents: &dyn Documents,
    shared: &mut Shared,
    out: &mut dyn Write,
) -> io::Result<()> {
    let origin = Origin::of(documents, shared)?;
    mark(documents, shared, &[POPULATION, MANIFEST], out)?;
    let mut table = Table::with::<9, Member>(out, &ORIGIN)?;
    rows(documents, POPULATION, "members", |row: Member| table.row_with(&row, &origin.cells()))?;
    table.finish().map(|_| ())
}
