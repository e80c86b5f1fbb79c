//! Common parts of all pages: frame, bounds, headers.

use std::convert::Infallible;
use std::fmt;

use askama::Template;
use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use evidence_bundle::text::Visible;
use futures_util::stream;
use http::header::{
    CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, WWW_AUTHENTICATE,
};
use http::{HeaderName, HeaderValue, StatusCode};

use crate::error::Error;
use crate::principal::{Caller, Principal};
use crate::role::Capability;

use super::style;
use super::words::Moment;

/// Only our own style and our own forms; no site may frame a page.
const POLICY: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; \
                      frame-ancestors 'none'; base-uri 'none'";

/// For a page that shows a report in a frame.
const FRAMING: &str = "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; frame-src 'self'; \
                       frame-ancestors 'none'; base-uri 'none'";
/// For a report in a frame: it has its own style, runs nothing, loads nothing, and belongs to no origin.
const FRAMED: &str = "sandbox; default-src 'none'; style-src 'unsafe-inline'; form-action 'none'; \
                      frame-ancestors 'self'; base-uri 'none'";

/// The frame of every page.
pub(super) struct Frame {
    /// Who is signed in.
    pub(super) who: Option<SignedIn>,
    /// The address of the style, which changes with its contents.
    pub(super) style: &'static str,
}

/// Who is signed in.
pub(super) struct SignedIn {
    pub(super) organization: String,
    pub(super) key_prefix: String,
    /// Whether the pages for administrators are open.
    pub(super) administers: bool,
    /// How fresh the evidence is.
    pub(super) fresh: Option<Fresh>,
    /// Whether the page with the keys of the group is open.
    pub(super) administers_group: bool,
    /// The name of the group whose key this is, to lead back to its page.
    pub(super) group: Option<String>,
    /// Whether an organization is open, so that its pages are.
    pub(super) entered: bool,
}

/// How fresh the evidence is.
pub(super) struct Fresh {
    pub(super) late_since: Option<Moment>,
    pub(super) words: String,
}

impl Frame {
    /// The frame for a principal.
    pub(super) fn of(principal: &Principal) -> Frame {
        let who = SignedIn {
            organization: principal.name().to_owned(),
            key_prefix: principal.key_prefix().to_owned(),
            administers: principal.role().may(Capability::Administer),
            fresh: principal.freshness().map(|freshness| Fresh {
                late_since: freshness.late_since().map(Moment::of),
                words: freshness.words(),
            }),
            administers_group: false,
            group: principal.group().map(str::to_owned),
            entered: true,
        };
        Frame { who: Some(who), style: style::address() }
    }

    /// The frame for a caller: the principal of an organization, or a group.
    pub(super) fn of_caller(caller: &Caller) -> Frame {
        let group = match caller {
            Caller::Organization(principal) => return Frame::of(principal),
            Caller::Group(group) => group,
        };
        let who = SignedIn {
            organization: group.name().to_owned(),
            key_prefix: group.key_prefix().to_owned(),
            administers: false,
            administers_group: caller.require(Capability::Administer).is_ok(),
            fresh: None,
            group: Some(group.name().to_owned()),
            entered: false,
        };
        Frame { who: Some(who), style: style::address() }
    }

    /// The frame without a principal.
    pub(super) fn open() -> Frame {
        Frame { who: None, style: style::address() }
    }
}

/// The most bytes of a page. A bundle can hold more than a person wants to read.
pub(super) const PAGE_BYTES: usize = 8 << 20;
/// How many bytes of a page to pass to the connection at once, so that the page keeps its share of the platform until
/// it is sent.
const CHUNK_BYTES: usize = 32 << 10;

#[derive(Template)]
#[template(path = "too_much.html")]
struct TooMuch {
    frame: Frame,
}

/// Renders a page as an answer.
pub(super) fn page(status: StatusCode, template: &impl Template) -> Result<Response, Error> {
    Ok(leadable(status, render(template)?, POLICY))
}

/// Renders a page that shows a report in a frame.
pub(super) fn framing(status: StatusCode, template: &impl Template) -> Result<Response, Error> {
    Ok(leadable(status, render(template)?, FRAMING))
}

/// The text of a page whose links can be led into an organization.
#[derive(Debug, Clone)]
struct Html(Bytes);

