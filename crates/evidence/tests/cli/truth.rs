//! Where a verdict could say more than was read: the real binary against the host's answers.

use sandbox::Server;
use sandbox::cloud::{Cloud, LogGroup, PasswordPolicy, Principal, Trail};
use sandbox::codehost::{
    Bypass, Endpoint, Fault, FaultKind, File, Organization, Permission, Protection, Repository, Role,
    Ruleset, Token,
};
use serde_json::{Value, json};

use super::common::{Bundle, Lab, Run, TOKEN, acme, repository, sound, strong};

const UPGRADE: &str = "Upgrade to GitHub Pro or make this repository public to enable this feature.";
const DENIED: &str = "Resource not accessible by personal access token";

/// Status, reason and finding of a check of acme/web.
#[track_caller]
fn check(bundle: &Bundle, control: &str) -> (String, String, String) {
    let record = bundle.check_record(control, "acme/web");
    let text = |key: &str| record[key].as_str().unwrap_or_default().to_string();
    (text("status"), text("reason"), text("actual"))
}

#[track_caller]
fn judged(run: &Run, status: &str, reason: &str) -> String {
    let (found, because, actual) = check(&run.bundle(), "CC7.2");
    assert_eq!((found.as_str(), because.as_str()), (status, reason), "{actual}");
    actual
}

fn of_repository(web: Repository) -> Lab {
    Lab::new(acme().repository(web)).with(|config| config.controls("[CC7.2]"))
}

/// A token whose user does not administer the repository.
fn reader() -> Token {
    Token::classic(TOKEN).login("rita").role(Role::Member).scopes(["read:org"]).sees_private(true)
}

fn asked_for(lab: &Lab, path: &str) -> usize {
    lab.requested().iter().filter(|asked| *asked == path).count()
}

#[test]
fn a_repository_that_is_deleted_during_the_run_is_gone() {
    for controls in ["[CC7.2, CC6.6]", "[CC7.2]", "[CC6.6]"] {
        let host = acme().repository(sound("api")).repository(sound("web").vanished());
        let lab = Lab::new(host).with(|config| config.controls(controls));
        let run = lab.collect(&[]).exits(0);
        let bundle = run.bundle();
        assert_eq!(bundle.json("manifest.json")["complete"], true);
        assert_eq!(bundle.errors(), []);
        for control in ["CC7.2", "CC6.6"].into_iter().filter(|control| controls.contains(control)) {
            let (status, reason, actual) = check(&bundle, control);
            assert_eq!((status.as_str(), reason.as_str()), ("not_verifiable", "not_found"), "{actual}");
            assert!(actual.contains("listed at 20") && actual.contains(", gone at 20"), "{actual}");
        }
        assert_eq!(asked_for(&lab, "/repos/acme/web"), 1, "asked once for all rules");
        let members = bundle.json("derived/population.json")["members"].to_string();
        assert!(members.contains("\"acme/web\""), "it stays a member");
    }
    // The repository exists, but none of its settings can be seen.
    let web = repository("web").refusal(Endpoint::Protection, 404, "Not Found").refusal(
        Endpoint::Rules,
        404,
        "Not Found",
    );
    let lab = Lab::new(acme().repository(web));
    let bundle = lab.collect(&[]).exits(3).bundle();
    assert_eq!(check(&bundle, "CC7.2").1, "permission_denied");
    assert_eq!(check(&bundle, "CC6.6").1, "codeowners_missing");
    assert_eq!(asked_for(&lab, "/repos/acme/web"), 1);
    // One answer about it is enough, so that there is no further request.
    let lab = Lab::new(acme().repository(repository("web")));
    let bundle = lab.collect(&[]).exits(0).bundle();
    assert_eq!(check(&bundle, "CC6.6").1, "codeowners_missing");
    assert_eq!(asked_for(&lab, "/repos/acme/web"), 0);
}

