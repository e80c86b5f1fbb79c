//! Speaking to an evidence platform: the one exchange that sends something to be kept.
//!
//! A [`Parcel`] is a file with its length and digest, taken once; it is streamed from the disk, and its last bytes leave
//! only if all of it still has that digest. The platform stores nothing that is not whole, and gives the same bytes the
//! same id, so every request here may be sent again.
//!
//! What this module never does: follow a redirect, send the key to another origin than the platform's, hold a file in
//! memory, or read more of an answer than an answer needs.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::{SignedDuration, Timestamp};
use reqwest::header::{ACCEPT, AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE, HeaderMap, HeaderValue};
use serde::Deserialize;
use sha2::{Digest as _, Sha256};
use url::Url;

use super::client::{Body, read_body, text};
use super::clock::Clock;
use super::obstacle::{Obstacle, Trouble, trouble};
use super::proxy::Proxy;
use super::retry::{Class, Refusal, Verdict, http_date, retry_after_seconds, verdict_within};
use super::setup::Setup;
use super::words::one_line;

/// How much of an answer is read. The platform's own are under 1 kB.
const ANSWER_LIMIT: usize = 64 * 1024;

/// What leaves the disk at once.
const CHUNK: u64 = 256 * 1024;

/// How the platform is reached.
pub struct Settings {
    /// The base of its API: what stands before `/api/v1`.
    pub base: Url,
    /// `Authorization`, marked sensitive.
    pub authorization: HeaderValue,
    /// Time for one attempt, from connecting to the last byte of the answer.
    pub timeout: Duration,
    /// How often one request is sent at most.
    pub attempts: u32,
    /// The proxy of the environment.
    pub proxy: Proxy,
}

/// A client of one platform.
pub struct Uplink {
    http: reqwest::Client,
    settings: Settings,
    clock: Clock,
    watch: Arc<dyn Watch>,
}

/// Who is told how it goes.
pub trait Watch: Send + Sync {
    /// So many bytes of the file have left.
    fn sent(&self, bytes: u64);

    /// An attempt failed; there will be another after the wait.
    fn again(&self, failed: &Failed, wait: Duration);
}

/// What is asked of the platform.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The path below `/api/v1`, one text per segment.
    pub path: &'a [&'a str],
    /// The query.
    pub query: &'a [(&'a str, String)],
    /// What is sent.
    pub content: Content<'a>,
}

/// What goes with a request.
#[derive(Debug, Clone, Copy)]
pub enum Content<'a> {
    /// A question.
    Question,
    /// An order without a body.
    Order,
    /// A file to keep.
    Parcel(&'a Parcel),
}

/// A file that is ready to be sent: open, measured, digested.
#[derive(Debug, Clone)]
pub struct Parcel {
    file: Arc<File>,
    bytes: u64,
    sha256: [u8; 32],
}

impl Parcel {
    /// A file of which `bytes` bytes with this digest were read.
    pub fn new(file: Arc<File>, bytes: u64, sha256: [u8; 32]) -> Parcel {
        Parcel { file, bytes, sha256 }
    }

    /// Its length.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Its digest in lower-case hex.
    pub fn sha256(&self) -> String {
        hex::encode(self.sha256)
    }

    /// `Content-Digest` (RFC 9530).
    fn content_digest(&self) -> String {
        format!("sha-256=:{}:", STANDARD.encode(self.sha256))
    }
}

/// A good answer.
#[derive(Debug, Clone)]
pub struct Answer {
    /// 200 or 201, or another that begins with 2.
    pub status: u16,
    /// JSON, if it is what it says it is.
    pub body: Vec<u8>,
}

/// A request that has no good answer.
#[derive(Debug)]
pub struct Failed {
    /// Why.
    pub why: Why,
    /// How often it was sent.
    pub attempts: u32,
}

/// Why there is no good answer.
#[derive(Debug)]
pub enum Why {
    /// The platform refuses, in its own words.
    Refused(Box<Problem>),
    /// No answer: name, route, TLS, time-out, reset, an answer cut off.
    Transport(String),
    /// The same, and it will fail the same way however often it is tried.
    Obstacle(Obstacle, String),
    /// An answer that is not the platform's: a page, an address elsewhere, too much.
    Foreign(String),
    /// The file is no longer what it was when it was digested.
    Changed,
    /// The file cannot be read any more.
    Unreadable(io::Error),
}

