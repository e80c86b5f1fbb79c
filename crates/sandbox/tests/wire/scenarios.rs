//! The ready-made hosts.

use crate::client::{get, get_with};
use sandbox::codehost::Limits;
use sandbox::{
    DEMO_FINE_GRAINED_TOKEN, DEMO_MEMBER_TOKEN, DEMO_SECRET, DEMO_TOKEN, demo_organization,
    large_organization,
};
use std::collections::BTreeMap;

#[test]
fn the_demo_has_every_situation() {
    let server = demo_organization().serve().unwrap();
    let list = get(&server, DEMO_TOKEN, "/orgs/acme/repos?per_page=100&sort=full_name");
    let list = list.json();
    let mut seen = BTreeMap::new();
    for repository in list.as_array().unwrap() {
        let name = repository["name"].as_str().unwrap();
        let path = format!("/repos/acme/{name}/branches/main/protection");
        let mut answer = get(&server, DEMO_TOKEN, &path);
        while answer.status == 502 {
            assert!(answer.header("content-type").unwrap().starts_with("text/html"));
            answer = get(&server, DEMO_TOKEN, &path);
        }
        let protection = if answer.status == 200 { "200".to_owned() } else { answer.message() };
        let owners = ["CODEOWNERS", ".github/CODEOWNERS"]
            .map(|path| get(&server, DEMO_TOKEN, &format!("/repos/acme/{name}/contents/{path}")).status);
        seen.insert(name.to_owned(), (protection, owners));
    }
    let expected = [
        ("data-pipeline", "200", [200, 404]),
        ("docs-site", "200", [404, 404]),
        (
            "finance-reports",
            "Upgrade to GitHub Pro or make this repository public to enable this feature.",
            [200, 404],
        ),
        ("infra", "200", [404, 200]),
        ("internal-tools", "200", [200, 404]),
        ("legacy-billing", "Branch not found", [200, 404]),
        ("mobile-app", "200", [404, 200]),
        ("new-service", "Branch not found", [404, 404]),
        ("old-website", "200", [200, 404]),
        ("partner-mirror", "Repository access blocked", [451, 451]),
        ("payments", "200", [404, 200]),
        ("prototype", "Branch not protected", [200, 404]),
        ("security-tooling", "Not Found", [200, 404]),
        ("storefront", "200", [200, 404]),
    ];
    assert_eq!(seen.len(), expected.len());
    for (name, protection, owners) in expected {
        assert_eq!(seen[name], (protection.to_owned(), owners), "{name}");
    }
    assert_eq!(server.faults_injected(), BTreeMap::from([("status-html", 2)]));

    let raw = [("Accept", "application/vnd.github.raw+json")];
    let infra = get_with(&server, DEMO_TOKEN, "/repos/acme/infra/contents/.github/CODEOWNERS", &raw);
    assert!(infra.text().contains(DEMO_SECRET));
    // The fine-grained token sees the same organization with its regular permissions.
    let fine = get(&server, DEMO_FINE_GRAINED_TOKEN, "/orgs/acme/repos?per_page=100").json();
    assert_eq!(fine.as_array().unwrap().len(), 14);
    assert_eq!(
        get(&server, DEMO_FINE_GRAINED_TOKEN, "/orgs/acme").json()["two_factor_requirement_enabled"],
        true
    );
    let member = get(&server, DEMO_MEMBER_TOKEN, "/orgs/acme").json();
    assert!(member["two_factor_requirement_enabled"].is_null());
}

#[test]
fn a_large_organization_is_there_when_asked_for() {
    let server = large_organization(50_000).serve().unwrap();
    let page = get(&server, DEMO_TOKEN, "/orgs/acme/repos?per_page=100&sort=full_name&page=500");
    assert_eq!(page.json().as_array().unwrap().len(), 100);
    assert!(page.header("link").unwrap().starts_with('<'));
    assert_eq!(page.json()[99]["name"], "service-049999");
    assert_eq!(get(&server, DEMO_TOKEN, "/repos/acme/service-049999/branches/main/protection").status, 200);
    assert_eq!(get(&server, DEMO_TOKEN, "/repos/acme/service-050000").status, 404);
    let id = page.json()[0]["id"].as_u64().unwrap();
    assert_eq!(
        get(&server, DEMO_TOKEN, &format!("/repositories/{id}")).json()["name"],
        page.json()[0]["name"]
    );
    let org = get(&server, DEMO_TOKEN, "/orgs/acme").json();
    assert_eq!(org["public_repos"].as_u64().unwrap() + org["total_private_repos"].as_u64().unwrap(), 50_000);
    server.update(|host| host.set_limits(Limits::documented()));
    assert_eq!(get(&server, DEMO_TOKEN, "/user").number("x-ratelimit-remaining"), 4999);
}

#[test]
fn it_can_be_started_and_dropped_inside_a_runtime() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let server = demo_organization().serve().unwrap();
        assert_eq!(get(&server, DEMO_TOKEN, "/user").status, 200);
    });
}
