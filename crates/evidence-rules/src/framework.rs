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
    /// The question that it answers, in our words.
    pub about: &'static str,
    /// The rules that the control uses.
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

/// Every control of every framework.
pub fn controls() -> impl Iterator<Item = &'static Control> {
    ALL.iter().flat_map(|framework| framework.controls)
}

/// The control with this identifier, if the tool knows it.
pub fn control(id: &str) -> Option<&'static Control> {
    controls().find(|control| control.id == id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::rules;

    #[test]
    fn every_rule_counts_for_exactly_one_control_of_each_framework() {
        for framework in ALL {
            for rule in rules() {
                let controls = framework.controls.iter().filter(|control| control.uses(rule));
                assert_eq!(controls.count(), 1, "{} {}", framework.id, rule.code);
                assert!(framework.control_of(rule).is_some());
            }
        }
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
        let ids: BTreeSet<_> = controls().map(|control| control.id).collect();
        assert_eq!(ids.len(), controls().count());
        assert!(ids.iter().all(|id| control(id).is_some_and(|control| control.id == *id)));
        assert!(control("CC0.0").is_none());
        for mapping in controls().flat_map(|control| control.rules) {
            assert!(!mapping.criteria.is_empty(), "{}", mapping.rule.code);
        }
    }
}
