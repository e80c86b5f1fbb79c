//! The directory while it is served: from a request to an answer, and the headers that every answer has.

use super::directory::{self, Query};
use super::keyless::{self, Said};
use super::refusal::Refusal;
use super::token::{self, Grant, Tokens, covers};
use super::{Limit, Workspace, policies, reports};
use crate::clock::{Clock, http_date};
use crate::fault::wildcard;
use crate::server::{Answer, Backend, Call, Held, Identity, Settings, State};
use crate::throttle::{Throttle, Throttles};
use hyper::header::{self, HeaderName};
use jiff::Timestamp;
use percent_encoding::percent_decode_str;
use serde_json::{Value, json};

/// The backend. No `Debug`: it holds access tokens.
pub(super) struct Live {
    held: Held<Workspace>,
    url: String,
    /// The time that days count from.
    start: Timestamp,
    key: Vec<u8>,
    tokens: Tokens,
    throttles: Throttles,
}

/// The calls.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Route {
    Token,
    Metadata,
    IdentityToken,
    Exchange,
    Sign(String),
    Users,
    Roles(String),
    Assignments(String),
    Members(String),
    Units(String),
    Policies,
    Activities(String, String),
    Nothing,
}

impl Route {
    fn of(path: &str) -> Self {
        let decoded = |text: &str| percent_decode_str(text).decode_utf8_lossy().into_owned();
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        match parts.as_slice() {
            ["token"] => Self::Token,
            ["computeMetadata", "v1", ..] => Self::Metadata,
            ["idp", "token"] => Self::IdentityToken,
            ["v1", "token"] => Self::Exchange,
            ["v1", "projects", "-", "serviceAccounts", account] => {
                match decoded(account).strip_suffix(":signJwt") {
                    Some(account) => Self::Sign(account.to_owned()),
                    None => Self::Nothing,
                }
            }
            ["admin", "directory", "v1", "users"] => Self::Users,
            ["admin", "directory", "v1", "customer", customer, "roles"] => Self::Roles(decoded(customer)),
            ["admin", "directory", "v1", "customer", customer, "roleassignments"] => {
                Self::Assignments(decoded(customer))
            }
            ["admin", "directory", "v1", "customer", customer, "orgunits"] => Self::Units(decoded(customer)),
            ["v1", "policies"] => Self::Policies,
            ["admin", "directory", "v1", "groups", group, "members"] => Self::Members(decoded(group)),
            ["admin", "reports", "v1", "activity", "users", user, "applications", application] => {
                Self::Activities(decoded(user), decoded(application))
            }
            _ => Self::Nothing,
        }
    }

    /// The index of the required scope, and the privilege that an administrator needs who is not a super
    /// administrator.
    fn needs(&self) -> (usize, &'static str) {
        match self {
            Self::Users => (0, "USERS_RETRIEVE"),
            Self::Roles(_) | Self::Assignments(_) => (1, "SUPER_ADMIN"),
            Self::Activities(..) => (2, "REPORTS_ACCESS"),
            Self::Members(_) => (3, "GROUPS_RETRIEVE"),
            Self::Units(_) => (4, "ORGANIZATION_UNITS_RETRIEVE"),
            Self::Policies => (5, "SUPER_ADMIN"),
            Self::Token
            | Self::Metadata
            | Self::IdentityToken
            | Self::Exchange
            | Self::Sign(_)
            | Self::Nothing => (usize::MAX, ""),
        }
    }

    /// Whether it signs in, so that a reader may send it as a POST.
    fn is_posted(&self) -> bool {
        matches!(self, Self::Token | Self::Exchange | Self::Sign(_))
    }
}

impl Live {
    pub(super) fn new(workspace: Workspace, url: &str, clock: Clock) -> Self {
        let held = Held::new(workspace, clock.clone());
        Self {
            held,
            url: url.to_owned(),
            start: clock.now(),
            key: token::verifying_key(),
            tokens: Tokens::default(),
            throttles: Throttles::default(),
        }
    }

