//! The decision table for branch protection: the check, warning, error and exit code of the real binary for every
//! answer of the host.

use sandbox::codehost::{
    Body, Fault, FaultKind, File, Organization, Protection, Repository, Selection, Sso, Token,
};
use serde_json::json;

use crate::common::{Bundle, Lab, TOKEN, acme, repository, sound, strong};

const PATH: &str = "/repos/acme/web/branches/main/protection";

/// The expected results for the repository `acme/web`.
struct Expected {
    status: &'static str,
    reason: &'static str,
    /// Codes of the manifest's warnings about the repository.
    warnings: &'static [&'static str],
    /// Codes of the manifest's errors.
    errors: &'static [&'static str],
    code: i32,
}

/// A collection without errors, and without warnings other than those of a missing permission.
fn outcome(status: &'static str, reason: &'static str) -> Expected {
    // The bundle lists what the host does not show as missing.
    let (warnings, code): (&[&str], i32) = match reason {
        "permission_denied" => (&["permission_denied"], 3),
        "sso_required" => (&["sso_required"], 3),
        _ => (&[], 0),
    };
    Expected { status, reason, warnings, errors: &[], code }
}

/// A collection with these warnings.
fn warned(status: &'static str, reason: &'static str, warnings: &'static [&'static str]) -> Expected {
    Expected { warnings, ..outcome(status, reason) }
}

#[track_caller]
fn expect(lab: &Lab, expected: &Expected) -> Bundle {
    let run = lab.collect(&[]).exits(expected.code);
    let bundle = run.bundle();
    let (status, reason) = bundle.check("CC7.2", "acme/web");
    assert_eq!((status.as_str(), reason.as_str()), (expected.status, expected.reason));
    assert_eq!(bundle.warnings("acme/web"), expected.warnings);
    let errors: Vec<String> = bundle.errors().into_iter().map(|(code, ..)| code).collect();
    assert_eq!(errors, expected.errors);
    assert_eq!(bundle.json("run.json")["exit_code"], expected.code);
    bundle
}

/// Collects only CC7.2, without the requests and warnings for CODEOWNERS.
fn lab(web: Repository) -> Lab {
    Lab::new(acme().repository(web)).with(|config| config.controls("[CC7.2]"))
}

fn protected(protection: Protection) -> Lab {
    lab(repository("web").protection("main", protection))
}

/// Replaces the host's answer.
fn answering(status: u16, message: &str) -> Lab {
    let body = json!({ "message": message, "documentation_url": "https://docs.example/rest" });
    let fault = Fault::on(PATH).kind(FaultKind::Json(status, Vec::new(), body));
    Lab::new(acme().repository(sound("web")).fault(fault)).with(|config| config.controls("[CC7.2]"))
}

#[test]
fn good_rules_pass() {
    expect(&protected(strong()), &outcome("pass", "ok"));
    expect(&protected(strong().reviews(1)), &outcome("pass", "ok"));
}

#[test]
fn each_criterion_that_is_not_met_fails() {
    let checks = ["ci/build"];
    let none: [&str; 0] = [];
    let cases = [
        (Protection::new().status_checks(checks).enforce_admins(true), "reviews_not_required"),
        (strong().reviews(0), "reviews_not_required"),
        (Protection::new().reviews(2).enforce_admins(true), "status_checks_not_configured"),
        (strong().status_checks(none), "status_checks_not_configured"),
        (strong().enforce_admins(false), "admins_not_enforced"),
    ];
    for (protection, reason) in cases {
        let bundle = expect(&protected(protection), &outcome("fail", reason));
        assert!(bundle.artifact("repo_acme_web_branch_protection.json").is_some());
    }
}

#[test]
fn checks_alone_count_as_configured() {
    let body = |section: serde_json::Value| {
        Protection::new().body(json!({
            "url": "https://host.example/repos/acme/web/branches/main/protection",
            "required_pull_request_reviews": { "required_approving_review_count": 1 },
            "required_status_checks": section,
            "enforce_admins": { "url": "https://host.example/x", "enabled": true },
        }))
    };
    let lab = protected(body(json!({ "strict": true, "contexts": [], "checks": [{ "context": "a" }] })));
    expect(&lab, &outcome("pass", "ok"));
    let lab = protected(body(json!({ "strict": true, "contexts": ["a"] })));
    expect(&lab, &outcome("pass", "ok"));
    let lab = protected(body(json!({ "strict": true })));
    lab.collect(&[]).exits(0);
}

