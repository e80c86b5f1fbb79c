//! Listings in every state, complete or not.

use serde_json::{Value, json};

use super::super::administrators::{self, page_of_assignments, page_of_roles};
use super::super::lifecycle::{self, Activity, EVENTS, page_of_activities};
use super::super::two_step;
use crate::observation::Seen;
use crate::source::CollectionItem;
use crate::source::google::host::listing::{Listing, ListingError, Period};
use crate::source::google::host::scopes::OAuthScope;
use crate::source::google::users::{Users, Whose, distinct_users, page_of_users};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{FailureKind, Meta, Refused, RequestFailure};
use evidence_rules::altcloud::record::{Assignment, Role, User};
use evidence_rules::field::Field;
use evidence_rules::rule::{Settings, Status};

/// A listing with any combination of items and of a problem with the next page.
fn listing<T>(items: Vec<T>, pages: u64, problem: Option<ListingError>) -> Listing<T> {
    let meta = (pages > 0).then(|| Meta { path: "/asked".to_string(), status: 200, ..Meta::default() });
    Listing { items, pages, meta, problem, requests: Vec::new() }
}

fn refused(class: Class, status: u16, message: &str) -> Option<ListingError> {
    let meta = Meta { status, ..Meta::default() };
    Some(ListingError::Refused(Refused {
        class,
        code: None,
        message: Some(message.to_string()),
        permission: None,
        meta,
    }))
}

fn failed() -> Option<ListingError> {
    let kind = FailureKind::HostFault("HTTP 502".to_string());
    Some(ListingError::Failed(RequestFailure {
        status: Some(502),
        attempts: 5,
        ..RequestFailure::local(kind)
    }))
}

fn denied() -> Option<ListingError> {
    refused(Class::Forbidden(RefusalCause::Permission), 403, "Not Authorized to access this resource/api")
}

fn not_delegated(scope: OAuthScope) -> Option<ListingError> {
    Some(ListingError::NotDelegated(scope, "Client is unauthorized".to_string()))
}

fn users_of(items: &[Value]) -> Vec<User> {
    page_of_users(json!({"users": items}).to_string().as_bytes()).unwrap().items
}

fn user(id: u32, enforced: bool) -> Value {
    json!({"id": id.to_string(), "primaryEmail": format!("u{id}@acme.example"), "suspended": false, "archived": false,
        "isEnforcedIn2Sv": enforced, "isAdmin": id < 2, "isDelegatedAdmin": false})
}

fn customer(listing: Listing<User>) -> Users {
    Users {
        parts: vec![(
            Whose::Customer { id: "my_customer".to_string(), name: "acme.example".to_string() },
            listing,
        )],
    }
}

fn domains(parts: Vec<(&str, Listing<User>)>) -> Users {
    Users { parts: parts.into_iter().map(|(name, part)| (Whose::Domain(name.to_string()), part)).collect() }
}

fn roles() -> Listing<Role> {
    let body = json!({"items": [{"roleId": "1", "isSuperAdminRole": true}, {"roleId": "2", "isSuperAdminRole": false}]});
    listing(page_of_roles(body.to_string().as_bytes()).unwrap().items, 1, None)
}

fn assignments() -> Listing<Assignment> {
    let items = json!([
        {"roleAssignmentId": "1", "roleId": "1", "assignedTo": "0", "assigneeType": "user"},
        {"roleAssignmentId": "2", "roleId": "1", "assignedTo": "1", "assigneeType": "user"},
    ]);
    listing(page_of_assignments(json!({ "items": items }).to_string().as_bytes()).unwrap().items, 1, None)
}

/// The result, one line per item: artifacts by name, checks by subject and outcome.
fn outline(found: &[CollectionItem]) -> Vec<String> {
    let mut lines = Vec::new();
    for item in found {
        match item {
            CollectionItem::Inspected(inspection) => {
                for observation in &inspection.observations {
                    if let Seen::Artifact { artifact, .. } = &observation.seen {
                        lines.push(artifact.path().to_string().replace("sources/altcloud/", ""));
                    }
                    if let Seen::Failed(_) = observation.seen {
                        lines.push("error".to_string());
                    }
                }
                for check in crate::evaluate::checks_alone(inspection.clone()) {
                    lines.push(outcome(&check.subject, check.verdict.status, check.verdict.reason.code));
                }
            }
            other => panic!("{other:?}"),
        }
    }
    lines
}

