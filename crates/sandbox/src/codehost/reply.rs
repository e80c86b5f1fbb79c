//! The answer of an endpoint, without the common headers.

use bytes::Bytes;
use hyper::header::{self, HeaderName};

/// The answer of an endpoint.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) body: Bytes,
    pub(super) content_type: &'static str,
    pub(super) headers: Vec<(HeaderName, String)>,
    /// The tag, if it does not derive from the body: a file's is its blob id.
    pub(super) tag: Option<String>,
    /// Whether it is large and likely to be requested again.
    pub(super) worth_keeping: bool,
    /// The media type header after `github.v3; `.
    pub(super) media: &'static str,
    /// Whether to add the limits' headers, if the host sends any.
    pub(super) rate_headers: bool,
}

/// The message for a feature that the plan does not include.
pub(super) const UPGRADE: &str =
    "Upgrade to GitHub Pro or make this repository public to enable this feature.";

pub(super) const JSON: &str = "application/json; charset=utf-8";

impl Reply {
    pub(super) fn json(body: impl Into<Bytes>) -> Self {
        Self {
            status: 200,
            body: body.into(),
            content_type: JSON,
            headers: Vec::new(),
            tag: None,
            worth_keeping: false,
            media: "format=json",
            rate_headers: true,
        }
    }

    /// An error in the host's form. The status in the body is a string.
    pub(super) fn error(status: u16, message: &str, documentation: &str) -> Self {
        let body = crate::json::object(|o| {
            o.str("message", message);
            o.str("documentation_url", documentation);
            o.str("status", &status.to_string());
        });
        Self { status, ..Self::json(body) }
    }

    /// Converts an error to the older form without a status.
    pub(super) fn without_status(&mut self) {
        let tail = format!(",\"status\":\"{}\"}}", self.status);
        if let Some(kept) = self.body.strip_suffix(tail.as_bytes()) {
            self.body = [kept, b"}"].concat().into();
        }
    }

    pub(super) fn not_found(documentation: &str) -> Self {
        Self::error(404, "Not Found", documentation)
    }

    pub(super) fn header(mut self, name: HeaderName, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    pub(super) fn moved(target: &str) -> Self {
        let reply = Self { status: 301, ..Self::json(moved_body(target)) };
        reply.header(header::LOCATION, target)
    }
}

/// The body of a redirect.
pub(crate) fn moved_body(target: &str) -> Vec<u8> {
    crate::json::object(|o| {
        o.str("message", "Moved Permanently");
        o.str("url", target);
        o.str("documentation_url", "https://docs.github.com/v3/#http-redirects");
    })
}

/// The documentation URLs of the endpoints, which errors contain.
pub(super) mod docs {
    pub(in crate::codehost) const REST: &str = "https://docs.github.com/rest";
    pub(in crate::codehost) const ORGANIZATION: &str =
        "https://docs.github.com/rest/orgs/orgs#get-an-organization";
    pub(in crate::codehost) const LISTING: &str =
        "https://docs.github.com/rest/repos/repos#list-organization-repositories";
    pub(in crate::codehost) const REPOSITORY: &str =
        "https://docs.github.com/rest/repos/repos#get-a-repository";
    pub(in crate::codehost) const CONTENTS: &str =
        "https://docs.github.com/rest/repos/contents#get-repository-content";
    pub(in crate::codehost) const INSTALLATION: &str =
        "https://docs.github.com/rest/apps/apps#get-an-organization-installation-for-the-authenticated-app";
    pub(in crate::codehost) const ACCESS_TOKENS: &str =
        "https://docs.github.com/rest/apps/apps#create-an-installation-access-token-for-an-app";
    pub(in crate::codehost) const USER: &str =
        "https://docs.github.com/rest/users/users#get-the-authenticated-user";
    pub(in crate::codehost) const RATE: &str =
        "https://docs.github.com/rest/rate-limit/rate-limit#get-rate-limit-status-for-the-authenticated-user";
    pub(in crate::codehost) const SSO: &str = "https://docs.github.com/articles/\
        authenticating-to-a-github-organization-with-saml-single-sign-on/";
}
