//! Whether evidence still arrives, for monitoring with a key.

use axum::Json as Answer;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use http::header::CONTENT_TYPE;
use prometheus_client::encoding::text;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::input::Parameters;
use crate::error::Error;
use crate::freshness::Freshness;
use crate::principal::Caller;
use crate::server::metrics::MEDIA_TYPE;
use crate::store::Held;

/// How fresh evidence is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct StatusView {
    /// The organizations that the key may see.
    pub organizations: Vec<OrganizationStatus>,
}

/// How fresh the evidence of an organization is.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct OrganizationStatus {
    /// Its short name.
    pub organization: String,
    /// Its name for people.
    pub name: String,
    /// Whether a bundle is overdue.
    pub late: bool,
    /// Since when (RFC 3339).
    pub late_since: Option<String>,
    /// The age of the newest bundle, by the older of the times at which it was collected and received.
    pub age_seconds: Option<u64>,
    /// That time (RFC 3339).
    pub newest_at: Option<String>,
    /// After how many hours a bundle is expected.
    pub expect_hours: Option<u32>,
}

impl OrganizationStatus {
    /// The status of an organization.
    pub fn new(slug: &str, name: &str, freshness: &Freshness) -> OrganizationStatus {
        let late_since = freshness.late_since();
        OrganizationStatus {
            organization: slug.to_owned(),
            name: name.to_owned(),
            late: late_since.is_some(),
            late_since: late_since.map(|time| time.to_string()),
            age_seconds: freshness.age_seconds(),
            newest_at: freshness.newest.map(|time| time.to_string()),
            expect_hours: freshness.expect_hours,
        }
    }
}

/// Whether a bundle is overdue, and how old the newest one is.
#[utoipa::path(
    get, path = "/api/v1/status", tag = "system",
    params(("max_age" = Option<u32>, Query, description = "Maximum age in seconds: answers 503 `late` if the newest bundle of an organization is older, or if there is none")),
    responses((status = 200, description = "Late or not", body = StatusView))
)]
pub async fn status(
    State(app): State<App>,
    caller: Caller,
    mut parameters: Parameters,
) -> Result<Answer<StatusView>, Error> {
    let max_age = parameters.integer("max_age")?;
    parameters.end()?;
    let held = app.service.held(&caller, max_age.map(u64::from)).await?;
    let status = |held: &Held| OrganizationStatus::new(&held.slug, &held.name, &held.freshness);
    Ok(Answer(StatusView { organizations: held.iter().map(status).collect() }))
}

/// Numbers of every organization that the key reaches, for Prometheus.
pub async fn metrics(State(app): State<App>, caller: Caller) -> Result<Response, Error> {
    let held = app.service.held(&caller, None).await?;
    let mut registry = Registry::with_prefix("evidence_platform");
    let mut family = |name: &str, help: &str| {
        let family = Family::<[(&'static str, String); 1], Gauge>::default();
        registry.register(name, help, family.clone());
        move |slug: &str, value: u64| {
            family
                .get_or_create(&[("organization", slug.to_owned())])
                .set(i64::try_from(value).unwrap_or(i64::MAX));
        }
    };
    let help = "Age of the newest bundle, by the older of the times at which it was collected and received";
    let age = family("newest_bundle_age_seconds", help);
    let late = family("bundle_late", "1 if a bundle is overdue, else 0");
    let damaged = family("damaged_bundles", "Bundles whose stored bytes are not what was accepted");
    for one in &held {
        let Held { slug, freshness, .. } = one;
        if let Some(seconds) = freshness.age_seconds() {
            age(slug, seconds);
        }
        late(slug, u64::from(freshness.late_since().is_some()));
        damaged(slug, app.service.damaged(one).await?);
    }
    let mut out = String::new();
    text::encode(&mut out, &registry).map_err(|error| Error::internal("the metrics", error))?;
    Ok(([(CONTENT_TYPE, MEDIA_TYPE)], out).into_response())
}
