//! One bundle: what was found, why, what to do, what is missing, who signed it, and how to check it by hand.
//!
//! The stored bytes are verified to the last one each time the page is made, so what it says about them is true now.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::document::{
    Check, ErrorRecord, Excluded, Hint, NormalizedControl, RunRecord, SourceRun, Warning,
};
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, RUN};
use http::StatusCode;
use serde::de::IgnoredAny;

use super::reading::{Advice, Checks, First, Folded, HintsBySeverity, Judgement, Missing};
use super::words::{self, Moment, Shown, counted, neatened, number, shown, size, tags};
use super::{Frame, page};
use crate::api::App;
use crate::api::bundles::file_name;
use crate::api::input::Id;
use crate::bounded;
use crate::error::Error;
use crate::facts::StatusCounts;
use crate::principal::Principal;
use crate::store::BundleRow;

#[derive(Template)]
#[template(path = "bundle.html")]
struct BundlePage {
    frame: Frame,
    id: String,
    subject: String,
    framework: String,
    collected: Moment,
    stored: Moment,
    retention_until: Moment,
    uploaded_by: String,
    legal_hold: bool,
    tags: Vec<(String, String)>,
    complete: bool,
    sha256: String,
    file_name: String,
    size: String,
    files: String,
    tool_version: String,
    sources: String,
    bundle_id: String,
    previous_bundle_id: Option<String>,
    signer: Signer,
    verified: Moment,
    /// The bundle that was collected before this one.
    before: Option<(String, Moment)>,
    contents: Contents,
}

/// Who signed the bundle.
struct Signer {
    key_id: String,
    /// The key as the organization knows it, unless the trust in it has ended.
    trusted: Option<(String, String)>,
}

