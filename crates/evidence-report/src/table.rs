//! The tables for spreadsheets.

use std::io::{self, Write};

use evidence_bundle::document::{ArtifactRecord, Check, Member};
use evidence_bundle::path::{MANIFEST, NORMALIZED, POPULATION};
use evidence_view::csv::{BYTE_ORDER_MARK, CheckRow, Row, Table};
use evidence_view::{CheckSink, ControlHead, EachCheck, FileReader as _};

use crate::documents::{Documents, rows, unknown};

/// `derived/checks.csv`
pub(crate) fn checks(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    mark(documents, NORMALIZED, out)?;
    let mut table = Some(Table::of::<_, CheckRow<'_>>(out)?);
    documents.open(NORMALIZED, &mut |contents| {
        let Some(table) = table.take() else { return Ok(()) };
        let mut checks = EachCheck::new(Sink(table));
        checks.file(NORMALIZED, contents)?;
        if !checks.known {
            return Err(unknown(NORMALIZED));
        }
        checks.sink.0.finish().map(|_| ())
    })
}

struct Sink<W: Write>(Table<W>);

impl<W: Write> CheckSink for Sink<W> {
    fn control(&mut self, _: &ControlHead) {}

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        self.0.row(&CheckRow(control, &check))
    }
}

/// `derived/artifacts.csv`
pub(crate) fn artifacts(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    list::<12, ArtifactRecord>(documents, MANIFEST, "artifacts", out)
}

/// `derived/population.csv`
pub(crate) fn population(documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    list::<9, Member>(documents, POPULATION, "members", out)
}

fn list<const COLUMNS: usize, R: Row<COLUMNS> + serde::de::DeserializeOwned>(
    documents: &dyn Documents,
    path: &'static str,
    name: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    mark(documents, path, out)?;
    let mut table = Table::of::<COLUMNS, R>(out)?;
    rows(documents, path, name, |row: R| table.row(&row))?;
    table.finish().map(|_| ())
}

/// Begins a table with a UTF-8 byte-order mark if its document has a character outside ASCII.
fn mark(documents: &dyn Documents, path: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut is_ascii = true;
    documents.open(path, &mut |contents| {
        let mut buffer = [0; 8 << 10];
        loop {
            let bytes = match contents.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => buffer.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            is_ascii &= bytes.is_ascii();
        }
    })?;
    if is_ascii { Ok(()) } else { out.write_all(BYTE_ORDER_MARK.as_bytes()) }
}