/// What the platform says of an error (RFC 9457), each text on one bounded line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Problem {
    /// The HTTP status.
    pub status: u16,
    /// The kind of problem, if it is one of the platform's own: what follows [`PROBLEM_TYPES`].
    pub code: Option<String>,
    /// What happened, in words: the detail, or else the title.
    pub words: Option<String>,
    /// Why a bundle is refused: a code of the bundle format.
    pub reason: Option<String>,
    /// By which the platform knows the request.
    pub request_id: Option<String>,
}

/// How the types of the platform's problems begin.
pub const PROBLEM_TYPES: &str = "urn:evidence-platform:problem:";

/// The codes of problems that mean that the body did not arrive as it was sent.
pub const DAMAGED: &[&str] = &["digest-mismatch", "body-incomplete"];

/// The members of a problem document that are used.
#[derive(Default, Deserialize)]
struct ProblemDocument {
    #[serde(rename = "type")]
    kind: Option<String>,
    title: Option<String>,
    detail: Option<String>,
    reason: Option<String>,
    request_id: Option<String>,
}

impl ProblemDocument {
    fn with_status(self, status: u16) -> Problem {
        let line =
            |text: Option<String>| text.map(|text| one_line(text.trim())).filter(|text| !text.is_empty());
        Problem {
            status,
            code: line(self.kind.and_then(|kind| kind.strip_prefix(PROBLEM_TYPES).map(str::to_string))),
            words: line(self.detail).or_else(|| line(self.title)),
            reason: line(self.reason),
            request_id: line(self.request_id),
        }
    }
}

impl Uplink {
    /// A client of the platform.
    ///
    /// # Errors
    ///
    /// If TLS cannot be set up; the text says why.
    pub fn new(settings: Settings, clock: Clock, watch: Arc<dyn Watch>) -> Result<Uplink, String> {
        let http = Setup {
            timeout: settings.timeout,
            idle: 1,
            roots: &[],
            proxy: &settings.proxy,
            store: "SSL_CERT_FILE",
            plain: settings.base.scheme() == "http",
        }
        .build()?;
        Ok(Uplink { http, settings, clock, watch })
    }

    /// Asks until there is an answer that stands.
    ///
    /// # Errors
    ///
    /// [`Failed`] if there is no good one.
    pub async fn send(&self, asked: &Asked<'_>) -> Result<Answer, Failed> {
        let mut attempts = 0;
        loop {
            attempts += 1;
            let (class, why) = match self.exchange(asked).await {
                Ok(answer) => return Ok(answer),
                Err(failed) => failed,
            };
            let failed = Failed { why, attempts };
            match verdict_within(self.settings.attempts, class, attempts, fastrand::f64()) {
                Verdict::RetryAfter(wait) => {
                    self.watch.again(&failed, wait);
                    let wait = SignedDuration::try_from(wait).unwrap_or(SignedDuration::ZERO);
                    let until = self.clock.now().checked_add(wait).unwrap_or(Timestamp::MAX);
                    self.clock.sleep_until(until).await;
                }
                Verdict::Accept | Verdict::GiveUp | Verdict::WaitForReset => return Err(failed),
            }
        }
    }

