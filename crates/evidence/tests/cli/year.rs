//! A made-up year of nightly bundles, and what `history`, `verify --chain`, `diff` and `sample` say about it.
//!
//! The numbers follow from the script in [`nights`] by hand.

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;

use evidence_bundle::document::Cadence;
use evidence_bundle::{Status, document::Previous};
use serde_json::Value;
use tempfile::TempDir;

use crate::common::{Lab, Run, acme};
use crate::made::{Accept, Night, Repo, at, bad, good, key};

const DAY: i64 = 86_400;

/// Every night of 2026 at 03:00.
fn nights() -> Vec<Night> {
    let day = |text: &str| at(&format!("{text}T00:00:00Z"));
    let within = |time: i64, from: &str, to: &str| (day(from)..day(to) + DAY).contains(&time);
    let mut nights = Vec::new();
    let mut time = day("2026-01-01") + 3 * 3_600;
    while time < day("2027-01-01") {
        // The machine was off.
        if within(time, "2026-08-01", "2026-08-14") {
            time += DAY;
            continue;
        }
        let text = evidence_bundle::time::format(time).unwrap();
        let mut repos = vec![
            // The protection was off for three days.
            if within(time, "2026-03-10", "2026-03-12") { bad("acme/api", 2) } else { good("acme/api", 2) },
            // Added, and not protected yet.
            bad("acme/lab", 5),
            // Never protected, and deleted.
            bad("acme/old", 3),
            // Renamed.
            if time < day("2026-06-15") { good("acme/shop", 4) } else { good("acme/store", 4) },
            good("acme/web", 1),
        ];
        repos.retain(|repo| repo.1 != 5 || time >= day("2026-11-20"));
        repos.retain(|repo| repo.1 != 3 || time < day("2026-09-01"));
        // The token lost a permission.
        if within(time, "2026-04-06", "2026-04-12") {
            for repo in &mut repos {
                *repo = Repo(repo.0, repo.1, Status::NotVerifiable, "permission_denied");
            }
        }
        let night = Night {
            tool: if time < day("2026-10-01") { "0.0.1" } else { "0.0.2" },
            key: if time < day("2026-05-01") { 1 } else { 2 },
            cadence: Some(Cadence::Daily),
            waivers: waivers(&text),
            ..Night::new(&text, repos)
        };
        nights.push(night.clone());
        if within(time, "2026-07-04", "2026-07-04") {
            let id = format!("{}-again", night.id);
            nights.push(Night { time: time + 12 * 3_600, id, ..night });
        }
        time += DAY;
    }
    nights
}

/// The file of waivers on this night; the first was written in February.
fn waivers(night: &str) -> Option<Vec<Accept>> {
    let mut waivers = Vec::new();
    // Accepted for a day less than the failure lasted, and removed from the file at the end of the month.
    if ("2026-03-09".."2026-04").contains(&night) {
        waivers.push(Accept("W-api", "acme/api", "2026-03-09", "2026-03-11"));
    }
    // Accepted late, and removed from the file.
    if ("2026-11-25".."2026-12-15").contains(&night) {
        waivers.push(Accept("W-lab", "acme/lab", "2026-11-25", "2026-12-31"));
    }
    // Renewed once, and then expired while the repository still failed.
    waivers.push(if night < "2026-03-25" {
        Accept("W-old", "acme/OLD", "2026-02-01", "2026-03-31")
    } else {
        Accept("W-old", "acme/OLD", "2026-03-25", "2026-06-30")
    });
    (night >= "2026-02").then_some(waivers)
}

/// The bundles of the year, in a folder, with the name of each by its time; made once for all tests. Kept in
/// `EVIDENCE_YEARS`, if that is a folder.
static YEAR: LazyLock<TempDir> = LazyLock::new(|| {
    let mut folder = tempfile::Builder::new();
    folder.prefix("evidence-year-");
    let folder = match std::env::var_os("EVIDENCE_YEARS") {
        Some(place) => folder.disable_cleanup(true).tempdir_in(place),
        None => folder.tempdir(),
    };
    let folder = folder.unwrap();
    let mut previous: Option<Previous> = None;
    for night in nights() {
        let night = Night { previous: previous.take(), ..night };
        previous = Some(night.write(&folder.path().join(format!("{}.tar.gz", night.id))));
    }
    for number in [1, 2] {
        let pem = key(number).public_key().to_spki_pem();
        fs::write(folder.path().join(format!("key-{number}.pem")), pem).unwrap();
    }
    folder
});

