//! Problems as pages: the sign-in form if that helps, else a description and advice.

use askama::Template;
use axum::response::Response;

use super::page::{Frame, page};
use super::sign_in::SignIn;
use crate::api::problem::{PendingProblem, ProblemKind};
use crate::error::Error;

#[derive(Template)]
#[template(path = "problem.html")]
struct ProblemPage<'a> {
    frame: Frame,
    title: &'static str,
    detail: String,
    advice: &'static str,
    request_id: &'a str,
}

/// The page of this problem. `path` is the requested path, query included.
fn write(problem: &PendingProblem, path: &str, request_id: &str) -> Result<Response, Error> {
    let kind = problem.kind;
    if kind == ProblemKind::Unauthenticated {
        return page(kind.status(), &SignIn::before(path, None));
    }
    let advice = match kind {
        ProblemKind::NotFound => "Check the address. Bundles of other organizations are not found either.",
        ProblemKind::Forbidden => "Sign in with a key that has another role.",
        ProblemKind::Unavailable | ProblemKind::Busy => "Try again in a few seconds.",
        ProblemKind::InvalidRequest => "Go back and try again.",
        ProblemKind::BundleRefused => {
            "The stored bytes were changed after they were accepted. Inform the operator, and keep your own copy."
        }
        ProblemKind::NewerVersion => "Inform the operator: this platform is older than the bundle.",
        _ => "If this continues, send the request id below to the operator.",
    };
    let detail = problem.detail();
    let frame = problem.who.as_deref().map_or_else(Frame::open, Frame::of_caller);
    page(kind.status(), &ProblemPage { frame, title: kind.title(), detail, advice, request_id })
}

/// Writes the body and the headers of a problem into an answer that already has the status.
pub(crate) fn write_into(problem: &PendingProblem, response: &mut Response, path: &str, request_id: &str) {
    if problem.person
        && let Ok(page) = write(problem, path, request_id)
    {
        let (parts, body) = page.into_parts();
        response.headers_mut().extend(parts.headers);
        response.extensions_mut().extend(parts.extensions);
        *response.body_mut() = body;
    } else {
        *response.body_mut() = problem.json(request_id);
    }
}
