//! Handlers for monitoring. They show no data of any organization.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::header::CONTENT_TYPE;

use super::App;
use crate::error::Error;
use crate::server::metrics::MEDIA_TYPE;

/// The description of this API.
#[utoipa::path(
    get, path = "/api/v1/openapi.json", tag = "system",
    responses((status = 200, description = "OpenAPI 3.1", body = Object))
)]
pub async fn description(State(app): State<App>) -> Response {
    ([(CONTENT_TYPE, "application/json")], app.description.to_string()).into_response()
}

/// Answers if the process runs.
pub async fn healthz() -> &'static str {
    "ok\n"
}

/// Answers whether the database and the storage accept writes.
pub async fn readyz(State(app): State<App>) -> Result<&'static str, Error> {
    app.service.ready().await.map(|()| "ready\n")
}

/// The counters for Prometheus.
pub async fn metrics(State(app): State<App>) -> Response {
    ([(CONTENT_TYPE, MEDIA_TYPE)], app.metrics.render()).into_response()
}
