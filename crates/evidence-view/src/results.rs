//! One bundle: its results by control, what to do about them, and what is missing.

use std::io::{self, Read};

use evidence_bundle::Status;
use evidence_bundle::document::{
    Check, Counts, ErrorRecord, Excluded, Hint, Hints, Normalized, NormalizedControl, RunRecord, Severity,
    SignerRecord, SourceRun, Warning,
};
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, RUN};
use serde::de::IgnoredAny;

use crate::json;
use crate::overview::Overview;
use crate::read::FileReader;
use crate::rows::{First, Fold, Folded};
use crate::sanitize::sanitized;

/// What one bundle says. `None` is a document of an unknown form.
#[derive(Debug, Default)]
pub struct Results {
    /// Each control with its checks.
    pub controls: Option<Vec<ControlResult>>,
    /// What to do.
    pub hints: Option<HintsBySeverity>,
    /// What each source discovered, and what was collected of it.
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
    /// Its checks.
    pub checks: Checks,
}

/// The checks of a control.
#[derive(Debug, Default)]
pub struct Checks {
    fail: First<Check>,
    not_verifiable: First<Check>,
    pass: First<Check>,
    not_applicable: First<Check>,
}

impl Checks {
    /// How many of each status there are.
    pub fn counts(&self) -> Counts {
        Counts {
            pass: self.pass.count(),
            fail: self.fail.count(),
            not_verifiable: self.not_verifiable.count(),
            not_applicable: self.not_applicable.count(),
        }
    }

    /// The checks by status, the most urgent first, without empty groups.
    pub fn groups(&self) -> Vec<(Status, &First<Check>)> {
        let groups = [
            (Status::Fail, &self.fail),
            (Status::NotVerifiable, &self.not_verifiable),
            (Status::Pass, &self.pass),
            (Status::NotApplicable, &self.not_applicable),
        ];
        groups.into_iter().filter(|(_, checks)| !checks.is_empty()).collect()
    }
}

impl Fold for Checks {
    type Row = Check;

    fn take(&mut self, check: Check) {
        match check.status {
            Status::Fail => self.fail.push(check),
            Status::NotVerifiable => self.not_verifiable.push(check),
            Status::Pass => self.pass.push(check),
            Status::NotApplicable => self.not_applicable.push(check),
        }
    }
}

/// The hints of a bundle.
#[derive(Debug, Default)]
pub struct HintsBySeverity {
    critical: First<Hint>,
    high: First<Hint>,
    medium: First<Hint>,
    low: First<Hint>,
    info: First<Hint>,
}

impl HintsBySeverity {
    /// How many there are.
    pub fn count(&self) -> u64 {
        self.groups().into_iter().map(|(_, hints)| hints.count()).fold(0, u64::saturating_add)
    }

    /// The hints by severity, the most severe first, without empty groups.
    pub fn groups(&self) -> Vec<(Severity, &First<Hint>)> {
        let groups = [
            (Severity::Critical, &self.critical),
            (Severity::High, &self.high),
            (Severity::Medium, &self.medium),
            (Severity::Low, &self.low),
            (Severity::Info, &self.info),
        ];
        groups.into_iter().filter(|(_, hints)| !hints.is_empty()).collect()
    }
}

impl Fold for HintsBySeverity {
    type Row = Hint;

    fn take(&mut self, hint: Hint) {
        match hint.severity {
            Severity::Critical => self.critical.push(hint),
            Severity::High => self.high.push(hint),
            Severity::Medium => self.medium.push(hint),
            Severity::Low => self.low.push(hint),
            Severity::Info => self.info.push(hint),
        }
    }
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
    /// Whether everything that was asked for was collected.
    pub complete: bool,
    /// What is missing, and the warnings.
    pub left_out: LeftOut,
}

impl ManifestHead {
    /// Reads it. `None` if the manifest is not of the known form.
    pub fn read(contents: &mut dyn Read) -> Option<ManifestHead> {
        let (mut tool_version, mut created_at, mut framework) = (None, None, None);
        let (mut organization, mut bundle_id, mut signer, mut complete) = (None, None, None, None);
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

type Judgement = Normalized<Vec<NormalizedControl<Folded<Checks>, IgnoredAny>>>;

impl FileReader for Results {
    fn file(&mut self, path: &str, contents: &mut dyn Read) -> io::Result<()> {
        match path {
            NORMALIZED => {
                let control = |control: NormalizedControl<Folded<Checks>, IgnoredAny>| ControlResult {
                    id: sanitized(&control.id),
                    title: sanitized(&control.title),
                    status: control.status,
                    reason: sanitized(&control.reason),
                    checks: control.checks.0,
                };
                let judgement: Option<Judgement> = json::document(contents);
                self.controls =
                    judgement.map(|judgement| judgement.controls.into_iter().map(control).collect());
            }
            HINTS => {
                let hints: Option<Hints<Folded<HintsBySeverity>>> = json::document(contents);
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
    /// Whether the signer says that nothing is missing, and no document says otherwise.
    pub fn nothing_missing(&self, overview: &Overview) -> bool {
        overview.complete && overview.errors == 0 && overview.excluded == 0
    }
}
