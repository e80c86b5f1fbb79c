//! What each framework asks of the hosts and puts into a bundle.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::common::Bundle;
use super::reproducible::{archive, company, open};
use super::several_sources::{Company, checks};

/// The requests of a run, without those of its order.
fn requests(company: &Company) -> Vec<String> {
    let mut all: Vec<String> = company
        .lab
        .server
        .requests()
        .iter()
        .map(|request| format!("codehost {} {}", request.method, request.path_and_query))
        .chain(company.cloud.requests().iter().map(|request| {
            let region = request.region.as_deref().unwrap_or("-");
            format!("cloud {} {region}", request.action.as_deref().unwrap_or("-"))
        }))
        .chain(
            company
                .workspace
                .requests()
                .iter()
                .map(|request| format!("altcloud {} {}", request.method, request.path_and_query)),
        )
        .collect();
    all.sort();
    all
}

/// A text without what differs from run to run: the ports of the hosts, and digests over them.
fn stable(text: &str) -> String {
    let ports = regex::Regex::new(r"127\.0\.0\.1:[0-9]+").unwrap();
    let digests = regex::Regex::new(r"[0-9a-f]{64}").unwrap();
    digests.replace_all(&ports.replace_all(text, "HOST"), "DIGEST").into_owned()
}

/// The signed facts and judgements: each file with the digest of its stable text.
fn files(bundle: &Bundle) -> Vec<String> {
    let is_signed_fact = |path: &&str| {
        path.starts_with("sources/") || (path.starts_with("derived/") && path.ends_with(".json"))
    };
    let mut paths: Vec<&str> = bundle.paths().into_iter().filter(is_signed_fact).collect();
    paths.sort_unstable();
    // The demo's directory counts its ages from today, the qualifier of an event follows from its time, and a trail
    // delivers every day.
    let times = r#"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z|"uniqueQualifier": "-?[0-9]+|[0-9]{10}\.[0-9]+"#;
    let times = regex::Regex::new(times).unwrap();
    let line = |path: &str| {
        let mut text = stable(&String::from_utf8_lossy(bundle.file(path).unwrap()));
        if path.starts_with("sources/altcloud/") || path.starts_with("sources/cloud/trail_") {
            text = times.replace_all(&text, "TIME").into_owned();
        }
        format!("{} {path}", &hex::encode(Sha256::digest(text))[..16])
    };
    paths.into_iter().map(line).collect()
}

/// The first framework is what the specification demands: no rule, request or byte of evidence is added to it or changed
/// by rules that it does not have.
#[test]
fn the_first_framework_stays_what_it_is() {
    let company = company();
    let bundle = open(&archive(&company, &super::reproducible::PLAIN).unwrap());
    let scope = bundle.json("derived/scope.json");
    let rules = scope["rules"].as_array().unwrap().iter().map(|rule| {
        let text = |key: &str| rule[key].as_str().unwrap().to_string();
        format!("{} {} version {}", text("control"), text("code"), rule["version"])
    });
    let mut of_artifacts = BTreeMap::new();
    for artifact in bundle.json("manifest.json")["artifacts"].as_array().unwrap() {
        let text = artifact["artifact_type"].as_str().unwrap().to_string();
        of_artifacts.insert(text, artifact["controls"].to_string());
    }
    let kinds = of_artifacts.into_iter().map(|(kind, controls)| format!("{kind} {controls}"));
    let parts = [
        rules.collect::<Vec<_>>().join("\n"),
        kinds.collect::<Vec<_>>().join("\n"),
        files(&bundle).join("\n"),
        requests(&company).join("\n"),
    ];
    insta::assert_snapshot!("first_framework", parts.join("\n\n"));
}

/// A company whose configuration has this framework, these controls and these lines before the sources.
fn criteria(controls: &str, more: &str) -> Company {
    let company = Company::new();
    configure(&company, controls, more);
    company
}

pub(crate) fn configure(company: &Company, controls: &str, more: &str) {
    let text = company.text("", "").replace(
        "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\n",
        &format!("framework: tsc_2017\ncontrols: {controls}\n{more}"),
    );
    assert!(text.starts_with("framework: tsc_2017"));
    company.lab.write("evidence.yaml", text);
}

