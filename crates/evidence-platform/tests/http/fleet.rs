//! Groups of organizations: what their keys reach, and the page of all.

use evidence_platform::api::access::Access;
use evidence_platform::api::routes::table;
use evidence_platform::role::Role;
use evidence_platform::server::Limits;
use evidence_platform::service::{Operator, Settings, Update};
use reqwest::Method;

use crate::running::{Answer, Running};
use crate::support::{Place, bundles, principal};

/// A call with a key of a group, which names an organization.
async fn named(running: &Running, path: &str, key: &str, organization: &str) -> Answer {
    let request = running.client.get(running.url(path)).bearer_auth(key);
    Answer::of(request.header("evidence-organization", organization).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_key_of_a_group_looks_at_its_organizations_and_at_no_other() {
    for place in Place::all().await {
        println!("{}", place.name);
        let running = Running::at(place, Settings::default(), Limits::default()).await;
        let operator = Operator::of(&running.service);
        let group = operator.create_group("EMEA & more", "emea").await.unwrap();
        operator.create_group("Other", "apac").await.unwrap();
        let (acme, beta, outside) =
            (running.tenant("acme").await, running.tenant("beta").await, running.tenant("outside").await);
        running.tenant("empty").await;
        let moved = |group: &str| Update { group: Some(Some(group.to_owned())), ..Update::default() };
        for slug in ["acme", "beta", "empty"] {
            operator.update_organization(slug, moved("emea")).await.unwrap();
        }
        operator.update_organization("outside", moved("apac")).await.unwrap();
        let late = Update { expect_hours: Some(Some(1)), ..Update::default() };
        operator.update_organization("beta", late).await.unwrap();
        for number in [0, 1] {
            assert_eq!(running.upload(&acme.upload, &bundles::bundle(number)).await.status, 201);
        }
        assert_eq!(running.upload(&beta.upload, &bundles::bundle(2)).await.status, 201);
        let secret = running.upload(&outside.upload, &bundles::bundle(3)).await;
        let secret = secret.json["bundle_id"].as_str().unwrap().to_owned();

        let refused = operator.create_group_key("emea", Role::Upload, "x", None).await.unwrap_err();
        assert!(refused.to_string().contains("only looks"), "{refused}");
        let read = operator.create_group_key("emea", Role::Read, "auditors", None).await.unwrap();
        let monitor = operator.create_group_key("emea", Role::Monitor, "alerts", None).await.unwrap();
        let (read, monitor) = (read.key.reveal().to_owned(), monitor.key.reveal().to_owned());

        // The API: all of the group, and one by name.
        let fleet = running.get("/api/v1/organizations", &read).await;
        assert_eq!(fleet.status, 200, "{fleet:?}");
        let slugs = |answer: &Answer| -> Vec<String> {
            let all = answer.json["organizations"].as_array().unwrap();
            all.iter().map(|one| one["organization"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(slugs(&fleet), ["beta", "acme", "empty"], "the late one first");
        let latest = &fleet.json["organizations"][1]["latest"][0];
        assert_eq!(latest["controls"][0]["status"], "fail", "{latest}");
        assert_eq!(latest["controls"][0]["previous_status"], "pass");
        assert_eq!(slugs(&running.get("/api/v1/status", &monitor).await), ["acme", "beta", "empty"]);
        assert_eq!(running.get("/api/v1/organizations", &monitor).await.problem(), "forbidden");
        let answer = running.get("/api/v1/status?max_age=1", &monitor).await;
        assert_eq!(answer.problem(), "late");
        assert!(answer.json["detail"].as_str().unwrap().contains("empty has no bundle yet"), "{answer:?}");
        let metrics = running.get("/metrics/organizations", &monitor).await.text();
        assert!(metrics.contains("bundle_late{organization=\"beta\"} 1\n"), "{metrics}");
        assert!(metrics.contains("bundle_late{organization=\"acme\"} 0\n") && !metrics.contains("outside"));
        assert_eq!(metrics.matches("# TYPE evidence_platform_bundle_late ").count(), 1, "{metrics}");
        // A key of an organization sees its own.
        assert_eq!(slugs(&running.get("/api/v1/organizations", &acme.read).await), ["acme"]);

        let list = named(&running, "/api/v1/bundles", &read, "acme").await;
        assert_eq!((list.status, list.json["items"].as_array().unwrap().len()), (200, 2), "{list:?}");
        assert_eq!(running.get("/api/v1/bundles", &read).await.problem(), "forbidden");
        for other in ["outside", "nobody", "emea", ""] {
            let answer = named(&running, "/api/v1/bundles", &read, other).await;
            assert_eq!((answer.status, answer.problem().as_str()), (403, "forbidden"), "{other}");
        }
        // A key of an organization may name its own, and no other.
        assert_eq!(named(&running, "/api/v1/bundles", &acme.read, "acme").await.status, 200);
        assert_eq!(named(&running, "/api/v1/bundles", &acme.read, "beta").await.problem(), "forbidden");
        let path = format!("/api/v1/bundles/{secret}");
        assert_eq!(named(&running, &path, &read, "acme").await.problem(), "not-found");
        // It changes nothing, in any organization.
        for route in table() {
            if route.method == "GET" || !matches!(route.access, Access::Needs(_)) {
                continue;
            }
            let path = route.path.replace("{bundle_id}", &secret).replace("{key_id}", "key_1");
            let request = running.client.request(route.method.clone(), running.url(&path)).bearer_auth(&read);
            let request = request.header("evidence-organization", "acme").body("{}");
            let answer = Answer::of(request.send().await.unwrap()).await;
            assert_eq!(answer.problem(), "forbidden", "{route:?}");
        }

        // The pages.
        let session = running.sign_in(&read).await;
        for path in ["/bundles", "/period", "/integrity"] {
            let answer = running.page(path, Some(&session)).await;
            assert_eq!(
                (answer.status, answer.headers["location"].to_str().unwrap()),
                (303, "/fleet"),
                "{path}"
            );
        }
        let page = running.page("/fleet", Some(&session)).await;
        assert_eq!(page.status, 200, "{page:?}");
        let text = page.text();
        for part in [
            "EMEA &#38; more",
            "3 organizations",
            "1 late",
            "1 without a bundle",
            "Name of acme",
            "late since",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert!(!text.contains("outside"), "{text}");
        // Every link of the organization's pages stays in it.
        let mut seen = std::collections::BTreeSet::new();
        let mut next = vec!["/organizations/acme/bundles".to_owned()];
        assert!(text.contains("href=\"/organizations/acme/bundles\""));
        while let Some(path) = next.pop() {
            if !seen.insert(path.clone()) || seen.len() > 60 {
                continue;
            }
            let answer = running.page(&path, Some(&session)).await;
            assert_eq!(answer.status, 200, "{path}: {answer:?}");
            if !answer.kind.starts_with("text/html") || path.ends_with("/frame") {
                continue;
            }
            for link in answer.text().split("href=\"").skip(1) {
                let link = link.split('"').next().unwrap().replace("&#38;", "&").replace("&amp;", "&");
                let shared = ["/assets/", "/fleet", "/verify", "#", "http"];
                if shared.iter().any(|shared| link.starts_with(shared)) {
                    continue;
                }
                assert!(link.starts_with("/organizations/acme/"), "{path} leads to {link}");
                if !link.ends_with("/download") {
                    next.push(link);
                }
            }
        }
        assert!(seen.len() > 10, "{seen:?}");
        let answer = running.page("/organizations/acme/bundles/none", Some(&session)).await;
        assert_eq!(answer.status, 404);
        assert!(
            answer.text().contains("Name of acme") && answer.text().contains("/organizations/acme/bundles\"")
        );
        for path in [
            "/organizations/outside/bundles".to_owned(),
            "/organizations/nobody/bundles".to_owned(),
            format!("/organizations/acme/bundles/{secret}"),
            "/organizations/acme/fleet".to_owned(),
            "/organizations/acme/api/v1/bundles".to_owned(),
            "/organizations/acme".to_owned(),
        ] {
            let answer = running.page(&path, Some(&session)).await;
            assert_eq!(answer.status, 404, "{path}: {answer:?}");
            assert!(!answer.text().contains("Name of outside"), "{path}");
        }
        for path in ["/organizations/acme/keys", "/organizations/acme/trust", "/organizations/acme/audit-log"]
        {
            assert_eq!(running.page(path, Some(&session)).await.status, 403, "{path}");
        }
        // Signing in leads back to the page, and a session of an organization has no other.
        let form = running.page("/organizations/acme/period", None).await;
        assert!(form.text().contains("value=\"/organizations/acme/period\""), "{}", form.text());
        let own = running.sign_in(&acme.read).await;
        assert_eq!(running.page("/organizations/acme/bundles", Some(&own)).await.status, 404);
        assert_eq!(running.page("/organizations/beta/bundles", Some(&own)).await.status, 404);
        assert_eq!(running.page("/fleet", Some(&own)).await.status, 403);

        // What it does is recorded where it is done; its session where it belongs.
        let first = list.json["items"][0]["bundle_id"].as_str().unwrap();
        let path = format!("/organizations/acme/bundles/{first}/download");
        assert_eq!(running.page(&path, Some(&session)).await.status, 200);
        let prefix = &read[..20];
        let admin = principal(&running.service, &acme.admin).await;
        let page = evidence_platform::service::PageRequest::new(None, None).unwrap();
        let log = running.service.audit_log(&admin, &page);
        let log = log.await.unwrap().items;
        assert!(
            log.iter().any(|record| {
                record.action == "bundle.download" && record.actor == format!("key:{prefix}")
            })
        );
        assert!(!log.iter().any(|record| record.action == "session.begin" && record.actor.contains(prefix)));

        // An organization that leaves the group, or a key that is revoked, ends it.
        let left = Update { group: Some(None), ..Update::default() };
        operator.update_organization("acme", left).await.unwrap();
        assert_eq!(running.page("/organizations/acme/bundles", Some(&session)).await.status, 404);
        assert_eq!(slugs(&running.get("/api/v1/status", &monitor).await), ["beta", "empty"]);
        operator.revoke_group_key("emea", "auditors").await.unwrap();
        assert_eq!(running.page("/fleet", Some(&session)).await.status, 401);
        assert_eq!(running.get("/api/v1/organizations", &read).await.problem(), "unauthenticated");
        let call = running.call(Method::POST, "/sign-out", None, None).await;
        assert_eq!(call.status, 303);
        assert_eq!(operator.groups().await.unwrap().len(), 2);
        assert_eq!(operator.group_keys(&group.slug).await.unwrap().len(), 2);
    }
}
