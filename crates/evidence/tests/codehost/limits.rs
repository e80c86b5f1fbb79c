//! Primary and secondary limits: all requests wait together, the tool shows the wait, and never treats a limit as "no
//! data".

use evidence::observation::Seen;
use evidence::report::WaitReason;
use sandbox::codehost::{CodeHost, Fault, FaultKind, Limits, Organization, Primary, Protection, Repository};
use sandbox::codehost::{Role, Token};
use sandbox::{DEMO_TOKEN, Server};

use super::collect;

const REPOSITORIES: usize = 40;

/// An organization that passes every check.
fn host() -> CodeHost {
    let protection = || Protection::new().reviews(2).status_checks(["ci/build"]).enforce_admins(true);
    let organization = Organization::new("acme").two_factor(true);
    let token = Token::classic(DEMO_TOKEN).scopes(["read:org"]).role(Role::Owner);
    (0..REPOSITORIES).fold(CodeHost::new().organization(organization).token(token), |host, number| {
        host.repository(
            Repository::new("acme", format!("service-{number:02}"))
                .protection("main", protection())
                .file("CODEOWNERS", sandbox::codehost::File::text("* @acme/all\n")),
        )
    })
}

/// The number of artifacts of a run. Any other observation fails the test.
fn artifacts(url: &str, extra: &[&str]) -> (super::Collected, usize) {
    let collected = collect(url, extra).unwrap();
    let odd: Vec<_> = collected
        .observations
        .iter()
        .filter(|observation| !matches!(observation.seen, Seen::Artifact { .. }))
        .collect();
    assert!(odd.is_empty(), "{odd:#?}");
    let count = collected.observations.len();
    (collected, count)
}

fn refusals(server: &Server) -> usize {
    server.requests().iter().filter(|request| [Some(403), Some(429)].contains(&request.status)).count()
}

#[test]
fn the_run_pauses_before_the_primary_limit_is_spent() {
    // 130 requests are left, and the run needs 82 besides the organization's: it must stop at 100 and wait.
    let server = host().limits(Limits::primary(Primary::new(5_000, 130).reset_in(600))).serve().unwrap();
    let (collected, count) = artifacts(&server.url(), &[]);
    assert_eq!(count, 1 + 2 * REPOSITORIES);
    assert_eq!(refusals(&server), 0);
    let (reason, left) = collected.waits[0];
    assert_eq!(reason, WaitReason::PrimaryLimit);
    assert!((595..=602).contains(&left.as_secs()), "waits until the reset and a second: {left}");
    assert!(collected.account.paused_seconds >= 595);
}

#[test]
fn a_good_answer_that_spends_the_last_request_is_used() {
    let server = host()
        .fault(Fault::on("/orgs/acme").kind(FaultKind::RateHeaders {
            limit: 5_000,
            remaining: 0,
            reset_in: 30,
        }))
        .serve()
        .unwrap();
    let (collected, count) = artifacts(&server.url(), &[]);
    assert_eq!(count, 1 + 2 * REPOSITORIES);
    let asked = server.requests().iter().filter(|request| request.path() == "/orgs/acme").count();
    assert_eq!(asked, 1, "thrown away and asked again");
    assert!(!collected.waits.is_empty());
}

#[test]
fn a_reset_in_the_past_is_no_busy_loop_and_no_long_wait() {
    let server = host()
        .fault(Fault::on("/repos/acme/*").times(30).kind(FaultKind::RateHeaders {
            limit: 5_000,
            remaining: 3,
            reset_in: -7_200,
        }))
        .serve()
        .unwrap();
    let (collected, count) = artifacts(&server.url(), &[]);
    assert_eq!(count, 1 + 2 * REPOSITORIES);
    assert!(collected.waits.iter().all(|(_, left)| left.as_secs() <= 2), "{:?}", collected.waits);
    assert!(server.request_count() < 200, "{} requests", server.request_count());
}

/// Every form of the host's answer: the tool must not mistake any of them for a missing permission or "no data".
#[test]
fn every_form_of_a_secondary_limit_is_waited_for() {
    let forms = [
        (FaultKind::SecondaryLimit { retry_after: Some(30), headers: true, status: 403 }, 30),
        (FaultKind::SecondaryLimit { retry_after: Some(30), headers: false, status: 429 }, 30),
        (FaultKind::SecondaryLimit { retry_after: None, headers: true, status: 403 }, 60),
        (FaultKind::SecondaryLimit { retry_after: None, headers: false, status: 403 }, 60),
        (FaultKind::SecondaryLimit { retry_after: None, headers: false, status: 429 }, 60),
        (FaultKind::AbuseDetection { retry_after: Some(45) }, 45),
        (FaultKind::AbuseDetection { retry_after: None }, 60),
    ];
    for (kind, seconds) in forms {
        let server =
            host().fault(Fault::on("/repos/acme/service-07/*").times(1).kind(kind.clone())).serve().unwrap();
        let (collected, count) = artifacts(&server.url(), &[]);
        assert_eq!(count, 1 + 2 * REPOSITORIES, "{kind:?}");
        let (reason, left) = collected.waits[0];
        assert_eq!(reason, WaitReason::SecondaryLimit, "{kind:?}");
        assert!((seconds - 1..=seconds).contains(&left.as_secs()), "{kind:?} waited {left}");
        assert_eq!(collected.account.retries, 1, "{kind:?}");
    }
}

