//! Everything that `evidence diff` says about two bundles: the context first, then the checks by class, then artifacts
//! and counts.

mod waivers;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io;

use evidence_bundle::document::{Counts, RunRecord, ScopeRecord};
use evidence_bundle::read::{Row, Sink};
use evidence_bundle::{Status, VerifiedBundle};
use serde::Serialize;

use crate::difference::{CheckDifference, CheckState, Class, Difference, Snapshot, difference};
use crate::history::span;
use crate::scope::sentence;
use crate::waivers::{Waivers, WaiversReader, key};

pub use waivers::{WaiverChange, WaiverTerms};

/// What a bundle says that is compared.
#[derive(Debug, Default)]
pub struct Side {
    pub(crate) snapshot: Snapshot,
    pub(crate) run: Option<RunRecord>,
    pub(crate) scope: Option<ScopeRecord>,
    /// The checksum of each artifact by its path.
    artifacts: BTreeMap<String, String>,
    waivers: WaiversReader,
}

impl Side {
    /// Whether every document has the known form.
    pub fn known(&self) -> bool {
        self.run.is_some() && self.scope.is_some()
    }

    /// The name of each source, and the address of its API.
    pub fn addresses<T: FromIterator<(String, String)>>(&self) -> T {
        let sources = self.run.iter().flat_map(|run| &run.sources);
        sources.map(|source| (source.name.clone(), source.api_url.clone())).collect()
    }
}

impl Sink for Side {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match row {
            Row::Artifact(artifact) => {
                self.artifacts.insert(artifact.filename.clone(), artifact.checksum.clone());
            }
            Row::Run(run) => self.run = Some(run.clone()),
            Row::Scope(scope) => self.scope = Some(scope.clone()),
            _ => {}
        }
        self.waivers.row(row)?;
        self.snapshot.row(row)
    }
}

/// How two bundles differ, in the names of `evidence diff --json`. A field is never renamed.
#[derive(Debug, Serialize)]
pub struct Diff {
    /// The bundle on the left.
    pub from: Head,
    /// The bundle on the right.
    pub to: Head,
    /// How the bundles are related in the row: `same`, `follows`, `followed_by` or `apart`.
    pub chain: &'static str,
    /// The seconds from one to the other.
    pub seconds: i64,
    /// What differs although it is not a result.
    pub context: Vec<ContextChange>,
    /// The subjects that have another name.
    pub renamed: Vec<Renamed>,
    /// The number of checks in each class.
    pub classes: BTreeMap<&'static str, u64>,
    /// The checks that differ.
    pub checks: Vec<CheckChange>,
    /// The number of checks that do not differ.
    pub unchanged: u64,
    /// The waivers that differ. They change no result.
    pub waivers: Vec<WaiverChange>,
    /// The artifacts.
    pub artifacts: Artifacts,
    /// The counts of each control.
    pub controls: Vec<ControlCounts>,
}

/// One of the bundles.
#[derive(Debug, Serialize)]
pub struct Head {
    /// The id of the bundle.
    pub bundle_id: String,
    /// When it was made, as its signer claims.
    pub created_at: String,
    /// The SHA-256 of its list of checksums.
    pub checksums_sha256: String,
    /// Whether everything that was asked for was collected.
    pub complete: bool,
}

/// What differs although it is not a result.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct ContextChange {
    /// What: `organization`, `framework`, `population`, `tool`, `rules`, `settings`, `configuration`, `identity`, `cadence`,
    /// `key` or `complete`.
    pub change: &'static str,
    /// On the left.
    pub was: String,
    /// On the right.
    pub is: String,
}

/// A subject with another name.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Renamed {
    /// The source.
    pub source: String,
    /// The name on the left.
    pub was: String,
    /// The name on the right.
    pub is: String,
}

