//! The checks as a table for a spreadsheet.

use std::borrow::Cow;
use std::io::{self, Seek as _, Write};

use evidence_view::csv::{self, BYTE_ORDER_MARK, CheckRow, Table};
use evidence_view::words;
use tempfile::SpooledTempFile;

use super::row::{Row, spooled};

/// The columns of a check in the bundle's own table.
const OF_CHECK: usize = <CheckRow<'static> as csv::Row<11>>::COLUMNS.len();

/// The rows, held until the bundle is verified.
pub(super) struct Rows(Table<SpooledTempFile>);

impl Rows {
    pub(super) fn new() -> io::Result<Rows> {
        Ok(Rows(Table::of::<_, Row<'_>>(spooled())?))
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        self.0.row(row)
    }

    pub(super) fn print(self, out: &mut dyn Write) -> io::Result<()> {
        if !self.0.is_ascii() {
            out.write_all(BYTE_ORDER_MARK.as_bytes())?;
        }
        let mut file = self.0.finish()?;
        file.rewind()?;
        io::copy(&mut file, out)?;
        out.flush()
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
