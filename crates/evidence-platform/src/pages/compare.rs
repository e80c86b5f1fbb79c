//! Two bundles side by side.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_view::{ArtifactChange, Change, CheckChange, Comparable, Comparison, sanitized};
use http::StatusCode;

use super::page::{Frame, page};
use super::query::address;
use super::words::{self, Moment};
use crate::api::App;
use crate::api::input::{Id, Parameters};
use crate::error::Error;
use crate::principal::Principal;
use crate::store::BundleRow;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    frame: Frame,
    from: Side,
    to: Side,
    comparison: Comparison,
}

impl ComparePage {
    /// The address of a check, in the newer bundle that has it.
    fn check(&self, change: &CheckChange) -> String {
        let bundle = if change.to.is_some() { &self.to.id } else { &self.from.id };
        let pairs = [
            ("control", change.control.clone()),
            ("rule", change.rule.clone()),
            ("source", change.source.clone()),
            ("search", change.subject.clone()),
        ];
        format!("/bundles/{bundle}/checks{}", address(&pairs))
    }

    fn number(&self, count: &Option<u64>) -> String {
        count.map_or_else(|| "unknown".to_owned(), words::grouped)
    }
}

/// A bundle in the column headers.
struct Side {
    id: String,
    collected: Moment,
    subject: String,
    complete: bool,
}

impl Side {
    fn of(bundle: BundleRow) -> Side {
        Side {
            id: bundle.id,
            collected: Moment::of(bundle.collected_at),
            subject: sanitized(&bundle.overview.organization),
            complete: bundle.overview.complete,
        }
    }
}

/// The page.
///
/// # Errors
/// Fails with [`Error::Invalid`], [`Error::NotFound`], [`Error::Refused`], [`Error::Unavailable`]
/// or [`Error::Internal`].
pub async fn compare(
    State(app): State<App>,
    principal: Principal,
    mut parameters: Parameters,
) -> Result<Response, Error> {
    let missing = || Error::Invalid("choose two bundles, with the parameters `from` and `to`".into());
    let from = parameters.one("from")?.ok_or_else(missing)?;
    let to = parameters.one("to")?.ok_or_else(missing)?;
    parameters.end()?;
    let (Id(from), Id(to)) = (Id::parse(from)?, Id::parse(to)?);
    let from = app.service.bundle(&principal, &from).await?;
    let to = app.service.bundle(&principal, &to).await?;
    // One turn for both, so that no request holds one bundle in memory while it waits for the other.
    let viewer = app.service.viewer(&principal).await?;
    let before = viewer.rows(&principal, &from, Comparable::default()).await?.0;
    let after = viewer.rows(&principal, &to, Comparable::default()).await?.0;
    let frame = Frame::of(&principal);
    let work = move || {
        let comparison = evidence_view::compare((&from.overview, before), (&to.overview, after));
        page(StatusCode::OK, &ComparePage { frame, from: Side::of(from), to: Side::of(to), comparison })
    };
    viewer.work(work).await?
}