/// The codes of the rules that have checks.
fn judged(bundle: &Bundle) -> std::collections::BTreeSet<String> {
    checks(bundle).iter().map(|check| check.split(' ').nth(2).unwrap().to_string()).collect()
}

#[test]
fn every_control_of_the_criteria() {
    let company = criteria("\"*\"", "");
    super::leavers::with_map(&company, "altcloud,codehost\nmax.member@acme.example,olivia-owner\n");
    let run = company.lab.collect(&[]).exits(0);
    let bundle = run.bundle();
    let manifest = bundle.manifest();
    assert_eq!((&manifest["framework"], &manifest["complete"]), (&"tsc_2017".into(), &true.into()));
    // Each rule counts under its own criterion, and every check has one.
    let table = evidence_rules::framework::Framework::from_id("tsc_2017").unwrap();
    let all: Vec<_> = evidence_rules::rules().collect();
    assert_eq!(judged(&bundle), all.iter().map(|rule| rule.code.to_string()).collect());
    for check in checks(&bundle) {
        let (control, rule) = (check.split(' ').next().unwrap(), check.split(' ').nth(2).unwrap());
        let filed = table.control_of(evidence_rules::rule_of(rule).unwrap()).unwrap();
        assert_eq!(filed.id, control, "{check}");
    }
    // Criteria without a rule are named, and are nowhere passed.
    let scope = bundle.json("derived/scope.json");
    let without: Vec<&str> = scope["criteria_without_evidence"]
        .as_array()
        .unwrap()
        .iter()
        .map(|id| id.as_str().unwrap())
        .collect();
    assert_eq!(without, table.without_evidence(&all));
    let controls = bundle.json("derived/normalized.json");
    let shown: Vec<&str> = controls["controls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|control| control["id"].as_str().unwrap())
        .collect();
    assert!(shown.iter().all(|id| !without.contains(id)), "{shown:?}");
    for file in ["derived/report.html", "derived/README.txt", "derived/criteria.csv"] {
        let text = String::from_utf8(bundle.file(file).unwrap().to_vec()).unwrap();
        for id in ["CC1.1", "CC9.2", "P8.1"] {
            assert!(text.contains(id), "{file} {id}");
        }
    }
    let table = String::from_utf8(bundle.file("derived/criteria.csv").unwrap().to_vec()).unwrap();
    assert!(table.starts_with("criterion,automated_evidence,rules,organization,bundle_id\r\n"), "{table}");
    assert!(table.contains("\r\nCC1.1,no,,acme,") && table.contains("\r\nCC7.1,yes,"), "{table}");
    assert_eq!(table.lines().count(), 62);
    let path = bundle.path.to_string_lossy().into_owned();
    company.lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    // The checks of the rules that both frameworks have are the same.
    let first = Company::new().lab.collect(&[]).exits(0).bundle();
    let second = checks(&bundle);
    for check in checks(&first) {
        let (_, check) = check.split_once(' ').unwrap();
        assert!(second.iter().any(|other| other.ends_with(&format!(" {check}"))), "{check}");
    }
}

/// A criterion by name that has no rule is not verifiable, and says so.
#[test]
fn a_criterion_without_a_rule() {
    let company = criteria("[CC1.1, CC8.1]", "");
    company.lab.write("evidence.yaml", only_codehost(&company));
    let bundle = company.lab.collect(&[]).exits(3).bundle();
    assert_eq!(bundle.manifest()["complete"], false);
    assert_eq!(bundle.control("CC1.1"), "not_verifiable");
    assert!(
        bundle.errors().iter().any(|(code, ..)| code == "control_not_collected"),
        "{:?}",
        bundle.errors()
    );
}

/// The configuration without the other two sources, which serve none of its controls.
fn only_codehost(company: &Company) -> String {
    let text = String::from_utf8(std::fs::read(company.lab.path("evidence.yaml")).unwrap()).unwrap();
    let mut kept = String::new();
    let mut section = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) {
            section = if name.starts_with("cloud") || name.starts_with("altcloud") { "out" } else { "in" };
        } else if !line.starts_with(' ') {
            section = "in";
        }
        if section == "in" {
            kept.push_str(&format!("{line}\n"));
        }
    }
    kept
}

