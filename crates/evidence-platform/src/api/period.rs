//! The handler for the period of an organization.

use std::collections::BTreeMap;

use axum::Json as Answer;
use axum::extract::State;
use evidence_view::history::{Day, History};
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::input::Parameters;
use crate::error::Error;
use crate::principal::Principal;
use crate::service::PeriodRequest;
use crate::store::SeriesName;
use crate::time::Time;

/// A period: what `evidence history --json` prints for the same bundles, and when they were stored here.
#[derive(Debug, Serialize, ToSchema)]
pub struct PeriodView {
    /// What the bundles show.
    #[serde(flatten)]
    pub history: History,
    /// When each bundle of `inputs` was stored here, in the same order.
    pub stored: Vec<StoredAtView>,
}

/// When a bundle was stored.
#[derive(Debug, Serialize, ToSchema)]
pub struct StoredAtView {
    /// The id of the bundle.
    pub bundle_id: String,
    /// When it was stored here (RFC 3339).
    pub stored_at: String,
}

impl PeriodView {
    fn new(history: History, stored: &BTreeMap<String, Time>) -> PeriodView {
        let at = |bundle_id: &String| StoredAtView {
            bundle_id: bundle_id.clone(),
            stored_at: stored.get(bundle_id).map(ToString::to_string).unwrap_or_default(),
        };
        PeriodView { stored: history.inputs.iter().map(|input| at(&input.bundle_id)).collect(), history }
    }
}

/// A period of the organization, folded from the stored bundles that this platform has verified. The figures are those
/// of `evidence history` for the same bundles and days.
#[utoipa::path(
    get, path = "/api/v1/period", tag = "bundles",
    params(
        ("from" = Option<String>, Query, description = "The first day, `YYYY-MM-DD` in UTC; by default, that of the first bundle in the 365 days that end with `to`"),
        ("to" = Option<String>, Query, description = "The last day, `YYYY-MM-DD` in UTC; by default, that of the newest bundle"),
        ("subject" = Option<String>, Query, description = "The subject; by default, that of the newest bundle. Needs `framework`"),
        ("framework" = Option<String>, Query, description = "The framework. Needs `subject`"),
        ("ignore_waivers" = Option<bool>, Query, description = "`true` shows the failures as if there were no waivers"),
    ),
    responses((status = 200, body = PeriodView))
)]
pub async fn period(
    State(app): State<App>,
    principal: Principal,
    mut parameters: Parameters,
) -> Result<Answer<PeriodView>, Error> {
    let ignores = match parameters.one("ignore_waivers")?.as_deref() {
        None | Some("false") => false,
        Some("true") => true,
        Some(_) => return Err(Error::Invalid("ignore_waivers must be true or false".into())),
    };
    let request = request(&mut parameters)?;
    parameters.end()?;
    let period = app.service.period(&principal, &request).await?;
    let period = period.ok_or_else(|| Error::Invalid("no verified bundle in the period".into()))?;
    let history = period.history.clone();
    let history = if ignores { history.without_waivers() } else { history };
    Ok(Answer(PeriodView::new(history, &period.stored)))
}

/// Takes the parameters that say which period is wanted.
pub(crate) fn request(parameters: &mut Parameters) -> Result<PeriodRequest, Error> {
    let (from, to) = (day(parameters, "from")?, day(parameters, "to")?);
    let mut name = |name| parameters.one(name).map(|text| text.filter(|text| !text.is_empty()));
    let series = match (name("subject")?, name("framework")?) {
        (None, None) => None,
        (Some(subject), Some(framework)) => Some(SeriesName { subject, framework }),
        (_, _) => return Err(Error::Invalid("name both `subject` and `framework`, or neither".into())),
    };
    Ok(PeriodRequest { from, to, series, about: None })
}

fn day(parameters: &mut Parameters, name: &str) -> Result<Option<Day>, Error> {
    let text = parameters.one(name)?.filter(|text| !text.is_empty());
    let day = |text: String| {
        // Years with more digits have no place in a table.
        let day = Day::parse(&text).filter(|day| day.to_string() == text);
        day.ok_or_else(|| Error::Invalid(format!("{name} is not a day; write it as 2026-01-31")))
    };
    text.map(day).transpose()
}
