//! The provider's answers on the wire, reduced to the fields that are used.
//!
//! A missing or unknown field is not an error. A field of another type than documented is, because guessing its meaning
//! would invent evidence. An answer counts as a listing only if it identifies itself as one: `{}` from another server
//! would otherwise read as "there are no users".

use std::fmt;

use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::json::{Object, object};
use evidence_http::ParseError;
use evidence_rules::altcloud::record::{Actor, Assignment, Role, User};
use evidence_rules::field::Field;
use evidence_rules::shape::{section, sections};

/// A page of a listing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Page<T> {
    /// The items.
    pub(super) items: Vec<T>,
    /// The token for the next page.
    pub(super) next: Option<String>,
    /// The length of the answer in bytes.
    pub(super) bytes: usize,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UserPage {
    kind: Option<String>,
    next_page_token: Option<String>,
    users: Option<Vec<Object<User>>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", bound = "T: DeserializeOwned")]
struct Items<T> {
    kind: Option<String>,
    next_page_token: Option<String>,
    items: Option<Vec<Object<T>>>,
}

/// `users.list`
pub(super) fn users(bytes: &[u8]) -> Result<Page<User>, ParseError> {
    let UserPage { kind, next_page_token, users } = object(bytes)?;
    page("admin#directory#users", kind, next_page_token, users, bytes)
}

/// `roles.list`
pub(super) fn roles(bytes: &[u8]) -> Result<Page<Role>, ParseError> {
    let Items { kind, next_page_token, items } = object(bytes)?;
    page("admin#directory#roles", kind, next_page_token, items, bytes)
}

/// `roleAssignments.list`
pub(super) fn assignments(bytes: &[u8]) -> Result<Page<Assignment>, ParseError> {
    let Items { kind, next_page_token, items } = object(bytes)?;
    page("admin#directory#roleAssignments", kind, next_page_token, items, bytes)
}

/// `activities.list`
pub(super) fn activities(bytes: &[u8]) -> Result<Page<Activity>, ParseError> {
    let Items { kind, next_page_token, items } = object(bytes)?;
    page("admin#reports#activities", kind, next_page_token, items, bytes)
}

fn page<T>(
    expected: &str,
    kind: Option<String>,
    next: Option<String>,
    items: Option<Vec<Object<T>>>,
    bytes: &[u8],
) -> Result<Page<T>, ParseError> {
    let is_it = match (&kind, &items) {
        // The documentation of reports names the kind with and without its first part.
        (Some(kind), _) => kind == expected || expected.strip_prefix("admin#") == Some(kind),
        (None, Some(_)) => true,
        (None, None) => false,
    };
    if !is_it {
        return Err(ParseError::Shape(format!("not a list of the kind {expected}")));
    }
    let items = Object::all(items.unwrap_or_default());
    Ok(Page { items, next: next.filter(|token| !token.is_empty()), bytes: bytes.len() })
}

/// One item of `activities.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
pub(super) struct Activity {
    #[serde(default, deserialize_with = "section")]
    pub(super) id: Field<ActivityId>,
    #[serde(default, deserialize_with = "section")]
    pub(super) actor: Field<Actor>,
    #[serde(default, deserialize_with = "sections")]
    pub(super) events: Field<Vec<ActivityEvent>>,
}

/// The identity of an activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ActivityId {
    #[serde(default)]
    pub(super) time: Field<String>,
    #[serde(default)]
    pub(super) unique_qualifier: Field<String>,
    #[serde(default)]
    pub(super) customer_id: Field<String>,
}

/// One event of an activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
pub(super) struct ActivityEvent {
    pub(super) name: Option<String>,
    #[serde(default, deserialize_with = "sections")]
    pub(super) parameters: Field<Vec<Parameter>>,
}

/// One parameter of an event. Only text values are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
pub(super) struct Parameter {
    pub(super) name: Option<String>,
    pub(super) value: Option<String>,
}

impl ActivityEvent {
    /// The value of the parameter with this name.
    pub(super) fn parameter(&self, name: &str) -> Option<&str> {
        let mut all = self.parameters.value().into_iter().flatten();
        all.find(|parameter| parameter.name.as_deref() == Some(name))?.value.as_deref()
    }
}

/// The answer of the exchange.
#[derive(Deserialize)]
pub(super) struct TokenAnswer {
    /// The access token.
    pub(super) access_token: String,
    /// The lifetime in seconds.
    pub(super) expires_in: Option<u64>,
    token_type: Option<String>,
}

impl fmt::Debug for TokenAnswer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Token").field("expires_in", &self.expires_in).finish_non_exhaustive()
    }
}

/// Parses the answer of the exchange. No error quotes it.
pub(super) fn token(bytes: &[u8]) -> Result<TokenAnswer, ParseError> {
    let token: TokenAnswer = object(bytes).map_err(|error| match error {
        ParseError::Broken(_) => ParseError::Broken("broken JSON".to_string()),
        ParseError::Shape(_) => ParseError::Shape("no access token".to_string()),
    })?;
    let is_word =
        !token.access_token.is_empty() && token.access_token.bytes().all(|byte| byte.is_ascii_graphic());
    let is_bearer = token.token_type.as_deref().is_none_or(|kind| kind.eq_ignore_ascii_case("bearer"));
    if is_word && is_bearer {
        return Ok(token);
    }
    Err(ParseError::Shape("no bearer token".to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

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
        assert_eq!(
            kept,
            r#"[{"id":"1"},{"isEnforcedIn2Sv":null},{"archived":true,"isEnforcedIn2Sv":false}]"#
        );
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

    #[test]
    fn a_token_is_one_word_and_no_error_quotes_it() {
        let good = br#"{"access_token": "ya29.not-real", "expires_in": 3599, "token_type": "Bearer"}"#;
        let read = token(good).unwrap();
        assert_eq!((read.access_token.as_str(), read.expires_in), ("ya29.not-real", Some(3599)));
        assert!(!format!("{read:?}").contains("not-real"));
        let others = [
            r#"{"access_token": "secret two", "token_type": "Bearer"}"#,
            r#"{"access_token": "", "token_type": "Bearer"}"#,
            r#"{"access_token": "secret", "token_type": "MAC"}"#,
            r#"{"access_token": 7}"#,
            r#"{"id_token": "secret"}"#,
            r#"{"access_token": "x", "expires_in": "secret"}"#,
            r#"["secret", 7, null]"#,
            r#"{"access_token": "secret"#,
        ];
        for text in others {
            let error = token(text.as_bytes()).unwrap_err();
            assert!(!format!("{error:?}").contains("secret"), "{text}: {error:?}");
        }
    }
}
