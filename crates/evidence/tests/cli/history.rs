//! Protected history and stale approvals: rules over answers that are read anyway.

use sandbox::codehost::{Bypass, Endpoint, Organization, Protection, Repository, Reviews, Ruleset};
use serde_json::json;

use super::common::{Lab, acme, repository, strong};
use super::security::checks;

fn lab(repositories: Vec<Repository>, more: &str) -> Lab {
    let host = acme().organization(
        Organization::new("acme").two_factor(true).ruleset(
            Ruleset::new(90, "history")
                .repositories(["by-organization"])
                .rule("non_fast_forward")
                .rule("deletion"),
        ),
    );
    let host = repositories.into_iter().fold(host, sandbox::codehost::CodeHost::repository);
    Lab::new(host).with(|config| config.framework("tsc_2017").controls("[CC8.1]").rest(more))
}

const ONLY: &str =
    "rules:\n  exclude: [branch-protection, codeowners-default-rule, changes-approved, no-direct-push]\n";

fn rule(change: impl FnOnce(&mut Protection)) -> Protection {
    let mut protection = strong();
    change(&mut protection);
    protection
}

fn reviewed(change: impl FnOnce(&mut Reviews)) -> Protection {
    rule(|protection| change(protection.reviews.get_or_insert_default()))
}

#[test]
fn force_pushes_deletions_and_stale_approvals() {
    let protected = |name: &str, protection: Protection| repository(name).protection("main", protection);
    let full = || Ruleset::new(7, "history").rule("non_fast_forward").rule("deletion");
    let review = |dismiss: bool, last: bool| {
        json!({"required_approving_review_count": 1, "dismiss_stale_reviews_on_push": dismiss,
            "require_last_push_approval": last})
    };
    let repositories = vec![
        protected("classic", reviewed(|reviews| reviews.dismiss_stale = true)),
        protected("last-push", reviewed(|reviews| reviews.last_push_approval = true)),
        protected("pushes", rule(|protection| protection.force_pushes = true)),
        protected("deletions", rule(|protection| protection.deletions = true)),
        protected("admins", rule(|protection| protection.enforce_admins = false)),
        protected("no-review", rule(|protection| protection.reviews = None)),
        // prowler#11723: the rules of the organization count as those of the repository do.
        repository("by-organization"),
        repository("by-ruleset").ruleset(full().rule_with("pull_request", review(true, false))),
        repository("half").ruleset(Ruleset::new(8, "half").rule("deletion")),
        repository("bypassed").ruleset(full().bypass(Bypass::organization_admin()).bypass_shown(true)),
        repository("bare"),
        protected("hidden", strong()).refusal(Endpoint::Protection, 404, "Not Found"),
        protected("old", strong()).archived(true),
        repository("elsewhere").default_branch("trunk"),
    ];
    let lab = lab(repositories, ONLY);
    let run = lab.collect(&[]).exits(3);
    let (bundle, found) = (run.bundle(), checks(&run.bundle()));
    for (name, history, stale) in [
        ("classic", "pass ok", "pass ok"),
        ("last-push", "pass ok", "pass ok"),
        ("pushes", "fail history_unprotected", "fail stale_approvals_kept"),
        ("deletions", "fail history_unprotected", "fail stale_approvals_kept"),
        ("admins", "fail admins_not_enforced", "fail stale_approvals_kept"),
        ("no-review", "pass ok", "fail reviews_not_required"),
        ("by-organization", "pass ok", "fail reviews_not_required"),
        ("by-ruleset", "pass ok", "pass ok"),
        ("half", "fail history_unprotected", "fail reviews_not_required"),
        ("bypassed", "fail admins_not_enforced", "fail reviews_not_required"),
        ("bare", "fail history_unprotected", "fail reviews_not_required"),
        ("hidden", "not_verifiable permission_denied", "not_verifiable permission_denied"),
        ("old", "not_applicable archived", "not_applicable archived"),
        ("elsewhere", "not_verifiable default_branch_differs", "not_verifiable default_branch_differs"),
    ] {
        for (rule, expected) in [("history-protected", history), ("stale-approvals-dismissed", stale)] {
            let line = format!("{rule} acme/{name} {expected}");
            assert!(found.contains(&line), "{line}: {found:#?}");
        }
    }
    let record = bundle.artifact("repo_acme_pushes_branch_history.json").unwrap();
    assert_eq!(
        record,
        json!({"allow_force_pushes": {"enabled": true}, "allow_deletions": {"enabled": false},
            "required_pull_request_reviews": {"require_last_push_approval": false}})
    );
    // The specified artifact has no further field.
    let protection = bundle.artifact("repo_acme_pushes_branch_protection.json").unwrap().to_string();
    assert!(!protection.contains("allow_") && !protection.contains("last_push"), "{protection}");
    // A reason of another rule says what that rule says.
    let hints = bundle.json("derived/hints.json").to_string();
    assert!(hints.contains("1 approval (2 recommended)"), "{hints}");
    let path = bundle.path.to_string_lossy().into_owned();
    lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
}

/// What passes by the classic rule costs nothing more; what does not asks for the rules once, for all of the rules.
#[test]
fn they_cost_what_branch_protection_costs() {
    let asked = |more: &str, protection: Protection| {
        let lab = lab(vec![repository("web").protection("main", protection)], more);
        lab.collect(&[]).exits(0);
        lab.requested().into_iter().filter(|path| path.starts_with("/repos/acme/web/")).collect::<Vec<_>>()
    };
    let good = || reviewed(|reviews| reviews.dismiss_stale = true);
    let only = |rule: &str| {
        let all = [
            "branch-protection",
            "codeowners-default-rule",
            "history-protected",
            "stale-approvals-dismissed",
            "changes-approved",
            "no-direct-push",
        ];
        let others: Vec<_> = all.into_iter().filter(|other| *other != rule).collect();
        format!("rules:\n  exclude: [{}]\n", others.join(", "))
    };
    let protection = ["/repos/acme/web/branches/main/protection"];
    let both = [protection[0], "/repos/acme/web/rules/branches/main?per_page=100"];
    for rule in ["branch-protection", "history-protected", "stale-approvals-dismissed"] {
        assert_eq!(asked(&only(rule), good()), protection, "{rule}");
    }
    assert_eq!(asked(ONLY, good()), protection);
    // The rule that does not pass asks, and no other.
    let open = || {
        let mut protection = good();
        protection.force_pushes = true;
        protection
    };
    assert_eq!(asked(&only("branch-protection"), open()), protection);
    assert_eq!(asked(&only("stale-approvals-dismissed"), open()), protection);
    assert_eq!(asked(&only("history-protected"), open()), both);
    assert_eq!(asked(ONLY, open()), both);
}
