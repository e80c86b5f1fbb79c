//! The changes of a period: merged pull requests with their approvals, pushes past them, and the host's own totals.

use sandbox::codehost::{Change, CodeHost, Endpoint, Pushed, Repository, Token};
use serde_json::json;

use super::common::{Bundle, Lab, TOKEN, acme, repository, strong};
use super::security::checks;

const ONLY: &str = "rules:\n  exclude: [branch-protection, codeowners-default-rule, history-protected, stale-approvals-dismissed]\n";

fn lab(host: CodeHost, more: &str) -> Lab {
    Lab::new(host)
        .with(|config| config.framework("tsc_2017").controls("[CC8.1]").rest(&format!("{ONLY}{more}")))
}

fn host(repositories: impl IntoIterator<Item = Repository>) -> CodeHost {
    repositories.into_iter().fold(acme(), CodeHost::repository)
}

fn merged(number: u64) -> Change {
    Change::new(number, Some("mia"), 48)
}

fn verified(lab: &Lab, bundle: &Bundle) {
    let path = bundle.path.to_string_lossy().into_owned();
    lab.run(&["verify", "-k", "key.pub.pem", "--require-judgement", &path]).exits(0);
}

fn has(bundle: &Bundle, lines: &[&str]) {
    let found = checks(bundle);
    for line in lines {
        assert!(found.contains(&(*line).to_string()), "{line}: {found:#?}");
    }
}

/// A change passes only with the last word of another person, on the commit that was merged.
#[test]
fn who_approved_what() {
    let both = |name: &str, change: Change| repository(name).change(change);
    let dismissing = || strong().dismiss_stale_reviews();
    let lab = lab(
        host([
            both("approved", merged(1).approved_by("mona")),
            both("own", merged(1).approved_by("mia")),
            both("bot", merged(1).approved_by("renovate[bot]")),
            both("nobody", merged(1)),
            both("taken-back", merged(1).approved_by("mona").review(Some("mona"), "CHANGES_REQUESTED")),
            both("commented", merged(1).approved_by("mona").review(Some("mona"), "COMMENTED")),
            both("deleted", merged(1).review(None, "APPROVED")),
            both("ghost", Change::new(1, None, 48).approved_by("mona")),
            both("stale", merged(1).approved_by("mona").before_a_push()),
            both("survived", merged(1).approved_by("mona").before_a_push()).protection("main", dismissing()),
            both("unknown", merged(1).approved_by("mona").before_a_push()).refusal(
                Endpoint::Protection,
                404,
                "Not Found",
            ),
            both("elsewhere", merged(1).into_branch("release")),
            both("old", merged(1)).archived(true),
            both("other-default", merged(1)).default_branch("trunk"),
            repository("quiet").change(merged(2).not_merged()),
        ]),
        "",
    );
    let bundle = lab.collect(&[]).exits(0).bundle();
    has(
        &bundle,
        &[
            "changes-approved acme/approved pass ok",
            "changes-approved acme/own fail change_not_approved",
            "changes-approved acme/bot fail change_not_approved",
            "changes-approved acme/nobody fail change_not_approved",
            "changes-approved acme/taken-back fail change_not_approved",
            "changes-approved acme/commented pass ok",
            "changes-approved acme/deleted not_verifiable account_not_visible",
            "changes-approved acme/ghost not_verifiable account_not_visible",
            "changes-approved acme/stale fail change_not_approved",
            "changes-approved acme/survived pass ok",
            "changes-approved acme/unknown not_verifiable dismiss_stale_reviews_not_visible",
            "changes-approved acme/elsewhere not_applicable nothing_in_scope",
            "changes-approved acme/old not_applicable archived",
            "changes-approved acme/other-default not_verifiable default_branch_differs",
            "changes-approved acme/quiet not_applicable nothing_in_scope",
            // Judged with or without merges.
            "no-direct-push acme/quiet pass ok",
            "no-direct-push acme/approved pass ok",
        ],
    );
    let record = bundle.artifact("repo_acme_approved_changes.json").unwrap();
    let change = &record["changes"][0];
    assert_eq!(
        (&change["number"], &change["author"], &change["merged_by"], &change["reviews"][0]["by"]["login"]),
        (&json!(1), &json!({"login": "mia", "type": "User"}), &json!("olivia-owner"), &json!("mona"))
    );
    assert_eq!(
        (&record["total"], &record["listed"], &record["branch"]),
        (&json!(1), &json!(1), &json!("main"))
    );
    // The host's own total of the whole organization stands beside the lists.
    let total = bundle.artifact("changes_total.json").unwrap();
    assert_eq!((&total["total"], total["repositories"].as_array().unwrap().len()), (&json!(14), 14));
    // Nothing of what people wrote is anywhere in the bundle.
    for (path, content) in &bundle.entries {
        assert!(!String::from_utf8_lossy(content).contains("MARKER"), "{path}");
    }
    let scope = bundle.json("derived/scope.json");
    assert!(scope["sources"][0]["settings"]["period"]["from"].is_string(), "{scope}");
    verified(&lab, &bundle);
}

