//! The results for a terminal: each control, then the checks by rule and reason, the most severe first, with what to do.
//!
//! The rows wait in a spool: there can be hundreds of thousands, and in memory are only their positions.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write};

use evidence_bundle::Status;
use evidence_bundle::text::Printable;
use evidence_view::{sanitized, scope, words};
use tempfile::SpooledTempFile;

use super::row::{Control, Row, Summary, spooled};
use crate::finding::{Finding, FindingKey};
use crate::report::format::filled;
use crate::report::style::{BOLD, DIM, GREEN, YELLOW, of_status};
use crate::source::place::Remedy;
use evidence_text::saturating_u64;
use evidence_text::{counted, thousands};

/// Longer subjects push their line out of the column.
const SUBJECT_WIDTH: usize = 40;

/// The width of lines of prose.
const LINE_WIDTH: usize = 80;

/// The checks of one control with the same status, reason, rule and source.
pub(super) struct Groups {
    groups: HashMap<FindingKey, Group>,
    /// In the order of the document.
    keys: Vec<FindingKey>,
    rows: BufWriter<SpooledTempFile>,
    /// The bytes that were written to the spool.
    written: u64,
}

struct Group {
    criteria: Vec<String>,
    /// The widest subject, in characters.
    width: usize,
    /// Where each row lies in the spool: its begin, and the lengths of subject and finding.
    rows: Vec<(u64, u32, u32)>,
}

impl Groups {
    pub(super) fn new() -> Groups {
        Groups { groups: HashMap::new(), keys: Vec::new(), rows: BufWriter::new(spooled()), written: 0 }
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        let Row { check, key, .. } = row;
        // A group of several rules has no criteria of its own.
        let one = key.rule == check.rule;
        let criteria =
            || row.criteria().iter().filter(|_| one).map(|criterion| sanitized(criterion)).collect();
        let group = match self.groups.entry(key.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                self.keys.push(place.key().clone());
                place.insert(Group { criteria: criteria(), width: 0, rows: Vec::new() })
            }
        };
        let subject = sanitized(&check.subject);
        let actual = sanitized(check.actual.as_deref().unwrap_or_default());
        self.rows.write_all(subject.as_bytes())?;
        self.rows.write_all(actual.as_bytes())?;
        let length = |text: &str| u32::try_from(text.len()).map_err(io::Error::other);
        let (subject_length, actual_length) = (length(&subject)?, length(&actual)?);
        group.width = group.width.max(subject.chars().count());
        group.rows.push((self.written, subject_length, actual_length));
        self.written += u64::from(subject_length) + u64::from(actual_length);
        Ok(())
    }

    pub(super) fn print(self, summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Summary { bundle, controls, findings, found, hidden } = summary;
        let mut spool = self.rows.into_inner().map_err(io::IntoInnerError::into_error)?;
        spool.rewind()?;
        let mut rows = Rows { spool: BufReader::new(spool), position: 0 };
        let safe = |text: &str| Printable(text).to_string();
        let created = evidence_bundle::time::format(bundle.created_at).unwrap_or_default();
        let complete =
            if bundle.complete { String::new() } else { format!(", {YELLOW}incomplete{YELLOW:#}") };
        let mut text = format!(
            "{BOLD}{}{BOLD:#}  {}  {created} (claimed by the signer)\n{GREEN}verified{GREEN:#}, trusted by {}{complete}\n",
            safe(&bundle.organization),
            safe(&bundle.framework),
            safe(&bundle.trusted_by),
        );
        for source in &bundle.populations {
            text.push_str(&format!("Scope: {}\n", scope::sentence(source)));
        }
        text.push('\n');
        for Control { id, title, status, counts } in *controls {
            let (style, word) = (of_status(*status), words::label(*status).word);
            let counts = words::checks(*counts);
            text.push_str(&format!("{id:<6} {style}{word:<14}{style:#}  {title:<32} {DIM}{counts}{DIM:#}\n"));
        }
        out.write_all(text.as_bytes())?;
        for finding in &findings.groups {
            if let Some(group) = self.groups.get(&finding.key) {
                group.print(&finding.key, Some(finding), &mut rows, out)?;
            }
        }
        let is_open = |status| matches!(status, Status::Fail | Status::NotVerifiable);
        for key in self.keys.iter().filter(|key| !is_open(key.status)) {
            if let Some(group) = self.groups.get(key) {
                group.print(key, None, &mut rows, out)?;
            }
        }
        for (remedy, checks) in &findings.remedies {
            out.write_all(remedy_text(remedy, *checks).as_bytes())?;
        }
        match (found, hidden) {
            (0, 0) => out.write_all(b"\nNo check matches.\n")?,
            (_, 0) => {}
            (_, hidden) => {
                let checks =
                    counted(*hidden, "check passed or does not apply", "checks passed or do not apply");
                writeln!(
                    out,
                    "\n{DIM}{checks}: --all lists {}{DIM:#}",
                    if *hidden == 1 { "it" } else { "them" }
                )?;
            }
        }
        out.flush()
    }
}