fn outcome(subject: &str, status: Status, reason: &str) -> String {
    let status = serde_json::to_value(status).unwrap();
    format!("{subject} {} {reason}", status.as_str().unwrap())
}

fn content(found: &[CollectionItem]) -> Value {
    let artifact = found.iter().find_map(|item| match item {
        CollectionItem::Inspected(inspection) => match &inspection.observations[0].seen {
            Seen::Artifact { artifact, .. } => Some(artifact),
            _ => None,
        },
        _ => None,
    });
    serde_json::from_slice(artifact.unwrap().bytes()).unwrap()
}

const FILE: &str = "two_step_verification.json";

#[test]
fn two_step_verification_of_the_whole_customer() {
    let good = || users_of(&[user(1, true), user(2, true)]);
    let bad = || users_of(&[user(1, true), user(2, false)]);
    let table = [
        (listing(good(), 2, None), vec![FILE, "acme.example pass ok"]),
        (listing(bad(), 2, None), vec![FILE, "acme.example fail two_step_not_enforced"]),
        (listing(Vec::new(), 1, None), vec![FILE, "acme.example not_verifiable no_evidence"]),
        // An incomplete listing can prove a failure, but never a pass.
        (listing(good(), 1, failed()), vec![FILE, "error", "acme.example not_verifiable host_error"]),
        (
            listing(bad(), 1, failed()),
            vec![
                FILE,
                "acme.example fail two_step_not_enforced",
                "error",
                "acme.example not_verifiable host_error",
            ],
        ),
        (listing(good(), 1, denied()), vec![FILE, "acme.example not_verifiable permission_denied"]),
        (listing(Vec::new(), 0, denied()), vec!["acme.example not_verifiable permission_denied"]),
        (
            listing(Vec::new(), 0, not_delegated(OAuthScope::Users)),
            vec!["acme.example not_verifiable permission_denied"],
        ),
        (listing(Vec::new(), 0, failed()), vec!["error", "acme.example not_verifiable host_error"]),
        (
            listing(Vec::new(), 0, refused(Class::NotFound, 404, "Domain not found.")),
            vec!["error", "acme.example not_verifiable not_found"],
        ),
        (
            listing(Vec::new(), 0, refused(Class::Unauthorized, 401, "Invalid Credentials")),
            vec!["error", "acme.example not_verifiable permission_denied"],
        ),
        (
            listing(Vec::new(), 0, refused(Class::Forbidden(RefusalCause::Intermediary), 403, "no message")),
            vec!["error", "acme.example not_verifiable host_error"],
        ),
    ];
    for (part, expected) in table {
        let case = format!("{part:?}");
        assert_eq!(
            outline(&two_step::found("acme.example", &customer(part), &Settings::default())),
            expected,
            "{case}"
        );
    }
}

#[test]
fn each_domain_is_a_check_of_its_own() {
    let of = |domain: &str, mut user: Value| {
        user["primaryEmail"] = json!(format!("u@{domain}"));
        user
    };
    let users = domains(vec![
        ("a.example", listing(users_of(&[of("a.example", user(1, true))]), 1, None)),
        (
            "b.example",
            listing(users_of(&[of("B.example", user(2, false)), of("b.example", user(3, true))]), 1, None),
        ),
        ("c.example", listing(Vec::new(), 0, denied())),
    ]);
    let found = two_step::found("acme.example", &users, &Settings::default());
    let expected = [
        FILE,
        "a.example pass ok",
        "b.example fail two_step_not_enforced",
        "c.example not_verifiable permission_denied",
    ];
    assert_eq!(outline(&found), expected);
    let expected = json!([
        {"domain": "a.example", "read": "complete", "users": 1},
        {"domain": "b.example", "read": "complete", "users": 2},
        {"domain": "c.example", "read": "not_read", "users": 0},
    ]);
    assert_eq!(content(&found)["listings"], expected);
    // Nobody knows to which of the domains that were read such a user belongs.
    let users = domains(vec![
        ("a.example", listing(users_of(&[of("a.example", user(1, true))]), 1, None)),
        ("b.example", listing(users_of(&[of("elsewhere.example", user(2, false))]), 1, None)),
        ("c.example", listing(Vec::new(), 0, denied())),
    ]);
    let expected = [
        FILE,
        "a.example fail two_step_not_enforced",
        "b.example fail two_step_not_enforced",
        "c.example not_verifiable permission_denied",
    ];
    assert_eq!(outline(&two_step::found("acme.example", &users, &Settings::default())), expected);
}

