//! Compares two bundles: which controls and checks changed, and which artifacts were added, removed or changed.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io;
use std::sync::Arc;

use evidence_bundle::Status;
use evidence_bundle::document::Check;
use evidence_bundle::read::{ControlHead, Row, Sink};

use crate::overview::Overview;
use crate::rows::Truncated;
use crate::sanitize::{Sanitize, sanitized};

/// The parts of a bundle that are compared.
#[derive(Debug, Default)]
pub struct Comparable {
    controls: Vec<(ControlHead, Statuses)>,
    /// The checks of the control that is being read.
    checks: Statuses,
    /// The checksum of each artifact.
    artifacts: BTreeMap<String, String>,
}

/// How many characters of a check's actual value to keep.
const FOUND_CHARACTERS: usize = 300;

/// The result of a check.
#[derive(Debug, Clone)]
struct Finding {
    status: Status,
    /// A hash of the reason and the complete actual value.
    hash: u64,
    reason: Arc<str>,
    /// The beginning of the actual value.
    actual: Option<Box<str>>,
}

impl PartialEq for Finding {
    fn eq(&self, other: &Finding) -> bool {
        (self.status, self.hash) == (other.status, other.hash)
    }
}

/// The results of a control's checks, by source, rule and subject. Of two checks with the same name the worse
/// counts.
#[derive(Debug, Default)]
struct Statuses {
    findings: BTreeMap<[String; 3], Finding>,
    /// The reasons, each stored once.
    reasons: BTreeSet<Arc<str>>,
}

impl Statuses {
    fn take(&mut self, check: &Check) {
        let mut hasher = DefaultHasher::new();
        (&check.reason, &check.actual).hash(&mut hasher);
        let reason = match self.reasons.get(check.reason.as_str()) {
            Some(known) => Arc::clone(known),
            None => {
                let reason: Arc<str> = check.reason.as_str().into();
                self.reasons.insert(Arc::clone(&reason));
                reason
            }
        };
        let actual = check.actual.as_deref().map(|text| text.chars().take(FOUND_CHARACTERS).collect());
        let finding = Finding { status: check.status, hash: hasher.finish(), reason, actual };
        match self.findings.entry([check.source.clone(), check.rule.clone(), check.subject.clone()]) {
            Entry::Vacant(place) => _ = place.insert(finding),
            Entry::Occupied(mut known) if finding.status.urgency() < known.get().status.urgency() => {
                known.insert(finding);
            }
            Entry::Occupied(_) => {}
        }
    }
}

impl Sink for Comparable {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        match row {
            Row::Artifact(artifact) => {
                self.artifacts.insert(artifact.filename.clone(), artifact.checksum.clone());
            }
            Row::Check(check) => self.checks.take(check),
            Row::ControlEnd(head) => {
                self.controls.push((head.clone(), std::mem::take(&mut self.checks)));
            }
            _ => {}
        }
        Ok(())
    }
}

/// What changed from one bundle to another.
#[derive(Debug)]
pub struct Comparison {
    /// Why the two are not directly comparable.
    pub cautions: Vec<String>,
    /// Every control of either.
    pub controls: Vec<ControlChange>,
    /// The checks that changed.
    pub checks: CheckChanges,
    /// The changed artifacts by kind of change, without empty groups.
    pub artifacts: Vec<(ArtifactChange, Truncated<ArtifactPath>)>,
    /// Counts of both.
    pub counts: Vec<CountChange>,
}

/// The status of a control in both; `None` if it is absent.
#[derive(Debug)]
pub struct ControlChange {
    /// Its identifier.
    pub id: String,
    /// Its title.
    pub title: String,
    /// In the first bundle.
    pub from: Option<Status>,
    /// In the second bundle.
    pub to: Option<Status>,
}

impl ControlChange {
    /// Whether the status changed.
    pub fn changed(&self) -> bool {
        self.from != self.to
    }
}

/// The checks that changed.
#[derive(Debug, Default)]
pub struct CheckChanges {
    /// The changes by kind, the most urgent first, without empty groups.
    pub groups: Vec<(Change, Truncated<CheckChange>)>,
    /// How many checks did not change.
    pub unchanged: u64,
}

/// The result of a check in one of the bundles, made safe to show.
#[derive(Debug)]
pub struct CheckSide {
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// The beginning of the actual value, if it could be read.
    pub actual: Option<String>,
}

/// A check that changed; a side is `None` if the check is absent.
#[derive(Debug)]
pub struct CheckChange {
    /// Its control.
    pub control: String,
    /// The source of the evidence.
    pub source: String,
    /// Its rule.
    pub rule: String,
    /// What the rule was applied to.
    pub subject: String,
    /// In the first bundle.
    pub from: Option<CheckSide>,
    /// In the second bundle.
    pub to: Option<CheckSide>,
}

impl Sanitize for CheckChange {
    fn sanitize(&mut self) {
        for side in [&mut self.from, &mut self.to].into_iter().flatten() {
            side.reason.sanitize();
            side.actual.sanitize();
        }
        for text in [&mut self.control, &mut self.source, &mut self.rule, &mut self.subject] {
            text.sanitize();
        }
    }
}

