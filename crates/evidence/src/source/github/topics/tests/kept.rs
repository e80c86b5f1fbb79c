//! A kept record parses into the same value as the original answer.

use std::fmt::Debug;

use proptest::prelude::*;

use serde_json::{Value, json};

use crate::source::github::host::bulk::query::{BRANCH_PROTECTIONS, CODEOWNERS_FILES};
use crate::source::github::repositories::REPOSITORIES;
use crate::source::github::repository::REPOSITORY;
use crate::source::github::topics::branch_protection::branch::BRANCH;
use crate::source::github::topics::branch_protection::classic::PROTECTION;
use crate::source::github::topics::branch_protection::rules::RULES;
use crate::source::github::topics::branch_protection::ruleset::RULESET;
use crate::source::github::topics::codeowners::errors::ERRORS;
use crate::source::github::topics::codeowners::places::PLACES;
use crate::source::github::topics::organization::answer::ORGANIZATION;
use evidence_http::Call;

/// Parses `bytes`, keeps the value and parses what was kept. Returns whether `bytes` could be parsed at all.
fn survives<T: Debug>(bytes: &[u8], call: &Call<T>) -> bool {
    let Ok(value) = (call.parse)(bytes) else { return false };
    let record = (call.keep.as_ref().unwrap().reduce)(&value);
    let again = (call.parse)(&record).unwrap_or_else(|error| {
        panic!("{error:?}: {} of {}", String::from_utf8_lossy(&record), String::from_utf8_lossy(bytes))
    });
    assert_eq!(format!("{again:?}"), format!("{value:?}"), "{}", String::from_utf8_lossy(&record));
    true
}

fn text() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        "[a-z/\"\\\\\u{e9}\u{1f600}]{0,6}".prop_map(Value::String),
        any::<bool>().prop_map(Value::Bool),
        any::<u64>().prop_map(Value::from),
    ]
}

/// An object with some of these fields.
fn fields(
    names: &'static [&'static str],
    value: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    let entries = proptest::collection::vec((proptest::sample::select(names), value), 0..names.len() + 1);
    entries.prop_map(|entries| {
        Value::Object(entries.into_iter().map(|(name, value)| (name.to_string(), value)).collect())
    })
}

fn list(of: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    prop_oneof![
        1 => Just(Value::Null),
        5 => proptest::collection::vec(of, 0..3).prop_map(Value::Array),
    ]
}

fn one(name: &'static str) -> impl Strategy<Value = Value> {
    "[a-z]{0,4}".prop_map(move |value| json!({ name: value }))
}

fn maybe(value: impl Strategy<Value = Value>) -> impl Strategy<Value = Option<Value>> {
    proptest::option::of(prop_oneof![1 => Just(Value::Null), 6 => value])
}

fn with(
    name: &'static str,
    inner: impl Strategy<Value = Value>,
    outer: impl Strategy<Value = Value>,
) -> impl Strategy<Value = Value> {
    (maybe(inner), outer).prop_map(move |(inner, mut outer)| {
        if let (Some(inner), Some(map)) = (inner, outer.as_object_mut()) {
            map.insert(name.to_string(), inner);
        }
        outer
    })
}

fn protections() -> impl Strategy<Value = Value> {
    let flag = prop_oneof![Just(Value::Null), any::<bool>().prop_map(Value::Bool)];
    let number = prop_oneof![Just(Value::Null), (0..9_u64).prop_map(Value::from)];
    let people = with(
        "users",
        list(one("login")),
        with("teams", list(one("slug")), fields(&["apps"], Just(json!([])))),
    );
    let reviews = with(
        "dismissal_restrictions",
        people,
        with(
            "required_approving_review_count",
            number,
            fields(&["dismiss_stale_reviews", "require_code_owner_reviews"], flag.clone()),
        ),
    );
    let contexts = list("[a-z]{0,4}".prop_map(Value::String));
    let checks =
        with("contexts", contexts, with("checks", list(one("context")), fields(&["strict"], flag.clone())));
    let admins = with("url", Just(json!("u")), fields(&["enabled"], flag));
    let top = with(
        "url",
        "[a-z]{0,5}".prop_map(|text| Value::String(format!("{text}/protection"))),
        Just(json!({"other": 1})),
    );
    with(
        "required_pull_request_reviews",
        reviews,
        with("required_status_checks", checks, with("enforce_admins", admins, top)),
    )
}