#[test]
fn branch_not_protected() {
    expect(&lab(repository("web")), &warned("fail", "branch_unprotected", &["branch_unprotected"]));
}

#[test]
fn branch_protection_disabled() {
    let web = repository("web").protection("main", strong()).protection_disabled();
    expect(&lab(web), &warned("fail", "branch_unprotected", &["branch_unprotected"]));
    let disabled = "Branch protection has been disabled on this repository.";
    expect(&answering(404, disabled), &warned("fail", "branch_unprotected", &["branch_unprotected"]));
}

#[test]
fn branch_not_found() {
    let web = repository("web").default_branch("master").protection("master", strong());
    let lab = lab(web).with(|config| config.controls("[CC7.2]").source("branch", "main"));
    let warnings = &["branch_missing", "default_branch_differs"];
    let bundle = expect(&lab, &warned("fail", "branch_missing", warnings));
    assert!(bundle.check_record("CC7.2", "acme/web")["actual"].as_str().unwrap().contains("main"));
}

#[test]
fn another_branch_may_be_configured() {
    let web = repository("web").default_branch("release/1.x").protection("release/1.x", strong());
    let lab = Lab::new(acme().repository(web))
        .with(|config| config.controls("[CC7.2]").source("branch", "release/1.x"));
    expect(&lab, &outcome("pass", "ok"));
    assert!(lab.requested().iter().any(|path| path.ends_with("/branches/release%2F1.x/protection")));
}

#[test]
fn not_found_for_a_repository_that_discovery_has_seen() {
    let bundle = expect(
        &lab(repository("web").admin(false).protection("main", strong())),
        &outcome("not_verifiable", "permission_denied"),
    );
    assert_eq!(bundle.source()["denied"], 1);
    assert_eq!(bundle.source()["failed"], 0);
}

#[test]
fn not_found_for_a_listed_repository_that_another_call_has_seen() {
    // The CODEOWNERS request shows the repository.
    let hidden = sound("web").admin(false);
    let lab = Lab::new(acme().repository(hidden)).with(|config| config.source("repos", "[acme/web]"));
    expect(&lab, &outcome("not_verifiable", "permission_denied"));
    // Only the request for the repository itself shows it.
    let hidden = repository("web").admin(false).protection("main", strong());
    let lab = Lab::new(acme().repository(hidden))
        .with(|config| config.controls("[CC7.2]").source("repos", "[acme/web]"));
    expect(&lab, &outcome("not_verifiable", "permission_denied"));
}

#[test]
fn not_found_on_every_call_for_a_listed_repository() {
    let lab = Lab::new(acme()).with(|config| config.source("repos", "[acme/web]"));
    let expected =
        Expected { errors: &["not_found", "not_found"], code: 3, ..outcome("not_verifiable", "not_found") };
    let bundle = expect(&lab, &expected);
    for (_, subject, message) in bundle.errors() {
        assert_eq!(subject, "acme/web");
        assert!(message.contains("Not Found"), "{message}");
    }
    assert_eq!(bundle.source()["failed"], 2);
}

#[test]
fn listed_and_vanished_between_the_calls() {
    let lab = Lab::new(acme().repository(sound("web").vanished()));
    // Only discovery lists the repository: the host hides it from every other call.
    let lab = lab.with(|config| config.controls("[CC7.2]"));
    expect(&lab, &warned("not_verifiable", "not_found", &["not_found"]));
}

#[test]
fn upgrade_of_the_plan() {
    let web = repository("web").protection("main", strong()).plan_limited();
    expect(&lab(web), &warned("fail", "branch_unprotected", &["branch_unprotected"]));
}

#[test]
fn resource_not_accessible() {
    let fine_grained = Token::fine_grained(TOKEN)
        .resource_owner("acme")
        .permissions(["metadata:read", "contents:read"])
        .repositories(Selection::All);
    let host = acme().token(fine_grained).repository(sound("web"));
    let lab = Lab::new(host).with(|config| config.controls("[CC7.2]"));
    let bundle = expect(&lab, &outcome("not_verifiable", "permission_denied"));
    let actual = bundle.check_record("CC7.2", "acme/web")["actual"].clone();
    assert_eq!(
        actual,
        "branch protection: Resource not accessible by personal access token; the host reports a branch protection \
         rule with 1 required status check: ci/build"
    );
}

#[test]
fn other_texts_of_missing_permission() {
    for text in [
        "Resource not accessible by integration",
        "Must have admin rights to Repository.",
        "You need more rights than anybody has thought of.",
    ] {
        expect(&answering(403, text), &outcome("not_verifiable", "permission_denied"));
    }
}

