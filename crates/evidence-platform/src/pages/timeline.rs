//! The timeline: the bundles of an organization, newest first, and the status of their controls over time as a picture.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::Status;
use evidence_view::{ControlOverview, Overview, sanitized};
use http::StatusCode;

use super::filter::FilterForm;
use super::page::{Frame, page};
use super::picture::{Picture, Plotted};
use super::query::address;
use super::state::ControlState;
use super::words::{self, Moment, counted, grouped, size, tags};
use crate::api::App;
use crate::api::bundles::page_request;
use crate::api::filter::bundle_filter;
use crate::api::input::Parameters;
use crate::error::Error;
use crate::principal::Principal;
use crate::store::{BundleRow, Standing, TrustedKeyRow};

/// The days of the picture: a year.
const DAYS: u32 = 366;
/// The most bundles of the picture.
const PLOTTED: u32 = 600;
/// The most subjects whose state is shown at length; a table has the others.
const SUBJECTS: usize = 20;
/// The most controls of a bundle that the list names.
const CONTROLS: usize = 16;

#[derive(Template)]
#[template(path = "timeline.html")]
struct Timeline {
    frame: Frame,
    organization: String,
    slug: String,
    latest: Vec<Latest>,
    /// The newest bundle of each further subject.
    others: Vec<Row>,
    pictures: Vec<Picture>,
    rows: Vec<Row>,
    filter: FilterForm,
    /// Whether newer bundles precede this page.
    later: bool,
    next: Option<String>,
}

/// The newest state of a subject under a framework.
struct Latest {
    id: String,
    subject: String,
    framework: String,
    /// The address of its last year.
    period: String,
    collected: Moment,
    signer: Option<String>,
    completeness: (&'static str, &'static str, &'static str),
    scopes: Vec<String>,
    time_marks: Vec<&'static str>,
    state: Option<Vec<ControlState>>,
    before: Option<(String, Moment)>,
}

struct Row {
    id: String,
    /// The address of the last year of its subject.
    period: String,
    collected: Moment,
    stored: Moment,
    subject: String,
    framework: String,
    complete: bool,
    controls: Vec<Control>,
    more_controls: Option<String>,
    /// Whether the organization still trusts the key that signed.
    trusted: bool,
    /// The checks that need attention.
    checks: Option<Checks>,
    size: String,
    /// Reasons to doubt its time.
    time_marks: Vec<&'static str>,
    legal_hold: bool,
    tags: Vec<(String, String)>,
    /// Whether it is the newest, with which others are compared.
    newest: bool,
    second: bool,
}

struct Control {
    id: String,
    status: Status,
}

struct Checks {
    fail: Option<String>,
    not_verifiable: Option<String>,
    all: String,
}

/// The page.
///
/// # Errors
/// Fails with [`Error::Invalid`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn timeline(
    State(app): State<App>,
    principal: Principal,
    mut parameters: Parameters,
) -> Result<Response, Error> {
    let later = parameters.has("cursor");
    let filter = bundle_filter(&mut parameters)?;
    let request = page_request(parameters)?;
    let bundles = app.service.find_bundles(&principal, &filter, &request).await?;
    let trusted = app.service.signers(&principal).await?;
    let filter = FilterForm::of(&app, &principal, &filter, &trusted).await?;
    let (mut newest_of, pictures) = match bundles.items.first() {
        Some(newest) if !later && !filter.active => {
            let since = newest.collected_at.minus_seconds(u64::from(DAYS).saturating_mul(86_400));
            let plotted = app.service.bundles_since(&principal, since, PLOTTED, Plotted::of).await?;
            (app.service.latest(&principal).await?, Picture::all(&plotted))
        }
        _ => (Vec::new(), Vec::new()),
    };
    let group =
        |bundle: &BundleRow| (bundle.overview.organization.clone(), bundle.overview.framework.clone());
    let newest = bundles.items.first().map(group);
    // The initial selection belongs to one timeline, if that has two bundles.
    let second = bundles.items.iter().skip(1).position(|bundle| Some(group(bundle)) == newest);
    let second = second.map_or(1, |index| index.saturating_add(1));
    let rows = bundles.items.into_iter().enumerate().map(|(index, bundle)| {
        let trusted = trusted.iter().any(|key| counts(key, &bundle));
        Row { newest: index == 0, second: index == second, trusted, ..row(bundle) }
    });
    // The last collected first, as in the list.
    newest_of.sort_by_key(|(bundle, _)| std::cmp::Reverse(bundle.collected_at));
    let others = newest_of.split_off(newest_of.len().min(SUBJECTS));
    let latest = latest(newest_of, &trusted);
    let timeline = Timeline {
        frame: Frame::of(&principal),
        organization: principal.name().to_owned(),
        slug: principal.slug().to_owned(),
        latest,
        others: others.into_iter().map(|(bundle, _)| row(bundle)).collect(),
        pictures,
        rows: rows.collect(),
        filter,
        later,
        next: bundles.next,
    };
    page(StatusCode::OK, &timeline)
}