#[test]
fn a_disabled_repository_has_nothing_to_check() {
    for (repos, branch) in [("\"*\"", None), ("[acme/web]", None), ("[acme/web]", Some("main"))] {
        let lab = Lab::new(acme().repository(sound("web").disabled())).with(|config| {
            let config = config.source("repos", repos);
            branch.map_or_else(|| config.clone(), |branch| config.clone().source("branch", branch))
        });
        let bundle = lab.collect(&[]).exits(0).bundle();
        for control in ["CC7.2", "CC6.6"] {
            let (status, reason, _) = check(&bundle, control);
            assert_eq!(
                (status.as_str(), reason.as_str()),
                ("not_applicable", "repository_disabled"),
                "{repos}"
            );
        }
        let about: Vec<String> =
            lab.requested().into_iter().filter(|path| path.starts_with("/repos/acme/web/")).collect();
        assert!(about.is_empty(), "{about:?}");
    }
}

fn reviewers(patterns: &[&str], approvals: u64) -> Ruleset {
    let reviewer = json!({"file_patterns": patterns, "minimum_approvals": approvals,
        "reviewer": {"id": 7, "type": "Team"}});
    Ruleset::new(7, "reviewers").status_checks(["ci/build"]).rule_with(
        "pull_request",
        json!({"required_approving_review_count": 0, "require_code_owner_review": false,
            "required_reviewers": [reviewer]}),
    )
}

#[test]
fn required_reviewers_of_every_file_are_approving_reviews() {
    for (patterns, approvals, status, reason, said) in [
        (&["*"][..], 1, "pass", "ok", "1 approving review, "),
        (&["**"], 2, "pass", "ok", "2 approving reviews, "),
        (&["docs/**", "**/*"], 1, "pass", "ok", "1 approving review, "),
        (&["**", "!docs/**"], 1, "fail", "reviews_not_required", "only for files that match ** !docs/**"),
        (&["docs/**"], 1, "fail", "reviews_not_required", "only for files that match docs/**"),
        (&["*"], 0, "fail", "reviews_not_required", "no approving review, "),
    ] {
        let run = of_repository(repository("web").ruleset(reviewers(patterns, approvals))).collect(&[]);
        let actual = judged(&run, status, reason);
        assert!(actual.contains(said), "{actual}");
        let rules = run.bundle().artifact("repo_acme_web_branch_rules.json").unwrap().to_string();
        assert!(rules.contains("\"minimum_approvals\""), "{rules}");
    }
}

#[test]
fn code_owners_alone_are_no_approval() {
    let words = "0 approvals are required, code owners must approve";
    let classic =
        Protection::new().reviews(0).code_owner_reviews().status_checks(["ci"]).enforce_admins(true);
    let run = of_repository(repository("web").protection("main", classic)).collect(&[]).exits(0);
    assert!(judged(&run, "fail", "reviews_not_required").starts_with(words));
    let ruleset = Ruleset::new(7, "owners").status_checks(["ci"]).rule_with(
        "pull_request",
        json!({"required_approving_review_count": 0, "require_code_owner_review": true}),
    );
    let run = of_repository(repository("web").ruleset(ruleset)).collect(&[]).exits(0);
    assert!(judged(&run, "fail", "reviews_not_required").starts_with(words));
}