#[test]
fn a_user_on_two_pages_is_one_and_two_that_differ_are_two() {
    let items = [user(1, true), user(1, true), user(2, true), user(2, false), json!({}), json!({})];
    let users = customer(listing(users_of(&items), 3, None));
    let found = two_step::found("acme.example", &users, &Settings::default());
    assert_eq!(content(&found)["users"].as_array().unwrap().len(), 5, "what has no name is not the same");
    assert_eq!(outline(&found)[1], "acme.example fail two_step_not_enforced");
}

#[test]
fn administrators_with_everything_and_without_each_part() {
    const FILE: &str = "admin_roles.json";
    let everybody = || customer(listing(users_of(&[user(0, true), user(1, true), user(2, true)]), 1, None));
    let none = |problem| listing(Vec::new(), 0, problem);
    let denied_line = "acme.example not_verifiable permission_denied";
    let roles_scope = || not_delegated(OAuthScope::Roles);
    let table = [
        (everybody(), roles(), assignments(), vec![FILE, "acme.example pass ok"]),
        (everybody(), roles(), none_of(denied()), vec![FILE, denied_line]),
        (everybody(), none(denied()), assignments(), vec![FILE, denied_line]),
        (everybody(), none(roles_scope()), none_of(roles_scope()), vec![denied_line]),
        (everybody(), none(denied()), none_of(denied()), vec![denied_line]),
        (customer(listing(Vec::new(), 0, denied())), roles(), assignments(), vec![FILE, denied_line]),
        (
            customer(listing(Vec::new(), 0, failed())),
            roles(),
            assignments(),
            vec![FILE, "error", "acme.example not_verifiable host_error"],
        ),
        (
            domains(vec![("acme.example", listing(users_of(&[user(0, true)]), 1, None))]),
            roles(),
            assignments(),
            vec![FILE, "acme.example not_verifiable assignee_not_read"],
        ),
    ];
    for (users, roles, assignments, expected) in table {
        let found = administrators::found("acme.example", &users, &roles, &assignments, &Settings::default());
        assert_eq!(outline(&found), expected, "{roles:?} {assignments:?}");
    }
}

fn none_of(problem: Option<ListingError>) -> Listing<Assignment> {
    listing(Vec::new(), 0, problem)
}

#[test]
fn of_two_users_with_one_number_the_inactive_one_is_the_assignee() {
    let mut suspended = user(0, true);
    suspended["suspended"] = json!(true);
    for items in [[user(0, true), suspended.clone()], [suspended.clone(), user(0, true)]] {
        let users = customer(listing(users_of(&items), 1, None));
        let found =
            administrators::found("acme.example", &users, &roles(), &assignments(), &Settings::default());
        assert_eq!(outline(&found)[1], "acme.example fail inactive_administrator");
    }
}

#[test]
fn two_hundred_thousand_that_share_a_key_are_told_apart_at_once_and_in_order() {
    let email = |number: usize| Field::Value(format!("u{}@acme.example", number % 100_000));
    let users: Vec<User> = (0..200_000)
        .map(|number| User {
            id: Field::Value("1".to_string()),
            primary_email: email(number),
            ..User::default()
        })
        .collect();
    let begun = std::time::Instant::now();
    let kept = distinct_users(&users);
    assert_eq!(kept.len(), 100_000);
    assert!(kept.iter().zip(&users).all(|(kept, user)| *kept == user), "in the order in which they came");
    assert!(begun.elapsed().as_secs() < 30, "{:?}", begun.elapsed());
    // Absent, null and values are different.
    let states = [Field::Absent, Field::Null, Field::Value(false), Field::Value(true)];
    let of = |suspended: Field<bool>| User { suspended, ..users[0].clone() };
    let users: Vec<User> = states.iter().chain(&states).cloned().map(of).collect();
    assert_eq!(distinct_users(&users), users.iter().take(4).collect::<Vec<_>>());
}

fn activities(items: &Value) -> Vec<Activity> {
    page_of_activities(json!({ "items": items }).to_string().as_bytes()).unwrap().items
}

fn period() -> Period {
    Period { start: "2026-05-25T00:00:00Z".parse().unwrap(), end: "2026-11-21T00:00:00Z".parse().unwrap() }
}

