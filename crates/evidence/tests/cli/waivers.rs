//! Waivers: failures that management accepts. They are shown everywhere, and change no result.

use std::fs;

use serde_json::Value;

use super::common::{Bundle, Lab, Run, acme, repository, sound};

/// 2026-11-21T09:05:13Z.
const EPOCH: &str = "1795251913";

/// A waiver with this id for these subjects of `branch-protection`, from and to these days.
fn waiver(id: &str, subjects: &str, days: (&str, &str)) -> String {
    let (from, to) = days;
    format!(
        "- id: {id}\n  rule: branch-protection\n  source: codehost\n  subjects: [{subjects}]\n  \
         reason: Frozen, and replaced in the first quarter\n  owner: jane.doe@acme.example\n  \
         approved_by: john.roe@acme.example\n  approved_at: {from}\n  expires_at: {to}\n"
    )
}

const YEAR: (&str, &str) = ("2026-11-02", "2027-01-31");

/// Three repositories that fail, one that passes, and a file with these waivers. Every time is [`EPOCH`].
fn lab(waivers: &str) -> Lab {
    let host = acme()
        .repository(repository("bare"))
        .repository(repository("poc-1"))
        .repository(repository("poc-2"))
        .repository(sound("web"))
        .repository(sound("old").archived(true));
    let lab =
        Lab::new(host).with(|config| config.rest("waivers: waivers.yaml\n")).env("SOURCE_DATE_EPOCH", EPOCH);
    lab.write("waivers.yaml", waivers);
    lab
}

/// Collects, and renames the bundle.
fn collected(lab: &Lab, arguments: &[&str], name: &str) -> Run {
    let run = lab.collect(&[&["--reproducible"], arguments].concat());
    for file in lab.output() {
        fs::rename(lab.path("evidence-bundles").join(file), lab.path(name)).unwrap();
    }
    run
}

fn document(lab: &Lab, name: &str) -> Value {
    Bundle::open(&lab.path(name)).json("derived/waivers.json")
}

fn show(lab: &Lab, arguments: &[&str]) -> Run {
    lab.run(&[&["show", "b.tar.gz", "-k", "key.pub.pem"], arguments].concat())
}

