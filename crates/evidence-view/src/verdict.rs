//! The verdict on a bundle, in the words of the command line and the verifier page.

use evidence_bundle::document::{AppIdentity, ErrorRecord, Excluded, Previous, SourcePopulation, Warning};
use evidence_bundle::read::{Intact, Judgement, NewerBundle};
use evidence_bundle::text::Printable;
use evidence_bundle::trust::KeyClock;
use evidence_bundle::{Failure, VerifiedBundle, VerifyError};
use evidence_text::saturating_u64;
use serde::Serialize;

use crate::scope;
use crate::words::{counted, grouped};

/// The tone of a verdict.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Tone {
    /// A key that the reader trusts signed the bundle.
    Good,
    /// Nothing is wrong, but something is unknown.
    Caution,
    /// Do not rely on the bundle.
    Bad,
}

/// A verdict as text; texts from the bundle are escaped.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Its tone.
    pub tone: Tone,
    /// The headline, such as `VERIFIED`.
    pub headline: &'static str,
    /// The rest of the headline's line, with the space or colon before it; may be empty.
    pub detail: String,
    /// The meaning, in paragraphs of a sentence or two. For an unauthenticated bundle, the caller completes the
    /// last one with how to name a key.
    pub meaning: Vec<String>,
    /// Statements of a verified bundle about itself.
    pub facts: Vec<Fact>,
}

/// A statement about a verified bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Fact {
    /// Its subject, in one word.
    pub label: &'static str,
    /// Whether the verifier itself has checked it.
    pub checked: bool,
    /// The statement.
    pub text: String,
}

/// The label of the fact that the bundle is not complete. The caller adds how to see what is missing.
pub const COMPLETE: &str = "complete";

impl Verdict {
    /// The verdict on a bundle.
    pub fn of(outcome: Result<&VerifiedBundle, &Failure>) -> Verdict {
        match outcome {
            Ok(bundle) => verified(bundle),
            Err(Failure::NotWhatWasSigned(error)) => failed(error),
            Err(Failure::IntactNotAuthenticated(intact)) => not_authenticated(intact),
            Err(Failure::NewerVersion(newer)) => not_judged(newer),
            Err(Failure::CannotJudge(error)) => Verdict {
                tone: Tone::Caution,
                headline: "error",
                detail: format!(": cannot read the bundle: {}", Printable(&error.to_string())),
                meaning: Vec::new(),
                facts: Vec::new(),
            },
        }
    }
}

fn safe(text: &str) -> String {
    Printable(text).to_string()
}

fn time(seconds: i64) -> String {
    evidence_bundle::time::format(seconds).unwrap_or_else(|| seconds.to_string())
}

/// What an app was allowed to read.
fn access(source: &str, app: &AppIdentity) -> String {
    let permissions: Vec<String> =
        app.permissions.iter().map(|(name, level)| format!("{}: {}", safe(name), safe(level))).collect();
    format!(
        "{} by app {}{}, installation {}, {} repositories; granted {}",
        safe(source),
        app.app_id,
        app.slug.as_deref().map(|slug| format!(" ({})", safe(slug))).unwrap_or_default(),
        app.installation_id,
        safe(&app.repository_selection),
        permissions.join(", ")
    )
}

fn verified(bundle: &VerifiedBundle) -> Verdict {
    let checked = |label, text| Fact { label, checked: true, text };
    let said = |label, text| Fact { label, checked: false, text };
    let mut facts: Vec<Fact> =
        bundle.populations.iter().map(|source| said("scope", scope::sentence(source))).collect();
    facts.extend([
        said("bundle id", safe(&bundle.bundle_id)),
        checked(
            "signature",
            format!("Ed25519, key {}  trusted by {}", bundle.key_id, safe(&bundle.trusted_by)),
        ),
        checked(
            "contents",
            format!(
                "{}, {} bytes, none missing, none extra, none changed",
                counted(bundle.files, "file"),
                grouped(bundle.bytes)
            ),
        ),
        said(
            "collected",
            format!(
                "{} (claimed by the signer)  {}  {}  {}",
                time(bundle.created_at),
                safe(&bundle.organization),
                safe(&bundle.framework),
                safe(&bundle.controls.join(" "))
            ),
        ),
    ]);
    if let Some(judgement) = &bundle.judgement {
        facts.insert(bundle.populations.len() + 3, judged(judgement));
    }
    if let Some(key) = key(bundle) {
        facts.insert(bundle.populations.len() + 2, checked("key", key));
    }
    facts.extend(bundle.apps.iter().map(|(source, app)| said("access", access(source, app))));
    if let Some(previous) = &bundle.previous {
        facts.push(said("follows", format!("bundle {}", safe(&previous.bundle_id))));
    }
    if bundle.source_date_epoch.is_some() {
        let text = "fixed with --reproducible: when it was collected is not recorded";
        facts.push(said("time", text.to_owned()));
    }
    if bundle.warnings_total > 0 {
        facts.push(said("warnings", grouped(bundle.warnings_total)));
    }
    if bundle.excluded_total > 0 {
        let artifacts = counted(bundle.excluded_total, "artifact");
        facts.push(said("excluded", format!("{artifacts} left out: forbidden data")));
    }
    if bundle.errors_total > 0 {
        let errors = counted(bundle.errors_total, "error");
        facts.push(said("missing", format!("{errors} during collection")));
    }
    if bundle.lacking > 0 {
        let checks = counted(bundle.lacking, "check");
        facts.push(said("missing", format!("{checks} of settings that the credentials could not read")));
    }
    if !bundle.complete {
        facts.push(said(COMPLETE, "no".to_owned()));
    }
    let (detail, meaning) = (String::new(), Vec::new());
    Verdict { tone: Tone::Good, headline: "VERIFIED", detail, meaning, facts }
}

