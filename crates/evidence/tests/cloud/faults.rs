//! Faults and throttling: temporary faults leave no trace, and lasting faults cost only what they hit.

use evidence_rules::rule::Status::{NotVerifiable, Pass};
use sandbox::cloud::{Body, Fault, FaultKind, LogGroup, Principal, Throttle};

use crate::{ACCOUNT, Collected, KEY, SECRET, Setup, TWO_REGIONS, USER, asked, collect, collect_from, good};

fn same(one: &Collected, other: &Collected) {
    assert_eq!(one.checks, other.checks);
    assert_eq!(one.artifacts, other.artifacts);
    assert_eq!((&one.failed, &one.warnings), (&other.failed, &other.warnings));
}

#[test]
fn what_heals_leaves_no_trace() {
    let clean = collect(&good().serve().unwrap(), TWO_REGIONS);
    let kinds = [
        FaultKind::Status(500, Body::Json),
        FaultKind::Status(503, Body::Json),
        FaultKind::Status(502, Body::Html),
        FaultKind::Status(504, Body::Empty),
        FaultKind::LoginPage,
        FaultKind::Reset,
        FaultKind::Truncate(20),
        FaultKind::WrongContentLength,
    ];
    for kind in kinds {
        let name = kind.name();
        for action in ["sts:*", "iam:*", "cloudtrail:DescribeTrails", "cloudtrail:GetTrailStatus", "logs:*"] {
            // Before the first good answer, a page means a wrong address, and is not asked again.
            if name == FaultKind::LoginPage.name() && action == "sts:*" {
                continue;
            }
            let server = good().fault(Fault::on(action).kind(kind.clone()).times(2)).serve().unwrap();
            let collected = collect(&server, TWO_REGIONS);
            same(&collected, &clean);
            assert_eq!(collected.account.retries, 2, "{name} {action}");
        }
    }
}

#[test]
fn throttling_is_waited_out() {
    let clean = collect(&good().serve().unwrap(), TWO_REGIONS);
    let server = good().throttle(Throttle::on("*").first(3)).serve().unwrap();
    let collected = collect(&server, TWO_REGIONS);
    same(&collected, &clean);
    assert_eq!(collected.account.retries, 3);
    // One page in the middle of a listing.
    let mut cloud = good().throttle(Throttle::on("logs:DescribeLogGroups@us-east-1").first(4));
    for number in 0..100 {
        cloud = cloud.log_group("us-east-1", LogGroup::new(format!("/n/{number:03}")));
    }
    let collected = collect(&cloud.serve().unwrap(), TWO_REGIONS);
    assert_eq!((collected.failed.len(), collected.population.unwrap().0), (0, Some(104 + 17 + 1)));
}

#[test]
fn what_does_not_heal_costs_only_what_it_hits() {
    let table = [
        (
            Fault::on("logs:DescribeLogGroups@us-east-1").kind(FaultKind::Status(500, Body::Json)),
            "InternalFailure",
            5,
        ),
        (Fault::on("logs:DescribeLogGroups@us-east-1").kind(FaultKind::LoginPage), "a page", 5),
        (
            Fault::on("logs:DescribeLogGroups@us-east-1").kind(FaultKind::HugeBody(5_000_000)),
            "larger than",
            1,
        ),
    ];
    for (fault, _, attempts) in table {
        let server = good().fault(fault).serve().unwrap();
        let collected = collect(&server, TWO_REGIONS);
        assert_eq!(collected.of("password-policy"), [(ACCOUNT, Pass, "ok")]);
        assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Pass, "ok")]);
        assert_eq!(
            collected.of("log-retention"),
            [
                ("123456789012/eu-central-1", Pass, "ok"),
                ("123456789012/us-east-1", NotVerifiable, "host_error")
            ]
        );
        assert_eq!(collected.failed.len(), 1);
        let (subject, reason, message) = &collected.failed[0];
        assert_eq!((subject.as_str(), reason.as_str()), ("123456789012/us-east-1", "host_error"));
        assert!(message.starts_with("logs:DescribeLogGroups in us-east-1: "), "{message}");
        assert_eq!(asked(&server)["logs:DescribeLogGroups"], 1 + attempts);
        assert_eq!(collected.names().len(), 6, "the other region is in the artifact");
    }
    // Throttled permanently.
    let server = good().throttle(Throttle::on("cloudtrail:GetTrailStatus").first(1_000)).serve().unwrap();
    let collected = collect(&server, TWO_REGIONS);
    assert_eq!(collected.failed.len(), 1);
    let audit = collected.of("audit-trail");
    assert!(
        audit.iter().all(|(_, status, reason)| (*status, *reason) == (NotVerifiable, "host_error")),
        "{audit:?}"
    );
    assert_eq!(collected.account.retries, 4);
    // The trails of one region fail: the trail in the other region is enough for the account, and the error remains.
    let fault = Fault::on("cloudtrail:DescribeTrails@us-east-1").kind(FaultKind::Status(500, Body::Json));
    let collected = collect(&good().fault(fault).serve().unwrap(), TWO_REGIONS);
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Pass, "ok")]);
    assert_eq!(collected.failed.len(), 1);
}

