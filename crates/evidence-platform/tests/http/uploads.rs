//! Uploading, listing, verifying, downloading, as a regular client does.

use std::collections::BTreeSet;
use std::sync::Arc;

use evidence_platform::server::Limits;
use evidence_platform::service::Settings;
use futures_util::future::join_all;
use reqwest::Method;
use serde_json::json;

use crate::running::Running;
use crate::support::{Place, bundles, content_digest, digest};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn upload_verify_list_and_download() {
    for place in Place::all().await {
        println!("{}", place.name);
        let settings = Settings { min_retention_days: Some(0), ..Settings::default() };
        let running = Running::at(place, settings, Limits::default()).await;
        let tenant = running.tenant("acme").await;
        let bytes = bundles::bundle(1);
        let query = "?tag=env%3Dprod&tag=team=a%20b&retention_days=30";
        let stored = running.upload_with(&tenant.upload, &bytes, query, Some(content_digest(&bytes))).await;
        assert_eq!(stored.status, 201, "{stored:?}");
        assert_eq!(stored.json["status"], "stored");
        assert_eq!(stored.json["sha256"], digest(&bytes).to_string());
        let again = running.upload(&tenant.upload, &bytes).await;
        assert_eq!((again.status, &again.json), (200, &stored.json));

        let id = stored.json["bundle_id"].as_str().unwrap();
        let path = format!("/api/v1/bundles/{id}");
        let verified =
            running.call(Method::POST, &format!("{path}/verify"), Some(&tenant.upload), None).await;
        assert_eq!(verified.json["verified"], true, "{verified:?}");
        assert_eq!(verified.json["key_id"], bundles::key().public_key().key_id().to_string());

        let bundle = running.get(&path, &tenant.read).await;
        assert_eq!(bundle.json["tags"], json!({ "env": "prod", "team": "a b" }));
        assert_eq!(bundle.json["facts"]["judgement"]["controls"][0]["status"], "fail");
        assert_eq!(bundle.json["facts"]["bundle_id"], "00000000-0000-4000-8000-000000000001");
        assert!(bundle.json["retention_until"].as_str().unwrap().starts_with("2026-02-02T"), "{bundle:?}");
        let list = running.get("/api/v1/bundles", &tenant.read).await;
        assert_eq!(list.json["items"][0], bundle.json);
        assert_eq!(list.json["next_cursor"], json!(null));

        let download = running.get(&format!("{path}/download"), &tenant.read).await;
        assert_eq!(download.bytes, bytes);
        assert_eq!(download.headers["content-digest"], content_digest(&bytes).as_str());
        let name = download.headers["content-disposition"].to_str().unwrap();
        assert!(name.contains("evidence-bundle-20260102-030505.tar.gz"), "{name}");

        let log = running.get("/api/v1/audit-log?limit=2", &tenant.admin).await;
        assert_eq!(log.json["items"][0]["action"], "bundle.download");
        assert_eq!(log.json["items"][0]["request_id"], download.request_id.as_str());
        assert_eq!(log.json["items"][1]["action"], "bundle.verify");
        assert!(log.json["next_cursor"].is_string());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn large_bundles_go_in_parts_and_come_back_whole() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let tenant = running.tenant("acme").await;
        let mut noise = vec![0_u8; 20_000_000];
        let mut state = 1_u64;
        for byte in &mut noise {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            *byte = (state >> 56) as u8;
        }
        let bytes = bundles::signed(1, &noise, &bundles::key());
        assert!(bytes.len() > 19_000_000);
        let (one, two) =
            tokio::join!(running.upload(&tenant.upload, &bytes), running.upload(&tenant.upload, &bytes));
        let statuses = BTreeSet::from([one.status, two.status]);
        assert_eq!(statuses, BTreeSet::from([200, 201]), "{one:?} {two:?}");
        let path = format!("/api/v1/bundles/{}", one.json["bundle_id"].as_str().unwrap());
        let verified =
            running.call(Method::POST, &format!("{path}/verify"), Some(&tenant.upload), None).await;
        assert_eq!(verified.json["verified"], true, "{verified:?}");
        assert!(running.get(&format!("{path}/download"), &tenant.read).await.bytes == bytes);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_uploads_at_once() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Arc::new(Running::at(place, Settings::default(), Limits::default()).await);
        let tenant = running.tenant("acme").await;
        let uploads = (0..32).map(|n| {
            let (running, key) = (running.clone(), tenant.upload.clone());
            // Each number twice: the same bytes race.
            async move { running.upload(&key, &bundles::bundle(n / 2)).await }
        });
        let answers = join_all(uploads).await;
        assert!(answers.iter().all(|answer| matches!(answer.status, 200 | 201)), "{answers:?}");
        assert_eq!(answers.iter().filter(|answer| answer.status == 201).count(), 16);
        let ids: BTreeSet<_> = answers.iter().map(|answer| answer.json["bundle_id"].to_string()).collect();
        assert_eq!(ids.len(), 16);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn pages_stay_in_place_while_bundles_arrive() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let tenant = running.tenant("acme").await;
        // Even numbers first; odd ones arrive between the pages, some before and some after the cursor.
        let mut wanted = BTreeSet::new();
        for number in (0..20).step_by(2) {
            wanted.insert(
                running.upload(&tenant.upload, &bundles::bundle(number)).await.json["bundle_id"].to_string(),
            );
        }
        let (mut cursor, mut seen, mut times) = (String::new(), Vec::new(), Vec::new());
        for number in (1..20).step_by(2) {
            let page = running.get(&format!("/api/v1/bundles?limit=3{cursor}"), &tenant.read).await;
            for item in page.json["items"].as_array().unwrap() {
                seen.push(item["bundle_id"].to_string());
                times.push(item["collected_at"].to_string());
            }
            running.upload(&tenant.upload, &bundles::bundle(number)).await;
            match page.json["next_cursor"].as_str() {
                Some(next) => cursor = format!("&cursor={next}"),
                None => break,
            }
        }
        let unique: BTreeSet<_> = seen.iter().cloned().collect();
        assert_eq!(unique.len(), seen.len(), "something was listed twice");
        assert!(unique.is_superset(&wanted), "something was skipped");
        assert!(times.windows(2).all(|pair| pair[0] >= pair[1]), "{times:?}");
    }
}

