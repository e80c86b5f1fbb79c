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
        (&["--source", "cloud"], &[]),
    ] {
        assert_eq!(found(arguments), expected, "{arguments:?}");
    }
    assert_eq!(found(&["--source", "codehost"]), all);
    let run = show(&lab, &["-k", "key.pub.pem", "--source", "cloud"]).exits(0);
    assert!(run.stdout.contains("No check matches.") && run.stderr.is_empty(), "{}", run.all());
    for format in ["json", "csv", "markdown"] {
        let arguments = ["-k", "key.pub.pem", "--format", format, "--source"];
        let run = show(&lab, &[&arguments[..], &["cloud"]].concat()).exits(0);
        assert_eq!(run.stderr, "note: nothing matches the filters\n");
        assert!(show(&lab, &[&arguments[..], &["codehost"]].concat()).exits(0).stderr.is_empty());
    }
    show(&lab, &["-k", "key.pub.pem", "--status", "failed"]).exits(1);
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
    let line = run.stderr.lines().find_map(|line| line.split_once("more: evidence ")).unwrap().1;
    let command = format!("{} {line} --control CC7.2 --format csv", env!("CARGO_BIN_EXE_evidence"));
    let output = Command::new("sh").args(["-c", &command]).current_dir(lab.path("")).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 1 + 7);
}
