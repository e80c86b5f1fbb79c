//! A long list of a document, spooled row by row, so that memory use does not grow with it.

use std::io;

use evidence_bundle::document::row_json;
use serde::Serialize;

use super::{Reader, Spool, Text};

/// The number of bytes of rows that are spooled together.
const BLOCK: usize = 64 * 1024;

/// Rows in order, one JSON text each.
#[derive(Debug, Default)]
pub struct RowList {
    /// Rows in the spool, one per line.
    blocks: Vec<Text>,
    /// Later rows, not spooled yet.
    open: String,
}

impl RowList {
    /// Appends a row.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or fails, or if the row cannot be written as JSON.
    pub fn push(&mut self, row: &impl Serialize, spool: &mut Spool) -> io::Result<()> {
        self.open.push_str(&row_json(row)?);
        self.open.push('\n');
        if self.open.len() >= BLOCK { self.close(spool) } else { Ok(()) }
    }

    /// Appends the rows of `other`.
    ///
    /// # Errors
    ///
    /// Fails if the disk is full or fails.
    pub fn append(&mut self, other: RowList, spool: &mut Spool) -> io::Result<()> {
        if !other.blocks.is_empty() {
            self.close(spool)?;
            self.blocks.extend(other.blocks);
        }
        self.open.push_str(&other.open);
        Ok(())
    }

    fn close(&mut self, spool: &mut Spool) -> io::Result<()> {
        if !self.open.is_empty() {
            self.blocks.push(spool.add_text(&self.open)?);
            self.open.clear();
        }
        Ok(())
    }

    /// Passes each row to `take`, in order.
    ///
    /// # Errors
    ///
    /// Fails if the disk or `take` does.
    pub fn each(&self, reader: &Reader<'_>, mut take: impl FnMut(&str) -> io::Result<()>) -> io::Result<()> {
        // Compact JSON contains no line breaks.
        for block in &self.blocks {
            reader.text(block)?.lines().try_for_each(&mut take)?;
        }
        self.open.lines().try_for_each(take)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Appends lists of several sources, from no rows to several blocks.
    #[test]
    fn rows_come_out_in_the_order_of_the_lists() {
        let directory = tempfile::tempdir().unwrap();
        let mut spool = Spool::new(directory.path()).unwrap();
        let (mut all, mut expected) = (RowList::default(), Vec::new());
        for (list, length) in [3, 0, 5_000, 1, 10_000].into_iter().enumerate() {
            let mut rows = RowList::default();
            for number in 0..length {
                let row = format!("line {number}\nof list {list}");
                rows.push(&row, &mut spool).unwrap();
                expected.push(row);
            }
            all.append(rows, &mut spool).unwrap();
        }
        assert!(all.blocks.len() > 2, "more than one block of one list is tested");
        let reader = spool.reader().unwrap();
        let mut read: Vec<String> = Vec::new();
        all.each(&reader, |row| {
            read.push(serde_json::from_str(row).unwrap());
            Ok(())
        })
        .unwrap();
        assert_eq!(read, expected);
    }
}
