//! Handlers for admin keys: keys, trust, hold, retention, deletion, the audit log.

use axum::Json as Answer;
use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use futures_util::stream;
use http::StatusCode;
use http::header::{CONTENT_DISPOSITION, CONTENT_TYPE};

use super::App;
use super::bundles::page_request;
use super::input::{Id, Json, Parameters};
use super::views::{
    AuditList, AuditView, BundleView, ChangedTrust, KeyList, KeyView, LegalHold, NewKeyRequest, NewKeyView,
    NewTrustedKey, Retention, TrustRevocation, TrustValidity, TrustedKeyList, TrustedKeyView,
};
use crate::error::Error;
use crate::principal::Principal;
use crate::service::{Page, PageRequest, RequestId, Window};
use crate::store::AuditRecord;
use crate::time::Time;

/// Make an API key. The answer is the only place where it is ever shown.
#[utoipa::path(
    post, path = "/api/v1/keys", tag = "administration", request_body = NewKeyRequest,
    responses((status = 201, description = "Created", body = NewKeyView))
)]
pub async fn create_key(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Json(new): Json<NewKeyRequest>,
) -> Result<(StatusCode, Answer<NewKeyView>), Error> {
    let expires_at = time("expires_at", new.expires_at.as_deref())?;
    let key = app.service.create_key(&principal, &request_id, new.role, &new.name, expires_at).await?;
    Ok((StatusCode::CREATED, Answer(key.into())))
}

/// The API keys of the organization, including revoked ones.
#[utoipa::path(get, path = "/api/v1/keys", tag = "administration", responses((status = 200, body = KeyList)))]
pub async fn list_keys(State(app): State<App>, principal: Principal) -> Result<Answer<KeyList>, Error> {
    let keys = app.service.keys(&principal).await?;
    Ok(Answer(KeyList { items: keys.into_iter().map(KeyView::from).collect() }))
}

/// Revoke an API key. This takes effect immediately.
#[utoipa::path(
    delete, path = "/api/v1/keys/{key_id}", tag = "administration",
    params(("key_id" = String, Path, description = "The name or the prefix of the key")),
    responses((status = 200, body = KeyView))
)]
pub async fn revoke_key(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
) -> Result<Answer<KeyView>, Error> {
    Ok(Answer(app.service.revoke_key(&principal, &request_id, &id).await?.into()))
}

/// Trust a signing key.
#[utoipa::path(
    post, path = "/api/v1/trusted-keys", tag = "administration", request_body = NewTrustedKey,
    responses(
        (status = 201, description = "Trusted", body = TrustedKeyView),
        (status = 200, description = "Trusted already", body = TrustedKeyView),
    )
)]
pub async fn add_trusted_key(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Json(new): Json<NewTrustedKey>,
) -> Result<(StatusCode, Answer<TrustedKeyView>), Error> {
    let window = window(new.valid_from.as_deref(), new.valid_until.as_deref())?;
    let (row, added) = app
        .service
        .add_trusted_key_within(&principal, &request_id, &new.public_key, &new.name, window)
        .await?;
    let status = if added { StatusCode::CREATED } else { StatusCode::OK };
    Ok((status, Answer(row.into())))
}

/// The signing keys that the organization trusts.
#[utoipa::path(
    get, path = "/api/v1/trusted-keys", tag = "administration", responses((status = 200, body = TrustedKeyList))
)]
pub async fn list_trusted_keys(
    State(app): State<App>,
    principal: Principal,
) -> Result<Answer<TrustedKeyList>, Error> {
    let keys = app.service.trusted_keys(&principal).await?;
    Ok(Answer(TrustedKeyList { items: keys.into_iter().map(TrustedKeyView::from).collect() }))
}

/// Set the times of receipt between which a trusted key counts. Bundles that it signed stay verified if they were received
/// between them.
#[utoipa::path(
    put, path = "/api/v1/trusted-keys/{key_id}/validity", tag = "administration", request_body = TrustValidity,
    params(("key_id" = String, Path, description = "`sha256:` and 64 hex digits")),
    responses((status = 200, body = ChangedTrust))
)]
pub async fn set_trust_window(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
    Json(validity): Json<TrustValidity>,
) -> Result<Answer<ChangedTrust>, Error> {
    let window = window(validity.valid_from.as_deref(), validity.valid_until.as_deref())?;
    Ok(Answer(app.service.set_trust_window(&principal, &request_id, &id, window).await?.into()))
}

/// Revoke a trusted key. Bundles that were received earlier stay verified.
#[utoipa::path(
    put, path = "/api/v1/trusted-keys/{key_id}/revocation", tag = "administration", request_body = TrustRevocation,
    params(("key_id" = String, Path, description = "`sha256:` and 64 hex digits")),
    responses((status = 200, body = ChangedTrust))
)]
pub async fn revoke_trusted_key(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
    Json(revocation): Json<TrustRevocation>,
) -> Result<Answer<ChangedTrust>, Error> {
    let since = time("since", Some(&revocation.since))?.ok_or(Error::NotFound("time"))?;
    let changed =
        app.service.revoke_trusted_key(&principal, &request_id, &id, since, &revocation.reason).await?;
    Ok(Answer(changed.into()))
}

