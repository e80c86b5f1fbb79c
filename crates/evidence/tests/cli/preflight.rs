//! The permission part of the connection test, deliberate exclusions, and listings known to be incomplete.

use sandbox::codehost::{CodeHost, Endpoint, Fault, FaultKind, Organization, Role, Sso, Token};

use crate::common::{Lab, TOKEN, acme, sound};

/// A token without permission to read branch protection.
fn without_administration() -> CodeHost {
    let token = Token::fine_grained(TOKEN).resource_owner("acme");
    acme().token(token.permissions(["contents:read", "metadata:read"]))
}

fn named(host: CodeHost, names: &[&str]) -> CodeHost {
    names.iter().fold(host, |host, name| host.repository(sound(name)))
}

/// Asserts that the tool requests every path once: the collection does not repeat the connection test's requests.
#[track_caller]
fn asks_nothing_twice(lab: &Lab, requests: usize) {
    let mut paths = lab.requested();
    assert_eq!(paths.len(), requests, "{paths:#?}");
    paths.sort();
    paths.dedup();
    assert_eq!(paths.len(), requests, "{paths:#?}");
}

#[test]
fn a_missing_permission_is_known_before_the_run() {
    let lab = Lab::new(named(without_administration(), &["api", "web"]));
    let text = "cannot read acme/api: branch protection: Resource not accessible by personal access token; the host \
                reports a branch protection rule with 1 required status check: ci/build; the host asks for \
                administration=read";
    let dry = lab.collect(&["--dry-run"]).exits(3).says(text);
    let line = dry.stdout.lines().find(|line| line.contains("not readable")).unwrap();
    assert!(line.ends_with(text), "{}", dry.stdout);
    // The organization, the account, the listing, and of one repository protection, rules, the branch and CODEOWNERS.
    asks_nothing_twice(&lab, 7);

    let lab = Lab::new(named(without_administration(), &["api", "web"]));
    let run = lab.collect(&[]).exits(3).says(text);
    asks_nothing_twice(&lab, 11);
    let bundle = run.bundle();
    for name in ["acme/api", "acme/web"] {
        let denied = ("not_verifiable".to_string(), "permission_denied".to_string());
        assert_eq!(bundle.check("CC7.2", name), denied, "{name}");
        assert_eq!(bundle.check("CC6.6", name).0, "pass", "{name}");
    }
    assert!(bundle.warnings("acme").contains(&"permission_missing".to_string()));
}

#[test]
fn where_nothing_is_missing_nothing_is_said_and_nothing_is_asked_twice() {
    let lab = Lab::new(named(acme(), &["api", "web"]));
    lab.collect(&["--dry-run"]).exits(0).says_not("cannot read").says_not("not readable");
    asks_nothing_twice(&lab, 5);
    for (repos, requests) in [("\"*\"", 7), ("[acme/web, acme/api]", 8)] {
        let lab = Lab::new(named(acme(), &["api", "web"])).with(|config| config.source("repos", repos));
        let bundle = lab.collect(&[]).exits(0).bundle();
        asks_nothing_twice(&lab, requests);
        assert_eq!(bundle.source()["requests"], requests);
        assert_eq!(bundle.source()["collected"], 5);
    }
}

/// If the host does not name the missing permission, the message uses the rule's own description.
#[test]
fn the_rule_says_what_it_takes_where_the_host_does_not() {
    let lab = Lab::new(acme().repository(sound("web").admin(false)))
        .with(|config| config.source("repos", "[acme/web]"));
    let run = lab.collect(&["--dry-run"]).exits(3);
    let run = run.says("cannot read acme/web: branch protection: Not Found").says("`Administration: read`");
    run.says_not("CODEOWNERS: ");
}

/// An archived repository cannot lack anything, so the connection test reads a different one.
#[test]
fn an_archived_repository_is_not_the_one_that_is_asked() {
    let host = named(without_administration(), &["web"]).repository(sound("attic").archived(true));
    let lab = Lab::new(host);
    lab.collect(&["--dry-run"]).exits(3).says("cannot read acme/web");
    let lab = Lab::new(without_administration().repository(sound("attic").archived(true)));
    lab.collect(&["--dry-run"]).exits(0);
}

