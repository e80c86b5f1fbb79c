//! The results for a terminal: each control, then its checks by status and reason.
//!
//! The rows wait in a spool: there can be hundreds of thousands, and in memory are only their positions.

use std::collections::BTreeMap;
use std::io::{self, BufReader, BufWriter, Read as _, Seek as _, Write};

use evidence_bundle::read::VerifiedBundle;
use evidence_bundle::{Status, text::Printable};
use evidence_view::{sanitized, scope, words};
use tempfile::SpooledTempFile;

use super::{Control, Row, spooled};
use crate::number::saturating_u64;
use crate::report::format::counted;
use crate::report::style::{BOLD, DIM, GREEN, YELLOW, of_status};

/// Longer subjects push their line out of the column.
const SUBJECT_WIDTH: usize = 40;

/// The checks of one control with the same status, reason and rule, ordered by the position of each.
pub(super) struct Groups {
    groups: BTreeMap<(String, u8, String, String), Group>,
    rows: BufWriter<SpooledTempFile>,
    /// The bytes that were written to the spool.
    written: u64,
}

struct Group {
    status: Status,
    criteria: Vec<String>,
    /// The widest subject, in characters.
    width: usize,
    /// Where each row lies in the spool: its begin, and the lengths of subject and finding.
    rows: Vec<(u64, u32, u32)>,
}

impl Groups {
    pub(super) fn new() -> Groups {
        Groups { groups: BTreeMap::new(), rows: BufWriter::new(spooled()), written: 0 }
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        let Row { control, check } = row;
        let urgency = match check.status {
            Status::Fail => 0,
            Status::NotVerifiable => 1,
            Status::Pass => 2,
            Status::NotApplicable => 3,
        };
        let key = (sanitized(&control.id), urgency, check.reason.clone(), check.rule.clone());
        let criteria = || row.criteria().iter().map(|criterion| sanitized(criterion)).collect();
        let group = self.groups.entry(key).or_insert_with(|| Group {
            status: check.status,
            criteria: criteria(),
            width: 0,
            rows: Vec::new(),
        });
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

    pub(super) fn print(
        self,
        bundle: &VerifiedBundle,
        controls: &[Control],
        out: &mut dyn Write,
    ) -> io::Result<()> {
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
        for Control { id, title, status, counts } in controls {
            let (style, word) = (of_status(*status), words::label(*status).word);
            let counts = words::checks(*counts);
            text.push_str(&format!("{id:<6} {style}{word:<14}{style:#}  {title:<32} {DIM}{counts}{DIM:#}\n"));
        }
        out.write_all(text.as_bytes())?;
        for Control { id, .. } in controls {
            let of_control = self.groups.iter().filter(|((control, ..), _)| control == id);
            for ((control, _, reason, rule), group) in of_control {
                group.print((control, reason, rule), &mut rows, out)?;
            }
        }
        if self.groups.is_empty() {
            out.write_all(b"\nNo check matches.\n")?;
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
        (control, reason, rule): (&str, &str, &str),
        rows: &mut Rows,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (style, word) = (of_status(self.status), words::label(self.status).word);
        let criteria = if self.criteria.is_empty() {
            String::new()
        } else {
            format!(", criteria {}", self.criteria.join(" "))
        };
        let count = counted(saturating_u64(self.rows.len()), "check", "checks");
        let head = format!(
            "\n{BOLD}{control}{BOLD:#}  {style}{word}{style:#}  {BOLD}{}{BOLD:#}  {DIM}{count}, {}{criteria}{DIM:#}\n",
            sanitized(&words::reason(reason)),
            sanitized(rule),
        );
        out.write_all(head.as_bytes())?;
        let width = self.width.min(SUBJECT_WIDTH);
        for (begin, subject, actual) in &self.rows {
            let (subject, actual) = (rows.text(*begin, *subject)?, rows.next(*actual)?);
            let line = format!("  {subject:<width$}  {actual}");
            writeln!(out, "{}", line.trim_end())?;
        }
        Ok(())
    }
}