    async fn exchange(&self, asked: &Asked<'_>) -> Result<Answer, (Class, Why)> {
        let url = self.url(asked).map_err(|text| (Class::Unexpected, Why::Foreign(text)))?;
        let Settings { proxy, timeout, base, .. } = &self.settings;
        proxy.check([base]).map_err(|unusable| lost(unusable.into()))?;
        let mut headers = HeaderMap::new();
        headers.insert(AUTHORIZATION, self.settings.authorization.clone());
        headers.insert(ACCEPT, HeaderValue::from_static("application/json, application/problem+json"));
        let spoilt = Arc::new(Mutex::new(None));
        let request = match asked.content {
            Content::Question => self.http.get(url),
            Content::Order => self.http.post(url).header(CONTENT_LENGTH, 0),
            Content::Parcel(parcel) => self
                .http
                .post(url)
                .header(CONTENT_TYPE, "application/gzip")
                .header("content-digest", parcel.content_digest())
                .header(CONTENT_LENGTH, parcel.bytes)
                .body(reqwest::Body::wrap_stream(stream(parcel, &self.watch, &spoilt))),
        };
        let sent = request.headers(headers).send().await;
        if let Some(why) = spoilt.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err((Class::Unexpected, why));
        }
        let mut response = match sent {
            Ok(response) => response,
            Err(error) => return Err(lost(trouble(&error, base, *timeout, proxy).await)),
        };
        let status = response.status().as_u16();
        let body = read_body(&mut response, ANSWER_LIMIT).await;
        understand(status, response.headers(), body)
    }

    fn url(&self, asked: &Asked<'_>) -> Result<Url, String> {
        let mut url = self.settings.base.clone();
        url.path_segments_mut()
            .map_err(|()| "the address of the platform cannot have a path".to_string())?
            .pop_if_empty()
            .extend(["api", "v1"])
            .extend(asked.path);
        if !asked.query.is_empty() {
            url.query_pairs_mut()
                .extend_pairs(asked.query.iter().map(|(name, value)| (*name, value.as_str())));
        }
        Ok(url)
    }
}

/// A request that has no answer: whether to send it again.
fn lost(Trouble { text, obstacle }: Trouble) -> (Class, Why) {
    match obstacle {
        Some(obstacle) => (Class::Unexpected, Why::Obstacle(obstacle, text)),
        None => (Class::Transport, Why::Transport(text)),
    }
}

/// What an answer means.
fn understand(status: u16, headers: &HeaderMap, body: Body) -> Result<Answer, (Class, Why)> {
    let content_type = text(headers, "content-type").unwrap_or_default().to_ascii_lowercase();
    let media = content_type.split(';').next().unwrap_or_default().trim();
    let is_json = media == "application/json" || media.ends_with("+json");
    let date = text(headers, "date").and_then(|date| http_date(&date));
    let retry_after = text(headers, "retry-after").and_then(|value| retry_after_seconds(&value, date));
    let class = classify(status, retry_after);
    let foreign = |text: &str| Why::Foreign(format!("HTTP {status} {text}"));
    match (class, body) {
        (Class::Success, _) if !is_json => Err((Class::Unexpected, foreign("with a page that is not JSON"))),
        (Class::Success, Body::Complete(body)) => Ok(Answer { status, body }),
        (Class::Success, Body::Broken(text)) => Err((Class::Transport, Why::Transport(text))),
        (Class::Success, Body::TooLarge) => {
            Err((Class::Unexpected, foreign("with more than an answer of the platform has")))
        }
        (Class::Redirect, _) => {
            let to = text(headers, "location").map(|to| format!("with a redirect to {}", one_line(&to)));
            Err((class, foreign(&to.unwrap_or_else(|| "with a redirect to nowhere".to_string()))))
        }
        (class, body) => {
            let document = match body {
                Body::Complete(body) if is_json => serde_json::from_slice::<ProblemDocument>(&body).ok(),
                _ => None,
            };
            let problem = document.unwrap_or_default().with_status(status);
            // What was sent is known to be right, so it was damaged on its way.
            let damaged =
                status == 400 && problem.code.as_deref().is_some_and(|code| DAMAGED.contains(&code));
            let class = if damaged { Class::HostFault { retry_after } } else { class };
            Err((class, Why::Refused(Box::new(problem))))
        }
    }
}

/// What a status means. Total. A refusal that names a time to come back is one for the moment only.
fn classify(status: u16, retry_after: Option<u64>) -> Class {
    match status {
        200..=299 => Class::Success,
        300..=399 => Class::Redirect,
        401 => Class::Unauthorized,
        403 => Class::Forbidden(Refusal::Permission),
        404 => Class::NotFound,
        408 | 500..=599 => Class::HostFault { retry_after },
        429 => Class::Throttled { retry_after },
        409 | 423 | 425 if retry_after.is_some() => Class::Throttled { retry_after },
        _ => Class::Unexpected,
    }
}

type Spoilt = Arc<Mutex<Option<Why>>>;