/// A repository that does not exist or cannot be read is missing from the collection in the same way.
#[test]
fn what_cannot_be_obtained_ends_as_a_collection_would() {
    let lab = Lab::new(acme()).with(|config| config.source("repos", "[acme/nowhere]"));
    let dry = lab.collect(&["--dry-run"]).exits(3);
    assert!(dry.stdout.contains("acme/nowhere: branch protection: Not Found"), "{}", dry.stdout);
    lab.collect(&[]).exits(3);

    let nothing = serde_json::json!({ "url": 12 });
    let fault = Fault::on("*/protection").kind(FaultKind::Json(200, Vec::new(), nothing));
    let lab = Lab::new(acme().repository(sound("web")).fault(fault));
    lab.collect(&["--dry-run"]).exits(3);
}

#[test]
fn a_setting_that_only_owners_see() {
    let token = Token::classic(TOKEN).role(Role::Member).scopes(["read:org"]).sees_private(true);
    let host = acme().token(token).repository(sound("web").admin(true));
    let lab = Lab::new(host);
    let dry = lab.collect(&["--dry-run"]).exits(3).says("two-factor setting is not visible");
    assert!(dry.stdout.contains("two_factor_requirement_enabled is null"), "{}", dry.stdout);
    let lab = lab.with(|config| config.controls("[CC7.2]"));
    lab.collect(&["--dry-run"]).exits(0);
}

/// A dry run reports a refusal of branch protection or of CODEOWNERS, but not one of the branch itself.
#[test]
fn one_endpoint_refused() {
    let refused = |endpoint| {
        let message = "Resource not accessible by personal access token";
        Lab::new(acme().repository(sound("web").refusal(endpoint, 403, message)))
    };
    refused(Endpoint::Protection)
        .collect(&["--dry-run"])
        .exits(3)
        .says("cannot read acme/web: branch protection");
    refused(Endpoint::Contents).collect(&["--dry-run"]).exits(3).says("cannot read acme/web: CODEOWNERS");
    refused(Endpoint::Branch).collect(&["--dry-run"]).exits(0);
}

fn zoo() -> CodeHost {
    let hidden = |name: &str| sound(name).admin(false);
    named(acme(), &["api", "web"])
        .repository(hidden("Archive-2019"))
        .repository(hidden("archive-2020"))
        .repository(hidden("aardvark"))
}

#[test]
fn what_is_excluded_is_not_asked_for_and_not_missing() {
    for repos in ["\"*\"", "[acme/api, acme/Archive-2019, acme/archive-2020, acme/web, acme/aardvark]"] {
        let lab = Lab::new(zoo()).with(|config| {
            config.source("repos", repos).source("exclude", "[ACME/archive-*, acme/AARDVARK]")
        });
        let dry = lab.collect(&["--dry-run"]).exits(0);
        assert!(dry.stdout.contains("2 branch protection, 2 CODEOWNERS"), "{}", dry.stdout);
        let run = lab.collect(&[]).exits(0).says(", 3 excluded");
        let bundle = run.bundle();
        assert_eq!(bundle.manifest()["complete"], true);
        assert_eq!(bundle.source()["in_scope"], 2);
        assert_eq!(bundle.control("CC7.2"), "pass");
        let members = bundle.json("derived/population.json")["members"].clone();
        let summary = |member: &serde_json::Value| {
            let name = member["name"].as_str().unwrap().to_string();
            (name, member["in_scope"].as_bool().unwrap(), member["reason"].as_str().map(str::to_string))
        };
        let mut members: Vec<_> = members.as_array().unwrap().iter().map(summary).collect();
        members.sort();
        let out = |name: &str| (name.to_string(), false, Some("excluded".to_string()));
        let expected = [
            out("acme/Archive-2019"),
            out("acme/aardvark"),
            ("acme/api".to_string(), true, None),
            out("acme/archive-2020"),
            ("acme/web".to_string(), true, None),
        ];
        assert_eq!(members, expected);
        let asked = lab.requested().iter().any(|path| path.contains("rchive") || path.contains("aardvark"));
        assert!(!asked, "{:?}", lab.requested());
        assert!(!bundle.warnings("acme").contains(&"exclude_matches_nothing".to_string()));
    }
}

