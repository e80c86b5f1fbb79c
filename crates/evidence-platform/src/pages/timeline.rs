//! The timeline: the bundles of an organization, newest first, and the status of their controls over time as a picture.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use super::picture::{Picture, total};
use super::words::{Moment, Shown, counted, number, shown, size};
use super::{Frame, page};
use crate::api::App;
use crate::api::bundles::page_request;
use crate::api::input::Parameters;
use crate::error::Error;
use crate::role::Principal;
use crate::store::BundleRow;

#[derive(Template)]
#[template(path = "timeline.html")]
struct Timeline {
    frame: Frame,
    organization: String,
    slug: String,
    pictures: Vec<Picture>,
    rows: Vec<Row>,
    /// Whether older bundles are shown than the newest.
    later: bool,
    next: Option<String>,
}

struct Row {
    id: String,
    collected: Moment,
    stored: Moment,
    subject: String,
    framework: String,
    complete: bool,
    controls: Vec<Control>,
    /// The checks that need attention, in words.
    checks: Option<Checks>,
    size: String,
    legal_hold: bool,
    tags: Vec<(String, String)>,
    /// The newest is what others are compared with, and the second the first to be compared.
    newest: bool,
    second: bool,
}

struct Control {
    id: String,
    shown: Shown,
}

struct Checks {
    fail: Option<String>,
    not_verifiable: Option<String>,
    all: String,
}

/// The page.
///
/// # Errors
/// [`Error::Invalid`], [`Error::Unavailable`], [`Error::Internal`].
pub async fn timeline(
    State(app): State<App>,
    principal: Principal,
    parameters: Parameters,
) -> Result<Response, Error> {
    let later = !parameters.is_empty();
    let request = page_request(parameters)?;
    let bundles = app.service.bundles(&principal, &request).await?;
    let pictures = Picture::all(&bundles.items);
    let rows = bundles.items.into_iter().enumerate().map(|(index, bundle)| row(index, bundle));
    let timeline = Timeline {
        frame: Frame::of(&principal),
        organization: principal.name().to_owned(),
        slug: principal.slug().to_owned(),
        pictures,
        rows: rows.collect(),
        later,
        next: bundles.next,
    };
    page(StatusCode::OK, &timeline)
}

fn row(index: usize, bundle: BundleRow) -> Row {
    let facts = bundle.facts;
    let checks = facts.judgement.as_ref().map(total).map(|counts| {
        let all = [counts.pass, counts.fail, counts.not_verifiable, counts.not_applicable];
        let all = all.into_iter().fold(0, u64::saturating_add);
        let some = |count: u64| (count > 0).then(|| number(count));
        Checks {
            fail: some(counts.fail),
            not_verifiable: some(counts.not_verifiable),
            all: counted(all, "check"),
        }
    });
    let controls = facts.judgement.map(|judgement| judgement.controls).unwrap_or_default();
    let control =
        |control: crate::facts::ControlFacts| Control { shown: shown(control.status), id: control.id };
    Row {
        id: bundle.id,
        collected: Moment::of(bundle.collected_at),
        stored: Moment::of(bundle.uploaded_at),
        subject: facts.organization,
        framework: facts.framework,
        complete: facts.complete,
        controls: controls.into_iter().map(control).collect(),
        checks,
        size: size(bundle.size_bytes),
        legal_hold: bundle.legal_hold,
        tags: bundle.tags.into_iter().collect(),
        newest: index == 0,
        second: index == 1,
    }
}
