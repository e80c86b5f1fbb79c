//! The difference between two bundles, check by check.
//!
//! Only what both examine is compared. If one side lacks a check, its population says why: the subject is gone, is not
//! in scope, or was not seen. So nothing counts as repaired because it is no longer examined.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;
use std::sync::Arc;

use evidence_bundle::Status;
use evidence_bundle::document::{Check, Member, Scope, SourcePopulation};
use evidence_bundle::read::{Row, Sink};

/// What a bundle says about its checks and its population.
#[derive(Debug, Default)]
pub struct Snapshot {
    /// Every check.
    pub checks: Checks,
    /// Everything that was found.
    pub members: Members,
    /// The counts of each source.
    pub sources: Vec<SourcePopulation>,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckState {
    /// The source of the evidence.
    pub source: Arc<str>,
    /// The rule.
    pub rule: Arc<str>,
    /// What the rule was applied to.
    pub subject: Box<str>,
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: Arc<str>,
}

/// Every check of a bundle.
#[derive(Debug, Default)]
pub struct Checks {
    /// In the order of the document.
    pub rows: Vec<CheckState>,
    words: Words,
}

/// A member of the population.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemberState {
    /// The source.
    pub source: Arc<str>,
    /// The name, as subjects have it.
    pub name: Box<str>,
    /// The source's own identifier, if it reports one.
    pub id: Option<Box<str>>,
    /// Whether it was examined.
    pub in_scope: bool,
}

/// The population of a bundle.
#[derive(Debug, Default)]
pub struct Members {
    /// In the order of the document.
    pub rows: Vec<MemberState>,
    words: Words,
}

/// Texts that repeat, each stored once.
#[derive(Debug, Default)]
struct Words(BTreeSet<Arc<str>>);

impl Words {
    fn one(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let text: Arc<str> = text.into();
        self.0.insert(Arc::clone(&text));
        text
    }
}

impl Checks {
    pub(crate) fn take(&mut self, check: &Check) {
        let [source, rule, reason] =
            [&check.source, &check.rule, &check.reason].map(|text| self.words.one(text));
        let (subject, status) = (check.subject.as_str().into(), check.status);
        self.rows.push(CheckState { source, rule, subject, status, reason });
    }
}

impl Members {
    fn take(&mut self, member: &Member) {
        let source = self.words.one(&member.source);
        let (name, id) = (member.name.as_str().into(), member.id.as_deref().map(Into::into));
        self.rows.push(MemberState { source, name, id, in_scope: member.in_scope });
    }
}

impl Sink for Snapshot {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match row {
            Row::Check(check) => self.checks.take(check),
            Row::Member(member) => self.members.take(member),
            Row::Source(source) => self.sources.push(source.clone()),
            _ => {}
        }
        Ok(())
    }
}

/// How a check differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// It passed and fails.
    Regression,
    /// It fails, and is new or did not apply before.
    FirstFailure,
    /// It failed and passes.
    Repaired,
    /// Whether it passes can no longer be seen.
    LostSight,
    /// Whether it passes can be seen again.
    SeenAgain,
    /// Its subject no longer exists.
    Gone,
    /// Its subject or its rule is no longer examined, although it may exist.
    LeftScope,
    /// Its subject or its rule was not examined before, although it may have existed.
    EnteredScope,
    /// It is new and does not fail.
    Added,
    /// It no longer applies.
    NoLongerApplies,
    /// It did not apply, and passes.
    Applies,
    /// The same status for another reason.
    OtherReason,
}

/// What one bundle says about a check of the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Judged(Status),
    /// Its subject or rule is not examined.
    Out,
    /// Its subject does not exist.
    Absent,
    /// The source does not show whether its subject exists.
    Unseen,
}

/// A check that differs; a side is `None` if it lacks the check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckDifference<'a> {
    /// How.
    pub class: Class,
    /// In the first bundle.
    pub from: Option<&'a CheckState>,
    /// In the second bundle.
    pub to: Option<&'a CheckState>,
}

impl CheckDifference<'_> {
    /// Whether it fails in one of the bundles.
    pub fn failing(&self) -> bool {
        [self.from, self.to].into_iter().flatten().any(|check| check.status == Status::Fail)
    }
}

/// Everything that differs.
#[derive(Debug, Default)]
pub struct Difference<'a> {
    /// The checks that differ, ordered by source, rule and subject.
    pub checks: Vec<CheckDifference<'a>>,
    /// How many do not.
    pub unchanged: u64,
}

/// The reasons for which a subject is no longer examined, although its checks are listed.
const OUT_OF_SCOPE: [&str; 2] = ["archived", "repository_disabled"];

impl CheckState {
    fn side(&self) -> Side {
        if self.status == Status::NotApplicable && OUT_OF_SCOPE.contains(&&*self.reason) {
            return Side::Out;
        }
        Side::Judged(self.status)
    }
}

impl Class {
    /// The class of a check with these sides. `None` if nothing differs but, possibly, the reason.
    fn of(from: Side, to: Side) -> Option<Class> {
        use Side::{Absent, Judged, Out, Unseen};
        use Status::{Fail, NotApplicable, NotVerifiable, Pass};
        match (from, to) {
            (Judged(from), Judged(to)) if from == to => None,
            (Judged(NotVerifiable), Judged(_)) => Some(Class::SeenAgain),
            (Judged(_), Judged(NotVerifiable)) => Some(Class::LostSight),
            (Judged(Pass), Judged(Fail)) => Some(Class::Regression),
            (Judged(_), Judged(Fail)) => Some(Class::FirstFailure),
            (Judged(Fail), Judged(Pass)) => Some(Class::Repaired),
            (Judged(_), Judged(NotApplicable)) => Some(Class::NoLongerApplies),
            (Judged(_), Judged(Pass)) => Some(Class::Applies),
            (Judged(_), Out) => Some(Class::LeftScope),
            (Judged(_), Absent) => Some(Class::Gone),
            (Judged(_), Unseen) => Some(Class::LostSight),
            (Out, Judged(_)) => Some(Class::EnteredScope),
            (Absent, Judged(Fail)) => Some(Class::FirstFailure),
            (Absent, Judged(_)) => Some(Class::Added),
            (Unseen, Judged(_)) => Some(Class::SeenAgain),
            (Out | Absent | Unseen, Out | Absent | Unseen) => None,
        }
    }
}

