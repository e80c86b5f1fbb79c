//! One organization requests many verifications of large bundles, while another one uploads small ones.
//!
//! `EVIDENCE_INFLATED_MB=8192` reproduces the original attack: 8 MB that inflate to 8 GiB.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::Client;
use tokio::task::JoinSet;

use crate::process::{Home, Serving, client, upload};
use crate::support::bundles;

/// How many verifications the first organization requests at once.
const ATTACK: usize = 30;
/// How many uploads of the other one are measured.
const UPLOADS: u32 = 50;
/// How long each of them may take.
const PATIENCE: Duration = Duration::from_secs(3);

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_organization_that_verifies_much_keeps_no_other_waiting() {
    let inflated = std::env::var("EVIDENCE_INFLATED_MB").map_or(512, |text| text.parse().unwrap());
    let directory = tempfile::tempdir().unwrap();
    let mut home = Home::local(directory.path());
    home.serve = vec!["--max-inflated-size", "17179869184"];
    let serving = Serving::start(&home, &crate::process::free_address());
    let [large, small] = ["large", "small"].map(|slug| home.tenant(directory.path(), slug));
    let client = client();
    let patient = Client::builder().no_proxy().timeout(Duration::from_secs(900)).build().unwrap();
    let bomb = bundles::zeros(1, inflated / 64);
    let stored = upload(&patient, &serving.url, &large, &bomb).await.unwrap();
    assert_eq!(stored.0, 201);

    let verified = Arc::new(AtomicUsize::new(0));
    let mut attack = JoinSet::new();
    for _ in 0..ATTACK {
        let (client, verified) = (patient.clone(), Arc::clone(&verified));
        let url = format!("{}/api/v1/bundles/{}/verify", serving.url, stored.1);
        let key = large.clone();
        attack.spawn(async move {
            loop {
                let answer = client.post(&url).bearer_auth(&key).send().await.unwrap();
                assert_eq!(answer.status(), 200);
                verified.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut noise = vec![0; 90_000];
    let mut took = Vec::new();
    for number in 0..UPLOADS {
        fastrand::Rng::with_seed(u64::from(number)).fill(&mut noise);
        let bundle = bundles::signed(number, &noise, &bundles::key());
        let began = Instant::now();
        let answer = upload(&client, &serving.url, &small, &bundle).await;
        took.push(began.elapsed());
        assert_eq!(answer.unwrap().0, 201);
        assert!(took.iter().all(|time| *time < PATIENCE), "upload {number} of {UPLOADS}: {took:?}");
    }
    assert_eq!(attack.len(), ATTACK, "it lasts to the end");

    // When the clients disconnect, the work stops.
    drop(attack);
    let left = Instant::now();
    let stopped = loop {
        let before = serving.processor_time();
        tokio::time::sleep(Duration::from_millis(200)).await;
        if serving.processor_time().saturating_sub(before) < Duration::from_millis(40) {
            break left.elapsed();
        }
        assert!(left.elapsed() < Duration::from_secs(5), "the work goes on although its clients have left");
    };
    took.sort_unstable();
    println!(
        "{ATTACK} verifications at once of {} bytes that inflate to {inflated} MiB, {} of them answered; an upload of \
         another organization meanwhile: median {:?}, slowest {:?}; at rest {stopped:?} after the clients left; memory \
         at its peak {} kB",
        bomb.len(),
        verified.load(Ordering::Relaxed),
        took[took.len() / 2],
        took[took.len() - 1],
        serving.most_memory(),
    );
}