#[test]
fn single_sign_on_required() {
    let headers = vec![("x-github-sso".to_string(), "required; url=https://host.example/sso".to_string())];
    let body = json!({ "message": "Resource protected by organization SAML enforcement." });
    let fault = Fault::on(PATH).kind(FaultKind::Json(403, headers, body));
    let lab =
        Lab::new(acme().repository(sound("web")).fault(fault)).with(|config| config.controls("[CC7.2]"));
    expect(&lab, &warned("not_verifiable", "sso_required", &["sso_required"]));
}

#[test]
fn single_sign_on_required_at_the_connection_test() {
    let host = acme().organization(Organization::new("acme").sso(Sso::Required)).repository(sound("web"));
    Lab::new(host).collect(&[]).exits(2).says("https://github.com/orgs/acme/sso?authorization_request=");
}

#[test]
fn blocked() {
    let expected = warned("not_verifiable", "blocked", &["blocked"]);
    expect(&lab(sound("web").blocked("dmca")), &expected);
    expect(&lab(sound("web").blocked("tos")), &expected);
    expect(&answering(451, "Repository access blocked"), &expected);
    expect(&answering(403, "Repository access blocked"), &expected);
}

#[test]
fn a_number_in_a_text_decides_nothing() {
    // The words "404" and "Not Found" in a refusal for another reason.
    let text = "Must have admin rights: see error 404 Not Found in the documentation";
    expect(&answering(403, text), &outcome("not_verifiable", "permission_denied"));
    // A branch with the same name as one of the host's messages.
    let web = repository("web").protection("Branch-not-protected", strong());
    let lab = Lab::new(acme().repository(web))
        .with(|config| config.controls("[CC7.2]").source("branch", "Branch-not-protected"));
    expect(&lab, &warned("pass", "ok", &["default_branch_differs"]));
}

#[test]
fn archived() {
    let host = acme()
        .repository(repository("web").archived(true))
        .repository(sound("good").archived(true))
        .repository(repository("open"));
    let lab = Lab::new(host);
    let bundle = expect(&lab, &outcome("not_applicable", "archived"));
    for subject in ["acme/web", "acme/good"] {
        for control in ["CC6.6", "CC7.2"] {
            assert_eq!(bundle.check(control, subject), ("not_applicable".into(), "archived".into()));
        }
    }
    // Nothing is asked about it, and the bundle says so.
    assert!(bundle.artifact("repo_acme_good_branch_protection.json").is_none());
    assert!(!lab.requested().iter().any(|path| path.starts_with("/repos/acme/good")));
    assert_eq!(bundle.check("CC7.2", "acme/open"), ("fail".into(), "branch_unprotected".into()));
}

/// Lasting faults use up all attempts, so they share one run; each has its own repository.
#[test]
fn faults_of_the_host_that_do_not_heal() {
    let kinds = [
        ("bad-gateway", FaultKind::Status(502, Body::Html)),
        ("server-error", FaultKind::Status(500, Body::Json)),
        ("page", FaultKind::LoginPage),
        ("broken", FaultKind::Truncate(40)),
        ("reset", FaultKind::Reset),
        ("hanging", FaultKind::Hang),
        ("not-json", FaultKind::Status(200, Body::Text("this is no JSON".to_string()))),
        ("html-404", FaultKind::Status(404, Body::Html)),
    ];
    let mut host = acme().repository(sound("healthy"));
    for (name, kind) in kinds.clone() {
        let path = format!("/repos/acme/{name}/branches/main/protection");
        host = host.repository(sound(name)).fault(Fault::on(path).kind(kind));
    }
    let lab = Lab::new(host).with(|config| config.source("timeout_seconds", "2"));
    let run = lab.collect(&[]).exits(3).says_not("<html").says_not("<!DOCTYPE");
    let bundle = run.bundle();
    let errors = bundle.errors();
    assert_eq!(errors.len(), kinds.len(), "{errors:#?}");
    for (name, _) in kinds {
        let subject = format!("acme/{name}");
        assert_eq!(bundle.check("CC7.2", &subject), ("not_verifiable".into(), "host_error".into()), "{name}");
        assert_eq!(bundle.check("CC6.6", &subject), ("pass".into(), "ok".into()), "{name}");
        let (code, _, message) = errors.iter().find(|(_, about, _)| *about == subject).unwrap();
        assert_eq!(code, "host_error");
        assert!(message.contains("(after 5 attempts)"), "{name}: {message}");
    }
    assert_eq!(bundle.check("CC7.2", "acme/healthy"), ("pass".into(), "ok".into()));
    assert_eq!(bundle.manifest()["complete"], false);
    assert_eq!(bundle.source()["failed"], 8);
}

