//! Judgement: the facts of signed artifacts, the rules over them, and the frameworks that file rules under controls.
//!
//! Everything here is a pure function of facts: no clock, no network, no file. So whoever has a bundle can judge again.

pub mod altcloud;
pub mod cloud;
pub mod codehost;
pub mod field;
pub mod framework;
pub mod inspection;
pub mod repeat;
pub mod rule;
pub mod shape;

use inspection::ArtifactKind;
use rule::{Reason, Rule, reason};

/// The rules over the evidence of one source, and the reasons of their verdicts.
#[derive(Debug)]
pub struct SourceRules {
    /// The name of the source in documents.
    pub source: &'static str,
    /// The kinds of its artifacts.
    pub kinds: &'static [&'static ArtifactKind],
    /// Its rules, in the order of documents.
    pub rules: &'static [&'static Rule],
    /// The reasons that any of its checks can have.
    pub reasons: &'static [&'static Reason],
}

/// Every source, in the order of documents.
pub static SOURCES: &[&SourceRules] = &[&codehost::RULES, &cloud::RULES, &altcloud::RULES];

impl SourceRules {
    /// Every reason that is specific to this source: those of its rules, then those of any check.
    pub fn reasons(&self) -> impl Iterator<Item = &'static Reason> {
        self.rules.iter().flat_map(|rule| rule.reasons).chain(self.reasons).copied()
    }
}

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

/// Every rule by the name of its code, for the frameworks.
mod named {
    pub(crate) use crate::altcloud::*;
    pub(crate) use crate::cloud::*;
    pub(crate) use crate::codehost::*;
}
