//! The style and icon of the pages, served under an address that changes with their contents.

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::Uri;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use sha2::{Digest as _, Sha256};

const STYLE: &str = include_str!("style.css");
const ICON: &str = include_str!("icon.svg");
/// The address changes with the contents, so a browser need not ask again.
const FOREVER: &str = "public, max-age=31536000, immutable";

static ADDRESS: LazyLock<String> = LazyLock::new(|| {
    let digest = hex::encode(Sha256::digest(STYLE));
    format!("/assets/style.css?{}", digest.get(..16).unwrap_or_default())
});

/// The address of the style.
pub(super) fn address() -> &'static str {
    &ADDRESS
}

/// Serves the style. At the address of other contents, which an instance of another version links to, it is not
/// cached.
pub async fn style(uri: Uri) -> Response {
    let current = uri.path_and_query().is_some_and(|asked| asked.as_str() == address());
    let keep = if current { FOREVER } else { "no-cache" };
    ([(CONTENT_TYPE, "text/css; charset=utf-8"), (CACHE_CONTROL, keep)], STYLE).into_response()
}

/// The icon.
pub async fn icon() -> Response {
    ([(CONTENT_TYPE, "image/svg+xml"), (CACHE_CONTROL, "public, max-age=86400")], ICON).into_response()
}