/// What the bytes say, or why they say nothing.
enum Contents {
    Intact(Box<Verified>),
    Damaged { reason: &'static str, detail: String },
}

/// What a page shows of a bundle that was verified. `None` is a document of a form that this platform does not know.
struct Verified {
    controls: Option<Vec<Control>>,
    hints: Option<Vec<Hints>>,
    hint_total: String,
    missing: Option<Lists>,
    /// What each source was asked for, and what became of it.
    population: Option<Vec<SourceRun>>,
    nothing_missing: bool,
}

struct Control {
    id: String,
    title: String,
    shown: Shown,
    reason: String,
    counts: String,
    checks: Vec<CheckGroup>,
}

/// The checks of one status.
struct CheckGroup {
    shown: Shown,
    count: String,
    /// Those that passed are folded.
    open: bool,
    checks: Vec<Check>,
    more: Option<String>,
}

/// The hints of one severity.
struct Hints {
    severity: &'static str,
    hints: Vec<Hint>,
    more: Option<String>,
}

/// What is not there, and what a reader should know.
struct Lists {
    errors: First<ErrorRecord>,
    excluded: First<Excluded>,
    warnings: First<Warning>,
}

/// What is read of the documents.
#[derive(Default)]
struct Documents {
    missing: Option<Missing>,
    judgement: Option<Judgement>,
    advice: Option<Advice>,
    run: Option<RunRecord>,
}

/// The page.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Unavailable`], [`Error::Internal`].
pub async fn bundle(State(app): State<App>, principal: Principal, Id(id): Id) -> Result<Response, Error> {
    let bundle = app.service.bundle(&principal, &id).await?;
    let before = app.service.bundle_before(&principal, &bundle).await?;
    let trusted = app.service.signers(&principal).await?;
    let trusted = trusted.into_iter().find(|key| key.key_id == bundle.facts.key_id);
    let read = |seen: &mut Documents, path: &str, contents: &mut dyn std::io::Read| {
        match path {
            MANIFEST => seen.missing = bounded::json(contents),
            NORMALIZED => seen.judgement = bounded::json(contents),
            HINTS => seen.advice = bounded::json(contents),
            RUN => seen.run = bounded::json(contents),
            _ => {}
        }
        Ok(())
    };
    let contents = match app.service.viewer(&principal).await?.inspect(&principal, &bundle, read).await {
        Ok(documents) => Contents::Intact(Box::new(shown_of(documents, &bundle))),
        Err(Error::Damaged { reason, detail }) => Contents::Damaged { reason, detail },
        Err(error) => return Err(error),
    };
    let facts = bundle.facts;
    let signer = Signer { key_id: facts.key_id, trusted: trusted.map(|key| (key.label, key.fingerprint)) };
    let bundle_page = BundlePage {
        frame: Frame::of(&principal),
        id: bundle.id,
        subject: neatened(&facts.organization),
        framework: neatened(&facts.framework),
        verified: Moment::of(app.service.clock().now()),
        collected: Moment::of(bundle.collected_at),
        stored: Moment::of(bundle.uploaded_at),
        retention_until: Moment::of(bundle.retention_until),
        uploaded_by: bundle.uploaded_by,
        legal_hold: bundle.legal_hold,
        tags: tags(bundle.tags),
        complete: facts.complete,
        sha256: bundle.digest.to_string(),
        file_name: file_name(facts.created_at),
        size: size(bundle.size_bytes),
        files: counted(facts.files, "file"),
        tool_version: neatened(&facts.tool_version),
        sources: neatened(&facts.sources.join(", ")),
        bundle_id: neatened(&facts.bundle_id),
        previous_bundle_id: facts.previous.as_deref().map(neatened),
        signer,
        before: before.map(|before| (before.id, Moment::of(before.collected_at))),
        contents,
    };
    page(StatusCode::OK, &bundle_page)
}

fn shown_of(documents: Documents, bundle: &BundleRow) -> Verified {
    let facts = &bundle.facts;
    let controls = documents.judgement.map(|judgement| judgement.controls.into_iter().map(control).collect());
    let hints = documents.advice.map(|advice| advice.hints.0);
    let hint_total = hints.as_ref().map_or(0, |hints| {
        let counts = [&hints.critical, &hints.high, &hints.medium, &hints.low, &hints.info].map(First::count);
        counts.into_iter().fold(0, u64::saturating_add)
    });
    let population = documents.run.map(|run| {
        let mut sources = First::default();
        run.sources.into_iter().for_each(|source| sources.push(source));
        sources.items
    });
    // Also what a source did not show, and what nobody says has failed.
    let unread = population
        .as_ref()
        .is_none_or(|sources| sources.iter().any(|source| source.denied > 0 || source.failed > 0));
    Verified {
        controls,
        hints: hints.map(by_severity),
        hint_total: counted(hint_total, "hint"),
        nothing_missing: facts.complete && facts.errors == 0 && facts.excluded == 0 && !unread,
        population,
        missing: documents.missing.map(|manifest| Lists {
            errors: manifest.errors.0,
            excluded: manifest.excluded.0,
            warnings: manifest.warnings.0,
        }),
    }
}

fn control(control: NormalizedControl<Folded<Checks>, IgnoredAny>) -> Control {
    let Folded(checks) = control.checks;
    let counts = StatusCounts {
        pass: checks.pass.count(),
        fail: checks.fail.count(),
        not_verifiable: checks.not_verifiable.count(),
        not_applicable: checks.not_applicable.count(),
    };
    Control {
        id: neatened(&control.id),
        title: neatened(&control.title),
        shown: shown(control.status),
        reason: neatened(&control.reason),
        counts: in_words(&counts),
        checks: groups(checks),
    }
}

fn in_words(counts: &StatusCounts) -> String {
    let parts = [
        (counts.fail, "failed"),
        (counts.not_verifiable, "not verifiable"),
        (counts.pass, "passed"),
        (counts.not_applicable, "not applicable"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{} {word}", number(*count))).collect();
    if parts.is_empty() { "no checks".to_owned() } else { parts.join(", ") }
}

fn groups(checks: Checks) -> Vec<CheckGroup> {
    use evidence_bundle::Status::{Fail, NotApplicable, NotVerifiable, Pass};
    let groups = [
        (Fail, checks.fail),
        (NotVerifiable, checks.not_verifiable),
        (Pass, checks.pass),
        (NotApplicable, checks.not_applicable),
    ];
    let groups = groups.into_iter().filter(|(_, first)| !first.items.is_empty());
    let group = groups.map(|(status, first)| CheckGroup {
        shown: shown(status),
        count: counted(first.count(), "check"),
        open: matches!(status, Fail | NotVerifiable),
        more: first.rest(),
        checks: first.items,
    });
    group.collect()
}

fn by_severity(hints: HintsBySeverity) -> Vec<Hints> {
    use evidence_bundle::document::Severity::{Critical, High, Info, Low, Medium};
    let groups = [
        (Critical, hints.critical),
        (High, hints.high),
        (Medium, hints.medium),
        (Low, hints.low),
        (Info, hints.info),
    ];
    let groups = groups.into_iter().filter(|(_, first)| !first.items.is_empty());
    let group = groups.map(|(severity, first)| Hints {
        severity: words::severity(severity),
        more: first.rest(),
        hints: first.items,
    });
    group.collect()
}

impl BundlePage {
    /// Links to the documents that every bundle has.
    fn documents(&self) -> [&'static str; 4] {
        [MANIFEST, RUN, NORMALIZED, HINTS]
    }
}
