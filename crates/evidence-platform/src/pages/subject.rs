//! One subject of the checks, such as a repository, over a period: what each rule found about it, day by day.

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::Status;
use evidence_report::{ControlStrips, Failure, Period as Shown, Strip};
use evidence_view::history::History;
use evidence_view::sanitized;
use http::StatusCode;

use super::page::{Frame, page};
use super::period::{Days, pairs};
use super::query::address;
use crate::api::App;
use crate::api::input::Parameters;
use crate::api::period::request;
use crate::error::Error;
use crate::principal::Principal;
use crate::service::Period;
use crate::store::SeriesName;

/// The longest name.
const NAME_CHARACTERS: usize = 1_000;

#[derive(Template)]
#[template(path = "subject.html")]
struct SubjectPage<'a> {
    frame: Frame,
    name: String,
    /// `None` without a check about it in the period.
    shown: Option<Found<'a>>,
}

struct Found<'a> {
    history: &'a History,
    by_day: bool,
    cell: &'a str,
    controls: Vec<&'a ControlStrips>,
    failures: &'a [Failure],
    days: Days<'a>,
    /// How the subject itself came and went.
    population: Vec<String>,
    name: &'a str,
    period: String,
    /// The address of this page, up to the name.
    subject: String,
}

impl SubjectPage<'_> {
    /// Whether a rule never applied to the subject.
    fn is_idle(&self, found: &Found<'_>, control: &ControlStrips, strip: &Strip) -> bool {
        let mut rules = found.history.rules.iter().filter(|rule| {
            let named = [&rule.control, &rule.source, &rule.rule].map(|text| sanitized(text));
            named == [control.id.as_str(), &strip.source, &strip.code]
        });
        !rules.any(|rule| {
            let mut results = rule.days.iter().filter_map(|day| day.result);
            results.any(|result| result != Status::NotApplicable)
        })
    }
}

impl Found<'_> {
    /// The address of a rule's check of this subject in the last bundle of a day.
    fn checks(&self, day: &str, control: &str, rule: &str) -> Option<String> {
        let bundle = self.days.bundle(day)?;
        let pairs =
            [("control", control.to_owned()), ("rule", rule.to_owned()), ("search", self.name.to_owned())];
        Some(format!("/bundles/{bundle}/checks{}", address(&pairs)))
    }
}

/// The page.
///
/// # Errors
/// Fails with [`Error::Invalid`], [`Error::Unavailable`] or [`Error::Internal`].
pub async fn subject(
    State(app): State<App>,
    principal: Principal,
    mut parameters: Parameters,
) -> Result<Response, Error> {
    let name = parameters.one("name")?.filter(|name| !name.is_empty());
    let name = name.ok_or_else(|| Error::Invalid("choose a subject, with the parameter `name`".into()))?;
    if name.chars().count() > NAME_CHARACTERS {
        return Err(Error::Invalid(format!("name must have at most {NAME_CHARACTERS} characters")));
    }
    let mut asked = request(&mut parameters)?;
    parameters.end()?;
    asked.about = Some(name.clone());
    let found = app.service.period(&principal, &asked).await?;
    let series = app.service.series(&principal).await?;
    let frame = Frame::of(&principal);
    let work = move || {
        let period = found.as_ref().map(|found| Shown::of(&found.history));
        let shown = found.as_ref().zip(period.as_ref());
        let shown = shown.and_then(|(found, period)| one(found, period, &name, &series));
        page(StatusCode::OK, &SubjectPage { frame, name: sanitized(&name), shown })
    };
    tokio::task::spawn_blocking(work).await.map_err(Error::join)?
}

/// Without a rule that ever applied to the subject, there is nothing to show.
fn one<'a>(
    found: &'a Period,
    period: &'a Shown<'a>,
    name: &'a str,
    series: &[SeriesName],
) -> Option<Found<'a>> {
    let history = &found.history;
    let applies = |control: &str| {
        let mut rules = history.rules.iter().filter(|rule| sanitized(&rule.control) == control);
        rules.any(|rule| {
            let mut results = rule.days.iter().filter_map(|day| day.result);
            results.any(|result| result != Status::NotApplicable)
        })
    };
    let controls: Vec<&ControlStrips> =
        period.controls.iter().filter(|control| applies(&control.id)).collect();
    if controls.is_empty() {
        return None;
    }
    let pairs = pairs(history, series);
    let mut named = pairs.clone();
    named.push(("name", String::new()));
    let changed = |change: &evidence_view::history::PopulationChange| {
        let was = change.was.as_ref().map(|was| format!(", before {}", sanitized(was))).unwrap_or_default();
        format!("{}: {}{was}", change.date, change.change.replace('_', " "))
    };
    Some(Found {
        by_day: period.by_day,
        cell: period.cell,
        controls,
        failures: &period.listed,
        days: Days::of(history),
        population: history.population.iter().map(changed).collect(),
        name,
        period: format!("/period{}", address(&pairs)),
        subject: format!("/period/subject{}", address(&named)),
        history,
    })
}