fn year() -> String {
    YEAR.path().to_str().unwrap().to_owned()
}

/// The bundle of this night.
fn night(day: &str) -> String {
    format!("{}/b-{day}-03-00-00.tar.gz", year())
}

/// Runs a command that trusts both keys.
fn run(lab: &Lab, command: &str, arguments: &[&str]) -> Run {
    let keys = [1, 2].map(|number| format!("{}/key-{number}.pem", year()));
    let mut all = vec![command, "-k", &keys[0], "-k", &keys[1]];
    all.extend(arguments);
    lab.run(&all)
}

const PERIOD: [&str; 4] = ["--from", "2026-01-01", "--to", "2026-12-31"];

fn history(lab: &Lab, arguments: &[&str]) -> Run {
    run(lab, "history", &[arguments, &PERIOD].concat())
}

fn json(run: &Run) -> Value {
    serde_json::from_str(&run.stdout).unwrap()
}

#[test]
fn the_year_in_figures() {
    let lab = Lab::new(acme());
    let run = history(&lab, &["--json", "-o", "period", &year()]).exits(0);
    let found = json(&run);
    let coverage = &found["coverage"];
    let figures =
        ["expected", "complete", "incomplete", "missing"].map(|name| coverage[name].as_u64().unwrap());
    // 14 nights without a bundle, 7 without a permission.
    assert_eq!(figures, [365, 344, 7, 14]);
    let rules: Vec<_> = coverage["rules"].as_array().unwrap().iter().collect();
    assert_eq!((&rules[0]["rule"], &rules[0]["covered"]), (&"two-factor-required".into(), &351.into()));
    assert_eq!((&rules[1]["rule"], &rules[1]["covered"]), (&"branch-protection".into(), &344.into()));
    let gap = serde_json::json!({
        "after": "2026-07-31T03:00:00Z", "before": "2026-08-15T03:00:00Z", "seconds": 15 * DAY, "days": 15
    });
    assert_eq!(found["longest_gap"], gap);
    assert_eq!(found["cadence"], "daily");
    assert_eq!(
        (found["inputs"].as_array().unwrap().len(), found["keys"].as_array().unwrap().len()),
        (352, 2)
    );

    let exceptions = found["exceptions"].as_array().unwrap();
    let row = |one: &Value| {
        ["subject", "began", "last_pass", "first_fail", "last_fail", "first_pass", "ended"]
            .map(|name| one[name].as_str().unwrap_or("-").to_owned())
            .join(" ")
    };
    let rows: Vec<String> = exceptions.iter().map(row).collect();
    assert_eq!(
        rows,
        [
            "acme/old start - 2026-01-01T03:00:00Z 2026-08-31T03:00:00Z - deleted",
            "acme/api regression 2026-03-09T03:00:00Z 2026-03-10T03:00:00Z 2026-03-12T03:00:00Z \
             2026-03-13T03:00:00Z repaired",
            "acme/lab first_sight - 2026-11-20T03:00:00Z 2026-12-31T03:00:00Z - open",
        ]
    );
    let bundles: Vec<u64> = exceptions.iter().map(|one| one["bundles"].as_u64().unwrap()).collect();
    // 243 nights, 14 without a bundle, 7 not verifiable, one twice; three; eleven and 31.
    assert_eq!(bundles, [223, 3, 42]);
    let unseen: Vec<u64> = exceptions.iter().map(|one| one["unseen"].as_u64().unwrap()).collect();
    assert_eq!(unseen, [21, 0, 0]);
    let waivers: Vec<&Value> = exceptions.iter().flat_map(|one| one["waivers"].as_array().unwrap()).collect();
    let waiver = |number: usize, texts: [&str; 7], renewals: u64, bundles: u64| {
        let [id, state, approval, approved_at, expires_at, first, last] = texts;
        let applied = |day: &str| format!("{day}T03:00:00Z");
        let expected = serde_json::json!({
            "id": id, "state": state, "approval": approval, "approved_at": approved_at,
            "approved_by": "john.roe@acme.example", "expires_at": expires_at, "renewals": renewals,
            "bundles": bundles, "first_applied": applied(first), "last_applied": applied(last)
        });
        assert_eq!(*waivers[number], expected);
    };
    assert_eq!(waivers.len(), 3);
    // February, March, April without the nights that are not verifiable, May and June: 28 + 31 + 23 + 31 + 30.
    let old = ["W-old", "expired", "after", "2026-02-01", "2026-06-30", "2026-02-01", "2026-06-30"];
    waiver(0, old, 1, 143);
    // Two of the three nights.
    waiver(1, ["W-api", "expired", "before", "2026-03-09", "2026-03-11", "2026-03-10", "2026-03-11"], 0, 2);
    // 6 nights of November and 14 of December.
    waiver(2, ["W-lab", "removed", "after", "2026-11-25", "2026-12-31", "2026-11-25", "2026-12-14"], 0, 20);

    // Neither the output nor a file names a file or a folder.
    assert!(!run.stdout.contains("tar.gz") && !run.stdout.contains(&year()));
    for name in ["failures.csv", "population.csv", "events.csv"] {
        let text = fs::read_to_string(lab.path("period").join(name)).unwrap();
        insta::assert_snapshot!(format!("year_{}", name.replace('.', "_")), text.replace('\r', ""));
    }
    let days = fs::read_to_string(lab.path("period/days.csv")).unwrap();
    assert_eq!(days.lines().count(), 1 + 365 * 2);
    let of = |day: &str| {
        let lines = days.lines().filter(|line| line.starts_with(&format!("'{day},CC7.2")));
        lines.map(|line| line.rsplit_once("branch-protection,").unwrap().1).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(of("2026-03-11"), "1,yes,fail,2");
    assert_eq!(of("2026-04-08"), "1,no,not_verifiable,0");
    assert_eq!(of("2026-07-04"), "2,yes,fail,1");
    assert_eq!(of("2026-08-07"), "0,no,no_bundle,0");
    assert_eq!(of("2026-10-01"), "1,yes,pass,0");
    assert_eq!(fs::read_to_string(lab.path("period/inputs.csv")).unwrap().lines().count(), 353);
    let page = fs::read_to_string(lab.path("period/period.html")).unwrap();
    let page =
        page.replace("<span class=\"run\">", "").replace("</span>, ", ", ").replace("</span></li>", "</li>");
    for text in [
        "344 of 365 days",
        "between 2 and 4 days",
        "15 days",
        "acme/store",
        "1 of 3 failures was repaired; it lasted between 2 and 4 days",
        "<strong>7 days not verifiable:</strong> 2026-04-06 to 2026-04-12",
        "<strong>14 days without a bundle:</strong> 2026-08-01 to 2026-08-14",
        // Every night until the end of August, without the two above, and from 20 November.
        "<strong>264 days with a failure:</strong> 2026-01-01 to 2026-04-05, 2026-04-13 to 2026-07-31, \
         2026-08-15 to 2026-08-31, 2026-11-20 to 2026-12-31",
        "Waiver W-old: expired on 2026-06-30",
        // The days above, and both nights of 4 July on one of them.
        "264 of 351 days with a bundle have a failure",
        "<strong>1 day with more than one bundle, the worst result counts:</strong> 2026-07-04",
        // 14 nights without a bundle and 7 not verifiable.
        "not seen in 21 days of that time",
        "2026-01-01: all 4 repositories of acme",
        "2026-12-31: all 4 repositories of acme",
    ] {
        assert!(
            page.contains(text)
                || page.contains(&text.replace("between 2 and 4 days", "between 2 days and 4 days")),
            "{text}"
        );
    }
    // Two rules, each with twelve months of cells.
    assert_eq!(page.matches("<div class=\"row\">").count(), 2 * 12);
    assert_eq!(page.matches("<span class=\"cell ").count(), 6 + 2 * 365);
    assert!(!page.contains("tar.gz") && !page.contains("src=") && !page.contains("<script"));
}

#[test]
fn the_year_as_text() {
    let lab = Lab::new(acme());
    insta::assert_snapshot!("year_text", history(&lab, &[&year()]).exits(0).shown());
    let text = history(&lab, &[&year()]).exits(0).stdout;
    assert!(text.find("Not covered").unwrap() < text.find("\nCovered").unwrap());
}

/// The output is the same bytes for the same bundles.
#[test]
fn only_the_bundles_of_the_period_count() {
    let lab = Lab::new(acme());
    let month = ["--json", "--from", "2026-03-01", "--to", "2026-03-31"];
    let whole = run(&lab, "history", &[&month[..], &[&year()]].concat()).exits(0);
    // In another order, one twice, and without the others.
    let mut march: Vec<String> = (1..=31).rev().map(|day| night(&format!("2026-03-{day:02}"))).collect();
    march.push(march[3].clone());
    let names: Vec<&str> = march.iter().map(String::as_str).collect();
    let alone = run(&lab, "history", &[&month[..], &names].concat()).exits(0);
    assert_eq!(alone.stdout, whole.stdout);
    // The machine's time zone does not matter.
    for zone in ["Asia/Kathmandu", "America/St_Johns", "Pacific/Apia"] {
        let keys = [1, 2].map(|number| format!("{}/key-{number}.pem", year()));
        let mut command = lab.command(&["history", "-k", &keys[0], "-k", &keys[1], &year()]);
        command.args(month).env("TZ", zone);
        assert_eq!(lab.run_command(command).exits(0).stdout, whole.stdout);
    }
    // A failure that began before the period is open at its start.
    let exceptions = json(&whole)["exceptions"].clone();
    assert_eq!((&exceptions[0]["subject"], &exceptions[0]["began"]), (&"acme/old".into(), &"start".into()));
    // Without one of its bundles, only the coverage is lower.
    let fewer: Vec<&str> = names.iter().copied().filter(|name| !name.contains("03-20")).collect();
    let fewer = json(&run(&lab, "history", &[&month[..], &fewer].concat()).exits(0));
    let all = json(&whole);
    assert_eq!(
        fewer["coverage"]["complete"].as_u64().unwrap() + 1,
        all["coverage"]["complete"].as_u64().unwrap()
    );
    assert_eq!(fewer["coverage"]["missing"], 1);
    for part in ["population", "changes", "cadence", "from", "to"] {
        assert_eq!(fewer[part], all[part]);
    }
    let times = |found: &Value| {
        let of = |one: &Value| (one["number"].clone(), one["first_fail"].clone(), one["ended"].clone());
        found["exceptions"].as_array().unwrap().iter().map(of).collect::<Vec<_>>()
    };
    assert_eq!(times(&fewer), times(&all));
}

#[test]
fn inputs_that_do_not_verify_are_listed_and_end_with_7() {
    let lab = Lab::new(acme());
    let month = ["--json", "--from", "2026-03-01", "--to", "2026-03-31"];
    let mut bytes = fs::read(night("2026-03-05")).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    lab.write("damaged.tar.gz", &bytes);
    let (first, second) = (night("2026-03-01"), night("2026-03-31"));
    let run7 = run(&lab, "history", &[&month[..], &[&first, "damaged.tar.gz", &second]].concat()).exits(7);
    let found = json(&run7);
    assert_eq!(found["inputs"].as_array().unwrap().len(), 2);
    assert_eq!(found["not_used"].as_array().unwrap().len(), 1);
    assert_eq!(found["not_used"][0]["sha256"].as_str().unwrap().len(), 64);
    assert!(run7.stderr.contains("damaged.tar.gz") && !run7.stdout.contains("damaged"));
    run(&lab, "history", &["damaged.tar.gz"]).exits(7);
    run(&lab, "history", &["nowhere.tar.gz"]).exits(1);
    run(&lab, "history", &["--from", "2030-01-01", &first]).exits(1).says("no verified bundle in the period");
    run(&lab, "history", &["--from", "2026-02-01", "--to", "2026-01-01", &first]).exits(1);
    run(&lab, "history", &["--from", "yesterday", &first]).exits(1).says("write it as 2026-01-31");
    fs::create_dir(lab.path("empty")).unwrap();
    run(&lab, "history", &["empty"]).exits(1).says("no bundle in the folder");
    // Another organization in the folder.
    let other =
        Night { organization: "other", ..Night::new("2026-03-15T03:00:00Z", vec![good("other/a", 9)]) };
    other.write(&lab.path("other.tar.gz"));
    run(&lab, "history", &[&month[..], &[&first, "other.tar.gz"]].concat()).exits(1).says("--expect-org");
    let args = [&month[..], &[&first, "other.tar.gz", "--expect-org", "ACME"]].concat();
    assert_eq!(json(&run(&lab, "history", &args).exits(0))["not_used"][0]["why"], "other_organization");
}

#[test]
fn a_bundle_that_follows_a_newer_one_covers_no_day() {
    let lab = Lab::new(acme());
    let newer = Night::new("2026-03-10T03:00:00Z", vec![bad("acme/api", 2)]);
    let previous = newer.write(&lab.path("newer.tar.gz"));
    let dated =
        Night { previous: Some(previous), ..Night::new("2026-03-05T03:00:00Z", vec![good("acme/api", 2)]) };
    dated.write(&lab.path("dated.tar.gz"));
    let args = ["--json", "--from", "2026-03-01", "--to", "2026-03-31", "newer.tar.gz", "dated.tar.gz"];
    let found = json(&run(&lab, "history", &args).exits(0));
    assert_eq!(found["inputs"][0]["back_dated"], true);
    assert_eq!((&found["coverage"]["complete"], &found["cadence"]), (&1.into(), &Value::Null));
    assert_eq!(found["exceptions"][0]["began"], "start");
    let text = run(&lab, "history", &args[1..]).exits(0).stdout;
    assert!(text.contains("back-dated") && text.contains("no cadence is configured"), "{text}");
    run(&lab, "verify", &["--chain", "newer.tar.gz", "dated.tar.gz"]).exits(7);
}

#[test]
fn the_row_of_the_year_is_unbroken() {
    let lab = Lab::new(acme());
    let whole = run(&lab, "verify", &["--chain", &year()]).exits(0);
    assert!(whole.stdout.contains("352 of 352 bundles verified") && whole.stdout.contains("UNBROKEN"));
    let copy = lab.path("copy");
    fs::create_dir(&copy).unwrap();
    let days: Vec<String> = (1..=9).map(|day| format!("2026-01-{day:02}")).collect();
    let place = |day: &str| copy.join(format!("b-{day}-03-00-00.tar.gz"));
    for day in &days {
        fs::copy(night(day), place(day)).unwrap();
    }
    run(&lab, "verify", &["--chain", "copy"]).exits(0);
    // Pruned.
    fs::remove_file(place("2026-01-01")).unwrap();
    let pruned = run(&lab, "verify", &["--chain", "copy"]).exits(0);
    insta::assert_snapshot!("chain_pruned", pruned.shown());
    // Removed from the middle.
    fs::remove_file(place("2026-01-05")).unwrap();
    let missing = run(&lab, "verify", &["--chain", "--json", "copy"]).exits(7);
    let found = json(&missing);
    assert_eq!(found["rows"][0]["unbroken"], false);
    let codes: Vec<_> =
        found["rows"][0]["findings"].as_array().unwrap().iter().map(|one| &one["code"]).collect();
    assert_eq!(codes, ["predecessor_unknown", "link_missing"]);
    assert_eq!(found["rows"][0]["longest_gap"]["days"], 2);
    // A fork, and another organization.
    fs::copy(night("2026-01-05"), place("2026-01-05")).unwrap();
    let previous = Night::new("2026-01-04T03:00:00Z", Vec::new()).id;
    let list = json(&run(&lab, "verify", &["--json", &night("2026-01-04")]))["checksums_sha256"].clone();
    let previous = Previous { bundle_id: previous, checksums_sha256: list.as_str().unwrap().to_owned() };
    let fork =
        Night { previous: Some(previous), ..Night::new("2026-01-05T15:00:00Z", vec![good("acme/a", 1)]) };
    fork.write(&copy.join("fork.tar.gz"));
    let other =
        Night { organization: "other", ..Night::new("2026-01-02T15:00:00Z", vec![good("other/a", 9)]) };
    other.write(&copy.join("other.tar.gz"));
    let forked = run(&lab, "verify", &["--chain", "copy"]).exits(0);
    assert!(forked.stdout.contains("a fork") && forked.stdout.contains("2 organizations or frameworks"));
    // One that does not verify.
    fs::write(copy.join("bad.tar.gz"), "no bundle").unwrap();
    run(&lab, "verify", &["--chain", "copy"]).exits(7).says("bad.tar.gz: FAILED");
    fs::create_dir(lab.path("empty")).unwrap();
    run(&lab, "verify", &["--chain", "empty"]).exits(1);
}

#[test]
fn differences_mirror() {
    let lab = Lab::new(acme());
    let (before, after) = (night("2026-03-09"), night("2026-03-10"));
    let diff = |from: &str, to: &str, more: &[&str]| run(&lab, "diff", &[&[from, to], more].concat());
    insta::assert_snapshot!("diff_text", diff(&before, &after, &[]).exits(0).shown());
    insta::assert_snapshot!(
        "diff_markdown",
        diff(&before, &after, &["--format", "markdown"]).exits(0).shown()
    );
    let same = json(&diff(&before, &before, &["--json", "--fail-on", "any"]).exits(0));
    assert_eq!(
        (&same["chain"], &same["checks"], &same["context"]),
        (&"same".into(), &Value::Array(vec![]), &Value::Array(vec![]))
    );
    // A waiver accepts the regression; without it, the gate is not met.
    diff(&before, &after, &["--fail-on", "regression"]).exits(0).says("1 with one");
    diff(&before, &after, &["--fail-on", "regression", "--ignore-waivers"]).exits(8);
    diff(&before, &after, &["--fail-on", "lost-sight"]).exits(0);
    diff(&after, &before, &["--fail-on", "regression"]).exits(0);
    diff(&after, &before, &["--fail-on", "any"]).exits(8);
    diff(&night("2026-04-05"), &night("2026-04-06"), &["--fail-on", "lost-sight"]).exits(8);
    // Everything that happened over the year, from both sides.
    let days = ["2026-01-01", "2026-03-11", "2026-04-08", "2026-06-15", "2026-09-02", "2026-12-31"];
    let mirror = |class: &str| match class {
        "regression" => "recovered",
        "recovered" => "regression",
        "lost_sight" => "seen_again",
        "seen_again" => "lost_sight",
        "new" | "first_failure" => "gone",
        other => panic!("{other}"),
    };
    for (from, to) in
        days.iter().flat_map(|from| days.iter().map(move |to| (from, to))).filter(|(a, b)| a < b)
    {
        let forward = json(&diff(&night(from), &night(to), &["--json"]).exits(0));
        let backward = json(&diff(&night(to), &night(from), &["--json"]).exits(0));
        let rows = |found: &Value, is_mirrored: bool| {
            let mut rows: Vec<String> = found["checks"]
                .as_array()
                .unwrap()
                .iter()
                .map(|check| {
                    let (from, to) = if is_mirrored { ("to", "from") } else { ("from", "to") };
                    let class = check["class"].as_str().unwrap();
                    let gone = check["from"].is_null() || check["to"].is_null();
                    // What is gone can come back as new or as a first failure.
                    let class = if gone {
                        "other side"
                    } else if is_mirrored {
                        mirror(class)
                    } else {
                        class
                    };
                    format!("{class} {} {} {}", check["rule"], check[from], check[to])
                })
                .collect();
            rows.sort();
            rows
        };
        assert_eq!(rows(&forward, false), rows(&backward, true), "{from} {to}");
        assert_eq!(forward["seconds"].as_i64().unwrap(), -backward["seconds"].as_i64().unwrap());
        assert_eq!(forward["artifacts"]["added"], backward["artifacts"]["removed"]);
        let waivers = |found: &Value, is_mirrored: bool| {
            let sides = if is_mirrored { ["to", "from"] } else { ["from", "to"] };
            let row = |one: &Value| {
                let change = match one["change"].as_str().unwrap() {
                    "came" if is_mirrored => "gone",
                    "gone" if is_mirrored => "came",
                    "renewed" if is_mirrored => "shortened",
                    "shortened" if is_mirrored => "renewed",
                    "expired" if is_mirrored => "in_force",
                    "in_force" if is_mirrored => "expired",
                    change => change,
                };
                format!("{} {change} {} {}", one["id"], one[sides[0]], one[sides[1]])
            };
            found["waivers"].as_array().unwrap().iter().map(row).collect::<Vec<_>>()
        };
        assert_eq!(waivers(&forward, false), waivers(&backward, true), "{from} {to}");
    }
    // A rename is one, and not gone and new.
    let renamed = json(&diff(&night("2026-06-14"), &night("2026-06-15"), &["--json"]).exits(0));
    assert_eq!(
        (&renamed["renamed"][0]["was"], &renamed["renamed"][0]["is"]),
        (&"acme/shop".into(), &"acme/store".into())
    );
    assert_eq!(renamed["checks"], Value::Array(vec![]));
    assert_eq!(renamed["chain"], "follows");
    lab.write("bad.tar.gz", "no bundle");
    diff(&before, "bad.tar.gz", &[]).exits(7);
    diff("nowhere.tar.gz", &after, &[]).exits(1);
}

/// Draws the days again with the programs that the documents name.
#[test]
fn stock_tools_draw_the_same_days() {
    let lab = Lab::new(acme());
    let days = [
        "--from",
        "days",
        "--from-date",
        "2026-07-01",
        "--to-date",
        "2026-08-31",
        "--count",
        "12",
        "--seed",
        "Acme: draw 1",
    ];
    let drawn = json(&run(&lab, "sample", &[&days[..], &["--format", "json", &year()]].concat()).exits(0));
    assert_eq!((&drawn["of"], drawn["items"].as_array().unwrap().len()), (&62.into(), 12));
    let script = r#"for i in $(seq 0 61); do
        day=$(date -u -d "2026-07-01 + $i days" +%F)
        printf '%s  %s\n' "$(printf '%s:%s' 'Acme: draw 1' "$day" | sha256sum | cut -c1-64)" "$day"
    done | sort | head -n 12"#;
    let output = Command::new("sh").args(["-c", script]).output().unwrap();
    let expected = String::from_utf8(output.stdout).unwrap();
    let rows = drawn["items"].as_array().unwrap().iter();
    let lines = rows.clone().map(|item| {
        format!("{}  {}\n", item["sha256"].as_str().unwrap(), item["identity"].as_str().unwrap())
    });
    assert_eq!(lines.collect::<String>(), expected);
    // A day of the missing fortnight is in the draw.
    assert!(rows.clone().any(|item| item["bundles"].as_array().unwrap().is_empty()), "{drawn}");
    assert!(rows.clone().any(|item| item["bundles"].as_array().unwrap().len() == 1));
    // The days alone need no bundle.
    let alone = json(&lab.run(&[&["sample"][..], &days, &["--format", "json"]].concat()).exits(0));
    assert_eq!(alone["items"][0]["sha256"], drawn["items"][0]["sha256"]);
    insta::assert_snapshot!(
        "sample_days",
        run(&lab, "sample", &[&days[..7], &["3", "--seed", "s", &year()]].concat()).exits(0).shown()
    );
    run(&lab, "sample", &[&days[..], &["--format", "csv", &year()]].concat()).exits(0);
    run(&lab, "sample", &[&days[..], &["--status", "fail", &year()]].concat())
        .exits(1)
        .says("does not apply");
    run(&lab, "sample", &["--from", "days", "--count", "1", "--seed", "s", &year()])
        .exits(1)
        .says("--from-date");
}

#[test]
fn several_bundles_at_once() {
    let lab = Lab::new(acme());
    let paths: Vec<PathBuf> =
        ["2026-01-01", "2026-01-02"].map(night).into_iter().map(PathBuf::from).collect();
    fs::create_dir_all(lab.path("two/below")).unwrap();
    for path in &paths {
        fs::copy(path, lab.path("two").join(path.file_name().unwrap())).unwrap();
        fs::copy(path, lab.path("two/below").join(path.file_name().unwrap())).unwrap();
    }
    lab.write("two/notes.txt", "not a bundle");
    let both = run(&lab, "verify", &["two"]).exits(0);
    insta::assert_snapshot!("several_verified", both.shown());
    lab.write("bad.tar.gz", "no bundle");
    let first = paths[0].to_str().unwrap();
    // 7 comes before 1.
    let mixed = run(&lab, "verify", &[first, "nowhere.tar.gz", "bad.tar.gz"]).exits(7);
    insta::assert_snapshot!("several_mixed", mixed.shown());
    run(&lab, "verify", &[first, "nowhere.tar.gz"]).exits(1);
    let quiet = run(&lab, "verify", &["-q", first, "bad.tar.gz"]).exits(7);
    assert_eq!((quiet.stdout.as_str(), quiet.stderr.lines().count()), ("", 1));
    let found = json(&run(&lab, "verify", &["--json", first, "nowhere.tar.gz", "bad.tar.gz"]).exits(7));
    let verdicts: Vec<_> = found["bundles"].as_array().unwrap().iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["verified", "not_judged", "failed"]);
    assert_eq!(found["bundles"][1]["file"], "nowhere.tar.gz");
    // One file is one object, one folder a list.
    assert_eq!(json(&run(&lab, "verify", &["--json", first]).exits(0))["verdict"], "verified");
    assert_eq!(
        json(&run(&lab, "verify", &["--json", "two"]).exits(0))["bundles"].as_array().unwrap().len(),
        2
    );

    let found =
        json(&run(&lab, "show", &["--format", "json", first, "bad.tar.gz", "nowhere.tar.gz"]).exits(7));
    let verdicts: Vec<_> = found["bundles"].as_array().unwrap().iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["verified", "failed", "not_judged"]);
    let unknown = run(&lab, "show", &["--format", "json", "--control", "CC9.9", "two"]).exits(1);
    assert_eq!(json(&unknown)["bundles"][1]["verdict"], "not_judged");
    let shown = run(&lab, "show", &["two"]).exits(0).shown();
    insta::assert_snapshot!("several_shown", shown.replace(&year(), "[YEAR]"));
    run(&lab, "show", &["--format", "csv", "two"]).exits(1).says("one bundle");
    // A gate holds for each bundle, and an error counts more than the gate.
    run(&lab, "show", &["--fail-on", "fail", "two"]).exits(8);
    run(&lab, "show", &["--fail-on", "fail", first, "bad.tar.gz"]).exits(7);
    run(&lab, "show", &["--fail-on", "fail", first, "nowhere.tar.gz"]).exits(1);
    let draw = ["--from", "checks", "--count", "2", "--seed", "s", "two"];
    let found = json(&run(&lab, "sample", &[&["--format", "json"][..], &draw].concat()).exits(0));
    let ids: Vec<_> = found["bundles"].as_array().unwrap().iter().map(|one| &one["bundle_id"]).collect();
    assert_eq!(ids, ["b-2026-01-01-03-00-00", "b-2026-01-02-03-00-00"]);
    run(&lab, "sample", &draw).exits(0);
}

