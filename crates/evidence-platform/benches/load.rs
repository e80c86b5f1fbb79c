//! How much one instance carries: uploads per second and latencies of the list of 10,000 bundles, over HTTP.
//!
//! `cargo bench -p evidence-platform`; with EVIDENCE_TEST_POSTGRES set, PostgreSQL too. It prints figures and judges none.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a benchmark fails by panicking and prints what it found"
)]

#[path = "../tests/support/mod.rs"]
mod support;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use base64::Engine as _;
use evidence_platform::server::{Limits, Server};
use evidence_platform::service::Settings;
use evidence_platform::time::Clock;
use support::{Place, bundles, digest, tenant};

const BUNDLES: u32 = 10_000;
const CLIENTS: u32 = 8;
const LISTS: usize = 1_000;

fn main() {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        for place in Place::all().await {
            measure(place).await;
        }
    });
}

async fn measure(place: Place) {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let service = place.open_with(Settings::default(), Clock::system()).await;
    let tenant = tenant(&service, "acme").await;
    let server = Server::bind(([127, 0, 0, 1], 0).into(), service, Limits::default()).await.unwrap();
    let url = Arc::new(format!("http://{}/api/v1/bundles", server.address().unwrap()));
    tokio::spawn(server.run(std::future::pending()));
    let client = reqwest::Client::builder().no_proxy().build().unwrap();

    let count = if matches!(place.storage, support::Storage::Bucket(_)) { BUNDLES / 20 } else { BUNDLES };
    let next = Arc::new(AtomicU32::new(0));
    let began = Instant::now();
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (next, client, url, key) = (next.clone(), client.clone(), url.clone(), tenant.upload.clone());
            tokio::spawn(async move {
                let mut took = Vec::new();
                loop {
                    let number = next.fetch_add(1, SeqCst);
                    if number >= count {
                        return took;
                    }
                    let bytes = bundles::bundle(number);
                    let digest = base64::engine::general_purpose::STANDARD.encode(digest(&bytes).0);
                    let request = client.post(url.as_str()).bearer_auth(&key);
                    let request = request.header("content-digest", format!("sha-256=:{digest}:")).body(bytes);
                    let began = Instant::now();
                    assert_eq!(request.send().await.unwrap().status(), 201);
                    took.push(began.elapsed());
                }
            })
        })
        .collect();
    let mut took = Vec::new();
    for task in tasks {
        took.extend(task.await.unwrap());
    }
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{}: {count} uploads by {CLIENTS} clients: {:.0}/s, median {:?}, p99 {:?}",
        place.name,
        f64::from(count) / seconds,
        percentile(&mut took, 50),
        percentile(&mut took, 99),
    );

    let (mut first, mut deep) = (Vec::new(), Vec::new());
    let mut cursor = String::new();
    for _ in 0..LISTS {
        let (_, took) = list(&client, &url, &tenant.read, "").await;
        first.push(took);
        let (next, took) = list(&client, &url, &tenant.read, &cursor).await;
        deep.push(took);
        cursor = next.map_or_else(String::new, |next| format!("&cursor={next}"));
    }
    println!(
        "{}: pages of 50 of {count}: first median {:?}, p99 {:?}; one after another median {:?}, p99 {:?}",
        place.name,
        percentile(&mut first, 50),
        percentile(&mut first, 99),
        percentile(&mut deep, 50),
        percentile(&mut deep, 99),
    );
}

async fn list(client: &reqwest::Client, url: &str, key: &str, cursor: &str) -> (Option<String>, Duration) {
    let began = Instant::now();
    let response = client.get(format!("{url}?limit=50{cursor}")).bearer_auth(key).send().await.unwrap();
    assert_eq!(response.status(), 200);
    let json: serde_json::Value = response.json().await.unwrap();
    (json["next_cursor"].as_str().map(str::to_owned), began.elapsed())
}

fn percentile(took: &mut [Duration], percent: usize) -> Duration {
    took.sort_unstable();
    took[(took.len() * percent / 100).min(took.len() - 1)]
}
