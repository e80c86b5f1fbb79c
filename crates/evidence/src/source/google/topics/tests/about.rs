//! Which answers are about what was asked.

use serde_json::{Value, json};

use super::super::lifecycle::ACTIVITIES;
use crate::source::google::users::{USERS, USERS_OF_DOMAIN};
use evidence_http::{AskedAbout, Call};

fn other<T>(call: &Call<T>, label: &str, answer: &Value) -> Option<String> {
    let value = (call.parse)(answer.to_string().as_bytes()).unwrap();
    (call.subject.unwrap().other)(&value, &AskedAbout { subject: label, redirected: false })
}

#[test]
fn an_answer_about_another_customer_does_not_count() {
    for (asked, found, counts) in [
        ("C01", vec!["C01", "C01"], true),
        ("C01", vec!["C02"], false),
        ("C01", vec!["C01", "C02"], false),
        ("C01", vec![], true),
        ("my_customer", vec!["C02", "C02"], true),
        ("my_customer", vec!["C02", "C03"], false),
    ] {
        let users: Vec<Value> = found.iter().map(|id| json!({"id": "1", "customerId": id})).collect();
        let users = json!({"users": users});
        let label = format!("/admin/directory/v1/users?customer={asked}&maxResults=500");
        let text = other(&USERS.call, &label, &users);
        assert_eq!(text.is_none(), counts, "{asked} {users}: {text:?}");
        let events: Vec<Value> = found.iter().map(|id| json!({"id": {"customerId": id}})).collect();
        let events = json!({"items": events});
        let label = format!("/admin/reports/v1/activity?customerId={asked}&eventName=CREATE_USER");
        let text = other(&ACTIVITIES.call, &label, &events);
        assert_eq!(text.is_none(), counts, "{asked} {events}: {text:?}");
    }
    let label = "/admin/directory/v1/users?domain=acme.example&maxResults=500";
    let mixed = json!({"users": [{"customerId": "C01"}, {}, {"customerId": "C02"}]});
    let text = other(&USERS_OF_DOMAIN.call, label, &mixed);
    assert_eq!(text.as_deref(), Some("the customer C02 instead of C01"));
    assert_eq!(other(&USERS.call, label, &json!({"users": [{}, {"customerId": null}]})), None);
}
