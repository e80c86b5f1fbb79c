//! One bundle: what was found, why, what to do, what is missing, who signed it, and how to check it by hand.
//!
//! The stored bytes are verified to the last one each time the page is made, so what it says about them is true now.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::document::{Check, ErrorRecord, Excluded, Hint, Warning};
use evidence_bundle::path::{HINTS, MANIFEST, NORMALIZED, RUN};
use http::StatusCode;

use super::reading::{Advice, Checks, First, HintsBySeverity, Judgement, Missing, document};
use super::words::{self, Moment, Shown, counted, number, shown, size};
use super::{Frame, page};
use crate::api::App;
use crate::api::bundles::file_name;
use crate::api::input::Id;
use crate::error::Error;
use crate::facts::{ControlFacts, StatusCounts};
use crate::role::Principal;
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

/// What a page shows of a bundle that was verified.
struct Verified {
    controls: Vec<Control>,
    /// Whether the judgement is of a form that this platform knows.
    judged: bool,
    hints: Vec<Hints>,
    hint_total: String,
    missing: Option<Lists>,
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
}

/// The page.
///
/// # Errors
/// [`Error::NotFound`], [`Error::Unavailable`], [`Error::Internal`].
pub async fn bundle(State(app): State<App>, principal: Principal, Id(id): Id) -> Result<Response, Error> {
    let bundle = app.service.bundle(&principal, &id).await?;
    let before = app.service.bundle_before(&principal, &bundle).await?;
    let trusted = app.service.signer(&principal, &bundle).await?;
    let read = |seen: &mut Documents, path: &str, contents: &mut dyn std::io::Read| {
        match path {
            MANIFEST => seen.missing = document(contents),
            NORMALIZED => seen.judgement = document(contents),
            HINTS => seen.advice = document(contents),
            _ => {}
        }
        Ok(())
    };
    let contents = match app.service.inspect(&principal, &bundle, read).await {
        Ok(documents) => Contents::Intact(Box::new(shown_of(documents, &bundle))),
        Err(Error::Refused { reason, detail }) => Contents::Damaged { reason: reason.code(), detail },
        Err(error) => return Err(error),
    };
    let facts = bundle.facts;
    let signer = Signer { key_id: facts.key_id, trusted: trusted.map(|key| (key.label, key.fingerprint)) };
    let bundle_page = BundlePage {
        frame: Frame::of(&principal),
        id: bundle.id,
        subject: facts.organization,
        framework: facts.framework,
        collected: Moment::of(bundle.collected_at),
        stored: Moment::of(bundle.uploaded_at),
        retention_until: Moment::of(bundle.retention_until),
        uploaded_by: bundle.uploaded_by,
        legal_hold: bundle.legal_hold,
        tags: bundle.tags.into_iter().collect(),
        complete: facts.complete,
        sha256: bundle.digest.to_string(),
        file_name: file_name(facts.created_at),
        size: size(bundle.size_bytes),
        files: counted(facts.files, "file"),
        tool_version: facts.tool_version,
        sources: facts.sources.join(", "),
        bundle_id: facts.bundle_id,
        previous_bundle_id: facts.previous,
        signer,
        before: before.map(|before| (before.id, Moment::of(before.collected_at))),
        contents,
    };
    page(StatusCode::OK, &bundle_page)
}

fn shown_of(documents: Documents, bundle: &BundleRow) -> Verified {
    let facts = &bundle.facts;
    let known = facts.judgement.as_ref();
    let judged = documents.judgement.is_some();
    let controls = documents.judgement.into_iter().flat_map(|judgement| judgement.controls);
    let counts = |id: &str| {
        let control = known.and_then(|known| known.controls.iter().find(|control| control.id == id));
        control.map(|control: &ControlFacts| control.checks).unwrap_or_default()
    };
    let controls = controls.map(|control| {
        let counts = counts(&control.id);
        Control {
            shown: shown(control.status),
            reason: control.reason,
            counts: in_words(&counts),
            checks: groups(control.checks.0),
            title: control.title,
            id: control.id,
        }
    });
    let hints = documents.advice.map(|advice| by_severity(advice.hints.0)).unwrap_or_default();
    let total = known.map(|known| known.hints).unwrap_or_default();
    let total = [total.critical, total.high, total.medium, total.low, total.info];
    let lists = documents.missing.map(|manifest| Lists {
        errors: manifest.errors.0,
        excluded: manifest.excluded.0,
        warnings: manifest.warnings.0,
    });
    Verified {
        controls: controls.collect(),
        judged,
        hints,
        hint_total: counted(total.into_iter().fold(0, u64::saturating_add), "hint"),
        nothing_missing: facts.complete && facts.errors == 0 && facts.excluded == 0,
        missing: lists,
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
        count: counted(count(&first), "check"),
        open: matches!(status, Fail | NotVerifiable),
        more: more(&first),
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
        more: more(&first),
        hints: first.items,
    });
    group.collect()
}

fn count<T>(first: &First<T>) -> u64 {
    u64::try_from(first.items.len().saturating_add(first.more)).unwrap_or(u64::MAX)
}

/// What is said behind a list of which not everything is shown.
fn more<T>(first: &First<T>) -> Option<String> {
    let more = u64::try_from(first.more).unwrap_or(u64::MAX);
    (more > 0).then(|| format!("and {} more", number(more)))
}

impl Lists {
    fn more_errors(&self) -> Option<String> {
        more(&self.errors)
    }

    fn more_excluded(&self) -> Option<String> {
        more(&self.excluded)
    }

    fn more_warnings(&self) -> Option<String> {
        more(&self.warnings)
    }
}

impl BundlePage {
    /// Links to the documents that every bundle has.
    fn documents(&self) -> [&'static str; 4] {
        [MANIFEST, RUN, NORMALIZED, HINTS]
    }
}
