//! Requests written by hand: framing that two servers could read differently, and names that are not ours.

use std::time::Duration;

use evidence_platform::server::Limits;
use evidence_platform::service::Settings;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::running::Running;
use crate::support::{Place, bundles, content_digest};

/// Everything the server answers until it closes the connection.
async fn answers(running: &Running, parts: &[&[u8]]) -> String {
    let mut stream = TcpStream::connect(running.address).await.unwrap();
    let mut said = Vec::new();
    let (mut from, mut to) = stream.split();
    let send = async {
        for part in parts {
            if to.write_all(part).await.is_err() || to.flush().await.is_err() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(2)).await;
        }
    };
    let _ = tokio::join!(send, from.read_to_end(&mut said));
    String::from_utf8_lossy(&said).into_owned()
}

fn statuses(said: &str) -> Vec<u16> {
    let heads = said.match_indices("HTTP/1.1 ").chain(said.match_indices("HTTP/1.0 "));
    heads.map(|(at, _)| said[at + 9..at + 12].parse().unwrap()).collect()
}

/// A server that soon closes connections without a request.
async fn server(host_names: Vec<String>) -> Running {
    let limits = Limits { head: Duration::from_millis(700), host_names, ..Limits::default() };
    Running::at(Place::local(), Settings::default(), limits).await
}

#[tokio::test]
async fn framing_has_one_meaning_or_is_refused() {
    let running = server(Vec::new()).await;
    let form =
        "POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\n";
    let chunk = "3\r\nkey\r\n0\r\n\r\n";
    let get = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let cases: Vec<(String, &[u16])> = vec![
        (get.into(), &[200]),
        (format!("\r\n\r\n{get}{get}"), &[200, 200]),
        ("GET /healthz HTTP/1.0\r\n\r\n".into(), &[200]),
        ("GET /healthz HTTP/1.0\r\nHost: localhost\r\n\r\n".into(), &[200]),
        // Lines end in CR LF.
        ("GET /healthz HTTP/1.1\nHost: localhost\n\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\nX: y\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\n".into(), &[400]),
        ("\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n".into(), &[400]),
        (format!("{get}GET /healthz HTTP/1.1\nHost: localhost\n\n"), &[200, 400]),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\rb\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\r\n b\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX : a\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: a\0b\r\n\r\n".into(), &[400]),
        // One host.
        ("GET /healthz HTTP/1.1\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: localhost\r\nHost: evil.test\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: a b\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost: user@localhost\r\n\r\n".into(), &[400]),
        ("GET /healthz HTTP/1.1\r\nHost:\r\n\r\n".into(), &[400]),
        // One length.
        (format!("{form}Content-Length: 3\r\n\r\nkey{get}"), &[401, 200]),
        (format!("{form}Content-Length: 3\r\nContent-Length: 3\r\n\r\nkey{get}"), &[400]),
        (format!("{form}Content-Length: 3\r\nContent-Length: 4\r\n\r\nkey{get}"), &[400]),
        (format!("{form}Content-Length: 3, 3\r\n\r\nkey{get}"), &[400]),
        (format!("{form}Content-Length: +3\r\n\r\nkey{get}"), &[400]),
        (format!("{form}Content-Length: 0x3\r\n\r\nkey{get}"), &[400]),
        (format!("{form}Content-Length:\r\n\r\nkey{get}"), &[400]),
        (format!("{form}Content-Length: 99999999999999999999\r\n\r\nkey{get}"), &[400]),
        (format!("{form}Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}{get}"), &[400]),
        (format!("{form}Transfer-Encoding: chunked\r\ncontent-length: 3\r\n\r\n{chunk}{get}"), &[400]),
        // Chunks alone. The connection ends behind them.
        (format!("{form}Transfer-Encoding: chunked\r\n\r\n{chunk}{get}"), &[401]),
        (format!("{form}Transfer-Encoding: Chunked\r\n\r\n{chunk}"), &[401]),
        (format!("{form}Transfer-Encoding: gzip, chunked\r\n\r\n{chunk}"), &[501]),
        (format!("{form}Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n{chunk}"), &[501]),
        (format!("{form}Transfer-Encoding: chunked, chunked\r\n\r\n{chunk}"), &[400]),
        (format!("{form}Transfer-Encoding: chunked, gzip\r\n\r\n{chunk}"), &[400]),
        // Without chunks at the end, the length of the body is not known: 400 (RFC 9112, 6.3).
        (format!("{form}Transfer-Encoding: gzip\r\n\r\n{chunk}"), &[400]),
        (format!("{form}Transfer-Encoding: identity\r\n\r\n{chunk}"), &[400]),
        (format!("{form}Transfer-Encoding: xchunked\r\n\r\n{chunk}"), &[400]),
        (format!("{form}Transfer-Encoding: \x0bchunked\r\n\r\n{chunk}"), &[400]),
        (form.replace("1.1", "1.0") + &format!("Transfer-Encoding: chunked\r\n\r\n{chunk}"), &[400]),
        (format!("GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: {}\r\n\r\n", "x".repeat(70_000)), &[431]),
    ];
    let running = &running;
    let checks = cases.into_iter().map(|(request, expected)| async move {
        let bytes = request.as_bytes();
        let shown: String = request.chars().take(300).collect();
        let whole = answers(running, &[bytes]).await;
        assert_eq!(statuses(&whole), expected, "{shown:?}\n{whole}");
        // The same in pieces that end at any byte.
        if bytes.len() < 1_000 {
            let cut = fastrand::usize(1..bytes.len());
            let pieces = answers(running, &[&bytes[..cut], &bytes[cut..]]).await;
            assert_eq!(statuses(&pieces), expected, "{shown:?}, cut at {cut}\n{pieces}");
        }
    });
    futures_util::future::join_all(checks).await;
    let twice = answers(running, &[b"GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n"]).await;
    assert!(twice.contains("urn:evidence-platform:problem:invalid-request"), "{twice}");
    assert!(twice.contains("more than one header Host"), "{twice}");
}

