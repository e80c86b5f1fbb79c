//! The verifier page, without a session. It is the same file that the tool writes.

use axum::response::{IntoResponse as _, Response};
use http::HeaderName;
use http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};

use crate::error::Error;

/// The page has its own policy, which forbids every connection; no site may frame it.
const POLICY: &str = "frame-ancestors 'none'";

/// Serves the page. Not found if the platform was built without it.
pub async fn verifier() -> Result<Response, Error> {
    let page = verifier_page::page().ok_or(Error::NotFound("page"))?;
    let headers = [
        (CONTENT_TYPE, "text/html; charset=utf-8"),
        (CONTENT_SECURITY_POLICY, POLICY),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        // Another version of the platform has another page.
        (CACHE_CONTROL, "no-cache"),
    ];
    Ok((headers, page).into_response())
}