/// The parcel from the disk, piece by piece.
fn stream(
    parcel: &Parcel,
    watch: &Arc<dyn Watch>,
    spoilt: &Spoilt,
) -> impl futures_util::Stream<Item = io::Result<Vec<u8>>> + use<> {
    let loading = Loading {
        parcel: parcel.clone(),
        done: 0,
        hasher: Sha256::new(),
        watch: Arc::clone(watch),
        spoilt: Arc::clone(spoilt),
    };
    // Reading blocks the one thread that waits, for no longer than a disk takes for a piece.
    futures_util::stream::unfold(loading, async |mut loading| Some((loading.next()?, loading)))
}

/// A parcel on its way.
struct Loading {
    parcel: Parcel,
    done: u64,
    hasher: Sha256,
    watch: Arc<dyn Watch>,
    spoilt: Spoilt,
}

impl Loading {
    fn next(&mut self) -> Option<io::Result<Vec<u8>>> {
        let left = self.parcel.bytes.checked_sub(self.done).filter(|left| *left > 0)?;
        Some(self.piece(left.min(CHUNK)).map_err(|why| {
            *self.spoilt.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
            io::Error::other("the file cannot be sent as it was announced")
        }))
    }

    fn piece(&mut self, length: u64) -> Result<Vec<u8>, Why> {
        let mut piece = vec![0; usize::try_from(length).unwrap_or_default()];
        match self.parcel.file.read_exact_at(&mut piece, self.done) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Err(Why::Changed),
            Err(error) => return Err(Why::Unreadable(error)),
        }
        self.hasher.update(&piece);
        self.done += length;
        // The last piece is held back until the whole is known to be what was announced.
        if self.done == self.parcel.bytes {
            let longer = self.parcel.file.metadata().map_err(Why::Unreadable)?.len() != self.parcel.bytes;
            if longer || self.hasher.finalize_reset()[..] != self.parcel.sha256 {
                return Err(Why::Changed);
            }
        }
        self.watch.sent(self.done);
        Ok(piece)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    struct Nobody;

    impl Watch for Nobody {
        fn sent(&self, _bytes: u64) {}

        fn again(&self, _failed: &Failed, _wait: Duration) {}
    }

    #[test]
    fn every_status_means_something() {
        for status in 0..=u16::MAX {
            let (plain, asked) = (classify(status, None), classify(status, Some(7)));
            let retried = |class| matches!(verdict_within(4, class, 1, 0.0), Verdict::RetryAfter(_));
            let faults = status == 408 || status == 429 || (500..600).contains(&status);
            assert_eq!(retried(plain), faults, "{status}");
            assert_eq!(retried(asked), faults || [409, 423, 425].contains(&status), "{status}");
            assert_eq!(plain == Class::Success, (200..300).contains(&status), "{status}");
        }
    }

    #[test]
    fn attempts_are_counted_as_configured() {
        for most in 1..=21 {
            let tried = (1..100).find(|n| verdict_within(most, Class::Transport, *n, 0.0) == Verdict::GiveUp);
            assert_eq!(tried, Some(most));
        }
    }

    fn answered(status: u16, media: &'static str, body: &str) -> Result<Answer, (Class, Why)> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(media));
        understand(status, &headers, Body::Complete(body.as_bytes().to_vec()))
    }

    fn problem(status: u16, media: &'static str, body: &str) -> (Class, Problem) {
        match answered(status, media, body) {
            Err((class, Why::Refused(problem))) => (class, *problem),
            other => panic!("{body}: {other:?}"),
        }
    }

