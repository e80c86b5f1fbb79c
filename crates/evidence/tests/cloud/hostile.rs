//! Answers that the source must reject: names that lead elsewhere, endless lists, impossible numbers.

use evidence_rules::rule::Status::{Fail, NotVerifiable, Pass};
use sandbox::cloud::{Body, Fault, FaultKind, Trail};
use serde_json::{Value, json};

use crate::{ACCOUNT, Collected, asked, collect, good};

const ONE: &[&str] = &["region: eu-central-1"];

/// Collects from an account where `action` always answers this.
fn with(action: &str, answer: Value) -> Collected {
    let fault = Fault::on(action).kind(FaultKind::Json(200, Vec::new(), answer));
    collect(&good().fault(fault).serve().unwrap(), ONE)
}

#[test]
fn names_and_homes_that_lead_elsewhere_are_not_followed() {
    let arn = |region: &str, name: &str| format!("arn:aws:cloudtrail:{region}:123456789012:trail/{name}");
    let trails = json!({"trailList": [
        {"Name": "../../../etc/passwd", "TrailARN": arn("eu-central-1", "../../x"), "HomeRegion": "eu-central-1", "IsMultiRegionTrail": true},
        {"Name": "a/b\u{1b}[31m\n", "HomeRegion": "eu-central-1", "IsMultiRegionTrail": true},
        {"Name": "evil", "TrailARN": arn("eu-central-1", "evil"), "HomeRegion": "evil.example.com/", "IsMultiRegionTrail": true},
        {"Name": "china", "TrailARN": arn("cn-north-1", "china"), "HomeRegion": "cn-north-1", "IsMultiRegionTrail": true},
        {"Name": "nonsense", "TrailARN": "nonsense \u{202e}", "HomeRegion": "eu-central-1", "IsMultiRegionTrail": true},
        {"Name": "x".repeat(5_000), "TrailARN": arn("eu-central-1", "long"), "HomeRegion": "eu-central-1", "IsMultiRegionTrail": true},
        {},
    ]});
    let fault = Fault::on("cloudtrail:DescribeTrails").kind(FaultKind::Json(200, Vec::new(), trails));
    let status = Fault::on("cloudtrail:GetTrailStatus").kind(FaultKind::Json(
        200,
        Vec::new(),
        json!({"IsLogging": true}),
    ));
    let selectors = Fault::on("cloudtrail:GetEventSelectors").kind(FaultKind::Json(
        200,
        Vec::new(),
        json!({"EventSelectors": []}),
    ));
    let server = good().fault(fault).fault(status).fault(selectors).serve().unwrap();
    let collected = collect(&server, ONE);
    // The tool requested only the trail with a valid ARN and home region. Its name is too long for a file, so the tool
    // does not use it.
    assert_eq!(asked(&server)["cloudtrail:GetTrailStatus"], 1);
    assert_eq!(asked(&server)["cloudtrail:GetEventSelectors"], 1);
    assert_eq!(collected.failed.len(), 2 * 7, "{:?}", collected.failed);
    assert!(collected.failed.iter().all(|(subject, reason, message)| {
        reason == "host_error" && ![subject, message].iter().any(|t| t.contains('\u{1b}') || t.len() > 1_000)
    }));
    assert_eq!(collected.of("audit-trail").last().unwrap(), &(ACCOUNT, NotVerifiable, "host_error"));
    assert!(collected.names().iter().all(|name| !name.starts_with("trail_")));
    assert_eq!(collected.artifacts["audit_trails.json"]["trailList"].as_array().unwrap().len(), 7);
    assert_eq!(collected.of("password-policy"), [(ACCOUNT, Pass, "ok")]);
}

