//! `revalidate: true` and `--resume`: the results, cost and output of a second run.

use std::process::Stdio;
use std::time::{Duration, Instant};

use sandbox::codehost::{CodeHost, File, Limits, Repository, Ruleset};

use crate::common::{Bundle, Lab, acme, names, repository, sound, strong};

/// Five repositories: four with everything, one without protection and owners.
fn lab() -> Lab {
    let host =
        ["api", "data", "mobile", "web"].iter().fold(acme(), |host, name| host.repository(sound(name)));
    let host = host.repository(repository("notes")).limits(Limits::documented());
    Lab::new(host).with(|config| config.source("revalidate", "true"))
}

/// Requests left in the current hour.
fn remaining(bundle: &Bundle) -> u64 {
    bundle.source()["rate_limit"]["remaining"].as_u64().unwrap()
}

#[test]
fn a_second_run_of_an_unchanged_organization_costs_one_request() {
    let lab = lab();
    let first = lab.collect(&[]).exits(0).says("rate limit").says_not("unchanged");
    let files = first.bundle();
    std::fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();

    let second = lab.collect(&[]).exits(0);
    insta::assert_snapshot!("second_run", second.shown());
    let bundle = second.bundle();
    // Only the question for the account counts.
    assert_eq!(remaining(&bundle), remaining(&files) - 1);
    assert_eq!(bundle.source()["revalidated"], 13);
    assert_eq!(bundle.source()["requests"], 14);
    for artifact in bundle.manifest()["artifacts"].as_array().unwrap() {
        let request = bundle.request_of(artifact["filename"].as_str().unwrap());
        assert_eq!(request["status"], 304, "{request}");
        assert!(request["etag"].is_string(), "{request}");
    }
    for path in files.paths().into_iter().filter(|path| path.starts_with("sources/")) {
        assert_eq!(bundle.file(path), files.file(path), "{path}");
    }
}

/// Repositories with missing files or settings.
fn incomplete() -> [Repository; 7] {
    let text = || File::text("* @acme/platform\n");
    [
        repository("bare"),
        repository("root").file("CODEOWNERS", text()),
        repository("hooks").file(".github/hooks.yml", text()).file("docs/index.md", text()),
        repository("docs").file(".github/hooks.yml", text()).file("docs/CODEOWNERS", text()),
        repository("folder").file("CODEOWNERS/README.md", text()),
        sound("ruled")
            .unprotected("main")
            .ruleset(Ruleset::new(1, "strong").reviews(2).status_checks(["ci"])),
        sound("weak").unprotected("main").ruleset(Ruleset::new(2, "weak").rule("deletion")),
    ]
}

/// The bundle of a run, which is not kept.
fn collected(lab: &Lab) -> Bundle {
    let bundle = lab.collect(&[]).bundle();
    std::fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();
    bundle
}

/// Both checks of every repository.
fn checks(bundle: &Bundle) -> Vec<[(String, String); 2]> {
    let names = ["bare", "docs", "folder", "hooks", "root", "ruled", "weak"];
    names
        .map(|name| ["CC7.2", "CC6.6"].map(|control| bundle.check(control, &format!("acme/{name}"))))
        .to_vec()
}

