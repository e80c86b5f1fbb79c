//! Finding bundles by tag, time, status, control, completeness and signer; the pages for administrators; the export of the
//! audit log.

use evidence_platform::server::Limits;
use evidence_platform::service::{Operator, Settings};
use reqwest::Method;
use serde_json::{Value, json};

use crate::running::Running;
use crate::support::{Place, bundles, content_digest};

/// The numbers of the bundles in an answer.
fn numbers(answer: &Value) -> Vec<u32> {
    let items = answer["items"].as_array().unwrap_or_else(|| panic!("{answer}")).iter();
    items.map(|item| item["bundle_id"].as_str().unwrap()[24..].parse().unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bundles_are_found_by_what_they_are() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let tenant = running.tenant("acme").await;
        let other = bundles::other_key();
        let pem = bundles::public_pem(&other);
        Operator::of(&running.service).add_trusted_key("acme", &pem, "second").await.unwrap();
        // Even numbers pass, odd ones fail; each is a minute later than the one before.
        for number in 0..6 {
            let bytes = match number {
                5 => bundles::signed(5, b"{}\n", &other),
                4 => bundles::pack(4, &bundles::parts(4), &bundles::key(), |manifest| {
                    manifest.complete = false;
                }),
                _ => bundles::bundle(number),
            };
            let tags = if number < 3 { "?tag=env=prod&tag=team=a%3Db" } else { "?tag=env=test" };
            let digest = Some(content_digest(&bytes));
            let answer = running.upload_with(&tenant.upload, &bytes, tags, digest).await;
            assert!(matches!(answer.status, 201 | 422), "{answer:?}");
        }
        let stored = numbers(&running.get("/api/v1/bundles", &tenant.read).await.json);
        let find = async |query: &str| {
            let answer = running.get(&format!("/api/v1/bundles?{query}"), &tenant.read).await;
            assert_eq!(answer.status, 200, "{query}: {answer:?}");
            numbers(&answer.json)
        };
        let matching = |wanted: &dyn Fn(u32) -> bool| -> Vec<u32> {
            stored.iter().copied().filter(|number| wanted(*number)).collect()
        };
        assert!(stored.len() >= 5, "{stored:?}");
        assert_eq!(find("tag=env%3Dprod").await, [2, 1, 0]);
        assert_eq!(find("tag=team%3Da%3Db&tag=env%3Dprod").await, [2, 1, 0]);
        assert_eq!(find("tag=env%3Dprod&tag=env%3Dtest").await, Vec::<u32>::new());
        assert_eq!(find("status=fail").await, matching(&|number| number % 2 == 1));
        assert_eq!(find("status=pass&tag=env%3Dprod").await, [2, 0]);
        assert_eq!(find("control=CC6.1&status=fail&tag=env%3Dprod").await, [1]);
        assert_eq!(find("control=CC6.1").await, stored);
        assert_eq!(find("control=CC9.9").await, Vec::<u32>::new());
        let signer = other.public_key().key_id();
        assert_eq!(find(&format!("signer={signer}")).await, [5]);
        let incomplete = find("complete=false").await;
        let complete = find("complete=true").await;
        let mut both = [incomplete, complete].concat();
        both.sort_unstable_by(|one, other| other.cmp(one));
        assert_eq!(both, stored);
        let time = |number: i64| {
            let seconds = bundles::CREATED_AT + number * 60;
            evidence_bundle::time::format(seconds).unwrap()
        };
        assert_eq!(find(&format!("from={}&to={}", time(1), time(2))).await, [2, 1]);
        let day = &time(0)[..10];
        assert_eq!(find(&format!("from={day}&to={day}")).await, stored);
        assert_eq!(find("to=2001-01-01").await, Vec::<u32>::new());
        // A cursor goes on within the same filter.
        let first = running.get("/api/v1/bundles?tag=env%3Dprod&limit=2", &tenant.read).await.json;
        assert_eq!(numbers(&first), [2, 1]);
        let cursor = first["next_cursor"].as_str().unwrap();
        assert_eq!(find(&format!("tag=env%3Dprod&limit=2&cursor={cursor}")).await, [0]);
        for query in ["status=bad", "complete=maybe", "from=yesterday", "tag=env", "statuss=fail"] {
            let answer = running.get(&format!("/api/v1/bundles?{query}"), &tenant.read).await;
            assert_eq!(answer.problem(), "invalid-request", "{query}");
        }

        // The page has the same parameters.
        let session = running.sign_in(&tenant.read).await;
        let page = running.page("/bundles?status=fail&tag=env%3Dprod&control=&from=", Some(&session)).await;
        assert_eq!(page.status, 200);
        let text = page.text();
        assert!(text.contains("Bundles that match") && text.contains("value=\"env=prod\""), "{text}");
        assert_eq!(text.matches("aria-label=\"Compare from").count(), 0, "one row needs no comparison");
        assert!(text.contains("000000000001") && !text.contains("000000000002\""), "{text}");
        let none = running.page("/bundles?control=CC9.9", Some(&session)).await.text();
        assert!(none.contains("No bundles match") && none.contains("<option value=\"CC9.9\" selected>"));

        // A deleted bundle is not found.
        let id = "00000000-0000-4000-8000-000000000000";
        running.hands.advance_days(366);
        running.service.accept_clock().await.unwrap();
        let answer =
            running.call(Method::DELETE, &format!("/api/v1/bundles/{id}"), Some(&tenant.admin), None).await;
        assert_eq!(answer.status, 204, "{answer:?}");
        assert_eq!(find("tag=env%3Dprod").await, [2, 1]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn administrators_see_keys_trust_and_log() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let (admin, reader) = (running.sign_in(&tenant.admin).await, running.sign_in(&tenant.read).await);
    let key_id = bundles::key().public_key().key_id().to_string();
    let path = format!("/api/v1/trusted-keys/{key_id}/revocation");
    let body = json!({ "since": "2030-01-01T00:00:00Z", "reason": "<b>lost</b>" });
    let answer = running.call(Method::PUT, &path, Some(&tenant.admin), Some(body)).await;
    assert_eq!((answer.status, &answer.json["bundles_outside"]), (200, &json!(0)), "{answer:?}");
    let body = json!({ "role": "read", "name": "soon", "expires_at": "2099-01-01T00:00:00Z" });
    let answer = running.call(Method::POST, "/api/v1/keys", Some(&tenant.admin), Some(body)).await;
    assert_eq!(answer.json["key"]["expires_at"], "2099-01-01T00:00:00Z", "{answer:?}");
    let body = json!({ "role": "read", "name": "x", "expires_at": "2001-01-01T00:00:00Z" });
    let answer = running.call(Method::POST, "/api/v1/keys", Some(&tenant.admin), Some(body)).await;
    assert_eq!(answer.problem(), "invalid-request");

    let keys = running.page("/keys", Some(&admin)).await.text();
    for shown in ["valid", "revoked", "soon", "2099-01-01", "never"] {
        assert!(keys.contains(shown), "{shown}: {keys}");
    }
    assert!(!keys.contains(tenant.admin.rsplit('_').next().unwrap()), "no secret");
    let trust = running.page("/trust", Some(&admin)).await.text();
    assert!(trust.contains("counts now") && trust.contains("received since 2030-01-01"), "{trust}");
    assert!(!trust.contains("<b>lost"), "escaped");
    let log = running.page("/audit-log", Some(&admin)).await.text();
    assert!(log.contains("trust.revoke") && log.contains("key.create"), "{log}");
    for path in ["/keys", "/trust", "/audit-log", "/audit-log.jsonl"] {
        assert_eq!(running.page(path, Some(&reader)).await.status, 403, "{path}");
        let home = running.page("/bundles", Some(&reader)).await.text();
        assert!(!home.contains(&format!("href=\"{path}\"")), "{path}");
    }

    // More records than one page of the export.
    for _ in 0..150 {
        running.service.sign_in(&crate::support::request(), &tenant.read).await.unwrap();
    }
    let export = running.get("/api/v1/audit-log.jsonl", &tenant.admin).await;
    assert_eq!((export.status, export.kind.as_str()), (200, "application/jsonl"));
    let lines: Vec<Value> = export.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert!(lines.len() > 150, "{}", lines.len());
    let ids: std::collections::BTreeSet<&str> =
        lines.iter().map(|line| line["id"].as_str().unwrap()).collect();
    assert_eq!(ids.len(), lines.len(), "each once");
    assert_eq!(lines.last().unwrap()["action"], "organization.create");
    assert_eq!(running.page("/audit-log.jsonl", Some(&admin)).await.text(), export.text());
    assert_eq!(running.get("/api/v1/audit-log.jsonl", &tenant.read).await.problem(), "forbidden");
}

#[tokio::test]
async fn a_file_of_any_size_is_downloaded_as_it_is() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    let large = vec![b'x'; 3 << 20];
    let bytes = bundles::signed(1, &large, &bundles::key());
    let id = running.upload(&tenant.upload, &bytes).await.json["bundle_id"].as_str().unwrap().to_owned();
    let session = running.sign_in(&tenant.read).await;
    let path = "sources/codehost/org_settings.json";
    let page = running.page(&format!("/bundles/{id}/files/{path}"), Some(&session)).await.text();
    assert!(page.contains(&format!("href=\"/bundles/{id}/raw/{path}\"")), "{page}");
    let raw = running.page(&format!("/bundles/{id}/raw/{path}"), Some(&session)).await;
    assert_eq!((raw.status, raw.bytes.len()), (200, large.len()));
    assert!(raw.bytes == large);
    assert_eq!(raw.kind, "application/octet-stream");
    assert_eq!(raw.headers["content-disposition"], "attachment; filename=\"org_settings.json\"");
    assert_eq!(raw.headers["content-security-policy"], "sandbox; default-src 'none'");
    // Not as a page, whatever it is called.
    let manifest = running.page(&format!("/bundles/{id}/raw/manifest.json"), Some(&session)).await;
    assert!(manifest.json["bundle_id"] == id.as_str() && manifest.kind == "application/octet-stream");
    assert_eq!(running.page(&format!("/bundles/{id}/raw/none"), Some(&session)).await.status, 404);
    // The report is the first button.
    let page = running.page(&format!("/bundles/{id}"), Some(&session)).await.text();
    let (report, download) = (page.find(">Report</a>").unwrap(), page.find(">Download (").unwrap());
    assert!(report < download);
}
