//! Compliance frameworks as data: their controls, and the rules that each control uses.
//!
//! A framework is one file in `frameworks/`. Rules never name a control; only these tables map rules to controls. Nothing
//! here judges.

use crate::named;
use crate::rule::Rule;

include!(concat!(env!("OUT_DIR"), "/frameworks.rs"));

/// A compliance framework (`framework` in the configuration).
#[derive(Debug)]
pub struct Framework {
    /// The name used in the configuration and in every document.
    pub id: &'static str,
    /// The name that people read.
    pub name: &'static str,
    /// The criteria that its rules name, and what each is about in our words.
    pub criteria: &'static [(&'static str, &'static str)],
    /// Its controls, in the order of all documents.
    pub controls: &'static [Control],
}

/// A control of a framework.
#[derive(Debug)]
pub struct Control {
    /// The identifier used in the configuration and in every document.
    pub id: &'static str,
    /// What the control is about, in the specification's words.
    pub title: &'static str,
    /// The question that it answers, in our words; may be empty.
    pub about: &'static str,
    /// The rules that the control uses; none if it has no automated evidence.
    pub rules: &'static [Mapping],
}

/// A rule of a control.
#[derive(Debug)]
pub struct Mapping {
    /// The rule.
    pub rule: &'static Rule,
    /// The framework's own criteria under which such evidence is commonly filed.
    pub criteria: &'static [&'static str],
    /// Why it is filed there.
    pub why: &'static str,
    /// Where others file it too; may be empty.
    pub also: &'static str,
    /// Whether it runs only if the configuration includes it.
    pub opt_in: bool,
}

impl PartialEq for Control {
    /// Identifiers are unique within a framework: a test compares them all.
    fn eq(&self, other: &Control) -> bool {
        self.id == other.id
    }
}

impl Eq for Control {}

impl Framework {
    /// The framework with this name, if the tool supports it.
    pub fn from_id(id: &str) -> Option<&'static Framework> {
        ALL.iter().copied().find(|framework| framework.id == id)
    }

    /// The control with this identifier, if the framework has it.
    pub fn control(&self, id: &str) -> Option<&'static Control> {
        self.controls.iter().find(|control| control.id == id)
    }

    /// The controls that have rules.
    pub fn with_rules(&self) -> impl Iterator<Item = &'static Control> {
        self.controls.iter().filter(|control| !control.rules.is_empty())
    }

    /// Its entry for `rule`, if it uses the rule.
    pub fn mapping_of(&self, rule: &Rule) -> Option<&'static Mapping> {
        self.controls.iter().flat_map(|control| control.rules).find(|mapping| mapping.rule == rule)
    }

    /// The criteria under which no rule in `applied` has evidence, if the controls are the framework's own criteria;
    /// otherwise none.
    pub fn without_evidence(&self, applied: &[&Rule]) -> Vec<&'static str> {
        let filed: Vec<&str> = applied
            .iter()
            .filter_map(|rule| self.mapping_of(rule))
            .flat_map(|mapping| mapping.criteria.iter().copied())
            .collect();
        let own = self.criteria.iter().all(|(id, _)| self.control(id).is_some());
        let controls = self.controls.iter().map(|control| control.id);
        controls.filter(|id| own && !filed.contains(id)).collect()
    }

    /// The control that uses `rule`.
    pub fn control_of(&self, rule: &Rule) -> Option<&'static Control> {
        self.controls.iter().find(|control| control.uses(rule))
    }

    /// The controls that use any of `rules`, in the framework's order.
    pub fn controls_of(&self, rules: &[&Rule]) -> Vec<&'static Control> {
        self.controls.iter().filter(|control| rules.iter().any(|rule| control.uses(rule))).collect()
    }
}

impl Control {
    /// Whether this control uses `rule`.
    pub fn uses(&self, rule: &Rule) -> bool {
        self.rules.iter().any(|mapping| mapping.rule == rule)
    }
}

impl Mapping {
    /// The rule's code, and the framework's own criteria under which its evidence is commonly filed.
    pub fn criteria(&self) -> (String, Vec<String>) {
        (self.rule.code.to_string(), self.criteria.iter().map(ToString::to_string).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rules;

    /// The first framework has the rules of the specification and no others; the second has every rule.
    #[test]
    fn every_rule_counts_for_at_most_one_control_of_each_framework() {
        for framework in ALL {
            for rule in rules() {
                let controls = framework.controls.iter().filter(|control| control.uses(rule));
                let count = controls.count();
                assert!(count <= 1, "{} {}", framework.id, rule.code);
                assert_eq!(count == 1, framework.control_of(rule).is_some());
                assert_eq!(count == 1, framework.mapping_of(rule).is_some());
                assert!(count == 1 || framework.id == "soc2_type1", "{} {}", framework.id, rule.code);
            }
        }
        let first = Framework::from_id("soc2_type1").unwrap();
        let codes: Vec<&str> = first
            .controls
            .iter()
            .flat_map(|control| control.rules)
            .map(|mapping| mapping.rule.code)
            .collect();
        let specified = [
            "two-factor-required",
            "password-policy",
            "two-step-verification",
            "codeowners-default-rule",
            "administrators",
            "user-lifecycle-log",
            "branch-protection",
            "audit-trail",
            "log-retention",
        ];
        assert_eq!(codes, specified);
    }

    /// Each criterion is a control, and a rule counts under the first criterion that it names.
    #[test]
    fn the_criteria_are_the_controls_of_the_second_framework() {
        let criteria = Framework::from_id("tsc_2017").unwrap();
        assert_eq!(criteria.controls.len(), 61);
        for control in criteria.controls {
            assert!(criteria.criteria.iter().any(|(id, about)| *id == control.id && *about == control.title));
            for mapping in control.rules {
                assert_eq!(mapping.criteria.first(), Some(&control.id), "{}", mapping.rule.code);
            }
        }
        let all: Vec<&Rule> = rules().collect();
        let without = criteria.without_evidence(&all);
        assert!(without.contains(&"CC1.1") && !without.contains(&"CC6.1"), "{without:?}");
        assert_eq!(criteria.without_evidence(&[]).len(), 61);
        assert!(Framework::from_id("soc2_type1").unwrap().without_evidence(&[]).is_empty());
    }

    #[test]
    fn every_criterion_is_explained() {
        for framework in ALL {
            let explained: BTreeSet<_> = framework.criteria.iter().map(|(id, _)| *id).collect();
            let mappings = framework.controls.iter().flat_map(|control| control.rules);
            for mapping in mappings {
                assert!(mapping.why.ends_with('.'), "{}", mapping.rule.code);
                let named = mapping.criteria.iter().copied();
                let also = mapping.also.split([' ', ',', ';']).filter(|word| word.contains('.'));
                for criterion in named.chain(also) {
                    assert!(explained.contains(criterion), "{} {criterion}", framework.id);
                }
            }
        }
    }

    #[test]
    fn identifiers_are_unique_and_every_mapping_names_criteria() {
        for framework in ALL {
            let ids: BTreeSet<_> = framework.controls.iter().map(|control| control.id).collect();
            assert_eq!(ids.len(), framework.controls.len());
            assert!(ids.iter().all(|id| framework.control(id).is_some_and(|control| control.id == *id)));
            assert!(framework.control("CC0.0").is_none());
            for mapping in framework.controls.iter().flat_map(|control| control.rules) {
                assert!(!mapping.criteria.is_empty(), "{}", mapping.rule.code);
            }
        }
    }
}