    fn reply(&self, workspace: &Workspace, call: &Call) -> Result<Value, Refusal> {
        let route = Route::of(&call.path);
        if call.body_too_large {
            return Err(Refusal::failure(413));
        }
        let (throttles, limits): (Vec<Throttle>, Vec<Limit>) = workspace.throttles.iter().cloned().unzip();
        let throttled = || self.throttles.refuses(&throttles, &[&call.path]).and_then(|at| limits.get(at));
        if route == Route::Token {
            return match throttled() {
                Some(_) => Err(Refusal::token(429, "rate_limit_exceeded", "Too many requests.")),
                None => token::exchange(workspace, &self.tokens, &self.key, &self.url, call),
            };
        }
        if route == Route::Exchange {
            return keyless::exchange(workspace, &self.tokens, &self.key, &self.url, call);
        }
        let grant = self.grant(call).ok_or_else(Refusal::unauthenticated)?;
        if let Route::Sign(account) = &route {
            return keyless::sign_jwt(workspace, &grant, account, call);
        }
        if workspace.api_disabled {
            return Err(Refusal::api_disabled());
        }
        let (scope, privilege) = route.needs();
        // A scope for writing gives no additional access here.
        if !covers(&grant.scopes, scope) || !matches!(call.method.as_str(), "GET" | "HEAD") {
            return Err(Refusal::scope());
        }
        if let Some(limit) = throttled() {
            return Err(Refusal::limit(*limit));
        }
        let denied = workspace.denials.iter().any(|path| wildcard(path, &call.path));
        if denied || !may(workspace, &grant, privilege) {
            return Err(match route {
                Route::Policies => Refusal::caller(),
                _ => Refusal::not_authorized(),
            });
        }
        let query: Query = crate::form::decode(&call.query);
        match &route {
            Route::Users => directory::users(workspace, self.start, &query),
            Route::Roles(customer) => directory::roles(workspace, customer, &query),
            Route::Assignments(customer) => directory::role_assignments(workspace, customer, &query),
            Route::Members(group) => directory::members(workspace, group, &query),
            Route::Units(customer) => policies::units(workspace, customer, &query),
            Route::Policies => policies::policies(workspace, &query),
            Route::Activities(user, application) => {
                reports::activities(workspace, self.start, call.now, (user, application), &query)
            }
            Route::Token
            | Route::Metadata
            | Route::IdentityToken
            | Route::Exchange
            | Route::Sign(_)
            | Route::Nothing => Err(Refusal::failure(404)),
        }
    }

    /// The metadata service, or the other identity provider.
    fn service(&self, workspace: &Workspace, route: &Route, call: &Call) -> Answer {
        const JSON: &str = "application/json; charset=utf-8";
        let of_machine = *route == Route::Metadata;
        let said = match of_machine {
            true => keyless::metadata(workspace, &self.tokens, call),
            false => keyless::identity_token(&self.url, call).map(Said::Json),
        };
        let (status, kind, body) = match said {
            Ok(Said::Json(body)) => (200, JSON, body.to_string()),
            Ok(Said::Text(text)) => (200, "application/text", text),
            Err((status, text)) if of_machine => (status, "text/html; charset=UTF-8", text.to_owned()),
            Err((status, text)) => (status, JSON, json!({ "message": text }).to_string()),
        };
        let mut answer = Answer::new(status, body);
        answer.set_static(header::CONTENT_TYPE, kind);
        self.dress(call, &mut answer);
        if of_machine {
            answer.set_static(HeaderName::from_static("metadata-flavor"), "Google");
        }
        answer
    }

    fn grant(&self, call: &Call) -> Option<Grant> {
        let (scheme, token) = call.header("authorization")?.split_once(' ')?;
        let grant = self.tokens.find(token.trim())?;
        (scheme.eq_ignore_ascii_case("bearer") && grant.expires > call.now.as_second()).then_some(grant)
    }
}

