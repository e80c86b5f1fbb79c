//! A bundle judged again by this version's rules, another framework's table or other numbers, and how the results differ
//! from the signed ones.

use std::collections::{BTreeMap, BTreeSet};

use evidence_bundle::VerifiedBundle;
use evidence_bundle::document::{Check, Counts};
use evidence_bundle::read::ControlHead;
use evidence_rules::framework::{Control, Framework, Mapping};
use evidence_rules::repeat::{Rejudged, Rejudgement};
use evidence_rules::rule::{Settings, reason};
use evidence_rules::{rule_of, rules};
use serde::Serialize;

use crate::diff::{CheckChange, ContextChange, Controls, Side, changes, only, rule_name};
use crate::difference::{Snapshot, difference};

/// The sentence beside every such result.
pub const NOT_SIGNED: &str =
    "Judged again from the signed facts. This result is not signed; the signed results are in the bundle.";

/// How the results differ from the signed ones, in the names of `evidence rejudge --json`. A field is never renamed.
#[derive(Debug, Serialize)]
pub struct Again {
    /// Always false: only the facts are signed.
    pub signed: bool,
    /// By what else the facts were judged: `framework`, `tool`, `rules` or `settings`.
    pub context: Vec<ContextChange>,
    /// The number of checks in each class, as `evidence diff` has them.
    pub classes: BTreeMap<&'static str, u64>,
    /// The checks that differ, from the signed result to this one.
    pub differences: Vec<CheckChange>,
    /// The number of checks that do not differ.
    pub unchanged: u64,
    /// The controls of another framework without any check here.
    pub without_evidence: Vec<&'static str>,
    /// The controls with a check, and their checks.
    #[serde(skip)]
    pub controls: Vec<(ControlHead, Vec<Check>)>,
}

impl Again {
    /// Files the judgements under the controls of a framework, and compares them with the signed results. Of the bundle's
    /// own framework, only the controls that the bundle names count; of any, no rule that the configuration left out.
    pub fn of(
        bundle: &VerifiedBundle,
        signed: &Side,
        judged: &Rejudgement,
        framework: &'static Framework,
    ) -> Again {
        let is_own = framework.id == bundle.framework;
        let named = |control: &&Control| bundle.controls.iter().any(|id| id == control.id);
        let controls = framework.controls.iter().filter(|control| !is_own || named(control));
        let left_out: Vec<&str> =
            signed.scope.iter().flat_map(|scope| &scope.rules_excluded).map(String::as_str).collect();
        let (mut filed, mut without_evidence) = (Vec::new(), Vec::new());
        for control in controls {
            let is_own_rule = |one: &&Rejudged| {
                control.uses(one.judgement.rule) && !left_out.contains(&one.judgement.rule.code)
            };
            let own = judged.judgements.iter().filter(is_own_rule);
            let checks: Vec<Check> = own.map(|one| check(one, &judged.settings)).collect();
            if is_own || !checks.is_empty() {
                filed.push((head(control, &checks, &judged.settings), checks));
            } else {
                without_evidence.push(control.id);
            }
        }
        let snapshot = snapshot(signed, filed.iter().flat_map(|(_, checks)| checks));
        let found = difference(&signed.snapshot, &snapshot);
        let (classes, differences) = changes(&found, &controls_of(signed, framework), [None, None]);
        Again {
            signed: false,
            context: context(bundle, signed, judged, framework, &filed),
            classes,
            differences,
            unchanged: found.unchanged,
            without_evidence,
            controls: filed,
        }
    }
}

/// A judgement as a check, without its evidence.
fn check(one: &Rejudged, settings: &Settings) -> Check {
    let Rejudged { source, judgement, .. } = one;
    Check {
        rule: judgement.rule.code.to_owned(),
        source: (*source).to_owned(),
        subject: judgement.subject.to_string(),
        status: judgement.verdict.status,
        reason: judgement.verdict.reason.code.to_owned(),
        expected: Some(judgement.rule.expectation(settings).into_owned()),
        actual: judgement.verdict.actual.clone(),
        evidence: Vec::new(),
    }
}

