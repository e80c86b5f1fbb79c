//! A large organization at a host where every tenth request goes wrong, in all the ways that there are, by a seed.
//!
//! About 1,000 requests; `EVIDENCE_CHAOS=full` makes it 10,000, which takes minutes. `EVIDENCE_CHAOS_SEED` sets the seed,
//! which is printed:
//!
//! ```sh
//! EVIDENCE_CHAOS=full EVIDENCE_CHAOS_SEED=7 cargo test -p evidence --test faults chaos -- --nocapture
//! ```

use std::collections::BTreeSet;
use std::time::Instant;

use evidence::env::Clock;
use evidence::exit::Exit;
use evidence::rule::Status;
use jiff::Timestamp;
use sandbox::codehost::{CodeHost, Limits};
use sandbox::{DEMO_TOKEN, Fault, FaultKind, Server, large_organization};

use crate::kinds::{Again, Place, kinds};
use crate::ran::{Ran, whole};

/// The share of requests that go wrong.
const SHARE: f64 = 0.1;

/// How often one request may go wrong so that the last attempt does not.
const PASSING: u64 = 4;

/// How long a request may take, in seconds: what never ends is waited for this long.
const TIMEOUT: &str = "1";

/// Repositories on a page.
const PAGE: usize = 100;

/// Repositories that take about 1,000 requests, and 10,000.
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

/// Runs against `host` as it is, by a clock that both go by.
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

/// One line of figures.
fn told(what: &str, seed: u64, server: &Server, lost: usize, lies: usize, began: Instant) {
    let kinds = server.faults_injected();
    let faults: u64 = kinds.values().sum();
    println!(
        "chaos: {what}, seed {seed}: {} requests, {faults} faults, {lost} healthy artifacts lost, {lies} lies, {:.1} s; \
         faults by kind: {kinds:?}",
        server.request_count(),
        began.elapsed().as_secs_f64()
    );
}

/// Property (a): whatever passes within the attempts leaves no trace.
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
    told("all pass", seed, &server, ran.lost(&truth).len(), lies.len(), began);
    assert_eq!((exit, &ran.errors), (Exit::Success, &Vec::new()), "seed {seed}");
    assert_eq!(
        (ran.lost(&truth).len(), ran.altered(&truth), lies),
        (0, Vec::new(), Vec::new()),
        "seed {seed}"
    );
    // The names of requests and the host's address differ, and with them the documents that hold them.
    let changing =
        ["hints", "normalized", "observations", "scope"].map(|name| format!("derived/{name}.json"));
    // And the files for people, which are made from those and name the bundle.
    let changing: Vec<String> =
        changing.into_iter().chain(evidence_report::VIEWS.map(str::to_owned)).collect();
    let differ: Vec<&String> = (ran.files.keys())
        .filter(|path| !changing.contains(path) && ran.files.get(*path) != truth.files.get(*path))
        .collect();
    assert!(differ.is_empty() && ran.files.len() == truth.files.len(), "seed {seed}: {differ:?}");
}

/// Property (b): whatever stays costs what it hits, and no check says what nobody read.
fn stays(repositories: u32) {
    let (seed, began) = (seed(), Instant::now());
    let (_, exit, truth) = collect(large_organization(repositories));
    assert_eq!((exit, truth.errors.len()), (Exit::Success, 0));
    let lasting =
        |pattern: &str, kinds: Vec<FaultKind>| Fault::on(pattern).chance(SHARE, seed).lasting().kinds(kinds);
    let all: Vec<FaultKind> = kinds().into_iter().map(|kind| kind.fault).collect();
    let everywhere =
        kinds().into_iter().filter(|kind| kind.place == Place::Everywhere).map(|kind| kind.fault);
    // Not the connection test and not the first page: without them there is nothing to lose.
    let host = large_organization(repositories)
        .fault(lasting("/repos/*", everywhere.collect()))
        .fault(lasting("/organizations/*", all));
    let (server, exit, ran) = collect(host);
    let lies = ran.lies(&truth);
    let hit = Hit::of(&server);
    let lost: Vec<&str> = ran.lost(&truth).into_iter().filter(|path| !hit.explains(path)).collect();
    told("none passes", seed, &server, lost.len(), lies.len(), began);
    assert_eq!((lost, ran.altered(&truth), lies), (Vec::new(), Vec::new(), Vec::new()), "seed {seed}");
    assert_eq!(exit, Exit::Collection, "seed {seed}");
    let codes: BTreeSet<&str> = ran.errors.iter().map(|(code, ..)| code.as_str()).collect();
    assert!(codes.is_subset(&BTreeSet::from(["host_error", "not_found"])), "seed {seed}: {codes:?}");
    // Whatever is not as it was is told as what could not be verified, or was never heard of.
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

/// What met a fault: repositories by name, and pages by number.
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
        // The pages are in the order of the numbers in the names.
        let number: Option<usize> = name.strip_prefix("service-").and_then(|number| number.parse().ok());
        let page = number.map(|number| number / PAGE + 1);
        self.repositories.contains(name) || page.is_some_and(|page| self.pages.contains(&page))
    }

    fn subject(&self, subject: &str) -> bool {
        subject.strip_prefix("acme/").is_some_and(|name| self.name(name))
    }

    /// Whether a missing artifact is one of what was hit.
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
