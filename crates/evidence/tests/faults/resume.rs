//! Resuming a killed run: the tool does not request again what that run had read, and keeps the original timestamps.

use std::path::Path;

use evidence::env::Clock;
use jiff::{SignedDuration, Timestamp};
use sandbox::DEMO_TOKEN;
use sandbox::codehost::{Protection, Server};

use crate::ran::{Course, Ran, run_on};
use crate::revalidation::{host, source};

fn collect(server: &Server, cache: &Path, course: Course, now: Timestamp) -> Ran {
    collect_with(server, cache, course, now, "")
}

/// Collects with these further lines of the source.
fn collect_with(server: &Server, cache: &Path, course: Course, now: Timestamp, settings: &str) -> Ran {
    let variables = [("CODEHOST_TOKEN", DEMO_TOKEN), ("XDG_CACHE_HOME", cache.to_str().unwrap())];
    let source = source(server, "\"*\"", true) + settings;
    run_on(course, "[CC6.1, CC6.6, CC7.2]", &source, &variables, Clock::manual(now)).unwrap()
}

const KILLED: Course = Course { resume: false, killed: true };
const RESUMED: Course = Course { resume: true, killed: false };
const NIGHTLY: Course = Course { resume: false, killed: false };

/// Whether a resumed run requests this path again: everything except protections and files already read.
fn is_asked_anew(path: &str) -> bool {
    let read = ["/repos/acme/alpha/contents/CODEOWNERS", "/repos/acme/bravo/contents/.github/CODEOWNERS"];
    !path.ends_with("/protection") && !read.contains(&path)
}

fn hours(hours: i64) -> SignedDuration {
    SignedDuration::from_hours(hours)
}

#[test]
fn what_a_killed_run_has_read_is_taken_over() {
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    let start: Timestamp = "2026-11-21T01:00:00Z".parse().unwrap();
    let killed = collect(&server, cache.path(), KILLED, start);
    server.clear_log();
    let resumed = collect(&server, cache.path(), RESUMED, start + hours(2));
    assert_eq!(resumed.said(), killed.said());
    assert!(resumed.warnings.contains("resumed"));
    // The resumed run requests the token's identity, the listing and missing files again.
    for request in server.requests() {
        assert!(is_asked_anew(request.path()), "{}", request.path());
        let counts = !matches!(request.status, Some(304 | 404));
        assert!(!counts || request.path() == "/user", "{}", request.path());
    }
    // That run completed, so the next run requests everything again.
    server.clear_log();
    let next = collect(&server, cache.path(), RESUMED, start + hours(3));
    assert!(!next.warnings.contains("resumed"));
    assert!(server.request_count() > 10);
}

#[test]
fn a_run_that_does_not_resume_takes_nothing_over() {
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    let start: Timestamp = "2026-11-21T01:00:00Z".parse().unwrap();
    collect(&server, cache.path(), KILLED, start);
    server.update(|host| {
        host.change_repository("acme", "alpha", |repository| {
            repository.protection("main", Protection::new().reviews(1))
        });
    });
    let now = start + hours(1);
    let resumed = collect(&server, cache.path(), Course { killed: true, ..RESUMED }, now);
    let nightly = collect(&server, cache.path(), NIGHTLY, now);
    assert_ne!(resumed.files, nightly.files, "as of then, and as of now");
    let changed = collect(&server, tempfile::tempdir().unwrap().path(), NIGHTLY, now);
    assert_eq!(nightly.said(), changed.said());
}

/// A run may be killed several times. The tool does not resume a run killed a day ago.
#[test]
fn only_the_last_day_is_taken_over() {
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    let start: Timestamp = "2026-11-21T01:00:00Z".parse().unwrap();
    collect(&server, cache.path(), KILLED, start);
    collect(&server, cache.path(), Course { killed: true, ..RESUMED }, start + hours(12));
    server.clear_log();
    let resumed = collect(&server, cache.path(), RESUMED, start + hours(20));
    assert!(resumed.warnings.contains("resumed"));
    assert!(server.requests().iter().all(|request| is_asked_anew(request.path())));

    collect(&server, cache.path(), KILLED, start + hours(21));
    server.clear_log();
    let late = collect(&server, cache.path(), RESUMED, start + hours(46));
    assert!(!late.warnings.contains("resumed"));
    assert!(server.requests().iter().any(|request| !is_asked_anew(request.path())));
}

/// Pages of a killed run are taken over as every answer is. What they prove together with another answer is read again.
#[test]
fn pages_of_a_killed_run_are_taken_over() {
    let (server, cache) = (host().serve().unwrap(), tempfile::tempdir().unwrap());
    let start: Timestamp = "2026-11-21T01:00:00Z".parse().unwrap();
    let bulk = "    bulk: true\n";
    let queries = || server.requests().iter().filter(|request| request.method == "POST").count();
    let killed = collect_with(&server, cache.path(), KILLED, start, bulk);
    assert_eq!(queries(), 2);
    assert_eq!(killed.said(), collect(&server, tempfile::tempdir().unwrap().path(), NIGHTLY, start).said());
    server.clear_log();
    let resumed = collect_with(&server, cache.path(), RESUMED, start + hours(2), bulk);
    assert_eq!((resumed.said(), queries()), (killed.said(), 0));
    assert!(resumed.warnings.contains("resumed"));
    // That run completed.
    let next = collect_with(&server, cache.path(), RESUMED, start + hours(3), bulk);
    assert_eq!((next.said(), queries()), (killed.said(), 2));
}
