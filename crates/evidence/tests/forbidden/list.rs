//! Every format of the pattern list, planted in its own CODEOWNERS file, with the real binary.

use std::collections::BTreeMap;

use evidence_screen::{Confidence, PATTERNS, Pattern, Screen};
use sandbox::codehost::File;

use crate::common::{repository, strong};
use crate::estate::{Estate, Plants};
use crate::random;
use crate::template::fill;

/// The rules and their examples, regenerated for every seed.
fn examples() -> Vec<(&'static Pattern, String)> {
    let mut random = random();
    let certain = PATTERNS.iter().filter(|rule| rule.confidence == Confidence::High);
    let pairs = certain.flat_map(|rule| rule.examples.iter().map(move |example| (rule, *example)));
    pairs.map(|(rule, example)| (rule, fill(example, &mut random))).collect()
}

/// The text as a CODEOWNERS comment, line by line.
fn owners(text: &str) -> String {
    format!("# The owners\n* @acme/everyone\n# {}\n/docs @acme/docs\n", text.replace('\n', "\n# "))
}

#[test]
fn every_form_is_left_out() {
    let examples = examples();
    let mut plants = Plants::default();
    for (number, (_, text)) in examples.iter().enumerate() {
        let file = File::text(owners(text));
        plants
            .repositories
            .push(repository(&format!("r{number}")).protection("main", strong()).file("CODEOWNERS", file));
    }
    let estate = Estate::new(plants);
    let run = estate.lab.collect(&["--quiet"]).exits(3);
    let manifest = run.bundle().manifest();
    let mut excluded: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for row in manifest["excluded"].as_array().unwrap() {
        let (filename, rule) = (row["filename"].as_str().unwrap(), row["rule"].as_str().unwrap());
        excluded.entry(filename).or_default().push(rule);
    }
    let mut missed = Vec::new();
    for (number, (rule, text)) in examples.iter().enumerate() {
        let rules = excluded.remove(format!("sources/codehost/repo_acme_r{number}_codeowners.json").as_str());
        let known = |found: &&str| *found == rule.id || rule.overlaps.contains(found);
        if !rules.iter().flatten().any(known) {
            missed.push(format!("{}: {rules:?}: {text}", rule.id));
        }
    }
    println!(
        "{} forms of {} rules planted, {} missed, {} other artifacts left out",
        examples.len(),
        PATTERNS.len(),
        missed.len(),
        excluded.len()
    );
    assert!(missed.is_empty() && excluded.is_empty(), "{missed:#?} {excluded:?}");
}

/// More seeds than the test with the binary has time for.
#[test]
fn every_form_is_found_whatever_its_characters() {
    let screen = Screen::new(&[]);
    let mut random = random();
    let (mut tried, mut missed) = (0, Vec::new());
    for _ in 0..20 {
        for rule in PATTERNS.iter().filter(|rule| rule.confidence == Confidence::High) {
            for example in rule.examples {
                let text = owners(&fill(example, &mut random));
                tried += 1;
                if !screen.check(text.as_bytes()).iter().any(|finding| finding.confidence == Confidence::High)
                {
                    missed.push(format!("{}: {text}", rule.id));
                }
            }
        }
    }
    println!("{tried} forms, {} missed", missed.len());
    // About one in a thousand random values looks like a name.
    assert!(missed.len() * 1_000 <= tried, "{missed:#?}");
}
