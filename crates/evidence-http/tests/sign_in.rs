//! What a client does with a credential that expires or that the host refuses, against a server that knows which tokens
//! are good.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says with a panic that it failed"
)]

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use evidence_http::clock::Clock;
use evidence_http::quota::QuotaReading;
use evidence_http::retry::Class;
use evidence_http::{
    Answer, Call, CallError, Client, ClientSettings, Dialect, FailureKind, Lease, Login, Meaning, Renewal,
    RenewalTerms, RequestFailure, Watch, bearer, recorded,
};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use jiff::{SignedDuration, Timestamp};
use reqwest::header::HeaderValue;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use url::Url;

struct ByStatus;

impl Dialect for ByStatus {
    fn understand(&self, answer: &Answer<'_>) -> Meaning {
        let class = match answer.status {
            200 => Class::Success,
            401 => Class::Unauthorized,
            _ => Class::HostFault { retry_after: Some(answer.status.into()) },
        };
        let reading = QuotaReading::default();
        Meaning { class, code: None, message: None, request_id: None, permission: None, reading }
    }
}

struct Nobody;

impl Watch for Nobody {}

static CALL: Call<()> = Call {
    name: "/",
    purpose: "",
    times: "",
    kind: Some("a kind"),
    media_type: "application/json",
    limit: 1_000,
    parse: |_| Ok(()),
    subject: None,
    keep: None,
};

/// Tokens in their order; `None` is a renewal that fails.
struct Tokens {
    next: Mutex<VecDeque<Option<&'static str>>>,
    clock: Clock,
}

impl Renewal<HeaderValue> for Tokens {
    fn renew(&self) -> BoxFuture<'_, Result<Lease<HeaderValue>, CallError>> {
        let next = self.next.lock().unwrap().pop_front().flatten();
        let expires = Some(self.now().checked_add(SignedDuration::from_hours(1)).unwrap());
        let failure =
            || RequestFailure { attempts: 5, ..RequestFailure::local(FailureKind::Transport("gone".into())) };
        let lease = next.map(|token| Lease { value: bearer(token).unwrap(), expires });
        std::future::ready(lease.ok_or_else(|| CallError::Failed(failure()))).boxed()
    }

    fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

/// A client, and the tokens that the server saw, in order.
struct Tested {
    client: Client,
    url: Url,
    clock: Arc<Mutex<Timestamp>>,
    seen: Arc<Mutex<Vec<String>>>,
}

impl Tested {
    /// A server that answers each token with the status in `statuses`, and else with 401.
    async fn new(tokens: &[Option<&'static str>], statuses: &[(&'static str, u16)]) -> Tested {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (log, statuses) = (Arc::clone(&seen), statuses.to_vec());
        tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let (log, statuses) = (Arc::clone(&log), statuses.clone());
                tokio::spawn(async move {
                    let mut heard = Vec::new();
                    let mut part = [0; 1_024];
                    while let Ok(read @ 1..) = stream.read(&mut part).await {
                        heard.extend_from_slice(&part[..read]);
                        if heard.ends_with(b"\r\n\r\n") {
                            let text = String::from_utf8(std::mem::take(&mut heard)).unwrap();
                            let token =
                                text.split("earer ").nth(1).and_then(|rest| rest.split("\r\n").next());
                            let token = token.unwrap_or_default().to_string();
                            let status = statuses.iter().find(|(good, _)| *good == token);
                            let status = status.map_or(401, |(_, status)| *status);
                            log.lock().unwrap().push(token);
                            let answer = format!("HTTP/1.1 {status} x\r\nContent-Length: 2\r\n\r\n{{}}");
                            let _ = stream.write_all(answer.as_bytes()).await;
                        }
                    }
                });
            }
        });
        // The program does this at its start; a test of the same process may have.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let time = Arc::new(Mutex::new(Timestamp::UNIX_EPOCH));
        let clock = Clock::Manual(Arc::clone(&time));
        let terms = RenewalTerms {
            before_end: SignedDuration::from_mins(5),
            after_pause: Some(SignedDuration::from_mins(1)),
            refusals: 2,
        };
        let next = Mutex::new(tokens.iter().copied().collect());
        let login = Login::renewed(terms, Box::new(Tokens { next, clock: clock.clone() }));
        let settings = ClientSettings {
            plain: true,
            max_concurrency: 8.try_into().unwrap(),
            ..ClientSettings::default()
        };
        let client =
            Client::new(settings, Arc::new(ByStatus), Arc::new(login), clock, Arc::new(Nobody)).unwrap();
        Tested { client, url, clock: time, seen }
    }

    async fn ask(&self) -> Result<(), CallError> {
        self.client.ask(&CALL.get(&self.url, &[]), &CALL).await.map(|answered| answered.value)
    }

    fn seen(&self) -> Vec<String> {
        std::mem::take(&mut *self.seen.lock().unwrap())
    }
}

