//! What one source is judged by.

use crate::inspection::ArtifactKind;
use crate::rule::{Reason, Rule};

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

impl SourceRules {
    /// Every reason that is specific to this source: those of its rules, then those of any check.
    pub fn reasons(&self) -> impl Iterator<Item = &'static Reason> {
        self.rules.iter().flat_map(|rule| rule.reasons).chain(self.reasons).copied()
    }
}
