//! What is read: a file or folder per subject, with its calls, the shape of the answers, and what follows from them.
//!
//! Two rules hold for every call. A missing or unknown field of an answer is not an error, since the host's own examples
//! sometimes violate its schema; a field of another type than documented is, because guessing its meaning would invent
//! evidence. And what is kept of an answer between runs must parse into the same value as the answer, since a lost field
//! would look like a changed setting; only the name of the subject may be lost, which was compared before.

pub(crate) mod branch_protection;
mod changes;
pub(crate) mod codeowners;
mod open_alerts;
pub(crate) mod organization;
mod people;
mod security;

use self::branch_protection::{branch, classic, rules, ruleset};
use self::codeowners::errors;
use self::codeowners::places::PLACES;
use super::account;
use super::config::CodeHostConfig;
use super::host::app::installation::{INSTALLATION, INSTALLATIONS, NAMED_INSTALLATION, TOKEN};
use super::repositories;
use super::repository;
use super::topic::{Inspect, Topic};
use crate::source::endpoint::{Endpoint, endpoint};
use crate::source::{CollectionItem, Source as _};
use evidence_rules::framework::Framework;

/// Every topic, in the order of the collection.
static TOPICS: &[&Topic] = &[
    &organization::TOPIC,
    &people::TOPIC,
    &changes::total::TOPIC,
    &open_alerts::TOPIC,
    &branch_protection::TOPIC,
    &codeowners::TOPIC,
    &security::TOPIC,
    &changes::TOPIC,
];

/// Every call. The seeds of the fuzzer depend on the order: append new calls.
pub(super) static CALLS: &[Endpoint] = &[
    endpoint!(organization::answer::ORGANIZATION, organization::offline),
    endpoint!(repositories::REPOSITORIES, repositories::offline),
    endpoint!(classic::PROTECTION, branch_protection::classic_offline),
    endpoint!(PLACES[1].record, codeowners::offline),
    endpoint!(PLACES[1].raw, nothing),
    endpoint!(PLACES[0].record, codeowners::offline),
    endpoint!(PLACES[0].raw, nothing),
    endpoint!(repository::REPOSITORY, nothing),
    endpoint!(rules::RULES, branch_protection::rules_offline),
    endpoint!(ruleset::RULESET, nothing),
    endpoint!(PLACES[2].record, codeowners::offline),
    endpoint!(PLACES[2].raw, nothing),
    endpoint!(errors::ERRORS, nothing),
    endpoint!(branch::BRANCH, nothing),
    endpoint!(PLACES[1].directory, nothing),
    endpoint!(PLACES[0].directory, nothing),
    endpoint!(PLACES[2].directory, nothing),
    endpoint!(account::USER, nothing),
    endpoint!(INSTALLATION, nothing),
    endpoint!(NAMED_INSTALLATION, nothing),
    endpoint!(TOKEN, nothing),
    endpoint!(security::VULNERABILITY_ALERTS, nothing),
    endpoint!(INSTALLATIONS, nothing),
    endpoint!(people::MEMBERS, nothing),
    endpoint!(people::OUTSIDERS, nothing),
    endpoint!(people::MEMBERS_TOTAL, nothing),
    endpoint!(changes::pulls::PULLS, nothing),
    endpoint!(changes::reviews::REVIEWS, nothing),
    endpoint!(changes::activity::ACTIVITY, nothing),
    endpoint!(changes::total::SEARCH, nothing),
    endpoint!(open_alerts::ALERTS, nothing),
];

/// An answer without a meaning of its own.
fn nothing<T>(_: T) -> Vec<CollectionItem> {
    Vec::new()
}

/// The topics about the organization that the configuration requires.
pub(super) fn of_organization(config: &CodeHostConfig) -> impl Iterator<Item = &'static Topic> + use<'_> {
    required(config).filter(|topic| matches!(topic.inspect, Inspect::Organization { .. }))
}

/// The topics about every repository that the configuration requires.
pub(super) fn of_repositories(config: &CodeHostConfig) -> impl Iterator<Item = &'static Topic> + use<'_> {
    required(config).filter(|topic| matches!(topic.inspect, Inspect::Repository(_)))
}

/// The topics that the rules of a framework can require.
pub(super) fn of_framework(framework: &'static Framework) -> impl Iterator<Item = &'static Topic> {
    let uses = |topic: &&Topic| topic.kind.rules.iter().any(|rule| framework.control_of(rule).is_some());
    TOPICS.iter().copied().filter(move |topic| uses(topic))
}

/// The topics that the configuration requires.
pub(super) fn required(config: &CodeHostConfig) -> impl Iterator<Item = &'static Topic> + use<'_> {
    TOPICS.iter().copied().filter(|topic| config.collects(topic.kind))
}

#[cfg(test)]
mod tests;