/// Each number twice with different bytes: exactly one of the racing uploads is stored, and it stays.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_id_belongs_to_the_bytes_that_came_first() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Arc::new(Running::at(place, Settings::default(), Limits::default()).await);
        let tenant = running.tenant("acme").await;
        let bytes = |number: u32, text: &str| bundles::signed(number, text.as_bytes(), &bundles::key());
        let uploads = (0..16).map(|n| {
            let (running, key) = (running.clone(), tenant.upload.clone());
            let bytes = bytes(n / 2, if n % 2 == 0 { "{}\n" } else { "{\"other\": 1}\n" });
            async move { (running.upload(&key, &bytes).await, bytes) }
        });
        let answers = join_all(uploads).await;
        for pair in answers.chunks(2) {
            let statuses: BTreeSet<_> = pair.iter().map(|(answer, _)| answer.status).collect();
            assert_eq!(statuses, BTreeSet::from([201, 409]), "{pair:?}");
            let (winner, _) = pair.iter().find(|(answer, _)| answer.status == 201).unwrap();
            let (loser, lost) = pair.iter().find(|(answer, _)| answer.status == 409).unwrap();
            assert_eq!(loser.problem(), "bundle-id-taken");
            let id = winner.json["bundle_id"].as_str().unwrap();
            assert!(loser.text().contains(id), "{}", loser.text());
            // Nor later; the first one stays stored.
            assert_eq!(running.upload(&tenant.upload, lost).await.status, 409);
            let stored = running.get(&format!("/api/v1/bundles/{id}"), &tenant.read).await;
            assert_eq!(stored.json["sha256"], winner.json["sha256"]);
        }
        let log = running.get("/api/v1/audit-log?limit=100", &tenant.admin).await;
        let refused = log.json["items"].as_array().unwrap().iter().filter(|record| {
            record["outcome"] == "refused" && record["detail"]["reason"] == "bundle-id-taken"
        });
        assert_eq!(refused.count(), 16);
    }
}

