//! Handlers for bundles: whoami, upload, verification, lists, downloads.

use std::collections::BTreeMap;

use axum::Json as Answer;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::{IntoResponse as _, Response};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use http::header::{CONTENT_DISPOSITION, CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderName, HeaderValue, StatusCode};

use super::App;
use super::filter::bundle_filter;
use super::input::{DRAIN_BYTES, Id, Parameters, content_digest, drain, waits};
use super::views::{BundleBytes, BundleList, BundleView, StoredView, VerificationView, WhoAmI};
use crate::error::Error;
use crate::principal::Principal;
use crate::service::{NewUpload, PageRequest, RequestId};

/// The organization and the role of the key, and the signing keys that the organization trusts.
#[utoipa::path(get, path = "/api/v1/whoami", tag = "bundles", responses((status = 200, body = WhoAmI)))]
pub async fn whoami(State(app): State<App>, principal: Principal) -> Result<Answer<WhoAmI>, Error> {
    let trusted_keys = app.service.trusted_key_ids(&principal).await?;
    Ok(Answer(WhoAmI::new(&principal, trusted_keys)))
}

/// Upload a bundle. It is stored only if a trusted key signed it. The same bytes are stored once.
#[utoipa::path(
    post, path = "/api/v1/bundles", tag = "bundles",
    params(
        ("Content-Digest" = String, Header, description = "`sha-256=:<base64>:` of the body (RFC 9530)"),
        ("tag" = Option<Vec<String>>, Query, description = "`name=value`, any number of times; ignored if the same bytes are stored already"),
        ("retention_days" = Option<u32>, Query, maximum = 36500, description = "How long to keep it, at least the platform's minimum; ignored if the same bytes are stored already"),
    ),
    request_body(content = BundleBytes, content_type = "application/gzip", description = "The bundle, a `.tar.gz`"),
    responses(
        (status = 201, description = "Stored", body = StoredView),
        (status = 200, description = "The same bytes are stored already", body = StoredView),
    )
)]
pub async fn upload(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    parameters: Parameters,
    request: Request,
) -> Response {
    let (parts, body) = request.into_parts();
    let mut body = body.into_data_stream();
    let limit = app.service.settings().patience.bytes;
    let announced =
        parts.headers.get(CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse::<u64>().ok());
    let asked = match announced {
        Some(length) if length > limit => Err(Error::TooLarge(limit)),
        _ => content_digest(&parts.headers).and_then(|digest| new_upload(digest, parameters)),
    };
    // Permission to send the body (`100 Continue`) is granted only if the body is wanted.
    let unsent = asked.is_err() && waits(&parts.headers);
    let outcome = match asked {
        Ok(new) => app.service.upload(&principal, &request_id, new, &mut body).await,
        Err(error) => Err(error),
    };
    app.metrics.upload(&outcome);
    match outcome {
        Ok(stored) => {
            let status = if stored.created { StatusCode::CREATED } else { StatusCode::OK };
            (status, Answer(StoredView::from(&stored))).into_response()
        }
        Err(error) => {
            if !unsent {
                drain(&mut body, DRAIN_BYTES).await;
            }
            error.into_response()
        }
    }
}

fn new_upload(digest: crate::id::BlobDigest, mut parameters: Parameters) -> Result<NewUpload, Error> {
    let mut tags = BTreeMap::new();
    for tag in parameters.all("tag") {
        let (name, value) =
            tag.split_once('=').ok_or_else(|| Error::Invalid("tag must be name=value".into()))?;
        if tags.insert(name.to_owned(), value.to_owned()).is_some() {
            return Err(Error::Invalid("a tag is given twice".into()));
        }
    }
    let retention_days = parameters.integer("retention_days")?;
    parameters.end()?;
    crate::service::check_tags(&tags)?;
    Ok(NewUpload { digest, tags, retention_days })
}

/// Read the stored bytes again and verify them with the keys that are trusted now.
#[utoipa::path(
    post, path = "/api/v1/bundles/{bundle_id}/verify", tag = "bundles",
    params(("bundle_id" = String, Path, description = "The id of the bundle, from its manifest")),
    responses((status = 200, body = VerificationView))
)]
pub async fn verify(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
) -> Result<Answer<VerificationView>, Error> {
    Ok(Answer(app.service.verify(&principal, &request_id, &id).await?.into()))
}

