//! `include`: what it leaves out is in the population with the reason, and costs no request.

use serde_json::Value;

use crate::common::{Lab, acme, sound, strong};

#[test]
fn what_is_not_included_has_its_reason_and_is_not_asked_about() {
    let host = acme()
        .repository(sound("service-a").topics(["production", "rust"]))
        .repository(sound("service-b").topics(["sandbox"]))
        .repository(sound("service-c").topics(["production"]).archived(true))
        .repository(sound("service-d").topics(["production"]).fork(true))
        .repository(sound("service-e").topics(["production"]))
        .repository(sound("web").topics(["production"]));
    let include = "{repositories: [acme/Service-*], archived: false, forks: false, topics: [Production]}";
    let lab = Lab::new(host).with(|config| {
        config
            .source("include", include)
            .source("exclude", "[{repository: acme/service-e, reason: gone, approved_by: r}]")
    });
    let plan = lab.collect(&["--dry-run"]).exits(0);
    assert!(plan.stdout.contains("branch protection"), "{}", plan.all());
    lab.server.clear_log();
    let run = lab.collect(&[]).exits(0);
    let bundle = run.bundle();
    let population = bundle.json("derived/population.json");
    let members = population["members"].as_array().unwrap();
    let reason = |name: &str| {
        let member = members.iter().find(|member| member["name"] == name).unwrap();
        member.get("reason").and_then(Value::as_str).map(str::to_string)
    };
    for (name, expected) in [
        ("acme/service-a", None),
        ("acme/service-b", Some("not_included_topic")),
        ("acme/service-c", Some("not_included_archived")),
        ("acme/service-d", Some("not_included_fork")),
        ("acme/service-e", Some("excluded")),
        ("acme/web", Some("not_included_repository")),
    ] {
        assert_eq!(reason(name).as_deref(), expected, "{name}");
    }
    assert_eq!(population["sources"][0]["scope"], "chosen");
    let of_others =
        lab.requested().into_iter().filter(|path| path.starts_with("/repos/") && !path.contains("service-a"));
    assert_eq!(of_others.count(), 0);
    let scope = bundle.json("derived/scope.json");
    assert!(scope.to_string().contains("acme/Service-*"), "the criteria are signed");
}

/// Criteria that leave nothing out are a choice too.
#[test]
fn the_scope_is_chosen_whatever_is_left_out() {
    let lab = Lab::new(acme().repository(sound("web")))
        .with(|config| config.source("include", "{archived: false}"));
    let bundle = lab.collect(&[]).exits(0).bundle();
    assert_eq!(bundle.json("derived/population.json")["sources"][0]["scope"], "chosen");
}

/// A property without one of the values leaves a repository out.
#[test]
fn properties_choose() {
    let host = acme()
        .repository(sound("api").property("tier", r#""Critical""#))
        .repository(sound("batch").property("tier", r#""low""#))
        .repository(sound("docs").property("tier", "null"))
        .repository(sound("web").property("tier", r#"["low","high"]"#))
        .repository(sound("plain"));
    let lab =
        Lab::new(host).with(|config| config.source("include", "{properties: {Tier: [critical, high]}}"));
    let bundle = lab.collect(&[]).exits(0).bundle();
    let population = bundle.json("derived/population.json");
    let out: Vec<&str> = population["members"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|member| member.get("reason").is_some())
        .map(|member| {
            assert_eq!(member["reason"], "not_included_property");
            member["name"].as_str().unwrap()
        })
        .collect();
    assert_eq!(out, ["acme/batch", "acme/docs", "acme/plain"]);
    assert!(bundle.json("derived/scope.json").to_string().contains(r#"{"tier":["critical","high"]}"#));
}

/// A branch for each pattern: the longest counts, the scope has them, and a verifier judges the same branch.
#[test]
fn a_branch_for_each_pattern() {
    let host = acme()
        .repository(sound("web"))
        .repository(sound("service-a").default_branch("release").protection("release", strong()))
        .repository(sound("service-b").default_branch("main").protection("trunk", strong()));
    let branch = "{acme/service-*: release, acme/Service-B: trunk, \"*\": ~DEFAULT_BRANCH}";
    let lab = Lab::new(host).with(|config| config.source("branch", branch));
    let run = lab.collect(&[]).exits(0);
    for (name, branch) in [("web", "main"), ("service-a", "release"), ("service-b", "trunk")] {
        let asked = format!("/repos/acme/{name}/branches/{branch}/protection");
        assert!(lab.requested().contains(&asked), "{asked} of {:?}", lab.requested());
    }
    let bundle = run.bundle();
    let scope = bundle.json("derived/scope.json").to_string();
    let signed = r#""branch":{"*":"~DEFAULT_BRANCH","acme/Service-B":"trunk","acme/service-*":"release"}"#;
    assert!(scope.contains(signed), "{scope}");
    let path = bundle.path.to_string_lossy().into_owned();
    lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
}

/// What is wrong with such a mapping is said with its place.
#[test]
fn mappings_are_checked() {
    for (key, value, says) in [
        ("branch", "{acme/web: main}", "add `\"*\": ~DEFAULT_BRANCH`, or another branch"),
        (
            "branch",
            "{other/web: main, \"*\": main}",
            "`other/web` does not belong to the organization `acme`",
        ),
        ("branch", "{acme/web: \"a b\", \"*\": main}", "is not a valid branch name"),
        ("branch", "{acme/web: main, ACME/web: main, \"*\": main}", "`ACME/web` appears twice"),
        ("branch", "{}", "`branch` is an empty mapping"),
        ("branch", "{web: main, \"*\": main}", "`web` lacks the organization"),
        ("include", "{properties: [tier]}", "expected a mapping of names to lists"),
        ("include", "{properties: {tier: high}}", "expected a list"),
        ("include", "{properties: {tier: []}}", "is an empty list"),
        ("include", "{properties: {\"a b\": [x]}}", "is not the name of a custom property"),
    ] {
        let lab = Lab::new(acme().repository(sound("web"))).with(|config| config.source(key, value));
        let run = lab.collect(&[]).exits(1);
        assert!(run.all().contains(says), "{value}: {}", run.all());
        assert!(run.all().contains("evidence.yaml:"), "{}", run.all());
    }
}