/// The tool does not retry a successful answer with an undocumented shape, because the next answer would be the same.
#[test]
fn an_answer_of_another_shape() {
    for body in [
        json!({ "enforce_admins": { "enabled": "yes" } }),
        json!({ "required_pull_request_reviews": { "required_approving_review_count": -1 } }),
        json!({ "required_status_checks": { "contexts": "ci" } }),
        json!([1, 2, 3]),
        json!("text"),
    ] {
        let lab = protected(Protection::new().body(body.clone()));
        // With one control, the connection test's answer is the only one.
        let run = lab.collect(&[]).exits(3);
        assert_eq!(lab.requested().iter().filter(|path| path.ends_with("/protection")).count(), 1, "{body}");
        assert!(run.stderr.contains("not have the documented form"), "{body}: {}", run.stderr);
    }
}

/// The tool does not invent settings that the host leaves out.
#[test]
fn settings_that_the_host_leaves_out() {
    // A rule always contains its own address, so an empty object is not a rule without requirements.
    let lab = protected(Protection::new().body(json!({})));
    lab.collect(&[]).exits(3).says("not that of a branch protection");
    let lab = protected(Protection::new().body(json!({
        "url": "https://host.example/repos/acme/web/branches/main/protection",
        "required_pull_request_reviews": {},
        "required_status_checks": { "strict": false, "contexts": ["ci"] },
        "enforce_admins": null,
    })));
    let bundle = lab.collect(&[]).exits(0).bundle();
    assert_eq!(bundle.check("CC7.2", "acme/web").0, "not_verifiable");
}

#[test]
fn only_the_listed_fields_are_kept() {
    let actors = sandbox::codehost::Actors::new().user("olivia").team("core");
    let lab = protected(strong().dismiss_stale_reviews().code_owner_reviews().dismissal_restrictions(actors));
    let bundle = expect(&lab, &outcome("pass", "ok"));
    let artifact = bundle.artifact("repo_acme_web_branch_protection.json").unwrap();
    let keys =
        |value: &serde_json::Value| -> Vec<String> { value.as_object().unwrap().keys().cloned().collect() };
    let mut found = keys(&artifact);
    found.sort();
    assert_eq!(found, ["enforce_admins", "required_pull_request_reviews", "required_status_checks", "url"]);
    let mut reviews = keys(&artifact["required_pull_request_reviews"]);
    reviews.sort();
    assert_eq!(
        reviews,
        [
            "dismiss_stale_reviews",
            "dismissal_restrictions",
            "require_code_owner_reviews",
            "required_approving_review_count"
        ]
    );
    assert!(!artifact.to_string().contains("avatar"), "{artifact:#}");
}

/// The protection of another repository or branch is not evidence about this one, however good it is.
#[test]
fn the_answer_to_another_request() {
    for (what, is_about) in [
        ("/repos/acme/api/branches/main/protection", "acme/api/branches/main/protection"),
        ("/repos/acme/web/branches/dev/protection", "acme/web/branches/dev/protection"),
    ] {
        let fault =
            Fault::on("/repos/acme/web/branches/main/protection").kind(FaultKind::AnswerTo(what.into()));
        let weak =
            Repository::new("acme", "web").protection("main", Protection::new()).protection("dev", strong());
        let host = acme().repository(weak).repository(sound("api")).fault(fault);
        let lab =
            Lab::new(host).with(|config| config.controls("[CC6.1, CC7.2]").source("repos", "[acme/web]"));
        let failed = Expected { errors: &["host_error"], code: 3, ..outcome("not_verifiable", "host_error") };
        let bundle = expect(&lab, &failed);
        assert!(bundle.artifact("repo_acme_web_branch_protection.json").is_none());
        let text = format!("the answer is about {is_about} instead of acme/web/branches/main/protection");
        assert!(bundle.manifest().to_string().contains(&text));
    }
}

/// A renamed repository answers under its old name; a transferred one belongs to a different owner.
#[test]
fn transferred_repositories() {
    let host = acme()
        .organization(Organization::new("other"))
        .repository(sound("web").renamed_to("other/web").file("CODEOWNERS", File::text("* @other/all\n")));
    let lab = Lab::new(host).with(|config| config.controls("[CC7.2]").source("repos", "[acme/web]"));
    expect(&lab, &warned("not_verifiable", "not_found", &["repository_transferred", "not_found"]));
}
