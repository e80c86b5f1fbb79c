//! Branches that rulesets protect, branches by their default name, empty repositories: the requests and verdicts of the
//! real binary.

use sandbox::codehost::{
    Bypass, BypassMode, Endpoint, Enforcement, Organization, Permission, Protection, Repository, Role,
    Ruleset, Target, Token,
};
use serde_json::json;
use sha2::{Digest as _, Sha256};

use crate::common::{Bundle, Lab, TOKEN, acme, repository, sound, strong};

/// An organization's owner without write access to rulesets: the bypass list is hidden.
fn lab(web: Repository) -> Lab {
    with_organization(Organization::new("acme").two_factor(true), web)
}

fn with_organization(organization: Organization, web: Repository) -> Lab {
    Lab::new(acme().organization(organization).repository(web)).with(|config| config.controls("[CC7.2]"))
}

/// The check of acme/web, with its requests besides the organization and discovery.
struct Judged {
    bundle: Bundle,
    actual: String,
    asked: Vec<String>,
}

#[track_caller]
fn judged(lab: &Lab, code: i32, status: &str, reason: &str) -> Judged {
    lab.server.clear_log();
    let run = lab.collect(&[]);
    let bundle = run.bundle();
    let record = bundle.check_record("CC7.2", "acme/web");
    let actual = record["actual"].as_str().unwrap_or_default().to_string();
    assert_eq!((&record["status"], &record["reason"]), (&json!(status), &json!(reason)), "{actual}");
    run.exits(code);
    let asked: Vec<String> = lab.requested().into_iter().filter(|path| path.starts_with("/repos/")).collect();
    Judged { bundle, actual, asked }
}

/// A review and a check.
fn full(id: u64) -> Ruleset {
    Ruleset::new(id, format!("full-{id}")).reviews(1).status_checks(["ci/build"])
}

fn artifacts(bundle: &Bundle) -> Vec<String> {
    let mut names: Vec<String> = bundle
        .paths()
        .iter()
        .filter_map(|path| path.strip_prefix("sources/codehost/repo_acme_web_").map(str::to_string))
        .collect();
    names.sort();
    names
}

#[test]
fn a_branch_that_only_a_ruleset_protects() {
    let found = judged(&lab(repository("web").ruleset(full(7))), 0, "pass", "ok");
    assert_eq!(
        found.actual,
        "1 approving review, 1 required status check: ci/build, administrators cannot bypass ruleset 7; enterprise owners, teams, roles, apps and single users may still be able to"
    );
    assert_eq!(found.asked.len(), 3, "{:?}", found.asked);
    let rules = found.bundle.artifact("repo_acme_web_branch_rules.json").unwrap();
    assert_eq!(
        rules,
        json!({"rules": [
            {"type": "pull_request", "parameters": {"required_approving_review_count": 1,
                    "dismiss_stale_reviews_on_push": true, "require_code_owner_review": false,
                    "require_last_push_approval": false, "required_reviewers": []},
                "ruleset_source_type": "Repository", "ruleset_source": "acme/web", "ruleset_id": 7},
            {"type": "required_status_checks", "parameters": {
                    "strict_required_status_checks_policy": false, "required_status_checks": [{"context": "ci/build"}]},
                "ruleset_source_type": "Repository", "ruleset_source": "acme/web", "ruleset_id": 7},
        ]})
    );
    let ruleset = found.bundle.artifact("repo_acme_web_ruleset_7.json").unwrap();
    assert_eq!((&ruleset["id"], &ruleset["current_user_can_bypass"]), (&json!(7), &json!("never")));
    assert_eq!(ruleset.get("bypass_actors"), None);
    assert_eq!(artifacts(&found.bundle), ["branch_rules.json", "ruleset_7.json"]);
    let evidence = found.bundle.check_record("CC7.2", "acme/web")["evidence"].clone();
    let named = evidence.to_string();
    assert!(named.contains("branch_rules.json") && named.contains("ruleset_7.json"), "{named}");
    assert!(found.bundle.warnings("acme/web").is_empty());
}

/// A repository that passes by its classic rule costs no extra request.
#[test]
fn a_classic_pass_costs_one_request() {
    let found =
        judged(&lab(repository("web").protection("main", strong()).ruleset(full(7))), 0, "pass", "ok");
    assert_eq!(found.asked, ["/repos/acme/web/branches/main/protection"]);
}

