//! Versions of the API.

use super::reply::{Reply, docs};
use crate::json;
use crate::server::Call;

/// The API versions of the host: the default and the newest.
pub(super) const VERSIONS: [&str; 2] = ["2022-11-28", "2026-03-10"];

/// The requested API version, if the host has it.
pub(super) fn version(call: &Call) -> Result<&'static str, Reply> {
    let Some(wanted) = call.header("x-github-api-version") else { return Ok(VERSIONS[0]) };
    VERSIONS.into_iter().find(|known| *known == wanted).ok_or_else(|| {
        let body = json::object(|o| {
            o.str("message", "Bad Request");
            o.str(
                "errors",
                &format!(
                    "The version you specified in the \"X-GitHub-API-Version\" request header, \"{wanted}\", is not a \
                     supported version. The following versions are currently supported: \"2026-03-10\" (most recent), \
                     \"2022-11-28\".\n"
                ),
            );
            o.str("documentation_url", docs::REST);
        });
        Reply { status: 400, ..Reply::json(body) }
    })
}
