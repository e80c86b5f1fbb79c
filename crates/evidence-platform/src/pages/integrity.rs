//! Whether the stored bytes are those that were accepted, as the last check found them.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use http::StatusCode;

use super::page::{Frame, page};
use super::words::{Moment, counted};
use crate::api::App;
use crate::error::Error;
use crate::principal::Principal;
use crate::store::Damage;

#[derive(Template)]
#[template(path = "integrity.html")]
struct Integrity {
    frame: Frame,
    /// The last complete check.
    finished: Option<Moment>,
    /// When a check began that is not complete.
    under_way: Option<Moment>,
    bundles: String,
    unchecked: Option<String>,
    oldest: Option<Moment>,
    damaged: Vec<Damage>,
    strays: Option<String>,
}

/// The page.
///
/// # Errors
/// Fails with [`Error::Unavailable`] or [`Error::Internal`].
pub async fn integrity(State(app): State<App>, principal: Principal) -> Result<Response, Error> {
    let checked = app.service.checked(&principal).await?;
    let begun = checked.run.started_at.0 > 0;
    let unchecked = checked.bundles.saturating_sub(checked.checked);
    let integrity = Integrity {
        frame: Frame::of(&principal),
        finished: checked.run.finished_at.filter(|_| begun).map(Moment::of),
        under_way: (begun && checked.run.finished_at.is_none()).then(|| Moment::of(checked.run.started_at)),
        bundles: counted(checked.bundles, "bundle"),
        unchecked: (unchecked > 0).then(|| counted(unchecked, "bundle")),
        oldest: checked.oldest.map(Moment::of),
        damaged: checked.damaged,
        strays: (checked.strays > 0).then(|| counted(checked.strays, "blob")),
    };
    page(StatusCode::OK, &integrity)
}