/// How long a year takes. `BUNDLES` and `CHECKS` are numbers; the test prints the time, and the memory by GNU time.
/// `EVIDENCE_YEARS` is a folder that keeps the bundles, for the next run and for other programs.
#[test]
#[ignore = "a measurement: it prints the time, and asserts that each run succeeds"]
fn time_of_a_year() {
    let number = |name: &str, usual: u32| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let (bundles, checks) = (number("BUNDLES", 365), number("CHECKS", 300));
    let names: Vec<&'static str> =
        (0..checks).map(|n| &*Box::leak(format!("acme/r{n:06}").into_boxed_str())).collect();
    let lab = Lab::new(acme());
    let many = std::env::var_os("EVIDENCE_YEARS")
        .map_or_else(|| lab.path("many"), |folder| PathBuf::from(folder).join(format!("{bundles}x{checks}")));
    fs::create_dir_all(&many).unwrap();
    for night in 0..bundles {
        let time =
            evidence_bundle::time::format(at("2026-01-01T03:00:00Z") + i64::from(night) * DAY).unwrap();
        let repos = names
            .iter()
            .zip(1_u32..)
            .map(|(name, id)| if (id + night) % 97 == 0 { bad(name, id) } else { good(name, id) });
        let night = Night::new(&time, repos.collect());
        let place = many.join(format!("{}.tar.gz", night.id));
        if !place.exists() {
            night.write(&place);
        }
    }
    fs::write(many.join("k.pem"), key(1).public_key().to_spki_pem()).unwrap();
    for _ in 0..2 {
        let begin = std::time::Instant::now();
        let mut command = Command::new("/usr/bin/time");
        command.args([
            "-f",
            "%M kB",
            env!("CARGO_BIN_EXE_evidence"),
            "history",
            "-k",
            "k.pem",
            "--json",
            ".",
        ]);
        let output = command.current_dir(&many).output().unwrap();
        let memory = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{memory}");
        println!("{bundles} bundles of {checks} checks: {:?}, {}", begin.elapsed(), memory.trim());
    }
}
