//! Branch protection with all its answers, branches, rules, redirects, blocks.

use crate::client::{get, get_with, raw};
use sandbox::codehost::{Actors, CodeHost, Organization, Protection, Repository, Token};
use serde_json::json;

const TOKEN: &str = "owner";

fn host() -> CodeHost {
    CodeHost::new()
        .organization(Organization::new("acme"))
        .token(Token::classic(TOKEN).scopes(["repo"]))
        .token(
            Token::fine_grained("fine")
                .resource_owner("acme")
                .permissions(["administration:read", "contents:read"]),
        )
        .token(Token::fine_grained("contents").resource_owner("acme").permissions(["contents:read"]))
        .token(Token::app("app").resource_owner("acme").permissions(["contents:read"]))
}

fn web() -> Repository {
    Repository::new("acme", "web").protection("main", Protection::new())
}

#[test]
fn every_refusal_of_protection() {
    const FORBIDDEN: &str = "Resource not accessible by personal access token";
    const UPGRADE: &str = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
    for (case, repository, token, branch, status, message) in [
        ("no rule", Repository::new("acme", "web"), TOKEN, "main", 404, "Branch not protected"),
        ("no branch", web(), TOKEN, "master", 404, "Branch not found"),
        ("another case", web(), TOKEN, "Main", 404, "Branch not found"),
        ("empty", Repository::new("acme", "web").empty(), TOKEN, "main", 404, "Branch not found"),
        ("not an administrator", web().admin(false), TOKEN, "main", 404, "Not Found"),
        ("gone", web().vanished(), TOKEN, "main", 404, "Not Found"),
        ("another repository", Repository::new("acme", "other"), TOKEN, "main", 404, "Not Found"),
        ("plan", web().plan_limited(), TOKEN, "main", 403, UPGRADE),
        (
            "switched off",
            web().protection_disabled(),
            TOKEN,
            "main",
            404,
            "Branch protection has been disabled on this repository.",
        ),
        ("permission missing", web(), "contents", "main", 403, FORBIDDEN),
        ("permission missing, private", web().private(true), "contents", "main", 403, FORBIDDEN),
        ("app", web(), "app", "main", 403, "Resource not accessible by integration"),
        ("takedown", web().blocked("dmca"), TOKEN, "main", 451, "Repository access blocked"),
        ("terms", web().blocked("tos"), TOKEN, "main", 403, "Repository access blocked"),
        ("nobody", web(), "", "main", 401, "Requires authentication"),
        ("nobody, private", web().private(true), "", "main", 404, "Not Found"),
    ] {
        let server = host().repository(repository).serve().unwrap();
        let answer = get(&server, token, &format!("/repos/acme/web/branches/{branch}/protection"));
        assert_eq!((answer.status, answer.message().as_str()), (status, message), "{case}");
        assert_eq!(answer.header("etag"), None, "{case}");
        assert!(answer.header("x-ratelimit-remaining").is_some(), "{case}");
    }
}

#[test]
fn a_rule_in_full() {
    let rule = Protection::new()
        .reviews(2)
        .code_owner_reviews()
        .dismissal_restrictions(Actors::new().user("mona").team("core").app("merge-bot"))
        .status_checks(["ci/build", "lint"])
        .strict()
        .enforce_admins(true)
        .restrictions(Actors::new().team("core"));
    let server = host().repository(web().protection("main", rule)).serve().unwrap();
    let answer = get(&server, "fine", "/repos/Acme/WEB/branches/main/protection");
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("x-accepted-github-permissions"), Some("administration=read"));
    assert!(answer.header("etag").unwrap().starts_with("W/\""));
    let body = answer.json();
    let base = format!("{}/repos/acme/web/branches/main/protection", server.url());
    assert_eq!(body["url"], base);
    assert_eq!(body["required_status_checks"]["contexts"], json!(["ci/build", "lint"]));
    assert_eq!(body["required_status_checks"]["checks"][1], json!({"context": "lint", "app_id": null}));
    assert_eq!(body["required_status_checks"]["strict"], true);
    assert_eq!(body["required_pull_request_reviews"]["required_approving_review_count"], 2);
    assert_eq!(body["required_pull_request_reviews"]["require_code_owner_reviews"], true);
    assert_eq!(body["enforce_admins"], json!({"url": format!("{base}/enforce_admins"), "enabled": true}));
    let people = &body["required_pull_request_reviews"]["dismissal_restrictions"];
    assert_eq!(people["users"][0]["login"], "mona");
    assert!(people["users"][0].as_object().unwrap().len() > 15);
    assert_eq!(people["teams"][0]["slug"], "core");
    assert_eq!(people["apps"][0]["slug"], "merge-bot");
    assert_eq!(body["restrictions"]["teams"][0]["slug"], "core");
}

#[test]
fn sections_that_are_not_configured_are_absent() {
    let server = host().repository(web()).serve().unwrap();
    let body = get(&server, TOKEN, "/repos/acme/web/branches/main/protection").json();
    let keys: Vec<_> = body.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(
        keys,
        [
            "allow_deletions",
            "allow_force_pushes",
            "allow_fork_syncing",
            "block_creations",
            "enforce_admins",
            "lock_branch",
            "required_conversation_resolution",
            "required_linear_history",
            "required_signatures",
            "url"
        ]
    );

    let empty = Protection::new().status_checks(Vec::<String>::new());
    server.update(|host| host.change_repository("acme", "web", |web| web.protection("main", empty)));
    let body = get(&server, TOKEN, "/repos/acme/web/branches/main/protection").json();
    assert_eq!(body["required_status_checks"]["contexts"], json!([]));
    assert_eq!(body["required_status_checks"]["checks"], json!([]));

    let odd = Protection::new()
        .body(json!({"required_pull_request_reviews": {"required_approving_review_count": 1e30}}));
    server.update(|host| host.change_repository("acme", "web", |web| web.protection("main", odd)));
    let answer = get(&server, TOKEN, "/repos/acme/web/branches/main/protection");
    assert_eq!(
        answer.text(),
        r#"{"required_pull_request_reviews":{"required_approving_review_count":1e+30}}"#
    );
}

