//! Refusals: each call denied, empty accounts, a region that is not enabled.

use evidence_rules::rule::Status::{self, Fail, NotVerifiable, Pass};
use sandbox::cloud::{Body, Fault, FaultKind, Principal};
use serde_json::json;

use crate::{ACCOUNT, KEY, PERMISSIONS, SECRET, TWO_REGIONS, USER, collect, good};

const CENTRAL: &str = "123456789012/eu-central-1";
const EAST: &str = "123456789012/us-east-1";

fn without(permission: &str) -> Principal {
    Principal::user(KEY, SECRET, USER).allow(PERMISSIONS.into_iter().filter(|known| *known != permission))
}

#[test]
fn what_is_denied_is_not_verifiable_and_the_rest_goes_on() {
    const DENIED: (Status, &str) = (NotVerifiable, "permission_denied");
    const OK: (Status, &str) = (Pass, "ok");
    for permission in PERMISSIONS {
        let server = good().principal(without(permission)).serve().unwrap();
        let collected = collect(&server, TWO_REGIONS);
        let is = |denied: &str| if permission == denied { DENIED } else { OK };
        let check = |subject, (status, reason): (Status, &'static str)| (subject, status, reason);
        let [accounts, regions, policy, summary, trails, status, selectors, groups] = PERMISSIONS;
        assert_eq!(collected.of("password-policy"), [check(ACCOUNT, is(policy))]);
        assert_eq!(collected.of("log-retention"), [check(CENTRAL, is(groups)), check(EAST, is(groups))]);
        let audit = match permission {
            denied if denied == trails => vec![check(CENTRAL, DENIED), check(EAST, DENIED)],
            denied if denied == status => vec![check(ACCOUNT, DENIED)],
            _ => vec![check(ACCOUNT, OK)],
        };
        assert_eq!(collected.of("audit-trail"), audit, "{permission}");
        assert_eq!(collected.failed, [], "a refusal is no error");
        // A warning names each one, except those that the connection test cannot try.
        let named = collected.warnings.iter().filter(|(code, message)| {
            code == "permission_denied"
                && message.starts_with(permission)
                && message.contains("is denied: User: ")
                && match permission {
                    "cloudtrail:DescribeTrails" => message.ends_with("are not known"),
                    _ => message.ends_with("will be not verifiable"),
                }
        });
        let expected = match permission {
            one if one == policy => 1,
            other if [accounts, regions, summary, status, selectors].contains(&other) => 0,
            _ => 2,
        };
        assert_eq!(named.count(), expected, "{permission}");
        assert_eq!(collected.account.retries, 0, "{permission}");
    }
}

#[test]
fn a_user_who_may_do_nothing_gets_nothing_and_no_error() {
    let server = good().principal(Principal::user(KEY, SECRET, USER)).serve().unwrap();
    let collected = collect(&server, TWO_REGIONS);
    assert!(collected.checks.iter().all(|(_, _, status, _)| *status == NotVerifiable));
    assert_eq!(collected.checks.len(), 5);
    assert_eq!((collected.names(), collected.failed.len()), (vec![], 0));
}

#[test]
fn one_region_that_denies_does_not_hide_what_another_shows() {
    let principal = Principal::user(KEY, SECRET, USER).allow(PERMISSIONS).deny("*", "us-east-1");
    let server = good().principal(principal).serve().unwrap();
    let collected = collect(&server, TWO_REGIONS);
    // The trail that passes at home may fail to deliver in the region that says nothing.
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, NotVerifiable, "permission_denied")]);
    assert_eq!(
        collected.of("log-retention"),
        [(CENTRAL, Pass, "ok"), (EAST, NotVerifiable, "permission_denied")]
    );
    let not_read = json!([{"region": "us-east-1", "reason": "permission_denied"}]);
    assert_eq!(collected.artifacts["audit_trails.json"]["regions_not_read"], not_read);
    assert_eq!(collected.artifacts["audit_trails.json"]["regions_read"], json!(["eu-central-1"]));
    assert_eq!(collected.artifacts["log_groups.json"]["regions_not_read"], not_read);
    // Without a passing trail, the unread region makes the check "not verifiable" instead of "fail".
    server.update(|cloud| cloud.remove_trail("main"));
    let collected = collect(&server, TWO_REGIONS);
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, NotVerifiable, "permission_denied")]);
    // A configured name that no readable region lists is not "not found" either.
    let lines = ["regions: [eu-central-1, us-east-1]", "trails: [gone]", "log_groups: [/gone]"];
    let collected = collect(&server, &lines);
    assert_eq!(collected.failed, []);
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, NotVerifiable, "permission_denied")]);
}

