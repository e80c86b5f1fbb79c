//! `evidence rejudge`: the signed facts of a bundle, judged by this version's rules under other numbers or another
//! framework.

use std::fs;

use evidence_bundle::path::{NORMALIZED, SCOPE};
use evidence_rules::framework::ALL;
use serde_json::{Value, json};

use crate::common::{Lab, Run, acme, damage, repository, sound};
use crate::judgement::Forged;
use crate::settings::{STRICTER, company};

fn rejudge(lab: &Lab, arguments: &[&str]) -> Run {
    lab.run(&[&["rejudge", "b.tar.gz", "-k", "key.pub.pem"], arguments].concat())
}

fn parsed(run: Run) -> Value {
    assert!(run.stderr.is_empty(), "{}", run.stderr);
    serde_json::from_str(&run.stdout).unwrap()
}

fn shown(lab: &Lab) -> Value {
    parsed(lab.run(&["show", "b.tar.gz", "-k", "key.pub.pem", "--format", "json"]).exits(0))
}

/// The only bundle, as `b.tar.gz`.
fn take(lab: &Lab) {
    fs::rename(lab.path("evidence-bundles").join(&lab.output()[0]), lab.path("b.tar.gz")).unwrap();
}

fn differences(report: &Value) -> &Vec<Value> {
    report["rejudged"]["differences"].as_array().unwrap()
}

/// The same rules and numbers give the signed results: every check with its text and its evidence, and every advice.
#[test]
fn the_signed_results_follow_again() {
    let company = company();
    company.lab.collect(&["-q"]);
    take(&company.lab);
    let mut again = parsed(rejudge(&company.lab, &["--json"]).exits(0));
    let judged = again.as_object_mut().unwrap().remove("rejudged").unwrap();
    assert_eq!(again, shown(&company.lab));
    let checks = again["checks"].as_array().unwrap().len();
    assert_eq!(judged["differences"], json!([]));
    assert_eq!(
        (&judged["signed"], &judged["context"], &judged["unchanged"]),
        (&json!(false), &json!([]), &json!(checks))
    );
    let text = rejudge(&company.lab, &[]).exits(0).stdout;
    assert!(text.contains("This result is not signed") && text.contains("No check differs"), "{text}");
}

/// A source without a connection, and artifacts that hold forbidden data.
#[test]
fn what_was_not_read_stays_unread() {
    let mut company = company();
    company.lab.set_env("CLOUD_ACCESS_KEY_ID", sandbox::DEMO_CLOUD_EXPIRED_ACCESS_KEY_ID);
    company.lab.set_env("CLOUD_SECRET_ACCESS_KEY", sandbox::DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY);
    company.lab.set_env("CLOUD_SESSION_TOKEN", sandbox::DEMO_CLOUD_EXPIRED_SESSION_TOKEN);
    company.lab.collect(&["-q"]).exits(2);
    take(&company.lab);
    let strict = format!("{}{STRICTER}", company.text("", ""));
    company.lab.write("strict.yaml", strict);
    for arguments in [&[][..], &["-c", "strict.yaml"]] {
        let mut again = parsed(rejudge(&company.lab, &[arguments, &["--json"]].concat()).exits(0));
        let judged = again.as_object_mut().unwrap().remove("rejudged").unwrap();
        let unread = |report: &Value| -> Vec<Value> {
            let checks = report["checks"].as_array().unwrap().iter();
            let unread = ["connection_failed", "excluded_by_policy", "permission_denied"];
            checks
                .filter(|check| unread.iter().any(|reason| check["reason"] == *reason))
                .map(|check| {
                    json!([
                        check["control"],
                        check["rule"],
                        check["subject"],
                        check["status"],
                        check["actual"],
                        check["evidence"]
                    ])
                })
                .collect()
        };
        let (is, was) = (unread(&again), unread(&shown(&company.lab)));
        assert!(is.len() > 3, "{is:?}");
        assert_eq!(is, was);
        let cloud =
            judged["differences"].as_array().unwrap().iter().filter(|check| check["source"] == "cloud");
        assert_eq!(cloud.count(), 0, "{judged}");
    }
}

