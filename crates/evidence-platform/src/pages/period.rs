//! A period of the organization, and one control over it: the sentences, strips and figures of `evidence history`, and
//! when the platform stored each bundle.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_report::{ControlStrips, Failure, InputRow, Period as Shown};
use evidence_view::history::History;
use evidence_view::sanitized;
use http::StatusCode;

use super::page::{Frame, page};
use super::query::address;
use super::words::{self, Moment};
use crate::api::App;
use crate::api::input::Parameters;
use crate::api::period::request;
use crate::error::Error;
use crate::principal::Principal;
use crate::service::{Period, PeriodRequest};
use crate::store::SeriesName;
use crate::time::Time;

/// The parts of both pages that do not depend on what was found.
struct Form {
    from: String,
    to: String,
    /// The subjects and frameworks to choose from, if there are several.
    subjects: Vec<(String, bool)>,
    frameworks: Vec<(String, bool)>,
}

#[derive(Template)]
#[template(path = "period.html")]
struct PeriodPage<'a> {
    frame: Frame,
    form: Form,
    /// `None` without a bundle.
    shown: Option<Found<'a>>,
}

/// A period that has bundles.
struct Found<'a> {
    period: Shown<'a>,
    /// The parameters of this period in an address.
    pairs: Vec<(&'static str, String)>,
    /// The address of the page of a subject, up to its name.
    subject: String,
    bundles: Vec<Input>,
}

/// A bundle, and when it was stored.
struct Input {
    row: InputRow,
    stored: Option<Moment>,
    /// Whether that was more than a day after the time that its signer claims.
    late: bool,
}

#[derive(Template)]
#[template(path = "control.html")]
struct ControlPage<'a> {
    frame: Frame,
    /// `None` without a bundle, or without a control of this name.
    shown: Option<ControlFound<'a>>,
}

struct ControlFound<'a> {
    period: &'a Shown<'a>,
    control: &'a ControlStrips,
    failures: Vec<&'a Failure>,
    days: Days<'a>,
    period_address: String,
    subject: String,
    others: Vec<(String, String)>,
}

/// The id of the last bundle of each day.
pub(super) struct Days<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> Days<'a> {
    pub(super) fn of(history: &'a History) -> Days<'a> {
        let used = history.inputs.iter().filter(|input| !input.back_dated);
        let bundles = used.filter_map(|input| Some((input.created_at.get(..10)?, input.bundle_id.as_str())));
        Days(bundles.collect())
    }

    /// The id of the last bundle of this day.
    pub(super) fn bundle(&self, day: &str) -> Option<&'a str> {
        self.0.get(day).copied()
    }
}

impl Found<'_> {
    /// The address of the page of a control.
    fn control(&self, id: &str) -> String {
        let mut pairs = vec![("control", id.to_owned())];
        pairs.extend(self.pairs.iter().cloned());
        format!("/period/control{}", address(&pairs))
    }
}

impl ControlFound<'_> {
    /// The address of a rule's checks in the last bundle of a day.
    fn checks(&self, day: &str, rule: &str) -> Option<String> {
        let bundle = self.days.bundle(day)?;
        let pairs = [("control", self.control.id.clone()), ("rule", rule.to_owned())];
        Some(format!("/bundles/{bundle}/checks{}", address(&pairs)))
    }
}

/// The page of a period.
///
/// # Errors
/// Fails with [`Error::Invalid`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn period(
    State(app): State<App>,
    principal: Principal,
    mut parameters: Parameters,
) -> Result<Response, Error> {
    let asked = request(&mut parameters)?;
    parameters.end()?;
    let found = app.service.period(&principal, &asked).await?;
    let series = app.service.series(&principal).await?;
    let frame = Frame::of(&principal);
    // Rendering a year of days takes a while.
    let work = move || {
        let form = Form::of(&asked, found.as_ref().map(|found| &found.history), &series);
        let shown = found.as_ref().map(|found| shown(found, &series));
        page(StatusCode::OK, &PeriodPage { frame, form, shown })
    };
    tokio::task::spawn_blocking(work).await.map_err(Error::join)?
}