#[test]
fn a_secondary_limit_that_never_lifts_is_five_attempts_and_an_error() {
    let path = "/repos/acme/service-07/branches/main/protection";
    let server = host()
        .fault(Fault::on(path).kind(FaultKind::SecondaryLimit {
            retry_after: None,
            headers: false,
            status: 403,
        }))
        .serve()
        .unwrap();
    let collected = collect(&server.url(), &[]).unwrap();
    let failed: Vec<_> = collected
        .observations
        .iter()
        .filter_map(|observation| match &observation.seen {
            Seen::Failed(failed) => Some((observation.subject.to_string(), failed.message.clone())),
            _ => None,
        })
        .collect();
    assert_eq!(failed.len(), 1, "{failed:?}");
    assert_eq!(failed[0].0, "acme/service-07");
    assert!(failed[0].1.contains("secondary rate limit"), "{failed:?}");
    assert_eq!(server.requests().iter().filter(|request| request.path() == path).count(), 5);
    assert_eq!(collected.observations.len(), 1 + 2 * REPOSITORIES, "the rest is collected all the same");
}

#[test]
fn without_pausing_the_spent_limit_fails_the_rest_without_asking() {
    let server = host().limits(Limits::primary(Primary::new(5_000, 20))).serve().unwrap();
    let collected = collect(&server.url(), &["rate_limit_pause: false", "max_concurrency: 4"]).unwrap();
    let failed: Vec<&str> = collected
        .observations
        .iter()
        .filter_map(|observation| match &observation.seen {
            Seen::Failed(failed) => Some(failed.message.as_str()),
            _ => None,
        })
        .collect();
    assert!(failed.len() > 50, "{}", failed.len());
    assert!(
        failed
            .iter()
            .all(|message| message.contains(": API rate limit exceeded") && message.contains(": 0 of 5000")),
        "{failed:?}"
    );
    assert!(failed.iter().all(|message| message.contains("resets at 20")), "{failed:?}");
    // One failure is the refusal itself, which has a status; the tool did not send the other requests. The host
    // received the token's 20 requests and those in flight at the first refusal.
    assert!(server.request_count() <= 20 + 4, "{} requests", server.request_count());
}

#[test]
fn a_host_without_limits_is_not_paced_and_not_waited_for() {
    let server = host().limits(Limits::self_hosted()).serve().unwrap();
    let (collected, count) = artifacts(&server.url(), &["requests_per_minute: 1"]);
    assert_eq!(count, 1 + 2 * REPOSITORIES);
    assert!(collected.waits.is_empty());
    assert!(collected.account.rate_limit.is_none());
}

#[test]
fn a_token_that_is_revoked_in_the_middle_is_not_tried_again_and_again() {
    let body = serde_json::json!({"message": "Bad credentials", "documentation_url": "https://docs.github.com/rest"});
    let server = host()
        .fault(Fault::on("/repos/acme/service-03/*").kind(FaultKind::Json(401, Vec::new(), body)))
        .serve()
        .unwrap();
    let collected = collect(&server.url(), &["max_concurrency: 1"]).unwrap();
    let unauthorized = server.requests().iter().filter(|request| request.status == Some(401)).count();
    assert_eq!(unauthorized, 1, "every further bad try prolongs the lock-out of the token's owner");
    assert_eq!(collected.observations.len(), 1 + 2 * REPOSITORIES);
    let failed = collected
        .observations
        .iter()
        .filter(|observation| matches!(observation.seen, Seen::Failed(_)))
        .count();
    assert_eq!(
        failed,
        2 * REPOSITORIES - 4,
        "the first repository and the protections of the next two were read"
    );
}

#[test]
fn no_more_requests_are_in_flight_than_configured() {
    let server = host().latency(std::time::Duration::from_millis(5)).serve().unwrap();
    artifacts(&server.url(), &["max_concurrency: 7"]);
    assert_eq!(server.highest_concurrency(), 7);
    assert!(server.violations().is_empty());
}

#[test]
fn requests_start_and_results_appear_in_the_specifications_order() {
    let server = host().serve().unwrap();
    let (collected, _) = artifacts(&server.url(), &["max_concurrency: 1"]);
    let order: Vec<String> = collected
        .observations
        .iter()
        .map(|observation| format!("{} {}", observation.kind.name, observation.subject))
        .collect();
    let name = |number: usize| format!("acme/service-{number:02}");
    let expected: Vec<String> = std::iter::once("org_settings acme".to_string())
        .chain((0..REPOSITORIES).map(|number| format!("branch_protection {}", name(number))))
        .chain((0..REPOSITORIES).map(|number| format!("codeowners {}", name(number))))
        .collect();
    assert_eq!(order, expected);
    let asked: Vec<String> = server.requests().iter().map(|request| request.path().to_string()).collect();
    assert_eq!(asked[0], "/orgs/acme");
    assert_eq!(asked[1], "/user");
    assert_eq!(asked[2], "/orgs/acme/repos");
    // The connection test already read the first repository.
    let rest: Vec<&String> =
        asked.iter().filter(|path| !path.starts_with("/repos/acme/service-00/")).collect();
    let first_contents = rest.iter().position(|path| path.contains("/contents/")).unwrap();
    let last_protection = rest.iter().rposition(|path| path.ends_with("/protection")).unwrap();
    assert!(last_protection < first_contents);
}

/// A handshake for each request would cost more than the requests.
#[test]
fn connections_are_used_again() {
    const IN_FLIGHT: u64 = 4;
    let server = host().latency(std::time::Duration::from_millis(5)).serve().unwrap();
    let (_, count) = artifacts(&server.url(), &[&format!("max_concurrency: {IN_FLIGHT}")]);
    assert_eq!(count, 1 + 2 * REPOSITORIES);
    let counted = server.summary();
    assert!(
        counted.requests >= 2 * REPOSITORIES as u64 && counted.highest_concurrency <= IN_FLIGHT,
        "{counted:?}"
    );
    // The client may open a connection for a request that then uses a free one.
    assert!(counted.connections <= 2 * IN_FLIGHT, "{counted:?}");
}
