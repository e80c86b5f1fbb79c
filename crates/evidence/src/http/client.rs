//! Sends one GET and keeps asking, politely, until there is an answer that stands.
//!
//! A refusal is an answer: it comes back as [`Reply::Refused`] for the source to interpret. A [`Failure`] means that
//! there is no answer: the attempts are used up, the limit is, or the host said something that cannot be understood.

use std::error::Error as _;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use reqwest::header::{ACCEPT, AUTHORIZATION, HeaderMap, HeaderValue, USER_AGENT};
use reqwest::redirect::Policy;
use serde::Deserialize;
use url::Url;

use super::gate::{Gate, Lesson};
use super::quota::{Reading, Status};
use super::reply::{Answered, Failure, FailureKind, Meta, Refused, Reply, one_line};
use super::retry::{Answer, Class, Refusal, Verdict, classify, http_date, verdict};
use super::token::Token;
use crate::env::Clock;
use crate::report::{Event, Reporter, WaitReason};

/// How many redirects within the host's own origin are followed: the number browsers settled on is 20, clients of
/// this API never need more than two.
const MAXIMUM_REDIRECTS: usize = 5;

/// How much of an error document is read. The host's own are under 1 kB; its HTML pages carry inlined pictures.
const ERROR_BODY_LIMIT: usize = 64 * 1024;

/// A fault's own back-off stays below this; a longer wait was asked for by the host and is shown.
const SHOWN_WAIT: SignedDuration = SignedDuration::from_secs(15);

/// The longest name resolution and handshake. A host that takes longer is down, whatever the request time-out is.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(20);

/// How a client behaves.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Base of the API, without a trailing slash in its path.
    pub base: Url,
    /// Time for one request, from connecting to the last byte.
    pub timeout: Duration,
    /// Requests in flight.
    pub max_concurrency: NonZeroUsize,
    /// Requests per minute; 0 is unpaced.
    pub requests_per_minute: u32,
    /// Wait for the reset when the limit is nearly used up.
    pub rate_limit_pause: bool,
    /// Further root certificates, PEM.
    pub roots: Vec<u8>,
    /// Headers of every request, beside `Accept`, `Authorization` and `User-Agent`.
    pub headers: &'static [(&'static str, &'static str)],
}

/// Which representation is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Accept {
    /// The API's JSON.
    Json,
    /// A file's own bytes.
    Raw,
}

impl Accept {
    fn media_type(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Accept::Json => "application/vnd.github+json",
            Accept::Raw => "application/vnd.github.raw+json",
        })
    }
}

/// Reads the body of a good answer. `Err` says why it is not what was asked for.
pub type Parse<'a, T> = &'a (dyn Fn(&[u8]) -> Result<T, serde_json::Error> + Sync);

/// A client of one host.
pub struct Client {
    http: reqwest::Client,
    settings: Settings,
    gate: Gate,
    clock: Clock,
    reporter: Arc<dyn Reporter>,
    requests: AtomicU64,
    retries: AtomicU64,
}

/// What one exchange brought.
struct Exchange {
    meta: Meta,
    body: Body,
    answer_parts: Parts,
}

enum Body {
    Complete(Vec<u8>),
    TooLarge,
    Broken(String),
}

impl Body {
    /// Empty, or beginning like an object or a list.
    fn may_be_json(&self) -> bool {
        let Body::Complete(bytes) = self else { return false };
        bytes.iter().find(|byte| !byte.is_ascii_whitespace()).is_none_or(|byte| b"{[".contains(byte))
    }
}

struct Parts {
    retry_after: Option<String>,
    reading: Reading,
    is_json: bool,
}

#[derive(Deserialize, Default)]
struct ErrorDocument {
    message: Option<String>,
    /// Some old answers say `error` instead.
    error: Option<serde_json::Value>,
    documentation_url: Option<String>,
}

