//! What is due in the organization, and what holds bundles there. The page only shows: changes are made on the command line
//! and over the API.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_view::sanitized;
use http::StatusCode;

use super::page::{Frame, page};
use super::words::{Moment, counted, size};
use crate::api::App;
use crate::error::Error;
use crate::principal::Principal;
use crate::service::RetentionState;

/// How far the page looks ahead.
const DAYS: u32 = 30;
/// The most bundles that it lists.
const BUNDLES: u32 = 200;

#[derive(Template)]
#[template(path = "retention.html")]
struct Retention {
    frame: Frame,
    slug: String,
    default_days: u32,
    least_days: u32,
    /// After how many further days the policy deletes; `None` if it is off.
    purge: Option<u32>,
    holds: Vec<Hold>,
    due: Vec<Row>,
    /// Whether more bundles are due than are listed.
    more: bool,
}

struct Hold {
    tag: String,
    reason: String,
    since: Moment,
    bundles: String,
}

struct Row {
    id: String,
    collected: Moment,
    until: Moment,
    size: String,
    state: (&'static str, &'static str, &'static str),
}

/// The page.
///
/// # Errors
/// Fails with [`Error::Forbidden`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn retention(State(app): State<App>, principal: Principal) -> Result<Response, Error> {
    let RetentionState { due, holds, now } = app.service.retention(&principal, DAYS, BUNDLES).await?;
    let settings = app.service.settings();
    let more = due.len() >= usize::try_from(BUNDLES).unwrap_or(usize::MAX);
    let row = |due: crate::store::Due| Row {
        state: match (due.held, due.retention_until <= now) {
            (true, _) => ("not_applicable", "–", "held"),
            (false, true) => ("warn", "△", "due"),
            (false, false) => ("not_applicable", "–", "soon"),
        },
        id: due.bundle_id,
        collected: Moment::of(due.collected_at),
        until: Moment::of(due.retention_until),
        size: size(due.size_bytes),
    };
    let hold = |hold: crate::store::TagHold| Hold {
        tag: sanitized(&hold.tag),
        reason: sanitized(&hold.reason),
        since: Moment::of(hold.created_at),
        bundles: counted(hold.bundles, "bundle"),
    };
    let shown = Retention {
        frame: Frame::of(&principal),
        slug: principal.slug().to_owned(),
        default_days: settings.retention_days,
        least_days: settings.least_retention_days(),
        purge: settings.purge_after_days,
        holds: holds.into_iter().map(hold).collect(),
        due: due.into_iter().map(row).collect(),
        more,
    };
    page(StatusCode::OK, &shown)
}
