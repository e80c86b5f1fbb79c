//! The administrators' log: who did what to whose account.

use super::shape::{etag, number_of_21_digits, qualifier};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

/// One entry: one action, which may consist of several events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    pub(super) seconds_ago: i64,
    pub(super) actor: String,
    address: String,
    pub(super) events: Vec<Event>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Event {
    kind: &'static str,
    pub(super) name: String,
    parameters: Vec<(String, String)>,
}

impl Activity {
    /// An event (`CREATE_USER`, `SUSPEND_USER`, `DELETE_USER`, …) this many days before the server's start, with
    /// the person who caused it and the affected account.
    pub fn new(days_ago: u32, actor: impl Into<String>, event: &str, subject: &str) -> Self {
        // At varying times of day.
        let seconds = i64::from(days_ago) * 86_400 + i64::from(days_ago % 9) * 3_137 + 421;
        let empty = Self {
            seconds_ago: seconds,
            actor: actor.into(),
            address: "203.0.113.24".to_owned(),
            events: Vec::new(),
        };
        empty.and(event, [("USER_EMAIL", subject)])
    }

    /// Adds another event of the same action.
    pub fn and<'a>(mut self, event: &str, parameters: impl IntoIterator<Item = (&'a str, &'a str)>) -> Self {
        let kind = match event {
            "ASSIGN_ROLE" | "UNASSIGN_ROLE" | "CREATE_ROLE" | "DELETE_ROLE" => "DELEGATED_ADMIN_SETTINGS",
            _ => "USER_SETTINGS",
        };
        let parameters = parameters.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned()));
        self.events.push(Event { kind, name: event.to_owned(), parameters: parameters.collect() });
        self
    }

    pub(super) fn at(&self, start: Timestamp) -> Timestamp {
        start.checked_sub(SignedDuration::from_secs(self.seconds_ago)).unwrap_or(start)
    }

    /// `profile` is the actor's id, if the customer has such a person.
    pub(super) fn body(&self, customer: &str, profile: Option<String>, start: Timestamp) -> Value {
        let at = format!("{}", self.at(start).strftime("%Y-%m-%dT%H:%M:%S.%3fZ"));
        let name = format!("{at} {} {:?}", self.actor, self.events);
        let events = self.events.iter().map(|event| {
            let parameters = event.parameters.iter();
            let parameters = parameters.map(|(name, value)| json!({ "name": name, "value": value }));
            json!({ "type": event.kind, "name": event.name, "parameters": parameters.collect::<Vec<_>>() })
        });
        json!({
            "kind": "admin#reports#activity",
            "id": {
                "time": at,
                "uniqueQualifier": qualifier(&name),
                "applicationName": "admin",
                "customerId": customer,
            },
            "etag": etag(&name),
            "actor": {
                "callerType": "USER",
                "email": self.actor,
                "profileId": profile.unwrap_or_else(|| number_of_21_digits(&self.actor)),
            },
            "ipAddress": self.address,
            "events": events.collect::<Vec<_>>(),
        })
    }
}
