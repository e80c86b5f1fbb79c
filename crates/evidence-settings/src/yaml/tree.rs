//! The tree of values with positions.

use std::ops::Range;
use std::rc::Rc;

/// The deepest nesting of lists and mappings. The configuration itself needs four levels.
pub(in super::super) const MAX_NESTING: usize = 64;

/// A value and its place.
#[derive(Debug)]
pub(in super::super) struct Node {
    /// Bytes of the value; for a list or mapping only its beginning.
    pub(in super::super) bytes: Range<usize>,
    /// The value.
    pub(in super::super) value: Value,
    /// Its size when written out, aliases expanded.
    pub(super) weight: usize,
}

/// A YAML value of the core schema.
#[derive(Debug)]
pub(in super::super) enum Value {
    /// An empty value, `null` or `~`.
    Null,
    /// `true` or `false`.
    Boolean(bool),
    /// A whole number that fits.
    Integer(i64),
    /// Any other number.
    Number(f64),
    /// Text.
    Text(String),
    /// A list.
    List(Vec<Rc<Node>>),
    /// A mapping, in the order of the file; keys may repeat.
    Map(Vec<Entry>),
    /// A value whose problem is already reported.
    Reported,
}

/// A key and its value.
#[derive(Debug, Clone)]
pub(in super::super) struct Entry {
    /// The key as text; `None` for a list, a mapping or a reported problem as the key.
    pub(in super::super) key: Option<String>,
    /// Bytes of the key.
    pub(in super::super) key_bytes: Range<usize>,
    /// The value.
    pub(in super::super) value: Rc<Node>,
}
