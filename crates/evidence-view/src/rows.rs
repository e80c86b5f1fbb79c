//! Lists of any length: keeps the first rows and counts the rest.

use evidence_text::saturating_u64;

use crate::sanitize::Sanitize;
use crate::words;

/// How many rows of a list to keep for display.
pub const FIRST_ROWS: usize = 200;

/// The first rows of a list, made safe to show, and the number of further ones.
#[derive(Debug)]
pub struct Truncated<T> {
    /// The first [`FIRST_ROWS`].
    pub rows: Vec<T>,
    /// The number of further ones.
    pub more: u64,
}

impl<T> Default for Truncated<T> {
    fn default() -> Truncated<T> {
        Truncated { rows: Vec::new(), more: 0 }
    }
}

impl<T> Truncated<T> {
    /// The number of rows, kept or not.
    pub fn count(&self) -> u64 {
        saturating_u64(self.rows.len()).saturating_add(self.more)
    }

    /// Whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty() && self.more == 0
    }

    /// "and 12 more", if not every row is kept.
    pub fn rest(&self) -> Option<String> {
        (self.more > 0).then(|| format!("and {} more", words::grouped(self.more)))
    }
}

impl<T: Sanitize> Truncated<T> {
    /// Keeps this row, or counts it.
    pub fn push(&mut self, row: T) {
        self.push_with(|| row);
    }

    /// Keeps this row, or counts it without making it.
    pub(crate) fn push_with(&mut self, row: impl FnOnce() -> T) {
        if self.rows.len() < FIRST_ROWS {
            let mut row = row();
            row.sanitize();
            self.rows.push(row);
        } else {
            self.more = self.more.saturating_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    impl Sanitize for u32 {
        fn sanitize(&mut self) {}
    }

    #[test]
    fn a_long_list_is_counted_and_not_kept() {
        let mut first = Truncated::default();
        (0..1_000).for_each(|row: u32| first.push(row));
        assert_eq!((first.rows.len(), first.more, first.count()), (FIRST_ROWS, 800, 1_000));
        assert_eq!(first.rest().as_deref(), Some("and 800 more"));
    }
}