/// A check that differs.
#[derive(Debug, Serialize)]
pub struct CheckChange {
    /// How.
    pub class: &'static str,
    /// The control.
    pub control: String,
    /// The source.
    pub source: String,
    /// The rule.
    pub rule: String,
    /// The subject, as the right side names it, or else the left.
    pub subject: String,
    /// The result on the left, if there is one.
    pub from: Option<Outcome>,
    /// The result on the right, if there is one.
    pub to: Option<Outcome>,
}

/// The result of a check.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Outcome {
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// The id of the waiver that accepts the failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiver: Option<String>,
}

/// The artifacts by checksum.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Artifacts {
    /// Only on the right.
    pub added: Vec<String>,
    /// Only on the left.
    pub removed: Vec<String>,
    /// On both sides, with another checksum.
    pub changed: Vec<String>,
}

/// The counts of a control's checks.
#[derive(Debug, Serialize)]
pub struct ControlCounts {
    /// The control.
    pub control: String,
    /// On the left.
    pub from: Counts,
    /// On the right.
    pub to: Counts,
}

/// The classes, the most urgent first, with their codes and headings.
pub const CLASSES: [(Class, &str, &str); 12] = [
    (Class::Regression, "regression", "Regression: passed, now fails"),
    (Class::FirstFailure, "first_failure", "First failure: new or newly applicable, fails"),
    (Class::LostSight, "lost_sight", "Lost sight: no longer verifiable"),
    (Class::LeftScope, "left_scope", "Left the scope"),
    (Class::Gone, "gone", "Gone"),
    (Class::NoLongerApplies, "no_longer_applies", "No longer applicable"),
    (Class::Repaired, "recovered", "Recovered: failed, now passes"),
    (Class::SeenAgain, "seen_again", "Seen again: verifiable again"),
    (Class::EnteredScope, "came_into_scope", "Came into the scope"),
    (Class::Added, "new", "New"),
    (Class::Applies, "applies", "Applicable now"),
    (Class::OtherReason, "changed_reason", "Same result, another reason"),
];

fn code(class: Class) -> &'static str {
    CLASSES.iter().find(|(known, ..)| *known == class).map_or("", |(_, code, _)| code)
}

impl Diff {
    /// Compares two verified bundles.
    pub fn of((from, left): (&VerifiedBundle, &Side), (to, right): (&VerifiedBundle, &Side)) -> Diff {
        let found = difference(&left.snapshot, &right.snapshot);
        let controls = controls(left, right);
        let (classes, checks) = changes(&found, &controls, [Some(left), Some(right)]);
        Diff {
            from: head(from),
            to: head(to),
            chain: chain(from, to),
            seconds: to.created_at.saturating_sub(from.created_at),
            context: context((from, left), (to, right)),
            renamed: renamed(&left.snapshot, &right.snapshot),
            classes,
            checks,
            unchanged: found.unchanged,
            waivers: waivers::changes(left.waivers.waivers.as_ref(), right.waivers.waivers.as_ref()),
            artifacts: artifacts(left, right),
            controls: counts(left, right, &controls),
        }
    }

    /// The number of checks in a class.
    pub fn count(&self, class: Class) -> u64 {
        self.classes.get(code(class)).copied().unwrap_or_default()
    }

    /// How far apart the bundles are, in words.
    pub fn distance(&self) -> String {
        let length = span(self.seconds.saturating_abs());
        match (self.chain, self.seconds) {
            ("same", _) => "the same bundle".to_owned(),
            ("follows", _) => format!("{length} later, and follows it"),
            ("followed_by", _) => format!("{length} earlier: the first follows the second"),
            (_, ..0) => format!("{length} earlier"),
            (_, _) => format!("{length} later"),
        }
    }
}

/// The control of each source and rule.
pub(crate) type Controls = BTreeMap<(String, String), String>;

