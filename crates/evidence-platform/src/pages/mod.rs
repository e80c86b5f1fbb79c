//! The pages: the service for people with a browser, rendered here, usable without JavaScript.
//!
//! There is no script on any page, and the policy forbids every one, so that nothing that a bundle says can run.
//! Templates escape whatever they print. A page shows what the service gives to its principal and decides nothing.

pub mod artifacts;
pub mod bundle;
pub mod compare;
pub mod cookie;
mod picture;
pub mod problem;
mod reading;
pub mod sign_in;
pub mod style;
pub mod timeline;
mod words;

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use http::header::{CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::error::Error;
use crate::role::Principal;

/// Nothing but our own style and our own forms; nobody may frame a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// What surrounds every page.
struct Frame {
    /// Whose page it is; `None` where nobody is signed in.
    who: Option<Who>,
    /// The address of the style, which changes with its contents.
    style: &'static str,
}

/// Who is signed in.
struct Who {
    organization: String,
    key_prefix: String,
}

impl Frame {
    /// Of somebody who is signed in.
    fn of(principal: &Principal) -> Frame {
        let who =
            Who { organization: principal.name().to_owned(), key_prefix: principal.key_prefix().to_owned() };
        Frame { who: Some(who), style: style::address() }
    }

    /// Of nobody.
    fn open() -> Frame {
        Frame { who: None, style: style::address() }
    }
}

/// A page as an answer.
fn page(status: StatusCode, template: &impl Template) -> Result<Response, Error> {
    let html = template.render().map_err(|error| Error::internal("a page could not be written", error))?;
    let mut response = Response::new(Body::from(html));
    *response.status_mut() = status;
    dress(response.headers_mut());
    Ok(response)
}

/// The headers of every page.
fn dress(headers: &mut http::HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    let isolated = HeaderName::from_static("cross-origin-opener-policy");
    headers.insert(isolated, HeaderValue::from_static("same-origin"));
    // Another person with the same browser gets no page of the one before from its memory.
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(http::header::VARY, HeaderValue::from_static("Cookie"));
}
