//! `revalidate: true` and `--resume`: what a second run shows, costs and says.

use std::process::Stdio;
use std::time::{Duration, Instant};

use sandbox::codehost::Limits;

use crate::common::{Lab, acme, names, repository, sound};

/// Five repositories: four with everything, one without protection and owners.
fn lab() -> Lab {
    let host =
        ["api", "data", "mobile", "web"].iter().fold(acme(), |host, name| host.repository(sound(name)));
    let host = host.repository(repository("notes")).limits(Limits::documented());
    Lab::new(host).with(|config| config.source("revalidate", "true"))
}

#[test]
fn a_second_run_costs_what_has_no_entity_tag() {
    let lab = lab();
    let first = lab.collect(&[]).exits(0).says("rate limit").says_not("unchanged");
    let spent = |run: &crate::common::Run| run.bundle().source()["rate_limit"]["remaining"].as_u64().unwrap();
    let (before, files) = (spent(&first), first.bundle());
    std::fs::remove_dir_all(lab.path("evidence-bundles")).unwrap();

    let second = lab.collect(&[]).exits(0);
    insta::assert_snapshot!("second_run", second.shown());
    // Unprotected, no owners in any of three places.
    assert_eq!(before - spent(&second), 4);
    let bundle = second.bundle();
    assert_eq!(bundle.source()["revalidated"], 11);
    for artifact in bundle.manifest()["artifacts"].as_array().unwrap() {
        assert_eq!(artifact["request"]["status"], 304, "{artifact}");
        assert!(artifact["request"]["etag"].is_string(), "{artifact}");
    }
    for path in files.paths().into_iter().filter(|path| path.starts_with("sources/")) {
        assert_eq!(bundle.file(path), files.file(path), "{path}");
    }
}

#[test]
fn a_dry_run_tells_what_is_free() {
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
    assert_eq!(run.stderr.matches("304 unchanged").count(), 11, "{}", run.stderr);
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

/// Killed in the middle of its requests, as often as it takes.
#[test]
fn a_killed_run_is_continued() {
    const REPOSITORIES: usize = 40;
    let host =
        (0..REPOSITORIES).fold(acme(), |host, number| host.repository(sound(&format!("sound-{number}"))));
    let lab = Lab::new(host.latency(Duration::from_millis(5)))
        .with(|config| config.source("revalidate", "true").source("max_concurrency", "4"));
    let looks = 2 * REPOSITORIES;
    for part in [looks / 4, looks / 2] {
        lab.server.clear_log();
        let resume: &[&str] =
            if part == looks / 4 { &["collect", "-q"] } else { &["collect", "-q", "--resume"] };
        let mut child = lab.command(resume).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let begun = Instant::now();
        while lab.requested().iter().filter(|path| path.starts_with("/repos/")).count() < looks / 4 {
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
    // A few were on their way when it was killed.
    assert!(asked <= looks - 2 * (looks / 4) + 8, "{asked} of {looks} were asked for again");
    assert!(asked > 0);
    let bundle = resumed.bundle();
    assert_eq!(bundle.manifest()["complete"], true);
    assert_eq!(bundle.source()["collected"], looks + 1);
    let artifacts = bundle.manifest()["artifacts"].as_array().unwrap().clone();
    assert!(artifacts.iter().all(|artifact| artifact["collected_at"].is_string()));
    assert!(bundle.manifest()["warnings"].to_string().contains("resumed"));
    lab.server.clear_log();
    lab.collect(&["--resume"]).exits(0).says_not("resumed");
}