#[test]
fn a_listing_that_breaks_off_is_no_listing() {
    let mut cloud = good();
    for number in 0..120 {
        cloud = cloud.log_group("us-east-1", LogGroup::new(format!("/n/{number:03}")).retention_days(1));
    }
    let fault =
        Fault::on("logs:DescribeLogGroups@us-east-1").kind(FaultKind::Status(500, Body::Json)).after(1);
    let collected = collect(&cloud.fault(fault).serve().unwrap(), TWO_REGIONS);
    assert_eq!(collected.of("log-retention")[1], ("123456789012/us-east-1", NotVerifiable, "host_error"));
    let groups = &collected.artifacts["log_groups.json"];
    assert_eq!(groups["regions_read"].as_array().unwrap().len(), 1);
    assert_eq!(groups["regions_not_read"][0]["region"], "us-east-1");
}

/// A plan lists the calls that failed. Temporary faults are not in it, and a denied call is a warning.
#[test]
fn a_plan_says_what_could_not_be_asked_for() {
    let mut cloud = good();
    for number in 0..120 {
        cloud = cloud.log_group("us-east-1", LogGroup::new(format!("/n/{number:03}")));
    }
    let fault = |action: &str| Fault::on(action).kind(FaultKind::Status(503, Body::Empty));
    // (the fault, the expected lines without the number of attempts)
    let table = [
        (fault("iam:*"), vec!["iam:GetAccountPasswordPolicy: HTTP 503", "iam:GetAccountSummary: HTTP 503"]),
        (
            fault("cloudtrail:DescribeTrails@us-east-1"),
            vec!["cloudtrail:DescribeTrails in us-east-1: HTTP 503"],
        ),
        (fault("logs:*@us-east-1"), vec!["logs:DescribeLogGroups in us-east-1: HTTP 503"]),
        (fault("logs:*@us-east-1").after(1), vec!["logs:DescribeLogGroups in us-east-1: HTTP 503"]),
        (
            fault("cloudtrail:DescribeTrails"),
            vec![
                "cloudtrail:DescribeTrails in eu-central-1: HTTP 503",
                "cloudtrail:DescribeTrails in us-east-1: HTTP 503",
            ],
        ),
        (fault("*").times(2), vec![]),
        (fault("cloudtrail:GetTrailStatus"), vec![]),
    ];
    for (fault, lines) in table {
        let server = cloud.clone().fault(fault).serve().unwrap();
        let plan = collect_from(&server.url(), &Setup::new(TWO_REGIONS), true).unwrap().plan;
        let expected: Vec<String> = lines.iter().map(|line| format!("{line} (after 5 attempts)")).collect();
        assert_eq!(plan.failed, expected);
    }
    let denied = Principal::user(KEY, SECRET, USER);
    let server = cloud.principal(denied).serve().unwrap();
    assert_eq!(collect_from(&server.url(), &Setup::new(TWO_REGIONS), true).unwrap().plan.failed, [""; 0]);
}

#[test]
fn a_provider_that_does_not_answer_who_is_asking_is_a_connection_error() {
    for (kind, requests) in
        [(FaultKind::Status(500, Body::Json), 5), (FaultKind::Reset, 5), (FaultKind::LoginPage, 1)]
    {
        let server = good().fault(Fault::on("sts:*").kind(kind)).serve().unwrap();
        let error = collect_from(&server.url(), &Setup::new(TWO_REGIONS), false).err().unwrap();
        assert_eq!(error.requests, requests);
        assert!(error.message.starts_with("sts:GetCallerIdentity at http://127.0.0.1"), "{}", error.message);
    }
    let server = good().throttle(Throttle::on("sts:*").first(100)).serve().unwrap();
    let error = collect_from(&server.url(), &Setup::new(TWO_REGIONS), false).err().unwrap();
    assert!(error.message.contains("Rate exceeded") && error.help[0].contains("wait"), "{error:?}");
}
