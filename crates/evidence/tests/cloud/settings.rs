//! Collection without refusals: settings, regions, pages, and the limits set in the configuration.

use evidence_rules::rule::Status::{Fail, NotApplicable, NotVerifiable, Pass};
use sandbox::cloud::{LogGroup, PasswordPolicy, Trail};
use serde_json::json;

use crate::{ACCOUNT, Setup, TWO_REGIONS, USER, asked, collect, collect_from, good};

#[test]
fn an_account_in_which_everything_is_as_it_should_be() {
    let server = good().serve().unwrap();
    let collected = collect(&server, TWO_REGIONS);
    assert_eq!(collected.of("password-policy"), [(ACCOUNT, Pass, "ok")]);
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Pass, "ok")]);
    let regions = ["123456789012/eu-central-1", "123456789012/us-east-1"];
    assert_eq!(collected.of("log-retention"), regions.map(|region| (region, Pass, "ok")));
    assert_eq!(collected.warnings, []);
    assert_eq!(collected.failed, []);
    assert_eq!(collected.identity, USER);
    assert_eq!(collected.account.identity.login.as_deref(), Some(USER));
    let (discovered, in_scope, expected, text) = collected.population.clone().unwrap();
    assert_eq!(
        (discovered, in_scope),
        (Some(4 + 17 + 1), 4),
        "found are the enabled regions and the account too"
    );
    assert_eq!(text, "1 trail and 3 log groups in scope in 2 regions");
    assert_eq!(expected, collected.observed);

    let arn = "arn:aws:cloudtrail:eu-central-1:123456789012:trail/main";
    assert_eq!(
        collected.names(),
        [
            "account_summary.json",
            "audit_trails.json",
            "log_groups.json",
            "password_policy.json",
            "trail_main_status.json",
            "trail_main_status_us-east-1.json",
        ]
    );
    let trails = &collected.artifacts["audit_trails.json"];
    assert_eq!(trails["trailList"].as_array().unwrap().len(), 1, "the shadow is the same trail");
    assert_eq!(trails["trailList"][0]["TrailARN"], arn);
    assert_eq!(trails["trailList"][0]["IsMultiRegionTrail"], true);
    assert_eq!(trails["regions_read"], json!(["eu-central-1", "us-east-1"]));
    assert_eq!(trails["regions_not_read"], json!([]));
    let status = &collected.artifacts["trail_main_status.json"];
    assert_eq!(status["IsLogging"], true);
    let delivered = status["LatestDeliveryTime"].as_f64().unwrap();
    assert!((delivered.fract() - 0.341).abs() < 1e-6, "as it was sent: {delivered}");
    let groups = &collected.artifacts["log_groups.json"]["regions_read"];
    assert_eq!(groups[0]["region"], "eu-central-1");
    assert_eq!(
        groups[0]["logGroups"][0],
        json!({
            "logGroupName": "/app/api",
            "arn": "arn:aws:logs:eu-central-1:123456789012:log-group:/app/api:*",
            "logGroupClass": "STANDARD",
        }),
        "nothing else, and no retention where there is none"
    );
    assert_eq!(groups[0]["logGroups"][1]["retentionInDays"], 365);
    let policy = &collected.artifacts["password_policy.json"]["PasswordPolicy"];
    assert_eq!((&policy["MinimumPasswordLength"], &policy["RequireSymbols"]), (&json!(14), &json!(true)));
    assert_eq!(policy.get("MaxPasswordAge"), None);
}

#[test]
fn nothing_is_asked_twice_and_nothing_but_what_is_documented() {
    let server = good().serve().unwrap();
    let collected = collect(&server, TWO_REGIONS);
    let asked = asked(&server);
    let expected = [
        ("cloudtrail:DescribeTrails", 2),
        // At home, and in the other region.
        ("cloudtrail:GetTrailStatus", 2),
        ("ec2:DescribeRegions", 1),
        ("iam:GetAccountPasswordPolicy", 1),
        ("iam:GetAccountSummary", 1),
        ("logs:DescribeLogGroups", 2),
        ("organizations:ListAccounts", 1),
        ("sts:GetCallerIdentity", 1),
    ];
    assert_eq!(asked.iter().map(|(action, times)| (action.as_str(), *times)).collect::<Vec<_>>(), expected);
    assert_eq!(collected.account.requests, 11);
    assert!(server.violations().is_empty());
    let documented: Vec<&str> = evidence::source::aws::KIND.calls.iter().map(|call| call.name).collect();
    for request in server.requests() {
        assert_eq!((request.method.as_str(), request.status), ("POST", Some(200)));
        assert!(documented.contains(&request.action.as_deref().unwrap()), "{request:?}");
    }
    // The tool reads a trail's status in its home region.
    let status =
        |request: &sandbox::cloud::Request| request.action.as_deref() == Some("cloudtrail:GetTrailStatus");
    let status = server.requests().into_iter().find(status).unwrap();
    assert_eq!(status.region.as_deref(), Some("eu-central-1"));
}