#[tokio::test]
async fn retention_hold_and_deletion() {
    let settings = Settings { min_retention_days: Some(0), ..Settings::default() };
    let running = Running::at(Place::local(), settings, Limits::default()).await;
    let tenant = running.tenant("acme").await;
    let bytes = bundles::bundle(1);
    let stored =
        running.upload_with(&tenant.upload, &bytes, "?retention_days=1", Some(content_digest(&bytes))).await;
    let path = format!("/api/v1/bundles/{}", stored.json["bundle_id"].as_str().unwrap());
    let admin = Some(tenant.admin.as_str());
    let delete = || running.call(Method::DELETE, &path, admin, None);
    let put = async |what: &str, body| {
        running.call(Method::PUT, &format!("{path}/{what}"), admin, Some(body)).await
    };

    let answer = delete().await;
    assert_eq!((answer.status, answer.problem().as_str()), (409, "retained"));
    let answer = put("legal-hold", json!({ "legal_hold": true })).await;
    assert_eq!((answer.status, &answer.json["legal_hold"]), (200, &json!(true)));
    running.hands.advance_days(2);
    let answer = delete().await;
    assert_eq!((answer.status, answer.problem().as_str()), (409, "legal-hold"));
    put("legal-hold", json!({ "legal_hold": false })).await;
    let answer = put("retention", json!({ "retention_until": "2026-03-01T00:00:00Z" })).await;
    assert_eq!(answer.json["retention_until"], "2026-03-01T00:00:00Z", "{answer:?}");
    let answer = put("retention", json!({ "retention_until": "2026-02-01T00:00:00Z" })).await;
    assert_eq!((answer.status, answer.problem().as_str()), (409, "retention-shortened"));
    for wrong in [
        json!({ "retention_until": "soon" }),
        json!({ "retention_until": "9000-01-01T00:00:00Z" }),
        json!({}),
        json!({ "until": 1 }),
    ] {
        assert_eq!(put("retention", wrong).await.problem(), "invalid-request");
    }
    running.hands.advance_days(100);
    let answer = delete().await;
    assert_eq!((answer.status, answer.problem().as_str()), (409, "clock-ahead"));
    running.service.accept_clock().await.unwrap();
    assert_eq!(delete().await.status, 204);
    assert_eq!(running.get(&path, &tenant.read).await.problem(), "not-found");
    assert_eq!(delete().await.problem(), "not-found");
    assert!(running.place.blob_files().is_empty());
}

#[tokio::test]
async fn an_upload_cannot_undercut_the_operator_s_retention() {
    let settings = Settings { min_retention_days: Some(30), ..Settings::default() };
    let running = Running::at(Place::local(), settings, Limits::default()).await;
    let tenant = running.tenant("acme").await;
    for (number, days, status) in [(1, "0", 400), (2, "29", 400), (3, "30", 201), (4, "31", 201)] {
        let bytes = bundles::bundle(number);
        for key in [&tenant.upload, &tenant.admin] {
            let query = format!("?retention_days={days}");
            let answer = running.upload_with(key, &bytes, &query, Some(content_digest(&bytes))).await;
            assert_eq!(answer.status / 100, status / 100, "{days}: {answer:?}");
            if status == 400 {
                assert_eq!(answer.problem(), "invalid-request");
                assert!(answer.json["detail"].as_str().unwrap().contains("at least 30"), "{answer:?}");
            }
        }
    }
    assert_eq!(running.upload(&tenant.upload, &bundles::bundle(5)).await.status, 201);
    let list = running.get("/api/v1/bundles", &tenant.read).await;
    assert_eq!(list.json["items"].as_array().unwrap().len(), 3, "{}", list.text());
}
