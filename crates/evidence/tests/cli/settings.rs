//! Numbers of rules that an organization makes stricter: configured, signed and judged again.

use serde_json::{Value, json};

use crate::common::Bundle;
use crate::several_sources::Company;

/// Stricter numbers for every rule that has one.
pub(crate) const STRICTER: &str = "rules:\n  settings:\n    password-policy:\n      minimum_length: 20\n    log-retention:\n      \
                        minimum_days: 500\n    branch-protection:\n      approvals: 2\n";

pub(crate) fn company() -> Company {
    let mut company =
        Company::with_host(sandbox::demo_organization(), sandbox::demo_account(), sandbox::demo_workspace());
    company.lab.set_env("CODEHOST_TOKEN", sandbox::DEMO_TOKEN);
    company
}

fn rule(bundle: &Bundle, code: &str) -> Value {
    let scope = bundle.json("derived/scope.json");
    scope["rules"].as_array().unwrap().iter().find(|rule| rule["code"] == code).unwrap().clone()
}

#[test]
fn stricter_numbers_are_judged_by_and_signed() {
    let company = company();
    let plain = company.lab.collect(&["-q"]).bundle();
    let scope = plain.json("derived/scope.json");
    // Only the sources have settings there.
    assert!(scope["rules"].as_array().unwrap().iter().all(|rule| rule.get("settings").is_none()));
    std::fs::remove_file(&plain.path).unwrap();

    company.lab.write("evidence.yaml", format!("{}{STRICTER}", company.text("", "")));
    let run = company.lab.collect(&[]);
    let strict = run.bundle();
    for (code, settings, expected, reason, remedy) in [
        (
            "password-policy",
            json!({"minimum_length": 20}),
            "at least 20 characters",
            "password_too_short",
            "password policy to at least 20.",
        ),
        (
            "log-retention",
            json!({"minimum_days": 500}),
            "for at least 500 days, or forever",
            "log_retention_too_short",
            "to at least 500 days; or",
        ),
        (
            "branch-protection",
            json!({"approvals": 2}),
            "at least 2 approving reviews, ",
            "reviews_not_required",
            "at least 2 approvals.",
        ),
    ] {
        let record = rule(&strict, code);
        assert_eq!(record["settings"], settings, "{code}");
        assert!(record["expected"].as_str().unwrap().contains(expected), "{record}");
        let hints = strict.json("derived/hints.json");
        let hint = hints["hints"].as_array().unwrap().iter().find(|hint| hint["reason"] == reason);
        let hint = hint.unwrap_or_else(|| panic!("{reason}: {hints}"));
        assert!(hint["remediation"].as_str().unwrap().contains(remedy), "{hint}");
        // People who read the bundle get the advice with these numbers.
        let path = strict.path.to_string_lossy().into_owned();
        let shown = company.lab.run(&["show", &path, "-k", "key.pub.pem", "--format", "json"]).exits(0);
        let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
        let findings = shown["findings"].as_array().unwrap();
        let finding = findings.iter().find(|finding| finding["reason"] == reason).unwrap();
        assert_eq!(finding["remediation"], hint["remediation"]);
        let verified = company
            .lab
            .run(&["verify", &path, "-k", "key.pub.pem", "--require-judgement", "--json"])
            .exits(0);
        let verified: Value = serde_json::from_str(&verified.stdout).unwrap();
        assert_eq!(verified["judgement"]["checks"], verified["judgement"]["repeated"]);
    }
    assert_ne!(rule(&plain, "password-policy")["expected"], rule(&strict, "password-policy")["expected"]);
}

/// The default, written into the file, changes nothing.
#[test]
fn the_default_is_not_signed() {
    let company = company();
    let defaults = STRICTER.replace("20", "8").replace("500", "90").replace("approvals: 2", "approvals: 1");
    company.lab.write("evidence.yaml", format!("{}{defaults}", company.text("", "")));
    let bundle = company.lab.collect(&["-q"]).bundle();
    assert_eq!(rule(&bundle, "log-retention").get("settings"), None);
}

#[test]
fn no_number_is_below_the_specification() {
    let company = company();
    for (line, number, minimum) in [
        ("minimum_length: 20", "minimum_length: 7", "8 to 128"),
        ("minimum_days: 500", "minimum_days: 89", "90 to 3653"),
        ("approvals: 2", "approvals: 0", "1 to 10"),
    ] {
        let text = format!("{}{}", company.text("", ""), STRICTER.replace(line, number));
        let place = text.lines().position(|written| written.trim() == number).unwrap() + 1;
        company.lab.write("evidence.yaml", text);
        let run = company.lab.run(&["collect"]).exits(1);
        let (key, value) = number.split_once(": ").unwrap();
        for part in
            [format!("evidence.yaml:{place}"), format!(".{key}"), minimum.to_string(), value.to_string()]
        {
            assert!(run.stderr.contains(&part), "{part}: {}", run.stderr);
        }
    }
    company.lab.write(
        "evidence.yaml",
        format!("{}{}", company.text("", ""), STRICTER.replace("approvals", "reviews")),
    );
    company.lab.run(&["collect"]).exits(1).says("approvals");
}
