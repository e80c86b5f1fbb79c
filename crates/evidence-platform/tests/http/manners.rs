//! The server's behaviour: health, metrics, limits, slow clients, shutdown.

use std::time::Duration;

use evidence_platform::server::Limits;
use evidence_platform::service::Settings;
use reqwest::Method;
use serde_json::json;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::running::Running;
use crate::support::{Place, bundles};

#[tokio::test]
async fn health_readiness_and_numbers() {
    for place in Place::all().await {
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let tenant = running.tenant("acme").await;
        assert_eq!(running.upload(&tenant.upload, &bundles::bundle(1)).await.status, 201);
        let answer = |path: &'static str| running.call(Method::GET, path, None, None);
        assert_eq!(answer("/healthz").await.text(), "ok\n");
        assert_eq!(answer("/readyz").await.text(), "ready\n");
        let numbers = answer("/metrics").await;
        assert!(numbers.kind.starts_with("application/openmetrics-text; version=1.0.0"));
        let text = numbers.text();
        for line in [
            "evidence_platform_requests_total{route=\"/api/v1/bundles\",method=\"POST\",status=\"201\"} 1",
            "evidence_platform_bundles_stored_total 1",
            &format!("evidence_platform_bundles_stored_bytes_total {}", bundles::bundle(1).len()),
            &format!("evidence_platform_received_bytes_total {}", bundles::bundle(1).len()),
        ] {
            assert!(text.contains(line), "{line}\n{text}");
        }
        if matches!(running.place.storage, crate::support::Storage::Directory) {
            std::fs::rename(running.place.home.path().join("blobs"), running.place.home.path().join("gone"))
                .unwrap();
            // A result is reused for two seconds.
            tokio::time::sleep(Duration::from_millis(2_100)).await;
            let failed = answer("/readyz").await;
            assert_eq!(failed.problem(), "unavailable");
            assert_eq!(failed.json["detail"], "the storage takes no writes");
            assert_eq!(answer("/healthz").await.status, 200);
        }
    }
}

#[tokio::test]
async fn what_is_not_in_the_table_is_a_problem_too() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let answer = running.get("/api/v1/nothing", &tenant.admin).await;
    assert_eq!((answer.status, answer.problem().as_str()), (404, "not-found"));
    let answer = running.call(Method::PATCH, "/api/v1/bundles", Some(&tenant.admin), None).await;
    assert_eq!((answer.status, answer.problem().as_str()), (405, "method-not-allowed"));
    assert!(answer.headers.contains_key("allow"));
    for path in
        ["/api/v1/bundles/..%2f..%2fetc", "/api/v1/bundles/%00", "/api/v1/bundles/%ff", "/api/v1/bundles/a'b"]
    {
        assert_eq!(running.get(path, &tenant.admin).await.problem(), "not-found", "{path}");
    }
    for query in ["?limit=0", "?limit=101", "?limit=x", "?cursor=x", "?limit=1&limit=2", "?page=2"] {
        let answer = running.get(&format!("/api/v1/bundles{query}"), &tenant.admin).await;
        assert_eq!((answer.status, answer.problem().as_str()), (400, "invalid-request"), "{query}");
    }
    for body in [
        json!({}),
        json!({"role": "root", "name": "x"}),
        json!({"role": "read", "name": ""}),
        json!({"role": "read", "name": "a\u{0}"}),
        json!([1]),
    ] {
        let answer = running.call(Method::POST, "/api/v1/keys", Some(&tenant.admin), Some(body)).await;
        assert_eq!(answer.problem(), "invalid-request");
    }
    for key in ["", "not a key", "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----"] {
        let body = json!({"public_key": key, "name": "x"});
        let answer =
            running.call(Method::POST, "/api/v1/trusted-keys", Some(&tenant.admin), Some(body)).await;
        assert_eq!(answer.problem(), "invalid-request");
    }
    let large = json!({"role": "read", "name": "x".repeat(100_000)});
    let answer = running.call(Method::POST, "/api/v1/keys", Some(&tenant.admin), Some(large)).await;
    assert_eq!((answer.status, answer.problem().as_str()), (413, "too-large"));
    assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    assert_eq!(answer.headers["cache-control"], "no-store");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn silent_connections_keep_no_client_out() {
    let limits = Limits { connections: 50, head: Duration::from_secs(60), ..Limits::default() };
    let running = Running::at(Place::local(), Settings::default(), limits).await;
    let tenant = running.tenant("acme").await;
    let mut silent = Vec::new();
    for _ in 0..200 {
        let mut stream = TcpStream::connect(running.address).await.unwrap();
        let _ = stream.write_all(b"GET /api/v1/whoami HTTP/1.1\r\nX-Slow: ").await;
        silent.push(stream);
    }
    for _ in 0..10 {
        assert_eq!(running.get("/api/v1/whoami", &tenant.read).await.status, 200);
    }
    // The oldest was closed, the youngest are still open.
    let mut byte = [0];
    assert!(matches!(silent[0].read(&mut byte).await, Ok(0) | Err(_)));
    let last = tokio::time::timeout(Duration::from_millis(100), silent[199].read(&mut byte)).await;
    assert!(last.is_err(), "{last:?}");
}

#[tokio::test]
async fn a_head_that_does_not_end_is_not_waited_for() {
    let limits = Limits { head: Duration::from_millis(300), ..Limits::default() };
    let running = Running::at(Place::local(), Settings::default(), limits).await;
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    stream.write_all(b"GET / HTTP/1.1\r\nHost").await.unwrap();
    let mut rest = Vec::new();
    let ended = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the connection is still open");
    // A connection that never sends anything is not protected either.
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let ended = tokio::time::timeout(Duration::from_secs(5), stream.read_to_end(&mut rest)).await;
    assert!(ended.is_ok(), "the connection is still open");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_under_way_comes_to_its_end_when_the_server_stops() {
    let mut running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let bytes = bundles::bundle(1);
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let head = format!(
        "POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Digest: {}\r\nContent-Length: {}\r\n\r\n",
        tenant.upload,
        crate::support::content_digest(&bytes),
        bytes.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    stream.write_all(&bytes[..10]).await.unwrap();
    while !running
        .call(Method::GET, "/metrics", None, None)
        .await
        .text()
        .contains("evidence_platform_received_bytes_total 10")
    {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    running.stop.take().unwrap().send(()).unwrap();
    while TcpStream::connect(running.address).await.is_ok() {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stream.write_all(&bytes[10..]).await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    assert!(answer.starts_with(b"HTTP/1.1 201"), "{}", String::from_utf8_lossy(&answer));
    tokio::time::timeout(Duration::from_secs(5), running.task).await.unwrap().unwrap();
}
