//! Documented and undocumented answers of the provider.

use std::fmt;

use super::super::administrators::{page_of_assignments as assignments, page_of_roles as roles};
use super::super::lifecycle::{Activity, page_of_activities as activities};
use crate::source::google::users::page_of_users as users;
use evidence_http::ParseError;
use evidence_rules::field::Field;

fn is_shape<T: fmt::Debug>(result: Result<T, ParseError>) -> bool {
    matches!(result, Err(ParseError::Shape(_)))
}

#[test]
fn what_is_no_listing_is_refused_rather_than_read_as_an_empty_one() {
    let others = [
        "{}",
        "[]",
        "[\"admin#directory#users\", null, []]",
        "null",
        "7",
        "{\"message\": \"hello\"}",
        "{\"kind\": \"admin#directory#groups\"}",
        "{\"kind\": \"admin#directory#groups\", \"users\": [], \"items\": []}",
        "{\"users\": {}, \"items\": {}}",
        "{\"kind\": 7, \"users\": [], \"items\": []}",
    ];
    for text in others {
        let bytes = text.as_bytes();
        assert!(is_shape(users(bytes)), "{text}");
        assert!(is_shape(roles(bytes)), "{text}");
        assert!(is_shape(assignments(bytes)), "{text}");
        assert!(is_shape(activities(bytes)), "{text}");
    }
    assert!(matches!(users(b""), Err(ParseError::Broken(_))));
    assert!(matches!(users(b"{\"users\": ["), Err(ParseError::Broken(_))));
    assert!(matches!(users(b"<html>"), Err(ParseError::Broken(_))));
}

#[test]
fn an_empty_listing_says_what_it_is() {
    let empty = |kind: &str| format!("{{\"kind\": \"{kind}\"}}").into_bytes();
    assert_eq!(users(&empty("admin#directory#users")).unwrap().items, []);
    assert_eq!(roles(&empty("admin#directory#roles")).unwrap().items, []);
    assert_eq!(assignments(&empty("admin#directory#roleAssignments")).unwrap().items, []);
    assert_eq!(activities(&empty("admin#reports#activities")).unwrap().items, []);
    assert_eq!(activities(&empty("reports#activities")).unwrap().items, []);
    let page = users(br#"{"users": [], "nextPageToken": ""}"#).unwrap();
    assert_eq!(page.next, None, "an empty token is none");
    assert_eq!(users(br#"{"users": [], "nextPageToken": "x"}"#).unwrap().next.as_deref(), Some("x"));
}

#[test]
fn absent_null_and_false_are_three_things() {
    let page = users(
        br#"{"users": [{"id": "1"}, {"isEnforcedIn2Sv": null}, {"isEnforcedIn2Sv": false, "archived": true,
            "name": {"fullName": "Never Kept"}, "phones": [1], "recoveryEmail": "x@example.org"}]}"#,
    )
    .unwrap();
    let seen: Vec<_> = page.items.iter().map(|user| user.is_enforced_in_2sv.clone()).collect();
    assert_eq!(seen, [Field::Absent, Field::Null, Field::Value(false)]);
    let kept = serde_json::to_string(&page.items).unwrap();
    assert_eq!(kept, r#"[{"id":"1"},{"isEnforcedIn2Sv":null},{"archived":true,"isEnforcedIn2Sv":false}]"#);
    for wrong in [r#"{"suspended": "false"}"#, r#"{"isEnforcedIn2Sv": 1}"#, r#"{"id": 7}"#, "[]"] {
        assert!(is_shape(users(format!("{{\"users\": [{wrong}]}}").as_bytes())), "{wrong}");
    }
}

#[test]
fn parameters_of_other_types_are_passed_over() {
    let page = activities(
        br#"{"items": [{"id": {"time": "t", "uniqueQualifier": "-7"}, "actor": {"email": "a@x"}, "events": [
            {"name": "ASSIGN_ROLE", "parameters": [{"name": "N", "intValue": "3"}, {"name": "M", "multiValue":
            ["x"]}, {"name": "ROLE_NAME", "value": "r"}]}]}, {}]}"#,
    )
    .unwrap();
    let event = &page.items[0].events.value().unwrap()[0];
    assert_eq!(event.parameter("ROLE_NAME"), Some("r"));
    assert_eq!((event.parameter("N"), event.parameter("USER_EMAIL")), (None, None));
    assert_eq!(page.items[1], Activity::default());
}

#[test]
fn what_is_a_list_in_place_of_an_object_is_refused() {
    for item in [
        r#"{"id": ["t", "-7"]}"#,
        r#"{"actor": ["a@x"]}"#,
        r#"{"events": [["CREATE_USER", []]]}"#,
        r#"{"events": [{"parameters": [["USER_EMAIL", "b@x"]]}]}"#,
    ] {
        assert!(is_shape(activities(format!("{{\"items\": [{item}]}}").as_bytes())), "{item}");
    }
    let page = activities(br#"{"items": [{"id": null, "actor": null, "events": null}]}"#).unwrap();
    assert_eq!((&page.items[0].id, &page.items[0].events), (&Field::Null, &Field::Null));
}
