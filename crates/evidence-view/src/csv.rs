//! Tables for spreadsheets: RFC 4180, without anything that a spreadsheet would run.
//!
//! A text that a spreadsheet would take for a formula begins with an apostrophe; the JSON document has the original
//! value.

use std::borrow::Cow;
use std::io::{self, Write};

use csv::{Terminator, Writer, WriterBuilder};
use evidence_bundle::document::{ArtifactRecord, Check, EvidenceReference, Member};
use evidence_bundle::read::ControlHead;

use crate::sanitize::{is_plain, sanitized};

/// The mark before a table with characters outside ASCII: without it, a spreadsheet assumes its local character set.
/// Other readers trip over it, so it is written only if needed.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The characters that begin a formula. Some spreadsheets convert the wide forms to narrow ones.
const FORMULA: [char; 8] = ['=', '+', '-', '@', '＝', '＋', '－', '＠'];

/// The characters of numbers, dates and times besides digits.
const NUMBER: &[u8] = b"-+/.,:eE ";
/// The digits of a number that a spreadsheet shows: it writes longer ones as `1.23E+11`, such as the id of an account.
const SHOWN_DIGITS: usize = 11;

/// A type of row. The names of the columns never change.
pub trait Row<const COLUMNS: usize> {
    /// The names of the columns.
    const COLUMNS: [&'static str; COLUMNS];

    /// The cells, as they are in the document.
    fn cells(&self) -> [Cow<'_, str>; COLUMNS];
}

/// A check with its control.
#[derive(Debug)]
pub struct CheckRow<'a>(pub &'a ControlHead, pub &'a Check);

impl Row<11> for CheckRow<'_> {
    const COLUMNS: [&'static str; 11] = [
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

    fn cells(&self) -> [Cow<'_, str>; 11] {
        let CheckRow(control, check) = self;
        let each = |text: fn(&EvidenceReference) -> String| {
            check.evidence.iter().map(text).collect::<Vec<_>>().join("; ").into()
        };
        [
            control.id.as_str().into(),
            control.criteria(&check.rule).join(" ").into(),
            check.source.as_str().into(),
            check.rule.as_str().into(),
            check.subject.as_str().into(),
            check.status.as_str().into(),
            check.reason.as_str().into(),
            check.expected.as_deref().unwrap_or_default().into(),
            check.actual.as_deref().unwrap_or_default().into(),
            // Of a list of rows, the row.
            each(|file| match &file.id {
                Some(id) => format!("{}#{id}", file.filename),
                None => file.filename.clone(),
            }),
            each(|file| checksum(&file.checksum)),
        ]
    }
}

impl Row<8> for ArtifactRecord {
    const COLUMNS: [&'static str; 8] =
        ["source", "artifact_type", "subject", "controls", "file", "sha256", "size_bytes", "collected_at"];

    fn cells(&self) -> [Cow<'_, str>; 8] {
        [
            self.source.as_str().into(),
            self.artifact_type.as_str().into(),
            self.subject.as_str().into(),
            self.controls.join(" ").into(),
            self.filename.as_str().into(),
            checksum(&self.checksum).into(),
            self.size_bytes.to_string().into(),
            self.collected_at.as_str().into(),
        ]
    }
}

impl Row<9> for Member {
    const COLUMNS: [&'static str; 9] =
        ["source", "kind", "name", "id", "default_branch", "archived", "visibility", "in_scope", "reason"];

    fn cells(&self) -> [Cow<'_, str>; 9] {
        let yes = |is: bool| Cow::Borrowed(if is { "yes" } else { "no" });
        [
            self.source.as_str().into(),
            self.kind.as_str().into(),
            self.name.as_str().into(),
            self.id.as_deref().unwrap_or_default().into(),
            self.default_branch.as_deref().unwrap_or_default().into(),
            self.archived.map(yes).unwrap_or_default(),
            self.visibility.as_deref().unwrap_or_default().into(),
            yes(self.in_scope),
            self.reason.as_deref().unwrap_or_default().into(),
        ]
    }
}

/// A checksum as a cell: without the prefix, a spreadsheet may take it for a number.
pub fn checksum(hex: &str) -> String {
    format!("sha256:{hex}")
}

/// A table, written row by row.
#[derive(Debug)]
pub struct Table<W: Write> {
    writer: Writer<W>,
    is_ascii: bool,
}

impl<W: Write> Table<W> {
    /// A table of these rows, with its header line. If a cell is not ASCII, the caller writes [`BYTE_ORDER_MARK`]
    /// first.
    ///
    /// # Errors
    /// Fails if `out` cannot be written.
    pub fn of<const COLUMNS: usize, R: Row<COLUMNS>>(out: W) -> io::Result<Table<W>> {
        Table::with::<COLUMNS, R>(out, &[])
    }

    /// A table of these rows with more columns behind their own.
    ///
    /// # Errors
    /// Fails if `out` cannot be written.
    pub fn with<const COLUMNS: usize, R: Row<COLUMNS>>(out: W, more: &[&str]) -> io::Result<Table<W>> {
        let mut writer = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
        writer.write_record(R::COLUMNS.iter().chain(more))?;
        Ok(Table { writer, is_ascii: true })
    }

    /// Adds a row.
    ///
    /// # Errors
    /// Fails if the writer does.
    pub fn row<const COLUMNS: usize, R: Row<COLUMNS>>(&mut self, row: &R) -> io::Result<()> {
        self.row_with(row, &[])
    }

    /// Adds a row with the cells of the further columns.
    ///
    /// # Errors
    /// Fails if the writer does.
    pub fn row_with<const COLUMNS: usize, R: Row<COLUMNS>>(
        &mut self,
        row: &R,
        more: &[&str],
    ) -> io::Result<()> {
        for text in row.cells().into_iter().chain(more.iter().map(|text| Cow::from(*text))) {
            self.is_ascii &= text.is_ascii();
            self.writer.write_field(cell(text).as_bytes())?;
        }
        Ok(self.writer.write_record(None::<&[u8]>)?)
    }

    /// Whether every row so far is ASCII.
    pub fn is_ascii(&self) -> bool {
        self.is_ascii
    }

    /// Returns the writer with all rows.
    ///
    /// # Errors
    /// Fails if the writer does.
    pub fn finish(self) -> io::Result<W> {
        self.writer.into_inner().map_err(csv::IntoInnerError::into_error)
    }
}

/// One line, safe to print, which a spreadsheet neither runs nor reformats.
fn cell(text: Cow<'_, str>) -> Cow<'_, str> {
    let is_harmless = text.bytes().next().is_none_or(|first| first.is_ascii_alphabetic());
    if is_harmless && is_plain(&text) {
        return text;
    }
    let text = if is_plain(&text) { text } else { sanitized(&text.replace(['\n', '\r', '\t'], " ")).into() };
    if text.trim_start().starts_with(FORMULA) || is_changed(&text) { format!("'{text}").into() } else { text }
}

/// Whether a spreadsheet takes this text for a number, a date or a time and reformats it: `007`, `1E5`, `1.10`, `3/4`,
/// and identifiers with more digits than it keeps.
fn is_changed(text: &str) -> bool {
    let is_digit = |byte: u8| byte.is_ascii_digit();
    if !text.bytes().next().is_some_and(is_digit)
        || !text.bytes().all(|byte| is_digit(byte) || NUMBER.contains(&byte))
    {
        return false;
    }
    let is_shown = text.bytes().all(is_digit) && text.len() <= SHOWN_DIGITS;
    !is_shown || (text.len() > 1 && text.starts_with('0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_cell_is_run_or_changed() {
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
            ("0", "0"),
            ("210008274", "210008274"),
            ("12345678901", "12345678901"),
            ("123456789012", "'123456789012"),
            ("1234567890123456", "'1234567890123456"),
            ("012345678901", "'012345678901"),
            ("1E5", "'1E5"),
            ("1.10", "'1.10"),
            ("3/4", "'3/4"),
            ("2026-11-23", "'2026-11-23"),
            ("10:30", "'10:30"),
            ("2026-11-23T01:37:43Z", "2026-11-23T01:37:43Z"),
            ("v1.10", "v1.10"),
            ("1password", "1password"),
        ] {
            assert_eq!(cell(text.into()), expected);
        }
    }
}
