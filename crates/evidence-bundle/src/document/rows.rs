//! Long lists, serialised row by row so that they are never in memory as a whole.

use std::cell::Cell;
use std::fmt;

use serde::ser::{Error as _, SerializeSeq as _};
use serde::{Serialize, Serializer};

/// An iterator that serialises as a sequence, once.
///
/// Serialisation takes a shared reference, so the iterator waits in a cell; a second serialisation is an error and
/// never an empty list.
pub struct Rows<I>(Cell<Option<I>>);

impl<I> Rows<I> {
    /// The rows of this iterator.
    pub fn new(rows: I) -> Rows<I> {
        Rows(Cell::new(Some(rows)))
    }
}

impl<I> fmt::Debug for Rows<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rows(..)")
    }
}

impl<I> Serialize for Rows<I>
where
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.0.take().ok_or_else(|| S::Error::custom("the rows were serialised before"))?;
        serializer.collect_seq(rows)
    }
}

/// An iterator of results that serialises as a sequence, once; the first error ends the serialisation.
pub struct FallibleRows<I>(Cell<Option<I>>);

impl<I> FallibleRows<I> {
    /// The rows of this iterator.
    pub fn new(rows: I) -> FallibleRows<I> {
        FallibleRows(Cell::new(Some(rows)))
    }
}

impl<I> fmt::Debug for FallibleRows<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FallibleRows(..)")
    }
}

impl<I, T, E> Serialize for FallibleRows<I>
where
    I: Iterator<Item = Result<T, E>>,
    T: Serialize,
    E: fmt::Display,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let rows = self.0.take().ok_or_else(|| S::Error::custom("the rows were serialised before"))?;
        let mut sequence = serializer.serialize_seq(None)?;
        for row in rows {
            sequence.serialize_element(&row.map_err(S::Error::custom)?)?;
        }
        sequence.end()
    }
}
