//! The handler for every organization that a key reaches, with its newest state.

use axum::Json as Answer;
use axum::extract::State;
use evidence_bundle::Status;
use serde::Serialize;
use utoipa::ToSchema;

use super::App;
use super::status::OrganizationStatus;
use crate::error::Error;
use crate::principal::Caller;
use crate::service::MemberState;
use crate::store::BundleRow;

/// Every organization that the key reaches: the late ones first.
#[derive(Debug, Serialize, ToSchema)]
pub struct FleetView {
    /// The organizations.
    pub organizations: Vec<FleetOrganization>,
}

/// An organization and its newest state.
#[derive(Debug, Serialize, ToSchema)]
pub struct FleetOrganization {
    /// How fresh its evidence is.
    #[serde(flatten)]
    pub status: OrganizationStatus,
    /// How many bundles it has.
    pub bundles: u64,
    /// The newest bundle of each subject under each framework.
    pub latest: Vec<LatestView>,
}

/// The newest bundle of a subject under a framework.
#[derive(Debug, Serialize, ToSchema)]
pub struct LatestView {
    /// Its id.
    pub bundle_id: String,
    /// What it is about, as its manifest names it.
    pub subject: String,
    /// The framework.
    pub framework: String,
    /// When it was collected, as its signer claims (RFC 3339).
    pub collected_at: String,
    /// When it was stored here (RFC 3339).
    pub stored_at: String,
    /// Whether everything was read.
    pub complete: bool,
    /// The bundle before it, with which it is compared.
    pub previous_bundle_id: Option<String>,
    /// The controls; empty if the results have an unknown form.
    pub controls: Vec<ControlStateView>,
}

/// A control in the newest bundle.
#[derive(Debug, Serialize, ToSchema)]
pub struct ControlStateView {
    /// Its id.
    pub control: String,
    /// Its status.
    #[schema(value_type = String)]
    pub status: Status,
    /// Its status in the bundle before, if that has the control.
    #[schema(value_type = Option<String>)]
    pub previous_status: Option<Status>,
}

impl From<&(BundleRow, Option<BundleRow>)> for LatestView {
    fn from((bundle, before): &(BundleRow, Option<BundleRow>)) -> LatestView {
        let controls = |bundle: &BundleRow| {
            let judgement = bundle.overview.judgement.as_ref();
            judgement.map(|judgement| judgement.controls.clone()).unwrap_or_default()
        };
        let known = before.as_ref().map(controls).unwrap_or_default();
        let state = |control: evidence_view::ControlOverview| ControlStateView {
            previous_status: known.iter().find(|known| known.id == control.id).map(|known| known.status),
            control: control.id,
            status: control.status,
        };
        LatestView {
            bundle_id: bundle.id.clone(),
            subject: bundle.overview.organization.clone(),
            framework: bundle.overview.framework.clone(),
            collected_at: bundle.collected_at.to_string(),
            stored_at: bundle.uploaded_at.to_string(),
            complete: bundle.overview.complete,
            previous_bundle_id: before.as_ref().map(|before| before.id.clone()),
            controls: controls(bundle).into_iter().map(state).collect(),
        }
    }
}

/// Every organization that the key reaches, with the newest state of its controls: the late ones first. A key of a group
/// reaches all of the group, any other key its own.
#[utoipa::path(
    get, path = "/api/v1/organizations", tag = "bundles",
    responses((status = 200, body = FleetView))
)]
pub async fn organizations(State(app): State<App>, caller: Caller) -> Result<Answer<FleetView>, Error> {
    let view = |MemberState { slug, name, freshness, bundles, latest }: &MemberState| FleetOrganization {
        status: OrganizationStatus::new(slug, name, freshness),
        bundles: *bundles,
        latest: latest.iter().map(LatestView::from).collect(),
    };
    let organizations = app.service.fleet(&caller).await?.iter().map(view).collect();
    Ok(Answer(FleetView { organizations }))
}