/// The branch itself says whether a classic rule is hidden.
#[test]
fn a_hidden_classic_rule() {
    let lab = |web: Repository| {
        Lab::new(acme().token(reader()).repository(web)).with(|config| config.controls("[CC7.2]"))
    };
    let branch = "/repos/acme/web/branches/main";
    let open = lab(repository("web"));
    let run = open.collect(&[]).exits(0);
    let actual = judged(&run, "fail", "branch_unprotected");
    assert!(actual.contains("the host reports no branch protection"), "{actual}");
    assert_eq!(asked_for(&open, branch), 1);
    let artifact = run.bundle().artifact("repo_acme_web_branch.json").unwrap();
    assert_eq!(artifact["protection"]["enabled"], false);
    assert!(!artifact.to_string().contains("commit"), "{artifact}");
    assert_eq!(run.bundle().warnings("acme/web"), ["branch_unprotected"]);
    let held =
        lab(repository("web").protection("main", strong()).ruleset(Ruleset::new(1, "d").rule("deletion")));
    let run = held.collect(&[]).exits(3);
    let actual = judged(&run, "not_verifiable", "permission_denied");
    assert!(actual.contains("with 1 required status check: ci/build"), "{actual}");
    // A ruleset that says something about reviews or checks, or a branch that cannot be read: as before.
    let ruled = lab(repository("web").ruleset(Ruleset::new(1, "r").reviews(1)));
    judged(&ruled.collect(&[]).exits(3), "not_verifiable", "permission_denied");
    assert_eq!(asked_for(&ruled, branch), 0);
    let refused = lab(repository("web").refusal(Endpoint::Branch, 403, DENIED));
    judged(&refused.collect(&[]).exits(3), "not_verifiable", "permission_denied");
    // A 403 hides the rule as well.
    let web = repository("web").refusal(Endpoint::Protection, 403, DENIED);
    judged(&of_repository(web).collect(&[]).exits(0), "fail", "branch_unprotected");
}

#[test]
fn a_plan_without_any_protection_leaves_the_branch_unprotected() {
    let both = repository("web").plan_limited();
    let run = of_repository(both).collect(&[]).exits(0);
    let actual = judged(&run, "fail", "branch_unprotected");
    assert_eq!(actual.matches("Upgrade to GitHub Pro").count(), 2, "{actual}");
    let classic = repository("web").refusal(Endpoint::Protection, 403, UPGRADE);
    judged(&of_repository(classic).collect(&[]), "not_verifiable", "plan_limit");
    let rules = repository("web").refusal(Endpoint::Rules, 403, UPGRADE);
    judged(&of_repository(rules).collect(&[]), "not_verifiable", "plan_limit");
    // Rulesets that pass alone are enough.
    let full = Ruleset::new(7, "full").reviews(1).status_checks(["ci"]);
    let ruled = repository("web").refusal(Endpoint::Protection, 403, UPGRADE).ruleset(full);
    judged(&of_repository(ruled).collect(&[]), "pass", "ok");
}

#[test]
fn what_a_ruleset_is_stays_in_the_bundle() {
    let ruleset = Ruleset::new(7, "main branch")
        .rule("deletion")
        .rule("merge_queue")
        .reviews(1)
        .status_checks(["ci/build"])
        .except_branches(["refs/heads/wip/*"]);
    let bundle = of_repository(repository("web").ruleset(ruleset)).collect(&[]).exits(0).bundle();
    let found = bundle.artifact("repo_acme_web_ruleset_7.json").unwrap();
    assert_eq!(
        found,
        json!({"id": 7, "name": "main branch", "target": "branch", "source_type": "Repository", "source": "acme/web",
            "enforcement": "active",
            "conditions": {"ref_name": {"include": ["~DEFAULT_BRANCH"], "exclude": ["refs/heads/wip/*"]}},
            "created_at": "2026-07-07T19:47:51.339+02:00", "updated_at": "2026-07-15T01:42:31.570+02:00",
            "current_user_can_bypass": "never"})
    );
    let rules = bundle.artifact("repo_acme_web_branch_rules.json").unwrap();
    let types: Vec<&str> =
        rules["rules"].as_array().unwrap().iter().map(|rule| rule["type"].as_str().unwrap()).collect();
    assert_eq!(types, ["deletion", "merge_queue", "pull_request", "required_status_checks"]);
    assert_eq!(rules["rules"][2]["parameters"]["dismiss_stale_reviews_on_push"], true);
    assert_eq!(rules["rules"][3]["parameters"]["strict_required_status_checks_policy"], false);
}

