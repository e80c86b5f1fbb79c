//! The overview of a bundle: what lists, timelines and comparisons need of it, small enough to keep for each of many.

use std::io;

use evidence_bundle::document::{Counts, Scope, Severity, SourcePopulation};
use evidence_bundle::read::{ManifestHead, Row, Sink};
use evidence_bundle::{Status, VerifiedBundle};
use serde::{Deserialize, Serialize};

use crate::scope;

/// What the signed documents of a bundle say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Facts))]
pub struct Overview {
    /// The identity that the signer gave the bundle.
    pub bundle_id: String,
    /// The organization that the evidence is about.
    pub organization: String,
    /// The compliance framework.
    pub framework: String,
    /// When the bundle was made, in Unix seconds, as the signer claims.
    pub created_at: i64,
    /// Whether that time was set by hand, in place of a clock.
    #[serde(default)]
    pub fixed_time: bool,
    /// The version of the tool that made it.
    pub tool_version: String,
    /// The controls that were requested.
    pub controls: Vec<String>,
    /// The sources that were collected from.
    pub sources: Vec<String>,
    /// Whether everything that was requested was collected.
    pub complete: bool,
    /// Whether that is everything there is, in every source.
    #[serde(default)]
    pub whole: bool,
    /// How what was examined compares with everything there is: a sentence for each source, with escapes for characters
    /// that could deceive.
    #[serde(default)]
    pub scopes: Vec<String>,
    /// The key that signed: `sha256:` and the SHA-256 of its DER.
    pub key_id: String,
    /// The SHA-256 of the list of checksums: the name of the contents.
    pub checksums_sha256: String,
    /// How many files there are.
    pub files: u64,
    /// Their sizes together.
    pub bytes: u64,
    /// How many warnings there are.
    pub warnings: u64,
    /// How many artifacts were left out as forbidden data.
    pub excluded: u64,
    /// How many collection errors there are.
    pub errors: u64,
    /// The identity of the bundle before this one.
    pub previous: Option<String>,
    /// What was found; absent if `derived/` is of an unknown form.
    pub judgement: Option<Judgement>,
}

/// How many sources an overview has room for, and for how long a sentence about one.
const SCOPES: usize = 16;
const SENTENCE_CHARS: usize = 500;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Judgement {
    /// Each control.
    pub controls: Vec<ControlOverview>,
    /// How many hints there are.
    pub hints: HintCounts,
}

/// What was found about a control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ControlFacts))]
pub struct ControlOverview {
    /// Its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// `pass`, `fail`, `not_verifiable` or `not_applicable`.
    #[cfg_attr(feature = "openapi", schema(value_type = String))]
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// How many of its checks have which status.
    #[cfg_attr(feature = "openapi", schema(schema_with = counts_schema))]
    pub checks: Counts,
}

/// How many hints of each severity there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct HintCounts {
    /// The control fails outright.
    pub critical: u64,
    /// The control is at serious risk.
    pub high: u64,
    /// The control is weakened.
    pub medium: u64,
    /// Worth doing.
    pub low: u64,
    /// For information.
    pub info: u64,
}

/// The form of [`Counts`], which is a type of the bundle format and knows no OpenAPI.
#[cfg(feature = "openapi")]
fn counts_schema() -> utoipa::openapi::Object {
    use utoipa::openapi::{KnownFormat, ObjectBuilder, SchemaFormat, Type};
    let count = || {
        let format = SchemaFormat::KnownFormat(KnownFormat::Int64);
        ObjectBuilder::new().schema_type(Type::Integer).format(Some(format)).minimum(Some(0))
    };
    let statuses = ["pass", "fail", "not_verifiable", "not_applicable"];
    let object = ObjectBuilder::new().description(Some("How many of each status there are."));
    statuses
        .into_iter()
        .fold(object, |object, status| object.property(status, count()).required(status))
        .build()
}

impl Overview {
    /// The checks of all controls together.
    pub fn checks(&self) -> Option<Counts> {
        let mut total = Counts::default();
        for ControlOverview { checks, .. } in &self.judgement.as_ref()?.controls {
            total.pass = total.pass.saturating_add(checks.pass);
            total.fail = total.fail.saturating_add(checks.fail);
            total.not_verifiable = total.not_verifiable.saturating_add(checks.not_verifiable);
            total.not_applicable = total.not_applicable.saturating_add(checks.not_applicable);
        }
        Some(total)
    }

    /// The hints of all severities together.
    pub fn hints(&self) -> Option<u64> {
        let HintCounts { critical, high, medium, low, info } = self.judgement.as_ref()?.hints;
        Some([critical, high, medium, low, info].into_iter().fold(0, u64::saturating_add))
    }

    /// The status of a control.
    pub fn status(&self, control: &str) -> Option<Status> {
        let mut controls = self.judgement.as_ref()?.controls.iter();
        controls.find(|known| known.id == control).map(|known| known.status)
    }
}

/// Reads the overview of a bundle.
#[derive(Debug, Default)]
pub struct OverviewReader {
    controls: Vec<ControlOverview>,
    /// The checks of the control that is being read.
    checks: Counts,
    hints: HintCounts,
}

impl HintCounts {
    fn add(&mut self, severity: Severity) {
        let count = match severity {
            Severity::Critical => &mut self.critical,
            Severity::High => &mut self.high,
            Severity::Medium => &mut self.medium,
            Severity::Low => &mut self.low,
            Severity::Info => &mut self.info,
        };
        *count = count.saturating_add(1);
    }
}

fn short_sentence(source: &SourcePopulation) -> String {
    scope::sentence(source).chars().take(SENTENCE_CHARS).collect()
}

impl Sink for OverviewReader {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match row {
            Row::Check(check) => self.checks.add(check.status),
            Row::ControlEnd(head) => self.controls.push(ControlOverview {
                id: head.id.clone(),
                title: head.title.clone(),
                status: head.status,
                reason: head.reason.clone(),
                checks: std::mem::take(&mut self.checks),
            }),
            Row::Hint(hint) => self.hints.add(hint.severity),
            _ => {}
        }
        Ok(())
    }
}

impl OverviewReader {
    /// The overview, now that the bundle is verified.
    pub fn overview(self, bundle: VerifiedBundle) -> Overview {
        let OverviewReader { controls, hints, .. } = self;
        let ManifestHead {
            bundle_id,
            organization,
            framework,
            created_at,
            tool_version,
            controls: requested,
            sources,
            complete,
            warnings_total: warnings,
            excluded_total: excluded,
            errors_total: errors,
            previous,
            ..
        } = bundle.manifest;
        Overview {
            bundle_id,
            organization,
            framework,
            created_at,
            fixed_time: bundle.source_date_epoch.is_some(),
            tool_version,
            controls: requested,
            sources,
            complete,
            whole: bundle.populations.iter().all(|source| source.scope == Scope::Whole),
            scopes: bundle.populations.iter().take(SCOPES).map(short_sentence).collect(),
            key_id: bundle.key_id.to_string(),
            checksums_sha256: hex::encode(bundle.checksums_sha256),
            files: bundle.files,
            bytes: bundle.bytes,
            warnings,
            excluded,
            errors,
            previous: previous.map(|previous| previous.bundle_id),
            judgement: Some(Judgement { controls, hints }),
        }
    }
}
