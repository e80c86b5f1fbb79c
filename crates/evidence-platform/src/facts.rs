//! What a bundle says, read while it is verified: the facts that lists and pictures are made of.
//!
//! Nothing becomes a fact before the whole bundle was proven to be what a trusted key signed. The contents of artifacts
//! are not read.

use std::io::{self, Read};

use evidence_bundle::document::{Hint, Normalized, NormalizedControl, Severity};
use evidence_bundle::path::{HINTS, NORMALIZED};
use evidence_bundle::{
    Expectations, Failure, Limits, Reason, Status, TrustRoot, UntrustedBundle, VerifiedBundle,
};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use utoipa::ToSchema;

use crate::bounded;
use crate::error::Error;
use crate::id::BlobDigest;

/// What the platform agrees to read of a stored bundle: what is held in memory is less than the format allows. An upload
/// may inflate to less, as the operator decides.
pub const LIMITS: Limits = Limits {
    files: 200_000,
    inflated_bytes: 16 << 30,
    checksums_bytes: 32 << 20,
    manifest_bytes: 64 << 20,
    run_bytes: 4 << 20,
    derived_bytes: 256 << 20,
};

/// Controls of a judgement. A framework has some dozens.
const CONTROLS: usize = 256;
/// Bytes of JSON that the facts of a bundle may have.
const FACTS_BYTES: usize = 256 << 10;

/// What the signed documents of a bundle say.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Facts {
    /// The identity that the signer gave the bundle.
    pub bundle_id: String,
    /// The organization that the evidence is about.
    pub organization: String,
    /// The compliance framework.
    pub framework: String,
    /// When the bundle was made, in Unix seconds, as the signer claims.
    pub created_at: i64,
    /// The version of the tool that made it.
    pub tool_version: String,
    /// The controls that were asked for.
    pub controls: Vec<String>,
    /// The sources that were asked.
    pub sources: Vec<String>,
    /// Whether everything that was asked for was collected.
    pub complete: bool,
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
    /// How many things could not be collected.
    pub errors: u64,
    /// The identity of the bundle before this one.
    pub previous: Option<String>,
    /// What was found; absent if `derived/` is not of a form that this platform knows.
    pub judgement: Option<Judgement>,
}

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct Judgement {
    /// Each control.
    pub controls: Vec<ControlFacts>,
    /// How many hints there are.
    pub hints: HintCounts,
}

/// What was found about a control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct ControlFacts {
    /// Its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// `pass`, `fail`, `not_verifiable` or `not_applicable`.
    #[schema(value_type = String)]
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// How many of its checks have which status.
    pub checks: StatusCounts,
}

/// How many of each status there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
pub struct StatusCounts {
    /// Passed.
    pub pass: u64,
    /// Failed.
    pub fail: u64,
    /// Could not be verified.
    pub not_verifiable: u64,
    /// Do not apply.
    pub not_applicable: u64,
}

/// How many hints of each severity there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
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

/// The only field of a check that counts here.
#[derive(Deserialize)]
struct CheckStatus {
    status: Status,
}

/// The only field of a hint that counts here.
#[derive(Deserialize)]
struct HintSeverity {
    severity: Severity,
}

#[derive(Deserialize)]
struct HintList {
    hints: Vec<HintSeverity>,
}

type Controls = Normalized<Vec<NormalizedControl<Vec<CheckStatus>, IgnoredAny>>>;

/// Verifies a bundle to its last byte and reads its facts; gives the SHA-256 of the bytes too, whatever the verdict.
///
/// # Errors
/// [`Error::Refused`] where it is not what a trusted key signed, [`Error::NewerVersion`], [`Error::NoTrustedKey`] where nobody
/// is trusted, and [`Error::Unavailable`] where it could not be read.
pub fn judge(
    bundle: impl Read,
    trust: &TrustRoot,
    limits: &Limits,
) -> (Result<Facts, Error>, Option<BlobDigest>) {
    let mut controls = None;
    let mut hints = None;
    let mut bundle = Hashing { inner: bundle, hasher: Sha256::new() };
    let verdict = UntrustedBundle::new(&mut bundle).verify_with(
        trust,
        &Expectations::default(),
        limits,
        &mut |path, contents| {
            match path {
                NORMALIZED => controls = bounded::json::<Controls>(contents),
                HINTS => hints = bounded::json::<HintList>(contents),
                _ => {}
            }
            Ok(())
        },
    );
    let digest = bundle.finish();
    let verdict = verdict.map_err(refusal).and_then(|verified| {
        let judgement = controls.zip(hints).map(|(controls, hints)| judgement(controls, &hints));
        bounded(facts(verified, judgement))
    });
    (verdict, digest)
}

