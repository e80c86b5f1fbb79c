//! `evidence show`: every format, every filter, and no output from a bundle without a valid signature of a trusted key.

use std::fs;
use std::process::Command;

use sandbox::codehost::File;
use serde_json::Value;

use crate::common::{Lab, Run, acme, damage, repository, sound, strong};

/// A lab with one bundle at `b.tar.gz`.
fn bundled() -> Lab {
    let owners = format!("# {}\n* @acme/all\n", sandbox::DEMO_SECRET);
    let host = ["api", "data"].iter().fold(acme(), |host, name| host.repository(sound(name)));
    let host = host
        .repository(repository("bare"))
        .repository(repository("notes"))
        .repository(sound("old").archived(true))
        .repository(repository("leak").protection("main", strong()).file("CODEOWNERS", File::text(owners)));
    let lab = Lab::new(host);
    lab.collect(&["-q"]).exits(4);
    fs::rename(lab.path("evidence-bundles").join(&lab.output()[0]), lab.path("b.tar.gz")).unwrap();
    lab
}

fn show(lab: &Lab, arguments: &[&str]) -> Run {
    lab.run(&[&["show", "b.tar.gz"], arguments].concat())
}

#[test]
fn every_format() {
    let lab = bundled();
    for format in ["text", "json", "csv", "markdown"] {
        let run = show(&lab, &["-k", "key.pub.pem", "--format", format]).exits(0);
        assert!(run.stderr.is_empty(), "{}", run.stderr);
        insta::assert_snapshot!(format!("show_{format}"), run.shown());
    }
    insta::assert_snapshot!("show_all", show(&lab, &["-k", "key.pub.pem", "--all"]).shown());
    let run = show(&lab, &["-k", "key.pub.pem", "--format", "csv"]);
    assert!(
        run.stdout.lines().count() > 1 && run.stdout.matches("\r\n").count() == run.stdout.lines().count()
    );
}

#[test]
fn filters() {
    let lab = bundled();
    let found = |arguments: &[&str]| -> Vec<String> {
        let arguments = [&["-k", "key.pub.pem", "--format", "json"], arguments].concat();
        let report: Value = serde_json::from_str(&show(&lab, &arguments).exits(0).stdout).unwrap();
        let checks = report["checks"].as_array().unwrap().iter();
        checks.map(|check| format!("{} {}", check["control"], check["subject"]).replace('"', "")).collect()
    };
    let all = found(&[]);
    assert_eq!(all.len(), 1 + 2 * 6, "{all:?}");
    for (arguments, expected) in [
        (&["--control", "CC6.1"][..], &["CC6.1 acme"][..]),
        (&["--control", "cc6.1", "--status", "fail"], &[]),
        (&["--subject", "acme/BARE"], &["CC6.6 acme/bare", "CC7.2 acme/bare"]),
        (
            &["--subject", "*/bare", "--subject", "*/notes", "--control", "CC7.2"],
            &["CC7.2 acme/bare", "CC7.2 acme/notes"],
        ),
        (&["--status", "not_verifiable"], &["CC6.6 acme/leak"]),
        (
            &["--status", "not-verifiable", "--status", "not_applicable"],
            &["CC6.6 acme/leak", "CC6.6 acme/old", "CC7.2 acme/old"],
        ),
        (&["--rule", "branch-protection", "--status", "fail"], &["CC7.2 acme/bare", "CC7.2 acme/notes"]),
        (&["--criterion", "cc6.1"], &["CC6.1 acme"]),
        (&["--criterion", "CC8.1", "--subject", "acme/bare"], &["CC6.6 acme/bare", "CC7.2 acme/bare"]),
        (&["--criterion", "CC7.2", "--subject", "acme/bare"], &["CC7.2 acme/bare"]),
        (&["--criterion", "CC6.1", "--control", "CC7.2"], &[]),
    ] {
        assert_eq!(found(arguments), expected, "{arguments:?}");
    }
    assert_eq!(found(&["--source", "codehost"]), all);
    assert_eq!(found(&["--all"]), all);
    let run = show(&lab, &["-k", "key.pub.pem", "--subject", "none"]).exits(0);
    assert!(run.stdout.contains("No check matches.") && run.stderr.is_empty(), "{}", run.all());
    for format in ["json", "csv", "markdown"] {
        let arguments = ["-k", "key.pub.pem", "--format", format, "--subject"];
        let run = show(&lab, &[&arguments[..], &["none"]].concat()).exits(0);
        assert_eq!(run.stderr, "note: nothing matches the filters\n");
        assert!(show(&lab, &[&arguments[..], &["acme"]].concat()).exits(0).stderr.is_empty());
    }
    show(&lab, &["-k", "key.pub.pem", "--all", "--status", "fail"]).exits(1);
    show(&lab, &["-k", "key.pub.pem", "--status", "failed"]).exits(1);
}

