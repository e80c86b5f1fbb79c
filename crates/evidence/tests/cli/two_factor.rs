//! CC6.1: the host's four possible answers about two-factor authentication, all with status 200.

use sandbox::codehost::{CodeHost, Fault, FaultKind, Organization, Role, Token};
use serde_json::{Value, json};

use crate::common::{Lab, TOKEN, acme};

/// Status and reason of the check, and the artifact.
fn outcome(host: CodeHost) -> (String, String, Value, Vec<String>) {
    let lab = Lab::new(host).with(|config| config.controls("[CC6.1]"));
    let run = lab.collect(&[]);
    let bundle = run.bundle();
    let hidden = bundle.check("CC6.1", "acme").1 == "two_factor_not_visible";
    let run = run.exits(if hidden { 3 } else { 0 });
    assert_eq!(bundle.json("manifest.json")["complete"], !hidden, "{}", run.stderr);
    // CC6.1 alone needs only the connection test's answers.
    assert_eq!(lab.requested(), ["/orgs/acme", "/user"]);
    let paths: Vec<&str> = bundle.paths().into_iter().filter(|path| path.starts_with("sources/")).collect();
    assert_eq!(paths, ["sources/codehost/org_settings.json"]);
    let (status, reason) = bundle.check("CC6.1", "acme");
    (status, reason, bundle.artifact("org_settings.json").unwrap(), bundle.warnings("acme"))
}

#[test]
fn required() {
    let (status, reason, artifact, warnings) = outcome(acme());
    assert_eq!((status.as_str(), reason.as_str()), ("pass", "ok"));
    assert_eq!(artifact["two_factor_requirement_enabled"], true);
    assert!(warnings.is_empty(), "{warnings:?}");
}

#[test]
fn not_required() {
    let (status, reason, artifact, _) = outcome(acme().organization(Organization::new("acme")));
    assert_eq!((status.as_str(), reason.as_str()), ("fail", "two_factor_disabled"));
    assert_eq!(artifact["two_factor_requirement_enabled"], false);
}

#[test]
fn null_stays_null() {
    let member = Token::classic(TOKEN).role(Role::Member).scopes(["read:org"]);
    let (status, reason, artifact, warnings) = outcome(acme().token(member));
    assert_eq!((status.as_str(), reason.as_str()), ("not_verifiable", "two_factor_not_visible"));
    assert_eq!(artifact.get("two_factor_requirement_enabled"), Some(&Value::Null));
    assert_eq!(warnings, ["two_factor_not_visible"]);
}

#[test]
fn absent_stays_absent() {
    let outsider = Token::classic(TOKEN).role(Role::Outsider).scopes(["read:org"]);
    let (status, reason, artifact, warnings) = outcome(acme().token(outsider));
    assert_eq!((status.as_str(), reason.as_str()), ("not_verifiable", "two_factor_not_visible"));
    assert_eq!(artifact.get("two_factor_requirement_enabled"), None, "{artifact:#}");
    assert_eq!(warnings, ["two_factor_not_visible"]);
}

#[test]
fn the_hint_says_who_may_see_it() {
    let member = Token::classic(TOKEN).role(Role::Member).scopes(["read:org"]);
    let lab = Lab::new(acme().token(member)).with(|config| config.controls("[CC6.1]"));
    let hints = lab.collect(&[]).exits(3).says("organization owner").bundle().json("derived/hints.json");
    assert!(hints.to_string().contains("organization owner"), "{hints:#}");
}

#[test]
fn the_artifact_has_the_listed_fields_only() {
    let (.., artifact, _) = outcome(acme());
    let keys: Vec<&String> = artifact.as_object().unwrap().keys().collect();
    let mut keys: Vec<&str> = keys.into_iter().map(String::as_str).collect();
    keys.sort_unstable();
    assert_eq!(
        keys,
        [
            "default_repository_permission",
            "id",
            "login",
            "members_can_create_public_repositories",
            "members_can_create_repositories",
            "two_factor_requirement_enabled"
        ]
    );
}

#[test]
fn another_type_is_no_answer() {
    let body = json!({ "login": "acme", "id": 7, "two_factor_requirement_enabled": "true" });
    let fault = Fault::on("/orgs/acme").kind(FaultKind::Json(200, Vec::new(), body));
    let lab = Lab::new(acme().fault(fault)).with(|config| config.controls("[CC6.1]"));
    lab.collect(&[]).exits(2).says("not have the documented form").leaves_nothing();
}

/// The four kinds of token identity in the connection line, `run.json` and the manifest.
#[test]
fn identities() {
    let table = [
        (Token::classic(TOKEN).scopes(["read:org"]), "classic token, scopes read:org", "read:org", false),
        (Token::classic(TOKEN), "classic token", "none", false),
        (
            Token::fine_grained(TOKEN).resource_owner("acme").permissions(["metadata:read"]),
            "not reported",
            "not reported",
            true,
        ),
        (Token::app(TOKEN).resource_owner("acme"), "not reported", "not reported", true),
    ];
    for (token, shown, recorded, warns) in table {
        let lab = Lab::new(acme().token(token)).with(|config| config.controls("[CC6.1]"));
        let run = lab.collect(&[]).says(shown);
        let bundle = run.bundle();
        assert_eq!(bundle.source()["identity"]["scopes"], recorded);
        let warned = bundle.warnings("acme").contains(&"scopes_not_reported".to_string());
        assert_eq!(warned, warns, "{recorded}");
    }
}