/// Whether the checks follow from the facts in the bundle.
fn judged(judgement: &Judgement) -> Fact {
    let Judgement { checks, repeated, not_repeated } = judgement;
    let repeated = format!("{} of {} repeated from the facts", grouped(*repeated), counted(*checks, "check"));
    let unknown = not_repeated.iter().map(|((rule, version), checks)| {
        format!("; not repeated: {} of {} version {version}", counted(*checks, "check"), safe(rule))
    });
    let text = std::iter::once(repeated).chain(unknown).collect();
    Fact { label: "judgement", checked: judgement.is_complete(), text }
}

/// What was compared about the key, if its trust is limited.
fn key(bundle: &VerifiedBundle) -> Option<String> {
    let clock = match bundle.key_clock {
        KeyClock::None => None,
        KeyClock::Signer => Some("valid at the time that the signer claims (created_at)".to_owned()),
        KeyClock::Receipt => Some("valid at the time of receipt".to_owned()),
    };
    let listed = |entries| {
        let entries = counted(saturating_u64(entries), "revoked key");
        format!("not in the list of {entries}")
    };
    let said: Vec<String> = clock.into_iter().chain(bundle.revoked_keys.map(listed)).collect();
    (!said.is_empty()).then(|| said.join("; "))
}

/// The clock that a key was judged by, for programs.
fn clock(clock: KeyClock) -> &'static str {
    match clock {
        KeyClock::None => "none",
        KeyClock::Signer => "signer",
        KeyClock::Receipt => "receipt",
    }
}

fn failed(error: &VerifyError) -> Verdict {
    // The detail of most reasons names the path already.
    let place = error.path.as_deref().filter(|path| !error.detail.contains(path));
    let place = place.map(|path| format!(" ({})", Printable(path))).unwrap_or_default();
    Verdict {
        tone: Tone::Bad,
        headline: "FAILED",
        detail: format!(" {}: {}{place}", error.reason, error.detail),
        meaning: vec![format!("{} Do not rely on this bundle.", error.reason.meaning())],
        facts: Vec::new(),
    }
}

fn not_authenticated(intact: &Intact) -> Verdict {
    let advice = "Anyone can make such a bundle. Get the signer's public key through a separate channel";
    Verdict {
        tone: Tone::Caution,
        headline: "INTACT, NOT AUTHENTICATED",
        detail: format!(": signed by {}; no trusted key was given", intact.key_id),
        meaning: vec![advice.to_owned()],
        facts: Vec::new(),
    }
}

fn not_judged(newer: &NewerBundle) -> Verdict {
    let trust = match &newer.trusted_by {
        Some(label) => format!("trusted by {}", Printable(label)),
        None => "no trusted key was given".to_owned(),
    };
    Verdict {
        tone: Tone::Caution,
        headline: "NOT JUDGED",
        detail: format!(": {newer}"),
        meaning: vec![
            format!("The signature and every checksum are right: key {}, {trust}.", newer.key_id),
            "The contents of the documents were not checked.".to_owned(),
        ],
        facts: Vec::new(),
    }
}

/// How many checks were judged again, for programs.
#[derive(Debug, Serialize)]
struct JudgementReport<'a> {
    checks: u64,
    repeated: u64,
    /// The checks of each rule that this program does not know.
    not_repeated: Vec<NotRepeated<'a>>,
}

/// The checks of a rule that this program does not know.
#[derive(Debug, Serialize)]
struct NotRepeated<'a> {
    rule: &'a str,
    version: u32,
    checks: u64,
}

