//! Judgement: the facts of signed artifacts, the rules over them, and the frameworks that file rules under controls.
//!
//! Everything here is a pure function of facts: no clock, no network, no file. So whoever has a bundle can judge again.

pub mod accounts;
pub mod age;
pub mod altcloud;
pub mod cloud;
pub mod codehost;
pub mod field;
pub mod framework;
pub mod inspection;
pub mod listed;
pub mod repeat;
pub mod rule;
mod several;
pub mod shape;
mod source_rules;

use std::borrow::Cow;

use rule::{Reason, Rule, Settings, reason};
pub use source_rules::SourceRules;

/// Every source, in the order of documents.
pub static SOURCES: &[&SourceRules] = &[&codehost::RULES, &cloud::RULES, &altcloud::RULES];

/// Every rule of every source.
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    SOURCES.iter().flat_map(|source| source.rules.iter().copied())
}

/// Every reason, the shared ones first.
pub fn reasons() -> impl Iterator<Item = &'static Reason> {
    reason::SHARED.iter().copied().chain(SOURCES.iter().flat_map(|source| source.reasons()))
}

/// The source whose evidence a rule judges; empty for a rule of no source.
pub fn source_of(rule: &Rule) -> &'static str {
    SOURCES.iter().find(|source| source.rules.contains(&rule)).map_or("", |source| source.source)
}

/// The rule with this code, if this version knows it.
pub fn rule_of(code: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.code == code)
}

/// The reason with this code, if this version knows it.
pub fn reason_of(code: &str) -> Option<&'static Reason> {
    let hints = rules().flat_map(|rule| rule.hints).copied();
    reasons().chain(hints).find(|reason| reason.code == code)
}

/// The text of an advice with the numbers of the rule that declares it: another rule can have the same reason.
pub fn advice_text(settings: &Settings, rule: &'static Rule, text: &'static str) -> Cow<'static, str> {
    let declares = |one: &&'static Rule| {
        let mut advice = one.reasons.iter().filter_map(|reason| reason.advice);
        advice.any(|advice| advice.remediation == text)
    };
    let owner = rules().find(declares).filter(|_| text.contains('{'));
    settings.fill(owner.unwrap_or(rule), text)
}

/// Every rule by the name of its code, for the frameworks.
mod named {
    pub(crate) use crate::altcloud::*;
    pub(crate) use crate::cloud::*;
    pub(crate) use crate::codehost::*;
}
