//! All kinds of faults against all endpoints of the code host, temporary and lasting.

use std::collections::BTreeSet;

use evidence::env::Clock;
use evidence::source::{ConnectError, ConnectErrorKind};
use evidence_rules::rule::Status;
use jiff::Timestamp;
use sandbox::codehost::{CodeHost, File, Organization, Protection, Repository, Role, Ruleset, Token};
use sandbox::{DEMO_TOKEN, Fault, FaultKind, Server};

use crate::kinds::{Again, Harm, Kind, LONG, PASSING, Place, kinds};
use crate::ran::{Ran, injected, run, side_by_side};

/// An organization on three pages in which every observation has a different outcome. The repository whose raw file the tool
/// requests has a file of more than a megabyte.
fn host(endpoint: &Endpoint) -> CodeHost {
    let strong = || Protection::new().reviews(2).status_checks(["ci/build"]).enforce_admins(true);
    let owners = || File::text("* @acme/all\n");
    let repository = |name: &str| Repository::new("acme", name);
    let modules = if endpoint.is_raw() { 26_000 } else { 1 };
    let long = format!("{}* @acme/all\n", "/modules/some-module-of-many/ @acme/legacy\n".repeat(modules));
    CodeHost::new()
        .organization(Organization::new("acme").two_factor(true))
        .token(Token::classic(DEMO_TOKEN).scopes(["read:org"]).role(Role::Owner).sees_private(true))
        .page_size(3)
        .public_url("https://code.example")
        .fault(Fault::on("/circle").kind(FaultKind::Redirect("/circle".into())))
        .repository(repository("alpha").protection("main", strong()).file(".github/CODEOWNERS", owners()))
        .repository(repository("bravo").protection("main", strong()).file("CODEOWNERS", owners()))
        .repository(repository("charlie").ruleset(Ruleset::new(1, "history").rule("deletion")))
        .repository(
            repository("delta").protection("main", strong()).file(".github/CODEOWNERS", File::text(long)),
        )
        .repository(
            repository("echo").archived(true).protection("main", strong()).file("CODEOWNERS", owners()),
        )
        .repository(repository("foxtrot").protection("main", strong().enforce_admins(false)))
        .repository(repository("golf").protection("main", strong()).file("CODEOWNERS", owners()))
}

fn collect(server: &Server, endpoint: &Endpoint, timeout: &str) -> Result<Ran, ConnectError> {
    collect_by(Clock::manual(Timestamp::now()), server, endpoint, timeout)
}

fn collect_by(
    clock: Clock,
    server: &Server,
    endpoint: &Endpoint,
    timeout: &str,
) -> Result<Ran, ConnectError> {
    let (url, repos) = (server.url(), endpoint.repos);
    let source = format!(
        "  codehost:\n    mode: token\n    org: acme\n    repos: {repos}\n    api_url: {url}\n    timeout_seconds: \
         {timeout}\n"
    );
    run("[CC6.1, CC6.6, CC7.2]", &source, &[("CODEHOST_TOKEN", DEMO_TOKEN)], clock)
}

/// What depends on an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Behind {
    /// The connection.
    All,
    /// The repositories of a page, in order.
    Page(&'static [&'static str]),
    /// A repository's protection, or its owners.
    Observation(&'static str, &'static str),
}

/// One column of the table.
struct Endpoint {
    name: &'static str,
    pattern: &'static str,
    /// The number of earlier matching requests to spare.
    after: u64,
    behind: Behind,
    repos: &'static str,
}

const PROTECTION: &str = "branch-protection";
const OWNERS: &str = "codeowners-default-rule";

