//! Rules of the second framework over what the code host shows with the organization and the list of repositories.

use sandbox::codehost::{CodeHost, Endpoint, Organization, Role, Token};
use serde_json::Value;

use super::common::{Bundle, Lab, TOKEN, acme, repository};

fn lab(host: CodeHost, controls: &str) -> Lab {
    Lab::new(host).with(|config| config.framework("tsc_2017").controls(controls))
}

/// Rule, subject, status and reason of every check.
fn checks(bundle: &Bundle) -> Vec<String> {
    let normalized = bundle.json("derived/normalized.json");
    let controls = normalized["controls"].as_array().unwrap();
    let checks = controls.iter().flat_map(|control| control["checks"].as_array().unwrap());
    let line = |check: &Value| {
        ["rule", "subject", "status", "reason"].map(|key| check[key].as_str().unwrap().to_string()).join(" ")
    };
    checks.map(line).collect()
}

fn hosted(permission: &str) -> CodeHost {
    let organization = Organization::new("acme").two_factor(true).default_repository_permission(permission);
    acme().organization(organization)
}

/// Two rules judge one artifact under different criteria: only the one that is asked for has a check, and the artifact is
/// filed under its criterion alone.
#[test]
fn only_the_rules_that_are_asked_for_have_checks() {
    for (controls, expected) in [
        ("[CC6.3]", vec!["default-permission acme pass ok"]),
        ("[CC6.1, CC6.3]", vec!["two-factor-required acme pass ok", "default-permission acme pass ok"]),
    ] {
        let lab = lab(hosted("read"), controls);
        let bundle = lab.collect(&[]).exits(0).bundle();
        assert_eq!(checks(&bundle), expected);
        let manifest = bundle.manifest();
        let artifacts = manifest["artifacts"].as_array().unwrap();
        let controls: Vec<&str> =
            artifacts[0]["controls"].as_array().unwrap().iter().map(|id| id.as_str().unwrap()).collect();
        assert_eq!(controls.len(), expected.len(), "{artifacts:?}");
        let path = bundle.path.to_string_lossy().into_owned();
        lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    }
}

#[test]
fn the_base_permission_of_members() {
    for (permission, expected) in [
        ("none", "pass ok"),
        ("read", "pass ok"),
        ("write", "fail default_permission_writes"),
        ("admin", "fail default_permission_writes"),
    ] {
        let lab = lab(hosted(permission), "[CC6.3]");
        let bundle = lab.collect(&[]).exits(0).bundle();
        assert_eq!(checks(&bundle), [format!("default-permission acme {expected}")]);
        assert_eq!(lab.requested(), ["/orgs/acme", "/user"], "it costs nothing");
        let hints = bundle.json("derived/hints.json");
        assert_eq!(hints["hints"].as_array().unwrap().len(), usize::from(expected.starts_with("fail")));
    }
    // Who is no owner does not see it, and the bundle is not complete.
    let member = Token::classic(TOKEN).role(Role::Outsider).scopes(["read:org"]);
    let lab = lab(hosted("write").token(member), "[CC6.3]");
    let bundle = lab.collect(&[]).exits(3).bundle();
    assert_eq!(
        checks(&bundle),
        ["default-permission acme not_verifiable default_repository_permission_not_visible"]
    );
    assert_eq!(bundle.manifest()["complete"], false);
}