#[test]
fn rules_that_are_left_out() {
    let company = criteria("\"*\"", "rules:\n  exclude: [log-retention, branch-protection]\n");
    let bundle = company.lab.collect(&[]).exits(0).bundle();
    let judged = judged(&bundle);
    assert!(!judged.contains("log-retention") && !judged.contains("branch-protection"), "{judged:?}");
    let scope = bundle.json("derived/scope.json");
    assert_eq!(scope["rules_excluded"], serde_json::json!(["branch-protection", "log-retention"]));
    // They cost nothing.
    let asked = requests(&company).join("\n");
    assert!(!asked.contains("DescribeLogGroups"), "{asked}");
    let report = String::from_utf8(bundle.file("derived/report.html").unwrap().to_vec()).unwrap();
    assert!(report.contains("Rules left out") && report.contains("branch-protection, log-retention"));
    let path = bundle.path.to_string_lossy().into_owned();
    company.lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
    // Nor does judging again bring them back.
    let again = company.lab.run(&["rejudge", "-k", "key.pub.pem", "--json", &path]).exits(0);
    let again: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["rejudged"]["differences"], serde_json::json!([]));
    assert_eq!(again["rejudged"]["context"], serde_json::json!([]));
    let other = criteria("\"*\"", "").lab.collect(&[]).exits(0).bundle();
    assert_ne!(bundle.json("run.json")["config"]["sha256"], other.json("run.json")["config"]["sha256"]);
}

#[test]
fn what_a_configuration_may_not_choose() {
    let company = Company::new();
    for (first, text, says) in [
        ("soc2_type1", "rules:\n  exclude: [audit-trail]\n", "`soc2_type1` always applies all of its rules"),
        ("soc2_type1", "rules:\n  include: [audit-trail]\n", "`soc2_type1` always applies all of its rules"),
        ("tsc_2017", "rules:\n  exclude: [audit-trial]\n", "did you mean `audit-trail`?"),
        ("tsc_2017", "rules:\n  exclude: [audit-trail]\n  include: [audit-trail]\n", "is in `include`, too"),
        (
            "tsc_2017",
            "rules:\n  exclude: [two-step-verification, administrators, user-lifecycle-log, inactive-users, guests, \
             administrators-by-group, two-step-policy, two-step-strength, workspace-password-policy, session-length, \
             recovery-off]\n",
            "leaves out every rule of this source",
        ),
    ] {
        let file = company.text("", "").replace(
            "framework: soc2_type1\ncontrols: [CC6.1, CC6.6, CC7.2]\n",
            &format!("framework: {first}\ncontrols: \"*\"\n{text}"),
        );
        company.lab.write("evidence.yaml", file);
        company.lab.collect(&[]).exits(1).says(says);
    }
    // Each framework has its own controls.
    let file = company.text("", "").replace("controls: [CC6.1, CC6.6, CC7.2]", "controls: [CC6.1, CC6.3]");
    company.lab.write("evidence.yaml", file);
    company.lab.collect(&[]).exits(1).says("there is no control `CC6.3`").says("write `controls: [CC6.6]`");
    configure(&company, "[CC6.1, CC0.1]", "");
    company.lab.collect(&[]).exits(1).says("there is no control `CC0.1`");
}

#[test]
fn a_new_configuration() {
    let company = Company::new();
    let lab = &company.lab;
    lab.run(&[
        "init",
        "--org",
        "acme",
        "--framework",
        "tsc_2017",
        "-c",
        "new.yaml",
        "--key",
        "new.pem",
        "--generate-keys",
    ])
    .exits(0);
    let text = std::fs::read_to_string(lab.path("new.yaml")).unwrap();
    assert!(text.contains("\nframework: tsc_2017\n") && text.contains("\ncontrols: \"*\"\n"), "{text}");
    lab.run(&["init", "--org", "acme", "--framework", "made_up", "-c", "other.yaml"])
        .exits(1)
        .says("tsc_2017");
}
