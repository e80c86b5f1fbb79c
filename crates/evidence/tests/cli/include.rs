//! `include`: what it leaves out is in the population with the reason, and costs no request.

use serde_json::Value;

use crate::common::{Lab, acme, sound};

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