/// What a proxy sends that mixes up accounts, regions or trails would pass: it is not evidence about this account.
#[test]
fn an_answer_about_another_account_region_or_trail_is_an_error() {
    let trail = json!({"trailList": [{"Name": "main", "TrailARN": "arn:aws:cloudtrail:eu-central-1:999999999999:trail/main",
        "HomeRegion": "eu-central-1", "IsMultiRegionTrail": true, "IsOrganizationTrail": false,
        "HasCustomEventSelectors": false}]});
    let groups = |region: &str, account: &str| {
        json!({"logGroups": [{"logGroupName": "/app", "retentionInDays": 400,
        "arn": format!("arn:aws:logs:{region}:{account}:log-group:/app:*")}]})
    };
    let selectors = json!({"TrailARN": "arn:aws:cloudtrail:eu-central-1:999999999999:trail/main", "EventSelectors":
        [{"ReadWriteType": "All", "IncludeManagementEvents": true}]});
    for (action, answer, rule, about) in [
        (
            "cloudtrail:DescribeTrails",
            trail,
            "audit-trail",
            "999999999999:trail/main instead of 123456789012",
        ),
        (
            "logs:DescribeLogGroups",
            groups("eu-central-1", "999999999999"),
            "log-retention",
            "999999999999/eu-central-1",
        ),
        ("logs:DescribeLogGroups", groups("eu-west-1", ACCOUNT), "log-retention", "123456789012/eu-west-1"),
        (
            "cloudtrail:GetEventSelectors",
            selectors,
            // Another trail passes.
            "",
            "999999999999:trail/main instead of arn:aws:",
        ),
    ] {
        let own = Trail::new("own", "eu-central-1").multi_region(true).event_selectors(json!([]));
        let host = if action == "cloudtrail:GetEventSelectors" { good().trail(own) } else { good() };
        let fault = Fault::on(action).kind(FaultKind::Json(200, Vec::new(), answer));
        let collected = collect(&host.fault(fault).serve().unwrap(), ONE);
        if !rule.is_empty() {
            let (_, status, reason) = *collected.of(rule).last().unwrap();
            assert_eq!((status, reason), (NotVerifiable, "host_error"), "{action}");
        }
        assert_eq!(collected.failed.len(), 1, "{action}: {:?}", collected.failed);
        let (_, _, message) = &collected.failed[0];
        assert!(message.contains("the answer is about ") && message.contains(about), "{message}");
    }
}

#[test]
fn an_answer_of_another_form_is_an_error_and_never_a_finding() {
    for answer in
        [json!({}), json!({"trailList": null}), json!([]), json!({"trailList": [["main"]]}), json!("no")]
    {
        let collected = with("cloudtrail:DescribeTrails", answer.clone());
        let check = ("123456789012/eu-central-1", NotVerifiable, "host_error");
        assert_eq!(collected.of("audit-trail"), [check], "{answer}");
        assert_eq!(collected.failed.len(), 1, "{answer}");
    }
    for answer in [
        json!({}),
        json!({"logGroups": null}),
        json!({"logGroups": [{}]}),
        json!({"logGroups": [{"logGroupName": "/a", "retentionInDays": "1"}]}),
    ] {
        let collected = with("logs:*", answer.clone());
        let check = ("123456789012/eu-central-1", NotVerifiable, "host_error");
        assert_eq!(collected.of("log-retention"), [check], "{answer}");
    }
    for answer in [json!({}), json!({"IsLogging": "true"}), json!([true])] {
        let collected = with("cloudtrail:GetTrailStatus", answer.clone());
        assert!(collected.of("audit-trail").iter().all(|check| check.1 == NotVerifiable), "{answer}");
        assert!(!collected.artifacts.contains_key("trail_main_status.json"));
    }
    for answer in [json!({}), json!({"EventSelectors": {}}), json!({"EventSelectors": [[]]}), json!([])] {
        let fault =
            Fault::on("cloudtrail:GetEventSelectors").kind(FaultKind::Json(200, Vec::new(), answer.clone()));
        let selecting = Trail::new("main", "eu-central-1").multi_region(true).event_selectors(json!([]));
        let collected = collect(&good().trail(selecting).fault(fault).serve().unwrap(), ONE);
        assert_eq!(collected.of("audit-trail"), [(ACCOUNT, NotVerifiable, "host_error")], "{answer}");
        assert!(!collected.artifacts.contains_key("trail_main_event_selectors.json"));
    }
    let texts = [
        "<GetAccountPasswordPolicyResponse/>",
        "<!DOCTYPE x [<!ENTITY a \"aaaa\"><!ENTITY b \"&a;&a;\">]><GetAccountPasswordPolicyResponse>&b;\
         </GetAccountPasswordPolicyResponse>",
        "<GetAccountPasswordPolicyResponse><GetAccountPasswordPolicyResult><PasswordPolicy><MinimumPasswordLength>-8\
         </MinimumPasswordLength></PasswordPolicy></GetAccountPasswordPolicyResult></GetAccountPasswordPolicyResponse>",
        "{\"PasswordPolicy\": {\"MinimumPasswordLength\": 14}}",
    ];
    for text in texts {
        let fault = Fault::on("iam:GetAccountPasswordPolicy")
            .kind(FaultKind::Status(200, Body::Text(text.to_string())));
        let collected = collect(&good().fault(fault).serve().unwrap(), ONE);
        assert_eq!(collected.of("password-policy"), [(ACCOUNT, NotVerifiable, "host_error")], "{text}");
        assert_eq!(collected.failed.len(), 1);
    }
}

