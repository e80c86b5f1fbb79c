//! Turns a fault into an answer, or into bytes that are not a valid one.

use super::kind::{AmbiguousLength, BadLink, Body, FaultKind};
use super::{bodies, edits};
use crate::clock::http_date;
use crate::server::{Answer, Backend, Call, End, Plan, Step};
use bytes::Bytes;
use hyper::header::{self, HeaderMap, HeaderName, HeaderValue};
use jiff::{SignedDuration, Timestamp};
use std::fmt::Write as _;

/// The engine's reaction to a request.
pub(crate) enum Outcome {
    /// Send this.
    Answer(Answer),
    /// Write these bytes and end the connection; `status` is the status that the client sees, if any.
    Wire { status: Option<u16>, plan: Plan },
    /// Reset, and refuse all connections for a while.
    Refuse,
    /// No answer, until the client gives up.
    Silence,
}

/// Applies the fault to the request.
pub(crate) fn act(kind: &FaultKind, call: &Call, backend: &dyn Backend) -> Outcome {
    let html = "text/html; charset=utf-8";
    let json = "application/json; charset=utf-8";
    match kind {
        FaultKind::Status(status, body) => {
            let (content_type, body) = match body {
                Body::Html => (html, Bytes::from(backend.page(*status))),
                Body::Json => {
                    let (content_type, body) = backend.failure(call, *status);
                    (content_type, Bytes::from(body))
                }
                Body::Empty => (json, Bytes::new()),
                Body::Text(text) => ("text/plain; charset=utf-8", Bytes::from(text.clone())),
            };
            made_up(call, backend, *status, content_type, body)
        }
        FaultKind::Reset | FaultKind::CutUpload(_) => Outcome::Wire { status: None, plan: Plan::reset() },
        FaultKind::RefuseUpload(status) => {
            let (content_type, body) = backend.failure(call, *status);
            made_up(call, backend, *status, content_type, Bytes::from(body))
        }
        FaultKind::Refuse => Outcome::Refuse,
        FaultKind::Hang => Outcome::Silence,
        FaultKind::Truncate(kept) => {
            let answer = backend.answer(call);
            let mut bytes = head(&answer, Framing::Length(answer.body.len()));
            bytes.extend_from_slice(answer.body.get(..*kept).unwrap_or(&answer.body));
            wire(answer.status, vec![Step::Send(bytes.into())])
        }
        FaultKind::WrongContentLength => {
            let answer = backend.answer(call);
            let mut bytes = head(&answer, Framing::Length(answer.body.len() / 2));
            bytes.extend_from_slice(&answer.body);
            wire(answer.status, vec![Step::Send(bytes.into())])
        }
        FaultKind::AmbiguousLength(how) => ambiguous(*how, call, backend),
        FaultKind::AnswerTo(path) => Outcome::Answer(backend.answer(&call.with_path(path))),
        FaultKind::BrokenChunk => {
            let answer = backend.answer(call);
            let (first, second) = answer.body.split_at(answer.body.len() / 2);
            let mut bytes = head(&answer, Framing::Chunked);
            bytes.extend_from_slice(format!("{:x}\r\n", first.len()).as_bytes());
            bytes.extend_from_slice(first);
            bytes.extend_from_slice(b"\r\nno size\r\n");
            bytes.extend_from_slice(second);
            wire(answer.status, vec![Step::Send(bytes.into())])
        }
        FaultKind::SlowBody { bytes_per_second } => {
            let answer = backend.answer(call);
            let head = head(&answer, Framing::Length(answer.body.len()));
            let body = Step::Trickle { bytes: answer.body.clone(), per_second: *bytes_per_second };
            wire(answer.status, vec![Step::Send(head.into()), body])
        }
        FaultKind::SecondaryLimit { retry_after, headers, status } => {
            secondary(call, backend, *retry_after, *headers, *status, false)
        }
        FaultKind::AbuseDetection { retry_after } => secondary(call, backend, *retry_after, false, 403, true),
        FaultKind::PrimaryLimit { reset_in } => {
            let user = crate::codehost::USER_IN_LIMIT_MESSAGES;
            let body = crate::codehost::primary_limit_body(call, Some(user));
            let mut answer = Answer::new(403, body);
            answer.set_static(header::CONTENT_TYPE, json);
            backend.dress(call, &mut answer);
            rate_headers(&mut answer, call, 5000, 0, *reset_in);
            Outcome::Answer(answer)
        }
        FaultKind::RateHeaders { limit, remaining, reset_in } => {
            let mut answer = backend.answer(call);
            rate_headers(&mut answer, call, *limit, *remaining, *reset_in);
            Outcome::Answer(answer)
        }
        FaultKind::Headers(changes) => {
            let mut answer = backend.answer(call);
            for (name, value) in changes {
                let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { continue };
                match value {
                    Some(value) => answer.set(name, value),
                    None => drop(answer.headers.remove(name)),
                }
            }
            Outcome::Answer(answer)
        }
        FaultKind::Redirect(to) => {
            let target = if to.starts_with('/') { format!("{}{to}", call.origin) } else { to.clone() };
            let body = crate::codehost::moved_body(&target);
            let mut answer = Answer::new(301, body);
            answer.set_static(header::CONTENT_TYPE, json);
            answer.set(header::LOCATION, &target);
            backend.dress(call, &mut answer);
            Outcome::Answer(answer)
        }
        FaultKind::LoginPage => {
            // Not the host's page but a proxy's, without any of the host's headers.
            let mut answer = Answer::new(200, bodies::LOGIN);
            answer.set_static(header::CONTENT_TYPE, html);
            Outcome::Answer(answer)
        }
        FaultKind::InvalidUtf8 => edited(call, backend, edits::spoil),
        FaultKind::Numbers(number) => edited(call, backend, |body| edits::numbers(body, number)),
        FaultKind::Names(name) => edited(call, backend, |body| edits::names(body, name)),
        FaultKind::Clock(seconds) => {
            let mut answer = backend.answer(call);
            answer.set(header::DATE, &http_date(later(call.now, *seconds)));
            let reset = answer.headers.get("x-ratelimit-reset").and_then(|reset| reset.to_str().ok());
            if let Some(reset) = reset.and_then(|reset| reset.parse::<i64>().ok()) {
                answer.headers.insert("x-ratelimit-reset", HeaderValue::from(reset.saturating_add(*seconds)));
            }
            Outcome::Answer(answer)
        }
        FaultKind::DeepJson(depth) => made_up(call, backend, 200, json, bodies::nested(*depth).into()),
        FaultKind::HugeBody(size) => stream(call, backend, bodies::huge(*size), Framing::Close, None),
        FaultKind::GzipBomb(size) => stream(call, backend, bodies::bomb(*size), Framing::Close, Some("gzip")),
        FaultKind::HugeHeader(size) => {
            let mut answer = backend.answer(call);
            answer.set(HeaderName::from_static("x-padding"), &"x".repeat(*size));
            Outcome::Answer(answer)
        }
        FaultKind::BadLink(bad) => Outcome::Answer(mislead(bad, call, backend)),
        FaultKind::ShiftPage(by) => {
            let shifted = Call { shift: *by, ..call.with_query(call.query.clone()) };
            Outcome::Answer(backend.answer(&shifted))
        }
        FaultKind::Json(status, headers, body) => {
            let mut answer = Answer::new(*status, body.to_string());
            answer.set_static(header::CONTENT_TYPE, json);
            backend.dress(call, &mut answer);
            for (name, value) in headers {
                if let Ok(name) = HeaderName::from_bytes(name.as_bytes()) {
                    answer.set(name, value);
                }
            }
            Outcome::Answer(answer)
        }
    }
}

