//! The subjects of a period: which are the same although they were renamed, and when they came and went.

use std::collections::HashMap;

use super::model::PopulationChange;
use super::period::date;
use super::results::{Found, Results};
use super::series::{Absence, Series, Stored};

/// Whether a subject is examined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Presence {
    /// It is in scope.
    Examined,
    /// The configuration leaves it out.
    Excluded,
    /// It is archived.
    Archived,
    /// It does not exist.
    Deleted,
    /// The source does not list it, and it may exist.
    OutOfSight,
}

/// All subjects so far. A subject is known by its source's identifier, else by its name in lower case.
#[derive(Debug, Default)]
pub(super) struct Subjects {
    known: Vec<Subject>,
    by_id: HashMap<(u32, u32), usize>,
    by_name: HashMap<(u32, String), usize>,
    /// The sources that were seen in an earlier bundle.
    sources: Vec<u32>,
    changes: Vec<PopulationChange>,
}

#[derive(Debug)]
struct Subject {
    source: u32,
    name: u32,
    id: Option<u32>,
    /// `None` for what is no member of a population.
    presence: Option<Presence>,
}

/// The subjects of one bundle.
pub(super) struct Seen<'a> {
    subjects: &'a mut Subjects,
    /// The positions of the members, by source and name.
    members: HashMap<(u32, u32), usize>,
}

impl Subjects {
    /// Takes the population of the next bundle.
    pub(super) fn bundle<'a>(&'a mut self, series: &Series, bundle: &Stored) -> Seen<'a> {
        let day = date(bundle.created_at);
        let mut members = HashMap::new();
        let mut is_listed = vec![false; self.known.len()];
        let mut sources: Vec<u32> = Vec::new();
        for member in bundle.members.iter().filter_map(|number| series.members.get(*number)) {
            let is_first = !self.sources.contains(&member.source);
            if !sources.contains(&member.source) {
                sources.push(member.source);
            }
            let presence = match (member.in_scope, member.archived) {
                (true, _) => Presence::Examined,
                (false, true) => Presence::Archived,
                (false, false) => Presence::Excluded,
            };
            let count = self.known.len();
            let place = self.place(series, member.source, member.name, member.id);
            members.insert((member.source, member.name), place);
            if let Some(listed) = is_listed.get_mut(place) {
                *listed = true;
            }
            let is_new = place >= count;
            let name = |number| series.names.text(number).to_owned();
            let Some(subject) = self.known.get_mut(place) else { continue };
            let (was, before) = (subject.name, subject.presence);
            (subject.name, subject.presence) = (member.name, Some(presence));
            let mut add = |change, was: Option<String>| {
                self.changes.push(PopulationChange {
                    date: day.clone(),
                    change,
                    name: name(member.name),
                    was,
                });
            };
            if is_first {
                continue;
            }
            if is_new || before.is_none() {
                add("added", None);
            } else if was != member.name {
                add("renamed", Some(name(was)));
            }
            let changed = match (before, presence) {
                (None | Some(Presence::Examined), Presence::Examined) => None,
                (Some(before), after) if before == after => None,
                (_, Presence::Excluded) => Some("excluded"),
                (_, Presence::Archived) => Some("archived"),
                (Some(Presence::Excluded | Presence::Archived), _) => Some("included"),
                (_, _) => Some("seen_again"),
            };
            if let Some(change) = changed {
                add(change, None);
            }
        }
        self.leave(series, bundle, &day, &is_listed);
        for source in sources {
            if !self.sources.contains(&source) {
                self.sources.push(source);
            }
        }
        Seen { subjects: self, members }
    }

    /// Takes what earlier bundles list and this one does not.
    fn leave(&mut self, series: &Series, bundle: &Stored, day: &str, is_listed: &[bool]) {
        for (subject, _) in self.known.iter_mut().zip(is_listed).filter(|(_, listed)| !**listed) {
            let after = match bundle.absence(series.names.text(subject.source)) {
                Absence::NotAsked => continue,
                Absence::Unseen => Presence::OutOfSight,
                Absence::Gone => Presence::Deleted,
            };
            let change = match (subject.presence, after) {
                (None | Some(Presence::Deleted), _) => continue,
                (Some(before), after) if before == after => continue,
                (_, Presence::Deleted) => "deleted",
                (_, _) => "out_of_sight",
            };
            subject.presence = Some(after);
            let name = series.names.text(subject.name).to_owned();
            self.changes.push(PopulationChange { date: day.to_owned(), change, name, was: None });
        }
    }

    /// The position of a subject.
    fn place(&mut self, series: &Series, source: u32, name: u32, id: Option<u32>) -> usize {
        let folded = (source, series.names.text(name).to_lowercase());
        let by_name = self.by_name.get(&folded).copied();
        let by_id = id.and_then(|id| self.by_id.get(&(source, id)).copied());
        // One that had no identifier so far is the same if it has the name; one with another identifier is not.
        let namesake = by_name.filter(|place| {
            let known = self.known.get(*place).and_then(|subject| subject.id);
            id.is_none() || known.is_none()
        });
        let place = by_id.or(namesake).unwrap_or_else(|| {
            self.known.push(Subject { source, name, id, presence: None });
            self.known.len().saturating_sub(1)
        });
        if let (Some(id), Some(subject)) = (id, self.known.get_mut(place)) {
            subject.id = Some(id);
            self.by_id.insert((source, id), place);
        }
        self.by_name.insert(folded, place);
        place
    }

    /// The changes of the population, by day and name.
    pub(super) fn changes(self) -> Vec<PopulationChange> {
        let mut changes = self.changes;
        changes.sort_by(|a, b| (&a.date, &a.name).cmp(&(&b.date, &b.name)));
        changes
    }
}

impl Seen<'_> {
    /// The checks of the bundle, of several with one rule and subject the worst.
    pub(super) fn checks(&mut self, series: &Series, bundle: &Stored) -> Results {
        let mut results = Results::new();
        for check in bundle.checks.iter().filter_map(|number| series.checks.get(*number)) {
            let place = self.place(series, check.source, check.subject);
            let found = Found {
                control: check.control,
                subject: check.subject,
                status: check.status,
                reason: check.reason,
            };
            results
                .entry((check.source, check.rule, place))
                .and_modify(|known| {
                    if found.status.urgency() < known.status.urgency() {
                        *known = found;
                    }
                })
                .or_insert(found);
        }
        results
    }

    /// The position of a check's subject, which may be no member of a population.
    fn place(&mut self, series: &Series, source: u32, name: u32) -> usize {
        match self.members.get(&(source, name)) {
            Some(place) => *place,
            None => self.subjects.place(series, source, name, None),
        }
    }

    /// Whether the subject at this position is examined, as far as this bundle or an earlier one says.
    pub(super) fn presence(&self, place: usize) -> Option<Presence> {
        self.subjects.known.get(place).and_then(|subject| subject.presence)
    }
}