#[test]
fn who_can_bypass_is_not_guessed() {
    let full = || Ruleset::new(7, "full").reviews(1).status_checks(["ci"]);
    let host = acme().enterprise_ruleset("big", full()).repository(repository("web"));
    let lab = Lab::new(host).with(|config| config.controls("[CC7.2]"));
    let actual = judged(&lab.collect(&[]).exits(0), "not_verifiable", "bypass_not_visible");
    assert!(actual.contains("the enterprise owns ruleset 7"), "{actual}");
    let organization = Organization::new("acme").two_factor(true).ruleset(full());
    let lab = Lab::new(acme().organization(organization).repository(repository("web")));
    let actual = judged(&lab.with(|config| config.controls("[CC7.2]")).collect(&[]).exits(0), "pass", "ok");
    assert!(actual.contains("enterprise owners, teams, roles, apps and single users may still"), "{actual}");
    let ruleset = full().bypass_shown(true).current_user_can_bypass(Some("always"));
    let run = of_repository(repository("web").ruleset(ruleset)).collect(&[]).exits(0);
    judged(&run, "not_verifiable", "bypass_contradiction");
    let hints = run.bundle().json("derived/hints.json").to_string();
    assert!(hints.contains("contradicts itself"), "{hints}");
    let shown = full()
        .bypass_shown(true)
        .bypass(Bypass::role(Permission::Admin))
        .current_user_can_bypass(Some("always"));
    judged(&of_repository(repository("web").ruleset(shown)).collect(&[]), "fail", "admins_not_enforced");
}

/// An organization's ruleset is read once, whatever the order of the answers; that of a repository once each.
#[test]
fn a_ruleset_of_the_organization_is_read_once() {
    let full = |id| Ruleset::new(id, "full").reviews(1).status_checks(["ci"]);
    let host = |organization: Organization| {
        (0..50).fold(acme().organization(organization), |host, number| {
            let owners = File::text("* @acme/everyone\n");
            host.repository(repository(&format!("r{number:02}")).file(".github/CODEOWNERS", owners))
        })
    };
    let organization = || Organization::new("acme").two_factor(true).ruleset(full(1)).ruleset(full(2));
    let count = |concurrency: &str| {
        let lab = Lab::new(host(organization())).with(|config| config.source("max_concurrency", concurrency));
        lab.collect(&[]).exits(0);
        let asked = lab.requested();
        let rulesets: Vec<String> =
            asked.iter().filter(|path| path.contains("/rulesets/")).cloned().collect();
        assert_eq!(rulesets, ["/repos/acme/r00/rulesets/1"], "the first one that decides");
        asked.len()
    };
    // Before: 1 + 1 + 4 * 50.
    assert_eq!((count("1"), count("32")), (1 + 1 + 1 + 3 * 50 + 1, 1 + 1 + 1 + 3 * 50 + 1));
    let lab = Lab::new(host(organization()));
    let bundle = lab.collect(&[]).exits(0).bundle();
    for name in ["r00", "r49"] {
        assert_eq!(bundle.artifact(&format!("repo_acme_{name}_ruleset_1.json")).unwrap()["id"], 1);
    }
    // A failure is not shared, and neither is what another user sees.
    let fault = Fault::on("/repos/acme/r00/rulesets/1").kind(FaultKind::Json(
        404,
        Vec::new(),
        json!({"message": "Not Found"}),
    ));
    let lab = Lab::new(host(organization()).fault(fault));
    lab.collect(&[]).exits(0);
    assert!(lab.requested().iter().filter(|path| path.contains("/rulesets/1")).count() >= 50);
}

