//! What is missing: every requested setting without evidence, grouped by outcome, and what else a reader must know.
//!
//! The number at the top of the page is the number of these settings. A fact that a check or a group reports is not
//! repeated as an error or a warning.

use std::collections::{BTreeMap, BTreeSet};
use std::io;

use evidence_bundle::document::{ErrorRecord, Excluded, ObservationRecord, Outcome, Warning};
use evidence_bundle::path::MANIFEST;
use evidence_bundle::text::saturating_u64;
use evidence_view::{Truncated, sanitized};

use super::checks::{INCOMPLETE_LIST, POPULATION_INCOMPLETE, Sections, fact};
use super::room::{self, Room};
use super::text;
use crate::documents::{Documents, lists};

/// The most subjects named of a group.
const NAMED: usize = 20;

/// The section.
pub(super) struct Missing {
    /// The number of missing settings.
    pub(super) count: u64,
    pub(super) outcomes: Vec<MissingOutcome>,
    pub(super) errors: Truncated<ErrorRecord>,
    pub(super) excluded: Truncated<Excluded>,
    pub(super) warnings: Truncated<Warning>,
}

impl Missing {
    pub(super) fn is_empty(&self) -> bool {
        self.count == 0 && self.errors.is_empty() && self.excluded.is_empty() && self.warnings.is_empty()
    }
}

/// The missing settings with one outcome.
pub(super) struct MissingOutcome {
    pub(super) title: &'static str,
    pub(super) count: u64,
    pub(super) groups: Vec<MissingGroup>,
    /// How many settings are in no group, because the page has no room.
    pub(super) more: u64,
}

/// Settings that are missing for the same reason.
pub(super) struct MissingGroup {
    pub(super) source: String,
    pub(super) kind: String,
    pub(super) why: String,
    pub(super) count: u64,
    pub(super) subjects: Vec<String>,
}

impl MissingGroup {
    /// How many subjects are not named.
    pub(super) fn more(&self) -> u64 {
        self.count.saturating_sub(saturating_u64(self.subjects.len()))
    }
}

/// Gathers the missing settings from the observations.
pub(super) struct Gathered {
    outcomes: BTreeMap<u8, MissingOutcome>,
    places: BTreeMap<(u8, String, String, String), usize>,
    /// The reason, source and subject of each.
    facts: BTreeSet<u64>,
    /// The reason and source of each.
    reasons: BTreeSet<(String, String)>,
    excluded: u64,
    room: Room,
}

impl Default for Gathered {
    fn default() -> Gathered {
        Gathered {
            outcomes: BTreeMap::new(),
            places: BTreeMap::new(),
            facts: BTreeSet::new(),
            reasons: BTreeSet::new(),
            excluded: 0,
            room: Room::new(room::MISSING / 2),
        }
    }
}

/// The order and the title of an outcome, if the setting is missing.
fn title(outcome: Outcome) -> Option<(u8, &'static str)> {
    match outcome {
        Outcome::Denied => Some((0, "Denied: the source refused to show it")),
        Outcome::Failed => Some((1, "Failed: no usable answer")),
        Outcome::NotAsked => Some((2, "Not asked: nothing like it could be read")),
        Outcome::Excluded => Some((3, "Left out: it contained forbidden data, such as a credential")),
        Outcome::Artifact | Outcome::Nothing | Outcome::Listed => None,
    }
}

impl Gathered {
    /// Takes the observation if its setting is missing.
    pub(super) fn take(&mut self, observation: &ObservationRecord) {
        let Some((order, title)) = title(observation.outcome) else { return };
        let outcome = self.outcomes.entry(order).or_insert_with(|| MissingOutcome {
            title,
            count: 0,
            groups: Vec::new(),
            more: 0,
        });
        outcome.count = outcome.count.saturating_add(1);
        self.excluded += u64::from(observation.outcome == Outcome::Excluded);
        let reason = observation.reason.clone().unwrap_or_default();
        self.facts.insert(fact(&reason, &observation.source, &observation.subject));
        let why = match (reason.as_str(), observation.detail.as_deref()) {
            (POPULATION_INCOMPLETE, _) => INCOMPLETE_LIST.to_owned(),
            ("excluded_by_policy", Some(rule)) => sanitized(&format!("forbidden data, rule {rule}")),
            (_, detail) => sanitized(detail.unwrap_or(&reason)),
        };
        let (source, kind) = (sanitized(&observation.source), text::words_of(&observation.kind));
        self.reasons.insert((reason, observation.source.clone()));
        let subject = sanitized(&observation.subject);
        let key = (order, source, kind, why);
        let place = match self.places.get(&key) {
            Some(place) => *place,
            None if self.room.take(500, [key.1.as_str(), &key.2, &key.3]) => {
                let (_, source, kind, why) = key.clone();
                outcome.groups.push(MissingGroup { source, kind, why, count: 0, subjects: Vec::new() });
                let place = outcome.groups.len() - 1;
                self.places.insert(key, place);
                place
            }
            None => {
                outcome.more = outcome.more.saturating_add(1);
                return;
            }
        };
        let Some(group) = outcome.groups.get_mut(place) else { return };
        group.count = group.count.saturating_add(1);
        if group.subjects.len() < NAMED && self.room.take(30, [subject.as_str()]) {
            group.subjects.push(subject);
        }
    }

    /// The section, with what the manifest lists beyond the settings and the checks.
    pub(super) fn with(self, documents: &dyn Documents, sections: &Sections) -> io::Result<Missing> {
        let is_new = |reason: &str, source: &str, subject: &str| {
            !self.facts.contains(&fact(reason, source, subject)) && !sections.reports(reason, source, subject)
        };
        let (mut errors, mut excluded, mut warnings) =
            (Truncated::default(), Truncated::default(), Truncated::default());
        lists(documents, MANIFEST, |json, name| {
            Some(match name {
                "errors" => json.list(|json| {
                    let error: ErrorRecord = json.value()?;
                    if is_new(&error.code, &error.source, &error.subject) {
                        errors.push(error);
                    }
                    Ok(())
                }),
                "excluded" => json.list(|json| json.value().map(|file: Excluded| excluded.push(file))),
                "warnings" => json.list(|json| {
                    let warning: Warning = json.value()?;
                    let source = warning.source.clone().unwrap_or_default();
                    let subject = warning.subject.as_deref().unwrap_or_default();
                    let is_grouped = self.reasons.contains(&(warning.code.clone(), source.clone()));
                    if !is_grouped && is_new(&warning.code, &source, subject) {
                        warnings.push(warning);
                    }
                    Ok(())
                }),
                _ => return None,
            })
        })?;
        if excluded.count() == self.excluded {
            excluded = Truncated::default();
        }
        let mut room = Room::new(room::MISSING / 2);
        room.fit(&mut errors, |error| vec![&error.subject, &error.source, &error.message, &error.code]);
        room.fit(&mut excluded, |file| vec![&file.filename, &file.rule]);
        room.fit(&mut warnings, |warning| {
            let about = warning.subject.as_deref().or(warning.source.as_deref()).unwrap_or_default();
            vec![about, &warning.message, &warning.code]
        });
        let outcomes: Vec<MissingOutcome> = self.outcomes.into_values().collect();
        let count = outcomes.iter().map(|outcome| outcome.count).fold(0, u64::saturating_add);
        Ok(Missing { count, outcomes, errors, excluded, warnings })
    }
}