impl Client {
    /// A client for `settings.base` that sends `token`.
    ///
    /// # Errors
    ///
    /// If the root certificates cannot be used; the text says which.
    pub fn new(
        settings: Settings,
        token: &Token,
        clock: Clock,
        reporter: Arc<dyn Reporter>,
    ) -> Result<Client, String> {
        let mut headers = HeaderMap::new();
        let authorization = token.header().ok_or("the token cannot stand in a header")?;
        headers.insert(AUTHORIZATION, authorization);
        headers.insert(USER_AGENT, HeaderValue::from_static(concat!("evidence/", env!("CARGO_PKG_VERSION"))));
        for (name, value) in settings.headers {
            headers.insert(*name, HeaderValue::from_static(value));
        }
        let origin = settings.base.origin();
        let redirects = Policy::custom(move |attempt| {
            if attempt.previous().len() > MAXIMUM_REDIRECTS || attempt.url().origin() != origin {
                attempt.stop()
            } else {
                attempt.follow()
            }
        });
        let mut builder = reqwest::Client::builder()
            .default_headers(headers)
            .redirect(redirects)
            .timeout(settings.timeout)
            .connect_timeout(settings.timeout.min(CONNECT_TIMEOUT))
            .pool_max_idle_per_host(settings.max_concurrency.get())
            .tcp_nodelay(true)
            .referer(false);
        if settings.base.scheme() == "http" {
            // Only loopback may be http. It needs neither a proxy nor the machine's certificates, which a bare
            // container does not have.
            builder = builder.no_proxy().tls_certs_only([]);
        } else if !settings.roots.is_empty() {
            let roots = reqwest::Certificate::from_pem_bundle(&settings.roots)
                .map_err(|error| format!("cannot read certificates from ca_file: {}", innermost(&error)))?;
            if roots.is_empty() {
                return Err("ca_file holds no certificate in PEM form".to_string());
            }
            builder = builder.tls_certs_merge(roots);
        }
        let http = builder.build().map_err(|error| {
            format!(
                "cannot set up TLS: {} (is there a certificate store? ca_file names one)",
                innermost(&error)
            )
        })?;
        let gate = Gate::new(&settings);
        let (requests, retries) = (AtomicU64::new(0), AtomicU64::new(0));
        Ok(Client { http, settings, gate, clock, reporter, requests, retries })
    }

    /// Base of the API.
    pub fn base(&self) -> &Url {
        &self.settings.base
    }

    /// Requests sent so far, retries included.
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// Requests that were sent again.
    pub fn retries(&self) -> u64 {
        self.retries.load(Ordering::Relaxed)
    }

    /// How long limits held requests back.
    pub fn paused(&self) -> SignedDuration {
        self.gate.paused()
    }

    /// What the host last said of its limit; `None` if it has none.
    pub fn quota(&self) -> Option<Status> {
        self.gate.status()
    }

