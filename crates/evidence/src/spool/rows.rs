//! A long list of a document, row by row in the spool, so that memory does not grow with it.

use std::io;

use serde::Serialize;
use serde_json::value::RawValue;

use super::{Reader, Spool, Text};

/// How many bytes of rows are spooled together.
const BLOCK: usize = 64 * 1024;

/// Rows in order, one JSON text each.
#[derive(Debug, Default)]
pub struct RowList {
    /// Rows in the spool, a line each.
    blocks: Vec<Text>,
    /// The rows behind them, not spooled yet.
    open: String,
}

impl RowList {
    /// Adds a row at the end.
    ///
    /// # Errors
    ///
    /// If the disk is full or fails, or the row cannot be written as JSON.
    pub fn push(&mut self, row: &impl Serialize, spool: &mut Spool) -> io::Result<()> {
        self.open.push_str(&serde_json::to_string(row)?);
        self.open.push('\n');
        if self.open.len() >= BLOCK { self.close(spool) } else { Ok(()) }
    }

    /// Adds the rows of `other` at the end.
    ///
    /// # Errors
    ///
    /// If the disk is full or fails.
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

    /// The rows, in order.
    pub fn read<'a>(
        &'a self,
        reader: &'a Reader<'_>,
    ) -> impl Iterator<Item = io::Result<Box<RawValue>>> + 'a {
        let spooled = self.blocks.iter().map(|block| reader.text(block));
        spooled.chain([Ok(self.open.clone())]).flat_map(|block| match block {
            Ok(text) => rows(&text),
            Err(error) => vec![Err(error)],
        })
    }
}

/// The rows of a block. JSON has no line break of its own where none is asked for.
fn rows(block: &str) -> Vec<io::Result<Box<RawValue>>> {
    let row = |line: &str| RawValue::from_string(line.to_string()).map_err(io::Error::from);
    block.lines().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lists of several sources, from no row to several blocks, one behind the other.
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
        let read: Vec<String> =
            all.read(&reader).map(|row| serde_json::from_str(row.unwrap().get()).unwrap()).collect();
        assert_eq!(read, expected);
    }
}
