//! Handlers for holds by tag.

use axum::Json as Answer;
use axum::extract::State;
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::App;
use super::input::{Json, Parameters};
use crate::error::Error;
use crate::principal::Principal;
use crate::service::RequestId;
use crate::store::TagHold;

/// A tag that holds every bundle that has it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HoldView {
    /// The tag, `name=value`.
    pub tag: String,
    /// Why.
    pub reason: String,
    /// Since when (RFC 3339).
    pub created_at: String,
    /// How many bundles have the tag now.
    pub bundles: u64,
}

impl From<TagHold> for HoldView {
    fn from(hold: TagHold) -> HoldView {
        let TagHold { tag, reason, created_at, bundles } = hold;
        HoldView { tag, reason, created_at: created_at.to_string(), bundles }
    }
}

/// The tags that hold bundles of the organization.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
pub struct HoldList {
    /// The holds, by tag.
    pub items: Vec<HoldView>,
}

/// A tag that is to hold every bundle that has it.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct NewHold {
    /// The tag, `name=value`.
    #[schema(min_length = 2, max_length = 321, pattern = "^[A-Za-z0-9._/-]{1,64}=")]
    pub tag: String,
    /// Why, for the audit log.
    #[schema(min_length = 1, max_length = 200)]
    pub reason: String,
}

/// Hold every bundle that has a tag, now and later: none of them can be deleted.
#[utoipa::path(
    put, path = "/api/v1/holds", tag = "administration", request_body = NewHold,
    responses(
        (status = 201, description = "Held", body = HoldView),
        (status = 200, description = "Held already; the reason stays", body = HoldView),
    )
)]
pub async fn set(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Json(new): Json<NewHold>,
) -> Result<(StatusCode, Answer<HoldView>), Error> {
    let (hold, added) = app.service.hold_tag(&principal, &request_id, &new.tag, &new.reason).await?;
    let status = if added { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Answer(hold.into())))
}

/// The tags that hold bundles of the organization.
#[utoipa::path(get, path = "/api/v1/holds", tag = "administration", responses((status = 200, body = HoldList)))]
pub async fn list(State(app): State<App>, principal: Principal) -> Result<Answer<HoldList>, Error> {
    let holds = app.service.tag_holds(&principal).await?;
    Ok(Answer(HoldList { items: holds.into_iter().map(HoldView::from).collect() }))
}

/// End the hold of a tag.
#[utoipa::path(
    delete, path = "/api/v1/holds", tag = "administration",
    params(("tag" = String, Query, description = "The tag, `name=value`")),
    responses((status = 204, description = "No longer held by this tag"))
)]
pub async fn release(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    mut parameters: Parameters,
) -> Result<StatusCode, Error> {
    let tag =
        parameters.one("tag")?.ok_or_else(|| Error::Invalid("name a tag: ?tag=name=value".to_owned()))?;
    parameters.end()?;
    app.service.release_tag(&principal, &request_id, &tag).await?;
    Ok(StatusCode::NO_CONTENT)
}
