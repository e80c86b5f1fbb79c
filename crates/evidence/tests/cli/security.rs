//! Rules of the second framework over what the code host shows with the organization and the list of repositories.

use sandbox::codehost::{CodeHost, Endpoint, Organization, Role, Token};
use serde_json::Value;

use super::common::{Bundle, Lab, TOKEN, acme, repository};

fn lab(host: CodeHost, controls: &str) -> Lab {
    let rest = "rules:\n  exclude: [owners-count, members-two-factor, vulnerabilities-in-time]\n";
    Lab::new(host).with(|config| config.framework("tsc_2017").controls(controls).rest(rest))
}

/// Rule, subject, status and reason of every check.
pub(crate) fn checks(bundle: &Bundle) -> Vec<String> {
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

/// 204 and the host's own sentence are answers (laravel/moat#33 reads the sentence as a missing permission, and calls that
/// hardened); "Not Found" is none (SigComply takes every error for "disabled").
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

/// The age of open alerts counts to the run's start; where none are reported or shown, no open alert proves nothing
/// (SigComply takes 403 for "no findings", Comp AI skips it).
#[test]
fn vulnerabilities_in_time() {
    let only = "rules:\n  exclude: [vulnerability-alerts, secret-scanning, push-protection]\n";
    let on = |name: &str| repository(name).vulnerability_alerts(true);
    let host = || {
        acme()
            .repository(on("clean"))
            .repository(on("fresh").open_alert(1, "critical", 29).open_alert(2, "high", 59))
            .repository(on("critical").open_alert(1, "critical", 31).open_alert(2, "high", 1))
            .repository(on("high").open_alert(1, "high", 61))
            .repository(on("medium").open_alert(1, "medium", 400))
            .repository(repository("off").open_alert(1, "critical", 400))
            .repository(on("old").archived(true).open_alert(1, "critical", 400))
            .repository(on("hidden").refusal(Endpoint::VulnerabilityAlerts, 404, "Not Found"))
    };
    let lab_of = |host: CodeHost, more: &str| {
        Lab::new(host)
            .with(|config| config.framework("tsc_2017").controls("[CC7.1]").rest(&format!("{only}{more}")))
    };
    let lab = lab_of(host(), "");
    let bundle = lab.collect(&[]).exits(3).bundle();
    let line = |name: &str, expected: &str| format!("vulnerabilities-in-time acme/{name} {expected}");
    let expected = [
        ("clean", "pass ok"),
        ("critical", "fail vulnerability_overdue"),
        ("fresh", "pass ok"),
        ("hidden", "not_verifiable permission_denied"),
        ("high", "fail vulnerability_overdue"),
        ("medium", "pass ok"),
        ("off", "not_verifiable vulnerability_alerts_off"),
        ("old", "not_applicable archived"),
    ];
    assert_eq!(checks(&bundle), expected.map(|(name, expected)| line(name, expected)));
    let alerts = bundle.artifact("open_alerts.json").unwrap();
    assert_eq!(alerts["alerts"].as_array().unwrap().len(), 6);
    for (path, content) in &bundle.entries {
        assert!(!String::from_utf8_lossy(content).contains("MARKER"), "{path}");
    }
    let path = bundle.path.to_string_lossy().into_owned();
    lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    let lists = lab
        .requested()
        .into_iter()
        .filter(|path| path.starts_with("/orgs/acme/dependabot/"))
        .collect::<Vec<_>>();
    assert_eq!(
        lists,
        [
            "/orgs/acme/dependabot/alerts?state=open&severity=critical%2Chigh&sort=created&direction=asc&per_page=100"
        ]
    );
    let stricter =
        lab_of(host(), "  settings:\n    vulnerabilities-in-time: {critical_days: 7, high_days: 14}\n");
    let bundle = stricter.collect(&[]).exits(3).bundle();
    assert!(checks(&bundle).contains(&line("fresh", "fail vulnerability_overdue")), "{:?}", checks(&bundle));
    // More than a page, by the mark of the next.
    let many = (1..=250).fold(on("many"), |repository, number| repository.open_alert(number, "high", 10));
    let lab = lab_of(acme().repository(many), "");
    let bundle = lab.collect(&[]).exits(0).bundle();
    assert_eq!(checks(&bundle), [line("many", "pass ok")]);
    assert_eq!(bundle.artifact("open_alerts.json").unwrap()["alerts"].as_array().unwrap().len(), 250);
    // Who may not see them.
    for token in [
        Token::classic(TOKEN).role(Role::Member).scopes(["read:org"]).repository_admin(true),
        Token::fine_grained(TOKEN)
            .resource_owner("acme")
            .permissions(["administration:read", "metadata:read"]),
    ] {
        let lab = lab_of(acme().token(token).repository(on("clean")), "");
        let bundle = lab.collect(&[]).exits(3).bundle();
        assert_eq!(
            checks(&bundle),
            [
                "vulnerabilities-in-time acme not_verifiable permission_denied".to_string(),
                line("clean", "not_verifiable open_alerts_not_visible"),
            ]
        );
        let path = bundle.path.to_string_lossy().into_owned();
        lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    }
}
