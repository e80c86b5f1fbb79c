//! Two bundles side by side: which controls and checks changed, and which artifacts came, went or changed.

use std::collections::{BTreeMap, HashMap};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::io::Read;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::Status;
use evidence_bundle::document::{Check, Normalized, NormalizedControl};
use evidence_bundle::path::{MANIFEST, NORMALIZED};
use http::StatusCode;
use serde::de::IgnoredAny;

use super::reading::{First, Fold, Folded, Neat, each_artifact};
use super::words::{self, Moment, Shown, neat, neatened, number, shown};
use super::{Frame, page};
use crate::api::App;
use crate::api::input::{Id, Parameters};
use crate::bounded;
use crate::error::Error;
use crate::facts::Facts;
use crate::principal::Principal;
use crate::store::BundleRow;

#[derive(Template)]
#[template(path = "compare.html")]
struct ComparePage {
    frame: Frame,
    from: Side,
    to: Side,
    /// What makes a comparison say less than it seems.
    cautions: Vec<String>,
    controls: Vec<ControlChange>,
    groups: Vec<Group<CheckChange>>,
    artifacts: Vec<Group<Path>>,
    unchanged: String,
    /// Whether there is a judgement in both, so that they can be compared.
    judged: bool,
    /// Whether there is a list of artifacts in both.
    listed: bool,
    numbers: Vec<Number>,
}

/// A number of both bundles.
struct Number {
    name: &'static str,
    from: String,
    to: String,
    changed: bool,
}

/// The path of an artifact. The verifier lets no other than plain characters into one.
struct Path(String);

/// A bundle as the heads of the columns show it.
struct Side {
    id: String,
    collected: Moment,
    subject: String,
    complete: bool,
}

struct ControlChange {
    id: String,
    title: String,
    from: Option<Shown>,
    to: Option<Shown>,
    changed: bool,
}

struct CheckChange {
    control: String,
    source: String,
    rule: String,
    subject: String,
    from: Option<Shown>,
    to: Option<Shown>,
}

impl Neat for CheckChange {
    fn neaten(&mut self) {
        for text in [&mut self.control, &mut self.source, &mut self.rule, &mut self.subject] {
            neat(text);
        }
    }
}

impl Neat for Path {
    fn neaten(&mut self) {}
}

/// Changes of one kind.
struct Group<T> {
    name: &'static str,
    count: String,
    items: Vec<T>,
    more: Option<String>,
}

/// Which check it is: control, source, rule and subject.
type Key = [String; 4];

/// What a check says: its status, and a number that is another one where the reason or what was found is.
type Found = (Status, u64);

/// What every check of a control says. Of two checks with one name the worse counts.
#[derive(Debug, Default)]
struct Statuses(BTreeMap<[String; 3], Found>);

impl Fold for Statuses {
    type Item = Check;

    fn take(&mut self, check: Check) {
        let mut hasher = DefaultHasher::new();
        (&check.reason, &check.actual).hash(&mut hasher);
        let found = (check.status, hasher.finish());
        let known = self.0.entry([check.source, check.rule, check.subject]).or_insert(found);
        if urgency(check.status) < urgency(known.0) {
            *known = found;
        }
    }
}

/// What needs attention first orders first.
fn urgency(status: Status) -> u8 {
    match status {
        Status::Fail => 0,
        Status::NotVerifiable => 1,
        Status::Pass => 2,
        Status::NotApplicable => 3,
    }
}

type Judgement = Normalized<Vec<NormalizedControl<Folded<Statuses>, IgnoredAny>>>;

/// What is read of a bundle.
#[derive(Default)]
struct Contents {
    judgement: Option<Judgement>,
    /// The checksums of the artifacts.
    artifacts: BTreeMap<String, String>,
    listed: bool,
}

/// The page.
///
/// # Errors
/// [`Error::Invalid`], [`Error::NotFound`], [`Error::Refused`], [`Error::Unavailable`], [`Error::Internal`].
pub async fn compare(
    State(app): State<App>,
    principal: Principal,
    mut parameters: Parameters,
) -> Result<Response, Error> {
    let missing =
        || Error::Invalid("choose two bundles: one from which, and one to which they are compared".into());
    let from = parameters.one("from")?.ok_or_else(missing)?;
    let to = parameters.one("to")?.ok_or_else(missing)?;
    parameters.end()?;
    let (Id(from), Id(to)) = (Id::parse(from)?, Id::parse(to)?);
    let from = app.service.bundle(&principal, &from).await?;
    let to = app.service.bundle(&principal, &to).await?;
    // One turn for both, so that nobody waits with one bundle in memory for the other.
    let viewer = app.service.viewer(&principal).await?;
    let before = viewer.inspect(&principal, &from, read).await?;
    let after = viewer.inspect(&principal, &to, read).await?;
    let frame = Frame::of(&principal);
    viewer.work(move || page(StatusCode::OK, &compared(frame, from, to, before, after))).await?
}