#[test]
fn every_state_is_in_the_bundle() {
    let text = [
        waiver("W-applied", "acme/BARE", YEAR),
        waiver("W-expired", "acme/poc-1", ("2026-01-01", "2026-11-20")),
        waiver("W-future", "acme/poc-1", ("2026-11-22", "2026-12-31")),
        waiver("W-needless", "acme/web", YEAR),
        waiver("W-archived", "acme/old", YEAR),
        waiver("W-unused", "acme/none", YEAR),
        waiver("W-glob", "{glob: \"acme/lab-*\"}", YEAR),
        waiver("W-other", "acme/poc-2", YEAR)
            .replace("  reason:", "  reasons: [status_checks_not_configured]\n  reason:"),
    ]
    .concat();
    let lab = lab(&text);
    let run = collected(&lab, &[], "b.tar.gz").exits(0);
    let document = document(&lab, "b.tar.gz");
    let states: Vec<String> = document["waivers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|waiver| format!("{} {}", waiver["id"], waiver["state"]).replace('"', ""))
        .collect();
    assert_eq!(
        states,
        [
            "W-applied applied",
            "W-archived not_matched",
            "W-expired expired",
            "W-future not_yet_valid",
            "W-glob unused",
            "W-needless not_needed",
            "W-other not_matched",
            "W-unused unused",
        ]
    );
    assert_eq!(
        document["summary"],
        serde_json::json!({"failed": 6, "failed_waived": 1, "failed_unwaived": 5})
    );
    assert_eq!(document["file"].as_object().unwrap().len(), 1, "a reproducible bundle has no path");
    let applied = &document["waivers"][0];
    assert_eq!(
        applied["matches"],
        serde_json::json!([{
            "control": "CC7.2", "source": "codehost", "rule": "branch-protection", "subject": "acme/bare",
            "status": "fail", "reason": "branch_unprotected",
        }])
    );
    assert_eq!(applied["self_approved"], false);
    // The manifest lists the file, and every view says the same.
    let bundle = Bundle::open(&lab.path("b.tar.gz"));
    let files = bundle.manifest()["files"].clone();
    assert!(files.as_array().unwrap().iter().any(|file| file["path"] == "derived/waivers.json"));
    let sentence = "6 checks failed: 1 with a waiver, 5 without";
    assert!(run.stderr.contains(sentence), "{}", run.stderr);
    assert!(run.stderr.contains("fail (1 waived until 2027-01-31)"), "{}", run.stderr);
    for format in ["text", "markdown"] {
        let shown = show(&lab, &["--format", format]).exits(0).stdout;
        assert!(shown.contains(sentence) && shown.contains("Accepted by management"), "{shown}");
        for expected in ["W-expired", "W-future", "no such failure", "not needed"] {
            assert!(shown.replace('\\', "").contains(expected), "{expected}: {shown}");
        }
    }
    let shown: Value = serde_json::from_str(&show(&lab, &["--format", "json"]).stdout).unwrap();
    assert_eq!(shown["waivers"]["summary"], document["summary"]);
    let marked: Vec<&Value> =
        shown["checks"].as_array().unwrap().iter().filter(|check| check.get("waiver").is_some()).collect();
    assert_eq!(marked.len(), 1);
    assert_eq!((&marked[0]["subject"], &marked[0]["status"]), (&"acme/bare".into(), &"fail".into()));
    let table = show(&lab, &["--format", "csv"]).stdout;
    assert!(table.lines().next().unwrap().ends_with(",page,waiver"), "{table}");
    assert_eq!(table.matches("waived until 2027-01-31, W-applied").count(), 1, "{table}");
    let own = String::from_utf8(bundle.file("derived/checks.csv").unwrap().to_vec()).unwrap();
    assert!(own.lines().next().unwrap().ends_with(",waiver,organization,bundle_id"), "{own}");
    assert_eq!(own.matches("waiver W-expired expired on 2026-11-20").count(), 1, "{own}");
    let readme = String::from_utf8(bundle.file("derived/README.txt").unwrap().to_vec()).unwrap();
    assert!(readme.contains(&format!("Waivers        {sentence}")), "{readme}");
    let page = String::from_utf8(bundle.file("derived/report.html").unwrap().to_vec()).unwrap();
    assert!(page.contains("<h2>Accepted by management</h2>") && page.contains(sentence), "{page}");
    assert_eq!(page.matches("waived until 2027-01-31, W-applied").count(), 1);
    let (_, section) = page.split_once("<h2>Accepted by management</h2>").unwrap();
    assert!(
        section.find("W-expired</bdi>").unwrap() < section.find("W-applied</bdi>").unwrap(),
        "expired first"
    );
    insta::assert_snapshot!("waivers_collect", run.shown());
    insta::assert_snapshot!("waivers_show", show(&lab, &[]).shown());
    let list = |arguments: &[&str]| {
        lab.run(&[&["waivers", "list", "b.tar.gz", "-k", "key.pub.pem"], arguments].concat())
    };
    insta::assert_snapshot!("waivers_list", list(&[]).exits(0).shown());
    let listed: Value = serde_json::from_str(&list(&["--json"]).exits(0).stdout).unwrap();
    assert_eq!(listed["waivers"], shown["waivers"]);
    let check = lab.run(&["waivers", "check", "-c", "evidence.yaml", "b.tar.gz"]).exits(0);
    assert!(
        check.stdout.contains("8 waivers, valid") && check.stdout.contains("W-unused"),
        "{}",
        check.stdout
    );
}

/// With and without waivers, everything that says what was found is the same, byte by byte.
#[test]
fn results_do_not_change() {
    let every = [
        "[]".to_string(),
        waiver("A", "acme/bare, acme/poc-1, acme/web", YEAR),
        waiver("A", "{glob: \"acme/*\"}", YEAR),
        waiver("A", "acme/bare", ("2026-01-01", "2026-02-01")),
    ];
    let lab = lab("[]");
    let documents = |bundle: &Bundle| -> Vec<(String, Vec<u8>)> {
        let views = [
            "manifest.json",
            "checksums.sha256",
            "signature.sig",
            "derived/waivers.json",
            "derived/README.txt",
            "derived/report.html",
        ];
        let is_fact = |path: &str| !views.contains(&path) && !path.ends_with(".csv") && path != "run.json";
        bundle.entries.iter().filter(|(path, _)| is_fact(path)).cloned().collect()
    };
    lab.write("evidence.yaml", lab.config().text());
    collected(&lab, &[], "b.tar.gz").exits(0);
    let plain = Bundle::open(&lab.path("b.tar.gz"));
    assert!(plain.file("derived/waivers.json").is_none());
    let header = |bundle: &Bundle| {
        let table = String::from_utf8(bundle.file("derived/checks.csv").unwrap().to_vec()).unwrap();
        table.lines().next().unwrap().to_string()
    };
    assert!(!header(&plain).contains("waiver"));
    lab.write("evidence.yaml", lab.config().rest("waivers: waivers.yaml\n").text());
    for text in every {
        lab.write("waivers.yaml", &text);
        collected(&lab, &[], "w.tar.gz").exits(0);
        let waived = Bundle::open(&lab.path("w.tar.gz"));
        assert!(documents(&plain) == documents(&waived), "{text}");
        assert_eq!(plain.json("run.json")["exit_code"], waived.json("run.json")["exit_code"]);
        assert_eq!(waived.json("derived/waivers.json")["summary"]["failed"], 6, "{text}");
        assert!(header(&waived).contains(",waiver,"));
        // The same facts give the same bytes.
        let first = fs::read(lab.path("w.tar.gz")).unwrap();
        collected(&lab, &[], "w.tar.gz").exits(0);
        assert!(first == fs::read(lab.path("w.tar.gz")).unwrap());
    }
}

/// The days are whole days in UTC, and both belong to the waiver.
#[test]
fn the_last_day_is_inclusive() {
    let mut lab = lab(&waiver("W", "acme/bare", YEAR));
    for (time, expected) in [
        (1_793_577_599, "not_yet_valid"),
        (1_793_577_600, "applied"),
        (1_801_439_999, "applied"),
        (1_801_440_000, "expired"),
    ] {
        lab.set_env("SOURCE_DATE_EPOCH", &i64::to_string(&time));
        collected(&lab, &["-q"], "b.tar.gz").exits(0);
        assert_eq!(document(&lab, "b.tar.gz")["waivers"][0]["state"], expected, "{time}");
    }
}

#[test]
fn a_gate_counts_failures_without_a_waiver() {
    let lab = lab(&waiver("W", "acme/bare", YEAR));
    let all = |lab: &Lab, arguments: &[&str]| {
        collected(lab, &[&["-q", "--fail-on", "fail"], arguments].concat(), "b.tar.gz")
    };
    let run =
        all(&lab, &[]).exits(8).says("gate: 5 failed checks without a waiver, 1 with one, 0 not verifiable");
    assert_eq!(run.stdout.lines().count(), 1, "the bundle is there");
    all(&lab, &["--ignore-waivers"]).exits(8).says("6 failed checks without a waiver, 0 with one");
    let gate = ["--fail-on", "fail"];
    show(&lab, &gate).exits(8).says("gate: 5 failed checks without a waiver, 1 with one");
    show(&lab, &[&gate[..], &["--rule", "branch-protection"]].concat())
        .exits(8)
        .says("2 failed checks without");
    show(&lab, &[&gate[..], &["--subject", "acme/web"]].concat()).exits(0);
    show(&lab, &[&gate[..], &["--subject", "acme/bare", "--rule", "branch-protection"]].concat()).exits(0);
    let run = show(
        &lab,
        &[&gate[..], &["--subject", "acme/bare", "--rule", "branch-protection", "--ignore-waivers"]].concat(),
    );
    assert!(!run.exits(8).stdout.contains("waive"));
    // Everything is accepted: the gate is met, and nothing is green that was not.
    let owners = waiver("W-2", "acme/bare, acme/poc-1, acme/poc-2", YEAR)
        .replace("branch-protection", "codeowners-default-rule");
    lab.write("waivers.yaml", format!("{}{owners}", waiver("W", "acme/bare, acme/poc-1, acme/poc-2", YEAR)));
    all(&lab, &[]).exits(0);
    assert_eq!(Bundle::open(&lab.path("b.tar.gz")).control("CC7.2"), "fail");
    all(&lab, &["--ignore-waivers"]).exits(8);
    show(&lab, &gate).exits(0);
    // Without the option, failures never change the code.
    collected(&lab, &["-q"], "b.tar.gz").exits(0);
}

/// What could not be read counts only if the gate says so, and other codes take precedence.
#[test]
fn a_gate_can_count_what_is_not_verifiable() {
    let owners = format!("# {}\n* @acme/all\n", sandbox::DEMO_SECRET);
    let leak = sound("leak").file(".github/CODEOWNERS", sandbox::codehost::File::text(owners));
    let lab = Lab::new(acme().repository(sound("web")).repository(leak));
    lab.collect(&["-q", "--fail-on", "not-verifiable"]).exits(4).says_not("gate");
    fs::rename(lab.path("evidence-bundles").join(&lab.output()[0]), lab.path("b.tar.gz")).unwrap();
    show(&lab, &["--fail-on", "fail"]).exits(0);
    let said = "gate: 0 failed checks without a waiver, 0 with one, 1 not verifiable";
    show(&lab, &["--fail-on", "not-verifiable"]).exits(8).says(said);
}

#[test]
fn a_wrong_file_is_code_1_with_every_place() {
    let lab =
        lab(&waiver("W", "acme/bare", ("2026-11-02", "2028-01-01")).replace("rule: branch", "rule: brunch"));
    let run = lab.collect(&[]).exits(1).says("waivers.yaml").leaves_nothing();
    assert!(
        run.stderr.contains("brunch-protection") && run.stderr.contains("more than 366"),
        "{}",
        run.stderr
    );
    insta::assert_snapshot!("waivers_wrong", run.shown());
    lab.run(&["waivers", "check"]).exits(1).says("brunch-protection").says("more than 366");
    assert!(lab.requested().is_empty());
    fs::remove_file(lab.path("waivers.yaml")).unwrap();
    lab.collect(&[]).exits(1).says("no such file");
    // Outside of the folder, a file needs a configuration that the user named.
    lab.write("evidence.yaml", lab.config().rest("waivers: ../waivers.yaml\n").text());
    lab.run(&["waivers", "check"]).exits(1).says("name the file with --config");
    lab.write("evidence.yaml", lab.config().text());
    lab.run(&["waivers", "check"]).exits(1).says("names no file of waivers");
}

#[test]
fn a_secret_never_reaches_a_bundle() {
    let token = super::common::TOKEN;
    let text = waiver("W", "acme/bare", YEAR).replace("Frozen, and", &format!("{token} and"));
    let lab = lab(&text);
    for arguments in [&["collect"][..], &["waivers", "check"]] {
        lab.run(arguments).exits(1).says("secret").says_not(token);
    }
    assert!(lab.output().is_empty());
}

#[test]
fn a_dry_run_names_what_ends_soon() {
    let lab =
        lab(&[waiver("W-1", "acme/bare", YEAR), waiver("W-2", "acme/web", ("2020-01-01", "2020-02-01"))]
            .concat());
    lab.collect(&["--dry-run"]).exits(0).says("the waiver W-2 expired on 2020-02-01");
}

#[test]
fn who_approves_alone_is_warned() {
    let text = waiver("W", "acme/bare", YEAR).replace("john.roe", "jane.doe");
    let lab = lab(&text);
    collected(&lab, &[], "b.tar.gz").exits(0).says("was approved by its owner");
    assert_eq!(Bundle::open(&lab.path("b.tar.gz")).warnings("W"), ["self_approved"]);
    assert!(show(&lab, &[]).stdout.contains("(the owner)"));
}

/// Texts of a waiver act nowhere.
#[test]
fn hostile_texts_are_only_texts() {
    let hostile = "=HYPERLINK(1)|<img src=x>\u{202e}[a](b)`c`";
    let text = waiver("W", "acme/bare", YEAR)
        .replace("Frozen, and replaced in the first quarter", &format!("'{hostile}'"));
    let text = text.replace("jane.doe@acme.example", "\"=cmd\"");
    let lab = lab(&text);
    let run = collected(&lab, &[], "b.tar.gz").exits(0);
    assert_eq!(document(&lab, "b.tar.gz")["waivers"][0]["reason"], hostile);
    let mut all = run.all();
    for arguments in [&[][..], &["--format", "markdown"], &["--format", "csv"], &["--format", "json"]] {
        all.push_str(&show(&lab, arguments).exits(0).stdout);
    }
    assert!(!all.contains('\u{202e}'));
    assert!(show(&lab, &["--format", "markdown"]).stdout.contains("\\<img src=x\\>"));
    let bundle = Bundle::open(&lab.path("b.tar.gz"));
    let page = String::from_utf8(bundle.file("derived/report.html").unwrap().to_vec()).unwrap();
    assert!(!page.contains("<img") && !page.contains('\u{202e}'));
}

#[test]
fn a_bundle_without_waivers_says_so() {
    let lab = Lab::new(acme().repository(sound("web")));
    lab.collect(&["-q"]).exits(0);
    fs::rename(lab.path("evidence-bundles").join(&lab.output()[0]), lab.path("b.tar.gz")).unwrap();
    let run = lab.run(&["waivers", "list", "b.tar.gz", "-k", "key.pub.pem"]).exits(0);
    assert_eq!(run.stdout, "no waivers: the run had no file of waivers\n");
    lab.run(&["waivers", "list", "b.tar.gz"]).exits(1);
    super::common::damage(&lab, "b.tar.gz");
    lab.run(&["waivers", "list", "b.tar.gz", "-k", "key.pub.pem"]).exits(7);
}
