//! The stored queries of `evidence`: what the host shows, what it refuses, and its limits.

use std::time::Duration;

use crate::client::{Answer, get, raw_with_body};
use sandbox::Server;
use sandbox::codehost::{
    CodeHost, File, Limits, Organization, Primary, Protection, Repository, Ruleset, Token,
};
use serde_json::{Value, json};

const TOKEN: &str = "owner";
const PROTECTION: &str =
    include_str!("../../../evidence/src/source/github/host/bulk/queries/branch_protection.graphql");
const OWNERS: &str = include_str!("../../../evidence/src/source/github/host/bulk/queries/codeowners.graphql");

fn host() -> CodeHost {
    CodeHost::new()
        .organization(Organization::new("acme").ruleset(Ruleset::new(42, "base").rule("deletion").reviews(1)))
        .token(Token::classic(TOKEN).scopes(["read:org"]).sees_private(true))
        .repository(
            Repository::new("acme", "web")
                .protection("main", Protection::new().reviews(2).status_checks(["ci"]).enforce_admins(true))
                .file(".github/CODEOWNERS", File::text("* @acme/web\n"))
                .file("docs/link", File::symlink("../README.md")),
        )
        .repository(Repository::new("acme", "bare"))
}

fn ask(server: &Server, query: &str, variables: Value) -> Answer {
    let authorization = format!("token {TOKEN}");
    let headers = [("User-Agent", "evidence/test"), ("Authorization", authorization.as_str())];
    let body = json!({"query": query, "variables": variables}).to_string();
    raw_with_body(server, "POST", "/graphql", &headers, &body)
}

fn ids(server: &Server) -> Vec<String> {
    let id = |name: &str| get(server, TOKEN, &format!("/repos/acme/{name}")).json()["node_id"].clone();
    ["web", "bare"].map(|name| id(name).as_str().unwrap().to_owned()).to_vec()
}

fn named(ids: &[String]) -> Value {
    json!({"ids": ids, "branch": "refs/heads/main", "named": true, "default": false})
}

#[test]
fn the_same_state_as_by_the_other_interface() {
    let server = host().serve().unwrap();
    let ids = ids(&server);
    let answer = ask(&server, PROTECTION, named(&ids)).json();
    let [web, bare] = [0, 1].map(|index| answer["data"]["nodes"][index].clone());
    let rule = &web["named"]["branchProtectionRule"];
    assert_eq!((&rule["requiredApprovingReviewCount"], &rule["isAdminEnforced"]), (&json!(2), &json!(true)));
    assert_eq!((&web["nameWithOwner"], &web["default"]), (&json!("acme/web"), &Value::Null));
    assert_eq!(bare["named"]["branchProtectionRule"], Value::Null);
    let answer = ask(&server, OWNERS, json!({ "ids": ids })).json();
    let [web, bare] = [0, 1].map(|index| answer["data"]["nodes"][index].clone());
    assert_eq!(web["githubFile"]["text"], "* @acme/web\n");
    assert_eq!(web["docs"]["entries"], json!([{"name": "link", "mode": 0o120_000}]));
    assert_eq!((&web["rootFile"], &bare["github"]), (&Value::Null, &Value::Null));
    assert_eq!(bare["root"]["entries"], json!([{"name": "README.md", "mode": 0o100_644}]));
    assert!(server.violations().is_empty());
}

#[test]
fn anything_but_a_stored_query_is_a_violation() {
    let server = host().serve().unwrap();
    for query in ["mutation { deleteRef(input: {}) { clientMutationId } }", "{ viewer { login } }", ""] {
        let answer = ask(&server, query, json!({"ids": []})).json();
        assert!(answer.get("data").is_none() && answer["errors"].is_array(), "{answer}");
    }
    assert_eq!(server.violations().len(), 3);
    assert_eq!(raw_with_body(&server, "POST", "/graphql", &[("User-Agent", "x")], "{}").status, 401);
}

#[test]
fn an_error_names_its_place() {
    let token = Token::fine_grained(TOKEN).resource_owner("acme").permissions(["metadata:read"]);
    let server = host().token(token).serve().unwrap();
    let mut ids = ids(&server);
    ids.push("R_kgDOnothing".to_owned());
    let answer = ask(&server, PROTECTION, named(&ids)).json();
    let errors: Vec<(&str, String)> = answer["errors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|error| (error["type"].as_str().unwrap(), error["path"].to_string()))
        .collect();
    let place = |index| format!(r#"["nodes",{index},"named","branchProtectionRule"]"#);
    let expected =
        vec![("FORBIDDEN", place(0)), ("FORBIDDEN", place(1)), ("NOT_FOUND", r#"["nodes",2]"#.to_owned())];
    assert_eq!(errors, expected);
    assert_eq!(answer["data"]["nodes"][2], Value::Null);
    assert_eq!(answer["data"]["nodes"][0]["named"]["name"], "main");
}

#[test]
fn points_and_the_host_s_time_are_limits_of_their_own() {
    let limits = Limits { primary: Some(Primary::new(5_000, 3)), ..Limits::documented() };
    let server = host().limits(limits).serve().unwrap();
    let ids = ids(&server);
    let many: Vec<String> = ids.iter().cycle().take(100).cloned().collect();
    let first = ask(&server, PROTECTION, named(&many));
    // A connection of each of two kinds for each repository: 201 requests.
    assert_eq!(first.json()["data"]["rateLimit"]["cost"], 2);
    assert_eq!(
        (first.number("x-ratelimit-remaining"), first.header("x-ratelimit-resource")),
        (1, Some("graphql"))
    );
    ask(&server, PROTECTION, named(&ids));
    assert_eq!(ask(&server, PROTECTION, named(&ids)).json()["errors"][0]["type"], "RATE_LIMITED");
    // The other interface has its own count: two requests for the ids.
    assert_eq!(get(&server, TOKEN, "/orgs/acme").number("x-ratelimit-remaining"), 0);

    let slow = host().limits(Limits::documented()).query_time(Duration::ZERO, Duration::from_secs(5));
    let server = slow.clock(jiff::Timestamp::now).waits(|_| async {}).serve().unwrap();
    let ids = self::ids(&server);
    assert_eq!(ask(&server, OWNERS, json!({ "ids": ids })).status, 502, "10 s are too long");
    // 10 s are used, and 50 more are possible.
    for _ in 0..10 {
        assert_eq!(ask(&server, OWNERS, json!({"ids": [ids[0]]})).status, 200);
    }
    let refused = ask(&server, OWNERS, json!({"ids": [ids[0]]}));
    assert_eq!((refused.status, refused.number("retry-after")), (403, 60));
}