#[test]
fn both_systems_add_up() {
    let reviews = Protection::new().reviews(2).enforce_admins(true);
    let checks = Ruleset::new(3, "checks").status_checks(["ci/build"]);
    let web = repository("web").protection("main", reviews).ruleset(checks);
    let found = judged(&lab(web), 0, "pass", "ok");
    assert!(
        found.actual.starts_with("2 approving reviews, 1 required status check: ci/build"),
        "{}",
        found.actual
    );
    assert_eq!(artifacts(&found.bundle), ["branch_protection.json", "branch_rules.json", "ruleset_3.json"]);
    // Rulesets on three levels, each with part of the requirements.
    let organization = Organization::new("acme").two_factor(true).ruleset(Ruleset::new(1, "org").reviews(2));
    let host = acme()
        .organization(organization)
        .enterprise_ruleset(
            "big",
            Ruleset::new(2, "ent").workflows([".github/workflows/ci.yml"]).bypass_shown(true),
        )
        .repository(repository("web").ruleset(Ruleset::new(3, "own").rule("deletion")));
    let lab = Lab::new(host).with(|config| config.controls("[CC7.2]"));
    let found = judged(&lab, 0, "pass", "ok");
    assert!(found.actual.contains("workflow .github/workflows/ci.yml"), "{}", found.actual);
    assert_eq!(artifacts(&found.bundle), ["branch_rules.json", "ruleset_1.json", "ruleset_2.json"]);
}

#[test]
fn what_no_ruleset_demands_is_missing() {
    let new = || Ruleset::new(1, "r");
    let target = new().target(Target::Repository).rule("repository_delete").rule("repository_transfer");
    for (ruleset, reason) in [
        (new().rule("deletion").rule("non_fast_forward"), "branch_unprotected"),
        (target, "branch_unprotected"),
        (full(1).enforcement(Enforcement::Evaluate), "branch_unprotected"),
        (full(1).enforcement(Enforcement::Disabled), "branch_unprotected"),
        (full(1).branches(["refs/heads/release/*"]), "branch_unprotected"),
        (full(1).target(Target::Tag), "branch_unprotected"),
        (new().reviews(1), "status_checks_not_configured"),
        (new().reviews(0).status_checks(["a"]), "reviews_not_required"),
        (new().reviews(1).status_checks(Vec::<String>::new()), "status_checks_not_configured"),
        (new().status_checks(["a"]), "reviews_not_required"),
    ] {
        let found = judged(&lab(repository("web").ruleset(ruleset)), 0, "fail", reason);
        assert_eq!(found.asked.len(), 2, "who can bypass it changes nothing: {:?}", found.asked);
        let warned = found.bundle.warnings("acme/web");
        assert_eq!(warned.contains(&"branch_unprotected".to_string()), reason == "branch_unprotected");
    }
}

/// The rule that decides may be on the last page.
#[test]
fn every_page_is_read() {
    let many = (0..240).fold(Ruleset::new(1, "many"), |ruleset, _| ruleset.rule("deletion"));
    let found = judged(&lab(repository("web").ruleset(many).ruleset(full(2))), 0, "pass", "ok");
    assert_eq!(found.asked.iter().filter(|path| path.contains("/rules/branches/")).count(), 3);
    let rules = found.bundle.artifact("repo_acme_web_branch_rules.json").unwrap();
    assert_eq!(rules["rules"].as_array().unwrap().len(), 242);
}

#[test]
fn who_can_bypass_a_ruleset() {
    let shown = |actor: Bypass| full(7).bypass(actor).bypass_shown(true);
    let team = || Bypass::actor("Team", 5);
    for (ruleset, status, reason, said) in [
        (full(7).bypass_shown(true), "pass", "ok", "no one can bypass ruleset 7"),
        (shown(team()), "pass", "ok", "administrators cannot bypass ruleset 7; 1 team can"),
        (shown(Bypass::role(Permission::Admin)), "fail", "admins_not_enforced", "(RepositoryRole 5, always)"),
        (
            shown(Bypass::role(Permission::Push).mode(BypassMode::PullRequest)),
            "fail",
            "admins_not_enforced",
            "(RepositoryRole 4, pull_request)",
        ),
        (
            shown(Bypass::organization_admin().mode(None)),
            "fail",
            "admins_not_enforced",
            "(OrganizationAdmin, always)",
        ),
        // Hidden bypass list: only the value for the token's own user is available.
        (full(7).bypass(Bypass::role(Permission::Admin)), "fail", "admins_not_enforced", "is always"),
        (full(7).bypass(team()), "pass", "ok", "may still be able to"),
        (full(7).current_user_can_bypass(None), "not_verifiable", "bypass_not_visible", "is not visible"),
        (full(7).not_shown(), "not_verifiable", "bypass_not_visible", "ruleset 7: Not Found"),
    ] {
        let found = judged(&lab(repository("web").ruleset(ruleset)), 0, status, reason);
        assert!(found.actual.contains(said), "{}", found.actual);
    }
}

