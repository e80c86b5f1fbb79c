//! Handlers for machines that look after the platform. They show nothing of any organization.

use axum::Json as Answer;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

use super::{App, openapi};
use crate::error::Error;

/// The description of this API.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "system",
    responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
pub async fn description() -> Answer<utoipa::openapi::OpenApi> {
    Answer(openapi::document())
}

/// The process runs.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// The database and the storage take writes.
pub async fn readyz(State(app): State<App>) -> Result<&'static str, Error> {
    app.service.ready().await.map(|()| "ready\n")
}

/// Numbers in Prometheus' text format.
pub async fn metrics(State(app): State<App>) -> Response {
    ([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], app.metrics.render()).into_response()
}
