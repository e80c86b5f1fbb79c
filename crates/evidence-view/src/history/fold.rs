//! Folds verified bundles into a period.
//!
//! A pure function of the bundles and the period: no clock, no file, and the order of the bundles does not matter.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use evidence_bundle::document::Scope;

use super::coverage::Days;
use super::exceptions::Failures;
use super::model::{
    Change, Coverage, Gap, History, Input, KeyUse, NotUsed, PopulationSize, RuleCoverage, RuleDays,
};
use super::period::{DAY, Day, Period, instant, length};
use super::population::Subjects;
use super::series::{Series, Stored};
use super::waivers;
use crate::scope;

/// Why there is no period.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// There is no bundle in the period.
    #[error("no verified bundle in the period")]
    NoBundle,
    /// The bundles are about several organizations or frameworks.
    #[error("the bundles are about {}", .0.join(", "))]
    Several(Vec<String>),
    /// The last day comes before the first.
    #[error("the period ends before it begins")]
    Backwards,
}

impl Series {
    /// How many bundles are outside these days.
    pub fn outside(&self, from: Option<Day>, to: Option<Day>) -> usize {
        self.bundles.iter().filter(|bundle| !is_between(bundle, from, to)).count()
    }

    /// Folds the bundles between these days. Without a day, the period begins or ends with a bundle.
    ///
    /// # Errors
    /// Fails with a [`FoldError`] if there is no such period.
    pub fn fold(
        &self,
        from: Option<Day>,
        to: Option<Day>,
        mut not_used: Vec<NotUsed>,
    ) -> Result<History, FoldError> {
        let mut bundles: Vec<&Stored> =
            self.bundles.iter().filter(|bundle| is_between(bundle, from, to)).collect();
        bundles.sort_by(|a, b| a.order().cmp(&b.order()));
        // The same bundle twice counts once.
        bundles.dedup_by(|a, b| a.checksums_sha256 == b.checksums_sha256);
        let (Some(first), Some(last)) = (bundles.first(), bundles.last()) else {
            return Err(FoldError::NoBundle);
        };
        let period =
            Period::new(from.unwrap_or(Day::of(first.created_at)), to.unwrap_or(Day::of(last.created_at)));
        let period = period.ok_or(FoldError::Backwards)?;
        let series: BTreeSet<(String, &str)> = bundles
            .iter()
            .map(|bundle| (bundle.organization.to_ascii_lowercase(), bundle.framework.as_str()))
            .collect();
        if series.len() > 1 {
            let names =
                series.into_iter().map(|(organization, framework)| format!("{organization} ({framework})"));
            return Err(FoldError::Several(names.collect()));
        }
        let times: HashMap<&str, i64> =
            bundles.iter().map(|bundle| (bundle.checksums_sha256.as_str(), bundle.created_at)).collect();
        let is_back_dated = |bundle: &&Stored| {
            let previous = bundle.previous.as_ref().and_then(|it| times.get(it.checksums_sha256.as_str()));
            previous.is_some_and(|time| *time > bundle.created_at)
        };
        let used: Vec<&Stored> = bundles.iter().copied().filter(|bundle| !is_back_dated(bundle)).collect();
        not_used.sort();
        not_used.dedup();
        let cadence = used.last().and_then(|bundle| bundle.cadence);
        let mut days = Days::new(period, length(cadence));
        let (mut subjects, mut failures) = (Subjects::default(), Failures::default());
        for (index, bundle) in used.iter().enumerate() {
            let mut seen = subjects.bundle(self, bundle);
            let checks = seen.checks(self, bundle);
            days.bundle(self, bundle, &checks);
            failures.bundle(self, bundle, &seen, &checks, days.unit_of(bundle), index == 0);
        }
        let rules = days.rules();
        let (complete, incomplete, expected) = days.bundles();
        let of_rule = |rule: &(RuleDays, usize)| RuleCoverage {
            source: rule.0.source.clone(),
            rule: rule.0.rule.clone(),
            expected,
            covered: rule.1,
        };
        Ok(History {
            organization: last.organization.clone(),
            framework: last.framework.clone(),
            from: Day::of(period.start()).to_string(),
            to: Day::of(period.end() - 1).to_string(),
            cadence,
            coverage: Coverage {
                expected,
                complete,
                incomplete,
                missing: expected.saturating_sub(complete).saturating_sub(incomplete),
                rules: rules.iter().map(of_rule).collect(),
            },
            longest_gap: longest_gap(period, &used),
            exceptions: failures.finish(),
            population_sizes: sizes(&used),
            population: subjects.changes(),
            changes: changes(self, &used),
            keys: keys(&used),
            inputs: bundles.iter().map(|bundle| input(bundle, is_back_dated(bundle))).collect(),
            not_used,
            rules: rules.into_iter().map(|(rule, _)| rule).collect(),
        })
    }
}