#[test]
fn the_log_keeps_what_was_asked_for_and_nothing_else() {
    let activity = json!({
        "id": {"time": "2026-11-01T10:00:00.000Z", "uniqueQualifier": "-7", "customerId": "C1"},
        "actor": {"email": "admin@acme.example", "callerType": "USER", "profileId": "1"},
        "ipAddress": "192.0.2.1",
        "events": [
            {"name": "CHANGE_PASSWORD", "parameters": [{"name": "USER_EMAIL", "value": "x@acme.example"}]},
            {"name": "SUSPEND_USER", "type": "USER_SETTINGS", "parameters": [
                {"name": "USER_EMAIL", "value": "x@acme.example"}, {"name": "NEW_VALUE", "value": "hidden"}]},
        ],
    });
    let twice = activities(&json!([activity.clone(), activity]));
    let role = activities(&json!([{
        "id": {"time": "2026-10-01T10:00:00.000Z", "uniqueQualifier": "8"},
        "events": [{"name": "ASSIGN_ROLE", "parameters": [{"name": "ROLE_NAME", "value": "_SEED_ADMIN_ROLE"}]}],
    }]));
    let parts = vec![("SUSPEND_USER", listing(twice, 2, None)), ("ASSIGN_ROLE", listing(role, 1, None))];
    let found = lifecycle::found("acme.example", period(), parts, &Settings::default());
    assert_eq!(outline(&found), ["user_lifecycle.json", "acme.example not_applicable information"]);
    let expected = json!({
        "startTime": "2026-05-25T00:00:00Z",
        "endTime": "2026-11-21T00:00:00Z",
        "eventNames": [
            {"name": "SUSPEND_USER", "read": "complete", "events": 1},
            {"name": "ASSIGN_ROLE", "read": "complete", "events": 1},
        ],
        "events": [
            {"time": "2026-10-01T10:00:00.000Z", "uniqueQualifier": "8", "name": "ASSIGN_ROLE", "actor": {},
                "parameters": {"ROLE_NAME": "_SEED_ADMIN_ROLE"}},
            {"time": "2026-11-01T10:00:00.000Z", "uniqueQualifier": "-7", "name": "SUSPEND_USER",
                "actor": {"email": "admin@acme.example", "callerType": "USER"},
                "parameters": {"USER_EMAIL": "x@acme.example"}},
        ],
    });
    assert_eq!(content(&found), expected);
}

#[test]
fn events_of_one_activity_that_are_alike_are_all_kept() {
    let event = json!({"name": "ASSIGN_ROLE", "parameters": [{"name": "USER_EMAIL", "value": "x@acme.example"},
        {"name": "ROLE_NAME", "value": "r"}]});
    let id = json!({"time": "2026-10-01T10:00:00.000Z", "uniqueQualifier": "8"});
    let activity = json!({"id": id, "events": [event.clone(), event]});
    for times in 1..=3 {
        let items = activities(&json!(vec![activity.clone(); times]));
        let found = lifecycle::found(
            "acme.example",
            period(),
            vec![("ASSIGN_ROLE", listing(items, 1, None))],
            &Settings::default(),
        );
        let record = content(&found);
        assert_eq!(record["events"].as_array().unwrap().len(), 2, "the activity came {times} times");
        assert_eq!(record["eventNames"][0]["events"], 2);
    }
}

#[test]
fn a_log_that_is_missing_in_part_does_not_pass() {
    let parts = |problem: fn() -> Option<ListingError>, pages| {
        EVENTS.iter().map(|name| (*name, listing(Vec::new(), pages, problem()))).collect::<Vec<_>>()
    };
    let mut one_missing = parts(|| None, 1);
    one_missing[3].1 = listing(Vec::new(), 0, failed());
    let found = lifecycle::found("acme.example", period(), one_missing, &Settings::default());
    assert_eq!(outline(&found), ["user_lifecycle.json", "error", "acme.example not_verifiable host_error"]);

    let found = lifecycle::found(
        "acme.example",
        period(),
        parts(|| not_delegated(OAuthScope::Reports), 0),
        &Settings::default(),
    );
    assert_eq!(outline(&found), ["acme.example not_verifiable permission_denied"], "told once");
    let found = lifecycle::found("acme.example", period(), parts(denied, 0), &Settings::default());
    assert_eq!(outline(&found).len(), 1, "one refusal of all of them is one thing to say");
    let CollectionItem::Inspected(inspection) = &found[0] else { panic!("{found:?}") };
    let Seen::Denied { detail, .. } = &inspection.observations[0].seen else { panic!() };
    let expected = "events CREATE_USER, events DELETE_USER, events UNDELETE_USER and 8 more: Not Authorized to access \
                    this resource/api";
    assert_eq!(detail, expected);
}
