//! Two bundles side by side: which controls and checks changed, and which artifacts came, went or changed.

use std::collections::BTreeMap;
use std::io::Read;

use askama::Template;
use axum::extract::State;
use axum::response::Response;
use evidence_bundle::Status;
use evidence_bundle::document::{Check, Normalized, NormalizedControl};
use evidence_bundle::path::{MANIFEST, NORMALIZED};
use http::StatusCode;
use serde::de::IgnoredAny;

use super::reading::{First, Fold, Folded, document, each_artifact};
use super::words::{self, Moment, Shown, number, shown};
use super::{Frame, page};
use crate::api::App;
use crate::api::input::Parameters;
use crate::error::Error;
use crate::role::Principal;
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
    artifacts: Vec<Group<String>>,
    unchanged: String,
}

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

/// Changes of one kind.
struct Group<T> {
    name: &'static str,
    count: String,
    items: Vec<T>,
    more: Option<String>,
}

/// Which check it is: control, source, rule and subject.
type Key = [String; 4];

/// The status of every check of a control. Of two checks with one name the worse counts.
#[derive(Debug, Default)]
struct Statuses(BTreeMap<[String; 3], Status>);

impl Fold for Statuses {
    type Item = Check;

    fn take(&mut self, check: Check) {
        let known = self.0.entry([check.source, check.rule, check.subject]).or_insert(check.status);
        if urgency(check.status) < urgency(*known) {
            *known = check.status;
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
    let from = app.service.bundle(&principal, &from).await?;
    let to = app.service.bundle(&principal, &to).await?;
    let before = app.service.inspect(&principal, &from, read).await?;
    let after = app.service.inspect(&principal, &to, read).await?;
    let cautions = cautions(&from, &to, &before, &after);
    let artifacts = artifacts(&before.artifacts, &after.artifacts);
    let (controls, groups, unchanged) = judgements(before.judgement, after.judgement);
    let compare_page = ComparePage {
        frame: Frame::of(&principal),
        from: side(from),
        to: side(to),
        cautions,
        controls,
        groups,
        artifacts,
        unchanged: words::counted(unchanged, "check"),
    };
    page(StatusCode::OK, &compare_page)
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
        NORMALIZED => seen.judgement = document(contents),
        _ => {}
    }
    Ok(())
}

fn side(bundle: BundleRow) -> Side {
    Side {
        id: bundle.id,
        collected: Moment::of(bundle.collected_at),
        subject: bundle.facts.organization,
        complete: bundle.facts.complete,
    }
}

fn cautions(from: &BundleRow, to: &BundleRow, before: &Contents, after: &Contents) -> Vec<String> {
    let (old, new) = (&from.facts, &to.facts);
    let mut cautions = Vec::new();
    let mut differ = |what: &str, old: &str, new: &str| {
        if old != new {
            cautions.push(format!("{what}: {old}, then {new}."));
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
            cautions.push(format!("The {name} has documents of a form that this platform does not know."));
        }
    }
    cautions
}

/// What changed between two judgements, and how many checks did not.
fn judgements(
    before: Option<Judgement>,
    after: Option<Judgement>,
) -> (Vec<ControlChange>, Vec<Group<CheckChange>>, u64) {
    let before = before.map(|judgement| judgement.controls).unwrap_or_default();
    let after = after.map(|judgement| judgement.controls).unwrap_or_default();
    let mut controls: Vec<ControlChange> = Vec::new();
    let mut checks: BTreeMap<Key, (Option<Status>, Option<Status>)> = BTreeMap::new();
    for (new, side) in [(false, before), (true, after)] {
        for control in side {
            let status = Some(shown(control.status));
            match controls.iter_mut().find(|known| known.id == control.id) {
                Some(known) => known.to = status,
                None => {
                    let (from, to) = if new { (None, status) } else { (status, None) };
                    let (id, title) = (control.id.clone(), control.title);
                    controls.push(ControlChange { id, title, from, to, changed: false });
                }
            }
            for ([source, rule, subject], status) in control.checks.0.0 {
                let change = checks.entry([control.id.clone(), source, rule, subject]).or_default();
                if new { change.1 = Some(status) } else { change.0 = Some(status) }
            }
        }
    }
    for control in &mut controls {
        control.changed = control.from.map(|shown| shown.class) != control.to.map(|shown| shown.class);
    }
    let mut kinds: [First<CheckChange>; 5] = Default::default();
    let mut unchanged = 0_u64;
    for ([control, source, rule, subject], (from, to)) in checks {
        let Some(kind) = kind(from, to) else {
            unchanged = unchanged.saturating_add(1);
            continue;
        };
        if let Some(group) = kinds.get_mut(kind) {
            group.push(CheckChange {
                control,
                source,
                rule,
                subject,
                from: from.map(shown),
                to: to.map(shown),
            });
        }
    }
    let names =
        ["Fails now", "Fails no more", "Changed otherwise", "Was not there before", "Is not there any more"];
    let groups = names.into_iter().zip(kinds).filter_map(|(name, first)| group(name, first));
    (controls, groups.collect(), unchanged)
}

/// Which kind of change it is; `None` if it is none.
fn kind(from: Option<Status>, to: Option<Status>) -> Option<usize> {
    match (from, to) {
        (from, to) if from == to => None,
        // Also where nobody looked before.
        (_, Some(Status::Fail)) => Some(0),
        // A check that can no longer be verified is not repaired.
        (Some(Status::Fail), Some(Status::Pass | Status::NotApplicable)) => Some(1),
        (Some(_), Some(_)) => Some(2),
        (None, _) => Some(3),
        (Some(_), None) => Some(4),
    }
}

fn artifacts(before: &BTreeMap<String, String>, after: &BTreeMap<String, String>) -> Vec<Group<String>> {
    let mut kinds: [First<String>; 3] = Default::default();
    let [changed, added, gone] = &mut kinds;
    for (path, checksum) in after {
        match before.get(path) {
            None => added.push(path.clone()),
            Some(old) if old != checksum => changed.push(path.clone()),
            Some(_) => {}
        }
    }
    for path in before.keys().filter(|path| !after.contains_key(*path)) {
        gone.push(path.clone());
    }
    let names = ["Changed", "Added", "Gone"];
    names.into_iter().zip(kinds).filter_map(|(name, first)| group(name, first)).collect()
}

/// `None` if there is nothing in it.
fn group<T>(name: &'static str, first: First<T>) -> Option<Group<T>> {
    let more = u64::try_from(first.more).unwrap_or(u64::MAX);
    let count = u64::try_from(first.items.len()).unwrap_or(u64::MAX).saturating_add(more);
    let more = (more > 0).then(|| format!("and {} more", number(more)));
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
                assert_eq!(kind(*from, *to), expected, "{from:?} {to:?}");
            }
        }
    }

    #[test]
    fn artifacts_come_go_and_change() {
        let map = |pairs: &[(&str, &str)]| {
            pairs.iter().map(|(path, sum)| ((*path).to_owned(), (*sum).to_owned())).collect()
        };
        let groups = artifacts(
            &map(&[("a", "1"), ("b", "1"), ("c", "1")]),
            &map(&[("b", "2"), ("c", "1"), ("d", "1")]),
        );
        let seen: Vec<_> = groups.iter().map(|group| (group.name, group.items.join(" "))).collect();
        assert_eq!(seen, [("Changed", "b".into()), ("Added", "d".into()), ("Gone", "a".into())]);
    }
}
