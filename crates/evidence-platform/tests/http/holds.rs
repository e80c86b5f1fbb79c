//! Holds by tag and the keys of a group, over the API and on the pages of administrators.

use evidence_platform::role::Role;
use evidence_platform::server::Limits;
use evidence_platform::service::{Operator, Settings, Update};
use reqwest::Method;
use serde_json::json;

use crate::running::Running;
use crate::support::{Place, bundles, content_digest};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_holds_and_releases_a_tag() {
    for place in Place::all().await {
        println!("{}", place.name);
        let settings = Settings { min_retention_days: Some(0), ..Settings::default() };
        let running = Running::at(place, settings, Limits::default()).await;
        let (tenant, other) = (running.tenant("acme").await, running.tenant("other").await);
        let bytes = bundles::bundle(1);
        let query = "?retention_days=0&tag=case=42";
        let stored = running.upload_with(&tenant.upload, &bytes, query, Some(content_digest(&bytes))).await;
        let id = stored.json["bundle_id"].as_str().unwrap().to_owned();
        let hold = |tag: &str| Some(json!({ "tag": tag, "reason": "litigation" }));
        let put = async |key: &str, body| running.call(Method::PUT, "/api/v1/holds", Some(key), body).await;
        let delete = async |path: &str| running.call(Method::DELETE, path, Some(&tenant.admin), None).await;

        assert_eq!(put(&tenant.read, hold("case=42")).await.status, 403);
        let made = put(&tenant.admin, hold("case=42")).await;
        assert_eq!((made.status, &made.json["bundles"]), (201, &json!(1)), "{made:?}");
        let again = Some(json!({ "tag": "case=42", "reason": "another" }));
        let again = put(&tenant.admin, again).await;
        assert_eq!((again.status, &again.json["reason"]), (200, &json!("litigation")), "{again:?}");
        for wrong in ["case", "=42", "a b=c", ""] {
            assert_eq!(put(&tenant.admin, hold(wrong)).await.status, 400, "{wrong}");
        }
        let list = running.get("/api/v1/holds", &tenant.admin).await;
        assert_eq!(list.json["items"].as_array().unwrap().len(), 1, "{list:?}");
        assert_eq!(running.get("/api/v1/holds", &other.admin).await.json["items"], json!([]));
        let page = running.page("/retention", Some(&running.sign_in(&tenant.admin).await)).await.text();
        assert!(page.contains("case=42") && page.contains("litigation"), "{page}");

        let path = format!("/api/v1/bundles/{id}");
        running.hands.advance_seconds(5);
        let kept = delete(&path).await;
        assert_eq!((kept.status, kept.problem().as_str()), (409, "legal-hold"), "{kept:?}");
        let theirs =
            running.call(Method::DELETE, "/api/v1/holds?tag=case=42", Some(&other.admin), None).await;
        assert_eq!(theirs.status, 404, "a hold of another organization");
        assert_eq!(delete("/api/v1/holds").await.status, 400);
        assert_eq!(delete("/api/v1/holds?tag=case=43").await.status, 404);
        assert_eq!(delete("/api/v1/holds?tag=case=42").await.status, 204);
        assert_eq!(delete(&path).await.status, 204);
        let log = running.get("/api/v1/audit-log", &tenant.admin).await.text();
        assert!(log.contains("tag.hold") && log.contains("tag.release"), "{log}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_of_a_group_manages_its_keys_and_only_looks_at_its_organizations() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let operator = Operator::of(&running.service);
        operator.create_group("EMEA & more", "emea").await.unwrap();
        operator.create_group("Other", "apac").await.unwrap();
        let acme = running.tenant("acme").await;
        let into = |group: &str| Update { group: Some(Some(group.to_owned())), ..Update::default() };
        operator.update_organization("acme", into("emea")).await.unwrap();
        let stored = running.upload(&acme.upload, &bundles::bundle(1)).await;
        let id = stored.json["bundle_id"].as_str().unwrap().to_owned();
        let made = operator.create_group_key("emea", Role::Admin, "head", None).await.unwrap();
        let admin = made.key.reveal().to_owned();
        let theirs = operator.create_group_key("apac", Role::Admin, "other", None).await.unwrap();
        let keys = "/api/v1/group/keys";
        let create = async |key: &str, role: &str| {
            let body = Some(json!({ "role": role, "name": "auditors <2026>" }));
            running.call(Method::POST, keys, Some(key), body).await
        };

        // Keys of organizations, and keys of the group that only look, do not manage the keys of the group.
        for key in [&acme.admin, &acme.read, &acme.upload] {
            assert_eq!((running.get(keys, key).await.status, create(key, "read").await.status), (403, 403));
        }
        assert_eq!(create(&admin, "upload").await.status, 400);
        let new = create(&admin, "read").await;
        assert_eq!(new.status, 201, "{new:?}");
        let reader = new.json["api_key"].as_str().unwrap().to_owned();
        let prefix = new.json["key"]["prefix"].as_str().unwrap().to_owned();
        assert_eq!(
            (running.get(keys, &reader).await.status, create(&reader, "read").await.status),
            (403, 403)
        );
        assert_eq!(running.get("/api/v1/organizations", &reader).await.status, 200);
        let list = running.get(keys, &admin).await;
        assert_eq!(list.json["items"].as_array().unwrap().len(), 2, "{list:?}");
        assert!(!list.text().contains(reader.rsplit('_').next().unwrap()));

        // In an organization it reads, and changes nothing.
        let within = async |method: Method, path: &str, body: Option<serde_json::Value>| {
            let request = running.client.request(method, running.url(path)).bearer_auth(&admin);
            let request = request.header("evidence-organization", "acme");
            let request = match body {
                Some(body) => request.json(&body),
                None => request,
            };
            request.send().await.unwrap().status().as_u16()
        };
        assert_eq!(within(Method::GET, &format!("/api/v1/bundles/{id}"), None).await, 200);
        for (method, path, body) in [
            (Method::DELETE, format!("/api/v1/bundles/{id}"), None),
            (Method::PUT, format!("/api/v1/bundles/{id}/legal-hold"), Some(json!({ "legal_hold": true }))),
            (Method::POST, "/api/v1/keys".to_owned(), Some(json!({ "role": "admin", "name": "x" }))),
            (Method::GET, "/api/v1/keys".to_owned(), None),
            (Method::GET, "/api/v1/audit-log".to_owned(), None),
            (Method::PUT, "/api/v1/holds".to_owned(), Some(json!({ "tag": "a=b", "reason": "x" }))),
        ] {
            assert_eq!(within(method.clone(), &path, body).await, 403, "{method} {path}");
        }

        // The pages.
        let session = running.sign_in(&admin).await;
        let fleet = running.page("/fleet", Some(&session)).await.text();
        assert!(fleet.contains("href=\"/fleet/keys\""), "{fleet}");
        let page = running.page("/fleet/keys", Some(&session)).await;
        assert_eq!(page.status, 200);
        let page = page.text();
        assert!(page.contains("auditors &#60;2026&#62;") && page.contains(&prefix), "{page}");
        assert!(page.contains("EMEA &#38; more") && !page.contains("apac"), "{page}");
        for path in ["/organizations/acme/keys", "/organizations/acme/audit-log"] {
            assert_eq!(running.page(path, Some(&session)).await.status, 403, "{path}");
        }
        let looks = running.sign_in(&reader).await;
        assert_eq!(running.page("/fleet/keys", Some(&looks)).await.status, 403);
        assert!(!running.page("/fleet", Some(&looks)).await.text().contains("/fleet/keys"));
        let own = running.sign_in(&acme.admin).await;
        assert_eq!(running.page("/fleet/keys", Some(&own)).await.status, 403);
        // The organization's administrators see who else looks.
        let above = running.page("/keys", Some(&own)).await.text();
        assert!(above.contains("Keys of the group EMEA &#38; more") && above.contains(&prefix), "{above}");

        // Revoked at once; not by another group.
        let revoke = async |key: &str| {
            running.call(Method::DELETE, &format!("{keys}/{prefix}"), Some(key), None).await.status
        };
        assert_eq!(revoke(theirs.key.reveal()).await, 404);
        assert_eq!(revoke(&admin).await, 200);
        assert_eq!(running.get("/api/v1/organizations", &reader).await.status, 401);
        assert!(!running.page("/keys", Some(&own)).await.text().contains(&prefix));
    }
}
