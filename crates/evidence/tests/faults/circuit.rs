//! The tool gives up an endpoint that fails for every repository, but not one that answers occasionally.
//!
//! 200 repositories and time-outs of a second; with `EVIDENCE_CIRCUIT=full` 2,000 and the default of 60 seconds, which
//! takes minutes:
//!
//! ```sh
//! EVIDENCE_CIRCUIT=full cargo test -p evidence --test faults circuit -- --nocapture
//! ```

use std::time::{Duration, Instant};

use evidence::env::Clock;
use evidence::exit::Exit;
use evidence_rules::rule::Status;
use jiff::Timestamp;
use sandbox::codehost::CodeHost;
use sandbox::{Body, DEMO_TOKEN, Fault, FaultKind, Server, large_organization};

use crate::ran::{Ran, run, whole};

const PROTECTION: &str = "*/branches/main/protection";
const BRANCH_PROTECTION: &str = "branch-protection";

/// Attempts of one request.
const ATTEMPTS: u64 = 5;

/// Requests in flight by default.
const CONCURRENCY: u64 = 32;

/// Repositories, the time-out of a request in seconds, and the time limit for a run with an endpoint that hangs.
fn size() -> (u32, &'static str, Duration) {
    match std::env::var("EVIDENCE_CIRCUIT").as_deref() {
        Err(_) => (200, "1", Duration::from_secs(15)),
        Ok("full") => (2_000, "60", Duration::from_secs(8 * 60)),
        Ok(other) => panic!("EVIDENCE_CIRCUIT is {other:?}: it can be full, or absent"),
    }
}

fn source(server: &Server, timeout: &str, more: &str) -> String {
    let url = server.url();
    format!(
        "  codehost:\n    mode: token\n    org: acme\n    repos: \"*\"\n    api_url: {url}\n    timeout_seconds: \
         {timeout}\n{more}"
    )
}

fn collect(host: CodeHost, timeout: &str, more: &str) -> (Server, Ran) {
    let server = host.public_url("https://code.example").serve().unwrap();
    let variables = [("CODEHOST_TOKEN", DEMO_TOKEN)];
    let clock = Clock::manual(Timestamp::now());
    let ran = run("[CC6.1, CC6.6, CC7.2]", &source(&server, timeout, more), &variables, clock).unwrap();
    (server, ran)
}

/// The error messages of skipped observations.
fn not_asked<'a>(ran: &'a Ran, what: &str) -> Vec<&'a str> {
    let start = format!("{what}: not asked: ");
    let errors = ran.errors.iter().filter(|(code, ..)| code == "host_error");
    errors.map(|(_, _, message)| message.as_str()).filter(|message| message.starts_with(&start)).collect()
}

fn asked(server: &Server, part: &str) -> u64 {
    let requests = server.requests();
    requests.iter().filter(|request| request.path().contains(part)).count().try_into().unwrap()
}

/// A host that never answers one kind of request costs only the time of the first requests.
#[test]
fn an_endpoint_that_hangs_is_given_up() {
    let (repositories, timeout, patience) = size();
    let (_, truth) = collect(large_organization(repositories), timeout, "");
    let host = large_organization(repositories).fault(Fault::on(PROTECTION).kind(FaultKind::Hang));
    let server = host.serve().unwrap();
    let (variables, clock) = ([("CODEHOST_TOKEN", DEMO_TOKEN)], Clock::manual(Timestamp::now()));
    let began = Instant::now();
    let (exit, ran) = whole(&source(&server, timeout, ""), &variables, clock);
    let (took, asked) = (began.elapsed(), asked(&server, "/protection"));
    let spared = not_asked(&ran, "branch protection");
    println!(
        "circuit: {repositories} repositories behind an endpoint that hangs, time-outs of {timeout} s: {:.1} s, {asked} \
         requests, {} not asked",
        took.as_secs_f64(),
        spared.len()
    );
    assert!(took < patience, "{took:?}");
    assert!(asked <= CONCURRENCY * (ATTEMPTS + 1), "{asked}");
    assert_eq!(exit, Exit::Collection);
    // The run collects everything else.
    assert_eq!(ran.altered(&truth), Vec::<&str>::new());
    assert!(
        ran.lost(&truth)
            .iter()
            .all(|path| path.ends_with("_branch_protection.json") || path.ends_with("_branch_rules.json")),
        "{:?}",
        ran.lost(&truth)
    );
    for (question, verdicts) in &ran.checks {
        if question.0 == BRANCH_PROTECTION {
            let expected = [(Status::NotVerifiable, "host_error".to_string())];
            assert_eq!(*verdicts, expected, "{question:?}");
        } else {
            assert_eq!(verdicts, &truth.checks[question], "{question:?}");
        }
    }
    // Each observation is an error; most messages say that the tool skipped it, and why.
    assert_eq!(ran.errors.len(), repositories as usize);
    // Each of the first nineteen failures makes room for one more request.
    assert!(spared.len() as u64 >= u64::from(repositories) - CONCURRENCY - 19, "{}", spared.len());
    let why = "not asked: 20 consecutive requests failed: no answer within";
    assert!(spared.iter().all(|message| message.contains(why)), "{}", spared[0]);
    assert!(ran.warnings.contains("endpoint_given_up"), "{:?}", ran.warnings);
}

/// One request at a time: the retries of later requests end early, or 20 failures would take hours.
#[test]
fn retries_end_early_where_nothing_ever_answers() {
    let host = large_organization(60).fault(Fault::on(PROTECTION).kind(FaultKind::Status(502, Body::Json)));
    let (server, ran) = collect(host, "30", "    max_concurrency: 1\n");
    assert_eq!(not_asked(&ran, "branch protection").len(), 40);
    let asked = asked(&server, "/protection");
    assert!(asked <= 5 * ATTEMPTS + 15, "{asked}");
}