/// How a check changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// It failed, and no longer exists: nothing says that it was repaired.
    RemovedFailing,
    /// It fails, and did not before or is new.
    NewlyFailing,
    /// It is not verifiable, and was before or is new.
    NewlyUnreadable,
    /// It failed and now passes or does not apply.
    Fixed,
    /// Another change of status.
    OtherStatus,
    /// It is new, and passes or does not apply.
    Added,
    /// It no longer exists.
    Removed,
    /// The same status, with another reason or actual value.
    Details,
}

impl Change {
    const ALL: [Change; 8] = [
        Change::RemovedFailing,
        Change::NewlyFailing,
        Change::NewlyUnreadable,
        Change::Fixed,
        Change::OtherStatus,
        Change::Added,
        Change::Removed,
        Change::Details,
    ];

    /// The title of the change.
    pub fn title(&self) -> &'static str {
        match self {
            Change::RemovedFailing => "Removed while failing",
            Change::NewlyFailing => "Newly failing",
            Change::NewlyUnreadable => "Newly unreadable",
            Change::Fixed => "Fixed",
            Change::OtherStatus => "Other changes",
            Change::Added => "Added",
            Change::Removed => "Removed",
            Change::Details => "Same status, different reason or finding",
        }
    }

    fn of(from: Option<&Finding>, to: Option<&Finding>) -> Option<Change> {
        let status = |finding: Option<&Finding>| finding.map(|finding| finding.status);
        match (status(from), status(to)) {
            _ if from == to => None,
            (old, new) if old == new => Some(Change::Details),
            (_, Some(Status::Fail)) => Some(Change::NewlyFailing),
            (_, Some(Status::NotVerifiable)) => Some(Change::NewlyUnreadable),
            (Some(Status::Fail), Some(Status::Pass | Status::NotApplicable)) => Some(Change::Fixed),
            (Some(_), Some(_)) => Some(Change::OtherStatus),
            (None, _) => Some(Change::Added),
            (Some(Status::Fail), None) => Some(Change::RemovedFailing),
            (Some(_), None) => Some(Change::Removed),
        }
    }
}

/// The change of an artifact.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArtifactChange {
    /// Its contents changed.
    Changed,
    /// It is new.
    Added,
    /// It no longer exists.
    Removed,
}

impl ArtifactChange {
    /// The title of the change.
    pub fn title(&self) -> &'static str {
        match self {
            ArtifactChange::Changed => "Changed",
            ArtifactChange::Added => "Added",
            ArtifactChange::Removed => "Removed",
        }
    }
}

/// The path of an artifact.
#[derive(Debug, PartialEq, Eq)]
pub struct ArtifactPath(pub String);

impl Sanitize for ArtifactPath {
    /// The verifier allows only plain characters in a path, and a link needs the complete path.
    fn sanitize(&mut self) {}
}

/// A count of both bundles; `None` if it is unknown.
#[derive(Debug)]
pub struct CountChange {
    /// Its title.
    pub title: &'static str,
    /// In the first bundle.
    pub from: Option<u64>,
    /// In the second bundle.
    pub to: Option<u64>,
}

/// Compares two verified bundles.
pub fn compare(from: (&Overview, Comparable), to: (&Overview, Comparable)) -> Comparison {
    let ((old, before), (new, after)) = (from, to);
    let count =
        |title, of: &dyn Fn(&Overview) -> Option<u64>| CountChange { title, from: of(old), to: of(new) };
    let counts = vec![
        count("Collection errors", &|overview| Some(overview.errors)),
        count("Artifacts left out (forbidden data)", &|overview| Some(overview.excluded)),
        count("Warnings", &|overview| Some(overview.warnings)),
        count("Hints", &Overview::hints),
    ];
    let artifacts = artifacts(before.artifacts, &after.artifacts);
    let (controls, checks) = judgements(before.controls, after.controls);
    Comparison { cautions: cautions(old, new), controls, checks, artifacts, counts }
}

fn cautions(old: &Overview, new: &Overview) -> Vec<String> {
    let mut cautions = Vec::new();
    let mut differ = |what: &str, old: &str, new: &str| {
        if old != new {
            cautions.push(format!("Different {what}: {}, then {}.", sanitized(old), sanitized(new)));
        }
    };
    differ("organizations", &old.organization, &new.organization);
    differ("frameworks", &old.framework, &new.framework);
    differ("controls requested", &old.controls.join(", "), &new.controls.join(", "));
    differ("sources", &old.sources.join(", "), &new.sources.join(", "));
    differ("versions of evidence", &old.tool_version, &new.tool_version);
    differ("signing keys", &old.key_id, &new.key_id);
    if old.created_at > new.created_at {
        cautions.push("The first was collected after the second.".to_owned());
    }
    cautions
}

type Controls = Vec<(ControlHead, Statuses)>;

