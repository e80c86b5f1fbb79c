//! The canonical form of a document: two spaces of indent, but each row of a long list on one line, so that documents are
//! small and can be read with `grep` and `diff`.

use std::io::{self, Write};

use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter};

/// The lists whose items are rows.
const ROWS: [&[u8]; 7] =
    [b"artifacts", b"files", b"checks", b"hints", b"observations", b"members", b"waivers"];

/// A list of a document whose rows are JSON already, each on one line: they are written as they are.
pub struct RowsOf<'a> {
    /// The name of the list, a field of the document that is empty there.
    pub list: &'static str,
    /// Passes each row to its argument, in order.
    pub rows: EachRow<'a>,
}

/// Passes each row of a list on, in order.
pub type EachRow<'a> = &'a mut dyn FnMut(&mut dyn FnMut(&str) -> io::Result<()>) -> io::Result<()>;

/// Writes a document in the canonical form.
pub(super) struct Lines<'a, 'r> {
    indented: PrettyFormatter<'static>,
    /// The name of the last field outside rows, and whether it is being written.
    name: Vec<u8>,
    is_name: bool,
    /// How many objects and lists are open.
    depth: usize,
    /// The depth of the open list of rows.
    rows: Option<usize>,
    /// The lists whose rows are JSON already.
    ready: &'r mut [RowsOf<'a>],
}

impl<'a, 'r> Lines<'a, 'r> {
    pub(super) fn new(ready: &'r mut [RowsOf<'a>]) -> Lines<'a, 'r> {
        let indented = PrettyFormatter::with_indent(b"  ");
        Lines { indented, name: Vec::new(), is_name: false, depth: 0, rows: None, ready }
    }

    /// Writes the rows of the list that was just opened, if they are ready.
    fn ready<W: ?Sized + Write>(&mut self, mut out: &mut W) -> io::Result<()> {
        let Lines { indented, name, depth, ready, .. } = self;
        let is_it = |list: &&mut RowsOf<'_>| *depth == 2 && list.list.as_bytes() == name.as_slice();
        let Some(list) = ready.iter_mut().find(is_it) else { return Ok(()) };
        let mut first = true;
        (list.rows)(&mut |row| {
            indented.begin_array_value(&mut out, std::mem::take(&mut first))?;
            out.write_all(row.as_bytes())?;
            indented.end_array_value(&mut out)
        })
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

impl Formatter for Lines<'_, '_> {
    fn begin_array<W: ?Sized + Write>(&mut self, out: &mut W) -> io::Result<()> {
        self.depth = self.depth.saturating_add(1);
        if self.rows.is_none() && ROWS.contains(&self.name.as_slice()) {
            self.rows = Some(self.depth);
        }
        here!(self, begin_array(out))?;
        self.ready(out)
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
        document
            .serialize(&mut serde_json::Serializer::with_formatter(&mut text, Lines::new(&mut [])))
            .unwrap();
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

    /// Rows that are ready give the bytes of rows that are values, whether there are any or not.
    #[test]
    fn ready_rows_stand_where_values_would() {
        for rows in [vec![], vec![json!({"a": [1]})], vec![json!({"a": [1]}), json!({"b": {"files": []}})]] {
            let written = |document: &Value, ready: &mut [RowsOf<'_>]| {
                let mut text = Vec::new();
                let lines = Lines::new(ready);
                document.serialize(&mut serde_json::Serializer::with_formatter(&mut text, lines)).unwrap();
                String::from_utf8(text).unwrap()
            };
            let expected =
                written(&json!({"a": {"files": []}, "files": rows, "z": [], "members": [{}]}), &mut []);
            let mut each = |add: &mut dyn FnMut(&str) -> io::Result<()>| {
                rows.iter().try_for_each(|row| add(&row.to_string()))
            };
            let ready = &mut [RowsOf { list: "files", rows: &mut each }];
            let document = json!({"a": {"files": []}, "files": [], "z": [], "members": [{}]});
            assert_eq!(written(&document, ready), expected);
        }
    }
}
