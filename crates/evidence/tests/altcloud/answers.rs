//! Bad answers: too many requests, faults, failing pages, false answers.

use sandbox::workspace::{Limit, Throttle};
use sandbox::{Body, Fault, FaultKind};
use serde_json::json;

use super::*;

fn good(body: Value) -> FaultKind {
    FaultKind::Json(200, Vec::new(), body)
}

#[test]
fn too_many_requests_are_asked_again() {
    for limit in [Limit::UserRate, Limit::Quota, Limit::TooMany] {
        let server = workspace().throttle(Throttle::on("/admin/*").first(3), limit).serve().unwrap();
        let collected = collect(&server);
        assert_eq!(collected.checks, GOOD, "{limit:?}");
        assert_eq!(collected.account.retries, 3, "{limit:?}");
        assert!(collected.waited >= SignedDuration::from_secs(1));
    }
}

#[test]
fn too_many_requests_for_good_are_an_error_and_not_a_refusal() {
    let server = workspace().throttle(Throttle::on(REPORTS).first(u64::MAX), Limit::Quota).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[..2], GOOD[..2]);
    assert_eq!(collected.checks[2], "user-lifecycle-log acme.example not_verifiable host_error");
    assert_eq!(collected.errors.len(), 1, "{:?}", collected.errors);
    assert!(collected.errors[0].contains("asks for fewer requests"), "{:?}", collected.errors);
}

#[test]
fn faults_pass() {
    for kind in [
        FaultKind::Status(503, Body::Html),
        FaultKind::Status(500, Body::Empty),
        FaultKind::Reset,
        FaultKind::Truncate(20),
    ] {
        let name = kind.name();
        let server = workspace().fault(Fault::everywhere().kind(kind).times_per_path(1)).serve().unwrap();
        let collected = collect(&server);
        assert_eq!(collected.checks, GOOD, "{name}");
        assert!(collected.account.retries >= 15, "{name}: {}", collected.account.retries);
    }
}

/// A page before the first good answer is not asked again: see `lasting.rs` among the tests of the command line.
#[test]
fn a_page_in_the_middle_passes() {
    let page = Fault::on("/admin/directory/v1/users?*pageToken=*").kind(FaultKind::LoginPage).times(1);
    let collected = collect(&workspace().page_size(2).fault(page).serve().unwrap());
    assert_eq!((collected.checks, collected.account.retries), (GOOD.map(str::to_string).to_vec(), 1));
}

#[test]
fn a_failed_page_keeps_what_was_read_and_is_reported() {
    let fault = Fault::on("/admin/directory/v1/users?*pageToken=*").kind(FaultKind::Status(502, Body::Html));
    let server = workspace().page_size(2).fault(fault).serve().unwrap();
    let collected = collect(&server);
    let expected = [
        "two-step-verification acme.example not_verifiable host_error",
        "administrators acme.example not_verifiable host_error",
        GOOD[2],
    ];
    assert_eq!(collected.checks, expected);
    let record = &collected.artifacts["two_step_verification.json"];
    assert_eq!(record["listings"][0]["read"], "partial");
    assert_eq!(record["users"].as_array().unwrap().len(), 2);
    assert_eq!(collected.errors.len(), 2, "one for each rule");
    assert!(
        collected.errors[0].starts_with("users of acme.example, after page 1: "),
        "{:?}",
        collected.errors
    );
}

/// The users and events of another customer would pass, but are not evidence about this one.
#[test]
fn an_answer_about_another_customer_is_an_error() {
    let user = |customer: &str| {
        json!({"id": "1", "customerId": customer, "primaryEmail": "a@acme.example", "isEnrolledIn2Sv": true,
            "isEnforcedIn2Sv": true})
    };
    let mixed = json!({"kind": "admin#directory#users", "users": [user("C01"), user("C02")]});
    let server = workspace().fault(Fault::on(USERS).kind(good(mixed))).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[0], "two-step-verification acme.example not_verifiable host_error");
    let text = "the answer is about the customer C02 instead of C01";
    assert!(collected.errors[0].contains(text), "{:?}", collected.errors);
    assert!(!collected.artifacts.contains_key("two_step_verification.json"));
    let event = |customer: &str| json!({"id": {"time": "2026-11-01T10:00:00Z", "customerId": customer}, "events": []});
    let mixed = json!({"kind": "admin#reports#activities", "items": [event("C01"), event("C02")]});
    let server = workspace().fault(Fault::on(REPORTS).kind(good(mixed))).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[2], "user-lifecycle-log acme.example not_verifiable host_error");
    assert!(collected.errors[0].contains(text), "{:?}", collected.errors);
}

#[test]
fn listings_without_end_end() {
    let page = |token: &str| json!({"kind": "admin#directory#users", "users": [{"id": "1"}], "nextPageToken": token});
    let server = workspace().fault(Fault::on(USERS).kind(good(page("again")))).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[0], "two-step-verification acme.example not_verifiable host_error");
    assert!(collected.errors[0].contains("too many pages"), "{:?}", collected.errors);
    assert_eq!(asked(&server, "/admin/directory/v1/users"), 2);
}