fn judgements(before: Controls, after: Controls) -> (Vec<ControlChange>, CheckChanges) {
    let mut order = Vec::new();
    let mut controls: HashMap<String, ControlChange> = HashMap::new();
    let mut checks: BTreeMap<[String; 4], (Option<Finding>, Option<Finding>)> = BTreeMap::new();
    for (is_new, side) in [(false, before), (true, after)] {
        for (control, statuses) in side {
            let known = controls.entry(control.id.clone()).or_insert_with(|| {
                order.push(control.id.clone());
                let (id, title) = (sanitized(&control.id), sanitized(&control.title));
                ControlChange { id, title, from: None, to: None }
            });
            let status = Some(control.status);
            if is_new {
                known.to = status
            } else {
                known.from = status
            }
            for ([source, rule, subject], finding) in statuses.findings {
                let change = checks.entry([control.id.clone(), source, rule, subject]).or_default();
                if is_new { change.1 = Some(finding) } else { change.0 = Some(finding) }
            }
        }
    }
    let controls = order.iter().filter_map(|id| controls.remove(id)).collect();
    let mut groups = Change::ALL.map(|change| (change, Truncated::default()));
    let mut unchanged = 0_u64;
    for ([control, source, rule, subject], (from, to)) in checks {
        let change = Change::of(from.as_ref(), to.as_ref());
        match groups.iter_mut().find(|(kind, _)| Some(*kind) == change) {
            Some((_, group)) => {
                let side = |Finding { status, reason, actual, .. }| CheckSide {
                    status,
                    reason: String::from(&*reason),
                    actual: actual.map(String::from),
                };
                let (from, to) = (from.map(side), to.map(side));
                group.push(CheckChange { control, source, rule, subject, from, to });
            }
            None => unchanged = unchanged.saturating_add(1),
        }
    }
    (controls, CheckChanges { groups: filled(groups), unchanged })
}

fn artifacts(
    before: BTreeMap<String, String>,
    after: &BTreeMap<String, String>,
) -> Vec<(ArtifactChange, Truncated<ArtifactPath>)> {
    let (mut changed, mut added, mut removed) =
        (Truncated::default(), Truncated::default(), Truncated::default());
    for (path, checksum) in after {
        match before.get(path) {
            None => added.push(ArtifactPath(path.clone())),
            Some(old) if old != checksum => changed.push(ArtifactPath(path.clone())),
            Some(_) => {}
        }
    }
    for (path, _) in before.into_iter().filter(|(path, _)| !after.contains_key(path)) {
        removed.push(ArtifactPath(path));
    }
    filled([
        (ArtifactChange::Changed, changed),
        (ArtifactChange::Added, added),
        (ArtifactChange::Removed, removed),
    ])
}

/// The groups that are not empty.
fn filled<K, T>(groups: impl IntoIterator<Item = (K, Truncated<T>)>) -> Vec<(K, Truncated<T>)> {
    groups.into_iter().filter(|(_, first)| !first.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_has_its_kind() {
        use Change::{Added, Fixed, NewlyFailing, NewlyUnreadable, OtherStatus, Removed, RemovedFailing};
        use Status::{Fail, NotApplicable, NotVerifiable, Pass};
        let all = [None, Some(Pass), Some(Fail), Some(NotVerifiable), Some(NotApplicable)];
        let expected = [
            // none, pass, fail, not verifiable, not applicable
            [None, Some(Added), Some(NewlyFailing), Some(NewlyUnreadable), Some(Added)],
            [Some(Removed), None, Some(NewlyFailing), Some(NewlyUnreadable), Some(OtherStatus)],
            [Some(RemovedFailing), Some(Fixed), None, Some(NewlyUnreadable), Some(Fixed)],
            [Some(Removed), Some(OtherStatus), Some(NewlyFailing), None, Some(OtherStatus)],
            [Some(Removed), Some(OtherStatus), Some(NewlyFailing), Some(NewlyUnreadable), None],
        ];
        for (from, row) in all.iter().zip(expected) {
            for (to, expected) in all.iter().zip(row) {
                let finding = |status: &Option<Status>, hash| {
                    status.map(|status| Finding { status, hash, reason: "ok".into(), actual: None })
                };
                let of = |hash| Change::of(finding(from, 1).as_ref(), finding(to, hash).as_ref());
                assert_eq!(of(1), expected, "{from:?} {to:?}");
                let otherwise = if from == to { from.map(|_| Change::Details) } else { expected };
                assert_eq!(of(2), otherwise, "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn artifacts_are_added_removed_and_changed() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(path, sum)| ((*path).to_owned(), (*sum).to_owned())).collect()
        };
        let groups = artifacts(
            map(&[("a", "1"), ("b", "1"), ("c", "1")]),
            &map(&[("b", "2"), ("c", "1"), ("d", "1")]),
        );
        let seen: Vec<_> =
            groups.iter().map(|(change, paths)| (change.title(), paths.rows[0].0.as_str())).collect();
        assert_eq!(seen, [("Changed", "b"), ("Added", "d"), ("Removed", "a")]);
        assert!(groups.iter().all(|(_, paths)| paths.count() == 1));
    }
}
