//! What is known of a bundle while it is judged again.

use std::collections::{BTreeMap, HashMap};

use evidence_bundle::Reason as Refusal;
use evidence_bundle::document::{RuleRecord, SourceScope};
use evidence_bundle::path::OBSERVATIONS;
use evidence_bundle::read::Judgement;

use super::group::Row;
use super::kept::{KeptChecks, hash};
use super::subjects::{SubjectNumber, Subjects};
use crate::inspection::Judgement as Verdicts;
use crate::rule::{Rule, Settings};
use crate::{SOURCES, rule_of};

/// How many checks of each problem are named.
pub(super) const NAMED: usize = 5;

/// Reads a bundle and judges it again.
#[derive(Debug, Default)]
pub struct Repetition {
    pub(super) checks: KeptChecks,
    /// The observations, in their order.
    pub(super) groups: Vec<Group>,
    /// The group of the last row, if the next one can belong to it.
    pub(super) last: Option<usize>,
    /// The group and the row in it of the artifact with this path.
    pub(super) artifacts: HashMap<u64, (u32, u32)>,
    pub(super) sources: Vec<SourceScope>,
    pub(super) rules: Vec<RuleRecord>,
    /// Those that this program knows in the same version.
    pub(super) applied: Vec<&'static Rule>,
    /// The settings of the rules that this program knows.
    pub(super) settings: Settings,
    pub(super) organizations: BTreeMap<String, String>,
    /// The members in scope.
    pub(super) members: Vec<ScopedMember>,
    pub(super) subjects: Subjects,
    pub(super) judgement: Judgement,
    /// The first problems.
    pub(super) problems: Vec<(Refusal, String)>,
    /// Whether there are more problems.
    pub(super) truncated: bool,
    /// What this version's rules say, if anyone asks.
    pub(super) again: Option<Again>,
}

/// What the rules say about a subject.
#[derive(Debug)]
pub struct Rejudged {
    /// The source.
    pub source: &'static str,
    /// The rule, the subject and the outcome.
    pub judgement: Verdicts,
    /// The number of its group.
    pub(super) group: usize,
}

/// What this version's rules say.
#[derive(Debug, Default)]
pub(super) struct Again {
    /// The settings in place of those of the bundle.
    pub(super) settings: Option<Settings>,
    pub(super) judgements: Vec<Rejudged>,
}

/// Observations that were made together: rows that follow each other.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) source: usize,
    /// None once they are judged.
    pub(super) rows: Vec<Row>,
    /// How many artifacts of it were not read yet.
    pub(super) missing: usize,
}

/// A member of the population in scope.
#[derive(Debug)]
pub(super) struct ScopedMember {
    pub(super) source: usize,
    pub(super) kind: &'static str,
    pub(super) subject: SubjectNumber,
}

/// The number of a source in [`SOURCES`].
pub(super) fn source_number(name: &str) -> Option<usize> {
    SOURCES.iter().position(|source| source.source == name)
}

impl Repetition {
    /// The version in the bundle of a rule that this program does not know in that version.
    pub(super) fn unknown(&self, code: &str) -> Option<u32> {
        let applied = self.rules.iter().find(|rule| rule.code == code)?;
        (rule_of(code).is_none_or(|rule| rule.version != applied.version)).then_some(applied.version)
    }

    pub(super) fn problem(&mut self, refusal: Refusal, detail: String) {
        if self.problems.len() < NAMED {
            self.problems.push((refusal, detail));
        } else {
            self.truncated = true;
        }
    }

    /// Whether the bundle applies a rule that uses the observation.
    pub(super) fn applies_to(&self, row: &Row) -> bool {
        row.kind.rules.iter().any(|rule| self.applies(rule))
    }

    /// Whether the bundle applies the rule, in the version that this program knows.
    pub(super) fn applies(&self, rule: &Rule) -> bool {
        // There is one rule with a code, and comparing all codes for each check takes its time.
        self.applied.iter().any(|applied| std::ptr::eq(*applied, rule))
            || self.applied.iter().any(|applied| applied.code == rule.code)
    }
}

/// What a check refers to: a file, or a row of the observations.
pub(super) fn basis(filename: &str, id: Option<&str>) -> u64 {
    match id {
        Some(id) => hash((OBSERVATIONS, id)),
        None => hash(filename),
    }
}
