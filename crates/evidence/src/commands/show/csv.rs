//! Checks as a table for spreadsheets: RFC 4180, and nothing in it that a spreadsheet would run.
//!
//! A text that a spreadsheet would take for a formula begins with an apostrophe here; the bundle has the true value.

use std::io::{self, Seek as _, Write};

use csv::{Terminator, Writer, WriterBuilder};
use evidence_view::sanitized;
use tempfile::SpooledTempFile;

use super::{Row, spooled};

/// The columns. The names are never changed.
const COLUMNS: [&str; 11] = [
    "control",
    "criterion",
    "source",
    "rule",
    "subject",
    "status",
    "reason",
    "expected",
    "actual",
    "evidence_file",
    "sha256",
];

/// Without this mark, a spreadsheet takes the file for one in its local character set. Others trip over it, so that it is
/// there only if it is needed.
const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// What begins a formula. The wide forms are what some spreadsheets make narrow.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

pub(super) struct Table {
    writer: Writer<SpooledTempFile>,
    is_ascii: bool,
}

impl Table {
    pub(super) fn new() -> io::Result<Table> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(spooled());
        writer.write_record(COLUMNS)?;
        Ok(Table { writer, is_ascii: true })
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        let check = row.check;
        let each = |text: &dyn Fn(&evidence_bundle::document::EvidenceReference) -> String| {
            check.evidence.iter().map(text).collect::<Vec<_>>().join("; ")
        };
        let cells = [
            row.control,
            &row.criteria.join(" "),
            &check.source,
            &check.rule,
            &check.subject,
            check.status.as_str(),
            &check.reason,
            check.expected.as_deref().unwrap_or_default(),
            check.actual.as_deref().unwrap_or_default(),
            // Of a list of rows, the row.
            &each(&|file| match &file.id {
                Some(id) => format!("{}#{id}", file.filename),
                None => file.filename.clone(),
            }),
            // Without the prefix, a spreadsheet may take one for a number.
            &each(&|file| format!("sha256:{}", file.checksum)),
        ]
        .map(cell);
        self.is_ascii &= cells.iter().all(|cell| cell.is_ascii());
        Ok(self.writer.write_record(cells)?)
    }

    pub(super) fn print(self, out: &mut dyn Write) -> io::Result<()> {
        let mut file = self.writer.into_inner().map_err(csv::IntoInnerError::into_error)?;
        if !self.is_ascii {
            out.write_all(BYTE_ORDER_MARK)?;
        }
        file.rewind()?;
        io::copy(&mut file, out)?;
        out.flush()
    }
}

/// One line, safe to print, and no formula.
fn cell(text: &str) -> String {
    let text = sanitized(&text.replace(['\n', '\r', '\t'], " "));
    if text.trim_start().starts_with(FORMULA) { format!("'{text}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_a_formula() {
        for (text, expected) in [
            ("acme/web", "acme/web"),
            ("=cmd|' /C calc'!A0", "'=cmd|' /C calc'!A0"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "' =1"),
            ("\r=1", "' =1"),
            ("＝1", "'＝1"),
            ("two\nlines", "two lines"),
            ("a\u{1b}[2J\u{202e}", "a\\u{1b}[2J\\u{202e}"),
            ("", ""),
        ] {
            assert_eq!(cell(text), expected);
        }
    }
}
