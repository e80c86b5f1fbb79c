//! What a trail must do besides logging: deliver its files, and record management events.

use evidence_rules::rule::Status::{self, Fail, NotVerifiable, Pass};
use sandbox::cloud::{Body, Cloud, Fault, FaultKind, LogGroup, Principal, Trail};
use serde_json::{Value, json};

use crate::{
    ACCOUNT, Collected, KEY, PERMISSIONS, SECRET, Setup, TWO_REGIONS, USER, asked, collect, collect_from,
    good,
};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

fn trail() -> Trail {
    Trail::new("main", "eu-central-1").multi_region(true)
}

/// The time this many seconds ago.
fn ago(seconds: i64) -> f64 {
    (jiff::Timestamp::now().as_second() - seconds) as f64 + 0.25
}

fn of(cloud: Cloud) -> Collected {
    collect(&cloud.serve().unwrap(), TWO_REGIONS)
}

#[test]
fn a_trail_that_logs_must_deliver_too() {
    let stale = "trail_not_delivering";
    let quiet = "delivery_unconfirmed";
    // (last delivery, start of logging, expected check)
    let table: [(Option<i64>, i64, (Status, &str)); 8] = [
        (Some(HOUR), 400 * DAY, (Pass, "ok")),
        (Some(23 * HOUR), 400 * DAY, (Pass, "ok")),
        (Some(25 * HOUR), 400 * DAY, (NotVerifiable, quiet)),
        (Some(90 * DAY), 400 * DAY, (NotVerifiable, quiet)),
        (None, 400 * DAY, (Fail, stale)),
        (None, HOUR, (NotVerifiable, quiet)),
        (Some(90 * DAY), HOUR, (NotVerifiable, quiet)),
        (None, 25 * HOUR, (Fail, stale)),
    ];
    for (delivered, started, (status, reason)) in table {
        let trail = trail().latest_delivery(delivered.map(ago)).started(ago(started));
        let collected = of(good().trail(trail));
        assert_eq!(collected.of("audit-trail"), [(ACCOUNT, status, reason)], "{delivered:?} {started}");
        assert_eq!((&collected.failed, &collected.warnings), (&vec![], &vec![]));
    }
    let failing = trail().delivery_error("NoSuchBucket").latest_delivery(Some(ago(60)));
    let collected = of(good().trail(failing.clone()));
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Fail, "trail_not_delivering")]);
    assert_eq!(collected.warned(), ["trail_delivery_failed"]);
    // A second trail that delivers is enough; the warning remains.
    let collected = of(good().trail(failing).trail(Trail::new("second", "us-east-1").multi_region(true)));
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Pass, "ok")]);
    assert_eq!(collected.warned(), ["trail_delivery_failed"]);
}

/// The tool corrects the start of the run by the provider's clock, so a wrong local clock does not change a verdict.
#[test]
fn a_wrong_clock_does_not_make_a_trail_late() {
    for (wrong_by, delivered, status) in [(3 * DAY, HOUR, Pass), (-3 * DAY, 2 * DAY, NotVerifiable)] {
        let server = good().trail(trail().latest_delivery(Some(ago(delivered)))).serve().unwrap();
        let setup = Setup { clock_is_wrong_by: wrong_by, ..Setup::new(TWO_REGIONS) };
        let collected = collect_from(&server.url(), &setup, false).unwrap();
        assert_eq!(collected.warned(), ["clock_skewed"]);
        assert_eq!(collected.of("audit-trail")[0].1, status, "{wrong_by}");
    }
}

fn basic(kind: &str, management: bool) -> Value {
    json!({
        "ReadWriteType": kind, "IncludeManagementEvents": management,
        "DataResources": [{"Type": "AWS::S3::Object", "Values": ["arn:aws:s3"]}],
        "ExcludeManagementEventSources": [],
    })
}

#[test]
fn a_trail_must_record_management_events_both_reads_and_writes() {
    const LITTLE: (Status, &str) = (Fail, "management_events_not_recorded");
    const OK: (Status, &str) = (Pass, "ok");
    let category = |name: &str| json!({"Field": "eventCategory", "Equals": [name]});
    let advanced = |fields: Value| json!([{"Name": "x", "FieldSelectors": fields}]);
    let table = [
        (trail().event_selectors(json!([basic("All", true)])), OK),
        (trail().event_selectors(json!([basic("ReadOnly", true), basic("WriteOnly", true)])), OK),
        (trail().event_selectors(json!([basic("All", false)])), LITTLE),
        (trail().event_selectors(json!([basic("ReadOnly", true)])), LITTLE),
        (trail().event_selectors(json!([basic("WriteOnly", true), basic("All", false)])), LITTLE),
        (trail().event_selectors(json!([])), (NotVerifiable, "no_evidence")),
        (trail().advanced_event_selectors(advanced(json!([category("Management")]))), OK),
        (trail().advanced_event_selectors(advanced(json!([category("Data")]))), LITTLE),
        (
            trail().advanced_event_selectors(advanced(json!([
                category("Management"),
                {"Field": "readOnly", "Equals": ["false"]},
            ]))),
            LITTLE,
        ),
        (
            trail().advanced_event_selectors(advanced(json!([
                category("Management"),
                {"Field": "eventSource", "NotEquals": ["kms.amazonaws.com", "rdsdata.amazonaws.com"]},
            ]))),
            OK,
        ),
        (
            trail().advanced_event_selectors(advanced(json!([
                category("Management"),
                {"Field": "eventName", "NotEquals": ["DeleteTrail"]},
            ]))),
            (NotVerifiable, "no_evidence"),
        ),
    ];
    for (trail, (status, reason)) in table {
        let server = good().trail(trail.clone()).serve().unwrap();
        let collected = collect(&server, TWO_REGIONS);
        assert_eq!(collected.of("audit-trail"), [(ACCOUNT, status, reason)], "{trail:?}");
        assert_eq!(asked(&server)["cloudtrail:GetEventSelectors"], 1);
        assert!(collected.artifacts.contains_key("trail_main_event_selectors.json"));
        assert_eq!(collected.population.as_ref().unwrap().2, collected.observed);
    }
    let collected = of(good().trail(trail().event_selectors(json!([basic("ReadOnly", true)]))));
    let stored = json!({"EventSelectors": [
        {"ReadWriteType": "ReadOnly", "IncludeManagementEvents": true, "ExcludeManagementEventSources": []}
    ]});
    assert_eq!(collected.artifacts["trail_main_event_selectors.json"], stored, "not the resources");
}

