//! One bundle: its results by control, advice, and what is missing.

use std::collections::BTreeSet;
use std::io::{self, Read};

use evidence_bundle::Status;
use evidence_bundle::document::{
    ErrorRecord, Excluded, Hints, Normalized, NormalizedControl, RunRecord, SignerRecord, SourceRun, Warning,
};
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, RUN};

use crate::findings::{Checks, HintGroups};
use crate::json;
use crate::overview::Overview;
use crate::read::FileReader;
use crate::rows::{First, Folded};
use crate::sanitize::sanitized;

/// The contents of one bundle. `None` is a document with an unknown form.
#[derive(Debug, Default)]
pub struct Results {
    /// Each control with its checks.
    pub controls: Option<Vec<ControlResult>>,
    /// The advice.
    pub hints: Option<HintGroups>,
    /// What each source discovered and collected.
    pub sources: Option<First<SourceRun>>,
    /// What is not in the bundle, and the warnings.
    pub left_out: Option<LeftOut>,
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
#[derive(Debug)]
pub struct LeftOut {
    /// What could not be collected.
    pub errors: First<ErrorRecord>,
    /// Artifacts with forbidden data.
    pub excluded: First<Excluded>,
    /// What a reader should know.
    pub warnings: First<Warning>,
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
        let (mut errors, mut excluded, mut warnings) = (First::default(), First::default(), First::default());
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

type Judgement = Normalized<Vec<NormalizedControl<Folded<Checks>>>>;

impl FileReader for Results {
    fn file(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()> {
        match path {
            NORMALIZED => {
                let control = |control: NormalizedControl<Folded<Checks>>| ControlResult {
                    id: sanitized(&control.id),
                    title: sanitized(&control.title),
                    status: control.status,
                    reason: sanitized(&control.reason),
                    criteria: control.criteria.values().flatten().map(|text| sanitized(text)).collect(),
                    checks: control.checks.0,
                };
                let judgement: Option<Judgement> = json::document(contents);
                let mut controls: Option<Vec<ControlResult>> =
                    judgement.map(|judgement| judgement.controls.into_iter().map(control).collect());
                Checks::limit(controls.iter_mut().flatten().map(|control| &mut control.checks));
                self.controls = controls;
            }
            HINTS => {
                let hints: Option<Hints<Folded<HintGroups>>> = json::document(contents);
                self.hints = hints.map(|hints| hints.hints.0);
            }
            RUN => {
                self.sources = json::document(contents).map(|run: RunRecord| {
                    let mut sources = First::default();
                    run.sources.into_iter().for_each(|source| sources.push(source));
                    sources
                });
            }
            MANIFEST => {
                self.left_out = ManifestHead::read(contents).map(|manifest| manifest.left_out);
            }
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
