//! Thousands of random requests: invented values do not grow memory, `/metrics`, or a line of the log.

use std::collections::BTreeMap;
use std::net::Ipv6Addr;

use futures_util::future::join_all;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::process::{Home, Serving, client};
use crate::support::{bundles, content_digest};
use evidence_platform::api::routes::{Route, table};
use evidence_platform::secret::ApiKey;

/// How many requests to send; `EVIDENCE_NOISE=50000` for the full size.
const REQUESTS: usize = 6_000;
/// Connections at once, and pipelined requests on one of them.
const CONNECTIONS: usize = 8;
const PIPELINED: usize = 50;
/// The most memory that they may add, in kB; the most bytes of `/metrics`; the most bytes of a log line.
const MEMORY: u64 = 10_000;
const NUMBERS: usize = 200_000;
const LINE: usize = 300;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invented_methods_paths_and_headers_cost_nothing() {
    let requests = std::env::var("EVIDENCE_NOISE").map_or(REQUESTS, |text| text.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("log");
    let mut home = Home::local(directory.path());
    home.log = Some(log.clone());
    // Long addresses that are always new.
    home.serve = vec!["--trusted-proxies", "127.0.0.1"];
    let serving = Serving::start(&home, &crate::process::free_address());
    let admin = home.organization(directory.path());
    // With a role that is often refused.
    let key = home.ask(&["key", "create", "--organization", "acme", "--role", "upload"]);
    let address = serving.url.strip_prefix("http://").unwrap().to_owned();

    // Warm up buffers, threads and database connections before the comparison.
    flood(&address, &key, 1_000, 1).await;
    let before = serving.memory();
    let sent = flood(&address, &key, requests, 2).await;
    let after = serving.memory();

    let numbers =
        client().get(format!("{}/metrics", serving.url)).send().await.unwrap().text().await.unwrap();
    let mut statuses = BTreeMap::new();
    for line in numbers.lines().filter(|line| line.starts_with("evidence_platform_requests_total{")) {
        let (labels, count) = line.rsplit_once(' ').unwrap();
        let status = labels.rsplit_once("status=\"").unwrap().1.trim_end_matches("\"}").to_owned();
        *statuses.entry(status).or_default() += count.parse::<usize>().unwrap();
    }
    let answered: usize = statuses.values().sum();
    let (_, _) = serving.terminate();
    let log = std::fs::read_to_string(log).unwrap();
    let longest = log.lines().max_by_key(|line| line.len()).unwrap();
    println!(
        "{sent} requests, {answered} answered {statuses:?}: {before} kB before, {after} kB behind them; /metrics has \
         {} bytes; of {} lines in the log the longest has {} bytes",
        numbers.len(),
        log.lines().count(),
        longest.len()
    );
    assert!(answered > sent / 10 * 9, "most of them were no HTTP: {statuses:?}");
    assert!(statuses.len() >= 8, "{statuses:?}");
    assert!(after < before + MEMORY, "{before} kB, then {after} kB");
    assert!(numbers.len() < NUMBERS, "/metrics has {} bytes", numbers.len());
    assert!(longest.len() < LINE, "{} bytes: {longest}", longest.len());
    assert!(log.lines().all(|line| serde_json::from_str::<serde_json::Value>(line).is_ok()));
    for key in [admin, key] {
        assert!(!log.contains(key.rsplit('_').next().unwrap()));
    }
}

/// Sends this many requests and reads the answers; returns how many were sent.
async fn flood(address: &str, key: &str, requests: usize, seed: u64) -> usize {
    let batches = requests.div_ceil(CONNECTIONS * PIPELINED);
    let senders = (0..CONNECTIONS).map(|sender| {
        let (address, key) = (address.to_owned(), key.to_owned());
        let mut random = fastrand::Rng::with_seed(seed << 32 | u64::try_from(sender).unwrap());
        tokio::spawn(async move {
            let (routes, bundle) = (table(), bundles::tampered(&bundles::bundle(1)));
            for _ in 0..batches {
                let batch: Vec<u8> = (1..=PIPELINED)
                    .flat_map(|n| request(&mut random, &routes, &bundle, &key, n == PIPELINED))
                    .collect();
                let mut stream = TcpStream::connect(&address).await.unwrap();
                let (mut answers, mut requests) = stream.split();
                let mut answered = Vec::new();
                // The server closes the connection after invalid HTTP; the rest of the batch is then lost.
                let _ = tokio::join!(requests.write_all(&batch), answers.read_to_end(&mut answered));
            }
        })
    });
    for sender in join_all(senders).await {
        sender.unwrap();
    }
    batches * CONNECTIONS * PIPELINED
}

/// A random request that is valid HTTP.
fn request(random: &mut fastrand::Rng, routes: &[Route], bundle: &[u8], key: &str, last: bool) -> Vec<u8> {
    let route = &routes[random.usize(..routes.len())];
    let method = match random.u8(..20) {
        0 => token(random, 60_000),
        1..4 => token(random, 30),
        4..8 => {
            let known = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"];
            known[random.usize(..known.len())].to_owned()
        }
        _ => route.method.to_string(),
    };
    let path = match random.u8(..10) {
        0 => format!("/{}", token(random, 4_000)),
        1 => format!("{}/{}", route.path.replace(['{', '}', '*'], ""), token(random, 200)),
        2 => format!(
            "{}?{}={}",
            route.path.replace(['{', '}', '*'], ""),
            token(random, 20),
            token(random, 2_000)
        ),
        _ => route
            .path
            .replace("{*path}", "x")
            .replace("{bundle_id}", &token(random, 40))
            .replace("{key_id}", "x"),
    };
    let authorization = match random.u8(..8) {
        0 => format!("Authorization: {}\r\n", token(random, 2_000)),
        1 => format!("Authorization: Bearer {}\r\n", token(random, 200)),
        2 => format!("Authorization: Bearer {}\r\n", ApiKey::random().unwrap().reveal()),
        3 => format!("Cookie: evidence-platform-session={:064x}\r\n", random.u128(..)),
        4..6 => format!("Authorization: Bearer {key}\r\n"),
        _ => String::new(),
    };
    let client = match random.u8(..8) {
        0 => token(random, 2_000),
        _ => Ipv6Addr::from_bits(random.u128(..) | 1 << 127).to_string(),
    };
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nHost: localhost\r\nX-Forwarded-For: {client}\r\n{authorization}"
    );
    for _ in 0..random.u8(..8) {
        head += &format!("x-{}: {}\r\n", token(random, 60), token(random, 60));
    }
    let body = match random.u8(..6) {
        0 => b"key=evp_0123456789abcdef_guessed&next=/".to_vec(),
        1 => token(random, 3_000).into_bytes(),
        2 => bundle.to_vec(),
        _ => Vec::new(),
    };
    if !body.is_empty() {
        let of = if random.bool() { body.as_slice() } else { b"other" };
        head += &format!("Content-Digest: {}\r\nContent-Length: {}\r\n", content_digest(of), body.len());
        head += ["", "Content-Type: application/json\r\n"][random.usize(..2)];
    }
    head += if last { "Connection: close\r\n\r\n" } else { "\r\n" };
    [head.into_bytes(), body].concat()
}

/// Characters that are valid in a method, a header name and a path.
fn token(random: &mut fastrand::Rng, most: usize) -> String {
    let length = random.usize(1..=most);
    std::iter::repeat_with(|| random.alphanumeric()).take(length).collect()
}
