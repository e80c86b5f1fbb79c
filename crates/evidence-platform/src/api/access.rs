//! The access check before every handler, as the table of routes requires it.

use std::sync::Arc;

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::header::{AUTHORIZATION, LOCATION};
use http::request::Parts;
use http::{HeaderMap, HeaderName, StatusCode};

use super::App;
use super::input::{DRAIN_BYTES, refuse};
use super::problem::for_people;
use super::within::Within;
use crate::error::Error;
use crate::pages::{cookie, lead};
use crate::principal::{Caller, Principal};
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
    /// An API key whose role has this capability, and an organization: that of the key, or for a key of a group the one
    /// that the header [`ORGANIZATION`] names.
    Needs(Capability),
    /// An API key, of an organization or a group, whose role has this capability. The route shows every organization that
    /// the key reaches.
    NeedsAny(Capability),
    /// An API key of a group whose role has this capability.
    NeedsGroup(Capability),
    /// A session of a key whose role has this capability, and an organization: that of the key, or for a key of a group
    /// the one in the address. Without a session, the answer is the sign-in form.
    Page(Capability),
    /// A session of a key, of an organization or a group, whose role has this capability.
    AnyPage(Capability),
    /// Nothing, and problems are HTML pages: the sign-in form and its target.
    OpenPage,
}

/// The header with which a key of a group names an organization.
pub const ORGANIZATION: HeaderName = HeaderName::from_static("evidence-organization");

/// Passes a request on to its handler, with its principal, or answers it.
pub(super) async fn check(
    State((app, access)): State<(App, Access)>,
    request: Request,
    next: Next,
) -> Response {
    let asked = Asked::of(&request);
    match access {
        Access::Open => next.run(request).await,
        Access::OpenPage => for_people(next.run(request).await, None),
        Access::Needs(capability) => {
            let who = match key(&app, &asked).await {
                Ok(caller) => named(&app, caller, &asked.headers).await,
                Err(error) => Err(error),
            };
            admit(who.map(Caller::Organization), capability, request, next).await
        }
        Access::NeedsAny(capability) => {
            let who = key(&app, &asked).await;
            admit(who, capability, request, next).await
        }
        Access::NeedsGroup(capability) => {
            let who = key(&app, &asked).await.and_then(of_a_group);
            admit(who, capability, request, next).await
        }
        Access::Page(capability) => {
            let who = session(&app, &asked).await;
            let within = asked.within;
            if let (Ok(Caller::Group(_)), None) = (&who, &within) {
                refuse(request, DRAIN_BYTES).await;
                return fleet();
            }
            let who = match who {
                Ok(caller) => entered(&app, caller, within.as_ref()).await,
                Err(error) => Err(error),
            };
            let response = show(&app, who.map(Caller::Organization), capability, request, next).await;
            match within {
                Some(Within(slug)) => lead(response, &slug),
                None => response,
            }
        }
        Access::AnyPage(capability) => {
            let who = match &asked.within {
                Some(_) => Err(Error::NotFound("page")),
                None => session(&app, &asked).await,
            };
            show(&app, who, capability, request, next).await
        }
    }
}

/// What a request brings beside its body.
struct Asked {
    headers: HeaderMap,
    within: Option<Within>,
    request_id: Option<RequestId>,
    client: Option<Client>,
}

impl Asked {
    fn of(request: &Request) -> Asked {
        let extensions = request.extensions();
        Asked {
            headers: request.headers().clone(),
            within: extensions.get().cloned(),
            request_id: extensions.get().cloned(),
            client: extensions.get().copied(),
        }
    }
}

/// Whose key the request brings.
async fn key(app: &App, asked: &Asked) -> Result<Caller, Error> {
    let key = bearer(&asked.headers);
    let who = match key {
        Some(key) => app.service.caller(key).await,
        None => Err(Error::Unauthenticated),
    };
    // A request without credentials is not an attempt.
    if let (Err(Error::Unauthenticated), true) = (&who, asked.headers.contains_key(AUTHORIZATION))
        && let (Some(request_id), Some(Client(address))) = (&asked.request_id, asked.client)
    {
        app.service.refused(Attempt::Key, request_id, address, key.unwrap_or_default()).await;
    }
    who
}

/// Whose session the request brings.
async fn session(app: &App, asked: &Asked) -> Result<Caller, Error> {
    match cookie::token(&asked.headers, app.secure_cookies) {
        Some(token) => app.service.session(token).await,
        None => Err(Error::Unauthenticated),
    }
}

/// The principal of the organization that a request of the API means.
async fn named(app: &App, caller: Caller, headers: &HeaderMap) -> Result<Principal, Error> {
    let name = headers.get(ORGANIZATION).map(|name| name.to_str().unwrap_or_default());
    let elsewhere = || Error::Elsewhere("the key reaches no organization with this short name".to_owned());
    match (caller, name) {
        (Caller::Organization(principal), None) => Ok(principal),
        (Caller::Organization(principal), Some(name)) if principal.slug() == name => Ok(principal),
        (Caller::Organization(_), Some(_)) => Err(elsewhere()),
        (Caller::Group(group), Some(name)) => match app.service.within(&group, name).await {
            Err(Error::NotFound(_)) => Err(elsewhere()),
            found => found,
        },
        (Caller::Group(_), None) => Err(Error::Elsewhere(format!(
            "the key belongs to a group; name an organization in the header {ORGANIZATION}"
        ))),
    }
}

/// The principal of the organization that the address of a page means.
async fn entered(app: &App, caller: Caller, within: Option<&Within>) -> Result<Principal, Error> {
    match (caller, within) {
        (Caller::Organization(principal), None) => Ok(principal),
        (Caller::Group(group), Some(Within(slug))) => app.service.within(&group, slug).await,
        (Caller::Organization(_), Some(_)) | (Caller::Group(_), None) => Err(Error::NotFound("organization")),
    }
}

/// Refuses a key of an organization.
fn of_a_group(caller: Caller) -> Result<Caller, Error> {
    match caller {
        Caller::Group(_) => Ok(caller),
        Caller::Organization(_) => Err(Error::Elsewhere(
            "the key belongs to an organization; this is for keys of a group".to_owned(),
        )),
    }
}

/// Leads a key of a group from a page of an organization to the page of all.
fn fleet() -> Response {
    (StatusCode::SEE_OTHER, [(LOCATION, "/fleet")]).into_response()
}

/// Admits a page, which takes a share of the platform until its last byte is sent.
async fn show(
    app: &App,
    who: Result<Caller, Error>,
    capability: Capability,
    request: Request,
    next: Next,
) -> Response {
    let share = who.as_ref().map(|caller| app.service.page_share(caller));
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

async fn admit(
    who: Result<Caller, Error>,
    capability: Capability,
    mut request: Request,
    next: Next,
) -> Response {
    let allowed = who.and_then(|caller| caller.require(capability).map(|()| caller));
    match allowed {
        Ok(caller) => {
            if let Some(who) = request.extensions().get::<KeyPrefix>() {
                who.is(caller.key_prefix());
            }
            // From here to the last byte of the answer, this connection cannot be evicted.
            let active = request.extensions().get::<Arc<Connection>>().map(|came_by| came_by.activate());
            if let Caller::Organization(principal) = &caller {
                request.extensions_mut().insert(principal.clone());
            }
            request.extensions_mut().insert(caller);
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

impl<S: Send + Sync> FromRequestParts<S> for Caller {
    type Rejection = Error;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Caller, Error> {
        let missing = Error::Internal("a handler asks for a caller on a route that is open", None);
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