/// A name that the bundle does not have is an error with the names that it has.
#[test]
fn an_unknown_name_is_an_error() {
    let lab = bundled();
    for (arguments, message, help) in [
        (
            ["--control", "CC8.1"],
            "--control `CC8.1`",
            "use one of: CC6.1, CC6.6, CC7.2; or `--criterion CC8.1`",
        ),
        (["--criterion", "CC9.9"], "--criterion `CC9.9`", "use one of: CC6.1, CC6.6, CC7.2, CC8.1"),
        (["--rule", "branch"], "--rule `branch`", "branch-protection"),
        // A rule of a source that was not asked.
        (["--rule", "audit-trail"], "--rule `audit-trail`", "branch-protection"),
        (["--source", "cloud"], "--source `cloud`", "use one of: codehost"),
        (["--source", "a\u{1b}[2J"], "--source `a\\u{1b}[2J`", "use one of: codehost"),
    ] {
        for command in [&["show"][..], &["sample", "--from", "checks", "--count", "1", "--seed", "s"]] {
            let run = lab.run(&[command, &["b.tar.gz", "-k", "key.pub.pem"], &arguments].concat()).exits(1);
            assert_eq!(run.stdout, "");
            run.says(message).says(help);
        }
    }
    let population =
        ["sample", "--from", "population", "--count", "1", "--seed", "s", "b.tar.gz", "-k", "key.pub.pem"];
    lab.run(&[&population[..], &["--source", "cloud"]].concat()).exits(1).says("use one of: codehost");
}

/// Text and Markdown list what did not pass; with `--all`, everything.
#[test]
fn what_passed_is_counted_unless_all_is_asked_for() {
    let lab = bundled();
    for format in ["text", "markdown"] {
        let run = |arguments: &[&str]| {
            show(&lab, &[&["-k", "key.pub.pem", "--format", format][..], arguments].concat()).exits(0)
        };
        let (short, whole) = (run(&[]), run(&["--all"]));
        assert!(!short.stdout.contains("acme/api") && whole.stdout.contains("acme/api"), "{}", short.stdout);
        assert!(short.stdout.contains("8 ") && short.stdout.contains("--all"), "{}", short.stdout);
        assert!(!whole.stdout.contains("--all"), "{}", whole.stdout);
        let passed = run(&["--status", "pass"]);
        assert!(passed.stdout.contains("acme/api") && !passed.stdout.contains("acme/bare"));
        let fine = run(&["--control", "CC6.1"]);
        assert!(fine.stdout.contains("1 ") && fine.stdout.contains("--all") && fine.stderr.is_empty());
    }
}