#[test]
fn a_listing_without_an_end_ends() {
    let page = json!({"logGroups": [{"logGroupName": "/a", "retentionInDays": 365}], "nextToken": "again"});
    let server =
        good().fault(Fault::on("logs:*").kind(FaultKind::Json(200, Vec::new(), page))).serve().unwrap();
    let collected = collect(&server, ONE);
    assert_eq!(
        asked(&server)["logs:DescribeLogGroups"],
        2,
        "the page that was given already is not asked for again"
    );
    assert_eq!(collected.of("log-retention"), [("123456789012/eu-central-1", NotVerifiable, "host_error")]);
    assert!(collected.failed[0].2.contains("too many pages"), "{:?}", collected.failed);
}

#[test]
fn a_listing_of_more_than_can_be_is_no_listing() {
    let many = |count: usize, long: usize| -> Vec<Value> {
        (0..count).map(|number| json!({"logGroupName": format!("{number}{}", "x".repeat(long))})).collect()
    };
    // A page may hold more entries than the provider's own pages. Every page differs.
    let pages = |count: usize, long: usize, pages: usize| {
        let kinds = (0..pages).map(move |page| {
            let answer = json!({"logGroups": many(count, long), "nextToken": page.to_string()});
            FaultKind::Json(200, Vec::new(), answer)
        });
        let server = good().fault(Fault::on("logs:*").kinds(kinds)).serve().unwrap();
        let collected = collect(&server, ONE);
        let check = ("123456789012/eu-central-1", NotVerifiable, "host_error");
        assert_eq!(collected.of("log-retention"), [check]);
        assert!(!collected.artifacts.contains_key("log_groups.json"));
        collected.failed[0].2.clone()
    };
    assert!(pages(30_000, 1, 5).ends_with("the listing has more than 100,000 log groups"));
    assert!(pages(1, 1_000_000, 70).ends_with("the answers exceed 64 MiB in total"));
}

#[test]
fn retentions_that_cannot_be_are_not_believed() {
    let groups = |days: Value| json!({"logGroups": [{"logGroupName": "/a", "retentionInDays": days}]});
    let region = "123456789012/eu-central-1";
    let table = [
        (json!(-1), (NotVerifiable, "no_evidence")),
        (json!(0), (NotVerifiable, "no_evidence")),
        (json!(null), (NotVerifiable, "no_evidence")),
        (json!(1), (Fail, "log_retention_too_short")),
        (json!(i64::MAX), (Pass, "ok")),
        (json!(1e300), (NotVerifiable, "host_error")),
    ];
    for (days, (status, reason)) in table {
        let collected = with("logs:*", groups(days.clone()));
        assert_eq!(collected.of("log-retention"), [(region, status, reason)], "{days}");
    }
}

#[test]
fn thousands_of_log_groups_with_names_that_people_do_not_give() {
    let groups: Vec<Value> = (0..5_000)
        .map(|number| json!({"logGroupName": format!("/{number}\u{202e}\n../"), "retentionInDays": 1}))
        .collect();
    let collected = with("logs:*", json!({"logGroups": groups}));
    assert_eq!(collected.of("log-retention")[0].2, "log_retention_too_short");
    let stored = &collected.artifacts["log_groups.json"]["regions_read"][0]["logGroups"];
    assert_eq!(stored.as_array().unwrap().len(), 5_000, "as they came");
}
