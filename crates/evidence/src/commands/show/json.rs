//! The bundle and its checks as one JSON object, with the field names of the bundle's own documents.

use std::io::{self, BufRead as _, BufReader, Seek as _, Write};

use evidence_bundle::Status;
use evidence_bundle::document::{Counts, EvidenceReference, FallibleRows, Rows, Severity, SourcePopulation};
use serde::{Deserialize, Serialize};
use tempfile::SpooledTempFile;

use super::super::print::json;
use super::super::waivers::WaiversReport;
use super::row::{Row, Shown, Summary, spooled};
use crate::finding::Finding;
use crate::source::place::Remedy;
use evidence_view::rejudged::Again;
use evidence_view::waivers;

/// One JSON document per line, held until the bundle is verified.
pub(super) struct Lines(SpooledTempFile);

/// The output. A field is never renamed.
#[derive(Serialize)]
struct Report<'a, K: Serialize, G: Serialize, M: Serialize, C: Serialize> {
    verdict: &'static str,
    bundle_id: &'a str,
    key_id: String,
    trusted_by: &'a str,
    created_at: Option<String>,
    organization: &'a str,
    framework: &'a str,
    /// How the results differ from the signed ones, if these are not the signed ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    rejudged: Option<&'a Again>,
    complete: bool,
    scope: &'a [SourcePopulation],
    controls: K,
    /// The waivers, if the run had a file of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    waivers: Option<WaiversReport<'a>>,
    findings: G,
    remedies: M,
    checks: C,
}

#[derive(Serialize)]
struct ControlRecord<'a> {
    id: &'a str,
    title: &'a str,
    status: Status,
    checks: Counts,
}

/// The checks that did not pass a rule for one reason, and what to do; the most severe come first.
#[derive(Serialize)]
struct FindingRecord<'a> {
    severity: Option<Severity>,
    control: &'a str,
    source: &'a str,
    rule: &'a str,
    status: Status,
    reason: &'a str,
    checks: u64,
    remediation: &'a str,
    /// The page of the first subject's setting.
    page: Option<&'a str>,
}

/// One change that repairs many checks.
#[derive(Serialize)]
struct RemedyRecord<'a> {
    title: &'a str,
    note: &'a str,
    checks: u64,
    page: &'a str,
    command: &'a str,
    input: &'a str,
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
    severity: Option<Severity>,
    page: Option<String>,
    /// The id of the waiver that accepts the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    waiver: Option<String>,
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
            severity: row.severity,
            page: row.page.clone(),
            waiver: None,
            evidence: check.evidence,
        };
        serde_json::to_writer(&mut self.0, &record)?;
        self.0.write_all(b"\n")
    }

    pub(super) fn print(self, summary: &Summary<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Summary { shown: Shown { bundle, framework, again }, controls, findings, waivers, .. } = summary;
        let Lines(mut file) = self;
        file.rewind()?;
        let record = |line: io::Result<String>| -> io::Result<CheckRecord> {
            let mut check: CheckRecord = serde_json::from_str(&line?)?;
            let key = waivers::key(&check.control, &check.source, &check.rule, &check.subject);
            let waiver = waivers.and_then(|waivers| waivers.of(key)).filter(|waiver| waiver.is_applied());
            check.waiver = waiver.map(|waiver| waiver.record.id.clone());
            Ok(check)
        };
        let checks = BufReader::new(file).lines().map(record);
        let controls = controls.iter().map(|control| ControlRecord {
            id: control.id.as_str(),
            title: control.title.as_str(),
            status: control.status,
            checks: control.counts,
        });
        let groups = findings.groups.iter().map(|finding| {
            let Finding { key, severity, remediation, page, count, .. } = finding;
            FindingRecord {
                severity: *severity,
                control: &key.control,
                source: &key.source,
                rule: &key.rule,
                status: key.status,
                reason: &key.reason,
                checks: *count,
                remediation,
                page: page.as_deref(),
            }
        });
        let remedies = findings.remedies.iter().map(|(remedy, checks)| {
            let Remedy { title, note, page, command, input } = remedy;
            RemedyRecord { title, note, checks: *checks, page, command, input }
        });
        let report = Report {
            verdict: "verified",
            bundle_id: &bundle.bundle_id,
            key_id: bundle.key_id.to_string(),
            trusted_by: &bundle.trusted_by,
            created_at: evidence_bundle::time::format(bundle.created_at),
            organization: &bundle.organization,
            framework,
            rejudged: *again,
            complete: bundle.complete,
            scope: &bundle.populations,
            controls: Rows::new(controls),
            waivers: waivers.map(WaiversReport::of),
            findings: Rows::new(groups),
            remedies: Rows::new(remedies),
            checks: FallibleRows::new(checks),
        };
        json(io::BufWriter::new(out), &report)
    }
}