/// A missing key is not "disabled" (prowler#12729, pvtr-github-repo-scanner#354).
#[test]
fn secret_scanning_and_push_protection() {
    let on = Some("enabled");
    let host = acme()
        .repository(repository("both").secret_scanning(on, on))
        .repository(repository("half").secret_scanning(on, Some("disabled")))
        .repository(repository("odd").secret_scanning(Some("paused"), on))
        .repository(repository("old").archived(true))
        .repository(repository("unnamed").secret_scanning(None, None));
    let lab = lab(host, "[CC6.1]");
    let bundle = lab.collect(&[]).exits(3).bundle();
    let found = checks(&bundle);
    let is = |rule: &str, name: &str, expected: &str| {
        let line = format!("{rule} acme/{name} {expected}");
        assert!(found.contains(&line), "{line}: {found:#?}");
    };
    for (name, scanning, push) in [
        ("both", "pass ok", "pass ok"),
        ("half", "pass ok", "fail push_protection_off"),
        ("odd", "not_verifiable secret_scanning_not_visible", "pass ok"),
        ("old", "not_applicable archived", "not_applicable archived"),
        (
            "unnamed",
            "not_verifiable secret_scanning_not_visible",
            "not_verifiable secret_scanning_push_protection_not_visible",
        ),
    ] {
        is("secret-scanning", name, scanning);
        is("push-protection", name, push);
    }
    // They cost no request: the list of repositories shows them.
    let requested = lab.requested();
    assert!(requested.iter().all(|path| !path.starts_with("/repos/")), "{requested:?}");
    // A word that the host does not document is not kept.
    assert!(bundle.artifact("repo_acme_odd_security.json").unwrap().to_string().contains("null"));
    let path = bundle.path.to_string_lossy().into_owned();
    lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    // The dry run counts no request for them either.
    let before = lab.server.request_count();
    let dry = lab.collect(&["--dry-run"]);
    assert!(dry.all().contains("5 security settings"), "{:?}: {}", dry.code, dry.all());
    assert!(lab.server.request_count() - before < 6);
}

/// A repository that the configuration names is asked for by its name, which shows the same.
#[test]
fn a_repository_by_name() {
    let host = acme().repository(repository("web").secret_scanning(Some("enabled"), Some("enabled")));
    let lab = Lab::new(host)
        .with(|config| config.framework("tsc_2017").controls("[CC6.1]").source("repos", "[acme/web]"));
    let bundle = lab.collect(&[]).exits(0).bundle();
    assert!(
        checks(&bundle).contains(&"secret-scanning acme/web pass ok".to_string()),
        "{:?}",
        checks(&bundle)
    );
}

/// Who does not administer a repository does not see its settings.
#[test]
fn who_is_no_administrator() {
    let member = Token::classic(TOKEN).role(Role::Member).scopes(["read:org"]).sees_private(true);
    let lab = lab(acme().token(member).repository(repository("web")), "[CC6.1]");
    let bundle = lab.collect(&[]).exits(3).bundle();
    let line = "secret-scanning acme/web not_verifiable secret_scanning_not_visible";
    assert!(checks(&bundle).contains(&line.to_string()), "{:?}", checks(&bundle));
}

/// 204 and the host's own sentence are answers; "Not Found" is none (SigComply takes every error for "disabled").
#[test]
fn vulnerability_alerts() {
    let host = acme()
        .repository(repository("on").vulnerability_alerts(true))
        .repository(repository("off"))
        .repository(repository("old").archived(true))
        .repository(repository("hidden").refusal(Endpoint::VulnerabilityAlerts, 404, "Not Found"))
        .repository(repository("refused").refusal(
            Endpoint::VulnerabilityAlerts,
            403,
            "Resource not accessible by personal access token",
        ));
    let lab = lab(host, "[CC7.1]");
    let run = lab.collect(&[]).exits(3);
    let bundle = run.bundle();
    assert_eq!(
        checks(&bundle),
        [
            "vulnerability-alerts acme/hidden not_verifiable permission_denied",
            "vulnerability-alerts acme/off fail vulnerability_alerts_off",
            "vulnerability-alerts acme/old not_applicable archived",
            "vulnerability-alerts acme/on pass ok",
            "vulnerability-alerts acme/refused not_verifiable permission_denied",
        ]
    );
    // One request for each repository that can change, and none for the others.
    let asked = lab.requested();
    let of_alerts = asked.iter().filter(|path| path.ends_with("/vulnerability-alerts")).count();
    assert_eq!(
        (of_alerts, asked.iter().filter(|path| path.starts_with("/repos/")).count()),
        (4, 4),
        "{asked:?}"
    );
    let record = bundle.artifact("repo_acme_on_security.json").unwrap();
    assert_eq!(record["vulnerability_alerts"], true);
    let path = bundle.path.to_string_lossy().into_owned();
    lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
}