#[test]
fn what_is_no_listing_is_no_evidence_of_absence() {
    let others =
        [json!({}), json!({"kind": "admin#directory#groups", "groups": []}), json!([]), json!({"users": 7})];
    for body in others {
        let server = workspace().fault(Fault::on(USERS).kind(good(body.clone()))).serve().unwrap();
        let collected = collect(&server);
        assert_eq!(
            collected.checks[0], "two-step-verification acme.example not_verifiable host_error",
            "{body}"
        );
        assert!(collected.errors[0].contains("not have the documented form"), "{:?}", collected.errors);
        assert!(!collected.artifacts.contains_key("two_step_verification.json"));
    }
}

#[test]
fn missing_fields_are_not_guessed() {
    let user = json!({"id": "7", "primaryEmail": "x@acme.example", "suspended": false, "archived": false});
    let body = json!({"kind": "admin#directory#users", "users": [user]});
    let server = workspace().fault(Fault::on(USERS).kind(good(body))).serve().unwrap();
    let collected = collect_with(&server, &Setup { controls: "[CC6.1]", ..Setup::default() });
    assert_eq!(collected.checks, ["two-step-verification acme.example not_verifiable two_step_not_visible"]);
    let stored = &collected.artifacts["two_step_verification.json"]["users"][0];
    assert!(stored.get("isEnforcedIn2Sv").is_none(), "{stored}");
}

#[test]
fn hostile_users_are_stored_as_they_came_and_shown_on_one_line() {
    let user = |id: &str, email: &str| json!({"id": id, "primaryEmail": email, "suspended": false, "archived": false, "isEnforcedIn2Sv": false});
    let users = [
        user("1", "a\u{1b}[2J\r\nall good@acme.example"),
        user("1", "a\u{1b}[2J\r\nall good@acme.example"),
        user("1", "another@acme.example"),
        user("2", &"x".repeat(200_000)),
        user("", ""),
        json!({}),
    ];
    let body = json!({"kind": "admin#directory#users", "users": users});
    let server = workspace().fault(Fault::on(USERS).kind(good(body))).serve().unwrap();
    let collected = collect_with(&server, &Setup { controls: "[CC6.1]", ..Setup::default() });
    assert_eq!(collected.checks, ["two-step-verification acme.example fail two_step_not_enforced"]);
    let actual = &collected.actual["two-step-verification acme.example"];
    assert!(!actual.chars().any(char::is_control) && actual.len() < 500, "{actual}");
    assert!(actual.contains("4 of 4 active users"), "{actual}");
    let stored = &collected.artifacts["two_step_verification.json"]["users"];
    assert_eq!(stored.as_array().unwrap().len(), 5, "the one that came twice alike is stored once");
    assert_eq!(stored[0]["primaryEmail"], "a\u{1b}[2J\r\nall good@acme.example");
}

#[test]
fn an_answer_larger_than_any_honest_one_is_not_kept() {
    let server =
        workspace().fault(Fault::on(USERS).kind(FaultKind::HugeBody(9 * 1024 * 1024))).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[0], "two-step-verification acme.example not_verifiable host_error");
    assert!(collected.errors[0].contains("exceeds the limit"), "{:?}", collected.errors);
    assert_eq!(asked(&server, "/admin/directory/v1/users"), 1);
}

#[test]
fn a_redirect_elsewhere_is_not_followed() {
    let elsewhere = workspace().serve().unwrap();
    let fault =
        Fault::on(USERS).kind(FaultKind::Redirect(format!("{}/admin/directory/v1/users", elsewhere.url())));
    let server = workspace().fault(fault).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[0], "two-step-verification acme.example not_verifiable host_error");
    assert_eq!(elsewhere.request_count(), 0, "the token stays where it belongs");
}

#[test]
fn one_unreadable_event_is_reported_and_the_others_stay() {
    let fault = Fault::on("/admin/reports/*?*DELETE_USER*").kind(FaultKind::Status(500, Body::Json));
    let server = workspace().fault(fault).serve().unwrap();
    let collected = collect(&server);
    assert_eq!(collected.checks[2], "user-lifecycle-log acme.example not_verifiable host_error");
    let record = &collected.artifacts["user_lifecycle.json"];
    // The pattern also matches UNDELETE_USER.
    let read: Vec<&str> = record["eventNames"]
        .as_array()
        .unwrap()
        .iter()
        .map(|event| event["read"].as_str().unwrap())
        .collect();
    assert_eq!(read.iter().filter(|read| **read == "not_read").count(), 2, "{read:?}");
    assert_eq!(record["events"].as_array().unwrap().len(), 4);
    assert_eq!(collected.errors.len(), 1, "{:?}", collected.errors);
    assert!(
        collected.errors[0].starts_with("events DELETE_USER, events UNDELETE_USER: "),
        "{:?}",
        collected.errors
    );
}

#[test]
fn the_roles_refused_and_the_rest_good() {
    for path in [ROLES, ASSIGNMENTS] {
        let server = workspace().deny(path).serve().unwrap();
        let collected = collect(&server);
        assert_eq!(
            collected.checks,
            [GOOD[0], "administrators acme.example not_verifiable permission_denied", GOOD[2]],
            "{path}"
        );
        assert!(collected.errors.is_empty());
    }
}