/// An absent list never counts as empty: for a token without administration rights, `never` proves nothing.
#[test]
fn a_reader_cannot_tell_who_can_bypass() {
    let reader =
        Token::classic(TOKEN).login("rita").role(Role::Member).scopes(["read:org"]).sees_private(true);
    let host = acme().token(reader).repository(repository("web").ruleset(full(7)));
    let lab = Lab::new(host).with(|config| config.controls("[CC7.2]"));
    let run = lab.collect(&[]);
    let record = run.bundle().check_record("CC7.2", "acme/web");
    assert_eq!(
        (&record["status"], &record["reason"]),
        (&json!("not_verifiable"), &json!("bypass_not_visible"))
    );
    // The host also hides the classic rule from this user, and the visible bypass list decides.
    let open = repository("web").ruleset(full(7).bypass_shown(true));
    let reader =
        Token::classic(TOKEN).login("rita").role(Role::Member).scopes(["read:org"]).sees_private(true);
    let lab = Lab::new(acme().token(reader).repository(open)).with(|config| config.controls("[CC7.2]"));
    let record = lab.collect(&[]).bundle().check_record("CC7.2", "acme/web");
    assert_eq!((&record["status"], &record["reason"]), (&json!("pass"), &json!("ok")));
}

/// One ruleset that applies to everyone is enough, whatever the others allow.
#[test]
fn a_bypass_beside_a_ruleset_without_one() {
    let free = full(1).bypass(Bypass::role(Permission::Admin)).bypass_shown(true);
    let held = full(2).bypass_shown(true);
    judged(&lab(repository("web").ruleset(free.clone()).ruleset(held)), 0, "pass", "ok");
    // A classic rule that does not bind administrators, beside a ruleset that does.
    let lax = || repository("web").protection("main", strong().enforce_admins(false));
    judged(&lab(lax()), 0, "fail", "admins_not_enforced");
    judged(&lab(lax().ruleset(full(2))), 0, "pass", "ok");
    judged(&lab(lax().ruleset(free)), 0, "fail", "admins_not_enforced");
    let hidden = full(2).current_user_can_bypass(None);
    judged(&lab(lax().ruleset(hidden)), 0, "not_verifiable", "bypass_not_visible");
}

#[test]
fn what_cannot_be_read_decides_nothing() {
    const UPGRADE: &str = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
    const DENIED: &str = "Resource not accessible by personal access token";
    // The host refuses the rules, which may protect the branch.
    for (message, reason) in [(UPGRADE, "plan_limit"), (DENIED, "permission_denied")] {
        let web = repository("web").refusal(Endpoint::Rules, 403, message);
        let record = lab(web).collect(&[]).bundle().check_record("CC7.2", "acme/web");
        assert_eq!((&record["status"], &record["reason"]), (&json!("not_verifiable"), &json!(reason)));
        assert!(record["actual"].as_str().unwrap().contains("Branch not protected"), "{record}");
        let lax = repository("web").protection("main", strong().enforce_admins(false));
        let record = lab(lax.refusal(Endpoint::Rules, 403, message))
            .collect(&[])
            .bundle()
            .check_record("CC7.2", "acme/web");
        assert_eq!((&record["status"], &record["reason"]), (&json!("not_verifiable"), &json!(reason)));
    }
    let lab_500 = lab(repository("web").refusal(Endpoint::Rules, 500, "Server Error"));
    judged(&lab_500, 3, "not_verifiable", "host_error");
    // The host refuses the classic rule: rulesets alone may or may not be enough.
    for (ruleset, status, reason) in [
        (full(7), "pass", "ok"),
        (Ruleset::new(7, "r").reviews(1), "not_verifiable", "permission_denied"),
        // The branch itself says that there is no classic rule.
        (Ruleset::new(7, "r").rule("deletion"), "fail", "branch_unprotected"),
    ] {
        let web = repository("web").refusal(Endpoint::Protection, 403, DENIED).ruleset(ruleset);
        let record = lab(web).collect(&[]).bundle().check_record("CC7.2", "acme/web");
        assert_eq!((&record["status"], &record["reason"]), (&json!(status), &json!(reason)));
    }
}

