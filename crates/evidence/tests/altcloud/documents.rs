//! The page of this source says what it does.

use std::collections::BTreeSet;

use sandbox::workspace::Assignment;

use super::*;

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/sources/altcloud.md");
    std::fs::read_to_string(path).unwrap()
}

#[test]
fn every_call_is_in_the_table() {
    let group = Assignment::group("_SEED_ADMIN_ROLE", "group-root");
    let server = workspace().assignment(group).group("group-root", ["mia@acme.example"]).serve().unwrap();
    collect(&server);
    collect_with(&server, &Setup { extra: "    domains: [acme.example]\n", ..Setup::default() });
    collect_with(&server, &Setup { framework: "tsc_2017", controls: "\"*\"", ..Setup::default() });
    let made: BTreeSet<String> = server
        .requests()
        .iter()
        .filter(|request| request.method == "GET")
        .map(|request| {
            let path =
                request.path_and_query.replace("my_customer", "{customer}").replace("group-root", "{group}");
            let (path, query) = path.split_once('?').unwrap();
            let query: Vec<String> = query
                .split('&')
                .filter(|pair| !pair.starts_with("fields="))
                .map(|pair| match pair.split_once('=').unwrap() {
                    ("domain", _) => "domain={domain}".to_string(),
                    ("filter", _) => "filter={filter}".to_string(),
                    ("eventName", _) => "eventName={event}".to_string(),
                    ("startTime", _) => "startTime={start}".to_string(),
                    ("endTime", _) => "endTime={end}".to_string(),
                    _ => pair.to_string(),
                })
                .collect();
            format!("{path}?{}", query.join("&"))
        })
        .collect();
    let page = page();
    let documented: BTreeSet<String> = page
        .lines()
        .filter_map(|line| line.strip_prefix("| `/")?.split('`').next())
        .filter(|rest| rest.starts_with("admin/") || rest.starts_with("v1/"))
        .map(|rest| format!("/{rest}"))
        .collect();
    assert_eq!(documented, made);
}

#[test]
fn every_event_scope_and_field_is_named() {
    let server = workspace().serve().unwrap();
    let mut collected = collect(&server);
    let page = page();
    assert!(page.contains(&SCOPES.join(",")), "the line to paste");
    assert!(MORE_SCOPES.iter().all(|scope| page.contains(scope)), "the further scopes");
    for event in collected.artifacts["user_lifecycle.json"]["eventNames"].as_array().unwrap() {
        let name = event["name"].as_str().unwrap();
        assert!(page.contains(&format!("`{name}`")), "{name}");
    }
    let all = Setup { framework: "tsc_2017", controls: "\"*\"", ..Setup::default() };
    collected.artifacts.extend(collect_with(&server, &all).artifacts);
    fn names(value: &Value, found: &mut BTreeSet<String>) {
        match value {
            Value::Object(fields) => fields.iter().for_each(|(name, value)| {
                found.insert(name.clone());
                names(value, found);
            }),
            Value::Array(items) => items.iter().for_each(|item| names(item, found)),
            _ => {}
        }
    }
    for (file, content) in &collected.artifacts {
        assert!(page.contains(&format!("`{file}`")), "{file}");
        let mut fields = BTreeSet::new();
        names(content, &mut fields);
        for field in fields {
            assert!(page.contains(&format!("`{field}`")), "{file}: {field}");
        }
    }
}