#[tokio::test]
async fn uploads_in_one_connection_are_still_uploads() {
    let running = server(Vec::new()).await;
    let tenant = running.tenant("acme").await;
    let mut requests = Vec::new();
    for number in 1..=3 {
        let bytes = bundles::bundle(number);
        let head = format!(
            "POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Digest: {}\r\n\
             Content-Length: {}\r\n\r\n",
            tenant.upload,
            content_digest(&bytes),
            bytes.len()
        );
        requests.extend([head.as_bytes(), bytes.as_slice()].concat());
    }
    let bytes = bundles::bundle(4);
    requests.extend(
        format!(
            "POST /api/v1/bundles HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {}\r\nContent-Digest: {}\r\n\
             Transfer-Encoding: chunked\r\n\r\n{:x}\r\n",
            tenant.upload,
            content_digest(&bytes),
            bytes.len()
        )
        .as_bytes(),
    );
    requests.extend([bytes.as_slice(), b"\r\n0\r\n\r\n"].concat());
    assert_eq!(statuses(&answers(&running, &[&requests]).await), [201; 4]);
}

#[tokio::test]
async fn only_our_names_are_answered() {
    let running = server(vec!["evidence.example.com".to_owned()]).await;
    let ask = async |target: &str, host: &str, more: &str| {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {host}\r\n{more}Connection: close\r\n\r\n");
        answers(&running, &[request.as_bytes()]).await
    };
    for (target, host, expected) in [
        ("/api/v1/openapi.json", "evidence.example.com", 200),
        ("/api/v1/openapi.json", "Evidence.Example.COM:8443", 200),
        ("/api/v1/openapi.json", "127.0.0.1:8321", 200),
        ("/api/v1/openapi.json", "[::1]:8321", 200),
        ("/api/v1/openapi.json", "localhost:8321", 200),
        ("/api/v1/openapi.json", "evil.test", 421),
        ("/metrics", "evil.test", 421),
        ("/sign-in", "evil.test:8321", 421),
        ("/nothing", "evil.test", 421),
        ("http://evil.test/sign-in", "localhost", 421),
        ("http://localhost/sign-in", "evil.test", 421),
        ("http://localhost/sign-in", "localhost", 200),
        // Health checks come under any name.
        ("/healthz", "evil.test", 200),
        ("/readyz", "evil.test", 200),
    ] {
        let said = ask(target, host, "").await;
        assert_eq!(statuses(&said), [expected], "{target} {host}\n{said}");
        assert!(expected != 421 || said.contains("urn:evidence-platform:problem:misdirected"), "{said}");
        assert!(!said.contains("evil"), "{said}");
    }
    let page = ask("/sign-in", "evil.test", "Accept: text/html\r\n").await;
    assert!(statuses(&page) == [421] && page.contains("<!doctype html>"), "{page}");
}