fn compared(frame: Frame, from: BundleRow, to: BundleRow, before: Contents, after: Contents) -> ComparePage {
    let cautions = cautions(&from, &to, &before, &after);
    let numbers = numbers(&from, &to);
    let listed = before.listed && after.listed;
    let artifacts = if listed { artifacts(before.artifacts, &after.artifacts) } else { Vec::new() };
    let judged = before.judgement.is_some() && after.judgement.is_some();
    let (controls, groups, unchanged) = match (before.judgement, after.judgement) {
        (Some(before), Some(after)) => judgements(before.controls, after.controls),
        _ => Default::default(),
    };
    ComparePage {
        frame,
        from: side(from),
        to: side(to),
        cautions,
        controls,
        groups,
        artifacts,
        unchanged: words::counted(unchanged, "check"),
        judged,
        listed,
        numbers,
    }
}

fn numbers(from: &BundleRow, to: &BundleRow) -> Vec<Number> {
    let (old, new) = (&from.facts, &to.facts);
    let hints = |facts: &Facts| {
        let hints = facts.judgement.as_ref().map(|judgement| judgement.hints)?;
        let counts = [hints.critical, hints.high, hints.medium, hints.low, hints.info];
        Some(counts.into_iter().fold(0, u64::saturating_add))
    };
    let number = |name, from: Option<u64>, to: Option<u64>| {
        let text = |count: Option<u64>| count.map_or_else(|| "not known".to_owned(), number);
        Number { name, changed: from != to, from: text(from), to: text(to) }
    };
    vec![
        number("Could not be collected", Some(old.errors), Some(new.errors)),
        number("Left out as forbidden data", Some(old.excluded), Some(new.excluded)),
        number("Warnings", Some(old.warnings), Some(new.warnings)),
        number("Hints", hints(old), hints(new)),
    ]
}

fn read(seen: &mut Contents, path: &str, contents: &mut dyn Read) -> std::io::Result<()> {
    match path {
        MANIFEST => {
            let artifacts = &mut seen.artifacts;
            let read = each_artifact(contents, |artifact| {
                artifacts.insert(artifact.filename, artifact.checksum);
            });
            seen.listed = read.is_some();
        }
        NORMALIZED => seen.judgement = bounded::json(contents),
        _ => {}
    }
    Ok(())
}

fn side(bundle: BundleRow) -> Side {
    Side {
        id: bundle.id,
        collected: Moment::of(bundle.collected_at),
        subject: neatened(&bundle.facts.organization),
        complete: bundle.facts.complete,
    }
}

fn cautions(from: &BundleRow, to: &BundleRow, before: &Contents, after: &Contents) -> Vec<String> {
    let (old, new) = (&from.facts, &to.facts);
    let mut cautions = Vec::new();
    let mut differ = |what: &str, old: &str, new: &str| {
        if old != new {
            cautions.push(format!("{what}: {}, then {}.", neatened(old), neatened(new)));
        }
    };
    differ("They are about different organizations", &old.organization, &new.organization);
    differ("The frameworks differ", &old.framework, &new.framework);
    differ("Other controls were asked for", &old.controls.join(", "), &new.controls.join(", "));
    differ("Other sources were asked", &old.sources.join(", "), &new.sources.join(", "));
    differ("Different versions of the tool judged", &old.tool_version, &new.tool_version);
    differ("Different keys signed", &old.key_id, &new.key_id);
    if from.collected_at > to.collected_at {
        cautions.push("The first was collected after the second.".to_owned());
    }
    for (name, contents) in [("first", before), ("second", after)] {
        if contents.judgement.is_none() || !contents.listed {
            cautions.push(format!(
                "The {name} has documents of a form that this platform does not know, so they are not compared."
            ));
        }
    }
    cautions
}

type Controls = Vec<NormalizedControl<Folded<Statuses>, IgnoredAny>>;

