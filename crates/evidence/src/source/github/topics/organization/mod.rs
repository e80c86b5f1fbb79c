//! The organization's settings.

pub(crate) mod answer;

use std::sync::Arc;

use evidence_http::Meta;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use self::answer::Organization;
use crate::observation::{Inspection, Observation, Seen};
use crate::source::CollectionItem;
use crate::source::github::host::Host;
use crate::source::github::names::NAME;
use crate::source::github::topic::{Inspect, Requests, Topic};
use evidence_rules::codehost::OF_ORGANIZATION;
use evidence_rules::codehost::artifact::ORGANIZATION_SETTINGS;
use evidence_rules::codehost::record::OrganizationSettings;
use evidence_rules::field::Field;
use evidence_rules::rule::Settings;

/// The organization's settings, from the answer of the connection test.
pub(crate) static TOPIC: Topic = Topic {
    name: "organization settings",
    kind: &ORGANIZATION_SETTINGS,
    asks_for_its_artifact: true,
    requests: |_| Requests { least: 0, most: 0, usual: [0; 3], in_bulk: None },
    kept_as: || [None, None],
    inspect: Inspect::Organization { by: inspect, warned: true },
};

fn inspect(host: &Host) -> BoxFuture<'_, Inspection> {
    let mut inspection =
        judged(&host.config.org, &host.organization.settings, &host.meta, &host.config.rule_settings);
    if let Some(observation) = inspection.observations.first_mut() {
        observation.requests.clone_from(&host.requests);
    }
    async { inspection }.boxed()
}

fn judged(name: &str, settings: &OrganizationSettings, meta: &Meta, rule_settings: &Settings) -> Inspection {
    let seen = Seen::artifact(NAME, "org_settings.json", settings, None, meta);
    let observation = Observation::new(NAME, &ORGANIZATION_SETTINGS, name, seen);
    let subject = Arc::clone(&observation.subject);
    Inspection::from(observation).judged_by(OF_ORGANIZATION, &subject, settings, rule_settings)
}

/// Why the two-factor setting is not visible to this token, if it is not.
pub(crate) fn two_factor_hidden(settings: &OrganizationSettings) -> Option<&'static str> {
    match settings.two_factor_requirement_enabled {
        Field::Value(_) => None,
        Field::Null => Some("null, which the host sends to members who are not owners"),
        Field::Absent => Some("absent, as for users outside the organization"),
    }
}

/// What an answer means on its own.
pub(crate) fn offline(organization: Organization) -> Vec<CollectionItem> {
    vec![CollectionItem::Inspected(judged(
        "acme",
        &organization.settings,
        &Meta::default(),
        &Settings::default(),
    ))]
}