fn rules() -> impl Strategy<Value = Value> {
    let kind =
        proptest::sample::select(vec!["pull_request", "required_status_checks", "workflows", "deletion"]);
    let parameters = with(
        "required_status_checks",
        list(one("context")),
        with(
            "workflows",
            list(one("path")),
            fields(&["required_approving_review_count"], any::<u8>().prop_map(Value::from)),
        ),
    );
    let rule = with(
        "parameters",
        parameters,
        fields(&["ruleset_id", "ruleset_source", "ruleset_source_type"], text()),
    );
    (kind, rule).prop_map(|(kind, mut rule)| {
        rule["type"] = json!(kind);
        rule
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn protections_survive(value in protections()) {
        survives(value.to_string().as_bytes(), &PROTECTION);
    }

    #[test]
    fn organizations_survive(value in fields(
        &["login", "id", "two_factor_requirement_enabled", "default_repository_permission", "public_repos",
          "members_can_create_repositories", "members_can_create_public_repositories", "total_private_repos"],
        text(),
    )) {
        survives(value.to_string().as_bytes(), &ORGANIZATION);
    }

    #[test]
    fn pages_survive(
        page in proptest::collection::vec(
            with("permissions", fields(&["admin", "pull"], text()), fields(
                &["id", "full_name", "name", "archived", "default_branch", "size"], text())), 0..4)
    ) {
        survives(Value::Array(page).to_string().as_bytes(), &REPOSITORIES);
    }

    #[test]
    fn rules_survive(rules in proptest::collection::vec(rules(), 0..4)) {
        survives(Value::Array(rules).to_string().as_bytes(), &RULES);
    }

    #[test]
    fn rulesets_survive(
        value in with(
            "bypass_actors",
            list(fields(&["actor_type", "actor_id", "bypass_mode"], text())),
            fields(&["id", "current_user_can_bypass", "name"], text()),
        ),
        errors in with("errors", list(fields(&["line", "column", "kind", "source", "path"], text())), Just(json!({}))),
    ) {
        survives(value.to_string().as_bytes(), &RULESET);
        survives(errors.to_string().as_bytes(), &ERRORS);
    }

    #[test]
    fn contents_survive(
        value in fields(&["name", "path", "size", "encoding", "content", "url", "submodule_git_url"], text()),
        kind in proptest::option::of(proptest::sample::select(vec!["file", "dir", "symlink", "submodule"])),
    ) {
        let mut value = value;
        if let Some(kind) = kind {
            value["type"] = json!(kind);
        }
        survives(value.to_string().as_bytes(), &PLACES[0].record);
    }
}

/// A kept listing or branch holds what was parsed, and nothing of a commit.
#[test]
fn what_shows_that_something_is_missing_survives() {
    let [_, root, _] = &PLACES;
    for listing in [
        json!([]),
        json!([{"name": "src", "type": "dir", "sha": "0"}, {"name": "docs", "type": "dir"}]),
        json!([{"name": "CODEOWNERS", "type": "file"}, {"name": ".github", "type": "symlink"}]),
        json!([{"name": "CODEOWNERS", "type": "file"}, {"type": "file"}]),
        Value::Array(vec![json!({"name": "CODEOWNERS", "type": "file"}); 1_000]),
    ] {
        assert!(survives(listing.to_string().as_bytes(), &root.directory), "{listing}");
    }
    for place in &PLACES {
        let (directory, _) = place.path.rsplit_once('/').unwrap_or_default();
        assert!(place.directory.name.ends_with(&format!("/contents/{directory}")));
    }
}

/// Real answers can be parsed, and survive being kept.
#[test]
fn what_hosts_send_survives() {
    let protection = json!({"url": "https://h/protection", "required_status_checks": {"strict": true, "contexts": [], "checks":
        [{"context": "ci", "app_id": 1}]}, "required_pull_request_reviews": {"dismissal_restrictions": {"users":
        [{"login": "ada", "id": 1}], "teams": [], "apps": [{"slug": "bot"}]}, "required_approving_review_count": 2},
        "enforce_admins": {"url": "u", "enabled": true}});
    assert!(survives(protection.to_string().as_bytes(), &PROTECTION));
    let organization = json!({"login": "acme", "id": 1, "two_factor_requirement_enabled": null, "public_repos": 3,
        "total_private_repos": 0});
    assert!(survives(organization.to_string().as_bytes(), &ORGANIZATION));
    assert!(survives(br#"[{"id": 1, "full_name": "acme/web", "archived": false}]"#, &REPOSITORIES));
    for contents in [
        r#"{"type": "file", "name": "CODEOWNERS", "content": "KiBAYQ==\n", "size": 4, "encoding": "base64"}"#,
        r#"{"content": "", "encoding": "none", "size": 2000000, "type": "file"}"#,
        r#"{"type": "symlink", "target": "x"}"#,
        r#"{"type": "file", "submodule_git_url": "x"}"#,
        "[]",
        r#"[{"type": "file"}]"#,
    ] {
        assert!(survives(contents.as_bytes(), &PLACES[0].record), "{contents}");
    }
    assert!(survives(
        br#"{"id": 7, "default_branch": "trunk", "permissions": {"admin": true}}"#,
        &REPOSITORY
    ));
    let rules = json!([{"type": "pull_request", "ruleset_id": 1, "ruleset_source_type": "Enterprise", "parameters":
        {"required_approving_review_count": 1}}, {"type": "deletion"}, {"type": "required_status_checks", "parameters":
        {"required_status_checks": [{"context": "ci", "integration_id": 1}]}}]);
    assert!(survives(rules.to_string().as_bytes(), &RULES));
    let ruleset = json!({"id": 1, "bypass_actors": [{"actor_id": 5, "actor_type": "RepositoryRole", "bypass_mode":
        "always"}], "current_user_can_bypass": "never"});
    assert!(survives(ruleset.to_string().as_bytes(), &RULESET));
    let branch = json!({"name": "main", "commit": {"sha": "0", "author": {"login": "ada"}}, "protected": true,
        "protection": {"enabled": false, "required_status_checks": {"contexts": []}}});
    assert!(survives(branch.to_string().as_bytes(), &BRANCH));
    assert!(survives(br#"{"errors": [{"line": 1, "column": 3, "kind": "Unknown owner"}]}"#, &ERRORS));
}

#[test]
fn a_raw_file_is_read_as_far_as_the_host_loads_it() {
    for place in &PLACES {
        assert_eq!(
            u64::try_from(place.raw.limit).unwrap(),
            evidence_rules::codehost::codeowners::MAXIMUM_SIZE
        );
        assert!(place.record.name.ends_with(place.path) && place.raw.name == place.record.name);
    }
}

/// The fields of a page that are used, and no others.
#[test]
fn pages_of_queries_survive() {
    let seed = |name: &str| {
        let path =
            std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/seeds/answers").join(name);
        std::fs::read(path).unwrap().split_off(2)
    };
    assert!(survives(&seed("bulk_protection"), &BRANCH_PROTECTIONS));
    assert!(survives(&seed("bulk_codeowners"), &CODEOWNERS_FILES));
    for answer in [
        json!({"data": {"nodes": null}}),
        json!({"data": {"nodes": [null, {}]}}),
        json!({"data": {"nodes": [{"named": {"rules": {}, "branchProtectionRule": {}}, "root": {}, "rootFile": {}}]}}),
        json!({"data": {"nodes": [{"root": {"entries": [{"name": "x", "mode": 1}, {"name": "docs", "mode": null}]}}]}}),
        json!({"data": {"nodes": [{"root": {"entries": [{"mode": 1}]}}]}}),
        json!({"data": null, "errors": [{}]}),
    ] {
        let bytes = answer.to_string().into_bytes();
        assert!(survives(&bytes, &BRANCH_PROTECTIONS) && survives(&bytes, &CODEOWNERS_FILES), "{answer}");
    }
}