    #[test]
    fn problems_are_one_bounded_line() {
        for (body, words) in [
            (r#"{"title":"Forbidden","detail":"no\nway\u001b[2J"}"#, Some(r"no\u{a}way\u{1b}[2J")),
            (r#"{"title":"Forbidden","detail":" "}"#, Some("Forbidden")),
            (r#"{"title":"  ","detail":null}"#, None),
            (r#"{"title":7}"#, None),
            ("<html>", None),
            ("", None),
        ] {
            assert_eq!(problem(403, "application/problem+json", body).1.words.as_deref(), words, "{body}");
        }
        let long = format!(r#"{{"detail":"{}"}}"#, "word ".repeat(1_000));
        assert!(problem(422, "application/json; charset=utf-8", &long).1.words.unwrap().len() < 600);
        // A page is never quoted, whatever it says it is.
        let page = problem(502, "text/html", r#"{"title":"x"}"#).1;
        assert_eq!(page, Problem { status: 502, ..Problem::default() });
    }

    #[test]
    fn a_body_damaged_on_its_way_is_sent_again() {
        let of = |status, code: &str| {
            let body = format!(r#"{{"type":"{PROBLEM_TYPES}{code}","reason":"r","request_id":"q"}}"#);
            problem(status, "application/problem+json", &body)
        };
        for (status, code, again) in [
            (400, "digest-mismatch", true),
            (400, "body-incomplete", true),
            (400, "digest-missing", false),
            (400, "invalid-request", false),
            (422, "digest-mismatch", false),
            (409, "no-trusted-key", false),
        ] {
            let (class, problem) = of(status, code);
            assert_eq!(class == Class::HostFault { retry_after: None }, again, "{status} {code}");
            assert_eq!(problem.code.as_deref(), Some(code));
            assert_eq!((problem.reason.as_deref(), problem.request_id.as_deref()), (Some("r"), Some("q")));
        }
        let other = r#"{"type":"https://example.com/digest-mismatch"}"#;
        assert_eq!(problem(400, "application/problem+json", other).1.code, None);
    }

    #[test]
    fn a_page_is_no_answer() {
        for media in ["text/html", "", "application/jsonx", "text/json"] {
            assert!(
                matches!(answered(200, media, "{}"), Err((Class::Unexpected, Why::Foreign(_)))),
                "{media}"
            );
        }
        assert_eq!(answered(201, "application/json; charset=utf-8", "{}").unwrap().status, 201);
    }

    fn parcel(content: &[u8]) -> (tempfile::NamedTempFile, Parcel) {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().write_all(content).unwrap();
        let digest = Sha256::digest(content).into();
        let parcel = Parcel::new(Arc::new(file.reopen().unwrap()), content.len() as u64, digest);
        (file, parcel)
    }

    /// What leaves of the parcel, and why it ends early if it does.
    fn sent(parcel: &Parcel, during: impl Fn(u64)) -> (Vec<u8>, Option<Why>) {
        let spoilt = Spoilt::default();
        let mut loading = Loading {
            parcel: parcel.clone(),
            done: 0,
            hasher: Sha256::new(),
            watch: Arc::new(Nobody),
            spoilt: Arc::clone(&spoilt),
        };
        let mut bytes = Vec::new();
        while let Some(Ok(piece)) = loading.next() {
            bytes.extend(piece);
            during(loading.done);
        }
        (bytes, spoilt.lock().unwrap().take())
    }

    #[test]
    fn a_file_leaves_whole() {
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK] {
            let content: Vec<u8> = (0..length).map(|at| (at % 251) as u8).collect();
            let (_file, parcel) = parcel(&content);
            let (bytes, why) = sent(&parcel, |_| {});
            assert!(why.is_none() && bytes == content, "{length}");
        }
    }

    #[test]
    fn a_file_that_changes_never_leaves_whole() {
        let content = vec![7; 3 * CHUNK as usize];
        let changes: [&dyn Fn(&File); 4] = [
            &|file| file.write_all_at(b"x", 0).unwrap(),
            &|file| file.write_all_at(b"x", 3 * CHUNK - 1).unwrap(),
            &|file| file.set_len(CHUNK).unwrap(),
            &|file| file.set_len(3 * CHUNK + 1).unwrap(),
        ];
        for (number, change) in changes.iter().enumerate() {
            for when in [0, 1] {
                let (file, parcel) = parcel(&content);
                if when == 0 {
                    change(file.as_file());
                }
                let (bytes, why) = sent(&parcel, |done| {
                    if when == 1 && done == CHUNK {
                        change(file.as_file());
                    }
                });
                // What had left before the change and is not read again is what was announced.
                if (number, when) == (0, 1) {
                    assert!(why.is_none());
                    continue;
                }
                assert!(matches!(why, Some(Why::Changed)), "{number} {when}");
                assert!(bytes.len() < content.len(), "{number} {when}");
            }
        }
    }
}