/// One side, ready for look-ups.
struct Index<'a> {
    members: HashMap<(&'a str, &'a str), &'a MemberState>,
    /// The rules with a check, by source.
    rules: BTreeSet<(&'a str, &'a str)>,
    sources: HashMap<&'a str, &'a SourcePopulation>,
}

impl<'a> Index<'a> {
    fn of(snapshot: &'a Snapshot) -> Index<'a> {
        let member = |member: &'a MemberState| ((&*member.source, &*member.name), member);
        Index {
            members: snapshot.members.rows.iter().map(member).collect(),
            rules: snapshot.checks.rows.iter().map(|check| (&*check.source, &*check.rule)).collect(),
            sources: snapshot.sources.iter().map(|source| (source.source.as_str(), source)).collect(),
        }
    }

    /// Why this side has no such check. `name`: what this side calls the subject.
    fn without(&self, source: &str, rule: &str, name: Option<&str>) -> Side {
        let Some(population) = self.sources.get(source) else { return Side::Out };
        if population.scope == Scope::Unreached {
            return Side::Unseen;
        }
        let member = name.and_then(|name| self.members.get(&(source, name)));
        if member.is_some_and(|member| !member.in_scope) || !self.rules.contains(&(source, rule)) {
            return Side::Out;
        }
        match population.scope {
            Scope::Whole => Side::Absent,
            Scope::Chosen if population.host_total == Some(population.listed) => Side::Absent,
            Scope::Chosen => Side::Out,
            Scope::Partial | Scope::Unconfirmed | Scope::Unreached => Side::Unseen,
        }
    }
}

/// The names that both sides know by the same identifier: of each source, from a name on one side to the name on the
/// other. A name whose identifier differs belongs to something else.
fn renames<'a>(from: &'a Snapshot, to: &Index<'a>) -> HashMap<(&'a str, &'a str), Option<&'a str>> {
    let mut by_id: HashMap<(&str, &str), &MemberState> = HashMap::new();
    for member in to.members.values() {
        if let Some(id) = &member.id {
            by_id.insert((&*member.source, &**id), member);
        }
    }
    let with_id = from.members.rows.iter().filter_map(|member| Some((member, member.id.as_deref()?)));
    with_id
        .filter_map(|(member, id)| {
            let key = (&*member.source, &*member.name);
            if let Some(same) = by_id.get(&(&*member.source, id)) {
                return Some((key, Some(&*same.name)));
            }
            // A side without identifiers is matched by name.
            let namesake = to.members.get(&key)?;
            namesake.id.is_some().then_some((key, None))
        })
        .collect()
}

/// The most urgent check of each source, rule and subject.
fn worst(checks: &[CheckState]) -> BTreeMap<[&str; 3], &CheckState> {
    let mut worst: BTreeMap<[&str; 3], &CheckState> = BTreeMap::new();
    for check in checks {
        match worst.entry([&check.source, &check.rule, &check.subject]) {
            Entry::Vacant(place) => _ = place.insert(check),
            Entry::Occupied(mut known) if check.status.urgency() < known.get().status.urgency() => {
                known.insert(check);
            }
            Entry::Occupied(_) => {}
        }
    }
    worst
}

/// Compares two bundles. Subjects are matched by their source's identifier where both have one, otherwise by name.
pub fn difference<'a>(from: &'a Snapshot, to: &'a Snapshot) -> Difference<'a> {
    let (old, new) = (Index::of(from), Index::of(to));
    let (forward, backward) = (renames(from, &new), renames(to, &old));
    let (before, mut after) = (worst(&from.checks.rows), worst(&to.checks.rows));
    let mut found = Difference::default();
    let mut add = |sides: (Side, Side), from: Option<&'a CheckState>, to: Option<&'a CheckState>| {
        let reason = |check: Option<&'a CheckState>| check.map(|check| &*check.reason);
        let other =
            (from.is_some() && to.is_some() && reason(from) != reason(to)).then_some(Class::OtherReason);
        match Class::of(sides.0, sides.1).or(other) {
            Some(class) => found.checks.push(CheckDifference { class, from, to }),
            None => found.unchanged = found.unchanged.saturating_add(1),
        }
    };
    for ([source, rule, subject], check) in before {
        let name = forward.get(&(source, subject)).copied().unwrap_or(Some(subject));
        match name.and_then(|name| after.remove(&[source, rule, name])) {
            Some(now) => add((check.side(), now.side()), Some(check), Some(now)),
            None => add((check.side(), new.without(source, rule, name)), Some(check), None),
        }
    }
    for ([source, rule, subject], check) in after {
        let name = backward.get(&(source, subject)).copied().unwrap_or(Some(subject));
        add((old.without(source, rule, name), check.side()), None, Some(check));
    }
    let key = |one: &CheckDifference<'a>| {
        one.to.or(one.from).map(|check| (&*check.source, &*check.rule, &*check.subject))
    };
    found.checks.sort_by(|a, b| key(a).cmp(&key(b)));
    found
}

#[cfg(test)]
mod tests;
