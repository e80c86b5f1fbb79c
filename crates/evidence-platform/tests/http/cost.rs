//! What a page costs: a bundle is verified when it is uploaded, and its pages follow from the rows that are kept then.

use std::time::{Duration, Instant};

use evidence_platform::server::Limits;
use evidence_platform::service::{Operator, Settings};
use evidence_platform::time::Time;

use crate::running::Running;
use crate::support::{Place, bundles};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_page_of_a_large_bundle_reads_it_once() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let tenant = running.tenant("acme").await;
        assert_eq!(running.upload(&tenant.upload, &bundles::bundle(1)).await.status, 201);
        // 512 MiB of zeros, which take a while to inflate and to digest.
        let large = bundles::zeros(2, 8);
        let id = running.upload(&tenant.upload, &large).await.json["bundle_id"].as_str().unwrap().to_owned();
        let session = running.sign_in(&tenant.read).await;
        let small = "00000000-0000-4000-8000-000000000001";
        let timed = async |path: &str| {
            let begun = Instant::now();
            let answer = running.page(path, Some(&session)).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            (answer.text(), begun.elapsed())
        };
        // The upload keeps the rows after its answer.
        let kept = running.place.home.path().join("rows");
        let named = crate::support::digest(&large).to_string();
        let is_kept = || {
            let mut files = std::fs::read_dir(&kept).unwrap();
            files.any(|file| file.unwrap().file_name().to_str().unwrap().starts_with(&named))
        };
        while !is_kept() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        let from_upload = timed(&format!("/bundles/{id}")).await;
        // Without them, the next page reads all bytes.
        for file in std::fs::read_dir(&kept).unwrap() {
            std::fs::remove_file(file.unwrap().path()).unwrap();
        }
        let (first, took) = timed(&format!("/bundles/{id}")).await;
        println!("  the first page after the upload {:?}", from_upload.1);
        assert!(from_upload.1 * 3 < took, "{:?} {took:?}", from_upload.1);
        let mut again = Duration::ZERO;
        for path in [
            format!("/bundles/{id}"),
            format!("/bundles/{id}/checks"),
            format!("/bundles/{id}/checks?status=pass"),
            format!("/bundles/{id}/checks.csv"),
            format!("/bundles/{id}/artifacts"),
        ] {
            // The best of three: other tests run at the same time.
            let (text, mut time) = timed(&path).await;
            for _ in 0..2 {
                time = time.min(timed(&path).await.1);
            }
            println!("  {path}: {time:?}, the first page {took:?}");
            again = again.max(time);
            if path == format!("/bundles/{id}") {
                assert_eq!(text, first, "the same page");
            }
        }
        assert!(again * 3 < took, "{again:?} {took:?}");
        let compared = format!("/compare?from={small}&to={id}");
        assert_eq!(timed(&compared).await.0, timed(&compared).await.0);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_kept_ends_with_damage_verification_and_revocation() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let bytes = bundles::bundle(1);
    let id = running.upload(&tenant.upload, &bytes).await.json["bundle_id"].as_str().unwrap().to_owned();
    let session = running.sign_in(&tenant.read).await;
    let page = async || running.page(&format!("/bundles/{id}"), Some(&session)).await.text();
    assert!(page().await.contains("verified to the last byte"));
    let verified = |text: &str| text.split("verified to the last byte, ").nth(1).unwrap()[..19].to_owned();
    let before = verified(&page().await);
    running.hands.advance_seconds(60);
    assert_eq!(verified(&page().await), before, "the page says when it was verified");
    // Verified again: the next page reads the bytes.
    let path = format!("/api/v1/bundles/{id}/verify");
    let answer = running.call(reqwest::Method::POST, &path, Some(&tenant.admin), None).await;
    assert_eq!(answer.json["verified"], true);
    assert!(verified(&page().await) > before);

    // Cut bytes show at once, changed ones after a check.
    let file = running.place.blob_files().remove(0);
    std::fs::write(&file, &bytes[1..]).unwrap();
    assert!(page().await.contains("damaged: digest-mismatch"));
    let mut flipped = bytes.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 1;
    std::fs::write(&file, &flipped).unwrap();
    running.service.check_all(Default::default()).await.unwrap();
    assert!(page().await.contains("damaged: digest-mismatch"));
    std::fs::write(&file, &bytes).unwrap();
    assert!(page().await.contains("verified to the last byte"));

    // A revocation shows at once.
    let operator = Operator::of(&running.service);
    operator.revoke_trust("acme", "ci", Time(0), "stolen").await.unwrap();
    let text = page().await;
    assert!(text.contains("The signing key was revoked") && !text.contains("CC6.1: "), "{text}");
}
