//! Answers whose end is ambiguous, from a server that writes bytes: they are failures, tried as often as any other failed
//! connection, and never answers.

#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test says with a panic that it failed"
)]

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evidence_http::clock::Clock;
use evidence_http::quota::QuotaReading;
use evidence_http::retry::Class;
use evidence_http::{
    Anonymous, Answer, Call, CallError, Client, ClientSettings, Dialect, FailureKind, Meaning, ParseError,
    Watch,
};
use flate2::Compression;
use flate2::write::GzEncoder;
use jiff::Timestamp;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use url::Url;

const BODY: &[u8] = b"{\"two_factor_requirement_enabled\": true}";

struct Plain;

impl Dialect for Plain {
    fn understand(&self, _: &Answer<'_>) -> Meaning {
        let reading = QuotaReading::default();
        Meaning {
            class: Class::Success,
            code: None,
            message: None,
            request_id: None,
            permission: None,
            reading,
        }
    }
}

struct Nobody;

impl Watch for Nobody {}

static CALL: Call<Vec<u8>> = Call {
    name: "/",
    purpose: "",
    times: "",
    kind: None,
    media_type: "application/json",
    limit: 1_000,
    parse: |bytes| match bytes {
        b"" => Err(ParseError::Broken("empty".to_string())),
        _ => Ok(bytes.to_vec()),
    },
    subject: None,
    keep: None,
};

/// What the client makes of a server that always sends these bytes, and how many connections and requests that took.
async fn asked(answer: Vec<u8>) -> (Result<Vec<u8>, CallError>, usize, usize) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = Url::parse(&format!("http://{}/", listener.local_addr().unwrap())).unwrap();
    let (connections, requests) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (connected, requested) = (Arc::clone(&connections), Arc::clone(&requests));
    let server = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            connected.fetch_add(1, Ordering::Relaxed);
            let (answer, requested) = (answer.clone(), Arc::clone(&requested));
            tokio::spawn(async move {
                let mut heard = Vec::new();
                let mut part = [0; 1_024];
                while let Ok(read @ 1..) = stream.read(&mut part).await {
                    heard.extend_from_slice(part.get(..read).unwrap());
                    if heard.ends_with(b"\r\n\r\n") {
                        heard.clear();
                        requested.fetch_add(1, Ordering::Relaxed);
                        let _ = stream.write_all(&answer).await;
                    }
                }
            });
        }
    });
    // The program does this at its start; a test of the same process may have.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let settings = ClientSettings { plain: true, ..ClientSettings::default() };
    let clock = Clock::manual(Timestamp::now());
    let client =
        Client::new(settings, Arc::new(Plain), Arc::new(Anonymous), clock, Arc::new(Nobody)).unwrap();
    let answered = client.ask(&CALL.get(&url, &[]), &CALL).await.map(|answered| answered.value);
    server.abort();
    (answered, connections.load(Ordering::Relaxed), requests.load(Ordering::Relaxed))
}

fn packed(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(body).unwrap();
    encoder.finish().unwrap()
}

fn answer(headers: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\n{headers}\r\n").as_bytes(), body].concat()
}

fn chunked(body: &[u8]) -> Vec<u8> {
    let end: &[u8] = if body.is_empty() { b"\r\n" } else { b"\r\n0\r\n\r\n" };
    [format!("{:x}\r\n", body.len()).as_bytes(), body, end].concat()
}

