//! How the provider's answers name the customer that they are about. Users and events name it; roles and their
//! assignments do not.

use super::wire::{Activity, ActivityId, Page};
use evidence_http::{AskedAbout, Subject};
use evidence_rules::altcloud::record::User;
use evidence_rules::field::Field;

/// The provider's name for the customer of the administrator.
const ALIAS: &str = "my_customer";

pub(super) const USERS: Subject<Page<User>> = Subject {
    fields: "`customerId`, the same of every user of a page",
    other: |page, about| of_customer(page.items.iter().map(|user| &user.customer_id), about),
};

pub(super) const ACTIVITIES: Subject<Page<Activity>> = Subject {
    fields: "`id.customerId`, the same of every event of a page",
    other: |page, about| {
        let ids = page.items.iter().filter_map(|activity| activity.id.value());
        of_customer(ids.map(|id: &ActivityId| &id.customer_id), about)
    },
};

/// If the request does not name the customer, its first item does.
fn of_customer<'a>(found: impl Iterator<Item = &'a Field<String>>, about: &AskedAbout<'_>) -> Option<String> {
    let query = about.subject.split_once('?').map_or("", |(_, query)| query);
    let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
    let named = pairs.find(|(name, _)| ["customer", "customerId"].contains(name)).map(|(_, value)| value);
    let mut asked = named.filter(|customer| *customer != ALIAS);
    for customer in found.filter_map(Field::value) {
        let asked = *asked.get_or_insert(customer);
        if customer != asked {
            return Some(format!("the customer {customer} instead of {asked}"));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::calls;
    use super::*;
    use evidence_http::Call;

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
            let text = other(&calls::USERS.call, &label, &users);
            assert_eq!(text.is_none(), counts, "{asked} {users}: {text:?}");
            let events: Vec<Value> = found.iter().map(|id| json!({"id": {"customerId": id}})).collect();
            let events = json!({"items": events});
            let label = format!("/admin/reports/v1/activity?customerId={asked}&eventName=CREATE_USER");
            let text = other(&calls::ACTIVITIES.call, &label, &events);
            assert_eq!(text.is_none(), counts, "{asked} {events}: {text:?}");
        }
        let label = "/admin/directory/v1/users?domain=acme.example&maxResults=500";
        let mixed = json!({"users": [{"customerId": "C01"}, {}, {"customerId": "C02"}]});
        let text = other(&calls::USERS_OF_DOMAIN.call, label, &mixed);
        assert_eq!(text.as_deref(), Some("the customer C02 instead of C01"));
        assert_eq!(other(&calls::USERS.call, label, &json!({"users": [{}, {"customerId": null}]})), None);
    }
}