fn ambiguous(how: AmbiguousLength, call: &Call, backend: &dyn Backend) -> Outcome {
    let mut answer = backend.answer(call);
    let packed = matches!(how, AmbiguousLength::PackedChunks) && call.accepts_gzip();
    if packed {
        answer.body = crate::server::gzip(&answer.body);
        answer.set_static(header::CONTENT_ENCODING, "gzip");
    }
    let length = answer.body.len();
    let (framing, second) = match how {
        AmbiguousLength::Chunks | AmbiguousLength::PackedChunks => (Framing::Chunked, length),
        AmbiguousLength::Repeated => (Framing::Length(length), length),
        AmbiguousLength::Different => (Framing::Length(length), length + 1),
    };
    answer.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(second));
    let mut bytes = head(&answer, framing);
    match framing {
        Framing::Chunked => {
            bytes.extend_from_slice(format!("{length:x}\r\n").as_bytes());
            bytes.extend_from_slice(&answer.body);
            bytes.extend_from_slice(b"\r\n0\r\n\r\n");
        }
        Framing::Length(_) | Framing::Close => bytes.extend_from_slice(&answer.body),
    }
    wire(answer.status, vec![Step::Send(bytes.into())])
}

/// The true answer with a changed body.
fn edited(call: &Call, backend: &dyn Backend, edit: impl Fn(&[u8]) -> Vec<u8>) -> Outcome {
    let mut answer = backend.answer(call);
    answer.body = Bytes::from(edit(&answer.body));
    answer.gzip = None;
    Outcome::Answer(answer)
}

fn later(now: Timestamp, seconds: i64) -> Timestamp {
    now.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(now)
}

fn made_up(
    call: &Call,
    backend: &dyn Backend,
    status: u16,
    content_type: &'static str,
    body: Bytes,
) -> Outcome {
    let mut answer = Answer::new(status, body);
    answer.set_static(header::CONTENT_TYPE, content_type);
    backend.dress(call, &mut answer);
    Outcome::Answer(answer)
}