/// The number of checks in each class, and the checks that differ, the most urgent class first. With the sides, each result
/// has its waiver.
pub(crate) fn changes(
    found: &Difference<'_>,
    controls: &Controls,
    sides: [Option<&Side>; 2],
) -> (BTreeMap<&'static str, u64>, Vec<CheckChange>) {
    let mut classes: BTreeMap<&'static str, u64> = CLASSES.iter().map(|(_, code, _)| (*code, 0)).collect();
    for check in &found.checks {
        let count = classes.entry(code(check.class)).or_default();
        *count = count.saturating_add(1);
    }
    let mut checks: Vec<(usize, CheckChange)> =
        found.checks.iter().filter_map(|check| change(check, controls, sides)).collect();
    checks.sort_by_key(|(urgency, _)| *urgency);
    (classes, checks.into_iter().map(|(_, check)| check).collect())
}

fn head(bundle: &VerifiedBundle) -> Head {
    Head {
        bundle_id: bundle.bundle_id.clone(),
        created_at: evidence_bundle::time::format(bundle.created_at).unwrap_or_default(),
        checksums_sha256: hex::encode(bundle.checksums_sha256),
        complete: bundle.complete,
    }
}

fn chain(from: &VerifiedBundle, to: &VerifiedBundle) -> &'static str {
    let follows = |one: &VerifiedBundle, other: &VerifiedBundle| {
        let digest = hex::encode(other.checksums_sha256);
        one.previous.as_ref().is_some_and(|previous| previous.checksums_sha256 == digest)
    };
    if from.checksums_sha256 == to.checksums_sha256 {
        "same"
    } else if follows(to, from) {
        "follows"
    } else if follows(from, to) {
        "followed_by"
    } else {
        "apart"
    }
}

fn context(
    (from, left): (&VerifiedBundle, &Side),
    (to, right): (&VerifiedBundle, &Side),
) -> Vec<ContextChange> {
    let mut changes = Vec::new();
    let mut add = |change, was: String, is: String| {
        if was != is {
            changes.push(ContextChange { change, was, is });
        }
    };
    add("organization", from.organization.clone(), to.organization.clone());
    add("framework", from.framework.clone(), to.framework.clone());
    add("complete", yes(from.complete), yes(to.complete));
    add("population", population(from), population(to));
    if let (Some(was), Some(is)) = (&left.run, &right.run) {
        let tool = |run: &RunRecord| format!("{} {}", run.tool.name, run.tool.version);
        add("tool", tool(was), tool(is));
    }
    if let (Some(was), Some(is)) = (&left.scope, &right.scope) {
        add("rules", only_rules(was, is), only_rules(is, was));
        let cadence = |scope: &ScopeRecord| scope.cadence.map_or("none".to_owned(), |it| it.to_string());
        add("cadence", cadence(was), cadence(is));
    }
    if let (Some(was), Some(is)) = (&left.run, &right.run) {
        add("configuration", was.config.sha256.clone(), is.config.sha256.clone());
        add("identity", identity(was), identity(is));
    }
    add("key", from.key_id.to_string(), to.key_id.to_string());
    changes
}

fn yes(is: bool) -> String {
    if is { "yes" } else { "no" }.to_owned()
}

fn population(bundle: &VerifiedBundle) -> String {
    bundle.populations.iter().map(sentence).collect::<Vec<_>>().join("; ")
}

/// The rules that only the first applies, or applies in another version.
fn only_rules(scope: &ScopeRecord, other: &ScopeRecord) -> String {
    let all = |scope: &ScopeRecord| -> BTreeSet<String> {
        let rules = scope.rules.iter();
        rules.map(|rule| rule_name(&rule.source, &rule.code, rule.version)).collect()
    };
    only(&all(scope), &all(other))
}

/// A rule in one version, in words.
pub(crate) fn rule_name(source: &str, code: &str, version: u32) -> String {
    format!("{source} {code} version {version}")
}

/// What only the first list has, in words.
pub(crate) fn only(own: &BTreeSet<String>, others: &BTreeSet<String>) -> String {
    own.difference(others).cloned().collect::<Vec<_>>().join(", ")
}

fn identity(run: &RunRecord) -> String {
    let sources = run.sources.iter().map(|source| {
        let identity = &source.identity;
        let name = identity.login.as_deref().or(identity.id.as_deref()).unwrap_or("not reported");
        format!("{}: {name}", source.name)
    });
    sources.collect::<Vec<_>>().join("; ")
}