fn shown<'a>(found: &'a Period, series: &[SeriesName]) -> Found<'a> {
    let mut period = Shown::of(&found.history);
    let inputs = std::mem::take(&mut period.inputs);
    let input = |row: InputRow| {
        let created = Time::parse(&row.created_at);
        let stored = found.stored.get(&row.bundle_id).copied();
        let late = created.zip(stored).is_some_and(|(created, stored)| words::is_late(created, stored));
        Input { stored: stored.map(Moment::of), late, row }
    };
    let pairs = pairs(&found.history, series);
    Found {
        bundles: inputs.into_iter().map(input).collect(),
        subject: subject_address(&pairs),
        pairs,
        period,
    }
}

/// The address of the page of a subject, up to its name.
fn subject_address(pairs: &[(&'static str, String)]) -> String {
    let mut all = pairs.to_vec();
    all.push(("name", String::new()));
    format!("/period/subject{}", address(&all))
}

/// The parameters that name this period.
pub(super) fn pairs(history: &History, series: &[SeriesName]) -> Vec<(&'static str, String)> {
    let mut pairs = vec![("from", history.from.clone()), ("to", history.to.clone())];
    if series.len() > 1 {
        pairs.push(("subject", history.organization.clone()));
        pairs.push(("framework", history.framework.clone()));
    }
    pairs
}

impl Form {
    fn of(asked: &PeriodRequest, history: Option<&History>, series: &[SeriesName]) -> Form {
        let day =
            |asked: Option<String>, found: Option<&String>| asked.or(found.cloned()).unwrap_or_default();
        let chosen = |asked: Option<&str>, found: Option<&String>, all: BTreeSet<&str>| {
            let chosen = asked.or(found.map(String::as_str)).unwrap_or_default().to_owned();
            let is_chosen = |name: &str| name.eq_ignore_ascii_case(&chosen);
            let all: Vec<(String, bool)> =
                all.into_iter().map(|name| (name.to_owned(), is_chosen(name))).collect();
            if series.len() > 1 { all } else { Vec::new() }
        };
        let name = asked.series.as_ref();
        Form {
            from: day(asked.from.map(|day| day.to_string()), history.map(|history| &history.from)),
            to: day(asked.to.map(|day| day.to_string()), history.map(|history| &history.to)),
            subjects: chosen(
                name.map(|name| name.subject.as_str()),
                history.map(|history| &history.organization),
                series.iter().map(|name| name.subject.as_str()).collect(),
            ),
            frameworks: chosen(
                name.map(|name| name.framework.as_str()),
                history.map(|history| &history.framework),
                series.iter().map(|name| name.framework.as_str()).collect(),
            ),
        }
    }
}

/// The page of a control over a period; without a name, of its first control.
///
/// # Errors
/// Fails with [`Error::Invalid`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn control(
    State(app): State<App>,
    principal: Principal,
    mut parameters: Parameters,
) -> Result<Response, Error> {
    let name = parameters.one("control")?.filter(|name| !name.is_empty());
    let asked = request(&mut parameters)?;
    parameters.end()?;
    let found = app.service.period(&principal, &asked).await?;
    let series = app.service.series(&principal).await?;
    let frame = Frame::of(&principal);
    let work = move || {
        let period = found.as_ref().map(|found| Shown::of(&found.history));
        let shown = found.as_ref().zip(period.as_ref());
        let shown = shown.and_then(|(found, period)| one(found, period, name.as_deref(), &series));
        page(StatusCode::OK, &ControlPage { frame, shown })
    };
    tokio::task::spawn_blocking(work).await.map_err(Error::join)?
}

fn one<'a>(
    found: &'a Period,
    period: &'a Shown<'a>,
    name: Option<&str>,
    series: &[SeriesName],
) -> Option<ControlFound<'a>> {
    let history = &found.history;
    let is_meant = |control: &&ControlStrips| name.is_none_or(|name| control.id == sanitized(name));
    let control = period.controls.iter().find(is_meant)?;
    let pairs = pairs(history, series);
    let other = |other: &ControlStrips| {
        let mut all = vec![("control", other.id.clone())];
        all.extend(pairs.iter().cloned());
        (other.id.clone(), format!("/period/control{}", address(&all)))
    };
    Some(ControlFound {
        failures: period.listed.iter().filter(|failure| failure.control == control.id).collect(),
        days: Days::of(history),
        period_address: format!("/period{}", address(&pairs)),
        subject: subject_address(&pairs),
        others: period.controls.iter().filter(|known| known.id != control.id).map(other).collect(),
        period,
        control,
    })
}
