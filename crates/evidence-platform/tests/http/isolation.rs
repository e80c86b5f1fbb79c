//! Every route of the table with every kind of credential: no data of one organization is visible to another.

use evidence_platform::api::access::Access;
use evidence_platform::api::routes::{Route, table};
use evidence_platform::role::{Capability, Role};
use evidence_platform::secret::ApiKey;
use evidence_platform::service::Operator;
use serde_json::{Value, json};

use crate::running::{Answer, Running};
use crate::support::{bundles, principal};

/// The data of the attacked organization.
struct Victim {
    admin: String,
    upload: String,
    read: String,
    revoked: String,
    bundle_id: String,
    key_id: String,
    trusted: String,
    secrets: Vec<String>,
}

async fn victim(running: &Running) -> Victim {
    let tenant = running.tenant("victim-slug").await;
    let stored = running
        .upload_with(
            &tenant.upload,
            &bundles::bundle(1),
            "?tag=note=victim-tag",
            Some(crate::support::content_digest(&bundles::bundle(1))),
        )
        .await;
    assert_eq!(stored.status, 201, "{stored:?}");
    let who = principal(&running.service, &tenant.admin).await;
    let trusted = bundles::key().public_key();
    let mut secrets = vec![
        "victim".to_owned(),
        who.organization().to_string(),
        who.key_id().to_owned(),
        stored.json["bundle_id"].as_str().unwrap().to_owned(),
        stored.json["sha256"].as_str().unwrap().to_owned(),
        trusted.key_id().to_string(),
        trusted.ssh_fingerprint(),
        trusted.to_spki_base64(),
        "8000-000000000001".to_owned(),
    ];
    for key in [&tenant.admin, &tenant.upload, &tenant.read, &tenant.revoked] {
        secrets.push(ApiKey::parse(key).unwrap().prefix().to_owned());
    }
    Victim {
        admin: tenant.admin,
        upload: tenant.upload,
        read: tenant.read,
        revoked: tenant.revoked,
        bundle_id: secrets[3].clone(),
        key_id: who.key_id().to_owned(),
        trusted: trusted.key_id().to_string(),
        secrets,
    }
}

/// A valid body for a route, so that only the credential can be wrong.
fn body(route: &Route) -> Option<Value> {
    match route.path.rsplit('/').next().unwrap() {
        _ if route.method == "GET" || route.method == "DELETE" => None,
        "legal-hold" => Some(json!({ "legal_hold": true })),
        "validity" => Some(json!({ "valid_from": null })),
        "revocation" => Some(json!({ "since": "2099-01-01T00:00:00Z", "reason": "a test" })),
        "retention" => Some(json!({ "retention_until": "2099-01-01T00:00:00Z" })),
        "holds" => Some(json!({ "tag": "a=b", "reason": "a test" })),
        "keys" => Some(json!({ "role": "admin", "name": "made by a test" })),
        "trusted-keys" => {
            let key = evidence_bundle::SigningKey::from_seed(b"a third key which is not trusted");
            Some(json!({ "public_key": bundles::public_pem(&key), "name": "made by a test" }))
        }
        _ => None,
    }
}

fn path(route: &Route, victim: &Victim) -> String {
    let key = if route.path.contains("trusted-keys") { &victim.trusted } else { &victim.key_id };
    let path = route.path.replace("{bundle_id}", &victim.bundle_id).replace("{key_id}", key);
    let id = &victim.bundle_id;
    let path = path.replace("/period/subject", "/period/subject?name=acme");
    let path = match route.method == "DELETE" {
        true => path.replace("/holds", "/holds?tag=note=victim-tag"),
        false => path,
    };
    path.replace("{*path}", "manifest.json").replace("/compare", &format!("/compare?from={id}&to={id}"))
}

async fn call(running: &Running, route: &Route, victim: &Victim, key: Option<&str>) -> Answer {
    running.call(route.method.clone(), &path(route, victim), key, body(route)).await
}