/// The spooled rows. Those of a group mostly follow each other.
struct Rows {
    spool: BufReader<SpooledTempFile>,
    position: u64,
}

impl Rows {
    /// The text of this length that begins here.
    fn text(&mut self, begin: u64, length: u32) -> io::Result<String> {
        let distance = i64::try_from(i128::from(begin) - i128::from(self.position));
        self.spool.seek_relative(distance.map_err(io::Error::other)?)?;
        self.position = begin;
        self.next(length)
    }

    /// The text of this length that follows.
    fn next(&mut self, length: u32) -> io::Result<String> {
        let mut text = String::new();
        self.spool.by_ref().take(length.into()).read_to_string(&mut text)?;
        self.position += u64::from(length);
        Ok(text)
    }
}

impl Group {
    fn print(
        &self,
        key: &FindingKey,
        finding: Option<&Finding>,
        rows: &mut Rows,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (style, word) = (of_status(key.status), words::label(key.status).word);
        let criteria = if self.criteria.is_empty() {
            String::new()
        } else {
            format!(", criteria {}", self.criteria.join(" "))
        };
        let severity = finding.and_then(|finding| finding.severity).map(words::severity);
        let severity = severity.map(|severity| format!("{style}{severity}{style:#}, ")).unwrap_or_default();
        let count = counted(saturating_u64(self.rows.len()), "check", "checks");
        let head = format!(
            "\n{BOLD}{}{BOLD:#}  {style}{word}{style:#}  {BOLD}{}{BOLD:#}  {severity}{DIM}{count}, {}{criteria}{DIM:#}\n",
            sanitized(&key.control),
            sanitized(&words::reason(&key.reason)),
            sanitized(&key.rule),
        );
        out.write_all(head.as_bytes())?;
        let width = self.width.min(SUBJECT_WIDTH);
        for (begin, subject, actual) in &self.rows {
            let (subject, actual) = (rows.text(*begin, *subject)?, rows.next(*actual)?);
            let line = format!("  {subject:<width$}  {actual}");
            writeln!(out, "{}", line.trim_end())?;
        }
        let Some(Finding { remediation, page, .. }) = finding else { return Ok(()) };
        for (index, line) in filled(remediation, LINE_WIDTH - ARROW.len()).iter().enumerate() {
            writeln!(out, "{}{line}", if index == 0 { ARROW } else { BELOW })?;
        }
        if let Some(page) = page {
            let first = if self.rows.len() > 1 { " (the first)" } else { "" };
            writeln!(out, "{BELOW}{}{DIM}{first}{DIM:#}", sanitized(page))?;
        }
        Ok(())
    }
}

/// Before what to do, and before its further lines.
const ARROW: &str = "  do: ";
const BELOW: &str = "      ";

/// The change that repairs this many checks.
fn remedy_text(remedy: &Remedy, checks: u64) -> String {
    let Remedy { title, note, page, command, input } = remedy;
    let prose = format!("{title} repairs {} of these checks. {note}", thousands(checks));
    let mut text = format!("\n{}\n  {}\n\n", filled(&prose, LINE_WIDTH).join("\n"), sanitized(page));
    // Without an indent, so that it can be pasted.
    text.push_str(&sanitized(command));
    if !input.is_empty() {
        text.push_str(&format!(" <<'END'\n{input}\nEND"));
    }
    text.push('\n');
    text
}