/// What changed between two judgements, and how many checks did not.
fn judgements(before: Controls, after: Controls) -> (Vec<ControlChange>, Vec<Group<CheckChange>>, u64) {
    let mut order = Vec::new();
    let mut controls: HashMap<String, ControlChange> = HashMap::new();
    let mut checks: BTreeMap<Key, (Option<Found>, Option<Found>)> = BTreeMap::new();
    for (new, side) in [(false, before), (true, after)] {
        for control in side {
            let known = controls.entry(control.id.clone()).or_insert_with(|| {
                order.push(control.id.clone());
                let (id, title) = (neatened(&control.id), neatened(&control.title));
                ControlChange { id, title, from: None, to: None, changed: false }
            });
            let status = Some(shown(control.status));
            if new {
                known.to = status
            } else {
                known.from = status
            }
            for ([source, rule, subject], found) in control.checks.0.0 {
                let change = checks.entry([control.id.clone(), source, rule, subject]).or_default();
                if new { change.1 = Some(found) } else { change.0 = Some(found) }
            }
        }
    }
    let mut changes: Vec<ControlChange> = order.iter().filter_map(|id| controls.remove(id)).collect();
    for control in &mut changes {
        control.changed = control.from.map(|shown| shown.class) != control.to.map(|shown| shown.class);
    }
    let mut kinds: [First<CheckChange>; KINDS.len()] = Default::default();
    let mut unchanged = 0_u64;
    for ([control, source, rule, subject], (from, to)) in checks {
        let Some(kind) = kind(from, to) else {
            unchanged = unchanged.saturating_add(1);
            continue;
        };
        let side = |found: Option<Found>| found.map(|(status, _)| shown(status));
        if let Some(group) = kinds.get_mut(kind) {
            group.push(CheckChange { control, source, rule, subject, from: side(from), to: side(to) });
        }
    }
    let groups = KINDS.into_iter().zip(kinds).filter_map(|(name, first)| group(name, first));
    (changes, groups.collect(), unchanged)
}

/// The kinds of changes, those that need attention first.
const KINDS: [&str; 6] = [
    "Fails now",
    "Fails no more",
    "Changed otherwise",
    "Was not there before",
    "Is not there any more",
    "The same result for another reason, or with something else found",
];

/// Which kind of change it is; `None` if it is none.
fn kind(from: Option<Found>, to: Option<Found>) -> Option<usize> {
    let status = |found: Option<Found>| found.map(|(status, _)| status);
    match (status(from), status(to)) {
        _ if from == to => None,
        (old, new) if old == new => Some(5),
        // Also where nobody looked before.
        (_, Some(Status::Fail)) => Some(0),
        // A check that can no longer be verified is not repaired.
        (Some(Status::Fail), Some(Status::Pass | Status::NotApplicable)) => Some(1),
        (Some(_), Some(_)) => Some(2),
        (None, _) => Some(3),
        (Some(_), None) => Some(4),
    }
}

fn artifacts(before: BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Group<Path>> {
    let mut kinds: [First<Path>; 3] = Default::default();
    let [changed, added, gone] = &mut kinds;
    for (path, checksum) in after {
        match before.get(path) {
            None => added.push(Path(path.clone())),
            Some(old) if old != checksum => changed.push(Path(path.clone())),
            Some(_) => {}
        }
    }
    for (path, _) in before.into_iter().filter(|(path, _)| !after.contains_key(path)) {
        gone.push(Path(path));
    }
    let names = ["Changed", "Added", "Gone"];
    names.into_iter().zip(kinds).filter_map(|(name, first)| group(name, first)).collect()
}

/// `None` if there is nothing in it.
fn group<T>(name: &'static str, first: First<T>) -> Option<Group<T>> {
    let (count, more) = (first.count(), first.rest());
    (count > 0).then(|| Group { name, count: number(count), items: first.items, more })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_has_its_kind() {
        use Status::{Fail, NotApplicable, NotVerifiable, Pass};
        let all = [None, Some(Pass), Some(Fail), Some(NotVerifiable), Some(NotApplicable)];
        let expected = [
            // none, pass, fail, not verifiable, not applicable
            [None, Some(3), Some(0), Some(3), Some(3)],
            [Some(4), None, Some(0), Some(2), Some(2)],
            [Some(4), Some(1), None, Some(2), Some(1)],
            [Some(4), Some(2), Some(0), None, Some(2)],
            [Some(4), Some(2), Some(0), Some(2), None],
        ];
        for (from, row) in all.iter().zip(expected) {
            for (to, expected) in all.iter().zip(row) {
                let found = |status: &Option<Status>, details| status.map(|status| (status, details));
                assert_eq!(kind(found(from, 1), found(to, 1)), expected, "{from:?} {to:?}");
                let otherwise = if from == to { from.map(|_| 5) } else { expected };
                assert_eq!(kind(found(from, 1), found(to, 2)), otherwise, "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn artifacts_come_go_and_change() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(path, sum)| ((*path).to_owned(), (*sum).to_owned())).collect()
        };
        let groups = artifacts(
            map(&[("a", "1"), ("b", "1"), ("c", "1")]),
            &map(&[("b", "2"), ("c", "1"), ("d", "1")]),
        );
        let seen: Vec<_> = groups
            .iter()
            .map(|group| {
                (group.name, group.items.iter().map(|path| path.0.as_str()).collect::<Vec<_>>().join(" "))
            })
            .collect();
        assert_eq!(seen, [("Changed", "b".into()), ("Added", "d".into()), ("Gone", "a".into())]);
    }
}