fn status(asked: &Result<(), CallError>) -> u16 {
    match asked {
        Ok(()) => 200,
        Err(CallError::Refused(refused)) => refused.meta.status,
        Err(CallError::Failed(failure)) => match failure.kind {
            FailureKind::Unauthorized(_) => 0,
            _ => panic!("{failure}"),
        },
    }
}

#[tokio::test]
async fn a_refused_token_is_renewed_once_for_a_request_and_the_evidence_has_both_answers() {
    let it = Tested::new(&[Some("a"), Some("b")], &[("b", 200)]).await;
    let (asked, trail) = recorded(it.ask()).await;
    assert_eq!(status(&asked), 200);
    assert_eq!(it.seen(), ["a", "b"]);
    assert_eq!(trail.iter().map(|asked| asked.status).collect::<Vec<_>>(), [Some(401), Some(200)]);
    assert_eq!((it.client.requests(), it.client.retries()), (2, 0));
    assert_eq!(status(&it.ask().await), 200);
    assert_eq!(it.seen(), ["b"]);
}

#[tokio::test]
async fn two_refused_tokens_end_the_connection_test() {
    let it = Tested::new(&[Some("a"), Some("b"), Some("c")], &[]).await;
    assert_eq!(status(&it.ask().await), 401);
    assert_eq!(it.seen(), ["a", "b"]);
    // Nothing is sent any more.
    assert_eq!(status(&it.ask().await), 0);
    assert_eq!(it.seen(), Vec::<String>::new());
}

#[tokio::test]
async fn after_a_pause_the_first_request_renews() {
    let it = Tested::new(&[Some("a"), Some("b")], &[("a", 200), ("b", 200)]).await;
    it.ask().await.unwrap();
    let later = it.clock.lock().unwrap().checked_add(SignedDuration::from_mins(50)).unwrap();
    *it.clock.lock().unwrap() = later;
    for asked in join_all((0..8).map(|_| it.ask())).await {
        asked.unwrap();
    }
    assert_eq!(it.seen(), ["a", "b", "b", "b", "b", "b", "b", "b", "b"]);
}

/// Without a token nothing is sent, nothing is in the evidence, and the places in the gate are free again.
#[tokio::test]
async fn without_a_token_nothing_is_sent() {
    let it = Tested::new(&[None, None, Some("a")], &[("a", 200)]).await;
    for _ in 0..2 {
        let (asked, trail) = recorded(it.ask()).await;
        let Err(CallError::Failed(failure)) = asked else { panic!("{asked:?}") };
        assert_eq!(failure.to_string(), "gone (after 5 attempts)");
        assert_eq!((trail, it.client.requests()), (Vec::new(), 0));
    }
    let all = join_all((0..20).map(|_| it.ask())).await;
    assert!(all.iter().all(Result::is_ok));
    assert_eq!(it.seen().len(), 20);
}

/// All workers hold the refused token: each repeats its request with the same new one.
#[tokio::test]
async fn all_workers_repeat_with_one_new_token() {
    let it = Tested::new(&[Some("a"), Some("b"), Some("c")], &[("b", 200)]).await;
    let all = join_all((0..8).map(|_| it.ask())).await;
    assert!(all.iter().all(|asked| status(asked) == 200));
    let seen = it.seen();
    let count = |token: &str| seen.iter().filter(|seen| *seen == token).count();
    assert_eq!((count("a"), count("b"), count("c")), (8, 8, 0));
}
