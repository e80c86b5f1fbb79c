//! Acknowledged bundles persist: clients upload while the servers are repeatedly killed and restarted.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;

use crate::process::{Home, Serving, client, free_address, upload};
use crate::support::{bundles, random};

const CLIENTS: usize = 8;
/// Concurrent uploads of one client: 64 of all clients.
const AT_ONCE: usize = 8;
/// The least number of different bundles; uploads continue until the last kill.
const BUNDLES: u32 = 64;
const KILLS: usize = 20;
/// The test fails after this long without an acknowledgement.
const GIVE_UP: Duration = Duration::from_secs(120);

/// Mostly small bundles, so that many are in flight at every kill; some large ones, the largest with more than one
/// part.
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

/// The progress of the uploads.
#[derive(Default)]
struct Progress {
    next: AtomicU32,
    /// No more kills: uploads in progress finish, and no new ones begin.
    killed_enough: AtomicBool,
    /// The number of uploads waiting for each server.
    under_way: Vec<AtomicUsize>,
    acknowledged: Mutex<BTreeMap<u32, String>>,
    /// Attempts that reached a server and got no answer, that found no server, and that were asked to retry.
    cut_off: AtomicU32,
    nobody_there: AtomicU32,
    told_to_wait: AtomicU32,
    /// Acknowledged as existing: stored by a server that was killed before it could answer.
    known_already: AtomicU32,
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

async fn survives(mut home: Home, directory: &Path, instances: usize) {
    let began = Instant::now();
    // One organization gets half of the places.
    home.serve = vec!["--max-uploads", "128"];
    let key = home.organization(directory);
    let addresses: Vec<String> = (0..instances).map(|_| free_address()).collect();
    let mut servers: Vec<Serving> = join_all(addresses.iter().map(|address| start(&home, address))).await;
    let urls: Arc<[String]> = addresses.iter().map(|address| format!("http://{address}")).collect();
    let under_way = urls.iter().map(|_| AtomicUsize::new(0)).collect();
    let progress = Arc::new(Progress { under_way, ..Progress::default() });
    let mut uploads = Vec::new();
    for _ in 0..CLIENTS {
        let client = client();
        for _ in 0..AT_ONCE {
            uploads.push(tokio::spawn(keep_uploading(
                client.clone(),
                urls.clone(),
                key.clone(),
                progress.clone(),
            )));
        }
    }
    let watcher = tokio::spawn(watch(urls.clone(), key.clone(), progress.clone()));

    let (mut most_under_way, mut acknowledged_before) = (0, 0);
    for kill in 0..KILLS {
        tokio::time::sleep(Duration::from_millis(fastrand::u64(30..800))).await;
        let which = fastrand::usize(..instances);
        // At a random moment while something is in flight; every second time right after an acknowledgement.
        let since = Instant::now();
        let waiting = loop {
            assert!(!uploads.iter().any(|task| task.is_finished()), "an upload ended with something else");
            assert!(since.elapsed() < GIVE_UP, "nothing is acknowledged any more");
            let waiting = progress.under_way[which].load(SeqCst);
            let acknowledged = progress.acknowledged.lock().unwrap().len();
            if waiting > 0 && (kill % 2 == 0 || acknowledged > acknowledged_before) {
                acknowledged_before = acknowledged;
                break waiting;
            }
            tokio::time::sleep(Duration::from_millis(1)).await;
        };
        servers.remove(which).kill();
        most_under_way = most_under_way.max(waiting);
        tokio::time::sleep(Duration::from_millis(fastrand::u64(0..50))).await;
        servers.insert(which, start(&home, &addresses[which]).await);
    }
    progress.killed_enough.store(true, SeqCst);
    for task in uploads {
        task.await.unwrap();
    }
    let watched = watcher.await.unwrap();

    // Restart all of them once more, to examine what is in the storage instead of in memory.
    servers.drain(..).for_each(Serving::kill);
    let _servers = join_all(addresses.iter().map(|address| start(&home, address))).await;
    let client = client();
    let acknowledged = std::mem::take(&mut *progress.acknowledged.lock().unwrap());
    assert!(acknowledged.len() >= BUNDLES as usize, "{}", acknowledged.len());
    let cut_off = progress.cut_off.load(SeqCst);
    assert!(cut_off as usize >= KILLS, "{KILLS} kills cut off no more than {cut_off} tries");
    let expected: BTreeSet<String> = acknowledged.values().cloned().collect();
    assert_eq!(expected.len(), acknowledged.len(), "two bundles have one name");
    for url in urls.iter() {
        // Every upload was repeated until it was acknowledged, so nothing else is listed either.
        let listed = list(&client, url, &key).await.expect("the list after the last start");
        let missing: Vec<_> = expected.difference(&listed).collect();
        assert!(missing.is_empty(), "acknowledged and not listed: {missing:?}");
        let more: Vec<_> = listed.difference(&expected).collect();
        assert!(more.is_empty(), "listed and never acknowledged: {more:?}");
    }
    for (number, id) in &acknowledged {
        let url = format!("{}/api/v1/bundles/{id}/download", urls[0]);
        let response = client.get(url).bearer_auth(&key).send().await.unwrap();
        assert_eq!(response.status(), 200, "{number}");
        assert!(response.bytes().await.unwrap() == bytes(*number), "{number} has other bytes");
        assert_eq!(verify(&client, &urls[0], &key, id).await, Some(true), "{number}");
    }
    println!(
        "{}: {CLIENTS} clients with {AT_ONCE} uploads each at once; {KILLS} kills, up to {most_under_way} uploads under \
         way at a kill; {cut_off} tries cut off, {} found nobody, {} told to wait; {} acknowledged, \
         {acknowledged_before} of them before the last kill, {} known already; all listed, verified and byte-identical after one more kill; {watched} verified on the way; {:.1} s",
        home.name,
        progress.nobody_there.load(SeqCst),
        progress.told_to_wait.load(SeqCst),
        acknowledged.len(),
        progress.known_already.load(SeqCst),
        began.elapsed().as_secs_f64()
    );
}

async fn start(home: &Home, address: &str) -> Serving {
    let (home, address) = (home.clone(), address.to_owned());
    tokio::task::spawn_blocking(move || Serving::start(&home, &address)).await.unwrap()
}

/// Uploads one bundle after another, each until any server acknowledges it.
async fn keep_uploading(client: reqwest::Client, urls: Arc<[String]>, key: String, progress: Arc<Progress>) {
    loop {
        let number = progress.next.fetch_add(1, SeqCst);
        if number >= BUNDLES && progress.killed_enough.load(SeqCst) {
            return;
        }
        let bytes = bytes(number);
        for attempt in number as usize.. {
            let which = attempt % urls.len();
            progress.under_way[which].fetch_add(1, SeqCst);
            let outcome = upload(&client, &urls[which], &key, &bytes).await;
            progress.under_way[which].fetch_sub(1, SeqCst);
            let count = match outcome {
                Ok((status @ (200 | 201), id)) => {
                    progress.acknowledged.lock().unwrap().insert(number, id);
                    if status == 200 {
                        progress.known_already.fetch_add(1, SeqCst);
                    }
                    break;
                }
                Ok((408 | 503, _)) => &progress.told_to_wait,
                Ok(other) => panic!("{number}: {other:?}"),
                Err(error) if error.is_connect() => &progress.nobody_there,
                Err(_) => &progress.cut_off,
            };
            count.fetch_add(1, SeqCst);
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

/// Every listed bundle is complete, at any moment and on any server. Returns how many were verified.
async fn watch(urls: Arc<[String]>, key: String, progress: Arc<Progress>) -> usize {
    let (client, mut verified) = (client(), BTreeSet::new());
    for url in urls.iter().cycle() {
        if progress.killed_enough.load(SeqCst) {
            break;
        }
        for id in list(&client, url, &key).await.unwrap_or_default() {
            if verified.contains(&id) {
                continue;
            }
            match verify(&client, url, &key, &id).await {
                Some(true) => verified.insert(id),
                Some(false) => panic!("{id} is listed and not whole"),
                None => break,
            };
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    verified.len()
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