/// Whether the bundle is verified with this key, by the time of its receipt.
fn counts(key: &TrustedKeyRow, bundle: &BundleRow) -> bool {
    key.key_id == bundle.overview.key_id && key.standing(bundle.uploaded_at) == Standing::Counts
}

/// The newest bundle of each subject and framework, with the previous one.
fn latest(newest: Vec<(BundleRow, Option<BundleRow>)>, trusted: &[TrustedKeyRow]) -> Vec<Latest> {
    let shown = |(bundle, before): &(BundleRow, Option<BundleRow>)| Latest {
        id: bundle.id.clone(),
        period: period(&bundle.overview),
        subject: sanitized(&bundle.overview.organization),
        framework: sanitized(&bundle.overview.framework),
        collected: Moment::of(bundle.collected_at),
        signer: trusted.iter().find(|key| counts(key, bundle)).map(|key| sanitized(&key.label)),
        completeness: words::completeness(&bundle.overview),
        scopes: bundle.overview.scopes.clone(),
        time_marks: words::time_marks(bundle),
        state: ControlState::all(&bundle.overview, before.as_ref().map(|before| &before.overview)),
        before: before.as_ref().map(|before| (before.id.clone(), Moment::of(before.collected_at))),
    };
    newest.iter().map(shown).collect()
}

/// The address of the last year of a bundle's subject.
fn period(overview: &Overview) -> String {
    let pairs = [("subject", overview.organization.clone()), ("framework", overview.framework.clone())];
    format!("/period{}", address(&pairs))
}

fn row(bundle: BundleRow) -> Row {
    let time_marks = words::time_marks(&bundle);
    let overview = bundle.overview;
    let period = period(&overview);
    let checks = overview.checks().map(|counts| {
        let all = [counts.pass, counts.fail, counts.not_verifiable, counts.not_applicable];
        let all = all.into_iter().fold(0, u64::saturating_add);
        let some = |count: u64| (count > 0).then(|| grouped(count));
        Checks {
            fail: some(counts.fail),
            not_verifiable: some(counts.not_verifiable),
            all: counted(all, "check"),
        }
    });
    let controls = overview.judgement.map(|judgement| judgement.controls).unwrap_or_default();
    let control = |control: ControlOverview| Control { status: control.status, id: sanitized(&control.id) };
    let more_controls = controls.len().saturating_sub(CONTROLS);
    Row {
        period,
        id: bundle.id,
        collected: Moment::of(bundle.collected_at),
        stored: Moment::of(bundle.uploaded_at),
        subject: sanitized(&overview.organization),
        framework: sanitized(&overview.framework),
        complete: overview.complete,
        controls: controls.into_iter().take(CONTROLS).map(control).collect(),
        more_controls: (more_controls > 0).then(|| format!("and {more_controls} more")),
        trusted: true,
        checks,
        size: size(bundle.size_bytes),
        time_marks,
        legal_hold: bundle.legal_hold,
        tags: tags(bundle.tags),
        newest: false,
        second: false,
    }
}
