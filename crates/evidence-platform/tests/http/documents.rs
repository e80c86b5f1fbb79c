//! The OpenAPI description and the documentation match the table of routes.

use std::collections::BTreeSet;

use evidence_platform::api::access::Access;
use evidence_platform::api::openapi::{document, problems};
use evidence_platform::api::problem::ProblemKind;
use evidence_platform::api::routes::table;
use evidence_platform::store::Action;
use serde_json::Value;

use crate::running::Running;

fn documentation() -> String {
    std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/platform-api.md")).unwrap()
}

#[tokio::test]
async fn the_description_names_every_route_and_resolves() {
    let running = Running::local().await;
    let served = running.call(reqwest::Method::GET, "/api/v1/openapi.json", None, None).await.json;
    assert_eq!(served, serde_json::to_value(document()).unwrap());
    assert!(served["openapi"].as_str().unwrap().starts_with("3.1"));
    let mut described = BTreeSet::new();
    for (path, methods) in served["paths"].as_object().unwrap() {
        for (method, operation) in methods.as_object().unwrap() {
            described.insert(format!("{} {path}", method.to_uppercase()));
            assert!(operation["operationId"].is_string() && operation["summary"].is_string(), "{path}");
        }
    }
    let table = table();
    let api = table.iter().filter(|route| route.path.starts_with("/api/"));
    let expected: BTreeSet<String> = api.map(|route| format!("{} {}", route.method, route.path)).collect();
    assert_eq!(described, expected);
    for route in table.iter().filter(|route| route.operation.is_some()) {
        let responses = &served["paths"][&route.path][route.method.as_str().to_lowercase()]["responses"];
        for kind in problems(route) {
            let status = kind.status().as_u16().to_string();
            assert!(
                responses[&status]["content"]["application/problem+json"].is_object(),
                "{route:?} {status}"
            );
        }
    }
    let mut references = Vec::new();
    collect(&served, &mut references);
    assert!(references.len() > 50);
    for reference in references {
        let path = reference.strip_prefix('#').unwrap();
        assert!(served.pointer(path).is_some(), "{reference} leads nowhere");
    }
}

fn collect(value: &Value, into: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields {
                match value {
                    Value::String(text) if name == "$ref" => into.push(text.clone()),
                    _ => collect(value, into),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, into)),
        _ => {}
    }
}

#[test]
fn the_documentation_names_every_problem_route_and_action() {
    let text = documentation();
    for kind in ProblemKind::ALL {
        let row = format!(
            "| `{}` | {} | {}. | {} |",
            kind.code(),
            kind.status().as_u16(),
            kind.title(),
            kind.advice()
        );
        assert!(text.contains(&row), "docs/platform-api.md lacks:\n{row}");
    }
    let pages =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/platform.md")).unwrap();
    for route in table() {
        let row = format!("| `{} {}` |", route.method, route.path);
        let (name, text) = match route.access {
            Access::Needs(_) | Access::NeedsAny(_) | Access::NeedsGroup(_) | Access::Open => {
                ("platform-api.md", &text)
            }
            Access::Page(_) | Access::AnyPage(_) | Access::OpenPage => ("platform.md", &pages),
        };
        assert!(text.contains(&row), "docs/{name} lacks:\n{row}");
    }
    for action in Action::ALL {
        assert!(
            text.contains(&format!("`{}`", action.as_str())),
            "docs/platform-api.md lacks {}",
            action.as_str()
        );
    }
}