/// For every combination of missing files, a second run returns the same checks at no cost and detects every change.
#[test]
fn what_is_missing_costs_nothing_more() {
    let host = incomplete().into_iter().fold(acme().limits(Limits::documented()), CodeHost::repository);
    let lab = Lab::new(host).with(|config| config.source("revalidate", "true"));
    let run = || collected(&lab);
    let twice = |what: &str| {
        let changed = run();
        let unchanged = run();
        assert_eq!(remaining(&changed) - 1, remaining(&unchanged), "{what}: {:?}", lab.requested());
        assert_eq!(checks(&changed), checks(&unchanged), "{what}");
        unchanged
    };
    let at = |bundle: &Bundle, name: &str| {
        ["CC7.2", "CC6.6"].map(|control| bundle.check(control, &format!("acme/{name}")).1)
    };

    let before = twice("as it was");
    let table = [
        ("bare", ["branch_unprotected", "codeowners_missing"]),
        ("root", ["branch_unprotected", "ok"]),
        ("hooks", ["branch_unprotected", "codeowners_missing"]),
        ("docs", ["branch_unprotected", "codeowners_in_docs"]),
        ("folder", ["branch_unprotected", "codeowners_not_a_file"]),
        ("ruled", ["ok", "ok"]),
        ("weak", ["branch_unprotected", "ok"]),
    ];
    for (name, expected) in table {
        assert_eq!(at(&before, name), expected, "{name}");
    }
    // The requests behind what was seen.
    let observations = before.json("derived/observations.json").to_string();
    for (path, asked) in [
        ("/repos/acme/hooks/contents/docs", true),
        ("/repos/acme/hooks/branches/main", true),
        ("/repos/acme/hooks/branches/main/protection", false),
        ("/repos/acme/hooks/contents/CODEOWNERS", false),
    ] {
        assert_eq!(observations.contains(&format!("\"{path}\"")), asked, "{path}: {observations}");
    }

    let text = || File::text("* @acme/platform\n");
    lab.server.update(|host| {
        host.change_repository("acme", "bare", |bare| {
            bare.protection("main", strong()).file(".github/CODEOWNERS", text())
        });
        host.change_repository("acme", "hooks", |hooks| {
            hooks
                .ruleset(Ruleset::new(3, "strong").reviews(2).status_checks(["ci"]))
                .file("docs/CODEOWNERS", text())
        });
        host.change_repository("acme", "docs", |docs| docs.file(".github/CODEOWNERS", text()));
        host.change_repository("acme", "root", |root| root.without_file("CODEOWNERS"));
        host.change_repository("acme", "ruled", |ruled| ruled.protection("main", strong()));
    });
    let changed = twice("with more");
    for (name, expected) in [
        ("bare", ["ok", "ok"]),
        ("hooks", ["ok", "codeowners_in_docs"]),
        ("docs", ["branch_unprotected", "ok"]),
        ("root", ["branch_unprotected", "codeowners_missing"]),
        ("ruled", ["ok", "ok"]),
    ] {
        assert_eq!(at(&changed, name), expected, "{name}");
    }

    lab.server.update(|host| {
        host.change_repository("acme", "bare", |bare| {
            bare.unprotected("main").without_file(".github/CODEOWNERS")
        });
        host.change_repository("acme", "docs", |docs| docs.without_file(".github/CODEOWNERS"));
        host.change_repository("acme", "root", |root| root.file("CODEOWNERS", text()));
    });
    let back = twice("as it was again");
    for name in ["bare", "docs", "root"] {
        assert_eq!(at(&back, name), at(&before, name), "{name}");
    }
}

/// A truncated or hidden listing proves nothing: the tool requests the file as usual.
#[test]
fn a_listing_that_is_not_whole_settles_nothing() {
    let many = (0..1_200).fold(repository("many"), |many, number| {
        many.file(format!(".a/{number:04}"), File::text("")).file(format!("A{number:04}"), File::text(""))
    });
    let host = acme().limits(Limits::documented());
    let host = host.repository(many.file("docs/CODEOWNERS", File::text("* @acme/platform\n")));
    let lab = Lab::new(host).with(|config| config.source("revalidate", "true"));
    for _ in 0..2 {
        let bundle = collected(&lab);
        assert_eq!(bundle.check("CC6.6", "acme/many").1, "codeowners_in_docs");
    }
}