/// The bundles of the organization, the latest collected first.
#[utoipa::path(
    get, path = "/api/v1/bundles", tag = "bundles",
    params(
        ("cursor" = Option<String>, Query, description = "`next_cursor` of the previous page"),
        ("limit" = Option<u32>, Query, minimum = 1, maximum = 100, description = "Items on a page; 50 by default"),
        ("tag" = Option<Vec<String>>, Query, description = "`name=value`; all that are given must match"),
        ("status" = Option<String>, Query, description = "The status of the worst control, or of `control`: `pass`, `fail`, `not_verifiable` or `not_applicable`"),
        ("control" = Option<String>, Query, description = "The id of a control that the bundle has"),
        ("complete" = Option<bool>, Query, description = "Whether everything was read"),
        ("signer" = Option<String>, Query, description = "The id of the signing key, `sha256:` and 64 hex digits"),
        ("from" = Option<String>, Query, description = "Collected from this day or RFC 3339 time on"),
        ("to" = Option<String>, Query, description = "Collected until this day or RFC 3339 time"),
    ),
    responses((status = 200, body = BundleList))
)]
pub async fn list(
    State(app): State<App>,
    principal: Principal,
    mut parameters: Parameters,
) -> Result<Answer<BundleList>, Error> {
    let filter = bundle_filter(&mut parameters)?;
    let page = page_request(parameters)?;
    Ok(Answer(app.service.find_bundles(&principal, &filter, &page).await?.into()))
}

/// Reads the parameters of a list.
pub(crate) fn page_request(mut parameters: Parameters) -> Result<PageRequest, Error> {
    let page = PageRequest::new(parameters.one("cursor")?.as_deref(), parameters.integer("limit")?)?;
    parameters.end()?;
    Ok(page)
}

/// One bundle.
#[utoipa::path(
    get, path = "/api/v1/bundles/{bundle_id}", tag = "bundles",
    params(("bundle_id" = String, Path, description = "The id of the bundle, from its manifest")),
    responses((status = 200, body = BundleView))
)]
pub async fn get(
    State(app): State<App>,
    principal: Principal,
    Id(id): Id,
) -> Result<Answer<BundleView>, Error> {
    Ok(Answer(app.service.bundle(&principal, &id).await?.into()))
}

/// The bytes of a bundle, as they were uploaded.
#[utoipa::path(
    get, path = "/api/v1/bundles/{bundle_id}/download", tag = "bundles",
    params(("bundle_id" = String, Path, description = "The id of the bundle, from its manifest")),
    responses((status = 200, body = BundleBytes, content_type = "application/gzip",
        headers(("Content-Digest" = String, description = "`sha-256=:<base64>:` of the body"))))
)]
pub async fn download(
    State(app): State<App>,
    principal: Principal,
    request_id: RequestId,
    Id(id): Id,
) -> Result<Response, Error> {
    let download = app.service.download(&principal, &request_id, &id).await?;
    let mut response = Response::new(Body::from_stream(download.bytes));
    let header = |text: String| {
        HeaderValue::from_str(&text).map_err(|error| Error::internal("a header cannot be written", error))
    };
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/gzip"));
    headers.insert(CONTENT_LENGTH, HeaderValue::from(download.bundle.size_bytes));
    let digest = format!("sha-256=:{}:", STANDARD.encode(download.bundle.digest.0));
    headers.insert(HeaderName::from_static("content-digest"), header(digest)?);
    let name = format!("attachment; filename=\"{}\"", file_name(download.bundle.overview.created_at));
    headers.insert(CONTENT_DISPOSITION, header(name)?);
    Ok(response)
}

/// The file name that the tool uses for a bundle of this time.
pub(crate) fn file_name(created_at: i64) -> String {
    let text = evidence_bundle::time::format(created_at).unwrap_or_default();
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let (date, time) = digits.split_at_checked(8).unwrap_or(("", ""));
    format!("evidence-bundle-{date}-{time}.tar.gz")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_download_has_the_name_of_the_bundle() {
        assert_eq!(file_name(1_767_323_045), "evidence-bundle-20260102-030405.tar.gz");
    }
}