/// The tool reads event selectors only where they can affect the check, and the plan counts only those.
#[test]
fn selectors_are_read_where_they_can_matter() {
    let selecting = |trail: Trail| trail.event_selectors(json!([basic("All", true)]));
    let table = [
        (trail(), 0),
        (selecting(trail()), 1),
        (selecting(Trail::new("main", "eu-central-1")), 0),
        (selecting(trail()).logging(false), 1),
    ];
    for (trail, requests) in table {
        let server = good().trail(trail.clone()).serve().unwrap();
        let collected = collect_from(&server.url(), &Setup::new(TWO_REGIONS), true).unwrap();
        let asked = asked(&server).get("cloudtrail:GetEventSelectors").copied().unwrap_or_default();
        assert_eq!(asked, requests, "{trail:?}");
        // A trail that fails at home is not looked at in the other region.
        assert!(collected.plan.requests_maximum >= collected.account.requests);
        assert!(collected.plan.artifact_count() >= collected.artifacts.len() as u64);
    }
}

#[test]
fn selectors_that_are_refused_are_not_known() {
    let allowed = PERMISSIONS.into_iter().filter(|known| *known != "cloudtrail:GetEventSelectors");
    let principal = Principal::user(KEY, SECRET, USER).allow(allowed);
    let selecting = trail().event_selectors(json!([basic("All", true)]));
    let cloud = good().principal(principal).trail(selecting.clone());
    let collected = of(cloud.clone());
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, NotVerifiable, "permission_denied")]);
    assert_eq!(collected.failed, []);
    // A trail that does not log fails whatever its selectors are.
    let collected = of(cloud.clone().trail(selecting.clone().logging(false)));
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Fail, "audit_trail_not_logging")]);
    // A second trail with default selectors is enough.
    let collected = of(cloud.trail(Trail::new("second", "us-east-1").multi_region(true)));
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Pass, "ok")]);
    let fault = Fault::on("cloudtrail:GetEventSelectors").kind(FaultKind::Status(500, Body::Json));
    let collected = of(good().trail(selecting).fault(fault));
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, NotVerifiable, "host_error")]);
    assert_eq!(collected.failed.len(), 1);
}

/// A denied status does not matter for a single-region trail, which cannot pass anyway.
#[test]
fn what_is_not_known_of_a_trail_that_cannot_pass_does_not_matter() {
    let allowed = PERMISSIONS.into_iter().filter(|known| *known != "cloudtrail:GetTrailStatus");
    let principal = Principal::user(KEY, SECRET, USER).allow(allowed);
    let collected = of(good().principal(principal).trail(Trail::new("main", "eu-central-1")));
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Fail, "audit_trail_not_multi_region")]);
}

#[test]
fn log_groups_that_only_pass_events_on_keep_them_too_short() {
    let region = "123456789012/us-east-1";
    let collected = of(good().log_group("us-east-1", LogGroup::new("/edge").delivery()));
    assert_eq!(collected.of("log-retention")[1], (region, Fail, "log_retention_too_short"));
    let group = &collected.artifacts["log_groups.json"]["regions_read"][1]["logGroups"][1];
    assert_eq!((&group["logGroupClass"], &group["retentionInDays"]), (&json!("DELIVERY"), &json!(2)));
    // For this class, a missing retention does not mean "forever".
    let groups = json!({"logGroups": [{"logGroupName": "/edge", "logGroupClass": "DELIVERY"}]});
    let fault = Fault::on("logs:DescribeLogGroups@us-east-1").kind(FaultKind::Json(200, Vec::new(), groups));
    let collected = of(good().fault(fault));
    assert_eq!(collected.of("log-retention")[1], (region, Fail, "log_retention_too_short"));
    let other = of(good().log_group("us-east-1", LogGroup::new("/rare").infrequent_access()));
    assert_eq!(other.of("log-retention")[1], (region, Pass, "ok"));
}
