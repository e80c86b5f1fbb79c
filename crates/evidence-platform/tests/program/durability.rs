//! What was acknowledged is there: clients upload while the servers are killed and started again, over and over.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::process::{Home, Serving, client, free_address, upload};
use crate::support::{bundles, random};

const CLIENTS: u32 = 8;
const BUNDLES: u32 = 64;
const KILLS: usize = 20;

/// Mostly small bundles, so that many are under way at every kill; some large ones, the largest of more than one part.
fn bytes(number: u32) -> Vec<u8> {
    let size = match number % 64 {
        7 => 9_000_000,
        11 | 23 | 41 => 500_000,
        _ => 2_000,
    };
    let mut noise = vec![0; size];
    fastrand::Rng::with_seed(u64::from(number)).fill(&mut noise);
    bundles::signed(number, &noise, &bundles::key())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_bundle_survives_one_server() {
    let directory = tempfile::tempdir().unwrap();
    survives(Home::local(directory.path()), directory.path(), 1).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_acknowledged_bundle_survives_two_servers_on_postgres_and_a_bucket() {
    let variable = |name: &str| std::env::var(name).ok();
    let (Some(postgres), Some(bucket)) = (variable("EVIDENCE_TEST_POSTGRES"), variable("EVIDENCE_TEST_S3"))
    else {
        crate::support::loudly("SKIPPED: two servers; needs EVIDENCE_TEST_POSTGRES and EVIDENCE_TEST_S3");
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.name = "PostgreSQL, bucket, two instances".into();
    let storage = format!("{bucket}/{}", random());
    for (name, value) in [
        ("EVIDENCE_PLATFORM_DATABASE", crate::support::fresh_schema(&postgres).await),
        ("EVIDENCE_PLATFORM_STORAGE", storage),
        ("AWS_ENDPOINT_URL", variable("AWS_ENDPOINT_URL").unwrap_or_default()),
        ("AWS_ACCESS_KEY_ID", variable("AWS_ACCESS_KEY_ID").unwrap_or_else(|| "test".into())),
        ("AWS_SECRET_ACCESS_KEY", variable("AWS_SECRET_ACCESS_KEY").unwrap_or_else(|| "test".into())),
    ] {
        home.variables.push((name.into(), value));
    }
    survives(home, directory.path(), 2).await;
}

async fn survives(home: Home, directory: &std::path::Path, instances: usize) {
    let began = Instant::now();
    let key = home.organization(directory);
    let addresses: Vec<String> = (0..instances).map(|_| free_address()).collect();
    let mut servers: Vec<Option<Serving>> =
        addresses.iter().map(|address| Some(Serving::start(&home, address))).collect();
    let urls: Arc<Vec<String>> =
        Arc::new(addresses.iter().map(|address| format!("http://{address}")).collect());
    let acknowledged: Arc<Mutex<BTreeMap<u32, String>>> = Arc::default();
    let (next, done) = (Arc::new(AtomicU32::new(0)), Arc::new(AtomicBool::new(false)));
    let interrupted = Arc::new(AtomicU32::new(0));

    let mut tasks = Vec::new();
    for _ in 0..CLIENTS {
        let (urls, key, acknowledged) = (urls.clone(), key.clone(), acknowledged.clone());
        let (next, done, interrupted) = (next.clone(), done.clone(), interrupted.clone());
        tasks.push(tokio::spawn(async move {
            let client = client();
            loop {
                let number = next.fetch_add(1, SeqCst);
                if number >= BUNDLES && done.load(SeqCst) {
                    return;
                }
                let bytes = bytes(number);
                for attempt in 0.. {
                    let url = &urls[attempt % urls.len()];
                    match upload(&client, url, &key, &bytes).await {
                        Some((200 | 201, id)) => {
                            acknowledged.lock().unwrap().insert(number, id);
                            break;
                        }
                        // Nobody there, cut off, or told to come back.
                        None | Some((408 | 500 | 503, _)) => {
                            interrupted.fetch_add(1, SeqCst);
                            tokio::time::sleep(Duration::from_millis(10)).await;
                        }
                        Some(other) => panic!("{other:?}"),
                    }
                }
            }
        }));
    }
    // Whatever is listed, at any moment, is whole.
    let watcher = {
        let (urls, key, done) = (urls.clone(), key.clone(), done.clone());
        tokio::spawn(async move {
            let (client, mut verified) = (client(), BTreeSet::new());
            while !done.load(SeqCst) {
                for id in list(&client, &urls[0], &key).await.unwrap_or_default() {
                    if verified.contains(&id) {
                        continue;
                    }
                    match verify(&client, &urls[0], &key, &id).await {
                        Some(true) => verified.insert(id),
                        Some(false) => panic!("{id} is listed and not whole"),
                        None => break,
                    };
                }
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
            verified.len()
        })
    };

    for _ in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(30..400))).await;
        let which = fastrand::usize(..instances);
        servers[which].take().unwrap().kill();
        tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50))).await;
        let (home, address) = (home.clone(), addresses[which].clone());
        servers[which] =
            Some(tokio::task::spawn_blocking(move || Serving::start(&home, &address)).await.unwrap());
    }
    done.store(true, SeqCst);
    for task in tasks {
        task.await.unwrap();
    }
    let watched = watcher.await.unwrap();

    let client = client();
    let acknowledged = acknowledged.lock().unwrap().clone();
    assert!(acknowledged.len() >= BUNDLES as usize);
    let listed = loop {
        if let Some(listed) = list(&client, &urls[0], &key).await {
            break listed;
        }
    };
    for (number, id) in &acknowledged {
        assert!(listed.contains(id), "{number} was acknowledged and is not listed");
        let url = format!("{}/api/v1/bundles/{id}/download", urls[0]);
        let response = client.get(url).bearer_auth(&key).send().await.unwrap();
        assert!(response.bytes().await.unwrap() == bytes(*number), "{number} has other bytes");
    }
    for id in &listed {
        assert_eq!(verify(&client, &urls[0], &key, id).await, Some(true), "{id}");
    }
    println!(
        "{}: {KILLS} kills, {} tries cut off, {} acknowledged, {} listed, {watched} verified on the way, {:.1} s",
        home.name,
        interrupted.load(SeqCst),
        acknowledged.len(),
        listed.len(),
        began.elapsed().as_secs_f64()
    );
}

async fn list(client: &reqwest::Client, url: &str, key: &str) -> Option<BTreeSet<String>> {
    let (mut ids, mut cursor) = (BTreeSet::new(), String::new());
    loop {
        let page = client.get(format!("{url}/api/v1/bundles?limit=100{cursor}")).bearer_auth(key);
        let response = page.send().await.ok()?;
        if response.status() != 200 {
            return None;
        }
        let page: serde_json::Value = response.json().await.ok()?;
        ids.extend(
            page["items"].as_array()?.iter().map(|item| item["bundle_id"].as_str().unwrap().to_owned()),
        );
        match page["next_cursor"].as_str() {
            Some(next) => cursor = format!("&cursor={next}"),
            None => return Some(ids),
        }
    }
}

async fn verify(client: &reqwest::Client, url: &str, key: &str, id: &str) -> Option<bool> {
    let response =
        client.post(format!("{url}/api/v1/bundles/{id}/verify")).bearer_auth(key).send().await.ok()?;
    if response.status() != 200 {
        return None;
    }
    let json: serde_json::Value = response.json().await.ok()?;
    json["verified"].as_bool()
}