    /// The address of `segments` below the base; every segment is percent-encoded, `/` included.
    pub fn url<'a>(&self, segments: impl IntoIterator<Item = &'a str>) -> Url {
        let mut url = self.settings.base.clone();
        // A base that cannot have path segments (mailto:) is refused by the configuration.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(segments);
        }
        url
    }

    /// Asks for `url` until there is an answer that stands.
    ///
    /// `limit` bounds the body in bytes; `parse` reads it. A body that is broken JSON counts as a fault of the host
    /// and is asked for again; JSON of another shape than documented is not.
    ///
    /// # Errors
    ///
    /// A [`Failure`] if there is no answer.
    pub async fn get<T>(
        &self,
        url: &Url,
        accept: Accept,
        limit: usize,
        parse: Parse<'_, T>,
    ) -> Result<Reply<T>, Failure> {
        let mut attempt = 0;
        let mut refused: Option<Failure> = None;
        loop {
            attempt += 1;
            let ticket = match self.gate.enter(&self.clock, &*self.reporter).await {
                Ok(ticket) => ticket,
                // What the host said to this very request tells more than that nothing more may be asked.
                Err(failure) => return Err(refused.unwrap_or(failure)),
            };
            self.requests.fetch_add(1, Ordering::Relaxed);
            if attempt > 1 {
                self.retries.fetch_add(1, Ordering::Relaxed);
            }
            let exchanged = self.exchange(url, accept, limit).await;
            let now = self.clock.now();
            let (class, outcome) = match exchanged {
                Ok(exchange) => self.understand(exchange, attempt, limit, parse, ticket, now),
                Err(text) => {
                    self.gate.leave(ticket, None, now);
                    let failure =
                        Failure { attempts: attempt, ..Failure::local(FailureKind::Transport(text)) };
                    (Class::Transport, Err(failure))
                }
            };
            self.report(url, attempt, &outcome);
            let failure = match outcome {
                Ok(reply) => return Ok(reply),
                Err(failure) => failure,
            };
            let final_kind = matches!(
                failure.kind,
                FailureKind::TooLarge { .. } | FailureKind::UnexpectedShape(_) | FailureKind::Redirect(_)
            );
            if final_kind {
                return Err(failure);
            }
            match verdict(class, attempt, fastrand::f64()) {
                // The gate holds everybody back for limits: nothing to wait for here.
                Verdict::WaitForReset => {}
                Verdict::RetryAfter(_) if matches!(class, Class::SecondaryLimit { .. }) => {}
                Verdict::RetryAfter(wait) => {
                    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::ZERO);
                    let until = self.clock.now().checked_add(wait).unwrap_or(Timestamp::MAX);
                    if wait > SHOWN_WAIT {
                        let reason = WaitReason::HostFault;
                        self.reporter.event(Event::Waiting { reason, until, left: wait });
                    }
                    self.clock.sleep_until(until).await;
                }
                Verdict::GiveUp | Verdict::Accept => return Err(failure),
            }
            refused = Some(failure);
        }
    }

    async fn exchange(&self, url: &Url, accept: Accept, limit: usize) -> Result<Exchange, String> {
        let request = self.http.get(url.clone()).header(ACCEPT, accept.media_type());
        let mut response = request.send().await.map_err(|error| describe(&error, self.settings.timeout))?;
        let status = response.status().as_u16();
        let headers = response.headers();
        let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_string);
        let number = |name: &str| text(name).and_then(|value| value.trim().parse::<i64>().ok());
        let content_type = text("content-type").unwrap_or_default().to_ascii_lowercase();
        let redirected_to = (response.url() != url).then(|| self.relative(response.url()));
        let mut meta = Meta {
            path: self.relative(url),
            status,
            etag: text("etag"),
            request_id: text("x-github-request-id"),
            scopes: text("x-oauth-scopes"),
            token_expiration: text("github-authentication-token-expiration"),
            sso: text("x-github-sso"),
            links: headers
                .get_all("link")
                .iter()
                .filter_map(|v| v.to_str().ok().map(str::to_string))
                .collect(),
            redirected_to,
            received_at: Timestamp::UNIX_EPOCH,
        };
        if (300..400).contains(&status) {
            meta.redirected_to = text("location");
        }
        let mut answer_parts = Parts {
            retry_after: text("retry-after"),
            reading: Reading {
                limit: number("x-ratelimit-limit").and_then(|value| u64::try_from(value).ok()),
                remaining: number("x-ratelimit-remaining").and_then(|value| u64::try_from(value).ok()),
                reset: number("x-ratelimit-reset"),
                date: text("date").as_deref().and_then(http_date),
            },
            is_json: content_type.contains("json") || (status == 200 && accept == Accept::Raw),
        };
        let body = read_body(&mut response, if status == 200 { limit } else { ERROR_BODY_LIMIT }).await;
        // What the body is decides, rather than what it is called: some hosts name no type, or plain text. A page
        // of HTML is nobody's answer to this question.
        answer_parts.is_json |= !content_type.contains("html") && body.may_be_json();
        meta.received_at = self.clock.now();
        Ok(Exchange { meta, body, answer_parts })
    }

    /// Turns an exchange into a reply or a failure, and lets the gate learn from it.
    fn understand<T>(
        &self,
        exchange: Exchange,
        attempt: u32,
        limit: usize,
        parse: Parse<'_, T>,
        ticket: super::concurrency::Ticket,
        now: Timestamp,
    ) -> (Class, Result<Reply<T>, Failure>) {
        let Exchange { meta, body, answer_parts } = exchange;
        let document = match &body {
            Body::Complete(bytes) if meta.status != 200 && answer_parts.is_json => {
                serde_json::from_slice::<ErrorDocument>(bytes).unwrap_or_default()
            }
            _ => ErrorDocument::default(),
        };
        let message = document
            .message
            .or_else(|| document.error.and_then(|error| error.as_str().map(str::to_string)))
            .map(|message| one_line(&message));
        let mut class = classify(&Answer {
            status: meta.status,
            retry_after: answer_parts.retry_after.as_deref(),
            remaining: answer_parts.reading.remaining,
            reset: answer_parts.reading.reset,
            date: answer_parts.reading.date,
            sso_required: meta.sso.as_deref().is_some_and(|sso| sso.trim_start().starts_with("required")),
            message: message.as_deref(),
            documentation_url: document.documentation_url.as_deref(),
            is_json: answer_parts.is_json,
        });
        let fail = |kind| {
            Err(Failure {
                kind,
                status: Some(meta.status),
                request_id: meta.request_id.clone(),
                attempts: attempt,
            })
        };
        let outcome = match (class, body) {
            (Class::Success, Body::Complete(bytes)) => match parse(&bytes) {
                Ok(value) => Ok(Reply::Good(Answered { value, meta: meta.clone() })),
                Err(error) if error.is_data() => {
                    fail(FailureKind::UnexpectedShape(one_line(&error.to_string())))
                }
                Err(error) => {
                    class = Class::HostFault { retry_after: None };
                    fail(FailureKind::HostFault(format!("the answer is broken JSON: {error}")))
                }
            },
            (Class::Success, Body::Broken(text)) => {
                class = Class::Transport;
                fail(FailureKind::Transport(text))
            }
            (Class::Success, Body::TooLarge) => fail(FailureKind::TooLarge { limit }),
            (Class::HostFault { .. } | Class::Transport, _) => {
                fail(FailureKind::HostFault(fault_text(meta.status, message.as_deref())))
            }
            (Class::PrimaryLimit { reset }, _) => {
                fail(FailureKind::RateLimited { limit: answer_parts.reading.limit, reset })
            }
            (Class::SecondaryLimit { .. }, _) => fail(FailureKind::SecondaryLimit),
            (Class::Redirect, _) => fail(FailureKind::Redirect(match &meta.redirected_to {
                Some(location) => format!("refused to follow a redirect to {}", one_line(location)),
                None => "the host redirects without saying where".to_string(),
            })),
            (class, _) => {
                if class == Class::Unauthorized || class == Class::Forbidden(Refusal::LoginAttempts) {
                    // Every further bad try prolongs the lock-out of the token's owner.
                    let text = message.clone().unwrap_or_else(|| format!("HTTP {}", meta.status));
                    let kind = FailureKind::Unauthorized(text);
                    self.gate.close(Failure { status: Some(meta.status), ..Failure::local(kind) });
                }
                Ok(Reply::Refused(Refused { class, message, meta: meta.clone() }))
            }
        };
        let rest = match (class, verdict(class, attempt, 0.0)) {
            (Class::SecondaryLimit { .. }, Verdict::RetryAfter(rest)) => Some(rest),
            _ => None,
        };
        self.gate.leave(ticket, Some(&Lesson { class, reading: answer_parts.reading, rest }), now);
        (class, outcome)
    }

    fn report<T>(&self, url: &Url, attempt: u32, outcome: &Result<Reply<T>, Failure>) {
        if !self.reporter.wants_debug() {
            return;
        }
        let result = match outcome {
            Ok(Reply::Good(answer)) => answer.meta.status.to_string(),
            Ok(Reply::Refused(refused)) => format!("{} {}", refused.meta.status, refused.text()),
            Err(failure) => failure.to_string(),
        };
        self.reporter.event(Event::Request { path: &self.relative(url), result: &result, attempt });
    }

    /// Path and query of `url` below the base.
    fn relative(&self, url: &Url) -> String {
        let base = self.settings.base.path().trim_end_matches('/');
        let path = url.path().strip_prefix(base).unwrap_or(url.path());
        match url.query() {
            Some(query) => format!("{path}?{query}"),
            None => path.to_string(),
        }
    }
}