#[test]
fn allowances_of_a_classic_rule_are_reported() {
    let body = json!({
        "url": "https://host.example/repos/acme/web/branches/main/protection",
        "required_pull_request_reviews": {"required_approving_review_count": 2,
            "bypass_pull_request_allowances": {"users": [{"login": "ada", "id": 1, "email": "a@b.example"}],
                "teams": [{"slug": "core"}], "apps": []}},
        "required_status_checks": {"contexts": ["ci"]},
        "enforce_admins": {"enabled": true},
    });
    let web = repository("web").protection("main", Protection::new().body(body));
    let found = judged(&lab(web), 0, "pass", "ok");
    assert!(found.actual.ends_with("ada, core may skip the review"), "{}", found.actual);
    let artifact = found.bundle.artifact("repo_acme_web_branch_protection.json").unwrap();
    let allowed = &artifact["required_pull_request_reviews"]["bypass_pull_request_allowances"];
    assert_eq!(*allowed, json!({"users": [{"login": "ada"}], "teams": [{"slug": "core"}], "apps": []}));
    let hint = found.bundle.json("derived/hints.json")["hints"][0].clone();
    assert_eq!(hint["id"], "CC7.2:pull_request_bypass_allowed:acme/web");
}

/// A repository whose `main` is a well-protected leftover.
fn stale() -> Repository {
    repository("web").default_branch("trunk").branch("main").protection("main", strong())
}

/// `branch` of the configuration: a name, each repository's own, or not set.
fn of_branch(web: Repository, repos: &str, branch: Option<&str>) -> Lab {
    Lab::new(acme().repository(web)).with(|config| {
        let config = config.controls("[CC7.2]").source("repos", repos);
        branch.map_or_else(|| config.clone(), |branch| config.clone().source("branch", branch))
    })
}

/// Every row of the table of branches, with discovery and for a repository that only the configuration names.
#[test]
fn which_branch_is_checked() {
    for repos in ["\"*\"", "[acme/web]"] {
        let lab = |web: Repository, branch: Option<&str>| of_branch(web, repos, branch);
        let listed = repos != "\"*\"";
        // Not set: `main`, unless the default branch has a different name.
        judged(&lab(repository("web").protection("main", strong()), None), 0, "pass", "ok");
        judged(&lab(repository("web"), None), 0, "fail", "branch_unprotected");
        let found = judged(&lab(stale(), None), 0, "not_verifiable", "default_branch_differs");
        assert_eq!(artifacts(&found.bundle), ["branch_protection.json"], "collected all the same");
        assert_eq!(found.actual, "main was read, but the default branch is trunk");
        let gone = repository("web").default_branch("trunk").protection("trunk", strong());
        judged(&lab(gone.clone(), None), 0, "not_verifiable", "default_branch_differs");
        // Each repository's own default branch.
        judged(&lab(gone.clone(), Some("~DEFAULT_BRANCH")), 0, "pass", "ok");
        let found = judged(&lab(stale(), Some("~DEFAULT_BRANCH")), 0, "fail", "branch_unprotected");
        assert!(found.asked.iter().any(|path| path.ends_with("/branches/trunk/protection")));
        assert_eq!(found.asked.contains(&"/repos/acme/web".to_string()), listed, "{:?}", found.asked);
        // A name: the tool judges that branch, and warns if it is not the default one.
        let warning = |found: &Judged| {
            let warnings = found.bundle.warnings("acme/web");
            warnings.contains(&"default_branch_differs".to_string())
        };
        let found = judged(&lab(stale(), Some("main")), 0, "pass", "ok");
        assert!(warning(&found));
        assert_eq!(found.asked.len(), 1 + usize::from(listed), "{:?}", found.asked);
        let found = judged(&lab(gone, Some("main")), 0, "fail", "branch_missing");
        assert!(warning(&found));
        let found = judged(&lab(repository("web"), Some("main")), 0, "fail", "branch_unprotected");
        assert!(!warning(&found));
    }
}

