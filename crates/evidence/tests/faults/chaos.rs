//! A large organization at a host where every tenth request fails, with every kind of fault, selected by a seed.
//!
//! About 1,000 requests; with `EVIDENCE_CHAOS=full` 10,000, which takes minutes. `EVIDENCE_CHAOS_SEED` sets the seed,
//! which the test prints:
//!
//! ```sh
//! EVIDENCE_CHAOS=full EVIDENCE_CHAOS_SEED=7 cargo test -p evidence --test faults chaos -- --nocapture
//! ```

use std::collections::BTreeSet;
use std::time::Instant;

use evidence::env::Clock;
use evidence::exit::Exit;
use evidence_rules::rule::Status;
use jiff::Timestamp;
use sandbox::codehost::{CodeHost, Limits};
use sandbox::{DEMO_TOKEN, Fault, FaultKind, Server, large_organization};

use crate::kinds::{Again, Place, kinds};
use crate::ran::{Ran, whole};

/// The share of requests that fail.
const SHARE: f64 = 0.1;

/// How often one request may fail so that its last attempt succeeds.
const PASSING: u64 = 4;

/// The time-out of a request in seconds. A request without an answer takes this long.
const TIMEOUT: &str = "1";

/// Repositories on a page.
const PAGE: usize = 100;

/// The numbers of repositories for about 1,000 and 10,000 requests.
const SMALL: u32 = 430;
const FULL: u32 = 4_300;

fn repositories() -> u32 {
    match std::env::var("EVIDENCE_CHAOS").as_deref() {
        Err(_) => SMALL,
        Ok("full") => FULL,
        Ok(other) => panic!("EVIDENCE_CHAOS is {other:?}: it can be full, or absent"),
    }
}

fn seed() -> u64 {
    let set = std::env::var("EVIDENCE_CHAOS_SEED").ok();
    set.map_or(20_261_121, |seed| seed.parse().unwrap_or_else(|_| panic!("{seed} is no seed: a number is")))
}

/// Runs against `host` with documented limits; the run and the host share a clock.
fn collect(host: CodeHost) -> (Server, Exit, Ran) {
    let clock = Clock::manual(Timestamp::now());
    let hands = clock.clone();
    let host = host.limits(Limits::default()).public_url("https://code.example").clock(move || hands.now());
    let server = host.serve().unwrap();
    let url = server.url();
    let source = format!(
        "  codehost:\n    mode: token\n    org: acme\n    repos: \"*\"\n    api_url: {url}\n    timeout_seconds: {TIMEOUT}\n"
    );
    let (exit, ran) = whole(&source, &[("CODEHOST_TOKEN", DEMO_TOKEN)], clock);
    assert!(server.violations().is_empty(), "{:?}", server.violations());
    (server, exit, ran)
}

/// Prints one line of figures.
fn print_figures(what: &str, seed: u64, server: &Server, lost: usize, lies: usize, began: Instant) {
    let kinds = server.faults_injected();
    let faults: u64 = kinds.values().sum();
    println!(
        "chaos: {what}, seed {seed}: {} requests, {faults} faults, {lost} healthy artifacts lost, {lies} lies, {:.1} s; \
         faults by kind: {kinds:?}",
        server.request_count(),
        began.elapsed().as_secs_f64()
    );
}

/// Property (a): faults that end before the last attempt leave no trace.
fn passes(repositories: u32) {
    let (seed, began) = (seed(), Instant::now());
    let (_, exit, truth) = collect(large_organization(repositories));
    assert_eq!((exit, truth.errors.len()), (Exit::Success, 0));
    let passing =
        kinds().into_iter().filter(|kind| kind.again == Again::Asked && kind.place == Place::Everywhere);
    let fault =
        Fault::everywhere().chance(SHARE, seed).times_per_path(PASSING).kinds(passing.map(|kind| kind.fault));
    let (server, exit, ran) = collect(large_organization(repositories).fault(fault));
    let lies = ran.lies(&truth);
    print_figures("all pass", seed, &server, ran.lost(&truth).len(), lies.len(), began);
    assert_eq!((exit, &ran.errors), (Exit::Success, &Vec::new()), "seed {seed}");
    assert_eq!(
        (ran.lost(&truth).len(), ran.altered(&truth), lies),
        (0, Vec::new(), Vec::new()),
        "seed {seed}"
    );
    // Documents with request ids or the host's address differ.
    let changing =
        ["hints", "normalized", "observations", "scope"].map(|name| format!("derived/{name}.json"));
    // The files for people differ too: they are generated from those documents and name the bundle.
    let changing: Vec<String> =
        changing.into_iter().chain(evidence_report::VIEWS.map(str::to_owned)).collect();
    let differ: Vec<&String> = (ran.files.keys())
        .filter(|path| !changing.contains(path) && ran.files.get(*path) != truth.files.get(*path))
        .collect();
    assert!(differ.is_empty() && ran.files.len() == truth.files.len(), "seed {seed}: {differ:?}");
}

