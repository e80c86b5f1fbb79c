//! The outermost layer of every request: its id, its log line, its counters, and the body of its problem.
//!
//! Headers, parameters and bodies are never logged, since they hold keys and tags. Everything else in a log line
//! comes from a closed set or is an address, so its length is bounded.

use std::net::{IpAddr, Ipv4Addr};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Instant;

use axum::body::Body;
use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::Response;
use bytes::Bytes;
use evidence_bundle::text::saturating_u64;
use http::header::{ACCEPT, CACHE_CONTROL, X_CONTENT_TYPE_OPTIONS};
use http::{HeaderMap, HeaderName, HeaderValue};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use super::client::{Client, Peer};
use super::compress::{compressed, is_wanted};
use super::connections::ActiveRequest;
use super::metrics::{Metrics, UNKNOWN, known};
use crate::api::App;
use crate::api::problem::{PendingProblem, ProblemKind};
use crate::api::within::Within;
use crate::error::Error;
use crate::id::random_hex;
use crate::pages::{self, cookie};
use crate::service::{PageShare, RequestId};

const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The most characters of a database or storage error in a log line.
const CAUSE: usize = 1_000;

/// The outermost layer.
pub(super) async fn observe(State(app): State<App>, mut request: Request, next: Next) -> Response {
    let began = Instant::now();
    // A client's own request id could put arbitrary text into the audit log.
    let request_id = random_hex::<12>().unwrap_or_default();
    let method = request.method().clone();
    let mut address = request.uri().path_and_query().map(ToString::to_string).unwrap_or_default();
    let within = request.extensions().get::<Within>().map(|Within(slug)| slug.clone());
    if let Some(slug) = &within {
        address.insert_str(0, &format!("/organizations/{slug}"));
    }
    let (person, api) = (wants_page(request.headers()), request.uri().path().starts_with("/api/"));
    let route = request.extensions().get::<MatchedPath>().map_or(UNKNOWN, MatchedPath::as_str).to_owned();
    let takes_gzip = is_wanted(request.headers());
    let token = cookie::token(request.headers(), app.secure_cookies).map(str::to_owned);
    request.extensions_mut().insert(RequestId(request_id.clone()));
    let peer = request.extensions().get().map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |Peer(address)| *address);
    let client = app.proxies.client(peer, request.headers());
    request.extensions_mut().insert(client);
    let counted = Arc::clone(&app.metrics);
    let mut request = request.map(|body| Body::new(Watched::new(body, (None, None), counted, Direction::In)));
    let who = KeyPrefix::default();
    request.extensions_mut().insert(who.clone());

    let mut response = next.run(request).await;

    let status = response.status().as_u16();
    if let Some(problem) = response.extensions_mut().remove::<PendingProblem>() {
        // No route decided between a page and JSON.
        let unsaid = route == UNKNOWN || matches!(status, 405 | 421);
        let problem = if unsaid { PendingProblem { person: person && !api, ..problem } } else { problem };
        let problem = with_frame(&app, problem, token).await;
        pages::problem::write_into(&problem, &mut response, &address, &request_id);
        if let Some(slug) = &within {
            response = pages::lead(response, slug);
        }
        // A late organization does not make the platform unhealthy.
        if status >= 500 && problem.kind != ProblemKind::Late {
            let error = problem.kind.code();
            let causes = problem.error.as_deref().map(Error::causes).unwrap_or_default();
            let cause: String = causes.chars().take(CAUSE).collect();
            tracing::error!(request_id, route, error, cause, "request failed");
        }
    }
    let headers = response.headers_mut();
    if let Ok(value) = HeaderValue::from_str(&request_id) {
        headers.insert(REQUEST_ID, value);
    }
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    let took = began.elapsed();
    app.metrics.request(&method, &route, status, took);
    let (method, key, Client(client)) = (known(&method), who.0.get().map(String::as_str), client);
    let ms = saturating_u64(took.as_millis());
    tracing::info!(request_id, method, route, status, ms, key, client = %client, "request");
    let metrics = Arc::clone(&app.metrics);
    let held = (response.extensions_mut().remove(), response.extensions_mut().remove());
    let response = compressed(response, takes_gzip);
    response.map(|body| Body::new(Watched::new(body, held, metrics, Direction::Out)))
}

/// A problem that a person sees keeps the frame of the one who is signed in, also where no route found out who that is.
async fn with_frame(app: &App, problem: PendingProblem, token: Option<String>) -> PendingProblem {
    let is_frameless = problem.person && problem.who.is_none();
    match token {
        Some(token) if is_frameless && problem.kind == ProblemKind::NotFound => {
            let who = app.service.session(&token).await.ok().map(Box::new);
            PendingProblem { who, ..problem }
        }
        _ => problem,
    }
}

/// Whether a browser requests a page.
fn wants_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    accepted.is_some_and(|accepted| accepted.contains("text/html"))
}

/// Where the access check leaves the prefix of the key for the log.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeyPrefix(Arc<std::sync::OnceLock<String>>);

impl KeyPrefix {
    /// Records the prefix of the caller's key.
    pub(crate) fn is(&self, prefix: &str) {
        let _ = self.0.set(prefix.to_owned());
    }
}

#[derive(Debug, Clone, Copy)]
enum Direction {
    In,
    Out,
}

/// What a body holds until its last byte is sent: its connection, and a page's share of the platform.
type Held = (Option<ActiveRequest>, Option<Arc<PageShare>>);

/// A body that counts its bytes and holds its resources while it exists.
struct Watched {
    body: Body,
    metrics: Arc<Metrics>,
    direction: Direction,
    _held: Held,
}

impl Watched {
    fn new(body: Body, held: Held, metrics: Arc<Metrics>, direction: Direction) -> Watched {
        Watched { body, metrics, direction, _held: held }
    }
}

impl HttpBody for Watched {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = Pin::new(&mut self.body).poll_frame(context);
        if let Poll::Ready(Some(Ok(frame))) = &frame
            && let Some(data) = frame.data_ref()
        {
            match self.direction {
                Direction::In => self.metrics.received(data.len()),
                Direction::Out => self.metrics.sent(data.len()),
            }
        }
        frame
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        HttpBody::size_hint(&self.body)
    }
}
