//! The checks of a bundle, small enough to keep all of them.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use evidence_bundle::document::{Check, Status};
use evidence_text::{saturating_u32, saturating_usize};

use super::subjects::SubjectNumber;
use crate::inspection::Judgement;
use crate::rule::{Rule, Verdict};

/// The mark of redacted text.
const REDACTED: &str = "[redacted: ";

pub(super) fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// What rests on all of these.
pub(super) fn all_of(bases: impl IntoIterator<Item = u64>) -> u64 {
    let mut hasher = DefaultHasher::new();
    bases.into_iter().for_each(|basis| basis.hash(&mut hasher));
    hasher.finish()
}

/// How a check compares with the one that follows from the facts.
#[derive(Debug)]
pub(super) enum Kept {
    /// It is the same.
    Same,
    /// It differs, in words.
    Differs(String),
    /// There is none.
    Missing,
}

/// A check: what identifies it, and hashes of what it says.
#[derive(Debug)]
struct Row {
    key: Key,
    status: Status,
    taken: bool,
    reason: u64,
    actual: u64,
    basis: u64,
}

/// What identifies a check: the numbers of its rule, its source and its subject.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    rule: u16,
    source: u8,
    subject: SubjectNumber,
}

/// How many rows behind the last one of its rule a check is looked for, before it is searched among all.
const NEAR: usize = 16;

/// Every check of a bundle.
#[derive(Debug, Default)]
pub(super) struct KeptChecks {
    /// In the order of the bundle.
    rows: Vec<Row>,
    /// The places of the rows in the order of their keys, as soon as one is not where it was expected.
    by_key: Vec<u32>,
    /// The place behind the last check that was taken, by the number of its rule. Facts and checks are mostly in the same
    /// order, and a search of a large bundle is slow.
    next: Vec<usize>,
    /// Texts that were redacted, by the key and the hash: only the words around the mark can be compared.
    redacted: HashMap<u64, Box<str>>,
    /// The codes of the rules, by their numbers.
    rules: Vec<Box<str>>,
}

impl Key {
    /// Without `source` for a source that this version does not know.
    fn new(rule: u16, source: Option<usize>, subject: SubjectNumber) -> Key {
        let source = source.and_then(|number| u8::try_from(number).ok()).unwrap_or(u8::MAX);
        Key { rule, source, subject }
    }
}

impl KeptChecks {
    pub(super) fn add(&mut self, check: &Check, source: Option<usize>, subject: SubjectNumber, basis: u64) {
        let known = self.number(&check.rule);
        let rule = known.unwrap_or_else(|| {
            self.rules.push(check.rule.as_str().into());
            // Verification limits the number of rules in a document far below.
            u16::try_from(self.rules.len() - 1).unwrap_or(u16::MAX)
        });
        let actual = hash(check.actual.as_deref());
        if let Some(text) = check.actual.as_deref().filter(|text| text.contains(REDACTED)) {
            self.redacted.insert(actual, text.into());
        }
        self.rows.push(Row {
            key: Key::new(rule, source, subject),
            status: check.status,
            reason: hash(check.reason.as_str()),
            actual,
            basis,
            taken: false,
        });
    }

    fn number(&self, code: &str) -> Option<u16> {
        u16::try_from(self.rules.iter().position(|known| **known == *code)?).ok()
    }

    /// Compares the check that follows from the facts with the one in the bundle, and takes that.
    pub(super) fn take(
        &mut self,
        source: usize,
        subject: SubjectNumber,
        expected: &Judgement,
        basis: u64,
    ) -> Kept {
        let Judgement { rule, verdict, .. } = expected;
        let Some(rule) = self.number(rule.code) else { return Kept::Missing };
        let (key, rule) = (Key::new(rule, Some(source), subject), usize::from(rule));
        if self.next.len() <= rule {
            self.next.resize(self.rules.len(), 0);
        }
        let start = self.next.get(rule).copied().unwrap_or(0);
        let mut near = self.rows.iter_mut().enumerate().skip(start).take(NEAR);
        if let Some((place, row)) = near.find(|(_, row)| row.key == key && !row.taken)
            && row.difference(verdict, basis, &self.redacted).is_none()
        {
            row.taken = true;
            self.next.get_mut(rule).into_iter().for_each(|next| *next = place + 1);
            return Kept::Same;
        }
        self.search(key, verdict, basis)
    }