fn leadable(status: StatusCode, html: String, policy: &'static str) -> Response {
    let html = Bytes::from(html);
    let mut response = answer(status, html.clone(), policy);
    response.extensions_mut().insert(Html(html));
    response
}

/// What links of a page begin with. Templates escape quotation marks, so no text of a bundle has this form.
const LINKS: [&str; 3] = [" href=\"/", " action=\"/", " src=\"/"];
/// The addresses that belong to no organization.
const SHARED: [&str; 6] = ["assets/", "sign-in", "sign-out", "verify", "fleet", "organizations/"];

/// Leads the links of a page into an organization of the group that is signed in, whose pages have addresses below
/// `/organizations/<slug>`.
pub(crate) fn lead(mut response: Response, slug: &str) -> Response {
    let Some(Html(html)) = response.extensions_mut().remove() else { return response };
    let led = Bytes::from(led(&String::from_utf8_lossy(&html), slug));
    response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(led.len()));
    *response.body_mut() = body(led);
    response
}

fn led(html: &str, slug: &str) -> String {
    let mut led = String::with_capacity(html.len().saturating_add(html.len() / 16));
    let mut rest = html;
    loop {
        let next = LINKS.iter().filter_map(|link| Some((rest.find(link)?, link.len()))).min();
        let Some((at, length)) = next else { break };
        let (before, after) = rest.split_at(at.saturating_add(length));
        led.push_str(before);
        if !SHARED.iter().any(|shared| after.starts_with(shared)) {
            led.push_str("organizations/");
            led.push_str(slug);
            led.push('/');
        }
        rest = after;
    }
    led.push_str(rest);
    led
}

/// The answer for the frame.
pub(super) fn framed(html: String) -> Response {
    answer(StatusCode::OK, Bytes::from(html), FRAMED)
}

/// The only way from a template to a page: it has no deceptive character, whatever its texts hold.
fn render(template: &impl Template) -> Result<String, Error> {
    let mut html = Visible(Bounded(String::new()));
    if template.render_into(&mut html).is_err() {
        html.0.0.clear();
        let too_much = TooMuch { frame: Frame::open() };
        let written = too_much.render_into(&mut html);
        written.map_err(|error| Error::internal("a page could not be written", error))?;
    }
    Ok(html.0.0)
}

fn body(html: Bytes) -> Body {
    Body::from_stream(stream::unfold(html, |mut rest| async move {
        let chunk = rest.split_to(rest.len().min(CHUNK_BYTES));
        (!chunk.is_empty()).then_some((Ok::<_, Infallible>(chunk), rest))
    }))
}

fn answer(status: StatusCode, html: Bytes, policy: &'static str) -> Response {
    let length = html.len();
    let mut response = Response::new(body(html));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    dress(headers, policy);
    headers.insert(CONTENT_LENGTH, HeaderValue::from(length));
    if status == StatusCode::UNAUTHORIZED {
        headers.insert(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    response
}

/// A text with the size limit of a page.
struct Bounded(String);

impl fmt::Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if self.0.len().saturating_add(text.len()) > PAGE_BYTES {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }
}

/// Sets the headers of every page.
fn dress(headers: &mut http::HeaderMap, policy: &'static str) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
    headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    headers.insert(REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    let isolated = HeaderName::from_static("cross-origin-opener-policy");
    headers.insert(isolated, HeaderValue::from_static("same-origin"));
    // The browser must not show a page from its memory to the next person who uses it.
    headers.insert(http::header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    headers.insert(http::header::VARY, HeaderValue::from_static("Cookie"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_led_into_the_organization() {
        let page = "<a href=\"/bundles/x?a=b\">/bundles</a><form action=\"/compare\"><a href=\"#x\"><a href=\"/fleet\">\
                    <link href=\"/assets/style.css\"><a href=\"https://x/\"><iframe src=\"/bundles/x/report/frame\">";
        let expected = "<a href=\"/organizations/acme/bundles/x?a=b\">/bundles</a>\
                        <form action=\"/organizations/acme/compare\"><a href=\"#x\"><a href=\"/fleet\">\
                        <link href=\"/assets/style.css\"><a href=\"https://x/\">\
                        <iframe src=\"/organizations/acme/bundles/x/report/frame\">";
        assert_eq!(led(page, "acme"), expected);
    }
}