/// What reached the branch past pull requests, unless the account may.
#[test]
fn direct_pushes() {
    let repositories = || {
        [
            repository("pushed").pushed(Pushed::new(Some("mia"), "push", 30)),
            repository("forced").pushed(Pushed::new(Some("mia"), "force_push", 30)),
            repository("deleted").pushed(Pushed::new(None, "push", 30)),
            repository("released").pushed(Pushed::new(Some("release-bot"), "push", 30)),
            repository("before").pushed(Pushed::new(Some("mia"), "push", 24 * 100)),
            repository("created").pushed(Pushed::new(Some("mia"), "branch_creation", 30)),
            repository("merged").change(merged(1).approved_by("mona")),
        ]
    };
    let lab = Lab::new(host(repositories())).with(|config| {
        config.framework("tsc_2017").controls("[CC8.1]").source("exempt_pushers", "[Release-Bot]").rest(ONLY)
    });
    let bundle = lab.collect(&[]).exits(0).bundle();
    has(
        &bundle,
        &[
            "no-direct-push acme/pushed fail pushed_directly",
            "no-direct-push acme/forced fail pushed_directly",
            "no-direct-push acme/deleted not_verifiable account_not_visible",
            "no-direct-push acme/released pass ok",
            "no-direct-push acme/before pass ok",
            "no-direct-push acme/created pass ok",
            "no-direct-push acme/merged pass ok",
        ],
    );
    assert_eq!(
        bundle.json("derived/scope.json")["sources"][0]["settings"]["exempt_pushers"],
        json!(["Release-Bot"])
    );
    verified(&lab, &bundle);
}

/// A list that the host does not confirm is never a pass: the index lags, ends early, or knows more.
#[test]
fn the_hosts_own_total() {
    let web = || repository("web").change(merged(1).approved_by("mona"));
    // What is not in the index for less than an hour is not missing.
    let fresh = Change::new(2, Some("mia"), 0).minutes(30).approved_by("mona").unindexed();
    let lab_of = |host: CodeHost| lab(host, "");
    let good = lab_of(host([web().change(fresh)]));
    let bundle = good.collect(&[]).exits(0).bundle();
    has(&bundle, &["changes-approved acme/web pass ok"]);
    let record = bundle.artifact("repo_acme_web_changes.json").unwrap();
    assert_eq!(
        (&record["total"], &record["listed"], record["changes"].as_array().unwrap().len()),
        (&json!(1), &json!(1), 2)
    );
    let lost = lab_of(host([web().change(merged(3).approved_by("mona").unindexed())]));
    let bundle = lost.collect(&[]).exits(3).bundle();
    has(&bundle, &["changes-approved acme/web not_verifiable population_incomplete"]);
    verified(&lost, &bundle);
    let early = lab_of(host([web()]).incomplete_search());
    let bundle = early.collect(&[]).exits(3).bundle();
    has(
        &bundle,
        &[
            "changes-approved acme/web not_verifiable population_incomplete",
            "no-direct-push acme/web pass ok",
        ],
    );
    verified(&early, &bundle);
}

/// The host shows a thousand results of a search: more are asked for in halves of the period.
#[test]
fn more_than_a_search_shows() {
    let many = (1..=1_150).map(|number| {
        let hours = 3 + i64::try_from(number).unwrap() % 2_000;
        Change::new(number, Some("mia"), hours).approved_by("mona")
    });
    let lab = lab(
        host([many.fold(repository("busy"), Repository::change), repository("web").change(merged(1))]),
        "",
    );
    let bundle = lab.collect(&[]).exits(0).bundle();
    has(
        &bundle,
        &["changes-approved acme/busy pass ok", "changes-approved acme/web fail change_not_approved"],
    );
    let record = bundle.artifact("repo_acme_busy_changes.json").unwrap();
    assert_eq!((&record["total"], record["changes"].as_array().unwrap().len()), (&json!(1_150), 1_150));
    assert_eq!(bundle.artifact("changes_total.json").unwrap()["total"], json!(1_151));
    let searches = lab.requested().into_iter().filter(|path| path.starts_with("/search/")).count();
    // One that shows too many, and the pages of two halves.
    assert!((13..=15).contains(&searches), "{searches}");
    verified(&lab, &bundle);
}

