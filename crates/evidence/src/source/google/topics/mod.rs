//! What is read beside the users: a file per subject, with its calls, the shape of the answers, and what follows from them.
//!
//! Two rules hold for every call. A missing or unknown field of an answer is not an error; a field of another type than
//! documented is, because guessing its meaning would invent evidence.

mod activity;
mod administrators;
mod alone;
mod groups;
mod lifecycle;
mod policies;
mod two_step;

use super::config::AltCloudConfig;
use super::host::identity::{ATTACHED_NAME, ATTACHED_TOKEN, EXCHANGE, FOREIGN_TOKEN};
use super::host::listing::Page;
use super::host::sign_jwt::SIGN;
use super::host::token::TOKEN;
use super::topic::Topic;
use super::users::{USERS, USERS_OF_DOMAIN};
use crate::source::endpoint::{Endpoint, endpoint};
use crate::source::{CollectionItem, Source as _};
use evidence_rules::altcloud::record::User;
use evidence_rules::rule::Settings;

/// Every topic, in the order of the collection.
static TOPICS: &[&Topic] =
    &[&two_step::TOPIC, &administrators::TOPIC, &lifecycle::TOPIC, &activity::TOPIC, &policies::TOPIC];

/// Every call. The seeds of the fuzzer depend on the order: append new calls.
pub(super) static CALLS: &[Endpoint] = &[
    endpoint!(TOKEN, |_| Vec::new()),
    endpoint!(USERS.call, users_offline),
    endpoint!(USERS_OF_DOMAIN.call, users_offline),
    endpoint!(administrators::ROLES.call, administrators::roles_offline),
    endpoint!(administrators::ASSIGNMENTS.call, administrators::assignments_offline),
    endpoint!(lifecycle::ACTIVITIES.call, lifecycle::offline),
    endpoint!(groups::MEMBERS.call, groups::offline),
    endpoint!(policies::POLICIES.call, policies::policies_offline),
    endpoint!(policies::UNITS.call, policies::units_offline),
    endpoint!(SIGN, |_| Vec::new()),
    endpoint!(ATTACHED_TOKEN, |_| Vec::new()),
    endpoint!(ATTACHED_NAME, |_| Vec::new()),
    endpoint!(FOREIGN_TOKEN, |_| Vec::new()),
    endpoint!(EXCHANGE, |_| Vec::new()),
];

/// A page of users, which two topics judge.
fn users_offline(page: Page<User>) -> Vec<CollectionItem> {
    let users = alone::users(page);
    let mut found = two_step::found(alone::ORGANIZATION, &users, &Settings::default());
    found.extend(administrators::users_offline(&users));
    found
}

/// The topics that the configuration requires.
pub(super) fn required(config: &AltCloudConfig) -> impl Iterator<Item = &'static Topic> + use<'_> {
    let is_needed =
        |topic: &&Topic| config.collects(topic.kind) || topic.also.is_some_and(|kind| config.collects(kind));
    TOPICS.iter().copied().filter(is_needed)
}

#[cfg(test)]
mod tests;