impl Stored {
    fn order(&self) -> (i64, &str, &str) {
        (self.created_at, &self.bundle_id, &self.checksums_sha256)
    }
}

fn is_between(bundle: &Stored, from: Option<Day>, to: Option<Day>) -> bool {
    let day = Day::of(bundle.created_at);
    from.is_none_or(|from| from <= day) && to.is_none_or(|to| day <= to)
}

fn input(bundle: &Stored, back_dated: bool) -> Input {
    Input {
        bundle_id: bundle.bundle_id.clone(),
        created_at: instant(bundle.created_at),
        checksums_sha256: bundle.checksums_sha256.clone(),
        key_id: bundle.key_id.clone(),
        complete: bundle.complete,
        fixed_time: bundle.fixed_time,
        back_dated,
    }
}

/// The longest time between two of these times, which ascend; the first of several. `None` for fewer than two.
pub(crate) fn gap(times: impl Iterator<Item = i64>) -> Option<Gap> {
    let times: Vec<i64> = times.collect();
    let mut longest: Option<(i64, i64, i64)> = None;
    for pair in times.windows(2) {
        if let [after, before] = *pair {
            let seconds = before.saturating_sub(after);
            if longest.is_none_or(|(known, ..)| seconds > known) {
                longest = Some((seconds, after, before));
            }
        }
    }
    let (seconds, after, before) = longest?;
    Some(Gap { after: instant(after), before: instant(before), seconds, days: seconds.div_euclid(DAY) })
}

/// The longest time between two bundles, the start and the end of the period included.
fn longest_gap(period: Period, used: &[&Stored]) -> Gap {
    let times = used.iter().map(|bundle| bundle.created_at);
    let all = std::iter::once(period.start()).chain(times).chain([period.end()]);
    gap(all).unwrap_or(Gap { after: String::new(), before: String::new(), seconds: 0, days: 0 })
}

/// The populations of each source in the first and in the last bundle that reached it.
fn sizes(used: &[&Stored]) -> Vec<PopulationSize> {
    let mut ends: BTreeMap<&str, Vec<PopulationSize>> = BTreeMap::new();
    for bundle in used {
        for population in bundle.populations.iter().filter(|one| one.scope != Scope::Unreached) {
            let sizes = ends.entry(&population.source).or_default();
            sizes.truncate(1);
            sizes.push(PopulationSize {
                time: instant(bundle.created_at),
                source: population.source.clone(),
                kind: population.kind.clone(),
                listed: population.listed,
                in_scope: population.in_scope,
                host_total: population.host_total,
                sentence: scope::sentence(population),
            });
        }
    }
    ends.into_values().flatten().collect()
}

fn keys(used: &[&Stored]) -> Vec<KeyUse> {
    let mut keys: Vec<KeyUse> = Vec::new();
    for bundle in used {
        let time = instant(bundle.created_at);
        match keys.iter_mut().find(|key| key.key_id == bundle.key_id) {
            Some(key) => {
                key.last = time;
                key.bundles = key.bundles.saturating_add(1);
            }
            None => {
                let key_id = bundle.key_id.clone();
                keys.push(KeyUse { key_id, first: time.clone(), last: time, bundles: 1 });
            }
        }
    }
    keys
}

/// What changed from one bundle to the next. A source that was not reached reports no account, so its last one is kept.
fn changes(series: &Series, used: &[&Stored]) -> Vec<Change> {
    let mut changes = Vec::new();
    let mut accounts: BTreeMap<&str, &str> = BTreeMap::new();
    for (index, bundle) in used.iter().enumerate() {
        let time = instant(bundle.created_at);
        let mut add = |change, was: String, is: String| {
            if was != is {
                changes.push(Change { time: time.clone(), change, was, is });
            }
        };
        let before = index.checked_sub(1).and_then(|index| used.get(index));
        if let Some(before) = before {
            add("tool", before.tool.clone(), bundle.tool.clone());
            let only = |one: &Stored, other: &Stored| {
                let rules = one.rules.difference(&other.rules);
                let rules =
                    rules.map(|rule| format!("{} {} version {}", rule.source, rule.rule, rule.version));
                rules.collect::<Vec<_>>().join(", ")
            };
            add("rules", only(before, bundle), only(bundle, before));
            add("configuration", before.configuration.clone(), bundle.configuration.clone());
            add("cadence", cadence(before), cadence(bundle));
            add("key", before.key_id.clone(), bundle.key_id.clone());
        }
        for (source, account) in &bundle.identities {
            if let Some(was) = accounts.insert(source, account) {
                add("identity", format!("{source}: {was}"), format!("{source}: {account}"));
            }
        }
        if let Some(before) = before {
            changes.extend(waivers::changes(series, before, bundle));
        }
    }
    changes
}

fn cadence(bundle: &Stored) -> String {
    bundle.cadence.map_or_else(|| "none".to_owned(), |cadence| cadence.to_string())
}
