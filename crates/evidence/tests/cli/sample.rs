//! `evidence sample`: draws the same sample as stock tools, from the requested list, and only from a verified bundle.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use sandbox::codehost::File;
use serde_json::Value;

use crate::common::{Lab, Run, acme, damage, repository, sound, strong};
use crate::stock::{is_there, read};

const SEED: &str = "Acme 2026, draw 1";

/// A lab with one bundle at `b.tar.gz`: some repositories pass, some fail, one is archived, one is excluded.
fn bundled() -> Lab {
    let host = (0..40).fold(acme(), |host, n| host.repository(sound(&format!("api-{n}"))));
    let host = host.repository(repository("bare")).repository(sound("old").archived(true)).repository(
        repository("half").protection("main", strong()).file("CODEOWNERS", File::text("# none\n")),
    );
    let lab = Lab::new(host);
    lab.collect(&["-q"]).exits(0);
    fs::rename(lab.path("evidence-bundles").join(&lab.output()[0]), lab.path("b.tar.gz")).unwrap();
    lab
}

fn sample(lab: &Lab, arguments: &[&str]) -> Run {
    lab.run(&[&["sample", "b.tar.gz", "-k", "key.pub.pem"], arguments].concat())
}

fn drawn(lab: &Lab, arguments: &[&str]) -> Value {
    let arguments = [&["--seed", SEED, "--format", "json"], arguments].concat();
    serde_json::from_str(&sample(lab, &arguments).exits(0).stdout).unwrap()
}

fn identities(report: &Value) -> Vec<&str> {
    report["items"].as_array().unwrap().iter().map(|item| item["identity"].as_str().unwrap()).collect()
}

#[test]
fn every_format() {
    let id = regex::Regex::new("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").unwrap();
    let lab = bundled();
    for from in ["checks", "population"] {
        for format in ["text", "json", "csv"] {
            let run =
                sample(&lab, &["--from", from, "--count", "4", "--seed", SEED, "--format", format]).exits(0);
            assert!(run.stderr.is_empty(), "{}", run.stderr);
            insta::assert_snapshot!(format!("sample_{from}_{format}"), id.replace_all(&run.shown(), "[ID]"));
        }
    }
}

/// The commands of the page, as a reader pastes them.
#[test]
fn stock_tools_draw_the_same_sample() {
    if !["bash", "tar", "awk", "sha256sum", "sort"].into_iter().all(is_there) {
        return;
    }
    let lab = bundled();
    let directory = tempfile::tempdir().unwrap();
    fs::copy(lab.path("b.tar.gz"), directory.path().join("evidence-bundle-20260102-030405.tar.gz")).unwrap();
    let page = read("docs/sampling.md");
    let blocks: Vec<&str> =
        page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect();
    let paste = |commands: &str| {
        let output =
            Command::new("bash").args(["--norc", "-c", commands]).current_dir(&directory).output().unwrap();
        assert!(output.stderr.is_empty(), "{output:?}");
        String::from_utf8(output.stdout).unwrap()
    };
    let [_, population, checks, escapes, days, _, _] = blocks[..] else { panic!("{blocks:?}") };
    for (commands, arguments) in [
        (population, ["--from", "population", "--kind", "repository"]),
        (checks, ["--from", "checks", "--control", "CC7.2"]),
    ] {
        assert!(commands.contains(&format!("seed='{SEED}'\n")));
        let arguments = [&arguments[..], &["--count", "25"]].concat();
        let report = drawn(&lab, &arguments);
        let lines: Vec<String> = report["items"].as_array().unwrap().iter().map(line).collect();
        assert_eq!(lines.len(), 25);
        assert_eq!(paste(commands).lines().collect::<Vec<_>>(), lines);
        // The text has the same lines, and the command for the first of them.
        let text = sample(&lab, &[&arguments[..], &["--seed", SEED]].concat()).exits(0).stdout;
        let shown: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("       ")).collect();
        assert_eq!(shown, lines);
        let command = text.lines().find(|line| line.trim_start().starts_with("printf")).unwrap();
        assert_eq!(paste(command).split(' ').next().unwrap(), report["items"][0]["sha256"].as_str().unwrap());
    }
    assert_eq!(paste(escapes), "0\n");
    let period = ["--from", "days", "--from-date", "2026-01-01", "--to-date", "2026-12-31", "--count", "25"];
    let report = drawn(&lab, &period);
    let lines: Vec<String> = report["items"].as_array().unwrap().iter().map(line).collect();
    assert_eq!(paste(days).lines().collect::<Vec<_>>(), lines);
}

fn line(item: &Value) -> String {
    format!("{}  {}", item["sha256"], item["identity"]).replace('"', "")
}