#[test]
fn a_later_line_that_owns_a_path_again_is_no_hole() {
    for (text, holes) in [
        ("* @acme/all\n/docs/private\n/docs/ @acme/docs\n", None),
        ("* @acme/all\n/docs/*.md\n*.md @acme/docs\n", None),
        ("* @acme/all\n/docs\n/docs @acme/docs\n", None),
        ("* @acme/all\n/docs\n/docs/ @acme/docs\n", Some("without an owner: line 2 (/docs)")),
        ("* @acme/all\n/docs/ @acme/docs\n/docs/private\n", Some("without an owner: line 3 (/docs/private)")),
    ] {
        let web = repository("web").file("CODEOWNERS", File::text(text));
        let lab = Lab::new(acme().repository(web)).with(|config| config.controls("[CC6.6]"));
        let bundle = lab.collect(&[]).exits(0).bundle();
        let (status, reason, actual) = check(&bundle, "CC6.6");
        assert_eq!((status.as_str(), reason.as_str()), ("pass", "ok"), "{actual}");
        assert_eq!(actual.contains("without an owner"), holes.is_some(), "{actual}");
        assert!(actual.contains(holes.unwrap_or_default()), "{actual}");
    }
}

#[test]
fn exclusions_record_their_decision() {
    let host = || acme().repository(sound("web")).repository(sound("old")).repository(sound("lab"));
    let decided = "[{repository: acme/old, reason: Frozen, approved_by: jane, approved_at: 2026-11-02, review_by: 2199-01-31}]";
    let lab = Lab::new(host()).with(|config| config.source("exclude", decided));
    let run = lab.collect(&[]).exits(0).says_not("exclusion_without_reason");
    let scope = run.bundle().json("derived/scope.json");
    assert_eq!(
        scope["sources"][0]["settings"]["exclude"],
        json!([{"repository": "acme/old", "reason": "Frozen", "approved_by": "jane", "approved_at": "2026-11-02",
            "review_by": "2199-01-31"}])
    );
    let plain = "[acme/old, {repository: acme/lab}]";
    let lab = Lab::new(host()).with(|config| config.source("exclude", plain));
    let run = lab.collect(&[]).exits(0);
    run.bundle().json("derived/scope.json");
    let warnings = run.bundle().json("manifest.json")["warnings"].to_string();
    assert_eq!(warnings.matches("exclusion_without_reason").count(), 1, "{warnings}");
    assert!(warnings.contains("the exclusion of acme/old and 1 more has no reason"), "{warnings}");
    let bad = |entry: &str| format!("[{{repository: acme/old, {entry}}}]");
    for (exclude, said) in [
        (bad("reason: Frozen"), "the reason has no approver"),
        (bad("review_by: 2020-01-31"), "was to be reviewed by 2020-01-31, which is past"),
        (bad("review_by: 2199-13-31"), "is not a date"),
        (bad("review_by: soon"), "is not a date"),
        (bad("approved_at: 2.11.2026"), "is not a date"),
        (bad("why: no"), "unknown key"),
        ("[{reason: Frozen, approved_by: jane}]".to_string(), "the required key `repository` is missing"),
        ("[acme/old, {repository: acme/OLD}]".to_string(), "is listed twice"),
        ("[{repository: other/old}]".to_string(), "does not belong to the organization"),
    ] {
        let lab = Lab::new(host()).with(|config| config.source("exclude", &exclude));
        lab.collect(&[]).exits(1).says(said).leaves_nothing();
    }
    // The day of the review is the last one, by the signed start of the run.
    for (epoch, code) in [("1801440000", 0), ("1801526399", 0), ("1801526400", 1)] {
        let last = bad("reason: Frozen, approved_by: jane, review_by: 2027-02-01");
        let lab =
            Lab::new(host()).with(|config| config.source("exclude", &last)).env("SOURCE_DATE_EPOCH", epoch);
        lab.collect(&["--reproducible"]).exits(code);
    }
}

#[test]
fn a_clock_that_differs_is_reported() {
    for (offset, warned) in [(0, false), (240, false), (600, true), (-600, true)] {
        let lab = Lab::new(acme().repository(sound("web")).clock_offset_seconds(offset));
        let bundle = lab.collect(&[]).exits(0).bundle();
        let warnings = bundle.json("manifest.json")["warnings"].to_string();
        assert_eq!(warnings.contains("clock_skewed"), warned, "{offset}: {warnings}");
    }
}

