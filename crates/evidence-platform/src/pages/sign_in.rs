//! Signing in with an API key, and signing out.

use askama::Template;
use axum::extract::{Request, State};
use axum::response::Response;
use http::header::{LOCATION, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};

use super::cookie;
use super::page::{Frame, page};
use crate::api::App;
use crate::api::input::{Form, Parameters};
use crate::error::Error;
use crate::server::client::Client;
use crate::service::{Attempt, RequestId};

/// The page after signing in, unless another was requested.
const HOME: &str = "/bundles";

/// The form.
#[derive(Template)]
#[template(path = "sign_in.html")]
pub(super) struct SignIn {
    pub(super) frame: Frame,
    /// The requested page.
    pub(super) next: String,
    /// Why a sign-in attempt failed.
    pub(super) problem: Option<String>,
}

impl SignIn {
    /// The form before a requested page.
    pub(super) fn before(next: &str, problem: Option<String>) -> SignIn {
        SignIn { frame: Frame::open(), next: own(next).to_owned(), problem }
    }
}

/// The form.
///
/// # Errors
/// Fails with [`Error::Internal`].
pub async fn form(parameters: Parameters) -> Result<Response, Error> {
    let mut parameters = parameters;
    let next = parameters.one("next")?.unwrap_or_default();
    parameters.end()?;
    page(StatusCode::OK, &SignIn::before(&next, None))
}

/// Begins a session and redirects to the requested page.
///
/// # Errors
/// Fails with [`Error::Invalid`], [`Error::Unavailable`] or [`Error::Internal`]. A key that is not valid gets the
/// form again.
pub async fn sign_in(
    State(app): State<App>,
    request_id: RequestId,
    Client(address): Client,
    request: Request,
) -> Result<Response, Error> {
    let own_form = cookie::is_own_form(request.headers());
    let before = cookie::token(request.headers(), app.secure_cookies).map(str::to_owned);
    let mut form = Form::read(request).await?;
    if !own_form {
        return Err(Error::Invalid("the form was sent from another site".into()));
    }
    let key = form.0.one("key")?.unwrap_or_default();
    let next = form.0.one("next")?.unwrap_or_default();
    form.0.end()?;
    let refused = match app.service.sign_in(&request_id, key.trim()).await {
        Ok(token) => {
            // Without its cookie, the previous session could not be ended later.
            if let Some(before) = before {
                end(&app, &request_id, &before).await?;
            }
            let mut response = go(own(&next))?;
            response.headers_mut().insert(SET_COOKIE, cookie::set(token.reveal(), app.secure_cookies)?);
            return Ok(response);
        }
        Err(error @ (Error::Unauthenticated | Error::Forbidden { .. })) => error,
        Err(error) => return Err(error),
    };
    app.service.refused(Attempt::SignIn, &request_id, address, key.trim()).await;
    let (status, problem) = match refused {
        Error::Forbidden { role, .. } => (
            StatusCode::FORBIDDEN,
            format!(
                "This key has the role {role}, which cannot read bundles. Use a key with the role read or admin."
            ),
        ),
        _ => (
            StatusCode::UNAUTHORIZED,
            "No such key, or it was revoked or has ended. Keys begin with evp_ and are shown only once, when they are created."
                .to_owned(),
        ),
    };
    page(status, &SignIn::before(&next, Some(problem)))
}

/// Ends the session.
///
/// # Errors
/// Fails with [`Error::Invalid`] or [`Error::Unavailable`].
pub async fn sign_out(
    State(app): State<App>,
    request_id: RequestId,
    headers: HeaderMap,
) -> Result<Response, Error> {
    if !cookie::is_own_form(&headers) {
        return Err(Error::Invalid("the form was sent from another site".into()));
    }
    if let Some(token) = cookie::token(&headers, app.secure_cookies) {
        end(&app, &request_id, token).await?;
    }
    let mut response = go("/sign-in")?;
    response.headers_mut().insert(SET_COOKIE, cookie::remove(app.secure_cookies)?);
    Ok(response)
}

async fn end(app: &App, request_id: &RequestId, token: &str) -> Result<(), Error> {
    match app.service.sign_out(request_id, token).await {
        // The session has already expired, which has the same effect.
        Ok(()) | Err(Error::Unauthenticated) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Redirects to the bundles.
///
/// # Errors
/// Never fails in practice.
pub async fn home() -> Result<Response, Error> {
    go(HOME)
}

/// 303, so that the browser requests the next page with GET.
fn go(path: &str) -> Result<Response, Error> {
    let mut response = Response::default();
    *response.status_mut() = StatusCode::SEE_OTHER;
    let location = HeaderValue::from_str(path)
        .map_err(|error| Error::internal("an address cannot be written", error))?;
    response.headers_mut().insert(LOCATION, location);
    Ok(response)
}

/// The requested page, if it is on this site: a link to this site never leads to another.
fn own(next: &str) -> &str {
    let plain = |byte: u8| byte.is_ascii_graphic() && byte != b'\\';
    let path = next.strip_prefix('/').is_some_and(|rest| !rest.starts_with('/'));
    if path && next.len() <= 2_000 && next.bytes().all(plain) { next } else { HOME }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_never_leads_elsewhere() {
        for next in ["/bundles", "/bundles/x?y=z", "/compare?from=a&to=b"] {
            assert_eq!(own(next), next);
        }
        let long = format!("/{}", "a".repeat(2_000));
        for next in
            ["", "bundles", "//evil.example", "/\\evil.example", "https://evil.example", "/a b", "/\n", &long]
        {
            assert_eq!(own(next), HOME, "{next:?}");
        }
    }
}
