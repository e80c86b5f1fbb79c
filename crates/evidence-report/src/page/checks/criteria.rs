//! The checks by criterion: counted under every criterion under which their evidence is commonly filed.

use std::collections::BTreeMap;

use evidence_bundle::document::{Check, Counts};
use evidence_bundle::text::saturating_u64;
use evidence_view::words::{self, StatusLabel};
use evidence_view::{ControlHead, sanitized};

use crate::page::bar::Bar;
use crate::page::room::{self, Room};

/// How many rules of a criterion the cover names.
const TITLES: usize = 4;

/// A criterion, with the counts of the checks that are commonly filed under it.
pub(in super::super) struct CriterionResult {
    pub(in super::super) id: String,
    pub(in super::super) label: StatusLabel,
    pub(in super::super) counts: Counts,
    pub(in super::super) bar: Bar,
    /// Its rules that have checks.
    pub(in super::super) rules: Vec<RuleResult>,
}

impl CriterionResult {
    /// The titles of its rules, as many as fit into a line or two.
    pub(in super::super) fn titles(&self) -> String {
        let titles = self.rules.iter().map(|rule| rule.title.as_str()).take(TITLES);
        let titles = titles.collect::<Vec<_>>().join(", ");
        match self.rules.len().saturating_sub(TITLES) {
            0 => titles,
            more => format!("{titles} and {}", words::counted(saturating_u64(more), "more rule")),
        }
    }
}

/// A rule of a criterion, with the counts of its checks.
pub(in super::super) struct RuleResult {
    pub(in super::super) title: String,
    pub(in super::super) control: String,
    pub(in super::super) counts: Counts,
    pub(in super::super) bar: Bar,
}

/// The counts of the rules of each criterion. A rule is a control and a code.
pub(super) struct Criteria {
    counts: BTreeMap<String, BTreeMap<(String, String), Counts>>,
    /// How many checks are under no criterion of the page, because it has no room.
    pub(super) unfiled: u64,
    room: Room,
}

impl Default for Criteria {
    fn default() -> Criteria {
        Criteria { counts: BTreeMap::new(), unfiled: 0, room: Room::new(room::CRITERIA) }
    }
}

impl Criteria {
    /// Counts the check under each of its criteria.
    pub(super) fn file(&mut self, control: &ControlHead, check: &Check) {
        let rule = (sanitized(&format!("{} {}", control.id, control.title)), sanitized(&check.rule));
        let criteria = control.criteria(&check.rule);
        let mut ids: Vec<String> = criteria.iter().map(|id| sanitized(id)).collect();
        if ids.is_empty() {
            ids.push("Without a criterion".to_owned());
        }
        for id in ids {
            if let Some(counts) = self.counts.get_mut(&id).and_then(|rules| rules.get_mut(&rule)) {
                counts.add(check.status);
            } else if self.room.take(1_500, [id.as_str(), &id, &rule.0, &rule.1, &rule.1]) {
                let mut counts = Counts::default();
                counts.add(check.status);
                self.counts.entry(id).or_default().insert(rule.clone(), counts);
            } else {
                self.unfiled = self.unfiled.saturating_add(1);
            }
        }
    }

    pub(super) fn into_results(self) -> Vec<CriterionResult> {
        self.counts.into_iter().map(|(id, rules)| result(id, rules)).collect()
    }
}

fn result(id: String, rules: BTreeMap<(String, String), Counts>) -> CriterionResult {
    let counts = sum(rules.values().copied());
    let rule = |((control, code), counts): ((String, String), Counts)| RuleResult {
        title: words::rule(&code).into_owned(),
        control,
        counts,
        bar: Bar::new(counts),
    };
    CriterionResult {
        id,
        label: words::label(words::worst(counts)),
        counts,
        bar: Bar::new(counts),
        rules: rules.into_iter().map(rule).collect(),
    }
}

fn sum(counts: impl Iterator<Item = Counts>) -> Counts {
    counts.fold(Counts::default(), |sum, next| Counts {
        pass: sum.pass.saturating_add(next.pass),
        fail: sum.fail.saturating_add(next.fail),
        not_verifiable: sum.not_verifiable.saturating_add(next.not_verifiable),
        not_applicable: sum.not_applicable.saturating_add(next.not_applicable),
    })
}

#[cfg(test)]
mod tests {
    use evidence_bundle::Status;

    use super::*;

    /// A page that has no room for a rule would show wrong counts under its criteria. Frameworks have fewer than 50 rules.
    #[test]
    fn there_is_room_for_sixty_rules_under_two_criteria_each() {
        let rules: Vec<String> = (10..70).map(|number| format!("a-rule-with-a-long-code-{number}")).collect();
        let filed = |rule: &String| (rule.clone(), vec!["CC6.1".to_owned(), "CC6.6".to_owned()]);
        let control = ControlHead {
            id: "CC6.1".to_owned(),
            title: "Detecting risky configuration changes and new vulnerabilities".to_owned(),
            status: Status::Fail,
            reason: "ok".to_owned(),
            criteria: rules.iter().map(filed).collect(),
            expected: BTreeMap::new(),
        };
        let mut criteria = Criteria::default();
        for rule in &rules {
            let check = serde_json::json!({
                "rule": rule, "subject": "s", "source": "codehost", "status": "fail", "reason": "ok", "expected": null,
                "actual": null, "evidence": [],
            });
            criteria.file(&control, &serde_json::from_value(check).unwrap());
        }
        assert_eq!(criteria.unfiled, 0);
        let counted: Vec<u64> =
            criteria.into_results().iter().map(|criterion| criterion.counts.fail).collect();
        assert_eq!(counted, [60, 60]);
    }
}
