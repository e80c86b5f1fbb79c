//! The observations of a bundle: what was asked of each source, and what came of it. A check that rests on an absence leads
//! here.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_view::{FIRST_ROWS, ObservationSearch};
use http::StatusCode;

use super::page::{Frame, page};
use super::words::{self, Moment};
use crate::api::App;
use crate::api::input::{Id, Parameters};
use crate::error::Error;
use crate::principal::Principal;

/// The most characters of a search.
const SEARCH_CHARACTERS: usize = 200;

#[derive(Template)]
#[template(path = "observations.html")]
struct Observations {
    frame: Frame,
    id: String,
    collected: Moment,
    text: String,
    search: ObservationSearch,
    /// Whether to show the requests at once.
    open: bool,
    /// The offset of the next part.
    next: Option<u64>,
    later: bool,
}

/// The page.
///
/// # Errors
/// Fails with [`Error::NotFound`], [`Error::Invalid`], [`Error::Refused`], [`Error::Unavailable`]
/// or [`Error::Internal`].
pub async fn observations(
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
    let search = ObservationSearch::new(&text, skip);
    let search = app.service.viewer(&principal).await?.rows(&principal, &bundle, search).await?.0;
    let next = (search.observations.more > 0).then(|| skip.saturating_add(FIRST_ROWS as u64));
    let observations = Observations {
        frame: Frame::of(&principal),
        id,
        collected: Moment::of(bundle.collected_at),
        text,
        open: search.found <= 3,
        search,
        next,
        later: skip > 0,
    };
    page(StatusCode::OK, &observations)
}