/// The members that both sides know by the same identifier and different names.
fn renamed(left: &Snapshot, right: &Snapshot) -> Vec<Renamed> {
    let with_id = |snapshot: &'_ Snapshot| -> Vec<(String, String, String)> {
        let rows = snapshot.members.rows.iter();
        rows.filter_map(|member| {
            Some((member.source.to_string(), member.id.as_deref()?.to_owned(), member.name.to_string()))
        })
        .collect()
    };
    let names: HashMap<(String, String), String> =
        with_id(left).into_iter().map(|(source, id, name)| ((source, id), name)).collect();
    let mut renamed: Vec<Renamed> = with_id(right)
        .into_iter()
        .filter_map(|(source, id, is)| {
            let was = names.get(&(source.clone(), id))?.clone();
            (was != is).then_some(Renamed { source, was, is })
        })
        .collect();
    renamed.sort();
    renamed
}

/// The control of each source and rule; the right side wins.
fn controls(left: &Side, right: &Side) -> Controls {
    let rules =
        [left, right].into_iter().filter_map(|side| side.scope.as_ref()).flat_map(|scope| &scope.rules);
    rules.map(|rule| ((rule.source.clone(), rule.code.clone()), rule.control.clone())).collect()
}

fn control_of(check: &CheckState, controls: &Controls) -> String {
    controls.get(&(check.source.to_string(), check.rule.to_string())).cloned().unwrap_or_default()
}

fn change(
    found: &CheckDifference<'_>,
    controls: &Controls,
    [left, right]: [Option<&Side>; 2],
) -> Option<(usize, CheckChange)> {
    let one = found.to.or(found.from)?;
    let outcome = |check: &CheckState, side: Option<&Side>| Outcome {
        status: check.status,
        reason: check.reason.to_string(),
        waiver: side.and_then(|side| waiver(side.waivers.waivers.as_ref()?, check, controls)),
    };
    let (urgency, (_, class, _)) =
        CLASSES.iter().enumerate().find(|(_, (class, ..))| *class == found.class)?;
    let change = CheckChange {
        class,
        control: control_of(one, controls),
        source: one.source.to_string(),
        rule: one.rule.to_string(),
        subject: one.subject.to_string(),
        from: found.from.map(|check| outcome(check, left)),
        to: found.to.map(|check| outcome(check, right)),
    };
    Some((urgency, change))
}

/// The id of the waiver that accepts this failure.
fn waiver(waivers: &Waivers, check: &CheckState, controls: &Controls) -> Option<String> {
    let control = control_of(check, controls);
    let waiver = waivers.of(key(&control, &check.source, &check.rule, &check.subject))?;
    (check.status == Status::Fail && waiver.is_applied()).then(|| waiver.record.id.clone())
}

fn artifacts(left: &Side, right: &Side) -> Artifacts {
    let (left, right) = (&left.artifacts, &right.artifacts);
    let only = |one: &BTreeMap<String, String>, other: &BTreeMap<String, String>| {
        one.keys().filter(|path| !other.contains_key(*path)).cloned().collect()
    };
    let changed = left.iter().filter(|(path, digest)| right.get(*path).is_some_and(|other| other != *digest));
    Artifacts {
        added: only(right, left),
        removed: only(left, right),
        changed: changed.map(|(path, _)| path.clone()).collect(),
    }
}

fn counts(left: &Side, right: &Side, controls: &Controls) -> Vec<ControlCounts> {
    let mut all: BTreeMap<String, [Counts; 2]> = BTreeMap::new();
    for (index, side) in [left, right].into_iter().enumerate() {
        for check in &side.snapshot.checks.rows {
            let both = all.entry(control_of(check, controls)).or_default();
            if let Some(counts) = both.get_mut(index) {
                counts.add(check.status);
            }
        }
    }
    all.into_iter().map(|(control, [from, to])| ControlCounts { control, from, to }).collect()
}