/// Shows the files of a bundle, in the order of the archive, while it is verified to its last byte; gives the SHA-256 of
/// the bytes too. What was seen counts only if both are as they should be.
///
/// # Errors
/// Those of [`judge`].
pub fn inspect(
    bundle: impl Read,
    trust: &TrustRoot,
    look: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> (Result<(), Error>, Option<BlobDigest>) {
    let mut bundle = Hashing { inner: bundle, hasher: Sha256::new() };
    let verdict =
        UntrustedBundle::new(&mut bundle).verify_with(trust, &Expectations::default(), &LIMITS, look);
    let digest = bundle.finish();
    (verdict.map(|_| ()).map_err(refusal), digest)
}

fn refusal(failure: Failure) -> Error {
    match failure {
        Failure::NotWhatWasSigned(error) => Error::Refused { reason: error.reason, detail: error.detail },
        Failure::IntactNotAuthenticated(_) => Error::NoTrustedKey,
        Failure::NewerVersion(newer) => Error::NewerVersion(newer),
        Failure::CannotJudge(error) => Error::Unavailable(Box::new(error)),
    }
}

fn judgement(controls: Controls, hints: &HintList) -> Judgement {
    let mut counts = HintCounts::default();
    for hint in &hints.hints {
        let count = match hint.severity {
            Severity::Critical => &mut counts.critical,
            Severity::High => &mut counts.high,
            Severity::Medium => &mut counts.medium,
            Severity::Low => &mut counts.low,
            Severity::Info => &mut counts.info,
        };
        *count = count.saturating_add(1);
    }
    let control = |control: NormalizedControl<Vec<CheckStatus>, IgnoredAny>| {
        let mut checks = StatusCounts::default();
        for check in &control.checks {
            let count = match check.status {
                Status::Pass => &mut checks.pass,
                Status::Fail => &mut checks.fail,
                Status::NotVerifiable => &mut checks.not_verifiable,
                Status::NotApplicable => &mut checks.not_applicable,
            };
            *count = count.saturating_add(1);
        }
        let NormalizedControl { id, title, status, reason, .. } = control;
        ControlFacts { id, title, status, reason, checks }
    };
    Judgement { controls: controls.controls.into_iter().map(control).collect(), hints: counts }
}

fn facts(bundle: VerifiedBundle, judgement: Option<Judgement>) -> Facts {
    Facts {
        bundle_id: bundle.bundle_id,
        organization: bundle.organization,
        framework: bundle.framework,
        created_at: bundle.created_at,
        tool_version: bundle.tool_version,
        controls: bundle.controls,
        sources: bundle.sources,
        complete: bundle.complete,
        key_id: bundle.key_id.to_string(),
        checksums_sha256: hex::encode(bundle.checksums_sha256),
        files: bundle.files,
        bytes: bundle.bytes,
        warnings: bundle.warnings_total,
        excluded: bundle.excluded_total,
        errors: bundle.errors_total,
        previous: bundle.previous.map(|previous| previous.bundle_id),
        judgement,
    }
}

/// Even a trusted signer does not fill the database.
fn bounded(facts: Facts) -> Result<Facts, Error> {
    let controls = facts.judgement.as_ref().map_or(0, |judgement| judgement.controls.len());
    if controls > CONTROLS {
        let detail = format!("the judgement has {controls} controls; more than {CONTROLS} are not taken");
        return Err(Error::Refused { reason: Reason::Limit, detail });
    }
    let size = serde_json::to_vec(&facts).map(|json| json.len()).unwrap_or(usize::MAX);
    if size <= FACTS_BYTES {
        return Ok(facts);
    }
    let detail = format!("what the manifest and the judgement say has more than {FACTS_BYTES} bytes");
    Err(Error::Refused { reason: Reason::Limit, detail })
}

struct Hashing<R> {
    inner: R,
    hasher: Sha256,
}

impl<R: Read> Hashing<R> {
    /// The SHA-256 of everything, also of what nobody read; `None` if it cannot be read.
    fn finish(mut self) -> Option<BlobDigest> {
        io::copy(&mut self, &mut io::sink()).ok()?;
        Some(BlobDigest(self.hasher.finalize().into()))
    }
}

impl<R: Read> Read for Hashing<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.inner.read(buffer)?;
        self.hasher.update(buffer.get(..read).unwrap_or_default());
        Ok(read)
    }
}

// The whole hint is never kept; this only ties the reduced struct to the published one.
const _: fn(Hint) -> HintSeverity = |hint| HintSeverity { severity: hint.severity };
