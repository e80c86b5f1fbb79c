//! The canonical form of a document: two spaces of indent, but each row of a long list on one line, so that documents are
//! small and can be read with `grep` and `diff`.

use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// The lists whose items are rows.
const ROWS: [&[u8]; 7] =
    [b"artifacts", b"files", b"checks", b"hints", b"observations", b"members", b"waivers"];

/// Writes a document in the canonical form.
#[derive(Debug)]
pub(super) struct Lines {
    indented: PrettyFormatter<'static>,
    /// The name of the last field outside rows, and whether it is being written.
    name: Vec<u8>,
    is_name: bool,
    /// How many objects and lists are open.
    depth: usize,
    /// The depth of the open list of rows.
    rows: Option<usize>,
}

impl Lines {
    pub(super) fn new() -> Lines {
        let indented = PrettyFormatter::with_indent(b"  ");
        Lines { indented, name: Vec::new(), is_name: false, depth: 0, rows: None }
    }

    /// Whether this is inside a row.
    fn is_row(&self) -> bool {
        self.rows.is_some_and(|rows| self.depth > rows)
    }

    fn close(&mut self) {
        if self.rows == Some(self.depth) {
            self.rows = None;
        }
        self.depth = self.depth.saturating_sub(1);
    }
}

/// Passes a call on to the formatter of this place.
macro_rules! here {
    ($self:ident, $call:ident($($argument:expr),*)) => {
        if $self.is_row() { CompactFormatter.$call($($argument),*) } else { $self.indented.$call($($argument),*) }
    };
}

impl Formatter for Lines {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_add(1);
        if self.rows.is_none() && ROWS.contains(&self.name.as_slice()) {
            self.rows = Some(self.depth);
        }
        here!(self, begin_array(out))
    }

    fn end_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let ended = here!(self, end_array(out));
        self.close();
        ended
    }

    fn begin_array_value<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        here!(self, begin_array_value(out, first))
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        here!(self, end_array_value(out))
    }

    fn begin_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_add(1);
        here!(self, begin_object(out))
    }

    fn end_object<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        let ended = here!(self, end_object(out));
        self.close();
        ended
    }

    fn begin_object_key<W: ?Sized + Write>(&mut self, out: &mut W, first: bool) -> io::Result<()> {
        if !self.is_row() {
            self.name.clear();
            self.is_name = true;
        }
        here!(self, begin_object_key(out, first))
    }

    fn end_object_key<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.is_name = false;
        here!(self, end_object_key(out))
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        here!(self, begin_object_value(out))
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        here!(self, end_object_value(out))
    }

    fn write_string_fragment<W: ?Sized + Write>(&mut self, out: &mut W, fragment: &str) -> io::Result<()> {
        if self.is_name {
            self.name.extend_from_slice(fragment.as_bytes());
        }
        out.write_all(fragment.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use serde::Serialize as _;
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_row_is_a_line_and_the_rest_is_indented() {
        let document = json!({
            "controls": [{"checks": [{"a": [1, {"b": []}], "files": [2]}, {}], "id": "C"}, {"checks": [], "list": [3]}],
            "files": [{"path": "x"}],
        });
        let mut text = Vec::new();
        document.serialize(&mut serde_json::Serializer::with_formatter(&mut text, Lines::new())).unwrap();
        let text = String::from_utf8(text).unwrap();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
        let expected = r#"{
  "controls": [
    {
      "checks": [
        {"a":[1,{"b":[]}],"files":[2]},
        {}
      ],
      "id": "C"
    },
    {
      "checks": [],
      "list": [
        3
      ]
    }
  ],
  "files": [
    {"path":"x"}
  ]
}"#;
        assert_eq!(text, expected);
    }
}
