//! The checks as a table for a spreadsheet.

use std::borrow::Cow;
use std::io::{self, BufRead as _, BufReader, Seek as _, Write};

use evidence_view::csv::{self, BYTE_ORDER_MARK, CheckRow, Table};
use evidence_view::waivers::Waiver;
use evidence_view::words;
use tempfile::SpooledTempFile;

use super::row::{Row, Summary, spooled};

/// The columns of a check in the bundle's own table.
const OF_CHECK: usize = <CheckRow<'static> as csv::Row<11>>::COLUMNS.len();

/// The cells of each row and its identity as a line of JSON, held until the bundle is verified.
pub(super) struct Rows(SpooledTempFile);

impl Rows {
    pub(super) fn new() -> Rows {
        Rows(spooled())
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        let cells: Vec<Cow<'_, str>> = csv::Row::<14>::cells(row).into();
        serde_json::to_writer(&mut self.0, &(row.identity, cells))?;
        self.0.write_all(b"\n")
    }

    pub(super) fn print(self, summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Rows(mut file) = self;
        file.rewind()?;
        let column: &[&str] = if summary.waivers.is_some() { &["waiver"] } else { &[] };
        let mut table = Table::with::<14, Cells>(spooled(), column)?;
        for line in BufReader::new(file).lines() {
            let (identity, cells): (u64, Cells) = serde_json::from_str(&line?)?;
            let waiver = |waiver: Option<&Waiver>| waiver.map(Waiver::mark).unwrap_or_default();
            let waiver = summary.waivers.map(|waivers| waiver(waivers.of(identity)));
            table.row_with(&cells, &waiver.as_deref().into_iter().collect::<Vec<_>>())?;
        }
        if !table.is_ascii() {
            out.write_all(BYTE_ORDER_MARK.as_bytes())?;
        }
        let mut file = table.finish()?;
        file.rewind()?;
        io::copy(&mut file, out)?;
        out.flush()
    }
}

/// The cells of a row.
#[derive(serde::Deserialize)]
struct Cells([String; 14]);

impl csv::Row<14> for Cells {
    const COLUMNS: [&'static str; 14] = <Row<'static> as csv::Row<14>>::COLUMNS;

    fn cells(&self) -> [Cow<'_, str>; 14] {
        self.0.each_ref().map(|cell| cell.as_str().into())
    }
}

/// The columns of the bundle's own table, then what to do.
impl csv::Row<14> for Row<'_> {
    const COLUMNS: [&'static str; 14] =
        joined(<CheckRow<'static> as csv::Row<OF_CHECK>>::COLUMNS, ["severity", "remediation", "page"]);

    fn cells(&self) -> [Cow<'_, str>; 14] {
        let [a, b, c, d, e, f, g, h, i, j, k] =
            CheckRow(self.control, self.check).cells().map(|cell| cell.into_owned().into());
        let severity = self.severity.map_or("", words::severity);
        let page = self.page.as_deref().unwrap_or_default();
        [a, b, c, d, e, f, g, h, i, j, k, severity.into(), self.remediation.as_ref().into(), page.into()]
    }
}

/// Both lists of columns.
const fn joined(check: [&'static str; OF_CHECK], next: [&'static str; 3]) -> [&'static str; 14] {
    let [a, b, c, d, e, f, g, h, i, j, k] = check;
    let [l, m, n] = next;
    [a, b, c, d, e, f, g, h, i, j, k, l, m, n]
}
