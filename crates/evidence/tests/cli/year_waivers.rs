//! Waivers over time: they are shown, and change no result.

use std::fs;

use serde_json::Value;

use crate::common::{Lab, Run, acme};
use crate::made::{Accept, Night, bad, good, key};

/// Ten nights of a repository that fails from the fourth to the ninth, with these waivers on each.
fn nights(lab: &Lab, folder: &str, waivers: impl Fn(u32) -> Option<Vec<Accept>>) {
    fs::create_dir(lab.path(folder)).unwrap();
    for day in 1..=10 {
        let api = if (4..10).contains(&day) { bad("acme/api", 2) } else { good("acme/api", 2) };
        let night = Night {
            waivers: waivers(day),
            ..Night::new(&format!("2026-03-{day:02}T03:00:00Z"), vec![api, bad("acme/old", 3)])
        };
        night.write(&lab.path(folder).join(format!("{day:02}.tar.gz")));
    }
    lab.write("k.pem", key(1).public_key().to_spki_pem());
}

fn run(lab: &Lab, command: &str, arguments: &[&str]) -> Run {
    lab.run(&[&[command, "-k", "k.pem"], arguments].concat())
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

/// Both repositories, accepted for the whole month.
fn whole(_: u32) -> Option<Vec<Accept>> {
    Some(vec![
        Accept("W-1", "acme/api", "2026-03-01", "2026-03-31"),
        Accept("W-2", "acme/old", "2026-03-01", "2026-03-31"),
    ])
}

#[test]
fn results_are_the_same_with_and_without_waivers() {
    let lab = Lab::new(acme());
    nights(&lab, "without", |_| None);
    nights(&lab, "empty", |_| Some(Vec::new()));
    nights(&lab, "whole", whole);
    nights(&lab, "expired", |_| Some(vec![Accept("W", "acme/old", "2026-01-01", "2026-02-01")]));
    nights(&lab, "future", |_| Some(vec![Accept("W", "acme/old", "2026-06-01", "2026-06-30")]));
    nights(&lab, "other", |_| Some(vec![Accept("W", "acme/none", "2026-03-01", "2026-03-31")]));
    nights(&lab, "some", |day| whole(day).filter(|_| day % 3 == 0));
    // The digest of a list of checksums says which bundle it is.
    let same = |mut found: Value| {
        for input in found["inputs"].as_array_mut().unwrap() {
            input["checksums_sha256"] = Value::Null;
        }
        found
    };
    let tables = |folder: &str, more: &[&str]| {
        let output = format!("{folder}-out");
        run(&lab, "history", &[&["-o", &output, folder], more].concat()).exits(0);
        let read = |name: &str| fs::read_to_string(lab.path(&output).join(name)).unwrap();
        ["days.csv", "population.csv", "failures.csv", "events.csv"].map(read)
    };
    let plain = same(json(&run(&lab, "history", &["--json", "without"]).exits(0)));
    let [days, population, failures, events] = tables("without", &[]);
    let text = run(&lab, "history", &["without"]).exits(0).stdout;
    for folder in ["empty", "whole", "expired", "future", "other", "some"] {
        let ignored = run(&lab, "history", &["--json", "--ignore-waivers", folder]).exits(0);
        assert_eq!(same(json(&ignored)), plain, "{folder}");
        assert_eq!(run(&lab, "history", &["--ignore-waivers", folder]).exits(0).stdout, text, "{folder}");
        let tables_ignored = tables(folder, &["--ignore-waivers"]);
        assert_eq!(tables_ignored, [&days, &population, &failures, &events].map(String::clone), "{folder}");
        // With them, everything but the waivers is the same.
        let mut shown = same(json(&run(&lab, "history", &["--json", folder]).exits(0)));
        for exception in shown["exceptions"].as_array_mut().unwrap() {
            exception["waivers"] = Value::Array(Vec::new());
        }
        shown["changes"].as_array_mut().unwrap().retain(|change| change["change"] != "waiver");
        assert_eq!(shown, plain, "{folder}");
        let [days_shown, population_shown, failures_shown, _] = tables(folder, &[]);
        assert_eq!([&days_shown, &population_shown], [&days, &population], "{folder}");
        assert_eq!(failures_shown.lines().count(), failures.lines().count(), "{folder}");
        let page = fs::read_to_string(lab.path(&format!("{folder}-out/period.html"))).unwrap();
        assert!(page.contains("1 repaired") && page.contains("1 open at the end"), "{folder}");
    }
}

#[test]
fn a_waiver_stands_beside_its_failure() {
    let lab = Lab::new(acme());
    nights(&lab, "some", |day| whole(day).filter(|_| day % 3 == 0));
    let found = json(&run(&lab, "history", &["--json", "some"]).exits(0));
    let waivers: Vec<&Value> =
        found["exceptions"].as_array().unwrap().iter().map(|one| &one["waivers"][0]).collect();
    // Each fails on 10 and on 6 nights; the file was there on the third, the sixth and the ninth.
    let row = |one: &Value| format!("{} {} {} {}", one["id"], one["state"], one["approval"], one["bundles"]);
    assert_eq!(
        waivers.iter().map(|one| row(one)).collect::<Vec<_>>(),
        ["\"W-2\" \"removed\" \"same_day\" 3", "\"W-1\" \"applied\" \"before\" 2",]
    );
    let text = run(&lab, "history", &["some"]).exits(0).stdout;
    assert!(
        text.contains("a waiver accepted 0 of these failures throughout, 2 for a part of the time, 0 never"),
        "{text}"
    );
    assert!(text.contains("waiver W-1: waived until 2026-03-31"), "{text}");
    assert!(!run(&lab, "history", &["--ignore-waivers", "some"]).exits(0).stdout.contains("waiver"));
    // A file that comes and goes changes each time: three times it comes, and three times it goes.
    let changes = found["changes"].as_array().unwrap();
    let waiver = |change: &&Value| change["change"] == "waiver";
    assert_eq!(changes.iter().filter(waiver).count(), 12);
}

/// A waiver of a regression is shown, and the gate counts the regressions without one.
#[test]
fn a_difference_shows_waivers() {
    let lab = Lab::new(acme());
    nights(&lab, "b", |day| whole(day).filter(|_| day > 3));
    let (before, after) = ("b/03.tar.gz", "b/04.tar.gz");
    let diff = |from: &str, to: &str, more: &[&str]| run(&lab, "diff", &[&[from, to], more].concat());
    insta::assert_snapshot!("diff_waivers_text", diff(before, after, &[]).exits(0).shown());
    let markdown = diff(before, after, &["--format", "markdown"]).exits(0).stdout;
    assert!(markdown.contains("## Waivers, which change no result"), "{markdown}");
    let found = json(&diff(before, after, &["--json"]).exits(0));
    assert_eq!(found["classes"]["regression"], 1);
    assert_eq!(found["checks"][0]["to"]["waiver"], "W-1");
    assert!(found["checks"][0]["from"].get("waiver").is_none());
    let kinds: Vec<&Value> = found["waivers"].as_array().unwrap().iter().map(|one| &one["change"]).collect();
    assert_eq!(kinds, ["came", "came"]);
    // The same two bundles without waivers.
    let ignored = json(&diff(before, after, &["--json", "--ignore-waivers"]).exits(0));
    assert_eq!(ignored["waivers"], Value::Array(Vec::new()));
    assert_eq!(ignored["classes"], found["classes"]);
    assert!(!diff(before, after, &["--ignore-waivers"]).exits(0).stdout.contains("aiver"));
    // One regression, which has a waiver.
    let gate = ["--fail-on", "regression"];
    diff(before, after, &gate).exits(0).says("gate: 0 regressions without a waiver, 1 with one");
    diff(before, after, &["--fail-on", "regression", "--ignore-waivers"]).exits(8).says_not("gate");
    diff(before, after, &["--fail-on", "any"]).exits(8);
    // A bundle does not differ from itself.
    let same = json(&diff(after, after, &["--json"]).exits(0));
    assert_eq!((&same["checks"], &same["waivers"]), (&Value::Array(vec![]), &Value::Array(vec![])));
}
