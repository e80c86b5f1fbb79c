//! Header names in the host's own spelling over HTTP/1.1 (`ETag`, `X-GitHub-Request-Id`,
//! `x-github-api-version-selected`).
//!
//! The HTTP implementation writes names in lower case, unless it has itself read a header in another spelling. So it
//! reads them all once at the start, and every answer carries the result. Clients must not depend on the case, but a
//! capture that looks like the host's is easier to compare.

use bytes::Bytes;
use http_body_util::Full;
use hyper::http::Extensions;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::sync::Mutex;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// Mixed case on purpose, as on the wire.
const NAMES: &[&str] = &[
    "Date",
    "Content-Type",
    "Cache-Control",
    "Vary",
    "ETag",
    "Last-Modified",
    "Link",
    "Location",
    "Retry-After",
    "WWW-Authenticate",
    "x-amzn-RequestId",
    "X-OAuth-Scopes",
    "X-Accepted-OAuth-Scopes",
    "X-Accepted-GitHub-Permissions",
    "github-authentication-token-expiration",
    "X-GitHub-Media-Type",
    "x-github-api-version-selected",
    "X-GitHub-SSO",
    "X-RateLimit-Limit",
    "X-RateLimit-Remaining",
    "X-RateLimit-Reset",
    "X-RateLimit-Used",
    "X-RateLimit-Resource",
    "Access-Control-Expose-Headers",
    "Access-Control-Allow-Origin",
    "Strict-Transport-Security",
    "X-Frame-Options",
    "X-Content-Type-Options",
    "X-XSS-Protection",
    "Referrer-Policy",
    "Content-Security-Policy",
    "Content-Encoding",
    "Content-Length",
    "Server",
    "X-GitHub-Request-Id",
];

/// The spelling, in the form of a response's extensions. Empty (lower case) if it cannot be learned.
pub(super) fn learn(runtime: &tokio::runtime::Runtime) -> Extensions {
    let learned = Mutex::new(Extensions::new());
    runtime.block_on(async {
        let (mut client, server) = tokio::io::duplex(16 * 1024);
        let mut head = String::from("GET / HTTP/1.1\r\nHost: sandbox\r\nConnection: close\r\n");
        for name in NAMES.iter().filter(|name| **name != "Content-Length") {
            head.push_str(&format!("{name}: x\r\n"));
        }
        head.push_str("Content-Length: 0\r\n\r\n");
        let read = service_fn(|request: hyper::Request<hyper::body::Incoming>| {
            *crate::lock::lock(&learned) = request.extensions().clone();
            async { Ok::<_, Infallible>(hyper::Response::new(Full::new(Bytes::new()))) }
        });
        let serve = hyper::server::conn::http1::Builder::new()
            .preserve_header_case(true)
            .serve_connection(TokioIo::new(server), read);
        let talk = async {
            let _ = client.write_all(head.as_bytes()).await;
            let _ = client.read_to_end(&mut Vec::new()).await;
        };
        let _ = tokio::join!(serve, talk);
    });
    learned.into_inner().unwrap_or_default()
}
