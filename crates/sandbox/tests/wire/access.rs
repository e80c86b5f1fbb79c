//! Access control, and the views of an organization.

use crate::client::{get, get_with, raw};
use sandbox::Identity;
use sandbox::codehost::{CodeHost, Organization, Repository, Role, Selection, Sso, Token};
use serde_json::Value;

fn host() -> CodeHost {
    CodeHost::new()
        .organization(Organization::new("acme").two_factor(true).default_repository_permission("read"))
        .repository(Repository::new("acme", "web"))
        .repository(Repository::new("acme", "vault").private(true))
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Seen {
    Full,
    Member,
    Public,
}

#[test]
fn organization_fields_by_role_and_token() {
    let classic = |role, scopes: &[&str]| Token::classic("t").role(role).scopes(scopes.iter().copied());
    let bound = |owner: &str| Token::fine_grained("t").resource_owner(owner).permissions(["metadata:read"]);
    for (case, token, expected) in [
        ("owner, admin:org", Some(classic(Role::Owner, &["admin:org"])), Seen::Full),
        ("owner, repo", Some(classic(Role::Owner, &["repo"])), Seen::Full),
        ("owner, read:org", Some(classic(Role::Owner, &["read:org"])), Seen::Full),
        ("owner, user", Some(classic(Role::Owner, &["user", "gist"])), Seen::Full),
        ("owner, public_repo only", Some(classic(Role::Owner, &["public_repo"])), Seen::Public),
        ("owner, no scope", Some(classic(Role::Owner, &[])), Seen::Public),
        ("member, admin:org", Some(classic(Role::Member, &["admin:org"])), Seen::Member),
        ("outsider, admin:org", Some(classic(Role::Outsider, &["admin:org"])), Seen::Public),
        ("fine-grained of this organization", Some(bound("Acme")), Seen::Full),
        ("fine-grained of this organization, member", Some(bound("acme").role(Role::Member)), Seen::Member),
        ("fine-grained of another", Some(bound("other")), Seen::Public),
        ("nobody", None, Seen::Public),
    ] {
        let secret = if token.is_some() { "t" } else { "" };
        let host = token.into_iter().fold(host(), CodeHost::token);
        let server = host.serve().unwrap();
        let answer = get(&server, secret, "/orgs/ACME");
        assert_eq!(answer.status, 200, "{case}");
        let body = answer.json();
        let (two_factor, permission, create, plan, billing) = match expected {
            Seen::Full => (
                Some(Value::Bool(true)),
                Some("read".into()),
                true,
                true,
                Some("billing@acme.example".into()),
            ),
            Seen::Member => (Some(Value::Null), Some(Value::Null), true, true, Some(Value::Null)),
            Seen::Public => (None, None, false, false, None),
        };
        assert_eq!(body.get("two_factor_requirement_enabled"), two_factor.as_ref(), "{case}");
        assert_eq!(body.get("default_repository_permission"), permission.as_ref(), "{case}");
        assert_eq!(body.get("members_can_create_repositories").is_some(), create, "{case}");
        assert_eq!(body.get("plan").is_some(), plan, "{case}");
        assert_eq!(body.get("billing_email"), billing.as_ref(), "{case}");
        assert_eq!(body["login"], "acme", "{case}");
    }
}

#[test]
fn a_server_of_before_2022_sends_no_creation_settings() {
    let host = CodeHost::new()
        .organization(Organization::new("acme").members_can_create_public_repositories(None))
        .token(Token::classic("t").scopes(["read:org"]));
    let body = get(&host.serve().unwrap(), "t", "/orgs/acme").json();
    assert!(body.get("members_can_create_public_repositories").is_none());
    assert_eq!(body["members_can_create_repositories"], true);
}

#[test]
fn credentials() {
    let server = host()
        .token(
            Token::classic("good")
                .scopes(["repo", "read:org", "admin:org"])
                .expires("2027-02-04 16:42:10 UTC"),
        )
        .token(Token::classic("revoked").revoked(true))
        .token(Token::classic("suspended").suspended(true))
        .token(Token::fine_grained("fine").resource_owner("acme"))
        .token(Token::app("app").resource_owner("acme"))
        .serve()
        .unwrap();

    let good = get(&server, "good", "/user");
    assert_eq!((good.status, good.json()["login"].as_str()), (200, Some("octo-auditor")));
    assert_eq!(good.header("x-oauth-scopes"), Some("admin:org, repo"));
    assert_eq!(good.header("x-accepted-oauth-scopes"), Some(""));
    assert_eq!(good.header("github-authentication-token-expiration"), Some("2027-02-04 16:42:10 UTC"));
    assert_eq!(good.header("x-github-media-type"), Some("github.v3; format=json"));
    assert_eq!(good.header("server"), Some("github.com"));
    for spelled in
        ["\r\nETag: W/\"", "\r\nX-OAuth-Scopes: ", "\r\nX-GitHub-Request-Id: ", "\r\nx-github-api-version"]
    {
        assert!(good.head.contains(spelled), "{spelled:?} in {}", good.head);
    }

    let fine = get(&server, "fine", "/user");
    assert_eq!((fine.status, fine.header("x-oauth-scopes")), (200, None));
    assert_eq!(fine.header("x-accepted-github-permissions"), Some("allows_permissionless_access=true"));

    for (token, status, message) in [
        ("", 401, "Requires authentication"),
        ("nobody's", 401, "Bad credentials"),
        ("revoked", 401, "Bad credentials"),
        ("suspended", 403, "Sorry. Your account was suspended"),
        ("app", 403, "Resource not accessible by integration"),
    ] {
        let answer = get(&server, token, "/user");
        assert_eq!((answer.status, answer.message().as_str()), (status, message), "{token}");
        assert_eq!(answer.header("etag"), None);
        assert_eq!(answer.json()["status"], status.to_string());
    }
    assert_eq!(get(&server, "nobody's", "/orgs/acme").header("x-ratelimit-limit"), Some("60"));

    for scheme in ["Bearer good", "bearer good", "token good", "Basic eDpnb29k"] {
        assert_eq!(get_with(&server, "", "/user", &[("Authorization", scheme)]).status, 200, "{scheme}");
    }
    assert_eq!(get_with(&server, "", "/user", &[("Authorization", "good")]).status, 401);
}

#[test]
fn requests_the_host_turns_away() {
    let server = host().token(Token::classic("t")).serve().unwrap();
    let silent = raw(&server, "GET", "/user", &[("Authorization", "token t")]);
    assert_eq!((silent.status, silent.header("content-type")), (403, Some("text/html")));
    assert!(silent.text().contains("make sure your request has a User-Agent header"));
    assert_eq!((silent.header("x-ratelimit-limit"), silent.header("x-github-request-id")), (None, None));

    let version = |version| get_with(&server, "t", "/user", &[("X-GitHub-Api-Version", version)]);
    assert_eq!(version("2022-11-28").header("x-github-api-version-selected"), Some("2022-11-28"));
    assert_eq!(version("2026-03-10").header("x-github-api-version-selected"), Some("2026-03-10"));
    let old = version("v3");
    assert_eq!((old.status, old.message().as_str()), (400, "Bad Request"));

    for path in ["/nothing", "/user/", "/orgs/acme/", "/repos/acme", "/orgs/octo-auditor"] {
        let answer = get(&server, "t", path);
        assert_eq!((answer.status, answer.message().as_str()), (404, "Not Found"), "{path}");
    }
}

#[test]
fn bad_credentials_lock_the_good_ones_out() {
    let server = host().token(Token::classic("good")).login_attempts(3).serve().unwrap();
    let statuses: Vec<u16> = (0..4).map(|_| get(&server, "bad", "/user").status).collect();
    assert_eq!(statuses, [401, 401, 401, 403]);
    let good = get(&server, "good", "/user");
    assert_eq!(good.status, 403);
    assert!(good.message().starts_with("Maximum number of login attempts exceeded"));
    assert_eq!(get(&server, "", "/orgs/acme").status, 200);
}

#[test]
fn a_server_of_some_years_ago() {
    let server = host().token(Token::classic("t")).old_server(true).serve().unwrap();
    let answer = get_with(&server, "t", "/repos/acme/web", &[("X-GitHub-Api-Version", "2022-11-28")]);
    assert_eq!((answer.status, answer.header("x-github-api-version-selected")), (200, None));
    assert!(answer.json().get("visibility").is_none());
    let missing = get(&server, "t", "/repos/acme/web/rules/branches/main");
    assert_eq!((missing.status, missing.message().as_str()), (404, "Not Found"));
    assert!(missing.json().get("status").is_none());
}

#[test]
fn policies_of_an_organization() {
    let base = || Organization::new("acme");
    let classic = || Token::classic("t").scopes(["read:org"]);
    for (case, organization, token, status, message) in [
        (
            "classic tokens banned",
            base().bans_classic_tokens(true),
            classic(),
            403,
            "`acme` forbids access via a personal access token (classic).",
        ),
        (
            "lifetime",
            base().fine_grained_lifetime_days(90),
            Token::fine_grained("t"),
            403,
            "The 'acme' organization forbids access via a fine-grained personal access tokens if the token's lifetime \
             is greater than 90 days.",
        ),
        (
            "ip list",
            base().ip_allow_list(true),
            classic(),
            403,
            "Although you appear to have the correct authorization credentials, the `acme` organization has an IP \
             allow list enabled, and your IP address is not permitted to access this resource.",
        ),
        (
            "sso",
            base().sso(Sso::Required),
            classic(),
            403,
            "Resource protected by organization SAML enforcement. You must grant your Personal Access token access to \
             this organization.",
        ),
        (
            "sso, oauth",
            base().sso(Sso::Required),
            Token::oauth("t"),
            403,
            "Resource protected by organization SAML enforcement. You must grant your OAuth token access",
        ),
        ("sso, hidden", base().sso(Sso::Hidden), classic(), 404, "Not Found"),
        (
            "oauth",
            base().oauth_restricted(true),
            Token::oauth("t"),
            403,
            "Although you appear to have the correct authorization credentials, the `acme` organization has enabled \
             OAuth App access restrictions",
        ),
        ("any other", base().refusal(403, "Because."), classic(), 403, "Because."),
    ] {
        let server = CodeHost::new()
            .organization(organization)
            .repository(Repository::new("acme", "web"))
            .token(token);
        let server = server.serve().unwrap();
        for path in ["/orgs/acme", "/orgs/acme/repos", "/repos/acme/web/branches/main/protection"] {
            let answer = get(&server, "t", path);
            assert_eq!(answer.status, status, "{case} {path}");
            assert!(answer.message().starts_with(message), "{case}: {}", answer.message());
            let sso = answer
                .header("x-github-sso")
                .is_some_and(|value| value.starts_with("required; url=https://"));
            assert_eq!(sso, case.starts_with("sso") && status == 403, "{case}");
        }
        assert_eq!(get(&server, "t", "/user").status, 200, "{case}: the user is not the organization");
        server.update(|host| host.change_organization("acme", Organization::without_policies));
        assert_eq!(get(&server, "t", "/orgs/acme").status, 200, "{case}, ended");
    }
}

#[test]
fn private_repositories_are_silently_absent() {
    let names = |token: Token| {
        let server = host().token(token).serve().unwrap();
        let answer = get(&server, "t", "/orgs/acme/repos?sort=full_name");
        let direct = get(&server, "t", "/repos/acme/vault").status;
        let list = answer.json();
        let names: Vec<_> =
            list.as_array().unwrap().iter().map(|r| r["name"].as_str().unwrap().to_owned()).collect();
        assert_eq!(names.contains(&"vault".to_owned()), direct == 200);
        names
    };
    let fine = || Token::fine_grained("t").resource_owner("acme").permissions(["metadata:read"]);
    assert_eq!(names(Token::classic("t").scopes(["read:org"])), ["web"]);
    assert_eq!(names(Token::classic("t").scopes(["repo"])), ["vault", "web"]);
    assert_eq!(names(Token::classic("t").scopes(["repo"]).role(Role::Outsider)), ["web"]);
    assert_eq!(names(Token::classic("t").sees_private(true)), ["vault", "web"]);
    assert_eq!(names(fine()), ["vault", "web"]);
    assert_eq!(names(fine().repositories(Selection::Selected(vec!["other".into()]))), ["web"]);
    assert_eq!(names(fine().resource_owner("other")), ["web"]);

    let thinned = CodeHost::new()
        .organization(Organization::new("acme").id(77).sso(Sso::PartialResults))
        .repository(Repository::new("acme", "vault").private(true))
        .token(Token::classic("t").scopes(["repo"]))
        .serve()
        .unwrap();
    let answer = get(&thinned, "t", "/orgs/acme/repos");
    assert_eq!((answer.status, answer.json().as_array().unwrap().len()), (200, 0));
    assert_eq!(answer.header("x-github-sso"), Some("partial-results; organizations=77"));
}

#[test]
fn the_log_names_the_user_and_never_the_token() {
    let server = host().token(Token::classic("ghp_secret").login("mona")).serve().unwrap();
    get(&server, "ghp_secret", "/user?x=1");
    get(&server, "ghp_wrong", "/user");
    get(&server, "", "/user");
    raw(&server, "DELETE", "/repos/acme/web", &[("User-Agent", "x"), ("Authorization", "token ghp_secret")]);
    raw(&server, "HEAD", "/user", &[("User-Agent", "x")]);

    let requests = server.requests();
    assert_eq!(requests[0].identity, Identity::User { login: "mona".into(), kind: "classic" });
    assert_eq!((requests[0].path_and_query.as_str(), requests[0].path()), ("/user?x=1", "/user"));
    assert_eq!((requests[0].header("User-Agent"), requests[0].status), (Some("evidence/test"), Some(200)));
    assert_eq!((&requests[1].identity, &requests[2].identity), (&Identity::Unknown, &Identity::Anonymous));
    assert!(!format!("{requests:?} {server:?}").contains("ghp_"));

    let violations = server.violations();
    assert_eq!(violations.len(), 1);
    assert_eq!((violations[0].method.as_str(), violations[0].status), ("DELETE", Some(404)));
    server.clear_log();
    assert!(server.requests().is_empty());
}

#[test]
fn writes_are_refused_as_the_host_refuses_them() {
    let archived = Repository::new("acme", "old").archived(true);
    let server = host()
        .repository(archived)
        .token(Token::classic("read").scopes(["read:org"]))
        .token(Token::classic("repo").scopes(["repo"]))
        .token(Token::fine_grained("fine"))
        .serve()
        .unwrap();
    for (token, path, status, message) in [
        ("read", "/repos/acme/web", 404, "Not Found"),
        ("repo", "/repos/acme/old", 403, "Repository was archived so is read-only."),
        ("fine", "/repos/acme/web", 403, "Resource not accessible by personal access token"),
    ] {
        for method in ["POST", "PUT", "PATCH", "DELETE"] {
            let authorization = format!("token {token}");
            let headers =
                [("User-Agent", "x"), ("Authorization", authorization.as_str()), ("Content-Length", "0")];
            let answer = raw(&server, method, path, &headers);
            assert_eq!((answer.status, answer.message().as_str()), (status, message), "{method} {token}");
        }
    }
    assert_eq!(server.violations().len(), 12);
}