impl<'a> JudgementReport<'a> {
    fn of(judgement: &'a Judgement) -> JudgementReport<'a> {
        let not_repeated = judgement.not_repeated.iter();
        let not_repeated = not_repeated.map(|((rule, version), checks)| NotRepeated {
            rule,
            version: *version,
            checks: *checks,
        });
        let Judgement { checks, repeated, .. } = *judgement;
        JudgementReport { checks, repeated, not_repeated: not_repeated.collect() }
    }
}

/// A verdict for programs: the output of `evidence verify --json`, version 1. A field is never renamed.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    verdict: &'static str,
    reason: Option<&'a str>,
    detail: Option<String>,
    path: Option<&'a str>,
    bundle_id: Option<&'a str>,
    key_id: Option<String>,
    trusted_by: Option<&'a str>,
    /// The clock that the key was judged by: `none`, `signer` or `receipt`.
    key_clock: Option<&'static str>,
    /// How many keys the list of revoked keys names; absent without a list.
    revoked_keys: Option<usize>,
    files: Option<u64>,
    bytes: Option<u64>,
    created_at: Option<String>,
    organization: Option<&'a str>,
    framework: Option<&'a str>,
    controls: &'a [String],
    complete: Option<bool>,
    scope: &'a [SourcePopulation],
    unreadable_checks: Option<u64>,
    judgement: Option<JudgementReport<'a>>,
    /// The apps that collected, and what the host granted them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    apps: Vec<AppReport<'a>>,
    warnings: &'a [Warning],
    excluded: &'a [Excluded],
    errors: &'a [ErrorRecord],
    source_date_epoch: Option<i64>,
    /// The SHA-256 of the list of checksums, by which a later bundle names this one.
    checksums_sha256: Option<String>,
    /// The bundle before this one, as this one says.
    previous: Option<&'a Previous>,
}

/// An app that collected from a source.
#[derive(Debug, Serialize)]
struct AppReport<'a> {
    source: &'a str,
    #[serde(flatten)]
    app: &'a AppIdentity,
}

impl Report<'_> {
    fn new(verdict: &'static str) -> Report<'static> {
        Report {
            verdict,
            reason: None,
            detail: None,
            path: None,
            bundle_id: None,
            key_id: None,
            trusted_by: None,
            key_clock: None,
            revoked_keys: None,
            files: None,
            unreadable_checks: None,
            judgement: None,
            bytes: None,
            created_at: None,
            organization: None,
            framework: None,
            controls: &[],
            complete: None,
            scope: &[],
            apps: Vec::new(),
            warnings: &[],
            excluded: &[],
            errors: &[],
            source_date_epoch: None,
            checksums_sha256: None,
            previous: None,
        }
    }

    /// The report for a bundle that could not be judged.
    pub fn not_judged(detail: String) -> Report<'static> {
        Report { detail: Some(detail), ..Report::new("not_judged") }
    }
}

impl<'a> Report<'a> {
    /// The report on a bundle.
    pub fn of(outcome: Result<&'a VerifiedBundle, &'a Failure>) -> Report<'a> {
        match outcome {
            Ok(bundle) => Report {
                bundle_id: Some(&bundle.bundle_id),
                key_id: Some(bundle.key_id.to_string()),
                trusted_by: Some(&bundle.trusted_by),
                key_clock: Some(clock(bundle.key_clock)),
                revoked_keys: bundle.revoked_keys,
                files: Some(bundle.files),
                bytes: Some(bundle.bytes),
                created_at: Some(time(bundle.created_at)),
                organization: Some(&bundle.organization),
                framework: Some(&bundle.framework),
                controls: &bundle.controls,
                complete: Some(bundle.complete),
                scope: &bundle.populations,
                unreadable_checks: Some(bundle.lacking),
                judgement: bundle.judgement.as_ref().map(JudgementReport::of),
                apps: bundle.apps.iter().map(|(source, app)| AppReport { source, app }).collect(),
                warnings: &bundle.warnings,
                excluded: &bundle.excluded,
                errors: &bundle.errors,
                source_date_epoch: bundle.source_date_epoch,
                checksums_sha256: Some(hex::encode(bundle.checksums_sha256)),
                previous: bundle.previous.as_ref(),
                ..Report::new("verified")
            },
            Err(Failure::NotWhatWasSigned(error)) => Report {
                reason: Some(error.reason.code()),
                detail: Some(error.detail.clone()),
                path: error.path.as_deref(),
                ..Report::new("failed")
            },
            Err(Failure::IntactNotAuthenticated(intact)) => Report {
                bundle_id: Some(&intact.bundle_id),
                key_id: Some(intact.key_id.to_string()),
                files: Some(intact.files),
                bytes: Some(intact.bytes),
                created_at: Some(time(intact.created_at)),
                organization: Some(&intact.organization),
                ..Report::new("not_authenticated")
            },
            Err(Failure::NewerVersion(newer)) => Report {
                reason: Some(NewerBundle::CODE),
                detail: Some(newer.to_string()),
                key_id: Some(newer.key_id.to_string()),
                trusted_by: newer.trusted_by.as_deref(),
                files: Some(newer.files),
                ..Report::new("not_judged")
            },
            Err(Failure::CannotJudge(error)) => Report::not_judged(error.to_string()),
        }
    }
}