/// Severity, advice and page of each finding, the most severe first, and the one change that repairs many.
#[test]
fn findings_say_what_to_do() {
    let host = (0..3).fold(acme(), |host, n| host.repository(repository(&format!("bare-{n}"))));
    let lab = Lab::new(host);
    lab.collect(&["-q"]).exits(0);
    fs::rename(lab.path("evidence-bundles").join(&lab.output()[0]), lab.path("b.tar.gz")).unwrap();
    let run = show(&lab, &["-k", "key.pub.pem", "--format", "json"]).exits(0);
    let report: Value = serde_json::from_str(&run.stdout).unwrap();
    let text = |value: &Value| value.as_str().unwrap_or("none").to_string();
    let findings: Vec<_> = report["findings"].as_array().unwrap().iter().collect();
    let rows: Vec<_> = findings.iter().map(|row| [&row["severity"], &row["reason"]].map(text)).collect();
    assert_eq!(rows, [["high", "branch_unprotected"], ["medium", "codeowners_missing"]]);
    assert!(
        findings[0]["checks"] == 3
            && text(&findings[0]["remediation"]).starts_with("Add a branch protection")
    );
    assert!(text(&findings[0]["page"]).ends_with("/acme/bare-0/settings/branches"), "{}", findings[0]);
    let remedy = &report["remedies"][0];
    assert!(
        remedy["checks"] == 3 && text(&remedy["command"]).contains("POST /orgs/acme/rulesets"),
        "{remedy}"
    );
    let ruleset: Value = serde_json::from_str(remedy["input"].as_str().unwrap()).unwrap();
    assert_eq!(ruleset["enforcement"], "active");
    let check = |subject: &str, rule: &str| {
        let mut checks = report["checks"].as_array().unwrap().iter();
        checks.find(|check| check["subject"] == subject && check["rule"] == rule).unwrap().clone()
    };
    let failed = check("acme/bare-2", "branch-protection");
    assert!(
        failed["severity"] == "high" && text(&failed["page"]).ends_with("/acme/bare-2/settings/branches")
    );
    let passed = check("acme", "two-factor-required");
    assert!(passed["severity"].is_null() && passed["page"].is_null());
    for format in ["text", "markdown"] {
        let run = show(&lab, &["-k", "key.pub.pem", "--format", format]).exits(0);
        let place = |text: &str| run.stdout.find(text).unwrap_or_else(|| panic!("{text}: {}", run.stdout));
        assert!(place("Branch not protected") < place("No CODEOWNERS file"));
        assert!(place("/acme/bare-0/settings/branches") < place("gh api"));
    }
    let run = show(&lab, &["-k", "key.pub.pem", "--format", "csv"]).exits(0);
    let header = run.stdout.lines().next().unwrap();
    assert!(header.ends_with(",severity,remediation,page"), "{header}");
    assert_eq!(run.stdout.lines().filter(|line| line.contains(",high,\"Add a branch protection")).count(), 3);
}

/// The same trust and the same codes as `verify`, and no output from an untrusted bundle.
#[test]
fn nothing_is_shown_of_a_bundle_that_is_not_verified() {
    let lab = bundled();
    lab.run(&["keygen", "-o", "other.pem"]).exits(0);
    let cases = [
        (&[][..], 1, "INTACT, NOT AUTHENTICATED", "not_authenticated"),
        (&["-k", "other.pub.pem"], 7, "FAILED", "failed"),
        (&["-k", "key.pub.pem", "--expect-org", "other"], 7, "FAILED", "failed"),
    ];
    let check = |arguments: &[&str], code, text: &str, verdict: &str| {
        for format in ["text", "csv", "markdown"] {
            let arguments = [arguments, &["--format", format]].concat();
            let run = show(&lab, &arguments).exits(code).says(text).says_not("acme/bare");
            assert_eq!(run.stdout, "", "{format}");
        }
        let run = show(&lab, &[arguments, &["--format", "json"]].concat()).exits(code).says_not("acme/bare");
        let report: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["verdict"], verdict);
    };
    for (arguments, code, text, verdict) in cases {
        check(arguments, code, text, verdict);
    }
    damage(&lab, "b.tar.gz");
    check(&["-k", "key.pub.pem"], 7, "FAILED", "failed");
    fs::remove_file(lab.path("b.tar.gz")).unwrap();
    check(&["-k", "key.pub.pem"], 1, "cannot read the bundle", "not_judged");
    show(&lab, &["-k", "none.pem"]).exits(1).says("cannot read the key file");
}

#[test]
fn a_closed_pipe_is_no_error() {
    let lab = bundled();
    for format in ["text", "json", "csv", "markdown"] {
        let line = format!(
            "{{ {} show b.tar.gz -k key.pub.pem --format {format}; echo $? >code; }} | true; sleep 0.2; cat code",
            env!("CARGO_BIN_EXE_evidence")
        );
        let output = Command::new("sh").args(["-c", &line]).current_dir(lab.path("")).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "0", "{format}");
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    }
}

/// The final output of `collect` names the failures and the command that shows the rest.
#[test]
fn collect_names_what_failed() {
    let host = (0..7).fold(acme(), |host, n| host.repository(repository(&format!("bare-{n}"))));
    let lab = Lab::new(host);
    let run = lab.collect(&[]).exits(0);
    insta::assert_snapshot!("collect_failed_checks", run.shown());
    let line = run.stderr.lines().find_map(|line| line.split_once("all of it: evidence ")).unwrap().1;
    let command = format!("{} {line} --control CC7.2 --format csv", env!("CARGO_BIN_EXE_evidence"));
    let output = Command::new("sh").args(["-c", &command]).current_dir(lab.path("")).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1 + 7);
}
