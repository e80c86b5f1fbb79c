//! How much one instance carries: uploads per second, and how long pages of 10,000 bundles take, over HTTP.
//!
//! `cargo bench -p evidence-platform`; with EVIDENCE_TEST_POSTGRES set, PostgreSQL too. It prints a table and judges
//! nothing. With EVIDENCE_BENCH_BUNDLES there are as many bundles as that says.
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

use evidence_platform::server::{Limits, Server};
use evidence_platform::service::Settings;
use evidence_platform::time::Clock;
use reqwest::header::{CONTENT_TYPE, COOKIE, SET_COOKIE};
use reqwest::{Client, RequestBuilder};
use support::{Place, Tenant, bundles, content_digest, tenant};

const BUNDLES: u32 = 10_000;
const CLIENTS: u32 = 8;
/// How often each page is asked for.
const PAGES: usize = 1_000;

fn main() {
    let bundles = std::env::var("EVIDENCE_BENCH_BUNDLES").map_or(BUNDLES, |text| text.parse().unwrap());
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let table = runtime.block_on(async {
        let mut table = Vec::new();
        for place in Place::all().await {
            // A bucket that is a test's is slow, and says nothing about the lists.
            let bucket = matches!(place.storage, support::Storage::Bucket(_));
            table.push(measure(place, if bucket { bundles / 20 } else { bundles }).await);
        }
        table
    });
    println!("times are median / p99\n");
    println!(
        "| | bundles | uploads | an upload | first page of 50, API | pages one after another, API | first page, HTML |"
    );
    println!("|---|---|---|---|---|---|---|");
    table.iter().for_each(|row| println!("{row}"));
}

/// Fills a place, asks for its pages, and gives its row of the table.
async fn measure(place: Place, count: u32) -> String {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let service = place.open_with(Settings::default(), Clock::system()).await;
    let tenant = tenant(&service, "acme").await;
    let server = Server::bind(([127, 0, 0, 1], 0).into(), service, Limits::default()).await.unwrap();
    let base = format!("http://{}", server.address().unwrap());
    tokio::spawn(server.run(std::future::pending()));
    let client = Client::builder().no_proxy().redirect(reqwest::redirect::Policy::none()).build().unwrap();

    let began = Instant::now();
    let mut uploads = upload_all(&client, &format!("{base}/api/v1/bundles"), &tenant, count).await;
    let rate = f64::from(count) / began.elapsed().as_secs_f64();
    let (mut first, mut following) = api_pages(&client, &base, &tenant).await;
    let html = html_pages(&client, &base, &tenant).await;
    format!(
        "| {} | {count} | {rate:.0}/s | {} | {} | {} | {} |",
        place.name,
        percentiles(&mut uploads),
        percentiles(&mut first),
        percentiles(&mut following),
        html.map_or_else(|| "no pages".to_owned(), |mut html| percentiles(&mut html)),
    )
}

/// Uploads that many bundles from all clients at once; gives how long each took.
async fn upload_all(client: &Client, url: &str, tenant: &Tenant, count: u32) -> Vec<Duration> {
    let next = Arc::new(AtomicU32::new(0));
    let tasks: Vec<_> = (0..CLIENTS)
        .map(|_| {
            let (next, client, url, key) =
                (next.clone(), client.clone(), url.to_owned(), tenant.upload.clone());
            tokio::spawn(async move {
                let mut took = Vec::new();
                loop {
                    let number = next.fetch_add(1, SeqCst);
                    if number >= count {
                        return took;
                    }
                    let bytes = bundles::bundle(number);
                    let request = client.post(&url).bearer_auth(&key);
                    let request = request.header("content-digest", content_digest(&bytes)).body(bytes);
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
    took
}

/// The API's first page again and again, and its pages one after another.
async fn api_pages(client: &Client, base: &str, tenant: &Tenant) -> (Vec<Duration>, Vec<Duration>) {
    let ask = |cursor: &str| {
        client.get(format!("{base}/api/v1/bundles?limit=50{cursor}")).bearer_auth(&tenant.read)
    };
    let (mut first, mut following) = (Vec::new(), Vec::new());
    let mut cursor = String::new();
    for _ in 0..PAGES {
        first.push(page(ask("")).await.1);
        let (body, took) = page(ask(&cursor)).await;
        following.push(took);
        let json: serde_json::Value = serde_json::from_slice(&body).unwrap();
        cursor = json["next_cursor"].as_str().map_or_else(String::new, |next| format!("&cursor={next}"));
    }
    (first, following)
}

/// The first page as a browser sees it that has signed in; `None` where there are no pages.
async fn html_pages(client: &Client, base: &str, tenant: &Tenant) -> Option<Vec<Duration>> {
    let form = client.post(format!("{base}/sign-in")).header("origin", base);
    let form = form.header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    let answer = form.body(format!("key={}", tenant.read)).send().await.unwrap();
    if answer.status() == 404 {
        return None;
    }
    let cookie = answer.headers().get(SET_COOKIE).unwrap_or_else(|| panic!("no session: {answer:?}"));
    let cookie = cookie.to_str().unwrap().split(';').next().unwrap().to_owned();
    let mut took = Vec::new();
    for _ in 0..PAGES {
        let (body, elapsed) = page(client.get(format!("{base}/bundles")).header(COOKIE, &cookie)).await;
        assert!(body.windows(14).any(|bytes| bytes == b"class=\"timelin"), "no timeline");
        took.push(elapsed);
    }
    Some(took)
}

/// Asks for a page; gives it with how long it took to its last byte.
async fn page(request: RequestBuilder) -> (Vec<u8>, Duration) {
    let began = Instant::now();
    let answer = request.send().await.unwrap();
    assert_eq!(answer.status(), 200);
    let body = answer.bytes().await.unwrap().to_vec();
    (body, began.elapsed())
}

/// Median and 99th percentile.
fn percentiles(took: &mut [Duration]) -> String {
    took.sort_unstable();
    let at = |percent: usize| took[(took.len() * percent / 100).min(took.len() - 1)].as_secs_f64() * 1_000.0;
    format!("{:.1} / {:.1} ms", at(50), at(99))
}
