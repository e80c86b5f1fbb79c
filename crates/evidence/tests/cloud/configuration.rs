//! Configuration from the environment, and this source's documentation page.

use std::collections::BTreeSet;
use std::path::Path;

use evidence::config::Config;
use sandbox::cloud::Trail;

use crate::{PERMISSIONS, Setup};

/// The message of the first problem, if any.
fn problem(setup: &Setup, url: &str) -> Option<String> {
    let text = setup.yaml(url, Path::new("key.pem"));
    let text = if url.is_empty() { text.replace("    endpoint_url: \n", "") } else { text };
    let result = Config::from_bytes(Path::new("evidence.yaml"), text.as_bytes(), &setup.env());
    result.err().map(|error| format!("{}: {}", error.problems[0].key, error.problems[0].message))
}

#[test]
fn the_region_of_the_environment_stands_for_the_key_and_only_for_it() {
    let wrong = |lines: &[&str]| problem(&Setup::new(lines).variable("CLOUD_REGION", "the moon"), "");
    let text = wrong(&[]).unwrap();
    assert!(text.starts_with("sources.cloud.region: the environment variable CLOUD_REGION sets"), "{text}");
    assert_eq!(wrong(&["region: eu-central-1"]), None);
    assert_eq!(wrong(&["regions: [eu-central-1]"]), None);
    assert_eq!(problem(&Setup::new(&[]), ""), None, "that there is none is found out when it is needed");
}

#[test]
fn other_partitions_need_an_address() {
    let lines = &["region: us-iso-east-1"];
    assert!(problem(&Setup::new(lines), "").unwrap().contains("this version does not know"));
    assert_eq!(problem(&Setup::new(lines), "https://cloud.example.com"), None);
    assert_eq!(problem(&Setup::new(&["region: cn-north-1"]), ""), None);
}

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sources/cloud.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn the_policy_allows_what_is_needed_and_no_more() {
    let page = page();
    let policy = page.split("```json\n").nth(1).unwrap().split("```").next().unwrap();
    let policy: serde_json::Value = serde_json::from_str(policy).unwrap();
    let allowed: BTreeSet<&str> = policy["Statement"][0]["Action"]
        .as_array()
        .unwrap()
        .iter()
        .map(|action| action.as_str().unwrap())
        .collect();
    assert_eq!(allowed, PERMISSIONS.into_iter().collect());
    // The second policy is that of the second framework.
    let policy = page.split("```json\n").nth(2).unwrap().split("```").next().unwrap();
    let policy: serde_json::Value = serde_json::from_str(policy).unwrap();
    let actions = policy["Statement"][0]["Action"].as_array().unwrap().iter();
    let allowed: BTreeSet<&str> = actions.map(|action| action.as_str().unwrap()).collect();
    assert_eq!(allowed, PERMISSIONS.into_iter().chain(crate::identities::CRITERIA).collect());
}

#[test]
fn the_page_names_every_field_of_every_artifact() {
    let basic = serde_json::json!([{
        "ReadWriteType": "All", "IncludeManagementEvents": true, "ExcludeManagementEventSources": [],
        "DataResources": [{"Type": "AWS::S3::Object", "Values": ["arn:aws:s3"]}],
    }]);
    let every = ["Equals", "NotEquals", "StartsWith", "NotStartsWith", "EndsWith", "NotEndsWith"];
    let mut field: serde_json::Value =
        every.map(|operator| (operator, serde_json::json!(["x"]))).into_iter().collect();
    field["Field"] = "eventCategory".into();
    let advanced = serde_json::json!([{"Name": "x", "FieldSelectors": [field]}]);
    let trail = |name: &str| Trail::new(name, "eu-central-1").multi_region(true);
    let server = crate::identities::account()
        .trail(trail("main").event_selectors(basic))
        .trail(trail("side").advanced_event_selectors(advanced))
        .serve()
        .unwrap();
    let collected = crate::identities::collect(&server);
    let page = page();
    let mut rows = page.lines().filter(|line| line.starts_with("| `") && line.contains(".json` |"));
    let mut kinds = BTreeSet::new();
    for (name, artifact) in &collected.artifacts {
        let name = &name
            .replace("trail_main_", "trail_{name}_")
            .replace("trail_side_", "trail_{name}_")
            .replace("us-east-1", "{region}")
            .replace("eu-central-1", "{region}");
        kinds.insert(name.clone());
        let row = rows.clone().find(|row| row.contains(name)).unwrap_or_else(|| panic!("{name} has no row"));
        let mut names = Vec::new();
        keys(artifact, &mut names);
        for key in names {
            assert!(row.contains(&format!("`{key}`")), "{name}: {key} is not documented");
        }
    }
    assert_eq!(rows.by_ref().count(), kinds.len());
}

fn keys(value: &serde_json::Value, names: &mut Vec<String>) {
    match value {
        serde_json::Value::Object(members) => members.iter().for_each(|(name, value)| {
            names.push(name.clone());
            keys(value, names);
        }),
        serde_json::Value::Array(items) => items.iter().for_each(|item| keys(item, names)),
        _ => {}
    }
}