fn head(control: &Control, checks: &[Check], settings: &Settings) -> ControlHead {
    let mut counts = Counts::default();
    checks.iter().for_each(|check| counts.add(check.status));
    let status = counts.status();
    let first = checks.iter().find(|check| check.status == status);
    let expected =
        |mapping: &Mapping| (mapping.rule.code.to_owned(), mapping.rule.expectation(settings).into_owned());
    ControlHead {
        id: control.id.to_owned(),
        title: control.title.to_owned(),
        status,
        reason: first.map_or_else(|| reason::NO_EVIDENCE.code.to_owned(), |check| check.reason.clone()),
        criteria: control.rules.iter().map(|mapping| mapping.criteria()).collect(),
        expected: control.rules.iter().map(expected).collect(),
    }
}

/// The same population with other results.
fn snapshot<'a>(signed: &Side, checks: impl Iterator<Item = &'a Check>) -> Snapshot {
    let mut again = Snapshot { sources: signed.snapshot.sources.clone(), ..Snapshot::default() };
    again.members.rows.clone_from(&signed.snapshot.members.rows);
    checks.for_each(|check| again.checks.take(check));
    again
}

/// The control of each rule: in the framework, or else in the bundle.
fn controls_of(signed: &Side, framework: &Framework) -> Controls {
    let rules = signed.scope.iter().flat_map(|scope| &scope.rules);
    let mut controls: Controls =
        rules.map(|rule| ((rule.source.clone(), rule.code.clone()), rule.control.clone())).collect();
    for control in framework.controls {
        for rule in control.rules.iter().map(|mapping| mapping.rule) {
            let source = evidence_rules::source_of(rule).to_owned();
            controls.insert((source, rule.code.to_owned()), control.id.to_owned());
        }
    }
    controls
}

fn context(
    bundle: &VerifiedBundle,
    signed: &Side,
    judged: &Rejudgement,
    framework: &Framework,
    filed: &[(ControlHead, Vec<Check>)],
) -> Vec<ContextChange> {
    let (were, are) = rule_changes(signed, filed);
    let numbers = |settings: &Settings| -> BTreeSet<String> {
        let all = rules().flat_map(|rule| rule.settings);
        all.map(|setting| format!("{}.{} {}", setting.rule, setting.name, settings.get(setting))).collect()
    };
    let (was, is) = (numbers(&judged.signed), numbers(&judged.settings));
    let tool = |name: &str, version: &str| format!("{name} {version}");
    let of_bundle = signed.run.as_ref().map(|run| tool(&run.tool.name, &run.tool.version));
    let changes = [
        ("framework", bundle.framework.clone(), framework.id.to_owned()),
        ("tool", of_bundle.unwrap_or_default(), tool("evidence", env!("CARGO_PKG_VERSION"))),
        ("rules", were.join(", "), are.join(", ")),
        ("settings", only(&was, &is), only(&is, &was)),
    ];
    let changes = changes.into_iter().filter(|(_, was, is)| was != is);
    changes.map(|(change, was, is)| ContextChange { change, was, is }).collect()
}

/// The rules that were applied in another version, are not known here, or were not applied.
fn rule_changes(signed: &Side, filed: &[(ControlHead, Vec<Check>)]) -> (Vec<String>, Vec<String>) {
    let (mut were, mut are) = (Vec::new(), Vec::new());
    let applied: Vec<_> = signed.scope.iter().flat_map(|scope| &scope.rules).collect();
    for rule in &applied {
        let here = rule_of(&rule.code).map(|rule| rule.version);
        if here != Some(rule.version) {
            were.push(rule_name(&rule.source, &rule.code, rule.version));
            are.extend(here.map(|version| rule_name(&rule.source, &rule.code, version)));
        }
    }
    let checks = filed.iter().flat_map(|(_, checks)| checks);
    let judged: BTreeSet<(&str, &str)> = checks.map(|check| (&*check.source, &*check.rule)).collect();
    let is_applied = |code: &str| applied.iter().any(|rule| rule.code == code);
    for (source, code) in judged.into_iter().filter(|(_, code)| !is_applied(code)) {
        are.extend(rule_of(code).map(|rule| rule_name(source, code, rule.version)));
    }
    (were, are)
}