    /// Looks among all rows for the check with this key that is most like the verdict, and takes it.
    fn search(&mut self, key: Key, verdict: &Verdict, basis: u64) -> Kept {
        let KeptChecks { rows, by_key, redacted, .. } = self;
        if by_key.len() != rows.len() {
            *by_key = (0..saturating_u32(rows.len())).collect();
            by_key.sort_by_key(|place| at(rows, *place).map(|row| row.key));
        }
        let start = by_key.partition_point(|place| at(rows, *place).is_some_and(|row| row.key < key));
        let mut first = None;
        for place in by_key.get(start..).unwrap_or_default() {
            let Some(row) = at(rows, *place).filter(|row| row.key == key) else { break };
            if row.taken {
                continue;
            }
            let difference = row.difference(verdict, basis, redacted);
            let same = difference.is_none();
            if same || first.is_none() {
                first = Some((*place, difference));
            }
            if same {
                break;
            }
        }
        let Some((place, difference)) = first else { return Kept::Missing };
        rows.get_mut(saturating_usize(u64::from(place))).into_iter().for_each(|row| row.taken = true);
        difference.map_or(Kept::Same, Kept::Differs)
    }

    /// Takes every check of a rule with this verdict and this evidence. Returns their subjects.
    pub(super) fn take_all(&mut self, rule: &Rule, verdict: &Verdict, basis: u64) -> Vec<SubjectNumber> {
        let (rule, redacted) = (self.number(rule.code), &self.redacted);
        let same = |row: &&mut Row| {
            Some(row.key.rule) == rule && !row.taken && row.difference(verdict, basis, redacted).is_none()
        };
        let taken = self.rows.iter_mut().filter(same).map(|row| {
            row.taken = true;
            row.key.subject
        });
        taken.collect()
    }

    /// Takes the checks of a rule that is not known here. Returns their number.
    pub(super) fn take_rule(&mut self, code: &str) -> u64 {
        let rule = self.number(code);
        let left = self.rows.iter_mut().filter(|row| Some(row.key.rule) == rule && !row.taken);
        left.map(|row| row.taken = true).map(|()| 1).sum()
    }

    /// The subjects of a rule's checks.
    pub(super) fn subjects_of(&self, rule: &Rule) -> impl Iterator<Item = SubjectNumber> {
        let rule = self.number(rule.code);
        self.rows.iter().filter(move |row| Some(row.key.rule) == rule).map(|row| row.key.subject)
    }

    /// The first checks that were not taken: their rules and subjects.
    pub(super) fn left(&self, most: usize) -> impl Iterator<Item = (&str, SubjectNumber)> {
        let left = self.rows.iter().filter(|row| !row.taken).take(most);
        let code = |rule| self.rules.get(usize::from(rule)).map_or("a check", |code| &**code);
        left.map(move |row| (code(row.key.rule), row.key.subject))
    }
}

impl Row {
    /// How the check differs from the verdict, in words.
    fn difference(&self, verdict: &Verdict, basis: u64, redacted: &HashMap<u64, Box<str>>) -> Option<String> {
        let follows =
            || format!("{} ({}) follows from the facts", verdict.status.as_str(), verdict.reason.code);
        if self.status != verdict.status {
            return Some(format!("it says {}, but {}", self.status.as_str(), follows()));
        }
        if self.reason != hash(verdict.reason.code) {
            return Some(format!("it has another reason, but {}", follows()));
        }
        let actual = verdict.actual.as_deref();
        if self.actual != hash(actual)
            && !redacted.get(&self.actual).is_some_and(|text| is_redacted(actual, text))
        {
            let text = actual.unwrap_or_default();
            return Some(format!("its text is not the one that follows from the facts: {text}"));
        }
        (self.basis != basis)
            .then(|| "it refers to other evidence than the observations of its subject".to_string())
    }
}

fn at(rows: &[Row], place: u32) -> Option<&Row> {
    rows.get(saturating_usize(u64::from(place)))
}

/// Whether `redacted` is `text` with parts of it redacted.
fn is_redacted(text: Option<&str>, redacted: &str) -> bool {
    let Some(mut text) = text else { return false };
    let mut parts = redacted.split(REDACTED);
    let Some(rest) = parts.next().and_then(|first| text.strip_prefix(first)) else { return false };
    text = rest;
    let mut parts = parts.map(|part| part.split_once(']').map_or("", |(_, behind)| behind)).peekable();
    while let Some(part) = parts.next() {
        if parts.peek().is_none() {
            return text.ends_with(part);
        }
        let Some(at) = text.find(part) else { return false };
        text = text.get(at + part.len()..).unwrap_or_default();
    }
    true
}