fn shows_nothing(answer: &Answer, victim: &Victim, what: &str) {
    let text = format!("{} {:?}", answer.text(), answer.headers);
    for secret in &victim.secrets {
        assert!(!text.contains(secret.as_str()), "{what} shows {secret}: {text}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_organization_sees_or_changes_data_of_another() {
    let running = Running::local().await;
    let victim = victim(&running).await;
    // The other organization trusts another key, and has a key of each role.
    let operator = Operator::of(&running.service);
    operator.create_organization("Other", "other").await.unwrap();
    let pem = bundles::public_pem(&bundles::other_key());
    operator.add_trusted_key("other", &pem, "theirs").await.unwrap();
    let mut strangers = Vec::new();
    for role in Role::ALL {
        strangers
            .push((role, operator.create_key("other", role, "x").await.unwrap().key.reveal().to_owned()));
    }
    let theirs = bundles::signed(7, b"{}\n", &bundles::other_key());
    assert_eq!(running.upload(&strangers[2].1, &theirs).await.status, 201);

    let own = [(Role::Upload, &victim.upload), (Role::Read, &victim.read), (Role::Admin, &victim.admin)];
    let mut mistyped = victim.admin.clone();
    let last = mistyped.pop().unwrap();
    mistyped.push(if last == '0' { '1' } else { '0' });
    let unknown = ApiKey::random().unwrap().reveal().to_owned();
    let prefix = ApiKey::parse(&victim.admin).unwrap().prefix().to_owned();
    let wrong = [&victim.revoked, &mistyped, &unknown, &prefix, "garbage", "\u{7f}", "' OR 1=1 --"];

    let before =
        running.get("/api/v1/audit-log", &victim.admin).await.json["items"].as_array().unwrap().len();
    let mut tried = 0;
    for route in table() {
        let what = format!("{route:?}");
        let capability = match route.access {
            Access::Needs(capability) | Access::NeedsAny(capability) => capability,
            // Below, and in `pages`.
            Access::Page(_) | Access::AnyPage(_) | Access::OpenPage => continue,
            // In `fleet`.
            Access::NeedsGroup(_) => continue,
            Access::Open => {
                let answer = call(&running, &route, &victim, None).await;
                assert_eq!(answer.status, 200, "{what}: {answer:?}");
                shows_nothing(&answer, &victim, &what);
                continue;
            }
        };
        let answer = call(&running, &route, &victim, None).await;
        assert_eq!((answer.status, answer.problem().as_str()), (401, "unauthenticated"), "{what}");
        assert_eq!(answer.headers["www-authenticate"], "Bearer");
        shows_nothing(&answer, &victim, &what);
        for key in wrong {
            let answer = running
                .client
                .request(route.method.clone(), running.url(&path(&route, &victim)))
                .header(
                    "authorization",
                    reqwest::header::HeaderValue::from_bytes(format!("Bearer {key}").as_bytes())
                        .unwrap_or_else(|_| "Bearer x".parse().unwrap()),
                )
                .send()
                .await
                .unwrap();
            let answer = Answer::of(answer).await;
            assert_eq!((answer.status, answer.problem().as_str()), (401, "unauthenticated"), "{what} {key}");
            shows_nothing(&answer, &victim, &what);
        }
        // The right organization, the wrong role.
        for (role, key) in own.iter().filter(|(role, _)| !role.may(capability)) {
            let answer = call(&running, &route, &victim, Some(key)).await;
            assert_eq!((answer.status, answer.problem().as_str()), (403, "forbidden"), "{what} {role}");
            shows_nothing(&answer, &victim, &what);
        }
        // The wrong organization, every role.
        for (role, key) in &strangers {
            let answer = call(&running, &route, &victim, Some(key)).await;
            let named = route.path.contains('{');
            match (role.may(capability), named) {
                (false, _) => assert_eq!(answer.problem(), "forbidden", "{what} {role}"),
                (true, true) => assert_eq!(
                    (answer.status, answer.problem().as_str()),
                    (404, "not-found"),
                    "{what} {role}"
                ),
                // There is nothing of theirs that a tag holds.
                (true, false) if route.method == "DELETE" => assert_eq!(answer.status, 404, "{what} {role}"),
                (true, false) => {
                    assert!(matches!(answer.status, 200 | 201 | 400), "{what} {role} {answer:?}")
                }
            }
            shows_nothing(&answer, &victim, &format!("{what} {role}"));
            tried += 1;
        }
    }
    assert!(tried >= 48, "{tried}");

    // Nothing of the victim has changed, and its log names no one else.
    let log = running.get("/api/v1/audit-log?limit=100", &victim.admin).await;
    assert_eq!(log.json["items"].as_array().unwrap().len(), before, "{}", log.text());
    let bundle = running.get(&format!("/api/v1/bundles/{}", victim.bundle_id), &victim.read).await;
    assert_eq!(bundle.json["legal_hold"], false);
    assert_eq!(running.get("/api/v1/keys", &victim.admin).await.json["items"].as_array().unwrap().len(), 4);
    assert_eq!(
        running.get("/api/v1/trusted-keys", &victim.admin).await.json["items"].as_array().unwrap().len(),
        1
    );
}

/// A session is only valid for the pages of its own organization.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_organization_sees_a_page_of_another() {
    let running = Running::local().await;
    let victim = victim(&running).await;
    let operator = Operator::of(&running.service);
    operator.create_organization("Other", "other").await.unwrap();
    let mut strangers = Vec::new();
    for role in [Role::Read, Role::Admin] {
        let key = operator.create_key("other", role, "x").await.unwrap().key;
        strangers.push((role, running.sign_in(key.reveal()).await));
    }
    let pem = bundles::public_pem(&bundles::other_key());
    operator.add_trusted_key("other", &pem, "theirs").await.unwrap();
    let uploader = operator.create_key("other", Role::Upload, "x").await.unwrap().key;
    let theirs = bundles::signed(7, b"{}\n", &bundles::other_key());
    let theirs = running.upload(uploader.reveal(), &theirs).await.json["bundle_id"].clone();
    let theirs = theirs.as_str().unwrap().to_owned();
    let own = running.sign_in(&victim.read).await;
    let own_admin = running.sign_in(&victim.admin).await;
    // A session with a revoked key, an expired one, and a token that was never issued.
    let key = operator.create_key("victim-slug", Role::Admin, "x").await.unwrap();
    let revoked = running.sign_in(key.key.reveal()).await;
    operator.revoke_key("victim-slug", &key.row.prefix).await.unwrap();
    let ended = running.sign_in(&victim.admin).await;
    assert_eq!(running.submit("/sign-out", "", Some(&ended)).await.status, 303);
    let unknown = format!("evidence-platform-session={}", "0".repeat(64));
    assert_eq!(unknown.len(), own.len(), "as well-formed as a real one");
    let key = format!("evidence-platform-session={}", victim.admin);
    let wrong = [revoked, ended, unknown, key, "evidence-platform-session=".into(), format!("{own}; {own}")];

    let mut tried = 0;
    for route in table() {
        let what = format!("{route:?}");
        let path = path(&route, &victim);
        match route.access {
            Access::Page(capability) => {
                let mut answers = vec![running.page(&path, None).await];
                for cookie in &wrong {
                    answers.push(running.page(&path, Some(cookie)).await);
                }
                // A key is not a session: pages are not for programs.
                answers.push(running.get(&path, &victim.read).await);
                for answer in answers {
                    assert_eq!(answer.status, 401, "{what}: {answer:?}");
                    assert!(answer.text().contains("action=\"/sign-in\""), "{what}: {}", answer.text());
                    // The form contains only the requested page.
                    let mut blind = victim.secrets.clone();
                    blind.retain(|secret| !path.contains(secret.as_str()));
                    let text = format!("{} {:?}", answer.text(), answer.headers);
                    assert!(!blind.iter().any(|secret| text.contains(secret.as_str())), "{what}: {text}");
                    tried += 1;
                }
                for (role, cookie) in &strangers {
                    if !role.may(capability) {
                        let answer = running.page(&path, Some(cookie)).await;
                        assert_eq!(answer.status, 403, "{what} {role}: {answer:?}");
                        shows_nothing(&answer, &victim, &format!("{what} {role}"));
                        continue;
                    }
                    let answer = running.page(&path, Some(cookie)).await;
                    let expected = if path.contains(&victim.bundle_id) { 404 } else { 200 };
                    assert_eq!(answer.status, expected, "{what} {role}: {answer:?}");
                    shows_nothing(&answer, &victim, &format!("{what} {role}"));
                }
                let own = if Role::Read.may(capability) { &own } else { &own_admin };
                assert_eq!(running.page(&path, Some(own)).await.status, 200, "{what}");
                // The own bundle gives no access to another one.
                if path.starts_with("/compare") {
                    let (_, cookie) = &strangers[1];
                    for path in
                        [path.replace("from=", "from=x&from="), path.replacen(&victim.bundle_id, &theirs, 1)]
                    {
                        let answer = running.page(&path, Some(cookie)).await;
                        assert!(matches!(answer.status, 400 | 404), "{path}: {answer:?}");
                        let mut blind = victim.secrets.clone();
                        blind.retain(|secret| *secret != victim.bundle_id);
                        assert!(!blind.iter().any(|secret| answer.text().contains(secret.as_str())));
                    }
                    let path = format!("/compare?from={}&to={theirs}", victim.bundle_id);
                    assert_eq!(running.page(&path, Some(cookie)).await.status, 404);
                }
            }
            Access::OpenPage if route.method == "GET" => {
                let answer = running.page(&path, None).await;
                let left_out = path == "/verify" && verifier_page::page().is_none();
                let expected = if left_out { &[404] } else { &[200, 303][..] };
                assert!(expected.contains(&answer.status), "{what}: {answer:?}");
                shows_nothing(&answer, &victim, &what);
            }
            // The API ignores sessions, so another site's page cannot use one to call it.
            Access::Needs(_) | Access::NeedsAny(_) | Access::NeedsGroup(_) => {
                let request = running.client.request(route.method.clone(), running.url(&path));
                let answer = Answer::of(request.header("cookie", &own).send().await.unwrap()).await;
                assert_eq!((answer.status, answer.problem().as_str()), (401, "unauthenticated"), "{what}");
            }
            // In `fleet`.
            Access::AnyPage(_) => {}
            Access::Open | Access::OpenPage => {}
        }
    }
    assert!(tried >= 48, "{tried}");
}

#[tokio::test]
async fn every_role_can_do_what_it_is_for() {
    let running = Running::local().await;
    let victim = victim(&running).await;
    for route in table() {
        let (Access::Needs(capability) | Access::NeedsAny(capability)) = route.access else { continue };
        // These would end the test.
        if route.method == "DELETE" {
            continue;
        }
        for (role, key) in
            [(Role::Upload, &victim.upload), (Role::Read, &victim.read), (Role::Admin, &victim.admin)]
        {
            let answer = call(&running, &route, &victim, Some(key)).await;
            let allowed = !matches!(answer.status, 401 | 403);
            assert_eq!(allowed, role.may(capability), "{route:?} {role} {answer:?}");
            let fine = matches!(answer.status, 200 | 201)
                || (capability == Capability::Upload && answer.status == 400);
            assert_eq!(fine, allowed, "{route:?} {role} {answer:?}");
        }
    }
}

#[tokio::test]
async fn two_organizations_have_the_same_bundle_each_for_itself() {
    let running = Running::local().await;
    let (one, two) = (running.tenant("one").await, running.tenant("two").await);
    let bytes = bundles::bundle(1);
    let first = running.upload(&one.upload, &bytes).await;
    let second = running.upload(&two.upload, &bytes).await;
    // Created, not existing: the answer does not show whether another organization has the bytes.
    assert_eq!((first.status, second.status), (201, 201));
    assert_eq!(first.json["sha256"], second.json["sha256"]);
    assert_eq!(first.json["bundle_id"], second.json["bundle_id"]);
    assert_eq!(running.place.blob_files().len(), 2);
    // One organization's actions do not affect the other.
    let path = format!("/api/v1/bundles/{}", first.json["bundle_id"].as_str().unwrap());
    let hold = Some(json!({ "legal_hold": true }));
    let held =
        running.call(reqwest::Method::PUT, &format!("{path}/legal-hold"), Some(&one.admin), hold).await;
    assert_eq!(held.status, 200, "{held:?}");
    for (reader, held) in [(&one.read, true), (&two.read, false)] {
        assert_eq!(running.get(&path, reader).await.json["legal_hold"], held);
    }
    // Other bytes under this id, which anyone can choose, do not affect it either.
    let other = bundles::signed(1, b"{\"other\": true}\n", &bundles::key());
    let three = running.tenant("three").await;
    assert_eq!(running.upload(&three.upload, &other).await.status, 201);
    assert_eq!(
        running.get(&path, &three.read).await.json["sha256"],
        json!(crate::support::digest(&other).to_string())
    );
    assert_eq!(running.get(&path, &one.read).await.json["sha256"], first.json["sha256"]);
}

#[tokio::test]
async fn a_revoked_key_ends_at_once_and_others_go_on() {
    let running = Running::local().await;
    let tenant = running.tenant("acme").await;
    assert_eq!(running.get("/api/v1/bundles", &tenant.read).await.status, 200);
    let prefix = ApiKey::parse(&tenant.read).unwrap().prefix().to_owned();
    let path = format!("/api/v1/keys/{prefix}");
    let answer = running.call(reqwest::Method::DELETE, &path, Some(&tenant.admin), None).await;
    assert_eq!(answer.status, 200, "{answer:?}");
    assert!(answer.json["revoked_at"].is_string());
    assert_eq!(running.get("/api/v1/bundles", &tenant.read).await.status, 401);
    assert_eq!(running.get("/api/v1/bundles", &tenant.admin).await.status, 200);
    // A new key is shown once, works, and is never shown again.
    let made = running
        .call(
            reqwest::Method::POST,
            "/api/v1/keys",
            Some(&tenant.admin),
            Some(json!({"role": "read", "name": "new"})),
        )
        .await;
    assert_eq!(made.status, 201);
    let key = made.json["api_key"].as_str().unwrap();
    assert_eq!(running.get("/api/v1/whoami", key).await.json["role"], "read");
    let list = running.get("/api/v1/keys", &tenant.admin).await.text();
    let log = running.get("/api/v1/audit-log", &tenant.admin).await.text();
    assert!(
        !list.contains(key.rsplit('_').next().unwrap()) && !log.contains(key.rsplit('_').next().unwrap())
    );
}