/// The verdicts under stricter numbers are those of a run with these numbers, unless that run would have read more.
#[test]
fn other_numbers() {
    let company = company();
    let (lax, strict) = (company.text("", ""), format!("{}{STRICTER}", company.text("", "")));
    company.lab.write("strict.yaml", &strict);
    company.lab.collect(&["-q"]);
    take(&company.lab);
    let signed = shown(&company.lab);
    let again = parsed(rejudge(&company.lab, &["--config", "strict.yaml", "--json"]).exits(0));

    company.lab.write("evidence.yaml", &strict);
    company.lab.collect(&["-q"]);
    take(&company.lab);
    let real = shown(&company.lab);
    let of = |report: &Value| -> Vec<[Value; 8]> {
        let fields = ["control", "source", "rule", "subject", "status", "reason", "expected", "actual"];
        let checks = report["checks"].as_array().unwrap().iter();
        let mut rows: Vec<[Value; 8]> =
            checks.map(|check| fields.map(|field| check[field].clone())).collect();
        // Its text has the time of the run.
        rows.iter_mut().filter(|row| row[2] == "user-lifecycle-log").for_each(|row| row[7] = Value::Null);
        rows
    };
    let mut open = 0;
    for (one, expected) in of(&again).iter().zip(&of(&real)) {
        if one[5] == "no_evidence" && expected[5] != "no_evidence" {
            open += 1;
            assert_eq!((&one[2], &one[4]), (&json!("branch-protection"), &json!("not_verifiable")));
        } else {
            assert_eq!(one, expected);
        }
    }
    assert_eq!(of(&again).len(), of(&real).len());
    let judged = &again["rejudged"];
    let rules: std::collections::BTreeSet<_> =
        differences(&again).iter().map(|check| check["rule"].as_str().unwrap()).collect();
    assert!(rules.contains("password-policy") && rules.contains("log-retention"), "{rules:?}");
    let changed = |class: &str| judged["classes"][class].as_u64().unwrap();
    assert!(
        changed("regression") > 0 && changed("recovered") == 0 && changed("lost_sight") == open,
        "{judged}"
    );
    assert_eq!(judged["context"].as_array().unwrap().len(), 1);
    let is = judged["context"][0]["is"].as_str().unwrap();
    assert_eq!(judged["context"][0]["change"], "settings");
    for number in [
        "branch-protection.approvals 2",
        "log-retention.minimum_days 500",
        "password-policy.minimum_length 20",
    ] {
        assert!(is.contains(number), "{is}");
    }

    // And back: the bundle of the strict run under the defaults.
    company.lab.write("evidence.yaml", &lax);
    let again = parsed(rejudge(&company.lab, &["--config", "evidence.yaml", "--json"]).exits(0));
    assert_eq!(of(&again), of(&signed));
    assert!(again["rejudged"]["classes"]["recovered"].as_u64().unwrap() > 0);
}

#[test]
fn text_and_markdown() {
    let host = acme().repository(sound("api")).repository(repository("bare"));
    let lab = Lab::new(host);
    lab.collect(&["-q"]).exits(0);
    take(&lab);
    let stricter = "rules:\n  settings:\n    branch-protection:\n      approvals: 5\n";
    lab.write("stricter.yaml", lab.config().rest(stricter).text());
    for (name, arguments) in [("text", &[][..]), ("markdown", &["--format", "markdown"])] {
        let run = rejudge(&lab, &[&["-c", "stricter.yaml"], arguments].concat()).exits(0);
        assert!(run.stderr.is_empty(), "{}", run.stderr);
        insta::assert_snapshot!(format!("rejudge_{name}"), run.shown());
    }
    // The filters are those of `show`; the differences stay.
    let text = rejudge(&lab, &["-c", "stricter.yaml", "--control", "CC6.1", "--all"]).exits(0).stdout;
    assert!(text.contains("Lost sight: no longer verifiable") && text.contains("CC6.1  pass"), "{text}");
    assert!(!text.contains("No CODEOWNERS file"), "{text}");
    rejudge(&lab, &["--control", "CC9.9"]).exits(1).says("the bundle does not have it");
}

