//! Which intervals and days of a period are covered, of all bundles and of each rule.

use std::collections::{BTreeMap, BTreeSet};

use evidence_bundle::Status;
use evidence_bundle::document::{Counts, is_lacking};

use super::model::{RuleDay, RuleDays};
use super::period::Period;
use super::results::Results;
use super::series::{AppliedRule, Series, Stored};

/// The days of a period so far.
#[derive(Debug)]
pub(super) struct Days {
    period: Period,
    /// The seconds of an interval.
    length: i64,
    /// Of each interval: whether it has a bundle, and a complete one.
    units: Vec<(bool, bool)>,
    /// By source and rule.
    rules: BTreeMap<(String, String), OneRule>,
}

#[derive(Debug)]
struct OneRule {
    control: String,
    days: Vec<RuleDay>,
    covered: BTreeSet<usize>,
}

/// The results of one rule in one bundle.
#[derive(Debug, Default)]
struct Tally {
    counts: Counts,
    /// Whether a check lacks access or information.
    is_lacking: bool,
}

impl Days {
    pub(super) fn new(period: Period, length: i64) -> Days {
        Days { period, length, units: vec![(false, false); period.units(length)], rules: BTreeMap::new() }
    }

    /// Takes the next bundle.
    pub(super) fn bundle(&mut self, series: &Series, bundle: &Stored, results: &Results) {
        let Some(day) = self.period.day_of(bundle.created_at) else { return };
        let unit = self.unit_of(bundle);
        if let Some((has_bundle, is_complete)) = self.units.get_mut(unit) {
            *has_bundle = true;
            *is_complete |= bundle.complete;
        }
        let mut tallies: BTreeMap<(u32, u32), Tally> = BTreeMap::new();
        for ((source, rule, _), found) in results {
            let tally = tallies.entry((*source, *rule)).or_default();
            tally.counts.add(found.status);
            tally.is_lacking |= is_lacking(found.status, series.names.text(found.reason));
        }
        let mut tallies: BTreeMap<(&str, &str), Tally> = tallies
            .into_iter()
            .map(|((source, rule), tally)| ((series.names.text(source), series.names.text(rule)), tally))
            .collect();
        let length = usize::try_from(self.period.days()).unwrap_or_default();
        for AppliedRule { control, source, rule, .. } in &bundle.rules {
            let tally = tallies.remove(&(source.as_str(), rule.as_str())).unwrap_or_default();
            let one = self.rules.entry((source.clone(), rule.clone())).or_insert_with(|| OneRule {
                control: control.clone(),
                days: vec![RuleDay::default(); length],
                covered: BTreeSet::new(),
            });
            one.control.clone_from(control);
            let is_covered = is_covered(bundle, source, &tally);
            if is_covered {
                one.covered.insert(unit);
            }
            if let Some(day) = one.days.get_mut(day) {
                day.bundles = day.bundles.saturating_add(1);
                day.covered |= is_covered;
                day.failing = day.failing.max(tally.counts.fail);
                let result = result(tally.counts);
                day.result = Some(match day.result {
                    Some(known) if known.urgency() <= result.urgency() => known,
                    _ => result,
                });
            }
        }
    }

    /// The interval of a bundle.
    pub(super) fn unit_of(&self, bundle: &Stored) -> usize {
        self.period.unit_of(bundle.created_at, self.length)
    }

    /// How many intervals have a complete bundle, how many only others, and how many there are.
    pub(super) fn bundles(&self) -> (usize, usize, usize) {
        let complete = self.units.iter().filter(|(_, is_complete)| *is_complete).count();
        let all = self.units.iter().filter(|(has_bundle, _)| *has_bundle).count();
        (complete, all.saturating_sub(complete), self.units.len())
    }

    /// The rules by control, source and code, each with the number of its covered intervals.
    pub(super) fn rules(&self) -> Vec<(RuleDays, usize)> {
        let mut rules: Vec<(RuleDays, usize)> = self
            .rules
            .iter()
            .map(|((source, rule), one)| {
                let (control, source, rule) = (one.control.clone(), source.clone(), rule.clone());
                (RuleDays { control, source, rule, days: one.days.clone() }, one.covered.len())
            })
            .collect();
        rules.sort_by(|(a, _), (b, _)| a.control.cmp(&b.control));
        rules
    }
}

/// The result of a rule without checks is that it does not apply.
fn result(counts: Counts) -> Status {
    crate::words::worst(counts)
}

/// Whether nothing that makes the bundle incomplete touches the rule.
fn is_covered(bundle: &Stored, source: &str, tally: &Tally) -> bool {
    if bundle.complete {
        return true;
    }
    let is_unread = tally.counts.not_verifiable > 0;
    let source_lacks = bundle.lacking.as_ref().is_none_or(|sources| sources.contains(source));
    let is_touched = bundle.partial.contains(source) || tally.is_lacking || (is_unread && source_lacks);
    !is_touched
}