#[test]
fn with_one_control_only_its_calls_are_made() {
    let server = good().serve().unwrap();
    let collected = collect(&server, &["regions: [eu-central-1, us-east-1]", "controls: [CC6.1]"]);
    assert_eq!(collected.names(), ["account_summary.json", "password_policy.json"]);
    assert_eq!(collected.population, Some((Some(1), 0, 1, String::new())));
    assert_eq!(collected.observed, 1);
    assert_eq!(asked(&server).len(), 4);
    server.clear_log();
    let collected = collect(&server, &["regions: [eu-central-1, us-east-1]", "controls: [CC7.2]"]);
    assert_eq!(collected.of("password-policy"), []);
    assert_eq!(collected.population.as_ref().unwrap().2, collected.observed);
    assert!(!asked(&server).contains_key("iam:GetAccountPasswordPolicy"));
}

#[test]
fn a_plan_is_what_a_collection_takes() {
    for groups in [0, 50, 120] {
        let mut cloud = good().trail(Trail::new("other", "us-east-1"));
        for number in 0..groups {
            cloud = cloud.log_group("us-east-1", LogGroup::new(format!("/n/{number:03}")).retention_days(90));
        }
        let server = cloud.serve().unwrap();
        let collected = collect_from(&server.url(), &Setup::new(TWO_REGIONS), true).unwrap();
        let plan = &collected.plan;
        assert_eq!(plan.artifact_count(), collected.artifacts.len() as u64);
        assert_eq!(
            (plan.requests_minimum, plan.requests_maximum),
            (plan.requests_minimum, collected.account.requests)
        );
        // The passing trail is looked at in the other region too.
        assert_eq!(plan.requests_minimum + 1, plan.requests_maximum);
        assert!(plan.estimated_bytes > 0 && plan.rate_limit.is_none());
    }
}

#[test]
fn every_page_is_read() {
    let mut cloud = good();
    for number in 0..120 {
        let days = if number == 119 { 7 } else { 365 };
        cloud = cloud.log_group("us-east-1", LogGroup::new(format!("/n/{number:03}")).retention_days(days));
    }
    let server = cloud.serve().unwrap();
    let collected = collect(&server, TWO_REGIONS);
    assert_eq!(asked(&server)["logs:DescribeLogGroups"], 1 + 3);
    let groups = &collected.artifacts["log_groups.json"]["regions_read"][1]["logGroups"];
    assert_eq!(groups.as_array().unwrap().len(), 121);
    assert_eq!(
        collected.of("log-retention")[1],
        ("123456789012/us-east-1", Fail, "log_retention_too_short"),
        "the one that is too short is on the last page"
    );
    let smaller =
        good().log_group("us-east-1", LogGroup::new("/z").retention_days(90)).page_size(1).serve().unwrap();
    let collected = collect(&smaller, TWO_REGIONS);
    assert_eq!(asked(&smaller)["logs:DescribeLogGroups"], 4);
    assert_eq!(collected.population.unwrap().0, Some(5 + 17 + 1));
}

#[test]
fn the_settings_that_do_not_pass() {
    // (policy, trails, the check of the policy, the check of the trails)
    let stopped = || Trail::new("main", "eu-central-1").multi_region(true).logging(false);
    let single = || Trail::new("side", "us-east-1");
    let table = [
        (PasswordPolicy::new(8), vec![], (Pass, "ok"), (Fail, "audit_trail_missing")),
        (
            PasswordPolicy::new(6),
            vec![stopped()],
            (Fail, "password_too_short"),
            (Fail, "audit_trail_not_logging"),
        ),
        (
            PasswordPolicy::new(14).numbers(false),
            vec![single(), stopped()],
            (Fail, "password_characters_not_required"),
            (Fail, "audit_trail_not_multi_region"),
        ),
    ];
    for (policy, trails, (status, reason), audit) in table {
        let server = good().serve().unwrap();
        server.update(|cloud| {
            cloud.remove_trail("main");
            cloud.set_password_policy(Some(policy));
            trails.into_iter().for_each(|trail| cloud.put_trail(trail));
        });
        let collected = collect(&server, TWO_REGIONS);
        assert_eq!(collected.of("password-policy"), [(ACCOUNT, status, reason)]);
        assert_eq!(collected.of("audit-trail"), [(ACCOUNT, audit.0, audit.1)]);
        assert_eq!(collected.failed, []);
    }
}

