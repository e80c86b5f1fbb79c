//! The access check before every handler, as the table of routes requires it.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::HeaderMap;
use http::header::AUTHORIZATION;
use http::request::Parts;

use super::App;
use super::input::{DRAIN_BYTES, refuse};
use super::problem::for_people;
use crate::error::Error;
use crate::pages::cookie;
use crate::principal::Principal;
use crate::role::Capability;
use crate::server::client::Client;
use crate::server::connections::Connection;
use crate::server::observe::KeyPrefix;
use crate::service::{Attempt, RequestId};

/// What a route requires of its caller. Every route has one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Nothing: the route shows no data of any organization.
    Open,
    /// An API key whose role has this capability.
    Needs(Capability),
    /// A session of a key whose role has this capability. Without one, the answer is the sign-in form.
    Page(Capability),
    /// Nothing, and problems are HTML pages: the sign-in form and its target.
    OpenPage,
}

/// Passes a request on to its handler, with its principal, or answers it.
pub(super) async fn check(
    State((app, access)): State<(App, Access)>,
    request: Request,
    next: Next,
) -> Response {
    match access {
        Access::Open => next.run(request).await,
        Access::OpenPage => for_people(next.run(request).await, None),
        Access::Needs(capability) => {
            let key = bearer(request.headers());
            let who = match key {
                Some(key) => app.service.authenticate(key).await,
                None => Err(Error::Unauthenticated),
            };
            // A request without credentials is not an attempt.
            if let (Err(Error::Unauthenticated), true) = (&who, request.headers().contains_key(AUTHORIZATION))
                && let Some(request_id) = request.extensions().get::<RequestId>().cloned()
                && let Some(Client(address)) = request.extensions().get().copied()
            {
                app.service.refused(Attempt::Key, &request_id, address, key.unwrap_or_default()).await;
            }
            admit(who, capability, request, next).await
        }
        Access::Page(capability) => {
            let who = match cookie::token(request.headers(), app.secure_cookies) {
                Some(token) => app.service.session(token).await,
                None => Err(Error::Unauthenticated),
            };
            // A page takes a share of the platform until its last byte is sent.
            let share = who.as_ref().map(|principal| app.service.page_share(principal));
            let (who, share) = match share {
                Ok(Ok(share)) => (who, Some(share)),
                Ok(Err(error)) => (Err(error), None),
                Err(_) => (who, None),
            };
            let signed_in = who.as_ref().ok().cloned();
            let mut response = for_people(admit(who, capability, request, next).await, signed_in);
            if let Some(share) = share {
                response.extensions_mut().insert(Arc::new(share));
            }
            response
        }
    }
}

async fn admit(
    who: Result<Principal, Error>,
    capability: Capability,
    mut request: Request,
    next: Next,
) -> Response {
    let allowed = who.and_then(|principal| principal.require(capability).map(|()| principal));
    match allowed {
        Ok(principal) => {
            if let Some(who) = request.extensions().get::<KeyPrefix>() {
                who.is(&principal);
            }
            // From here to the last byte of the answer, this connection cannot be evicted.
            let active = request.extensions().get::<Arc<Connection>>().map(|came_by| came_by.activate());
            request.extensions_mut().insert(principal);
            let mut response = next.run(request).await;
            if let Some(active) = active {
                response.extensions_mut().insert(active);
            }
            response
        }
        Err(error) => {
            refuse(request, DRAIN_BYTES).await;
            error.into_response()
        }
    }
}

/// The credentials of `Authorization: Bearer ...` (RFC 6750, section 2.1), if there is exactly one.
fn bearer(headers: &HeaderMap) -> Option<&str> {
    let mut values = headers.get_all(AUTHORIZATION).iter();
    let (value, None) = (values.next()?, values.next()) else { return None };
    let (scheme, credentials) = value.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(credentials)
}

impl<S: Send + Sync> FromRequestParts<S> for Principal {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Principal, Error> {
        let missing = Error::Internal("a handler asks for a principal on a route that is open", None);
        parts.extensions.get().cloned().ok_or(missing)
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestId {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<RequestId, Error> {
        parts.extensions.get().cloned().ok_or(Error::Internal("the request has no name", None))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_bearer_token_and_nothing_else() {
        let headers = |values: &[&str]| {
            let mut headers = HeaderMap::new();
            for value in values {
                headers.append(AUTHORIZATION, value.parse().unwrap());
            }
            headers
        };
        assert_eq!(bearer(&headers(&["Bearer abc"])), Some("abc"));
        assert_eq!(bearer(&headers(&["bearer abc"])), Some("abc"));
        for values in [&[][..], &["Bearer"], &["Basic abc"], &["abc"], &["Bearer a", "Bearer b"]] {
            assert_eq!(bearer(&headers(values)), None, "{values:?}");
        }
    }
}
