//! Long lists, serialised row by row so that they are never in memory as a whole. A row is one line, so that documents
//! are small and can be read with `grep` and `diff`.

use std::cell::Cell;
use std::fmt;

use serde::ser::{Error, SerializeSeq as _};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

/// A row as one line of JSON.
fn line<E: Error>(row: &impl Serialize) -> Result<Box<RawValue>, E> {
    let text = super::row_json(row).map_err(E::custom)?;
    RawValue::from_string(text).map_err(E::custom)
}

/// An iterator that serialises as a sequence of rows, once. Each row is a line of the document.
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
        let mut sequence = serializer.serialize_seq(None)?;
        for row in rows {
            sequence.serialize_element(&line(&row)?)?;
        }
        sequence.end()
    }
}

/// An iterator that serialises as a sequence, once, whose items have lists of their own: each takes several lines.
pub struct Sections<I>(Cell<Option<I>>);

impl<I> Sections<I> {
    /// The sections of this iterator.
    pub fn new(sections: I) -> Sections<I> {
        Sections(Cell::new(Some(sections)))
    }
}

impl<I> fmt::Debug for Sections<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Sections(..)")
    }
}

impl<I> Serialize for Sections<I>
where
    I: Iterator,
    I::Item: Serialize,
{
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sections =
            self.0.take().ok_or_else(|| S::Error::custom("the sections were serialised before"))?;
        serializer.collect_seq(sections)
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
            sequence.serialize_element(&line(&row.map_err(S::Error::custom)?)?)?;
        }
        sequence.end()
    }
}