#[test]
fn branches_with_a_slash() {
    let server =
        host().repository(web().protection("release/v2", Protection::new().reviews(1))).serve().unwrap();
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/branches/release%2Fv2/protection").status, 200);
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/branches/release/v2/protection").status, 404);
    let branch = get(&server, TOKEN, "/repos/acme/web/branches/release%2Fv2").json();
    assert_eq!((branch["name"].as_str(), branch["protected"].as_bool()), (Some("release/v2"), Some(true)));
    assert!(branch["commit"]["commit"]["author"]["email"].is_string());
}

#[test]
fn rules_of_rulesets() {
    let rule = json!({"type": "pull_request", "parameters": {"required_approving_review_count": 2},
        "ruleset_source_type": "Organization", "ruleset_source": "acme", "ruleset_id": 42});
    let server = host()
        .repository(Repository::new("acme", "web").rule("main", rule.clone()))
        .repository(Repository::new("acme", "small").plan_limited())
        .serve()
        .unwrap();
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/rules/branches/main").json(), json!([rule]));
    // For a branch that does not exist: 200 and an empty list.
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/rules/branches/no-such").json(), json!([]));
    assert_eq!(get(&server, TOKEN, "/repos/acme/small/rules/branches/main").status, 403);
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/branches/main").json()["protected"], true);
    let classic = get(&server, TOKEN, "/repos/acme/web/branches/main/protection");
    assert_eq!((classic.status, classic.message().as_str()), (404, "Branch not protected"));
}

#[test]
fn renamed_and_transferred() {
    let server = host()
        .repository(
            Repository::new("acme", "old").id(146).protection("main", Protection::new()).renamed_to("new"),
        )
        .repository(Repository::new("acme", "sold").id(147).renamed_to("other/bought"))
        .serve()
        .unwrap();
    let moved = get(&server, TOKEN, "/repos/acme/old/branches/main/protection");
    let target = format!("{}/repositories/146/branches/main/protection", server.url());
    assert_eq!((moved.status, moved.header("location")), (301, Some(target.as_str())));
    assert_eq!(
        moved.json(),
        json!({"message": "Moved Permanently", "url": target,
        "documentation_url": "https://docs.github.com/v3/#http-redirects"})
    );
    assert_eq!(get(&server, TOKEN, "/repositories/146/branches/main/protection").status, 200);
    assert_eq!(get(&server, TOKEN, "/repos/acme/new").json()["full_name"], "acme/new");
    // The redirect of a transferred repository names another owner.
    assert_eq!(get(&server, TOKEN, "/repos/acme/sold").status, 301);
    assert_eq!(get(&server, TOKEN, "/repositories/147").json()["owner"]["login"], "other");
}

#[test]
fn a_repository_in_full() {
    let server =
        host().repository(web()).repository(Repository::new("acme", "vault").private(true)).serve().unwrap();
    let open = get(&server, TOKEN, "/repos/acme/web");
    assert_eq!(open.header("x-accepted-oauth-scopes"), Some("repo"));
    assert_eq!(open.json()["temp_clone_token"], json!(null));
    assert_eq!(open.json()["permissions"]["admin"], true);
    assert!(open.body.len() > 5_000, "{} bytes", open.body.len());
    let hidden = get(&server, TOKEN, "/repos/acme/vault").json();
    assert_eq!(hidden["temp_clone_token"].as_str().map(str::len), Some(29));
    assert_eq!((hidden["visibility"].as_str(), hidden["private"].as_bool()), (Some("private"), Some(true)));
    let new = get_with(&server, TOKEN, "/repos/acme/web", &[("X-GitHub-Api-Version", "2026-03-10")]).json();
    assert!(new.get("has_downloads").is_none() && open.json().get("has_downloads").is_some());
}

#[test]
fn head_is_get_without_the_body() {
    let server = host().repository(web()).serve().unwrap();
    let headers = [("User-Agent", "x"), ("Authorization", "token owner")];
    let head = raw(&server, "HEAD", "/repos/acme/web", &headers);
    let get = raw(&server, "GET", "/repos/acme/web", &headers);
    assert_eq!((head.status, head.body.len()), (200, 0));
    assert_eq!(head.number("content-length"), i64::try_from(get.body.len()).unwrap());
    assert!(server.violations().is_empty());
}

#[test]
fn hostile_names_arrive_as_they_are() {
    for name in ["../../etc/passwd", "a\nb", "nul\0", "\u{1b}[2Jred", &"x".repeat(300), "con", "a/b", "é ü"]
    {
        let server = host().repository(Repository::new("acme", name)).serve().unwrap();
        let list = get(&server, TOKEN, "/orgs/acme/repos").json();
        assert_eq!(list[0]["name"], name);
    }
}

#[test]
fn below_a_base_path() {
    let server = host().repository(web()).base_path("/api/v3/").serve().unwrap();
    assert!(server.url().ends_with("/api/v3"));
    let body = get(&server, TOKEN, "/api/v3/repos/acme/web").json();
    assert_eq!(body["url"], format!("{}/repos/acme/web", server.url()));
}