/// A super administrator may do everything, others what their roles allow.
fn may(workspace: &Workspace, grant: &Grant, privilege: &str) -> bool {
    let person = workspace.find_person(&grant.subject).filter(|_| grant.delegated);
    person.filter(|person| !person.suspended && person.deleted.is_none()).is_some_and(|person| {
        let mut roles = workspace.roles.iter().filter(|role| person.roles.contains(&role.name));
        person.super_admin || roles.any(|role| role.has(privilege))
    })
}

impl Backend for Live {
    fn identify(&self, call: &Call) -> Identity {
        match (call.header("authorization"), self.grant(call)) {
            (None, _) => Identity::Anonymous,
            (Some(_), None) => Identity::Unknown,
            (Some(_), Some(grant)) => {
                let kind = if grant.delegated { "delegated" } else { "service-account" };
                Identity::User { login: grant.subject, kind }
            }
        }
    }

    fn answer(&self, call: &Call) -> Answer {
        let workspace = self.held.now();
        let route = Route::of(&call.path);
        if matches!(route, Route::Metadata | Route::IdentityToken) {
            return self.service(&workspace, &route, call);
        }
        if route == Route::Nothing || (route.is_posted() && call.method != "POST") {
            let mut answer = Answer::new(404, self.page(404));
            answer.set_static(header::CONTENT_TYPE, "text/html; charset=UTF-8");
            self.dress(call, &mut answer);
            return answer;
        }
        let (status, body) = match self.reply(&workspace, call) {
            Ok(body) => (200, body),
            Err(refusal) => (refusal.status, refusal.body),
        };
        let text = match call.parameter("prettyPrint") {
            Some("false") => body.to_string(),
            _ => format!("{body:#}\n"),
        };
        let mut answer = Answer::new(status, text);
        answer.set_static(header::CONTENT_TYPE, "application/json; charset=UTF-8");
        if status == 401 && !matches!(route, Route::Token | Route::Exchange) {
            let realm = "Bearer realm=\"https://accounts.google.com/\", error=\"invalid_token\"";
            answer.set_static(header::WWW_AUTHENTICATE, realm);
        }
        self.dress(call, &mut answer);
        answer
    }

    fn dress(&self, call: &Call, answer: &mut Answer) {
        answer.set(header::DATE, &http_date(call.now));
        answer.set_static(header::SERVER, "ESF");
        answer.set_static(header::CACHE_CONTROL, "private");
        answer.set_static(header::VARY, "Origin, X-Origin, Referer");
        answer.set_static(header::X_FRAME_OPTIONS, "SAMEORIGIN");
        answer.set_static(header::X_CONTENT_TYPE_OPTIONS, "nosniff");
        answer.set_static(header::X_XSS_PROTECTION, "0");
    }

    fn is_violation(&self, call: &Call) -> bool {
        let signing_in = call.method == "POST" && Route::of(&call.path).is_posted();
        !signing_in && !matches!(call.method.as_str(), "GET" | "HEAD")
    }

    fn failure(&self, call: &Call, status: u16) -> (&'static str, String) {
        let refusal = match Route::of(&call.path) {
            Route::Token | Route::Exchange => Refusal::token(status, "internal_failure", "Backend Error"),
            _ => Refusal::failure(status),
        };
        ("application/json; charset=UTF-8", format!("{:#}\n", refusal.body))
    }

    fn page(&self, status: u16) -> String {
        let reason = hyper::StatusCode::from_u16(status).ok().and_then(|status| status.canonical_reason());
        let reason = reason.unwrap_or_default();
        format!(
            "<!DOCTYPE html>\n<html lang=en>\n  <meta charset=utf-8>\n  <title>Error {status} ({reason})!!1</title>\n  \
             <p><b>{status}.</b> <ins>That’s an error.</ins>\n  <p>  <ins>That’s all we know.</ins>\n"
        )
    }
}

impl State<Workspace> for Live {
    fn change(&self, change: Box<dyn FnOnce(&mut Workspace) + '_>) -> Settings {
        self.held.change(change)
    }

    fn current(&self) -> Workspace {
        Workspace::clone(&self.held.now())
    }
}