/// An endpoint that answers every repository with something else than its setting fails, too. Refusals that are facts
/// do not open the circuit.
#[test]
fn an_endpoint_that_answers_everything_with_an_error_is_given_up() {
    let json = |status, body| FaultKind::Json(status, Vec::new(), body);
    let another =
        serde_json::json!({"url": "https://code.example/repos/acme/other/branches/main/protection"});
    for (kind, attempts) in [
        (FaultKind::Status(500, Body::Html), 5 * ATTEMPTS + 15),
        (FaultKind::LoginPage, 5 * ATTEMPTS + 15),
        (json(200, serde_json::json!({"ok": true})), 20),
        (json(200, serde_json::json!([])), 20),
        (json(400, serde_json::json!({"message": "Bad Request"})), 20),
        (json(410, serde_json::json!({"message": "Gone"})), 20),
        (FaultKind::Status(403, Body::Html), 20),
        (FaultKind::Redirect("http://127.0.0.2:9/".into()), 20),
        (FaultKind::HugeBody(1 << 26), 20),
        (json(200, another), 20),
    ] {
        let name = format!("{kind:?}");
        let host = large_organization(80).fault(Fault::on(PROTECTION).kind(kind));
        let (server, ran) = collect(host, "30", "    max_concurrency: 1\n");
        assert_eq!(not_asked(&ran, "branch protection").len(), 60, "{name}");
        assert_eq!(asked(&server, "/protection"), attempts, "{name}");
        assert!(ran.warnings.contains("endpoint_given_up"), "{name}: {:?}", ran.warnings);
    }
    for (status, message) in [
        (404, "Branch not protected"),
        (404, "Not Found"),
        (403, "Resource not accessible by personal access token"),
        (403, "Upgrade to GitHub Pro or make this repository public to enable this feature."),
        (451, "Repository access blocked"),
    ] {
        let kind = json(status, serde_json::json!({"message": message}));
        let host = large_organization(80).fault(Fault::on(PROTECTION).kind(kind));
        let (server, ran) = collect(host, "30", "    max_concurrency: 1\n");
        assert_eq!(not_asked(&ran, "branch protection"), Vec::<&str>::new(), "{message}");
        assert_eq!(asked(&server, "/protection"), 80, "{message}");
        assert!(!ran.warnings.contains("endpoint_given_up"), "{message}: {:?}", ran.warnings);
    }
}

/// Each place of a file is a separate endpoint: answers of the others say nothing about it.
#[test]
fn the_last_place_of_a_file_is_given_up_by_itself() {
    let fault = Fault::on("*/contents/docs/CODEOWNERS").kind(FaultKind::Status(502, Body::Json));
    let (server, ran) = collect(large_organization(300).fault(fault), "30", "    max_concurrency: 1\n");
    // One in ten repositories has no file in the first two places.
    assert_eq!(not_asked(&ran, "CODEOWNERS").len(), 10, "{:?}", ran.errors.last());
    assert_eq!(asked(&server, "/contents/docs/CODEOWNERS"), 5 * ATTEMPTS + 15);
    assert_eq!(ran.errors.len(), 30);
}

/// Faults that end before the last attempt leave no trace, even without an earlier answer from this endpoint.
#[test]
fn faults_that_pass_never_open_it() {
    let (_, truth) = collect(large_organization(100), "30", "");
    for concurrency in [1, 32] {
        let fault = Fault::on(PROTECTION).times_per_path(ATTEMPTS - 1).kind(FaultKind::Reset);
        let more = format!("    max_concurrency: {concurrency}\n");
        let (_, ran) = collect(large_organization(100).fault(fault), "30", &more);
        assert_eq!((&ran.files, &ran.errors), (&truth.files, &truth.errors), "{concurrency} in flight");
    }
}

/// With nineteen failures before the first answer, or lasting failures for nine of ten repositories, the tool does not
/// give up the endpoint.
#[test]
fn what_answers_now_and_then_is_never_given_up() {
    let (_, truth) = collect(large_organization(150), "30", "");
    let broken = || FaultKind::Status(500, Body::Html);
    let firsts = Fault::on(PROTECTION).times(5 * ATTEMPTS + 14).kind(broken());
    let most = Fault::on(PROTECTION).chance(0.9, 20_261_122).lasting().kind(broken());
    for (what, fault, concurrency) in [("the first 19", firsts, 1), ("nine of ten", most, 32)] {
        let more = format!("    max_concurrency: {concurrency}\n");
        let (server, ran) = collect(large_organization(150).fault(fault), "30", &more);
        assert_eq!(not_asked(&ran, "branch protection"), Vec::<&str>::new(), "{what}");
        let hit: std::collections::BTreeSet<String> = server
            .requests()
            .iter()
            .filter(|request| request.fault.is_some())
            .filter_map(|request| Some(request.path().split('/').nth(3)?.to_string()))
            .collect();
        let healthy: Vec<_> =
            ran.errors.iter().filter(|(_, subject, _)| !hit.contains(&subject[5..])).collect();
        assert!(healthy.is_empty(), "{what}: {healthy:?}");
        if concurrency == 1 {
            assert_eq!(ran.errors.len(), 19, "{what}");
        }
        assert_eq!((ran.lies(&truth), ran.altered(&truth)), (Vec::new(), Vec::new()), "{what}");
    }
}