/// Property (b): lasting faults affect only what they hit, and no check claims a result for unread data.
fn stays(repositories: u32) {
    let (seed, began) = (seed(), Instant::now());
    let (_, exit, truth) = collect(large_organization(repositories));
    assert_eq!((exit, truth.errors.len()), (Exit::Success, 0));
    let lasting =
        |pattern: &str, kinds: Vec<FaultKind>| Fault::on(pattern).chance(SHARE, seed).lasting().kinds(kinds);
    let all: Vec<FaultKind> = kinds().into_iter().map(|kind| kind.fault).collect();
    let everywhere =
        kinds().into_iter().filter(|kind| kind.place == Place::Everywhere).map(|kind| kind.fault);
    // Spares the connection test and the first page: without them the run reads nothing.
    let host = large_organization(repositories)
        .fault(lasting("/repos/*", everywhere.collect()))
        .fault(lasting("/organizations/*", all));
    let (server, exit, ran) = collect(host);
    let lies = ran.lies(&truth);
    let hit = Hit::of(&server);
    let lost: Vec<&str> = ran.lost(&truth).into_iter().filter(|path| !hit.explains(path)).collect();
    print_figures("none passes", seed, &server, lost.len(), lies.len(), began);
    assert_eq!((lost, ran.altered(&truth), lies), (Vec::new(), Vec::new(), Vec::new()), "seed {seed}");
    assert_eq!(exit, Exit::Collection, "seed {seed}");
    let codes: BTreeSet<&str> = ran.errors.iter().map(|(code, ..)| code.as_str()).collect();
    assert!(codes.is_subset(&BTreeSet::from(["host_error", "not_found"])), "seed {seed}: {codes:?}");
    // A check that differs is "not verifiable" or absent.
    for (question, verdicts) in &truth.checks {
        let Some(now) = ran.checks.get(question).filter(|now| *now != verdicts) else { continue };
        assert!(
            now.iter().all(|(status, _)| *status == Status::NotVerifiable),
            "seed {seed}: {question:?} {now:?}"
        );
        assert!(hit.subject(&question.1), "seed {seed}: {question:?} is healthy and is {now:?}");
    }
    for (_, subject, message) in &ran.errors {
        assert!(subject == "acme" || hit.subject(subject), "seed {seed}: {subject}: {message}");
    }
}

/// The requests that met a fault: repositories by name, and pages by number.
struct Hit {
    repositories: BTreeSet<String>,
    pages: BTreeSet<usize>,
}

impl Hit {
    fn of(server: &Server) -> Hit {
        let mut hit = Hit { repositories: BTreeSet::new(), pages: BTreeSet::new() };
        for request in server.requests().iter().filter(|request| request.fault.is_some()) {
            match request.path().strip_prefix("/repos/acme/").and_then(|rest| rest.split('/').next()) {
                Some(name) => drop(hit.repositories.insert(name.to_owned())),
                None => {
                    let page =
                        request.path_and_query.rsplit("page=").next().and_then(|page| page.parse().ok());
                    hit.pages.extend::<Option<usize>>(page);
                }
            }
        }
        hit
    }

    fn name(&self, name: &str) -> bool {
        // The pages follow the order of the numbers in the names.
        let number: Option<usize> = name.strip_prefix("service-").and_then(|number| number.parse().ok());
        let page = number.map(|number| number / PAGE + 1);
        self.repositories.contains(name) || page.is_some_and(|page| self.pages.contains(&page))
    }

    fn subject(&self, subject: &str) -> bool {
        subject.strip_prefix("acme/").is_some_and(|name| self.name(name))
    }

    /// Whether a fault explains a missing artifact.
    fn explains(&self, path: &str) -> bool {
        let name = path.strip_prefix("sources/codehost/repo_acme_");
        name.and_then(|name| name.split('_').next()).is_some_and(|name| self.name(name))
    }
}

#[test]
fn a_tenth_of_the_requests_fails_for_a_moment() {
    passes(repositories());
}

#[test]
fn a_tenth_of_the_requests_fails_for_good() {
    stays(repositories());
}
