//! The screen must keep ordinary lines that mention secrets without containing one. A false positive excludes an
//! artifact and changes the exit code.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evidence_screen::{Confidence, Screen};
use sandbox::codehost::{File, Protection};
use serde_json::json;

use crate::common::repository;
use crate::estate::{Answer, Estate, Plants, protection_url};
use crate::random;

/// One line each, grouped by the files where such lines occur.
fn lines() -> Vec<&'static str> {
    let lines: Vec<&str> =
        include_str!("ordinary.txt").lines().filter(|line| !line.starts_with("## ")).collect();
    assert!(lines.len() >= 500, "{}", lines.len());
    lines
}

fn certain(screen: &Screen, text: &str) -> Vec<&'static str> {
    let findings = screen.check(text.as_bytes());
    let certain = findings.iter().filter(|finding| finding.confidence == Confidence::High);
    certain.map(|finding| finding.rule).collect()
}

/// Each line alone, as a JSON string, within a CODEOWNERS file, and in that file's artifact.
#[test]
fn no_ordinary_line_is_left_out() {
    let screen = Screen::new(&[]);
    let mut left_out = Vec::new();
    for line in lines() {
        let file = format!("# The owners\n{line}\n# {line}\n* @acme/everyone # {line}\n/docs @acme/docs\n");
        let encoded = STANDARD.encode(&file);
        let texts = [
            line.to_string(),
            serde_json::to_string_pretty(&json!({ "contexts": [line, "ci/build"], "strict": true })).unwrap(),
            serde_json::to_string(&json!({ "content": encoded, "encoding": "base64" })).unwrap(),
            file,
        ];
        let rules: Vec<_> = texts.iter().flat_map(|text| certain(&screen, text)).collect();
        if !rules.is_empty() {
            left_out.push(format!("{rules:?}: {line}"));
        }
    }
    println!("{} ordinary lines, {} left out", lines().len(), left_out.len());
    assert!(left_out.is_empty(), "{left_out:#?}");
}

/// All lines in one file, where the screen may join lines, and in JSON lists.
#[test]
fn nor_are_all_of_them_together() {
    let screen = Screen::new(&[]);
    let mut random = random();
    let mut lines = lines();
    for file in [lines.join("\n"), format!("# {}", lines.join("\n# ")), lines.join("\r\n")] {
        assert_eq!(certain(&screen, &file), [] as [&str; 0], "{file}");
    }
    for _ in 0..20 {
        random.shuffle(&mut lines);
        let list = serde_json::to_string_pretty(&lines).unwrap();
        assert_eq!(certain(&screen, &list), [] as [&str; 0], "{list}");
    }
}

/// With the real binary: each line in a comment of a CODEOWNERS file and as the name of a status check.
#[test]
fn no_ordinary_line_costs_an_artifact() {
    let mut plants = Plants::default();
    for (number, line) in lines().into_iter().enumerate() {
        let mut rule = Answer::Protection.body();
        rule["url"] = protection_url(&format!("r{number}")).into();
        rule["required_status_checks"]["contexts"] = json!([line, "ci/build"]);
        let file = File::text(format!("# {line}\n* @acme/everyone\n"));
        let repository = repository(&format!("r{number}"));
        let rule = Protection::new().body(rule);
        plants.repositories.push(repository.protection("main", rule).file("CODEOWNERS", file));
    }
    let estate = Estate::new(plants);
    let run = estate.lab.collect(&["--quiet"]).exits(3);
    let manifest = run.bundle().manifest();
    assert_eq!(manifest["excluded"], json!([]));
    let artifacts = manifest["artifacts"].as_array().unwrap().len();
    println!("{} ordinary lines in {artifacts} artifacts, 0 left out", lines().len());
    assert!(artifacts >= 2 * lines().len());
}
