//! How a problem looks to a person: the form to sign in where nobody is signed in, else a page that says what to do.

use askama::Template;
use axum::response::Response;

use super::sign_in::SignIn;
use super::{Frame, page};
use crate::api::problem::{Kind, Unwritten};
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

/// The page of this problem. `path` is what was asked for, query included.
fn write(kind: Kind, error: Option<&Error>, path: &str, request_id: &str) -> Result<Response, Error> {
    if kind == Kind::Unauthenticated {
        return page(kind.status(), &SignIn::before(path, None));
    }
    let advice = match kind {
        Kind::NotFound => "Check the address. What other organizations have is not found either.",
        Kind::Forbidden => "Sign in with a key of another role.",
        Kind::Unavailable | Kind::Busy => "Try again in some seconds.",
        Kind::InvalidRequest => "Go back and try again.",
        Kind::BundleRefused => {
            "The stored bytes were changed after they were accepted. Tell the operator, and keep your own copy."
        }
        Kind::NewerVersion => "Tell the operator: this platform is older than the bundle.",
        _ => "If it stays so, tell the operator the number of the request.",
    };
    let detail = error.map_or_else(|| kind.title().to_owned(), ToString::to_string);
    page(
        kind.status(),
        &ProblemPage { frame: Frame::open(), title: kind.title(), detail, advice, request_id },
    )
}

/// Writes the body of a problem and its headers into an answer that has the status already.
pub(crate) fn write_into(problem: &Unwritten, response: &mut Response, path: &str, request_id: &str) {
    if problem.person
        && let Ok(page) = write(problem.kind, problem.error.as_deref(), path, request_id)
    {
        let (parts, body) = page.into_parts();
        response.headers_mut().extend(parts.headers);
        *response.body_mut() = body;
    } else {
        *response.body_mut() = problem.json(request_id);
    }
}
