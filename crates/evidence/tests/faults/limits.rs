//! With default settings, the tool never exceeds the limits that a host documents and enforces.
//!
//! The host uses the run's clock, so minutes and hours pass as the run waits, without real sleeps.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use evidence::env::Clock;
use jiff::{SignedDuration, Timestamp};
use sandbox::codehost::{CodeHost, File, Limits, Organization, Protection, Repository, Role, Server, Token};
use sandbox::{DEMO_TOKEN, Fault, FaultKind, large_organization};

use crate::ran::{Ran, run};

/// The documented limit: requests in any minute.
const PER_MINUTE: usize = 900;

/// The documented limit: requests in flight.
const AT_ONCE: u64 = 100;

fn collect(server: &Server, clock: Clock, repositories: &str, extra: &str) -> Ran {
    let url = server.url();
    let source = format!(
        "  codehost:\n    mode: token\n    org: acme\n    repos: {repositories}\n    api_url: {url}\n{extra}"
    );
    run("[CC6.1, CC6.6, CC7.2]", &source, &[("CODEHOST_TOKEN", DEMO_TOKEN)], clock).unwrap()
}

/// The host with its documented limits and the run's clock, and the arrival times of requests.
fn limited(host: CodeHost, clock: &Clock) -> (Server, Arc<Mutex<Vec<Timestamp>>>) {
    let arrivals: Arc<Mutex<Vec<Timestamp>>> = Arc::default();
    let (hands, arrived) = (clock.clone(), Arc::clone(&arrivals));
    let host = host.limits(Limits::documented()).latency(Duration::from_millis(1)).clock(move || {
        let now = hands.now();
        arrived.lock().unwrap().push(now);
        now
    });
    (host.serve().unwrap(), arrivals)
}

/// The most requests in any minute.
fn busiest_minute(arrivals: &Mutex<Vec<Timestamp>>) -> usize {
    let mut arrivals = std::mem::take(&mut *arrivals.lock().unwrap());
    arrivals.sort_unstable();
    let minute = SignedDuration::from_secs(60);
    let (mut from, mut busiest) = (0, 0);
    for (to, now) in arrivals.iter().enumerate() {
        while now.duration_since(arrivals[from]) >= minute {
            from += 1;
        }
        busiest = busiest.max(to + 1 - from);
    }
    busiest
}

/// More requests than an hour allows.
#[test]
fn the_documented_limits_are_never_met() {
    const REPOSITORIES: u32 = 2_600;
    let clock = Clock::manual("2026-11-21T09:00:00Z".parse().unwrap());
    let (server, arrivals) = limited(large_organization(REPOSITORIES), &clock);
    let began = clock.now();
    let ran = collect(&server, clock.clone(), "\"*\"", "");

    let refused = server
        .requests()
        .iter()
        .filter(|request| request.status != Some(200) && request.status != Some(404))
        .count();
    assert_eq!((refused, ran.errors.len(), ran.retries), (0, 0, 0), "{:?}", ran.errors.first());
    let requests = usize::try_from(server.request_count()).unwrap();
    assert!(requests > 5_000, "{requests} requests do not fill an hour");
    assert!(arrivals.lock().unwrap().len() >= requests, "every request is in the list");
    let busiest = busiest_minute(&arrivals);
    assert!(busiest <= PER_MINUTE, "{busiest} requests in a minute");
    assert!(server.highest_concurrency() <= AT_ONCE, "{} at once", server.highest_concurrency());
    // The hour of the limit, and minutes of pacing before and after it: more of them on a busy machine, because a wait
    // moves this clock while other requests are on their way, and they count from then on. A second hour would be one
    // window too many.
    let took = clock.now().duration_since(began);
    assert!(took < SignedDuration::from_mins(90), "{took:#}");
    println!(
        "documented limits: {requests} requests, 0 refused, at most {busiest} in a minute and {} at once, {} minutes by \
         the clock",
        server.highest_concurrency(),
        took.as_mins()
    );
}

/// If repositories were renamed, looking them up takes two requests each, and the host counts both. What follows uses
/// the new names.
#[test]
fn a_redirect_is_a_request_like_any_other() {
    const REPOSITORIES: usize = 300;
    let host = CodeHost::new()
        .organization(Organization::new("acme").two_factor(true))
        .token(Token::classic(DEMO_TOKEN).scopes(["read:org"]).role(Role::Owner).sees_private(true));
    let name = |number: usize| format!("old-{number:03}");
    let host = (0..REPOSITORIES).fold(host, |host, number| {
        let strong = Protection::new().reviews(1).status_checks(["ci"]).enforce_admins(true);
        let repository = Repository::new("acme", name(number)).protection("main", strong);
        let repository = repository.file(".github/CODEOWNERS", File::text("* @acme/all\n"));
        host.repository(repository.renamed_to(&format!("new-{number:03}")))
    });
    let clock = Clock::manual("2026-11-21T09:00:00Z".parse().unwrap());
    let (server, arrivals) = limited(host, &clock);
    let listed: Vec<String> = (0..REPOSITORIES).map(|number| format!("acme/{}", name(number))).collect();
    let ran = collect(&server, clock, &format!("[{}]", listed.join(", ")), "");

    let requests = server.requests();
    let with = |status: u16| requests.iter().filter(|request| request.status == Some(status)).count();
    assert_eq!(with(301), REPOSITORIES, "each once");
    assert_eq!(with(403) + with(429) + ran.errors.len(), 0, "{:?}", ran.errors.first());
    assert!(ran.warnings.contains("repository_renamed"), "{:?}", ran.warnings);
    assert_eq!((ran.retries, ran.requests), (0, server.request_count()));
    assert!(requests.len() > PER_MINUTE, "{} requests do not fill a minute", requests.len());
    let busiest = busiest_minute(&arrivals);
    assert!(busiest <= PER_MINUTE, "{busiest} requests in a minute");
    println!("moved repositories: {} requests, 0 refused, at most {busiest} in a minute", requests.len());
}

/// A secondary limit halves the requests in flight, and every 20 good answers add one.
#[test]
fn concurrency_halves_and_grows_back() {
    let highest = |repositories: u32| {
        let fault = FaultKind::SecondaryLimit { retry_after: Some(1), headers: true, status: 403 };
        let host: CodeHost = large_organization(repositories).latency(Duration::from_millis(10));
        let server = host.fault(Fault::on("/orgs/acme/repos").times(1).kind(fault)).serve().unwrap();
        let ran = collect(&server, Clock::manual(Timestamp::now()), "\"*\"", "    max_concurrency: 8\n");
        assert_eq!((ran.errors.len(), ran.retries), (0, 1));
        server.highest_concurrency()
    };
    // The tool requests the listing alone, and fewer than 20 answers follow.
    assert_eq!(highest(5), 4);
    assert_eq!(highest(120), 8);
}
