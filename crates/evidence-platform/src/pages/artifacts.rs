//! The artifacts of a bundle as a searchable list, and any file of the bundle.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::document::{ArtifactRecord, AskedRecord};
use evidence_view::{ArtifactSearch, FIRST_ROWS, FileContents, FileText};
use http::StatusCode;

use super::page::{Frame, page};
use super::words::{self, Moment, size};
use crate::api::App;
use crate::api::input::{Id, Inside, Parameters};
use crate::error::Error;
use crate::principal::Principal;

/// The most characters of a search.
const SEARCH_CHARACTERS: usize = 200;

#[derive(Template)]
#[template(path = "artifacts.html")]
struct ArtifactsPage {
    frame: Frame,
    id: String,
    collected: Moment,
    text: String,
    search: ArtifactSearch,
    /// The offset of the next part.
    next: Option<u64>,
    later: bool,
}

/// The list page.
///
/// # Errors
/// Fails with [`Error::NotFound`], [`Error::Invalid`], [`Error::Refused`], [`Error::Unavailable`]
/// or [`Error::Internal`].
pub async fn artifacts(
    State(app): State<App>,
    principal: Principal,
    Id(id): Id,
    mut parameters: Parameters,
) -> Result<Response, Error> {
    let text = parameters.one("search")?.unwrap_or_default();
    let skip = u64::from(parameters.integer("skip")?.unwrap_or_default());
    parameters.end()?;
    let text: String = text.trim().chars().take(SEARCH_CHARACTERS).collect();
    let bundle = app.service.bundle(&principal, &id).await?;
    let search = ArtifactSearch::new(&text, skip);
    let search = app.service.viewer(&principal).await?.rows(&principal, &bundle, search).await?.0;
    let next = (search.artifacts.more > 0).then(|| skip.saturating_add(FIRST_ROWS as u64));
    let artifacts_page = ArtifactsPage {
        frame: Frame::of(&principal),
        id,
        collected: Moment::of(bundle.collected_at),
        text,
        search,
        next,
        later: skip > 0,
    };
    page(StatusCode::OK, &artifacts_page)
}

#[derive(Template)]
#[template(path = "file.html")]
struct FilePage {
    frame: Frame,
    id: String,
    collected: Moment,
    path: String,
    size: String,
    text: FileText,
    /// The text that it holds in base64.
    decoded: Option<String>,
    /// Its manifest record, if it is an artifact.
    artifact: Option<ArtifactRecord>,
    /// The requests behind it.
    requests: Vec<AskedRecord>,
}

/// The page of one file.
///
/// # Errors
/// Fails with [`Error::NotFound`], [`Error::Refused`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn file(
    State(app): State<App>,
    principal: Principal,
    Inside(id, path): Inside,
) -> Result<Response, Error> {
    let bundle = app.service.bundle(&principal, &id).await?;
    let file = FileContents::new(path.clone());
    let file = app.service.viewer(&principal).await?.read(&principal, &bundle, file).await?;
    let bytes = file.size.ok_or(Error::NotFound("file in this bundle"))?;
    let file_page = FilePage {
        frame: Frame::of(&principal),
        id,
        collected: Moment::of(bundle.collected_at),
        path,
        size: size(bytes),
        text: file.text(),
        decoded: file.decoded(),
        artifact: file.artifact,
        requests: file.requests,
    };
    page(StatusCode::OK, &file_page)
}