/// The times of the pull requests decide, not the order of their numbers: one that was merged in the period is found behind
/// others that changed later, and those before the period are left.
#[test]
fn the_period() {
    let hours = |days: i64| days * 24;
    let web = repository("web")
        .change(Change::new(1, Some("mia"), hours(100)).updated(1))
        .change(Change::new(2, Some("mia"), hours(80)).approved_by("mona"))
        .change(Change::new(3, Some("mia"), hours(8)).approved_by("mona"));
    let numbers = |more: &str| {
        let lab = lab(host([web.clone()]), more);
        let bundle = lab.collect(&[]).exits(0).bundle();
        verified(&lab, &bundle);
        let record = bundle.artifact("repo_acme_web_changes.json").unwrap();
        record["changes"]
            .as_array()
            .unwrap()
            .iter()
            .map(|change| change["number"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    assert_eq!(numbers(""), [2, 3]);
    assert_eq!(numbers("period: {days: 10}\n"), [3]);
    assert_eq!(numbers("period: {days: 366}\n"), [1, 2, 3]);
    for (period, says) in [
        ("{days: 0}", "1 to 366"),
        ("{from: 2020-01-01}", "1 to 366 days"),
        ("{from: 2026-02-01, to: 2026-01-01}", "1 to 366 days"),
        ("{from: 2025-01-01, to: 2026-02-01}", "1 to 366 days"),
        ("{from: 2099-01-01, to: 2099-02-01}", "in the future"),
        ("{from: yesterday, to: 2026-02-01}", "not a date"),
    ] {
        let lab = lab(host([web.clone()]), &format!("period: {period}\n"));
        lab.collect(&[]).exits(1).says(says);
    }
}

/// What a token may not read is neither passed nor failed, and each rule stands alone.
#[test]
fn refusals() {
    let web = || repository("web").private(true).change(merged(1).approved_by("mona"));
    let token = |permissions: &[&str]| {
        Token::fine_grained(TOKEN).resource_owner("acme").permissions(permissions.iter().copied())
    };
    for (host, changes, pushes) in [
        (
            host([web()]).token(token(&["metadata:read", "contents:read"])),
            "not_verifiable permission_denied",
            "pass ok",
        ),
        (
            host([web()]).token(token(&["metadata:read", "pull_requests:read"])),
            "pass ok",
            "not_verifiable permission_denied",
        ),
        (
            host([web().refusal(Endpoint::Reviews, 403, "Resource not accessible by integration")]),
            "not_verifiable permission_denied",
            "pass ok",
        ),
        (
            host([web().refusal(Endpoint::Pulls, 404, "Not Found")]),
            "not_verifiable permission_denied",
            "pass ok",
        ),
    ] {
        let lab = lab(host, "");
        let bundle = lab.collect(&[]).exits(3).bundle();
        has(
            &bundle,
            &[&format!("changes-approved acme/web {changes}"), &format!("no-direct-push acme/web {pushes}")],
        );
        verified(&lab, &bundle);
    }
}

/// One request for the pull requests and one for the activity of each repository, one for the reviews of each change, and
/// one search; the dry run counts them. A rule that is left out costs nothing.
#[test]
fn requests() {
    let repositories = || {
        [
            repository("web").change(merged(1).approved_by("mona")).change(merged(2).approved_by("mona")),
            repository("api"),
        ]
    };
    let asked = |lab: &Lab| {
        lab.requested()
            .into_iter()
            .filter(|path| !path.starts_with("/orgs/") && path != "/user")
            .collect::<Vec<_>>()
    };
    let lab_of = |more: &str| lab(host(repositories()), more);
    let both = lab_of("");
    both.collect(&[]).exits(0);
    let found: Vec<String> =
        asked(&both).iter().map(|path| path.split('?').next().unwrap().to_string()).collect();
    let count = |name: &str| found.iter().filter(|path| path.ends_with(name)).count();
    assert_eq!(
        (count("/pulls"), count("/activity"), count("/reviews"), count("/search/issues"), found.len()),
        (2, 2, 2, 1, 7)
    );
    let dry = lab_of("").collect(&["--dry-run"]).exits(0);
    assert!(dry.all().contains("requests       8 to 10;"), "{}", dry.all());
    let without = Lab::new(host(repositories())).with(|config| {
        config.framework("tsc_2017").controls("[CC8.1]").rest(&ONLY.replace("]\n", ", changes-approved]\n"))
    });
    without.collect(&[]).exits(0);
    assert!(asked(&without).iter().all(|path| path.contains("/activity?")), "{:?}", asked(&without));
}

/// The auditor draws from the changes and the people of the bundle, as stock tools do.
#[test]
fn samples() {
    let busy =
        (1..=60).fold(repository("busy"), |web, number| web.change(merged(number).approved_by("mona")));
    let lab =
        Lab::new(host([busy, repository("web").change(merged(7)).change(merged(8).into_branch("release"))]))
            .with(|config| config.framework("tsc_2017").controls("[CC8.1, CC6.3]").rest(ONLY));
    let bundle = lab.collect(&[]).exits(0).bundle();
    let path = bundle.path.to_string_lossy().into_owned();
    let sample = |arguments: &[&str]| {
        lab.run(&[&["sample", &path, "-k", "key.pub.pem", "--seed", "Acme 2026, draw 1"], arguments].concat())
    };
    let drawn = |from: &str, count: &str| -> Vec<(String, String)> {
        let run = sample(&["--from", from, "--count", count, "--format", "json"]).exits(0);
        let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(report["from"], from);
        let text = |item: &serde_json::Value, key: &str| item[key].as_str().unwrap().to_string();
        report["items"]
            .as_array()
            .unwrap()
            .iter()
            .map(|item| (text(item, "sha256"), text(item, "identity")))
            .collect()
    };
    // All of them are those of the artifacts; the change into another branch is none of the branch.
    let all = drawn("changes", "1000");
    assert_eq!(all.len(), 61);
    assert!(all.iter().any(|(_, identity)| identity == "acme/web|7"));
    assert_eq!(drawn("changes", "25"), all[..25]);
    for (sha256, identity) in &all {
        use sha2::Digest as _;
        let expected = hex::encode(sha2::Sha256::digest(format!("Acme 2026, draw 1:{identity}")));
        assert_eq!(*sha256, expected);
    }
    assert_eq!(drawn("people", "1000").len(), 4);
    // The commands of the page, as a reader pastes them.
    if ["bash", "tar", "awk", "sha256sum", "sort"].into_iter().all(crate::stock::is_there) {
        let page = crate::stock::read("docs/sampling.md");
        let blocks = page.split("```sh\n").skip(1).map(|rest| rest.split("```").next().unwrap());
        let directory = tempfile::tempdir().unwrap();
        std::fs::copy(&bundle.path, directory.path().join("evidence-bundle-20260102-030405.tar.gz")).unwrap();
        let mut compared = 0;
        for (name, from) in [("_changes.json", "changes"), ("people.json", "people")] {
            let Some(commands) = blocks.clone().find(|block| block.contains(name)) else { continue };
            let output = std::process::Command::new("bash")
                .args(["--norc", "-c", commands])
                .current_dir(&directory)
                .output()
                .unwrap();
            assert!(output.stderr.is_empty(), "{output:?}");
            let lines: Vec<String> =
                drawn(from, "25").iter().map(|(sha256, identity)| format!("{sha256}  {identity}")).collect();
            assert_eq!(
                String::from_utf8(output.stdout).unwrap().lines().collect::<Vec<_>>(),
                lines,
                "{from}"
            );
            compared += 1;
        }
        assert_eq!(compared, 2);
    }
    // The bundle has both lists as tables, and a bundle of other rules has none.
    let rows = |path: &str| {
        let text = String::from_utf8(bundle.file(path).unwrap().to_vec()).unwrap();
        text.lines().map(str::to_string).collect::<Vec<_>>()
    };
    assert_eq!((rows("derived/changes.csv").len(), rows("derived/people.csv").len()), (62, 5));
    let change = rows("derived/changes.csv")
        .into_iter()
        .find(|row| row.starts_with("codehost,acme/busy,60,"))
        .unwrap();
    assert!(
        change.starts_with("codehost,acme/busy,60,mia,olivia-owner,") && change.contains(",mona,APPROVED,"),
        "{change}"
    );
    assert!(rows("derived/people.csv").iter().any(|row| row.contains(",olivia-owner,owner,yes,")));
    // For people, and as a table.
    for (from, words) in [
        ("changes", ["2 of 61 merged changes", "approved by mona"]),
        ("people", ["2 of 4 people", "second factor"]),
    ] {
        let run = sample(&["--from", from, "--count", "2"]).exits(0);
        assert!(words.iter().all(|word| run.stdout.contains(word)), "{}", run.stdout);
    }
    let table = sample(&["--from", "changes", "--count", "2", "--format", "csv"]).exits(0);
    assert!(
        table.stdout.starts_with("item,sha256,source,identity,repository,number,login,"),
        "{}",
        table.stdout
    );
    // A filter of another list is refused, that of the name is not.
    sample(&["--from", "people", "--count", "2", "--rule", "owners-count"])
        .exits(1)
        .says("--rule does not apply to --from people");
    let run = sample(&["--from", "changes", "--count", "9", "--subject", "acme/web"]).exits(0);
    assert!(run.stdout.contains("1 of 1 merged change"), "{}", run.stdout);
}