#[test]
fn an_exclusion_that_matches_nothing_is_a_warning() {
    for repos in ["\"*\"", "[acme/web]"] {
        let lab = Lab::new(named(acme(), &["web"]))
            .with(|config| config.source("repos", repos).source("exclude", "[acme/wbe, acme/old-*]"));
        let run = lab.collect(&[]).exits(0);
        let run = run.says("the exclusion acme/wbe matches no repository").says("acme/old-*");
        let warnings = run.bundle().warnings("acme");
        let codes: Vec<&str> = warnings.iter().map(String::as_str).collect();
        let matching = codes.iter().filter(|code| **code == "exclude_matches_nothing").count();
        assert_eq!(matching, 2, "{codes:?}");
    }
}

#[test]
fn exclusions_that_cannot_be() {
    let lab = Lab::new(acme());
    for (exclude, says) in [
        ("[other/web]", "does not belong to the organization `acme`"),
        ("[\"*-old\"]", "lacks the organization"),
        ("[acme/a/*]", "more than one `/`"),
        ("[\"acme/we b*\"]", "not a valid name"),
        ("[acme/web, acme/WEB]", "listed twice"),
        ("acme/web", "exclude"),
    ] {
        let lab_config = lab.config().source("exclude", exclude);
        lab.write("evidence.yaml", lab_config.text());
        lab.collect(&[]).exits(1).says(says).leaves_nothing();
    }
    assert!(lab.requested().is_empty());
}

/// The organization counts a repository that the token cannot see: the population is unknown.
#[test]
fn a_listing_that_is_known_to_be_partial() {
    let token = |sees| Token::classic(TOKEN).scopes(["read:org"]).sees_private(sees);
    let host =
        |sees| acme().token(token(sees)).repository(sound("web")).repository(sound("vault").private(true));
    let sso = Organization::new("acme").two_factor(true).sso(Sso::PartialResults);
    let says = "1 of 2 repositories of acme; 1 is not visible to this token";
    for (case, host, remedy) in [
        ("unseen", host(false), "access to every"),
        ("single sign-on", host(true).organization(sso), "single sign-on"),
    ] {
        let lab = Lab::new(host);
        let dry = lab.collect(&["--dry-run"]).exits(3);
        let line = dry.stdout.lines().find(|line| line.contains("not listed")).unwrap();
        assert!(line.contains(says) && line.contains(remedy), "{case}: {}", dry.stdout);
        let bundle = lab.collect(&[]).exits(3).bundle();
        assert_eq!(bundle.manifest()["complete"], false);
        assert!(
            bundle.warnings("acme").contains(&"population_incomplete".to_string()),
            "{case}: {:?}",
            bundle.warnings("acme")
        );
        for control in ["CC6.6", "CC7.2"] {
            let check = bundle.check_record(control, "acme");
            assert_eq!(
                (&check["status"], &check["reason"]),
                (&"not_verifiable".into(), &"population_incomplete".into())
            );
            assert!(check["actual"].as_str().unwrap().contains(says), "{case}: {check}");
            assert_eq!(bundle.check(control, "acme/web").0, "pass", "{case}");
            assert_eq!(bundle.control(control), "not_verifiable", "{case}");
        }
        assert!(bundle.errors().is_empty(), "{case}");
    }
    // The population is known if the configuration defines it.
    let lab = Lab::new(host(false)).with(|config| config.source("repos", "[acme/web]"));
    lab.collect(&["--dry-run"]).exits(0);
    assert_eq!(lab.collect(&[]).exits(0).bundle().control("CC7.2"), "pass");
}