#[tokio::test]
async fn an_answer_with_two_lengths_is_no_answer() {
    let (length, zipped) = (BODY.len(), packed(BODY));
    let both = "both Content-Length and Transfer-Encoding";
    let single = "Content-Length is not a single number";
    let coding = "Transfer-Encoding is not `chunked` alone";
    let invalid = "invalid content-length";
    // What a proxy that believes the length would have left for the next request.
    let smuggled = [chunked(b""), answer(&format!("Content-Length: {length}\r\n"), BODY)].concat();
    let gzip = "Content-Encoding: gzip\r\n";
    let table: Vec<(String, Vec<u8>, &str)> = vec![
        (format!("Content-Length: {length}\r\nTransfer-Encoding: chunked\r\n"), chunked(BODY), both),
        (format!("Transfer-Encoding: chunked\r\nContent-Length: {length}\r\n"), chunked(BODY), both),
        ("transfer-encoding: CHUNKED\r\ncontent-length: 0\r\n".to_owned(), chunked(BODY), both),
        (format!("Transfer-Encoding: chunked\r\nContent-Length: {}\r\n", smuggled.len()), smuggled, both),
        (
            format!("{gzip}Content-Length: {}\r\nTransfer-Encoding: chunked\r\n", zipped.len()),
            chunked(&zipped),
            both,
        ),
        (format!("Content-Length: {length}\r\nContent-Length: {length}\r\n"), BODY.to_vec(), single),
        (format!("Content-Length: {length}, {length}\r\n"), BODY.to_vec(), single),
        (format!("Content-Length: {length}\r\nContent-Length: 1\r\n"), BODY.to_vec(), invalid),
        (format!("Content-Length: {length}, 1\r\n"), BODY.to_vec(), invalid),
        (format!("Content-Length: +{length}\r\n"), BODY.to_vec(), invalid),
        ("Transfer-Encoding: gzip, chunked\r\n".to_string(), chunked(&zipped), coding),
        ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n".to_string(), chunked(BODY), coding),
        ("Transfer-Encoding: identity\r\nConnection: close\r\n".to_string(), BODY.to_vec(), coding),
    ];
    for (headers, body, why) in table {
        let (answered, connections, requests) = asked(answer(&headers, &body)).await;
        let Err(CallError::Failed(failure)) = answered else { panic!("{headers}: {answered:?}") };
        assert!(
            matches!(&failure.kind, FailureKind::Transport(text) if text.contains(why)),
            "{headers}: {failure}"
        );
        // As often as any other failed connection, and never again over the same one.
        assert_eq!((failure.attempts, connections, requests), (5, 5, 5), "{headers}: {failure}");
    }
}

#[tokio::test]
async fn an_answer_with_one_length_counts() {
    let (length, zipped) = (BODY.len(), packed(BODY));
    let twice = [packed(&BODY[..9]), packed(&BODY[9..])].concat();
    let table: Vec<(String, Vec<u8>)> = vec![
        (format!("Content-Length: {length}\r\n"), BODY.to_vec()),
        ("Transfer-Encoding: chunked\r\n".to_string(), chunked(BODY)),
        (format!("Content-Encoding: identity\r\nContent-Length: {length}\r\n"), BODY.to_vec()),
        (format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", zipped.len()), zipped.clone()),
        (format!("Content-Encoding: GZIP\r\nContent-Length: {}\r\n", zipped.len()), zipped.clone()),
        ("Content-Encoding: x-gzip\r\nTransfer-Encoding: chunked\r\n".to_string(), chunked(&zipped)),
        (format!("Content-Encoding: gzip\r\nContent-Length: {}\r\n", twice.len()), twice),
    ];
    for (headers, body) in table {
        let (answered, connections, requests) = asked(answer(&headers, &body)).await;
        assert_eq!(answered.unwrap(), BODY, "{headers}");
        assert_eq!((connections, requests), (1, 1), "{headers}");
    }
}

/// A packed answer that is cut off, damaged or too long counts as no answer.
#[tokio::test]
async fn a_packed_answer_is_unpacked_within_its_limit() {
    let zipped = packed(BODY);
    let headers =
        |coding: &str, length: usize| format!("Content-Encoding: {coding}\r\nContent-Length: {length}\r\n");
    let failed = async |coding: &str, body: &[u8]| {
        let (answered, ..) = asked(answer(&headers(coding, body.len()), body)).await;
        match answered {
            Err(CallError::Failed(failure)) => failure,
            other => panic!("{coding}: {other:?}"),
        }
    };
    for cut in 1..zipped.len() {
        let failure = failed("gzip", &zipped[..cut]).await;
        assert!(matches!(failure.kind, FailureKind::Transport(_)), "{cut}: {failure}");
    }
    let mut damaged = zipped.clone();
    let last = damaged.len() - 8;
    damaged[last] ^= 1;
    let behind = [zipped.as_slice(), b"and more"].concat();
    for body in [damaged.as_slice(), &behind, BODY] {
        let failure = failed("gzip", body).await;
        assert!(
            matches!(&failure.kind, FailureKind::Transport(text) if text.contains("unpacked")),
            "{failure}"
        );
    }
    for coding in ["br", "gzip, gzip", "deflate"] {
        let failure = failed(coding, &zipped).await;
        assert!(
            matches!(&failure.kind, FailureKind::Transport(text) if text.contains("Content-Encoding")),
            "{failure}"
        );
    }
    let bomb = failed("gzip", &packed(&vec![b' '; 10_000_000])[..900]).await;
    assert!(matches!(bomb.kind, FailureKind::TooLarge { limit: 1_000 }), "{bomb}");
}