const ACCOUNT: &str = "123456789012";

/// A lab for the cloud alone.
struct Clouds {
    lab: Lab,
    server: Server<Cloud>,
}

impl Clouds {
    fn new(cloud: Cloud, controls: &str) -> Clouds {
        let server = cloud.serve().unwrap();
        let lab = Lab::new(acme())
            .env("CLOUD_ACCESS_KEY_ID", "AKIDSANDBOX")
            .env("CLOUD_SECRET_ACCESS_KEY", "not-a-real-secret-access-key");
        let text = format!(
            "framework: soc2_type1\ncontrols: {controls}\nsources:\n  cloud:\n    mode: env\n    regions: [eu-central-1, \
             us-east-1]\n    endpoint_url: {}\nbundle:\n  signing:\n    private_key_path: key.pem\n",
            server.url()
        );
        lab.write("evidence.yaml", text);
        Clouds { lab, server }
    }
}

fn account(deny: &str) -> Cloud {
    let user = "arn:aws:iam::123456789012:user/evidence";
    let actions = [
        "organizations:ListAccounts",
        "ec2:DescribeRegions",
        "iam:GetAccountPasswordPolicy",
        "iam:GetAccountSummary",
        "cloudtrail:DescribeTrails",
        "cloudtrail:GetTrailStatus",
        "logs:DescribeLogGroups",
    ];
    let allowed = actions.into_iter().filter(|action| *action != deny);
    Cloud::new(ACCOUNT)
        .principal(Principal::user("AKIDSANDBOX", "not-a-real-secret-access-key", user).allow(allowed))
        .log_group("eu-central-1", LogGroup::new("/app"))
        .log_group("us-east-1", LogGroup::new("/app"))
}

fn of_rule(bundle: &Bundle, rule: &str) -> (String, String, String) {
    let normalized = bundle.json("derived/normalized.json");
    let controls = normalized["controls"].as_array().unwrap();
    let mut checks = controls.iter().flat_map(|control| control["checks"].as_array().unwrap());
    let found = checks.find(|check| check["rule"] == rule).unwrap();
    let text = |key: &str| found[key].as_str().unwrap_or_default().to_string();
    (text("status"), text("reason"), text("actual"))
}

#[test]
fn an_account_without_users_needs_no_password_policy() {
    let summary = "iam:GetAccountSummary";
    let set = |cloud: Cloud| cloud.password_policy(PasswordPolicy::new(14));
    for (cloud, status, reason) in [
        (account("").users(0), "not_applicable", "no_users"),
        (set(account("").users(0)), "not_applicable", "no_users"),
        (account("").users(3), "fail", "password_policy_missing"),
        (set(account("").users(3)), "pass", "ok"),
        // The summary is refused: as without it.
        (account(summary).users(0), "fail", "password_policy_missing"),
        (set(account(summary).users(0)), "pass", "ok"),
        (account("iam:GetAccountPasswordPolicy").users(0), "not_applicable", "no_users"),
    ] {
        let clouds = Clouds::new(cloud, "[CC6.1]");
        let bundle = clouds.lab.collect(&[]).exits(0).bundle();
        let found = of_rule(&bundle, "password-policy");
        assert_eq!((found.0.as_str(), found.1.as_str()), (status, reason), "{}", found.2);
        assert!(clouds.server.violations().is_empty());
    }
}