/// The default branch's name comes from the host and becomes part of a URL.
#[test]
fn names_of_default_branches() {
    for name in ["release/2026", "wip#1", "ünïcode", "x%2Fy"] {
        let web = repository("web").default_branch(name).protection(name, strong());
        judged(&of_branch(web, "\"*\"", Some("~DEFAULT_BRANCH")), 0, "pass", "ok");
    }
    // No branch can have this name.
    let web = repository("web").default_branch("a?b=c");
    let run = of_branch(web, "\"*\"", Some("~DEFAULT_BRANCH")).collect(&[]).exits(3);
    run.says("does not name the repository's default branch");
}

#[test]
fn an_empty_repository_has_nothing_to_protect() {
    for repos in ["\"*\"", "[acme/web]"] {
        for branch in [None, Some("main"), Some("~DEFAULT_BRANCH")] {
            let lab = of_branch(repository("web").empty(), repos, branch);
            let found = judged(&lab, 0, "not_applicable", "empty_repository");
            assert!(found.bundle.warnings("acme/web").is_empty());
        }
    }
    // A size of 0 does not prove that a repository is empty: this one has content, but not this branch.
    let web = repository("web").size(0);
    judged(&of_branch(web, "\"*\"", Some("release")), 0, "fail", "branch_missing");
}

/// The requests of a collection: no extra ones if every classic rule passes.
#[test]
fn requests_of_an_organization() {
    let count = |lab: &Lab| {
        lab.server.clear_log();
        lab.collect(&[]).exits(0);
        lab.requested().len()
    };
    let names: Vec<String> = (0..50).map(|number| format!("r{number}")).collect();
    let classic = names.iter().fold(acme(), |host, name| host.repository(sound(name)));
    assert_eq!(count(&Lab::new(classic)), 1 + 1 + 1 + 2 * 50);
    let organization = || Organization::new("acme").two_factor(true).ruleset(full(1));
    let owners = || sandbox::codehost::File::text("* @acme/everyone\n");
    let ruled = names.iter().fold(acme().organization(organization()), |host, name| {
        host.repository(repository(name).file(".github/CODEOWNERS", owners()))
    });
    // The organization's ruleset is read once for all.
    assert_eq!(count(&Lab::new(ruled)), 1 + 1 + 1 + 3 * 50 + 1);
    let listed: Vec<String> = names.iter().map(|name| format!("acme/{name}")).collect();
    let listed = format!("[{}]", listed.join(", "));
    let classic = names.iter().fold(acme(), |host, name| host.repository(sound(name)));
    let lab = Lab::new(classic).with(|config| config.source("repos", &listed));
    // Each name is looked up, whatever the branch.
    assert_eq!(count(&lab), 1 + 1 + 3 * 50);
    let lab = lab.with(|config| config.source("repos", &listed).source("branch", "main"));
    assert_eq!(count(&lab), 1 + 1 + 3 * 50);
}

/// An archived repository is exempt, so the tool sends no further requests about it.
#[test]
fn archived_repositories_cost_no_rulesets() {
    for repos in ["\"*\"", "[acme/web]"] {
        let lab = of_branch(repository("web").archived(true).ruleset(full(1)), repos, None);
        let found = judged(&lab, 0, "not_applicable", "archived");
        assert!(!found.asked.iter().any(|path| path.contains("/rules/")), "{:?}", found.asked);
    }
}

/// Two runs produce the same bundle, whatever the order of answers.
#[test]
fn the_order_of_answers_decides_nothing() {
    let organization = || Organization::new("acme").two_factor(true).ruleset(full(1)).ruleset(full(2));
    let host = || {
        (0..12).fold(acme().organization(organization()), |host, number| {
            host.repository(repository(&format!("r{number}")))
        })
    };
    let normalized = |concurrency: &str| -> String {
        let lab =
            Lab::new(host()).with(|config| config.controls("[CC7.2]").source("max_concurrency", concurrency));
        let bundle = lab.collect(&[]).exits(0).bundle();
        // The checksum of the observations, which contain the host's request ids.
        let observations = hex::encode(Sha256::digest(bundle.file("derived/observations.json").unwrap()));
        let controls = bundle.json("derived/normalized.json")["controls"].to_string();
        controls.replace(&observations, "")
    };
    assert_eq!(normalized("1"), normalized("32"));
}
