//! Rulesets: the rules for a branch, single rulesets, and who may bypass them.

use crate::client::{Answer, get};
use sandbox::Server;
use sandbox::codehost::{
    Bypass, BypassMode, CodeHost, Endpoint, Enforcement, Organization, Permission, Protection, Repository,
    Role, Ruleset, Target, Token,
};
use serde_json::{Value, json};

const TOKEN: &str = "owner";
const RULES: &str = "/repos/acme/web/rules/branches/";

fn host() -> CodeHost {
    CodeHost::new()
        .organization(Organization::new("acme"))
        .token(Token::classic(TOKEN).scopes(["read:org"]).sees_private(true))
}

fn web() -> Repository {
    Repository::new("acme", "web")
}

fn serve(repository: Repository) -> Server {
    host().repository(repository).serve().unwrap()
}

/// The types of the rules for a branch.
fn types(server: &Server, branch: &str) -> Vec<String> {
    let rules = get(server, TOKEN, &format!("{RULES}{branch}")).json();
    rules.as_array().unwrap().iter().map(|rule| rule["type"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_rules_of_every_level_in_one_list() {
    let organization = Organization::new("acme")
        .ruleset(Ruleset::new(42, "org").rule("deletion").status_checks(["lint"]))
        .ruleset(Ruleset::new(43, "others").repositories(["api-*", "mobile"]).rule("creation"))
        .ruleset(Ruleset::new(44, "all but web").except_repositories(["w?b"]).rule("update"));
    let visibility = json!({"public": true, "internal": false, "private": true});
    let server = host()
        .organization(organization)
        .enterprise_ruleset(
            "amazon",
            Ruleset::new(5, "visibility")
                .target(Target::Repository)
                .rule_with("repository_visibility", visibility.clone()),
        )
        .repository(web().ruleset(Ruleset::new(7, "own").reviews(2).rule("non_fast_forward")))
        .serve()
        .unwrap();
    let answer = get(&server, TOKEN, &format!("{RULES}main"));
    assert_eq!((answer.status, answer.header("link")), (200, None));
    assert!(answer.header("etag").unwrap().starts_with("W/\""));
    let lint = json!({"strict_required_status_checks_policy": false, "do_not_enforce_on_create": false,
        "required_status_checks": [{"context": "lint"}]});
    let rules = answer.json();
    assert_eq!(rules[3]["parameters"]["required_approving_review_count"], 2);
    let mut bare = rules.clone();
    bare[3].as_object_mut().unwrap().remove("parameters");
    let rule = |kind: &str, level: &str, source: &str, id: u64| json!({"type": kind, "ruleset_source_type": level, "ruleset_source": source, "ruleset_id": id});
    let with = |mut rule: Value, parameters: Value| {
        rule["parameters"] = parameters;
        rule
    };
    assert_eq!(
        bare,
        json!([
            with(rule("repository_visibility", "Enterprise", "amazon", 5), visibility),
            rule("deletion", "Organization", "acme", 42),
            with(rule("required_status_checks", "Organization", "acme", 42), lint),
            rule("pull_request", "Repository", "acme/web", 7),
            rule("non_fast_forward", "Repository", "acme/web", 7),
        ])
    );
    // The classic call does not report it, but the branch is protected.
    let classic = get(&server, TOKEN, "/repos/acme/web/branches/main/protection");
    assert_eq!((classic.status, classic.message().as_str()), (404, "Branch not protected"));
    let branch = get(&server, TOKEN, "/repos/acme/web/branches/main").json();
    assert_eq!((&branch["protected"], &branch["protection"]["enabled"]), (&json!(true), &json!(false)));
}

#[test]
fn which_branches_a_ruleset_is_for() {
    let one = |ruleset: Ruleset| serve(web().default_branch("trunk").branch("main").ruleset(ruleset));
    let new = || Ruleset::new(1, "r").rule("deletion");
    for (case, ruleset, branch, holds) in [
        ("the default one", new(), "trunk", true),
        ("not the default one", new(), "main", false),
        ("all", new().branches(["~ALL"]), "main", true),
        ("by name", new().branches(["refs/heads/main"]), "main", true),
        ("by another name", new().branches(["refs/heads/main"]), "trunk", false),
        ("a name without refs", new().branches(["main"]), "main", false),
        ("a pattern", new().branches(["refs/heads/m*"]), "main", true),
        ("a pattern across a slash", new().branches(["refs/heads/*"]), "release%2Fv2", false),
        ("a pattern of any depth", new().branches(["refs/heads/**/*"]), "release%2Fv2", true),
        ("excluded", new().branches(["~ALL"]).except_branches(["~DEFAULT_BRANCH"]), "trunk", false),
        ("another is excluded", new().branches(["~ALL"]).except_branches(["~DEFAULT_BRANCH"]), "main", true),
        ("nothing included", new().branches(Vec::<String>::new()), "trunk", false),
        ("a branch that does not exist", new().branches(["~ALL"]), "no-such", true),
        ("a dry run", new().enforcement(Enforcement::Evaluate), "trunk", false),
        ("off", new().enforcement(Enforcement::Disabled), "trunk", false),
        ("tags", new().target(Target::Tag).branches(["~ALL"]), "trunk", false),
        ("pushes", new().target(Target::Push), "trunk", false),
    ] {
        let server = one(ruleset);
        assert_eq!(types(&server, branch).len(), usize::from(holds), "{case}");
        let branch = get(&server, TOKEN, &format!("/repos/acme/web/branches/{branch}"));
        if branch.status == 200 {
            assert_eq!(branch.json()["protected"], holds, "{case}");
        }
    }
}

#[test]
fn a_ruleset_of_the_repository_itself_protects_no_branch() {
    let server =
        serve(web().ruleset(Ruleset::new(1, "r").target(Target::Repository).rule("repository_delete")));
    assert_eq!(types(&server, "main"), ["repository_delete"]);
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/branches/main").json()["protected"], false);
}

#[test]
fn pages_of_thirty() {
    let many = (0..65).fold(Ruleset::new(1, "many"), |ruleset, _| ruleset.rule("deletion"));
    let server = serve(web().ruleset(many.reviews(1)));
    let page = |query: &str| get(&server, TOKEN, &format!("{RULES}main{query}"));
    let length = |answer: &Answer| answer.json().as_array().unwrap().len();
    let first = page("");
    assert_eq!(length(&first), 30);
    let next = format!("<{}{RULES}main?page=2>; rel=\"next\"", server.url());
    let last = format!("<{}{RULES}main?page=3>; rel=\"last\"", server.url());
    assert_eq!(first.header("link"), Some(format!("{next}, {last}").as_str()));
    let third = page("?page=3");
    assert_eq!((length(&third), third.json()[5]["type"].as_str()), (6, Some("pull_request")));
    assert_eq!(page("?per_page=100").header("link"), None);
    assert_eq!(length(&page("?per_page=1000")), 66);
    assert_eq!(length(&page("?page=9")), 0);
}

#[test]
fn who_is_refused() {
    const UPGRADE: &str = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
    const FORBIDDEN: &str = "Resource not accessible by personal access token";
    let ruled = || web().ruleset(Ruleset::new(7, "own").rule("deletion"));
    for (case, host, token, status, message) in [
        ("plan", host().repository(ruled().plan_limited()), TOKEN, 403, UPGRADE),
        (
            "free plan, private",
            host().organization(Organization::new("acme").plan("free")).repository(ruled().private(true)),
            TOKEN,
            403,
            UPGRADE,
        ),
        (
            "no permission, private",
            host()
                .token(Token::fine_grained("fine").resource_owner("acme").permissions(["contents:read"]))
                .repository(ruled().private(true)),
            "fine",
            403,
            FORBIDDEN,
        ),
        ("gone", host().repository(ruled().vanished()), TOKEN, 404, "Not Found"),
        ("a server of some years ago", host().old_server(true).repository(ruled()), TOKEN, 404, "Not Found"),
    ] {
        let server = host.serve().unwrap();
        for path in [format!("{RULES}main"), "/repos/acme/web/rulesets/7".to_owned()] {
            let answer = get(&server, token, &path);
            assert_eq!((answer.status, answer.message().as_str()), (status, message), "{case} {path}");
            if token == "fine" {
                assert_eq!(answer.header("x-accepted-github-permissions"), Some("metadata=read"));
            }
        }
    }
    let free = host().organization(Organization::new("acme").plan("free")).repository(ruled());
    let free = free.serve().unwrap();
    assert_eq!(types(&free, "main"), ["deletion"], "public repositories have rulesets on every plan");
    let documentation = |path: &str| {
        let server = serve(ruled().plan_limited());
        get(&server, TOKEN, path).json()["documentation_url"].as_str().unwrap().to_owned()
    };
    let base = "https://docs.github.com/rest/repos/rules#get-";
    assert_eq!(documentation(&format!("{RULES}main")), format!("{base}rules-for-a-branch"));
    assert_eq!(documentation("/repos/acme/web/rulesets/7"), format!("{base}a-repository-ruleset"));
}

#[test]
fn endpoints_refused_one_by_one() {
    let paths = [
        (Endpoint::Repository, "/repos/acme/web"),
        (Endpoint::Branch, "/repos/acme/web/branches/main"),
        (Endpoint::Protection, "/repos/acme/web/branches/main/protection"),
        (Endpoint::Rules, "/repos/acme/web/rules/branches/main"),
        (Endpoint::Ruleset, "/repos/acme/web/rulesets/7"),
        (Endpoint::Contents, "/repos/acme/web/contents/CODEOWNERS"),
        (Endpoint::CodeownersErrors, "/repos/acme/web/codeowners/errors"),
    ];
    for (refused, _) in paths {
        let sound = web()
            .protection("main", Protection::new())
            .ruleset(Ruleset::new(7, "own").rule("deletion"))
            .file("CODEOWNERS", sandbox::codehost::File::text("* @acme/web\n"));
        let server = serve(sound.refusal(refused, 403, "Because."));
        for (endpoint, path) in paths {
            let answer = get(&server, TOKEN, path);
            let expected = if endpoint == refused { 403 } else { 200 };
            assert_eq!(answer.status, expected, "{refused:?}: {path}");
        }
    }
}

#[test]
fn a_ruleset_in_full() {
    let own = Ruleset::new(7, "own")
        .branches(["refs/heads/main", "refs/heads/release/**/*"])
        .except_branches(["refs/heads/release/old"])
        .rule("deletion")
        .reviews(1)
        .bypass(Bypass::role(Permission::Admin))
        .bypass(Bypass::actor("DeployKey", None).mode(None))
        .bypass(Bypass::actor("Team", 99).mode(BypassMode::PullRequest));
    let server = host()
        .organization(Organization::new("acme").ruleset(Ruleset::new(42, "org").status_checks(["ci"])))
        .repository(web().ruleset(own.bypass_shown(true)))
        .serve()
        .unwrap();
    let answer = get(&server, TOKEN, "/repos/Acme/WEB/rulesets/7");
    assert!(answer.header("etag").is_some());
    let own = answer.json();
    assert_eq!((&own["source_type"], &own["source"]), (&json!("Repository"), &json!("acme/web")));
    assert_eq!((&own["target"], &own["enforcement"]), (&json!("branch"), &json!("active")));
    assert_eq!(
        own["conditions"],
        json!({"ref_name": {"include": ["refs/heads/main", "refs/heads/release/**/*"],
            "exclude": ["refs/heads/release/old"]}})
    );
    assert_eq!(own["rules"][0], json!({"type": "deletion"}));
    assert_eq!(own["rules"][1]["parameters"]["required_approving_review_count"], 1);
    assert_eq!(
        own["bypass_actors"],
        json!([
            {"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode": "always"},
            {"actor_id": null, "actor_type": "DeployKey"},
            {"actor_id": 99, "actor_type": "Team", "bypass_mode": "pull_request"},
        ])
    );
    assert_eq!(own["current_user_can_bypass"], "always");
    assert_eq!(own["_links"]["self"]["href"], format!("{}/repos/acme/web/rulesets/7", server.url()));

    // The organization's ruleset is served under the repository, unless parents are excluded.
    let above = get(&server, TOKEN, "/repos/acme/web/rulesets/42").json();
    assert_eq!((&above["source_type"], &above["source"]), (&json!("Organization"), &json!("acme")));
    assert_eq!(above["conditions"]["repository_name"]["include"], json!(["~ALL"]));
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/rulesets/42?includes_parents=false").status, 404);
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/rulesets/7?includes_parents=false").status, 200);
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/rulesets/8").status, 404);
    // The organization's own endpoint requires more than read access, so our client cannot use it.
    assert_eq!(get(&server, TOKEN, "/orgs/acme/rulesets/42").status, 404);
}

#[test]
fn rulesets_that_are_not_shown() {
    let server = host()
        .organization(Organization::new("acme").ruleset(Ruleset::new(42, "org").rule("deletion").not_shown()))
        .repository(web().ruleset(Ruleset::new(7, "dry").enforcement(Enforcement::Evaluate)))
        .serve()
        .unwrap();
    assert_eq!(types(&server, "main"), ["deletion"], "its rules are");
    let hidden = get(&server, TOKEN, "/repos/acme/web/rulesets/42");
    assert_eq!((hidden.status, hidden.message().as_str()), (404, "Not Found"));
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/rulesets/7").json()["enforcement"], "evaluate");
    server.update(|host| host.change_repository("acme", "web", |web| web.permission(Permission::Maintain)));
    assert_eq!(get(&server, TOKEN, "/repos/acme/web/rulesets/7").status, 404, "only active ones are public");
}

#[test]
fn who_sees_the_bypass() {
    let fine = |permission: &str| {
        Token::fine_grained("t").resource_owner("acme").permissions([permission.to_owned()])
    };
    let classic = |scopes: &[&str]| Token::classic("t").scopes(scopes.iter().copied());
    for (case, token, own, above, top) in [
        ("a reading scope", classic(&["read:org"]), false, false, false),
        ("repo", classic(&["repo"]), true, false, false),
        ("repo and admin:org", classic(&["repo", "admin:org"]), true, true, false),
        ("admin:enterprise", classic(&["admin:enterprise"]), false, false, true),
        ("a member", classic(&["repo", "admin:org"]).role(Role::Member), false, false, false),
        ("administration: read", fine("administration:read"), false, false, false),
        ("administration: write", fine("administration:write"), true, false, false),
        ("the organization's: write", fine("organization_administration:write"), false, true, false),
    ] {
        let server = CodeHost::new()
            .organization(Organization::new("acme").ruleset(Ruleset::new(2, "org").rule("deletion")))
            .enterprise_ruleset("megacorp", Ruleset::new(3, "top").rule("deletion"))
            .repository(web().ruleset(Ruleset::new(1, "own").rule("deletion")))
            .token(token)
            .serve()
            .unwrap();
        for (id, shown) in [(1, own), (2, above), (3, top)] {
            let body = get(&server, "t", &format!("/repos/acme/web/rulesets/{id}")).json();
            assert_eq!(body.get("bypass_actors"), shown.then(|| json!([])).as_ref(), "{case} {id}");
            assert_eq!(body["current_user_can_bypass"], "never", "{case} {id}");
        }
    }
}

#[test]
fn what_the_user_may_bypass() {
    let admin = || Bypass::role(Permission::Admin);
    for (case, bypass, permission, role, word) in [
        ("nobody", vec![], Permission::Admin, Role::Owner, "never"),
        ("admins, an admin", vec![admin()], Permission::Admin, Role::Member, "always"),
        ("admins, a maintainer", vec![admin()], Permission::Maintain, Role::Owner, "never"),
        (
            "writers, an admin",
            vec![Bypass::role(Permission::Push)],
            Permission::Admin,
            Role::Member,
            "always",
        ),
        (
            "maintainers, a writer",
            vec![Bypass::role(Permission::Maintain)],
            Permission::Push,
            Role::Member,
            "never",
        ),
        ("owners, an owner", vec![Bypass::organization_admin()], Permission::Pull, Role::Owner, "always"),
        ("owners, an admin", vec![Bypass::organization_admin()], Permission::Admin, Role::Member, "never"),
        ("a team", vec![Bypass::actor("Team", 9)], Permission::Admin, Role::Owner, "never"),
        (
            "pull requests",
            vec![admin().mode(BypassMode::PullRequest)],
            Permission::Admin,
            Role::Owner,
            "pull_requests_only",
        ),
        ("exempt", vec![admin(), admin().mode(BypassMode::Exempt)], Permission::Admin, Role::Owner, "exempt"),
        ("no mode", vec![admin().mode(None)], Permission::Admin, Role::Owner, "always"),
    ] {
        let ruleset = bypass.into_iter().fold(Ruleset::new(1, "own").rule("deletion"), Ruleset::bypass);
        let server = CodeHost::new()
            .organization(Organization::new("acme"))
            .repository(web().permission(permission).ruleset(ruleset.clone()))
            .repository(
                Repository::new("acme", "odd")
                    .ruleset(ruleset.clone().current_user_can_bypass(Some("exempt"))),
            )
            .repository(Repository::new("acme", "old").ruleset(ruleset.current_user_can_bypass(None)))
            .token(Token::classic("t").scopes(["read:org"]).role(role))
            .serve()
            .unwrap();
        let said = |name: &str| {
            get(&server, "t", &format!("/repos/acme/{name}/rulesets/1"))
                .json()
                .get("current_user_can_bypass")
                .cloned()
        };
        assert_eq!(said("web"), Some(json!(word)), "{case}");
        assert_eq!((said("odd"), said("old")), (Some(json!("exempt")), None));
    }
}

#[test]
fn permissions_of_the_user() {
    for (permission, expected) in [
        (Permission::Admin, [true, true, true, true, true]),
        (Permission::Maintain, [false, true, true, true, true]),
        (Permission::Push, [false, false, true, true, true]),
        (Permission::Triage, [false, false, false, true, true]),
        (Permission::Pull, [false, false, false, false, true]),
    ] {
        let server = serve(web().permission(permission).size(0));
        let [admin, maintain, push, triage, pull] = expected;
        let permissions =
            json!({"admin": admin, "maintain": maintain, "push": push, "triage": triage, "pull": pull});
        let listed = get(&server, TOKEN, "/orgs/ACME/repos").json()[0].clone();
        let full = get(&server, TOKEN, "/repos/ACME/WEB").json();
        for shown in [&listed, &full] {
            assert_eq!(shown["permissions"], permissions);
            assert_eq!((&shown["size"], &shown["full_name"]), (&json!(0), &json!("acme/web")));
            for (key, value) in [
                ("archived", json!(false)),
                ("visibility", json!("public")),
                ("private", json!(false)),
                ("default_branch", json!("main")),
            ] {
                assert_eq!(shown[key], value, "{key}");
            }
            assert!(shown["id"].is_u64() && shown["pushed_at"].is_string());
        }
        // Only administrators see classic protection; everyone with read access sees rulesets.
        let classic = get(&server, TOKEN, "/repos/acme/web/branches/main/protection");
        assert_eq!(classic.message(), if admin { "Branch not protected" } else { "Not Found" });
        assert_eq!(get(&server, TOKEN, &format!("{RULES}main")).json(), json!([]));
    }
}

#[test]
fn a_branch_and_its_flags() {
    let server =
        serve(web().branch("free").protection("main", Protection::new().status_checks(["ci/build"])));
    let main = get(&server, TOKEN, "/repos/acme/web/branches/main");
    let body = main.json();
    assert_eq!((&body["protected"], &body["protection"]["enabled"]), (&json!(true), &json!(true)));
    assert_eq!(body["protection"]["required_status_checks"]["contexts"], json!(["ci/build"]));
    assert_eq!(body["protection_url"], format!("{}/repos/acme/web/branches/main/protection", server.url()));
    let tag = main.header("etag").unwrap();
    let again =
        crate::client::get_with(&server, TOKEN, "/repos/acme/web/branches/main", &[("If-None-Match", tag)]);
    assert_eq!(again.status, 304);
    let free = get(&server, TOKEN, "/repos/acme/web/branches/free").json();
    assert_eq!((&free["protected"], &free["protection"]["enabled"]), (&json!(false), &json!(false)));
    assert_eq!(
        free["protection"]["required_status_checks"],
        json!({"enforcement_level": "off", "contexts": [], "checks": []})
    );
    // A new ruleset changes the answer, and with it the tag.
    let ruleset = Ruleset::new(1, "all").branches(["~ALL"]).rule("deletion");
    server.update(|host| host.change_repository("acme", "web", |web| web.ruleset(ruleset)));
    let free = get(&server, TOKEN, "/repos/acme/web/branches/free").json();
    assert_eq!((&free["protected"], &free["protection"]["enabled"]), (&json!(true), &json!(false)));
    let missing = get(&server, TOKEN, "/repos/acme/web/branches/gone");
    assert_eq!((missing.status, missing.message().as_str()), (404, "Branch not found"));
}