/// Rules of another version, which nobody can repeat here, beside what this version's rules say.
#[test]
fn an_older_bundle() {
    let lab = Lab::new(acme());
    let mut older = Forged::sample().by_version("0.0.9");
    older.edit(SCOPE, |scope| {
        for rule in scope["rules"].as_array_mut().unwrap() {
            if rule["code"] == "branch-protection" {
                rule["version"] = json!(7);
            }
        }
    });
    let mut changed = Vec::new();
    older.edit(NORMALIZED, |normalized| {
        for control in normalized["controls"].as_array_mut().unwrap() {
            for check in control["checks"].as_array_mut().unwrap() {
                if check["rule"] == "branch-protection" && check["status"] == "fail" {
                    (check["status"], check["reason"]) = (json!("pass"), json!("ok"));
                    changed.push(check["subject"].clone());
                }
            }
        }
    });
    assert!(!changed.is_empty());
    lab.write("b.tar.gz", older.agree().written());
    let again = parsed(rejudge(&lab, &["--json"]).exits(0));
    let subjects: Vec<Value> = differences(&again).iter().map(|check| check["subject"].clone()).collect();
    assert!(differences(&again).iter().all(|check| check["class"] == "regression"), "{again}");
    changed.sort_by_key(Value::to_string);
    assert_eq!(subjects, changed);
    let context = again["rejudged"]["context"].as_array().unwrap();
    let changes: Vec<_> = context.iter().map(|one| one["change"].as_str().unwrap()).collect();
    assert_eq!(changes, ["tool", "rules"]);
    assert_eq!(context[1]["was"], "codehost branch-protection version 7");
}

#[test]
fn frameworks() {
    let lab = Lab::new(acme().repository(sound("api"))).with(|config| config.controls("[CC6.1]"));
    lab.collect(&["-q"]).exits(0);
    take(&lab);
    for framework in ALL {
        let again = parsed(rejudge(&lab, &["--framework", framework.id, "--json"]).exits(0));
        assert_eq!(again["framework"], framework.id);
        for check in again["checks"].as_array().unwrap() {
            let rule = evidence_rules::rule_of(check["rule"].as_str().unwrap()).unwrap();
            assert_eq!(check["control"], framework.control_of(rule).unwrap().id);
        }
        if framework.id == "soc2_type1" {
            // Of its own framework, only the controls of the bundle.
            assert_eq!(again["controls"].as_array().unwrap().len(), 1);
            assert_eq!(again["rejudged"]["without_evidence"], json!([]));
        } else {
            assert_eq!(again["rejudged"]["context"][0]["change"], "framework");
            assert_ne!(again["rejudged"]["without_evidence"], json!([]));
        }
    }
    let run = rejudge(&lab, &["--framework", "iso_27001"]).exits(1).says("`iso_27001`").says("soc2_type1");
    assert!(run.stdout.is_empty());
}

#[test]
fn nothing_is_shown_of_a_bundle_that_is_not_verified() {
    let lab = Lab::new(acme().repository(sound("api")));
    lab.collect(&["-q"]).exits(0);
    take(&lab);
    let bad = lab.config().rest("rules:\n  settings:\n    branch-protection:\n      approvals: 0\n").text();
    lab.write("bad.yaml", bad);
    let run = rejudge(&lab, &["--config", "bad.yaml"]).exits(1).says("approvals");
    assert!(run.stdout.is_empty());
    rejudge(&lab, &["--config", "missing.yaml"]).exits(1).says("missing.yaml");
    let run = lab.run(&["rejudge", "b.tar.gz"]).exits(1);
    assert!(run.stdout.is_empty() && run.stderr.contains("evidence rejudge --public-key"), "{}", run.stderr);
    rejudge(&lab, &["--expect-org", "other"]).exits(7).says("wrong-org");
    rejudge(&lab, &["--json", "--format", "markdown"]).exits(1);
    damage(&lab, "b.tar.gz");
    let run = rejudge(&lab, &[]).exits(7).says("FAILED");
    assert!(run.stdout.is_empty());
    let run = rejudge(&lab, &["--json"]).exits(7);
    assert_eq!(serde_json::from_str::<Value>(&run.stdout).unwrap()["verdict"], "failed");
}