#[test]
fn filters() {
    let lab = bundled();
    let count = |arguments: &[&str]| drawn(&lab, &[arguments, &["--count", "1000"]].concat());
    let all = count(&["--from", "population"]);
    let repositories = count(&["--from", "population", "--kind", "repository"]);
    assert_eq!(repositories["of"], 43);
    assert_eq!(repositories["items"].as_array().unwrap().len(), 43);
    assert_eq!(repositories["count"], 1_000);
    assert!(all["of"].as_u64() >= repositories["of"].as_u64());
    assert_eq!(identities(&repositories).iter().collect::<BTreeSet<_>>().len(), 43);
    for (arguments, expected) in [
        (&["--from", "population", "--subject", "acme/BA?E"][..], &["codehost|repository|acme/bare"][..]),
        (&["--from", "population", "--subject", "none"], &[]),
        (&["--from", "checks", "--control", "cc6.1"], &["CC6.1|codehost|two-factor-required|acme"]),
        (
            &["--from", "checks", "--status", "fail", "--subject", "*/half"],
            &["CC6.6|codehost|codeowners-default-rule|acme/half"],
        ),
    ] {
        assert_eq!(identities(&count(arguments)), expected, "{arguments:?}");
    }
    let in_scope = count(&["--from", "population", "--in-scope"]);
    let members = all["items"].as_array().unwrap();
    assert_eq!(in_scope["of"], members.iter().filter(|member| member["in_scope"] == true).count());
    let text =
        sample(&lab, &["--from", "population", "--subject", "none", "--count", "1", "--seed", "s"]).exits(0);
    assert!(text.stdout.contains("Nothing matches the filters.") && text.stderr.is_empty(), "{}", text.all());
    for format in ["json", "csv"] {
        let none =
            ["--from", "population", "--subject", "none", "--count", "1", "--seed", "s", "--format", format];
        assert_eq!(sample(&lab, &none).exits(0).stderr, "note: nothing matches the filters\n");
    }
    let text =
        sample(&lab, &["--from", "population", "--kind", "repository", "--count", "99", "--seed", "s"]);
    assert!(text.stdout.contains("43 of 43 members of the population: all"), "{}", text.stdout);
}

#[test]
fn what_cannot_be_drawn() {
    let lab = bundled();
    for (arguments, message) in [
        (&["--from", "checks", "--count", "5", "--seed", ""][..], "the seed is empty"),
        (&["--from", "checks", "--count", "5", "--seed", "a\nb"], "invisible character"),
        (&["--from", "checks", "--count", "5"], "--seed"),
        (&["--from", "checks", "--count", "0", "--seed", "s"], "1..=10000"),
        (&["--from", "checks", "--count", "10001", "--seed", "s"], "1..=10000"),
        (&["--from", "repositories", "--count", "5", "--seed", "s"], "population"),
        (&["--count", "5", "--seed", "s"], "--from"),
        (&["--from", "checks", "--kind", "user", "--count", "5", "--seed", "s"], "--kind does not apply"),
        (&["--from", "checks", "--in-scope", "--count", "5", "--seed", "s"], "--in-scope does not apply"),
        (
            &["--from", "population", "--status", "fail", "--count", "5", "--seed", "s"],
            "--status does not apply",
        ),
    ] {
        let run = sample(&lab, arguments).exits(1).says(message);
        assert_eq!(run.stdout, "", "{arguments:?}");
    }
}

/// The same trust and the same codes as `verify`, and no output from an untrusted bundle.
#[test]
fn nothing_is_drawn_from_a_bundle_that_is_not_verified() {
    let lab = bundled();
    lab.run(&["keygen", "-o", "other.pem"]).exits(0);
    let check = |arguments: &[&str], code, text: &str, verdict: &str| {
        for from in ["checks", "population"] {
            let draw = ["sample", "b.tar.gz", "--from", from, "--count", "50", "--seed", "s"];
            let arguments = [&draw, arguments].concat();
            let run = lab.run(&arguments).exits(code).says(text).says_not("acme/bare");
            assert_eq!(run.stdout, "", "{arguments:?}");
            let run =
                lab.run(&[&arguments[..], &["--format", "json"]].concat()).exits(code).says_not("acme/bare");
            let report: Value = serde_json::from_str(&run.stdout).unwrap();
            assert_eq!(report["verdict"], verdict);
        }
    };
    check(&[], 1, "INTACT, NOT AUTHENTICATED", "not_authenticated");
    check(&["-k", "other.pub.pem"], 7, "FAILED", "failed");
    check(&["-k", "key.pub.pem", "--expect-org", "other"], 7, "FAILED", "failed");
    damage(&lab, "b.tar.gz");
    check(&["-k", "key.pub.pem"], 7, "FAILED", "failed");
}