#[test]
fn a_trail_delivers_or_fails_or_is_quiet() {
    let now = jiff::Timestamp::now().as_second();
    let ago = |hours: i64| (now - hours * 3_600) as f64;
    let trail = || Trail::new("main", "eu-central-1").multi_region(true);
    let old = || trail().latest_delivery(Some(ago(48)));
    let unconfirmed = ("not_verifiable", "delivery_unconfirmed", "no log since");
    let failing = |said| ("fail", "trail_not_delivering", said);
    for (trail, (status, reason, said)) in [
        (trail(), ("pass", "ok", "is logging and delivers")),
        (old().latest_digest(Some(ago(2))), ("pass", "ok", "no log since a day, the latest digest at")),
        (old(), unconfirmed),
        (old().latest_digest(Some(ago(30))), unconfirmed),
        (
            trail().latest_delivery(None).latest_digest(Some(ago(30))),
            ("not_verifiable", "delivery_unconfirmed", "no log yet"),
        ),
        (
            old().latest_digest(Some(ago(2))).digest_error("AccessDenied"),
            failing("a digest failed: AccessDenied"),
        ),
        (trail().delivery_error("NoSuchBucket"), failing("the latest delivery failed: NoSuchBucket")),
        (trail().latest_delivery(None).started(ago(30)), failing("nothing delivered since logging started")),
        (
            trail().latest_delivery(None).started(ago(2)),
            ("not_verifiable", "delivery_unconfirmed", "logging started at"),
        ),
        // Elsewhere only an error counts.
        (trail().quiet_in("us-east-1"), ("pass", "ok", "")),
        (
            trail().delivery_error_in("us-east-1", "AccessDenied"),
            failing("failed: AccessDenied (in us-east-1)"),
        ),
        (trail().delivery_error_in("ap-south-1", "AccessDenied"), ("pass", "ok", "")),
    ] {
        let clouds = Clouds::new(account("").trail(trail.clone()), "[CC7.2]");
        let bundle = clouds.lab.collect(&[]).exits(0).bundle();
        let found = of_rule(&bundle, "audit-trail");
        assert_eq!((found.0.as_str(), found.1.as_str()), (status, reason), "{trail:?}: {}", found.2);
        assert!(found.2.contains(said), "{}", found.2);
        let elsewhere = bundle.file("sources/cloud/trail_main_status_us-east-1.json").is_some();
        assert_eq!(elsewhere, status == "pass" || found.2.contains("us-east-1"), "{trail:?}");
    }
    let none = Clouds::new(account(""), "[CC7.2]").lab.collect(&[]).exits(0).bundle();
    let words = "there is no trail; event data stores and telemetry rules are not read";
    let found = of_rule(&none, "audit-trail");
    assert_eq!((found.1.as_str(), found.2.as_str()), ("audit_trail_missing", words));
}

/// Ages count from the start of the run, which is signed: with a fixed time, from that.
#[test]
fn ages_count_from_the_signed_start() {
    let noon = 1_795_262_400;
    for (epoch, reason) in
        [(noon + 86_400, "ok"), (noon + 86_401, "delivery_unconfirmed"), (noon - 900_000, "ok")]
    {
        let trail =
            Trail::new("main", "eu-central-1").multi_region(true).latest_delivery(Some(f64::from(noon)));
        let clouds = Clouds::new(account("").trail(trail), "[CC7.2]");
        let lab = clouds.lab.env("SOURCE_DATE_EPOCH", &epoch.to_string());
        let bundle = lab.collect(&["--reproducible"]).exits(0).bundle();
        assert_eq!(of_rule(&bundle, "audit-trail").1, reason, "{epoch}");
    }
}

#[test]
fn a_control_that_no_source_collects_is_missing() {
    let clouds = Clouds::new(account("").password_policy(PasswordPolicy::new(14)), "[CC6.1, CC6.6]");
    let run = clouds.lab.collect(&[]).exits(3).says("no source collects evidence for CC6.6");
    let manifest = run.bundle().json("manifest.json");
    assert_eq!(manifest["complete"], false);
    let codes: Vec<&Value> =
        manifest["warnings"].as_array().unwrap().iter().map(|warning| &warning["code"]).collect();
    assert!(codes.contains(&&json!("control_not_collected")), "{codes:?}");
    assert_eq!(manifest["errors"][0]["subject"], "CC6.6");
    clouds.lab.run(&["collect", "--dry-run"]).exits(3).says("no source collects evidence for CC6.6");
}