async fn read_body(response: &mut reqwest::Response, limit: usize) -> Body {
    let announced = response.content_length().and_then(|length| usize::try_from(length).ok()).unwrap_or(0);
    if announced > limit {
        return Body::TooLarge;
    }
    let mut bytes = Vec::with_capacity(announced);
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) => {
                if bytes.len() + chunk.len() > limit {
                    return Body::TooLarge;
                }
                bytes.extend_from_slice(&chunk);
            }
            Ok(None) => return Body::Complete(bytes),
            Err(error) if error.is_timeout() => return Body::Broken("the answer took too long".to_string()),
            Err(error) => return Body::Broken(format!("the answer broke off: {}", innermost(&error))),
        }
    }
}

/// What a fault is called when the host gives no message. Pages of HTML are never quoted.
fn fault_text(status: u16, message: Option<&str>) -> String {
    match (status, message) {
        (200, _) => "HTTP 200 with a page that is not JSON: is api_url the address of the API?".to_string(),
        (404, _) => "HTTP 404 with a page that is not JSON: is api_url the address of the API?".to_string(),
        (_, Some(message)) => format!("HTTP {status} {message}"),
        (_, None) => format!("HTTP {status}"),
    }
}

/// A connection's failure in words: what happened, from the innermost cause, without the URL.
fn describe(error: &reqwest::Error, timeout: Duration) -> String {
    let cause = innermost(error);
    if error.is_timeout() {
        format!("no answer within {} s", timeout.as_secs_f64())
    } else if error.is_connect() {
        format!("cannot connect: {cause}")
    } else {
        format!("the connection failed: {cause}")
    }
}

fn innermost(error: &reqwest::Error) -> String {
    let mut cause: &dyn std::error::Error = error;
    while let Some(source) = cause.source() {
        cause = source;
    }
    if error.source().is_none() {
        "the request could not be sent".to_string()
    } else {
        one_line(&cause.to_string())
    }
}