const ENDPOINTS: &[Endpoint] = &[
    Endpoint { name: "organization", pattern: "/orgs/acme", after: 0, behind: Behind::All, repos: "\"*\"" },
    Endpoint {
        name: "first page",
        pattern: "/orgs/acme/repos",
        after: 0,
        behind: Behind::Page(&["alpha", "bravo", "charlie"]),
        repos: "\"*\"",
    },
    Endpoint {
        name: "page in the middle",
        pattern: "/organizations/*?*page=2",
        after: 0,
        behind: Behind::Page(&["delta", "echo", "foxtrot"]),
        repos: "\"*\"",
    },
    Endpoint {
        name: "last page",
        pattern: "/organizations/*?*page=3",
        after: 0,
        behind: Behind::Page(&["golf"]),
        repos: "\"*\"",
    },
    Endpoint {
        name: "protection",
        pattern: "/repos/acme/alpha/branches/main/protection",
        after: 0,
        behind: Behind::Observation("alpha", PROTECTION),
        repos: "\"*\"",
    },
    Endpoint {
        name: "protection that is not there",
        pattern: "/repos/acme/charlie/branches/main/protection",
        after: 0,
        behind: Behind::Observation("charlie", PROTECTION),
        repos: "\"*\"",
    },
    Endpoint {
        name: "rules of rulesets",
        pattern: "/repos/acme/charlie/rules/branches/main",
        after: 0,
        behind: Behind::Observation("charlie", PROTECTION),
        repos: "\"*\"",
    },
    Endpoint {
        name: "owners",
        pattern: "/repos/acme/alpha/contents/.github/CODEOWNERS",
        after: 0,
        behind: Behind::Observation("alpha", OWNERS),
        repos: "\"*\"",
    },
    Endpoint {
        name: "owners that are in the second place",
        pattern: "/repos/acme/bravo/contents/.github/CODEOWNERS",
        after: 0,
        behind: Behind::Observation("bravo", OWNERS),
        repos: "\"*\"",
    },
    Endpoint {
        name: "owners in the second place",
        pattern: "/repos/acme/bravo/contents/CODEOWNERS",
        after: 0,
        behind: Behind::Observation("bravo", OWNERS),
        repos: "\"*\"",
    },
    Endpoint {
        name: "a file's own bytes",
        pattern: "/repos/acme/delta/contents/.github/CODEOWNERS",
        after: 1,
        behind: Behind::Observation("delta", OWNERS),
        repos: "\"*\"",
    },
    Endpoint {
        name: "whether a repository is there",
        pattern: "/repos/acme/ghost",
        after: 0,
        behind: Behind::Observation("ghost", PROTECTION),
        repos: "[acme/ghost, acme/alpha]",
    },
];

impl Endpoint {
    fn is_listing(&self) -> bool {
        matches!(self.behind, Behind::Page(_))
    }

    fn fault(&self, kind: FaultKind) -> Fault {
        Fault::on(self.pattern).after(self.after).kind(kind)
    }

    fn is_raw(&self) -> bool {
        self.after > 0
    }

    /// The effect of the kind at this endpoint.
    fn harm(&self, kind: &Kind) -> Harm {
        match (kind.name, self.behind) {
            // A file that disappears between two requests is not a refusal, and a missing page is not "not shown".
            ("redirect to nothing", Behind::Page(_)) => Harm::Lost("not_found"),
            ("redirect to nothing", _) if self.is_raw() => Harm::Lost("host_error"),
            // This endpoint answers "Not Found" anyway.
            ("redirect to nothing", _) if self.name == "whether a repository is there" => Harm::None,
            // Raw bytes have no numbers and no shape for a fault to change.
            (..) => kind.harm,
        }
    }

    /// Whether this subject's check of this rule depends on the endpoint.
    fn is_behind(&self, rule: &str, subject: &str) -> bool {
        let repository = subject.strip_prefix("acme/").unwrap_or_default();
        match self.behind {
            Behind::All => true,
            // A page without a link to the next page also loses all later pages.
            Behind::Page(_) => !repository.is_empty(),
            // If the tool cannot confirm that the repository exists, its other observations are in doubt too.
            Behind::Observation("ghost", _) => repository == "ghost",
            Behind::Observation(name, known) => repository == name && rule == known,
        }
    }
}

/// Runs `case` for every `step`th `wanted` combination of kind and endpoint, each kind at least once. Returns their number.
fn every(
    step: usize,
    wanted: impl Fn(&Kind, &Endpoint) -> bool,
    case: impl Fn(&Kind, &Endpoint) -> Result<(), String> + Sync,
) -> usize {
    let mut cases = Vec::new();
    for (number, kind) in kinds().into_iter().enumerate() {
        let places = ENDPOINTS.iter().filter(|one| kind.place == Place::Everywhere || one.is_listing());
        let places: Vec<_> = places.filter(|one| wanted(&kind, one)).collect();
        // Each kind begins with another endpoint, so that those have their turn too.
        let first = number % places.len().clamp(1, step);
        cases.extend(places.into_iter().skip(first).step_by(step).map(|endpoint| (kind.clone(), endpoint)));
    }
    side_by_side(cases, |(kind, endpoint)| {
        case(kind, endpoint).map_err(|what| format!("{} at {}: {what}", kind.name, endpoint.name))
    })
}