#[test]
fn a_trail_whose_home_is_not_configured_is_found_by_its_shadow() {
    let server = good().serve().unwrap();
    server.update(|cloud| {
        cloud.remove_trail("main");
        cloud.put_trail(Trail::new("global", "eu-west-1").multi_region(true).delivery_error("AccessDenied"));
        // Two trails with the same name, in different home regions.
        cloud.put_trail(Trail::new("side", "eu-central-1"));
        cloud.put_trail(Trail::new("side", "us-east-1"));
    });
    let collected = collect(&server, TWO_REGIONS);
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Fail, "trail_not_delivering")]);
    let statuses: Vec<_> = collected.names().into_iter().filter(|name| name.starts_with("trail_")).collect();
    assert_eq!(
        statuses,
        ["trail_global_status.json", "trail_side_status.json", "trail_side_us-east-1_status.json"]
    );
    assert_eq!(collected.artifacts["trail_global_status.json"]["LatestDeliveryError"], "AccessDenied");
    assert_eq!(collected.warned(), ["trail_delivery_failed"]);
    let homes: Vec<_> = server
        .requests()
        .into_iter()
        .filter(|request| request.action.as_deref() == Some("cloudtrail:GetTrailStatus"))
        .filter_map(|request| request.region)
        .collect();
    assert!(
        homes.contains(&"eu-west-1".to_string()) && homes.contains(&"us-east-1".to_string()),
        "{homes:?}"
    );
}

#[test]
fn only_what_the_configuration_names_counts() {
    let server = good()
        .trail(Trail::new("side", "us-east-1"))
        .log_group("eu-central-1", LogGroup::new("/test/x").retention_days(1))
        .serve()
        .unwrap();
    let lines = ["regions: [eu-central-1, us-east-1]", "log_groups: [\"/app/a*\"]", "trails: [side]"];
    let collected = collect(&server, &lines);
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Fail, "audit_trail_not_multi_region")]);
    assert_eq!(
        collected.of("log-retention"),
        [
            ("123456789012/eu-central-1", Pass, "ok"),
            ("123456789012/us-east-1", NotApplicable, "no_log_groups")
        ]
    );
    assert_eq!(collected.failed, []);
    assert_eq!(collected.names().len(), 5);
    let groups = &collected.artifacts["log_groups.json"];
    assert_eq!(groups["scope"], json!(["/app/a*"]));
    assert_eq!(groups["regions_read"][0]["logGroups"].as_array().unwrap().len(), 1);
    assert_eq!(collected.artifacts["audit_trails.json"]["scope"], json!(["side"]));
    // Also by its ARN.
    let lines =
        ["region: eu-central-1", "trails: [\"arn:aws:cloudtrail:eu-central-1:123456789012:trail/main\"]"];
    assert_eq!(collect(&server, &lines).of("audit-trail"), [(ACCOUNT, Pass, "ok")]);
}

#[test]
fn configured_names_that_do_not_exist_are_errors() {
    let server = good().serve().unwrap();
    let lines = [
        "regions: [eu-central-1, us-east-1]",
        "log_groups: [/app/web, /app/nowhere, \"/none/*\"]",
        "trails: [main, gone]",
    ];
    let collected = collect(&server, &lines);
    let failed: Vec<_> = collected
        .failed
        .iter()
        .map(|(subject, reason, message)| (subject.as_str(), reason.as_str(), message.as_str()))
        .collect();
    assert_eq!(
        failed,
        [
            (ACCOUNT, "not_found", "the trail gone was not found in eu-central-1, us-east-1"),
            (ACCOUNT, "not_found", "there is no log group /app/nowhere in eu-central-1, us-east-1"),
            (ACCOUNT, "not_found", "no log group begins with /none/ in eu-central-1, us-east-1"),
        ]
    );
    // The rest is collected and judged.
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, Pass, "ok")]);
    assert_eq!(collected.of("log-retention").iter().filter(|(_, status, _)| *status == Pass).count(), 2);
    // A configured trail that does not exist is not "no trail".
    let collected = collect(&server, &["region: eu-central-1", "trails: [gone]"]);
    assert!(collected.of("audit-trail").iter().all(|check| *check == (ACCOUNT, NotVerifiable, "not_found")));
}
