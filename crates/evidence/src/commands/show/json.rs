//! The bundle and its checks as one JSON object, with the field names of the bundle's own documents.

use std::io::{self, BufRead as _, BufReader, Seek as _, Write};

use evidence_bundle::Status;
use evidence_bundle::document::{
    Counts, EvidenceReference, FallibleRows, Rows, SourcePopulation, write_json,
};
use evidence_bundle::read::VerifiedBundle;
use evidence_bundle::text::is_deceptive;
use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;

use super::{Control, Row, spooled};

/// One JSON document per line, held until the bundle is verified.
pub(super) struct Lines(SpooledTempFile);

/// The output. A field is never renamed.
#[derive(Serialize)]
struct Report<'a, K: Serialize, C: Serialize> {
    verdict: &'static str,
    bundle_id: &'a str,
    key_id: String,
    trusted_by: &'a str,
    created_at: Option<String>,
    organization: &'a str,
    framework: &'a str,
    complete: bool,
    scope: &'a [SourcePopulation],
    controls: K,
    checks: C,
}

#[derive(Serialize)]
struct ControlRecord<'a> {
    id: &'a str,
    title: &'a str,
    status: Status,
    checks: Counts,
}

#[derive(Serialize, Deserialize)]
struct CheckRecord {
    control: String,
    criteria: Vec<String>,
    source: String,
    rule: String,
    subject: String,
    status: Status,
    reason: String,
    expected: Option<String>,
    actual: Option<String>,
    evidence: Vec<EvidenceReference>,
}

impl Lines {
    pub(super) fn new() -> Lines {
        Lines(spooled())
    }

    pub(super) fn add(&mut self, row: &Row<'_>) -> io::Result<()> {
        let check = row.check.clone();
        let record = CheckRecord {
            control: row.control.id.clone(),
            criteria: row.criteria().to_vec(),
            source: check.source,
            rule: check.rule,
            subject: check.subject,
            status: check.status,
            reason: check.reason,
            expected: check.expected,
            actual: check.actual,
            evidence: check.evidence,
        };
        serde_json::to_writer(&mut self.0, &record)?;
        self.0.write_all(b"\n")
    }

    pub(super) fn print(
        self,
        bundle: &VerifiedBundle,
        controls: &[Control],
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let Lines(mut file) = self;
        file.rewind()?;
        let record =
            |line: io::Result<String>| -> io::Result<CheckRecord> { Ok(serde_json::from_str(&line?)?) };
        let checks = BufReader::new(file).lines().map(record);
        let controls = controls.iter().map(|control| ControlRecord {
            id: &control.id,
            title: &control.title,
            status: control.status,
            checks: control.counts,
        });
        let report = Report {
            verdict: "verified",
            bundle_id: &bundle.bundle_id,
            key_id: bundle.key_id.to_string(),
            trusted_by: &bundle.trusted_by,
            created_at: evidence_bundle::time::format(bundle.created_at),
            organization: &bundle.organization,
            framework: &bundle.framework,
            complete: bundle.complete,
            scope: &bundle.populations,
            controls: Rows::new(controls),
            checks: FallibleRows::new(checks),
        };
        write_json(Undeceptive(io::BufWriter::new(out)), &report)
    }
}

/// Writes characters that could deceive on a terminal as JSON escapes; the values do not change.
struct Undeceptive<W>(W);

impl<W: Write> Write for Undeceptive<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The serializer never splits a character between writes.
        let text = std::str::from_utf8(bytes).map_err(io::Error::other)?;
        for character in text.chars() {
            match character {
                '\n' => self.0.write_all(b"\n")?,
                _ if is_deceptive(character) => write!(self.0, "\\u{:04x}", u32::from(character))?,
                _ => write!(self.0, "{character}")?,
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_value_stays_the_same() {
        let value = "caf\u{e9} \u{1b}[2J \u{202e}x\u{7f}\u{9b}\u{2028}\n";
        let mut out = Vec::new();
        write_json(Undeceptive(&mut out), &value).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(!text.trim_end().chars().any(is_deceptive), "{text:?}");
        assert_eq!(serde_json::from_str::<String>(&text).unwrap(), value);
    }
}