/// An optional time of a body.
pub(super) fn time(name: &str, text: Option<&str>) -> Result<Option<Time>, Error> {
    let read =
        |text| Time::parse(text).ok_or_else(|| Error::Invalid(format!("{name} must be an RFC 3339 time")));
    text.map(read).transpose()
}

fn window(from: Option<&str>, until: Option<&str>) -> Result<Window, Error> {
    Ok(Window { from: time("valid_from", from)?, until: time("valid_until", until)? })
}

/// Remove a signing key that was added by mistake. Bundles it signed stay stored and no longer verify.
#[utoipa::path(
    delete, path = "/api/v1/trusted-keys/{key_id}", tag = "administration",
    params(("key_id" = String, Path, description = "`sha256:` and 64 hex digits")),
    responses((status = 204, description = "No longer trusted"))
)]
pub async fn remove_trusted_key(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
) -> Result<StatusCode, Error> {
    app.service.remove_trusted_key(&principal, &request_id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Put a bundle under legal hold, or release it.
#[utoipa::path(
    put, path = "/api/v1/bundles/{bundle_id}/legal-hold", tag = "administration", request_body = LegalHold,
    params(("bundle_id" = String, Path, description = "The id of the bundle, from its manifest")),
    responses((status = 200, body = BundleView))
)]
pub async fn set_legal_hold(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
    Json(hold): Json<LegalHold>,
) -> Result<Answer<BundleView>, Error> {
    Ok(Answer(app.service.set_legal_hold(&principal, &request_id, &id, hold.legal_hold).await?.into()))
}

/// Keep a bundle longer.
#[utoipa::path(
    put, path = "/api/v1/bundles/{bundle_id}/retention", tag = "administration", request_body = Retention,
    params(("bundle_id" = String, Path, description = "The id of the bundle, from its manifest")),
    responses((status = 200, body = BundleView))
)]
pub async fn extend_retention(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
    Json(retention): Json<Retention>,
) -> Result<Answer<BundleView>, Error> {
    let until = Time::parse(&retention.retention_until);
    let until = until.ok_or_else(|| Error::Invalid("retention_until must be an RFC 3339 time".into()))?;
    Ok(Answer(app.service.extend_retention(&principal, &request_id, &id, until).await?.into()))
}

/// Delete a bundle whose retention has ended and that is not under legal hold.
#[utoipa::path(
    delete, path = "/api/v1/bundles/{bundle_id}", tag = "administration",
    params(("bundle_id" = String, Path, description = "The id of the bundle, from its manifest")),
    responses((status = 204, description = "Deleted"))
)]
pub async fn delete_bundle(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
) -> Result<StatusCode, Error> {
    app.service.delete_bundle(&principal, &request_id, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// How many records of an export to read at once.
const BATCH: u32 = 100;

/// A record of an export.
///
/// # Errors
/// Fails with [`Error::Internal`].
pub fn audit_line(record: AuditRecord) -> Result<String, Error> {
    let line = serde_json::to_string(&AuditView::from(record));
    let line = line.map_err(|error| Error::internal("a record could not be written", error))?;
    Ok(format!("{line}\n"))
}

/// The whole audit log, newest first: a record in each line.
#[utoipa::path(
    get, path = "/api/v1/audit-log.jsonl", tag = "administration",
    responses((status = 200, description = "JSON Lines", body = String, content_type = "application/jsonl"))
)]
pub async fn export_audit_log(State(app): State<App>, principal: Principal) -> Result<Response, Error> {
    let first = PageRequest::new(None, Some(BATCH))?;
    // The permission is checked before the answer begins.
    let page = app.service.audit_log(&principal, &first).await?;
    let pages = stream::unfold(Some(Ok(page)), move |page: Option<Result<Page<AuditRecord>, Error>>| {
        let (app, principal) = (app.clone(), principal.clone());
        async move {
            let page = match page? {
                Ok(page) => page,
                Err(error) => return Some((Err(std::io::Error::other(error)), None)),
            };
            let lines: Result<String, Error> = page.items.into_iter().map(audit_line).collect();
            let next = match page.next {
                Some(cursor) => Some(next_page(&app, &principal, &cursor).await),
                None => None,
            };
            Some((lines.map(Bytes::from).map_err(std::io::Error::other), next))
        }
    });
    let kind = [
        (CONTENT_TYPE, "application/jsonl"),
        (CONTENT_DISPOSITION, "attachment; filename=\"audit-log.jsonl\""),
    ];
    Ok((kind, Body::from_stream(pages)).into_response())
}

async fn next_page(app: &App, principal: &Principal, cursor: &str) -> Result<Page<AuditRecord>, Error> {
    app.service.audit_log(principal, &PageRequest::new(Some(cursor), Some(BATCH))?).await
}

/// The audit log, newest first.
#[utoipa::path(
    get, path = "/api/v1/audit-log", tag = "administration",
    params(
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Items on a page; 50 by default"),
    ),
    responses((status = 200, body = AuditList))
)]
pub async fn audit_log(
    State(app): State<App>,
    principal: Principal,
    parameters: Parameters,
) -> Result<Answer<AuditList>, Error> {
    let page = page_request(parameters)?;
    Ok(Answer(app.service.audit_log(&principal, &page).await?.into()))
}
