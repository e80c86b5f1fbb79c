//! The tables for spreadsheets. Every row names its organization and bundle, so that a copied row keeps its origin.

mod begin;
mod events;
mod observations;
mod requests;

use std::io::{self, Write};

use evidence_bundle::document::{ArtifactRecord, Check, Member};
use evidence_bundle::path::{MANIFEST, NORMALIZED, OBSERVATIONS, POPULATION};
use evidence_view::csv::{CheckRow, Table};
use evidence_view::{CheckSink, ControlHead, EachCheck, FileReader as _};

use self::begin::{ORIGIN, Origin, mark};
use self::requests::Requests;
use crate::documents::{Documents, rows, unknown};

pub(crate) use self::events::events;
pub(crate) use self::observations::observations;

/// `derived/checks.csv`: the columns of every table of checks, and the requests behind the evidence.
pub(crate) fn checks(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    let (origin, requests) = (Origin::of(documents)?, Requests::read(documents)?);
    mark(documents, &[NORMALIZED, MANIFEST], out)?;
    let columns = [&requests::COLUMNS[..], &ORIGIN].concat();
    let mut table = Some(Table::with::<_, CheckRow<'_>>(out, &columns)?);
    documents.open(NORMALIZED, &mut |contents| {
        let Some(table) = table.take() else { return Ok(()) };
        let mut checks = EachCheck::new(Sink { table, origin: &origin, requests: &requests });
        checks.file(NORMALIZED, contents)?;
        if !checks.known {
            return Err(unknown(NORMALIZED));
        }
        checks.sink.table.finish().map(|_| ())
    })
}

struct Sink<'a, W: Write> {
    table: Table<W>,
    origin: &'a Origin,
    requests: &'a Requests,
}

impl<W: Write> CheckSink for Sink<'_, W> {
    fn control(&mut self, _: &ControlHead) {}

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        let requests = self.requests.of(&check.evidence);
        let requests = requests.each_ref().map(String::as_str);
        self.table.row_with(&CheckRow(control, &check), &[&requests[..], &self.origin.cells()].concat())
    }
}

/// `derived/artifacts.csv`
pub(crate) fn artifacts(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    let (origin, requests) = (Origin::of(documents)?, Requests::read(documents)?);
    mark(documents, &[MANIFEST, OBSERVATIONS], out)?;
    let (_, columns) = requests::COLUMNS.split_at(1);
    let mut table = Table::with::<8, ArtifactRecord>(out, &[columns, &ORIGIN].concat())?;
    rows(documents, MANIFEST, "artifacts", |artifact: ArtifactRecord| {
        let request = requests.of_artifact(&artifact.filename);
        table.row_with(&artifact, &[&request[..], &origin.cells()].concat())
    })?;
    table.finish().map(|_| ())
}

/// `derived/population.csv`
pub(crate) fn population(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    let origin = Origin::of(documents)?;
    mark(documents, &[POPULATION, MANIFEST], out)?;
    let mut table = Table::with::<9, Member>(out, &ORIGIN)?;
    rows(documents, POPULATION, "members", |row: Member| table.row_with(&row, &origin.cells()))?;
    table.finish().map(|_| ())
}
