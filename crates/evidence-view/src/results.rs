//! One bundle: its results by control, advice, and what is missing.

use std::collections::BTreeSet;
use std::io::{self, Read};

use evidence_bundle::Status;
use evidence_bundle::document::{ErrorRecord, Excluded, SignerRecord, SourceRun, Warning};
use evidence_bundle::path::NORMALIZED;
use evidence_bundle::read::{Row, Sink};

use crate::findings::{Checks, HintGroups};
use crate::json;
use crate::overview::Overview;
use crate::rows::Truncated;
use crate::sanitize::sanitized;

/// The contents of one bundle.
#[derive(Debug, Default)]
pub struct Results {
    /// Each control with its checks.
    pub controls: Vec<ControlResult>,
    /// The advice.
    pub hints: HintGroups,
    /// What each source discovered and collected.
    pub sources: Truncated<SourceRun>,
    /// What is not in the bundle, and the warnings.
    pub left_out: LeftOut,
    /// The checks of the control that is being read.
    checks: Checks,
}

/// A control with its checks.
#[derive(Debug)]
pub struct ControlResult {
    /// Its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// The framework's own criteria under which its evidence is commonly filed.
    pub criteria: BTreeSet<String>,
    /// Its checks.
    pub checks: Checks,
}

/// What is not in the bundle, and the warnings.
#[derive(Debug, Default)]
pub struct LeftOut {
    /// What could not be collected.
    pub errors: Truncated<ErrorRecord>,
    /// Artifacts with forbidden data.
    pub excluded: Truncated<Excluded>,
    /// What a reader should know.
    pub warnings: Truncated<Warning>,
}

/// `manifest.json` without its artifacts and files, and with the first rows of its other lists.
#[derive(Debug)]
pub struct ManifestHead {
    /// The version of the tool that wrote the bundle.
    pub tool_version: String,
    /// When the bundle was made, RFC 3339 UTC.
    pub created_at: String,
    /// The compliance framework.
    pub framework: String,
    /// The organization that the evidence is about.
    pub organization: String,
    /// The identity of the bundle.
    pub bundle_id: String,
    /// The key that signed.
    pub signer: SignerRecord,
    /// Whether everything that was requested was collected.
    pub complete: bool,
    /// What is missing, and the warnings.
    pub left_out: LeftOut,
}

impl ManifestHead {
    /// Reads it. `None` if the manifest does not have the known form.
    pub fn read(contents: &mut dyn Read) -> Option<ManifestHead> {
        let (mut tool_version, mut created_at, mut framework) = (None, None, None);
        let (mut organization, mut bundle_id) = (None, None);
        let (mut signer, mut complete) = (None, None);
        let (mut errors, mut excluded, mut warnings) =
            (Truncated::default(), Truncated::default(), Truncated::default());
        let mut json = json::rows(contents);
        let read = json.object(|json, name| match name {
            "tool_version" => json.once(&mut tool_version, name),
            "created_at" => json.once(&mut created_at, name),
            "framework" => json.once(&mut framework, name),
            "organization" => json.once(&mut organization, name),
            "bundle_id" => json.once(&mut bundle_id, name),
            "signer" => json.once(&mut signer, name),
            "complete" => json.once(&mut complete, name),
            "errors" => json.list(|json| json.value().map(|row| errors.push(row))),
            "excluded" => json.list(|json| json.value().map(|row| excluded.push(row))),
            "warnings" => json.list(|json| json.value().map(|row| warnings.push(row))),
            _ => json.skip(),
        });
        read.and_then(|()| json.end()).ok()?;
        Some(ManifestHead {
            tool_version: tool_version?,
            created_at: created_at?,
            framework: framework?,
            organization: organization?,
            bundle_id: bundle_id?,
            signer: signer?,
            complete: complete?,
            left_out: LeftOut { errors, excluded, warnings },
        })
    }
}

impl Sink for Results {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match row {
            Row::Check(check) => self.checks.take(check),
            Row::ControlEnd(head) => self.controls.push(ControlResult {
                id: sanitized(&head.id),
                title: sanitized(&head.title),
                status: head.status,
                reason: sanitized(&head.reason),
                criteria: head.criteria.values().flatten().map(|text| sanitized(text)).collect(),
                checks: std::mem::take(&mut self.checks),
            }),
            Row::End(NORMALIZED) => {
                Checks::limit(self.controls.iter_mut().map(|control| &mut control.checks));
            }
            Row::Hint(hint) => self.hints.take(hint),
            Row::Run(run) => {
                run.sources.iter().for_each(|source| self.sources.push_with(|| source.clone()));
            }
            Row::Error(row) => self.left_out.errors.push_with(|| row.clone()),
            Row::Excluded(row) => self.left_out.excluded.push_with(|| row.clone()),
            Row::Warning(row) => self.left_out.warnings.push_with(|| row.clone()),
            _ => {}
        }
        Ok(())
    }
}

impl Results {
    /// Whether neither the signer nor any document reports something missing.
    pub fn nothing_missing(&self, overview: &Overview) -> bool {
        overview.complete && overview.errors == 0 && overview.excluded == 0
    }
}