/// The setting only adds requests; it does not change the evidence.
#[test]
fn without_the_setting_nothing_else_is_asked() {
    let host = incomplete().into_iter().fold(acme(), CodeHost::repository);
    let lab = Lab::new(host);
    let plain = collected(&lab);
    let aids = |path: &&String| {
        path.ends_with("/branches/main") && !path.contains("/rules/")
            || ["/contents/", "/contents/.github", "/contents/docs"].iter().any(|end| path.ends_with(end))
    };
    assert_eq!(lab.requested().iter().filter(aids).collect::<Vec<_>>(), Vec::<&String>::new());
    let lab = lab.with(|config| config.source("revalidate", "true"));
    lab.server.clear_log();
    let kept = collected(&lab);
    assert_eq!(checks(&plain), checks(&kept));
    assert!(lab.requested().iter().filter(aids).count() > 0);
}

#[test]
fn a_dry_run_reports_what_is_free() {
    let lab = lab();
    insta::assert_snapshot!("dry_run_before", lab.run(&["collect", "--dry-run"]).exits(0).shown());
    lab.collect(&[]).exits(0);
    insta::assert_snapshot!("dry_run_after", lab.run(&["collect", "--dry-run"]).exits(0).shown());
}

#[test]
fn every_request_is_shown_for_what_it_is() {
    let lab = lab();
    lab.collect(&[]).exits(0);
    let run = lab.collect(&["--verbose"]).exits(0);
    assert_eq!(run.stderr.matches("304 unchanged").count(), 13, "{}", run.stderr);
}

#[test]
fn nothing_can_be_resumed_without_records() {
    let lab = lab().with(|config| config);
    insta::assert_snapshot!("resume_without_records", lab.collect(&["--resume"]).exits(1).shown());
    assert!(lab.output().is_empty());
}

#[test]
fn two_runs_at_once_are_both_complete() {
    let lab = lab();
    lab.collect(&[]).exits(0);
    lab.server.update(|host| host.set_latency(Duration::from_millis(100)));
    let mut other =
        lab.command(&["collect", "-q"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let begun = Instant::now();
    lab.server.clear_log();
    while lab.server.requests().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(30), "the other run asks nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    lab.collect(&[]).exits(0).says("another run is using it");
    assert_eq!(other.wait().unwrap().code(), Some(0));
}

/// Kills the run in the middle of its requests, and retries until that succeeds.
#[test]
fn a_killed_run_is_continued() {
    const REPOSITORIES: usize = 40;
    let host =
        (0..REPOSITORIES).fold(acme(), |host, number| host.repository(sound(&format!("sound-{number}"))));
    let lab = Lab::new(host.latency(Duration::from_millis(5)))
        .with(|config| config.source("revalidate", "true").source("max_concurrency", "4"));
    let observations = 2 * REPOSITORIES;
    for part in [observations / 4, observations / 2] {
        lab.server.clear_log();
        let resume: &[&str] =
            if part == observations / 4 { &["collect", "-q"] } else { &["collect", "-q", "--resume"] };
        let mut child = lab.command(resume).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while lab.requested().iter().filter(|path| path.starts_with("/repos/")).count() < observations / 4 {
            assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", lab.requested());
            std::thread::sleep(Duration::from_millis(1));
        }
        let _ = child.kill();
        child.wait().unwrap();
    }
    assert!(names(&lab.path("evidence-bundles")).iter().all(|name| name.starts_with('.')));
    lab.server.clear_log();
    let resumed = lab.collect(&["--resume"]).exits(0).says("resumed from the interrupted run");
    let asked = lab.requested().iter().filter(|path| path.starts_with("/repos/")).count();
    // A few requests were in flight when the run was killed.
    assert!(
        asked <= observations - 2 * (observations / 4) + 8,
        "{asked} of {observations} were asked for again"
    );
    assert!(asked > 0);
    let bundle = resumed.bundle();
    assert_eq!(bundle.manifest()["complete"], true);
    assert_eq!(bundle.source()["collected"], observations + 1);
    let artifacts = bundle.manifest()["artifacts"].as_array().unwrap().clone();
    assert!(artifacts.iter().all(|artifact| artifact["collected_at"].is_string()));
    assert!(bundle.manifest()["warnings"].to_string().contains("resumed"));
    lab.server.clear_log();
    lab.collect(&["--resume"]).exits(0).says_not("resumed");
}
