//! The checks of a bundle as a table for spreadsheets, written row by row.

use std::io::{self, Write};

use evidence_bundle::document::Check;
use evidence_bundle::read::ControlHead;

use crate::check_query::CheckQuery;
use crate::checks::CheckSink;
use crate::csv::{CheckRow, Table};

/// Writes every matching check, in the order of the document.
#[derive(Debug)]
pub struct CheckTable<W: Write> {
    query: CheckQuery,
    table: Table<W>,
}

impl<W: Write> CheckTable<W> {
    /// A table of the matching checks.
    ///
    /// # Errors
    /// Fails if `out` cannot be written.
    pub fn new(query: CheckQuery, out: W) -> io::Result<CheckTable<W>> {
        Ok(CheckTable { query, table: Table::of::<11, CheckRow<'_>>(out)? })
    }

    /// Returns the writer, and whether the table is ASCII: otherwise the caller must put
    /// [`BYTE_ORDER_MARK`](crate::csv::BYTE_ORDER_MARK) before it.
    ///
    /// # Errors
    /// Fails if the writer does.
    pub fn finish(self) -> io::Result<(W, bool)> {
        let is_ascii = self.table.is_ascii();
        Ok((self.table.finish()?, is_ascii))
    }
}

impl<W: Write> CheckSink for CheckTable<W> {
    fn control(&mut self, _: &ControlHead) {}

    fn check(&mut self, control: &ControlHead, check: Check) -> io::Result<()> {
        if self.query.matches(&control.id, &check) {
            self.table.row(&CheckRow(control, &check))
        } else {
            Ok(())
        }
    }
}