/// The run without faults.
fn truth(endpoint: &Endpoint) -> Ran {
    collect(&host(endpoint).serve().unwrap(), endpoint, LONG).unwrap()
}

/// The run without faults for each endpoint.
fn truths() -> Vec<(&'static str, Ran)> {
    ENDPOINTS.iter().map(|endpoint| (endpoint.name, truth(endpoint))).collect()
}

fn of<'a>(truths: &'a [(&'static str, Ran)], endpoint: &Endpoint) -> &'a Ran {
    &truths.iter().find(|(name, _)| *name == endpoint.name).unwrap().1
}

/// The run without faults has outcomes that faults could change.
#[test]
fn the_run_without_faults_has_every_outcome() {
    let truth = truth(&ENDPOINTS[0]);
    let seen: Vec<Status> = truth.checks.values().flatten().map(|(status, _)| *status).collect();
    for status in [Status::Pass, Status::Fail, Status::NotApplicable] {
        assert!(seen.contains(&status), "{status:?}");
    }
    // Nothing is asked about the archived repository.
    assert_eq!((truth.artifacts().len(), truth.errors.len(), truth.retries), (12, 0, 0));
    // It is deterministic.
    assert_eq!(self::truth(&ENDPOINTS[0]), truth);
}

/// What a test tries that does not try everything: a third.
const SAMPLE: usize = 3;

/// Property (a): faults that end before the last attempt leave no trace.
#[test]
fn faults_that_pass_leave_no_trace() {
    faults_that_pass(SAMPLE);
}

#[test]
#[ignore = "long: every kind of fault at every endpoint"]
fn faults_that_pass_in_every_place() {
    faults_that_pass(1);
}

fn faults_that_pass(step: usize) {
    let truths = truths();
    let passes = |kind: &Kind, endpoint: &Endpoint| match kind.again {
        Again::Asked => true,
        Again::AskedLater => endpoint.behind != Behind::All,
        Again::Stands => endpoint.harm(kind) == Harm::None,
    };
    let cases = every(step, passes, |kind, endpoint| {
        let server = host(endpoint).fault(endpoint.fault(kind.fault.clone()).times(PASSING)).serve().unwrap();
        let ran = collect(&server, endpoint, kind.timeout()).map_err(|error| error.to_string())?;
        let truth = of(&truths, endpoint);
        if injected(&server) == 0 {
            return Err("the fault met nobody".to_owned());
        }
        if (&ran.files, &ran.errors) != (&truth.files, &truth.errors) {
            return Err(format!(
                "another result: {:?}, lost {:?}, altered {:?}",
                ran.errors,
                ran.lost(truth),
                ran.altered(truth)
            ));
        }
        Ok(())
    });
    println!("faults that pass: {cases} cases of kind and endpoint, no difference");
}

/// Property (b): lasting faults affect only what they hit, and no check claims a result for unread data.
#[test]
fn faults_that_stay_cost_what_they_hit() {
    faults_that_stay(SAMPLE);
}

#[test]
#[ignore = "long: every kind of fault at every endpoint"]
fn faults_that_stay_in_every_place() {
    faults_that_stay(1);
}

fn faults_that_stay(step: usize) {
    let truths = truths();
    let cases = every(
        step,
        |_, _| true,
        |kind, endpoint| {
            let truth = of(&truths, endpoint);
            let server = host(endpoint).fault(endpoint.fault(kind.fault.clone())).serve().unwrap();
            let outcome = collect(&server, endpoint, kind.timeout());
            if injected(&server) == 0 {
                return Err("the fault met nobody".to_owned());
            }
            let harm = endpoint.harm(kind);
            let ran = match (outcome, endpoint.behind) {
                (Err(error), Behind::All)
                    if error.kind == ConnectErrorKind::Connection && harm != Harm::None =>
                {
                    return Ok(());
                }
                (Err(error), _) => return Err(format!("the connection failed: {error}")),
                (Ok(_), Behind::All) if matches!(harm, Harm::Lost(_) | Harm::Denied(_)) => {
                    return Err("was connected".to_owned());
                }
                (Ok(ran), _) => ran,
            };
            stayed(&ran, truth, harm, endpoint)
        },
    );
    println!("faults that stay: {cases} cases of kind and endpoint, 0 healthy artifacts lost, 0 lies");
}

/// A restarting host refuses all connections for some real time, so this test uses the machine's clock: the attempts of
/// one request take a second or longer.
#[test]
fn a_host_that_restarts_leaves_no_trace() {
    let all = &ENDPOINTS[0];
    let truth = truth(all);
    for pattern in ["/orgs/acme", "/orgs/acme/repos", "/repos/*"] {
        let host = host(all).refused_for(std::time::Duration::from_millis(200));
        let server = host.fault(Fault::on(pattern).times(1).kind(FaultKind::Refuse)).serve().unwrap();
        let ran = collect_by(Clock::System, &server, all, LONG).unwrap();
        assert_eq!((&ran.files, &ran.errors), (&truth.files, &truth.errors), "{pattern}");
        assert!(ran.retries > 0, "{pattern}");
    }
}

/// A host that goes down during the run and stays down.
#[test]
fn a_host_that_is_gone_costs_what_was_not_read() {
    let all = &ENDPOINTS[0];
    let truth = truth(all);
    // The connection test reads the first repository: without it, the rest of the listing is lost too.
    for read in 2..14 {
        let host = host(all).refused_for(std::time::Duration::from_secs(3_600));
        let server = host.fault(Fault::on("/repos/*").after(read).kind(FaultKind::Refuse)).serve().unwrap();
        let ran = collect(&server, all, LONG).unwrap();
        assert_eq!((ran.lies(&truth), ran.altered(&truth)), (Vec::new(), Vec::new()), "after {read}");
        assert!(ran.artifacts().contains("sources/codehost/org_settings.json"), "after {read}");
        assert!(
            !ran.errors.is_empty() && ran.errors.iter().all(|(code, ..)| code == "host_error"),
            "{:?}",
            ran.errors
        );
        // Every observation is present, unchanged or failed.
        assert!(truth.checks.keys().eq(ran.checks.keys()), "after {read}: {:?}", ran.checks);
        let unread = ran.checks.values().flatten().filter(|(_, reason)| reason == "host_error").count();
        assert!(unread > 0, "after {read}");
    }
}

fn stayed(ran: &Ran, truth: &Ran, harm: Harm, endpoint: &Endpoint) -> Result<(), String> {
    let lies = ran.lies(truth);
    if !lies.is_empty() {
        return Err(format!("lies: {lies:?}"));
    }
    let altered = ran.altered(truth);
    if !altered.is_empty() {
        return Err(format!("altered: {altered:?}"));
    }
    // Only checks that depend on the endpoint differ.
    for (question, verdicts) in &truth.checks {
        if ran.checks.get(question) != Some(verdicts) && !endpoint.is_behind(&question.0, &question.1) {
            return Err(format!(
                "{question:?} is healthy and was {verdicts:?}, is {:?}",
                ran.checks.get(question)
            ));
        }
    }
    let differs = ran.files != truth.files;
    let new: Vec<_> = ran.errors.iter().filter(|error| !truth.errors.contains(error)).collect();
    let codes: BTreeSet<&str> = new.iter().map(|(code, ..)| code.as_str()).collect();
    let expect_only = |code: &'static str| {
        if codes == BTreeSet::from([code]) { Ok(()) } else { Err(format!("the errors are {new:?}")) }
    };
    match harm {
        Harm::None if !differs && new.is_empty() => Ok(()),
        Harm::None => Err(format!("differs: {new:?}")),
        Harm::Lost(_) if !differs => Err("nothing is lost".to_owned()),
        Harm::Lost(code) => expect_only(code),
        Harm::Maybe(_) if !differs && new.is_empty() => Ok(()),
        Harm::Maybe(code) => expect_only(code),
        Harm::Denied(code) => {
            let denied =
                ran.checks.iter().filter(|(question, _)| endpoint.is_behind(&question.0, &question.1));
            let said = denied
                .flat_map(|(_, verdicts)| verdicts)
                .all(|(status, reason)| *status == Status::NotVerifiable && reason == code);
            if said && new.is_empty() { Ok(()) } else { Err(format!("not told as {code}: {new:?}")) }
        }
        Harm::Unseen if !differs || ran.warnings.contains("population_incomplete") => Ok(()),
        Harm::Unseen => expect_only("host_error"),
    }
}
