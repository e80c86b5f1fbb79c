//! Every organization of a group on one page.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::Status;
use evidence_view::sanitized;
use http::StatusCode;

use super::page::{Frame, page};
use super::state::ControlState;
use super::words::{self, Moment};
use crate::api::App;
use crate::error::Error;
use crate::freshness::duration;
use crate::principal::Caller;
use crate::service::MemberState;
use crate::store::BundleRow;

/// The most controls of a bundle that a row names.
const CONTROLS: usize = 16;
/// The most changes that a row names.
const CHANGES: usize = 6;

#[derive(Template)]
#[template(path = "fleet.html")]
struct Fleet {
    frame: Frame,
    name: String,
    slug: String,
    size: String,
    /// How many organizations are late, lack something, fail, or have no bundle.
    counts: Vec<(&'static str, &'static str, String)>,
    organizations: Vec<Row>,
}

struct Row {
    slug: String,
    name: String,
    /// Since when a bundle is overdue.
    late: Option<Moment>,
    /// The age of the newest bundle.
    age: Option<String>,
    expected: Option<u32>,
    bundles: String,
    states: Vec<Newest>,
}

/// The newest state of a subject under a framework.
struct Newest {
    id: String,
    subject: String,
    framework: String,
    collected: Moment,
    completeness: (&'static str, &'static str, &'static str),
    /// `None` if the results have an unknown form.
    controls: Option<Vec<ControlState>>,
    more_controls: Option<String>,
    changes: Changes,
}

/// What changed since the bundle before.
enum Changes {
    /// It is the first bundle.
    First,
    Compared {
        before: String,
        changed: Vec<(String, Option<Status>, Status)>,
        more: usize,
        counts: bool,
    },
}

/// The page.
///
/// # Errors
/// Fails with [`Error::Unavailable`] or [`Error::Internal`].
pub async fn fleet(State(app): State<App>, caller: Caller) -> Result<Response, Error> {
    let Caller::Group(group) = &caller else {
        return Err(Error::Elsewhere("this page is for keys of a group of organizations".to_owned()));
    };
    let (name, slug) = (group.name().to_owned(), group.slug().to_owned());
    let members = app.service.fleet(&caller).await?;
    let frame = Frame::of_caller(&caller);
    let work = move || {
        let counts = counts(&members);
        let size = words::counted(u64::try_from(members.len()).unwrap_or(u64::MAX), "organization");
        let organizations = members.into_iter().map(row).collect();
        page(StatusCode::OK, &Fleet { frame, name, slug, size, counts, organizations })
    };
    tokio::task::spawn_blocking(work).await.map_err(Error::join)?
}

fn counts(members: &[MemberState]) -> Vec<(&'static str, &'static str, String)> {
    let newest =
        |member: &MemberState, is: fn(&BundleRow) -> bool| member.latest.iter().any(|(newest, _)| is(newest));
    let fails = |bundle: &BundleRow| {
        let judgement = bundle.overview.judgement.as_ref();
        judgement
            .is_some_and(|judgement| judgement.controls.iter().any(|control| control.status == Status::Fail))
    };
    let count = |is: &dyn Fn(&MemberState) -> bool| members.iter().filter(|member| is(member)).count();
    let counted = [
        ("fail", "✕", count(&|member| member.freshness.late_since().is_some()), "late"),
        ("fail", "✕", count(&|member| newest(member, fails)), "with failing controls"),
        ("warn", "△", count(&|member| newest(member, |bundle| !bundle.overview.complete)), "incomplete"),
        ("not_applicable", "–", count(&|member| member.latest.is_empty()), "without a bundle"),
    ];
    let shown = counted.into_iter().filter(|(_, _, count, _)| *count > 0);
    shown.map(|(class, sign, count, what)| (class, sign, format!("{count} {what}"))).collect()
}

fn row(member: MemberState) -> Row {
    let MemberState { slug, name, freshness, bundles, latest } = member;
    Row {
        slug,
        name: sanitized(&name),
        late: freshness.late_since().map(Moment::of),
        age: freshness.age_seconds().map(duration),
        expected: freshness.expect_hours,
        bundles: words::counted(bundles, "bundle"),
        states: latest.into_iter().map(state).collect(),
    }
}

fn state((bundle, before): (BundleRow, Option<BundleRow>)) -> Newest {
    let mut controls = ControlState::all(&bundle.overview, before.as_ref().map(|before| &before.overview));
    let changes = match &before {
        None => Changes::First,
        Some(before) => {
            let all = controls.iter().flatten();
            let counts = all.clone().any(|control| control.was.is_none() && control.changed());
            let turned = all.filter(|control| control.was.is_some() || control.is_new);
            let mut changed: Vec<_> =
                turned.map(|control| (control.id.clone(), control.was, control.status)).collect();
            let more = changed.len().saturating_sub(CHANGES);
            changed.truncate(CHANGES);
            Changes::Compared { before: before.id.clone(), changed, more, counts }
        }
    };
    // What needs attention first, so that it is among those that fit.
    let urgency = |status: Status| Status::BY_URGENCY.iter().position(|known| *known == status);
    let mut more_controls = None;
    if let Some(controls) = &mut controls {
        controls.sort_by_key(|control| urgency(control.status));
        let more = controls.len().saturating_sub(CONTROLS);
        more_controls = (more > 0).then(|| format!("and {more} more"));
        controls.truncate(CONTROLS);
    }
    Newest {
        subject: sanitized(&bundle.overview.organization),
        framework: sanitized(&bundle.overview.framework),
        collected: Moment::of(bundle.collected_at),
        completeness: words::completeness(&bundle.overview),
        id: bundle.id,
        controls,
        more_controls,
        changes,
    }
}
