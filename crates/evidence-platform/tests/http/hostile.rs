//! Invalid uploads, deliberate or accidental: the right problem, nothing stored, and the service keeps running.

use std::time::Duration;

use evidence_platform::server::Limits;
use evidence_platform::service::{Operator, Settings};
use evidence_platform::spool::UploadLimits;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::running::Running;
use crate::support::{Place, bundles, content_digest, tenant};

fn small() -> Settings {
    let patience =
        UploadLimits { bytes: 1_000_000, idle: Duration::from_secs(2), total: Duration::from_secs(5) };
    Settings { patience, uploads: 4, ..Settings::default() }
}

async fn nothing_is_stored(running: &Running, key: &str) {
    let list = running.get("/api/v1/bundles", key).await;
    assert_eq!(list.json["items"].as_array().unwrap().len(), 0, "{}", list.text());
    assert!(running.place.blob_files().is_empty(), "{:?}", running.place.blob_files());
    assert_eq!(running.service.claims().await.unwrap(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_is_refused_for_what_it_is() {
    let running = Running::at(Place::local(), small(), Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let good = bundles::bundle(1);
    let tampered = bundles::tampered(&good);
    let bomb = bundles::bomb(&good);
    assert!(bomb.len() < 1_000_000, "{}", bomb.len());
    let mut longer = good.clone();
    longer.extend_from_slice(b"more");
    let stranger = bundles::signed(1, b"{}", &bundles::other_key());
    let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../evidence-bundle/tests/bundles");
    let newer = std::fs::read(format!("{corpus}/newer-version_exit1/bundle.tar.gz")).unwrap();

    let cases = [
        ("no digest", good.clone(), None, 400, "digest-missing", None),
        ("another digest", good.clone(), Some(content_digest(b"x")), 400, "digest-mismatch", None),
        ("digest of another kind", good.clone(), Some("sha-512=:AAAA:".into()), 400, "digest-missing", None),
        ("too large", vec![0; 1_000_001], Some(content_digest(&vec![0; 1_000_001])), 413, "too-large", None),
        ("empty", Vec::new(), Some(content_digest(b"")), 422, "bundle-refused", Some("gzip")),
        ("no bundle", b"hello".to_vec(), Some(content_digest(b"hello")), 422, "bundle-refused", Some("gzip")),
        (
            "cut off",
            good[..good.len() - 9].to_vec(),
            Some(content_digest(&good[..good.len() - 9])),
            422,
            "bundle-refused",
            Some("gzip"),
        ),
        (
            "tampered",
            tampered.clone(),
            Some(content_digest(&tampered)),
            422,
            "bundle-refused",
            Some("checksum-mismatch"),
        ),
        (
            "longer",
            longer.clone(),
            Some(content_digest(&longer)),
            422,
            "bundle-refused",
            Some("gzip-trailing"),
        ),
        (
            "unknown signer",
            stranger.clone(),
            Some(content_digest(&stranger)),
            422,
            "bundle-refused",
            Some("signature-invalid"),
        ),
        ("newer", newer.clone(), Some(content_digest(&newer)), 422, "newer-version", None),
        ("bomb", bomb.clone(), Some(content_digest(&bomb)), 422, "bundle-refused", Some("limit")),
    ];
    for (name, bytes, digest, status, problem, reason) in cases {
        let answer = running.upload_with(&tenant.upload, &bytes, "", digest).await;
        assert_eq!((answer.status, answer.problem().as_str()), (status, problem), "{name}: {answer:?}");
        if let Some(reason) = reason {
            assert_eq!(answer.json["reason"], reason, "{name}");
        }
    }
    for query in [
        "?tag=x",
        "?tag=a=1&tag=a=2",
        "?retention_days=-1",
        "?retention_days=99999",
        "?tga=a=b",
        "?tag=%00=1",
    ] {
        let answer = running.upload_with(&tenant.upload, &good, query, Some(content_digest(&good))).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-request"), "{query}");
    }
    nothing_is_stored(&running, &tenant.admin).await;
    let log = running.get("/api/v1/audit-log", &tenant.admin).await;
    assert!(
        log.json["items"][0]["outcome"] == "refused" && log.json["items"][0]["action"] == "bundle.upload"
    );
    assert_eq!(running.upload(&tenant.upload, &good).await.status, 201);
}

#[tokio::test]
async fn without_a_trusted_key_nothing_is_taken() {
    let running = Running::local().await;
    let operator = Operator::of(&running.service);
    operator.create_organization("New", "new").await.unwrap();
    let key = operator.create_key("new", evidence_platform::role::Role::Admin, "x").await.unwrap();
    let answer = running.upload(key.key.reveal(), &bundles::bundle(1)).await;
    assert_eq!((answer.status, answer.problem().as_str()), (409, "no-trusted-key"));
    nothing_is_stored(&running, key.key.reveal()).await;
}

/// The head of an upload, written by hand; `more` are additional lines.
async fn head(running: &Running, key: &str, digest: &str, length: usize, more: &str) -> TcpStream {
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let head = format!(
        "POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nContent-Digest: {digest}\r\n\
         Content-Length: {length}\r\n{more}\r\n"
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream
}

/// The header of a client that waits for permission to send its body.
const WAITS: &str = "Expect: 100-continue\r\n";

/// The head of an upload and a part of its body.
async fn begin(running: &Running, key: &str, bytes: &[u8], send: usize) -> TcpStream {
    let mut stream = head(running, key, &content_digest(bytes), bytes.len(), "").await;
    stream.write_all(&bytes[..send]).await.unwrap();
    stream
}

async fn status(stream: &mut TcpStream) -> String {
    let mut text = vec![0; 12];
    let read = tokio::time::timeout(Duration::from_secs(20), stream.read_exact(&mut text)).await.unwrap();
    read.map(|_| String::from_utf8(text).unwrap()).unwrap_or_default()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_body_that_breaks_off_or_stops_leaves_nothing() {
    let running = Running::at(Place::local(), small(), Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let good = bundles::bundle(1);
    drop(begin(&running, &tenant.upload, &good, good.len() / 2).await);
    let mut half = begin(&running, &tenant.upload, &good, good.len() / 2).await;
    half.shutdown().await.unwrap();
    let said = status(&mut half).await;
    assert!(said.is_empty() || said.ends_with("400"), "{said}");
    let mut slow = begin(&running, &tenant.upload, &good, good.len() / 2).await;
    assert_eq!(status(&mut slow).await, "HTTP/1.1 408");
    // A trickle is not idle, but must not last forever either.
    let mut trickle = begin(&running, &tenant.upload, &good, 0).await;
    let began = std::time::Instant::now();
    let mut said = [0; 12];
    for byte in &good {
        if trickle.write_all(&[*byte]).await.is_err() {
            break;
        }
        let read = tokio::time::timeout(Duration::from_millis(200), trickle.read_exact(&mut said)).await;
        if let Ok(read) = read {
            assert!(read.is_err() || &said == b"HTTP/1.1 408");
            break;
        }
    }
    assert!(began.elapsed() < Duration::from_secs(15));
    nothing_is_stored(&running, &tenant.admin).await;
    let spool = running.place.home.path().join("blobs/.spool");
    assert_eq!(std::fs::read_dir(spool).unwrap().count(), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_may_inflate_as_far_as_the_operator_says() {
    let place = Place::local();
    let bounded = |inflated_bytes| Settings { inflated_bytes, ..Settings::default() };
    let running = Running::at(place.clone(), bounded(1 << 20), Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let (large, small) = (bundles::zeros(1, 1), bundles::bundle(2));
    let refused = running.upload(&tenant.upload, &large).await;
    assert_eq!((refused.status, refused.problem().as_str()), (422, "bundle-refused"));
    assert_eq!(refused.json["reason"], "limit");
    assert_eq!(refused.json["detail"], "the bundle inflates to more than 1048576 bytes");
    nothing_is_stored(&running, &tenant.admin).await;
    assert_eq!(running.upload(&tenant.upload, &small).await.status, 201);

    let raised = Running::at(place.clone(), bounded(65 << 20), Limits::default()).await;
    let stored = raised.upload(&tenant.upload, &large).await;
    assert_eq!(stored.status, 201, "{stored:?}");
    // A lower limit set later does not invalidate it.
    let path = format!("/api/v1/bundles/{}/verify", stored.json["bundle_id"].as_str().unwrap());
    let verified = running.call(reqwest::Method::POST, &path, Some(&tenant.upload), None).await;
    assert_eq!(verified.json["verified"], true, "{verified:?}");
}

/// The rules of the test bundles are of no version that the platform knows.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_bundle_that_cannot_be_judged_again_is_refused_if_the_operator_says_so() {
    let place = Place::local();
    let asked = |require_judgement| Settings { require_judgement, ..Settings::default() };
    let running = Running::at(place.clone(), asked(false), Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let stored = running.upload(&tenant.upload, &bundles::bundle(1)).await;
    assert_eq!(stored.status, 201, "{stored:?}");

    let strict = Running::at(place, asked(true), Limits::default()).await;
    let refused = strict.upload(&tenant.upload, &bundles::bundle(2)).await;
    assert_eq!((refused.status, refused.problem().as_str()), (422, "bundle-refused"));
    assert_eq!(refused.json["reason"], "judgement-not-repeated");
    assert!(
        refused.json["detail"].as_str().unwrap().contains("two-factor-required version 0"),
        "{refused:?}"
    );
    // What was accepted before stays verified.
    let path = format!("/api/v1/bundles/{}/verify", stored.json["bundle_id"].as_str().unwrap());
    let verified = strict.call(reqwest::Method::POST, &path, Some(&tenant.upload), None).await;
    assert_eq!(verified.json["verified"], true, "{verified:?}");
}

/// Two places for each organization; uploads slower than this lose theirs.
fn narrow(idle: Duration) -> Settings {
    let patience = UploadLimits { idle, total: Duration::from_secs(600), ..small().patience };
    Settings { patience, ..small() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn too_many_uploads_at_once_are_asked_to_come_back() {
    let running = Running::at(Place::local(), narrow(Duration::from_secs(600)), Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let good = bundles::bundle(1);
    // A client that gets permission to send the body has a place.
    let (mut slow, digest) = (Vec::new(), content_digest(&good));
    for _ in 0..2 {
        let mut stream = head(&running, &tenant.upload, &digest, good.len(), WAITS).await;
        assert_eq!(status(&mut stream).await, "HTTP/1.1 100");
        slow.push(stream);
    }
    let busy = running.upload(&tenant.upload, &good).await;
    assert_eq!((busy.status, busy.problem().as_str()), (503, "busy"));
    assert_eq!(busy.headers["retry-after"], "5");
    // Others are not kept waiting.
    let other = running.tenant("other").await;
    assert_eq!(running.upload(&other.upload, &good).await.status, 201);
    // The server releases the place of a client as soon as it sees the disconnect.
    drop(slow);
    for _ in 0..1_000 {
        if running.upload(&tenant.upload, &good).await.status == 201 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("the places are still taken");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_upload_that_is_too_slow_loses_its_place() {
    let running = Running::at(Place::local(), narrow(Duration::from_secs(1)), Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let good = bundles::bundle(1);
    let mut one = begin(&running, &tenant.upload, &good, 10).await;
    let mut two = begin(&running, &tenant.upload, &good, 10).await;
    for stream in [&mut one, &mut two] {
        assert_eq!(status(stream).await, "HTTP/1.1 408");
    }
    assert_eq!(running.upload(&tenant.upload, &good).await.status, 201);
}

#[tokio::test]
async fn the_service_of_another_home_does_not_know_the_keys() {
    let (one, two) = (Running::local().await, Running::local().await);
    let tenant = tenant(&one.service, "acme").await;
    assert_eq!(two.get("/api/v1/whoami", &tenant.admin).await.status, 401);
}

#[tokio::test]
async fn a_client_that_waits_is_not_asked_to_send_a_refused_body() {
    let running = Running::at(Place::local(), small(), Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let good = content_digest(b"x");
    for (key, length, digest, expected) in [
        ("wrong", 5_000_000, good.as_str(), "HTTP/1.1 401"),
        (&tenant.read, 5_000_000, &good, "HTTP/1.1 403"),
        (&tenant.upload, 5_000_000, &good, "HTTP/1.1 413"),
        (&tenant.upload, 5_000, "none", "HTTP/1.1 400"),
        (&tenant.upload, 5_000, &good, "HTTP/1.1 100"),
    ] {
        let mut stream = head(&running, key, digest, length, WAITS).await;
        assert_eq!(status(&mut stream).await, expected);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_client_that_sends_at_once_still_reads_why_it_is_refused() {
    let running = Running::at(Place::local(), small(), Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let body = vec![7; 5_000_000];
    assert_eq!(running.upload("wrong", &body).await.problem(), "unauthenticated");
    assert_eq!(running.upload(&tenant.read, &body).await.problem(), "forbidden");
    assert_eq!(running.upload(&tenant.upload, &body).await.problem(), "too-large");
    let stream = futures_util::stream::iter([body.clone(), body].map(Ok::<_, std::io::Error>));
    let request = running.client.post(running.url("/api/v1/bundles")).bearer_auth(&tenant.upload);
    let request =
        request.header("content-digest", content_digest(b"x")).body(reqwest::Body::wrap_stream(stream));
    let answer = crate::running::Answer::of(request.send().await.unwrap()).await;
    assert_eq!(answer.problem(), "too-large", "without a length");
}