#[test]
fn a_region_that_is_not_enabled_does_not_close_the_others() {
    let server = good().serve().unwrap();
    let collected = collect(&server, &["regions: [eu-central-1, eu-south-1]"]);
    assert_eq!(collected.of("audit-trail"), [(ACCOUNT, NotVerifiable, "region_not_enabled")]);
    assert_eq!(
        collected.of("log-retention"),
        [(CENTRAL, Pass, "ok"), ("123456789012/eu-south-1", NotVerifiable, "region_not_enabled")]
    );
    assert_eq!(collected.warned(), ["region_not_enabled", "region_not_enabled"]);
    let (_, message) = &collected.warnings[0];
    assert!(message.contains("eu-south-1") && message.contains("may not be enabled"), "{message}");
    assert_eq!(collected.failed, []);
    assert_eq!(
        collected.artifacts["log_groups.json"]["regions_not_read"],
        json!([{"region": "eu-south-1", "reason": "region_not_enabled"}])
    );
    // Once enabled, it is a region like the others.
    server.update(|cloud| *cloud = good().region("eu-south-1"));
    let collected = collect(&server, &["regions: [eu-central-1, eu-south-1]"]);
    assert_eq!(collected.warnings, []);
    assert_eq!(collected.of("log-retention")[1].2, "no_log_groups");
}

#[test]
fn an_account_without_a_password_policy() {
    let server = good().serve().unwrap();
    server.update(|cloud| cloud.set_password_policy(None));
    let collected = collect(&server, TWO_REGIONS);
    assert_eq!(collected.of("password-policy"), [(ACCOUNT, Fail, "password_policy_missing")]);
    assert!(!collected.artifacts.contains_key("password_policy.json"));
    assert_eq!((collected.warnings, collected.failed), (vec![], vec![]));
}

/// Only the provider's own error code proves that the account has no password policy.
#[test]
fn not_found_is_not_no_password_policy() {
    let xml = |code: &str| {
        let text =
            format!("<ErrorResponse><Error><Code>{code}</Code><Message>no</Message></Error></ErrorResponse>");
        FaultKind::Status(404, Body::Text(text))
    };
    let json = |code: &str| FaultKind::Json(404, Vec::new(), json!({"__type": code, "message": "no"}));
    let table = [
        (xml("NoSuchEntity"), (Fail, "password_policy_missing")),
        (json("NoSuchEntityException"), (Fail, "password_policy_missing")),
        (xml("ResourceNotFoundException"), (NotVerifiable, "host_error")),
        (json("ResourceNotFoundException"), (NotVerifiable, "host_error")),
        (xml("NoSuchBucket"), (NotVerifiable, "host_error")),
        (FaultKind::Status(404, Body::Empty), (NotVerifiable, "host_error")),
        (FaultKind::Status(404, Body::Json), (NotVerifiable, "host_error")),
    ];
    for (kind, (status, reason)) in table {
        let server =
            good().fault(Fault::on("iam:GetAccountPasswordPolicy").kind(kind.clone())).serve().unwrap();
        let collected = collect(&server, TWO_REGIONS);
        assert_eq!(collected.of("password-policy"), [(ACCOUNT, status, reason)], "{kind:?}");
        assert_eq!(collected.failed.len(), usize::from(status == NotVerifiable), "{kind:?}");
    }
}
