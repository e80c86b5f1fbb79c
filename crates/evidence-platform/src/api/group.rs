//! Handlers for administrators of a group: the keys of the group.

use axum::Json as Answer;
use axum::extract::State;
use http::StatusCode;

use super::App;
use super::administration::time;
use super::input::{Id, Json};
use super::views::{KeyList, KeyView, NewKeyRequest, NewKeyView};
use crate::error::Error;
use crate::principal::Caller;
use crate::service::RequestId;

/// Make an API key of the group: it looks at every organization of the group. The answer is the only place where it is ever
/// shown.
#[utoipa::path(
    post, path = "/api/v1/group/keys", tag = "administration", request_body = NewKeyRequest,
    responses((status = 201, description = "Created", body = NewKeyView))
)]
pub async fn create_key(
    State(app): State<App>,
    caller: Caller,
    request_id: RequestId,
    Json(new): Json<NewKeyRequest>,
) -> Result<(StatusCode, Answer<NewKeyView>), Error> {
    let expires_at = time("expires_at", new.expires_at.as_deref())?;
    let key = app.service.create_group_key(&caller, &request_id, new.role, &new.name, expires_at).await?;
    Ok((StatusCode::CREATED, Answer(key.into())))
}

/// The API keys of the group, including revoked ones.
#[utoipa::path(
    get, path = "/api/v1/group/keys", tag = "administration", responses((status = 200, body = KeyList))
)]
pub async fn list_keys(State(app): State<App>, caller: Caller) -> Result<Answer<KeyList>, Error> {
    let keys = app.service.group_keys(&caller).await?;
    Ok(Answer(KeyList { items: keys.into_iter().map(KeyView::from).collect() }))
}

/// Revoke an API key of the group. This takes effect immediately.
#[utoipa::path(
    delete, path = "/api/v1/group/keys/{key_id}", tag = "administration",
    params(("key_id" = String, Path, description = "The name or the prefix of the key")),
    responses((status = 200, body = KeyView))
)]
pub async fn revoke_key(
    State(app): State<App>,
    caller: Caller,
    request_id: RequestId,
    Id(id): Id,
) -> Result<Answer<KeyView>, Error> {
    Ok(Answer(app.service.revoke_group_key(&caller, &request_id, &id).await?.into()))
}