fn secondary(
    call: &Call,
    backend: &dyn Backend,
    retry_after: Option<u64>,
    rate_headers: bool,
    status: u16,
    old: bool,
) -> Outcome {
    let mut answer = Answer::new(status, crate::codehost::secondary_limit_body(call, status, old));
    answer.set_static(header::CONTENT_TYPE, "application/json; charset=utf-8");
    backend.dress(call, &mut answer);
    if !rate_headers {
        strip_rate_headers(&mut answer.headers);
    }
    if let Some(seconds) = retry_after {
        answer.headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    Outcome::Answer(answer)
}

fn strip_rate_headers(headers: &mut HeaderMap) {
    for name in ["limit", "remaining", "used", "reset", "resource"] {
        headers.remove(format!("x-ratelimit-{name}"));
    }
}

fn rate_headers(answer: &mut Answer, call: &Call, limit: u64, remaining: u64, reset_in: i64) {
    let reset = call.now.as_second().saturating_add(reset_in);
    let used = limit.saturating_sub(remaining);
    for (name, value) in [("limit", limit), ("remaining", remaining), ("used", used)] {
        if let Ok(name) = HeaderName::try_from(format!("x-ratelimit-{name}")) {
            answer.headers.insert(name, HeaderValue::from(value));
        }
    }
    answer.headers.insert("x-ratelimit-reset", HeaderValue::from(reset));
    answer.headers.insert("x-ratelimit-resource", HeaderValue::from_static("core"));
}

fn mislead(bad: &BadLink, call: &Call, backend: &dyn Backend) -> Answer {
    let page: u64 = call.parameter("page").and_then(|page| page.parse().ok()).unwrap_or(1);
    match bad {
        BadLink::ToItself => {
            let mut answer = backend.answer(call);
            answer.set(header::LINK, &format!("<{}{}>; rel=\"next\"", call.origin, call.path_and_query));
            answer
        }
        BadLink::OtherHost(origin) => {
            let mut answer = backend.answer(call);
            let next = replace_page(&call.query, page + 1);
            answer.set(header::LINK, &format!("<{origin}{}?{next}>; rel=\"next\"", call.path));
            answer
        }
        BadLink::Endless => {
            let mut answer = backend.answer(&call.with_query(replace_page(&call.query, 1)));
            let path = call.path_and_query.split('?').next().unwrap_or_default();
            let next = replace_page(&call.query, page + 1);
            answer.set(header::LINK, &format!("<{}{path}?{next}>; rel=\"next\"", call.origin));
            answer
        }
    }
}

fn replace_page(query: &str, page: u64) -> String {
    let mut pairs: Vec<String> = query
        .split('&')
        .filter(|pair| !pair.is_empty() && !pair.starts_with("page="))
        .map(str::to_owned)
        .collect();
    pairs.push(format!("page={page}"));
    pairs.join("&")
}

#[derive(Clone, Copy)]
enum Framing {
    Length(usize),
    Chunked,
    Close,
}

fn wire(status: u16, steps: Vec<Step>) -> Outcome {
    Outcome::Wire { status: Some(status), plan: Plan { steps, end: End::Close } }
}

fn stream(
    call: &Call,
    backend: &dyn Backend,
    (first, chunk, times, last): (Bytes, Bytes, u64, Bytes),
    framing: Framing,
    encoding: Option<&'static str>,
) -> Outcome {
    let mut answer = Answer::new(200, Bytes::new());
    answer.set_static(header::CONTENT_TYPE, "application/json; charset=utf-8");
    if let Some(encoding) = encoding {
        answer.set_static(header::CONTENT_ENCODING, encoding);
    }
    backend.dress(call, &mut answer);
    let head = head(&answer, framing);
    wire(
        200,
        vec![Step::Send(head.into()), Step::Send(first), Step::Repeat { chunk, times }, Step::Send(last)],
    )
}

/// The head of an answer as bytes. Only for broken answers; a valid one takes the usual path.
fn head(answer: &Answer, framing: Framing) -> Vec<u8> {
    let status = hyper::StatusCode::from_u16(answer.status).unwrap_or_default();
    let mut text =
        format!("HTTP/1.1 {} {}\r\n", status.as_str(), status.canonical_reason().unwrap_or_default());
    for (name, value) in &answer.headers {
        let _ = write!(text, "{name}: {}\r\n", String::from_utf8_lossy(value.as_bytes()));
    }
    match framing {
        Framing::Length(length) => {
            let _ = write!(text, "content-length: {length}\r\n");
        }
        Framing::Chunked => text.push_str("transfer-encoding: chunked\r\n"),
        Framing::Close => {}
    }
    text.push_str("connection: close\r\n\r\n");
    text.into_bytes()
}
