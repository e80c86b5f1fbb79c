//! Reproducible samples: the auditor provides a seed, and a hash puts the rows in order.
//!
//! The order is the SHA-256 of `seed:identity` in UTF-8, smallest first. It depends on nothing else, so stock tools
//! draw the same sample. Only the drawn rows stay in memory.

use std::collections::BTreeMap;
use std::io;

use evidence_bundle::document::{Check, Member};
use evidence_bundle::read::{ControlHead, Row, Sink};
use evidence_bundle::text::is_deceptive;
use sha2::{Digest as _, Sha256};

use crate::checks::CheckSink;
use crate::filter::{CheckFilter, MemberFilter, UnknownName};
use crate::sanitize::{Sanitize, sanitized};

/// The auditor's text that decides which rows are drawn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seed(String);

/// Why a text is not a seed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// It is empty, or only white space.
    #[error("the seed is empty")]
    Empty,
    /// It has a line break or another invisible character.
    #[error("the seed has a line break or another invisible character")]
    Invisible,
}

impl Seed {
    /// Makes a seed of this exact text: case and spaces matter.
    ///
    /// # Errors
    /// Fails with [`SeedError`] if a reader of the sample could not retype the text.
    pub fn new(text: &str) -> Result<Seed, SeedError> {
        if text.trim().is_empty() {
            Err(SeedError::Empty)
        } else if text.chars().any(is_deceptive) {
            Err(SeedError::Invisible)
        } else {
            Ok(Seed(text.to_owned()))
        }
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hash that decides the position of the row with this identity.
    pub fn rank(&self, identity: &str) -> [u8; 32] {
        let mut hash = Sha256::new();
        for part in [self.as_str(), ":", identity] {
            hash.update(part);
        }
        hash.finalize().into()
    }
}

/// The identity of a check in a sample: `control|source|rule|subject`, each exactly as in the document.
pub fn check_identity(control: &str, check: &Check) -> String {
    [control, &check.source, &check.rule, &check.subject].join("|")
}

/// The identity of a member of the population in a sample: `source|kind|name`, each exactly as in the document.
pub fn member_identity(member: &Member) -> String {
    [member.source.as_str(), &member.kind, &member.name].join("|")
}

/// Draws rows, one by one, and keeps those with the smallest hashes.
#[derive(Debug)]
pub struct Draw<T> {
    seed: Seed,
    count: usize,
    rows: u64,
    /// By hash; rows with the same identity by their order in the document.
    drawn: BTreeMap<([u8; 32], u64), (String, T)>,
}

impl<T> Draw<T> {
    /// A draw of this many rows.
    pub fn new(seed: Seed, count: usize) -> Draw<T> {
        Draw { seed, count, rows: 0, drawn: BTreeMap::new() }
    }

    /// Keeps the row if it is among the smallest so far.
    pub fn offer(&mut self, identity: &str, row: impl FnOnce() -> T) {
        let place = (self.seed.rank(identity), self.rows);
        self.rows = self.rows.saturating_add(1);
        let is_full = self.drawn.len() >= self.count;
        if is_full && self.drawn.last_key_value().is_none_or(|(last, _)| place >= *last) {
            return;
        }
        self.drawn.insert(place, (sanitized(identity), row()));
        if is_full {
            self.drawn.pop_last();
        }
    }

    /// The sample.
    pub fn finish(self) -> Sample<T> {
        let item = |((sha256, _), (identity, row))| Drawn { sha256: hex::encode(sha256), identity, row };
        Sample { rows: self.rows, drawn: self.drawn.into_iter().map(item).collect() }
    }
}

/// The drawn rows.
#[derive(Debug)]
pub struct Sample<T> {
    /// The number of rows that it was drawn from.
    pub rows: u64,
    /// The drawn rows, smallest hash first.
    pub drawn: Vec<Drawn<T>>,
}

/// A row that was drawn.
#[derive(Debug)]
pub struct Drawn<T> {
    /// The SHA-256 of `seed:identity`, in hex.
    pub sha256: String,
    /// The identity, fit to print.
    pub identity: String,
    /// The row.
    pub row: T,
}

/// A check of a sample, fit to print.
#[derive(Debug)]
pub struct SampledCheck {
    /// The identifier of the control.
    pub control: String,
    /// The framework's own criteria under which the evidence is commonly filed.
    pub criteria: Vec<String>,
    /// The check; its evidence may be cut.
    pub check: Check,
}

/// Draws from the checks that match a filter.
#[derive(Debug)]
pub struct CheckDraw {
    filter: CheckFilter,
    controls: Vec<ControlHead>,
    /// The draw.
    pub draw: Draw<SampledCheck>,
}

impl CheckDraw {
    /// Draws from these checks.
    pub fn new(draw: Draw<SampledCheck>, filter: CheckFilter) -> CheckDraw {
        CheckDraw { filter, controls: Vec::new(), draw }
    }

    /// The first name in the filter that the bundle, which has these sources, does not have.
    pub fn unknown(&self, sources: &[String]) -> Option<UnknownName> {
        self.filter.unknown(&self.controls, sources)
    }
}

impl CheckSink for CheckDraw {
    fn control(&mut self, control: &ControlHead) {
        self.controls.push(control.clone());
    }

    fn check(&mut self, control: &ControlHead, mut check: Check) -> io::Result<()> {
        if self.filter.takes(control, &check) {
            self.draw.offer(&check_identity(&control.id, &check), || {
                let criteria = control.criteria(&check.rule).iter().map(|id| sanitized(id)).collect();
                check.sanitize();
                SampledCheck { control: sanitized(&control.id), criteria, check }
            });
        }
        Ok(())
    }
}

/// Draws from the members of the population that match a filter.
#[derive(Debug)]
pub struct MemberDraw {
    filter: MemberFilter,
    /// The draw, fit to print.
    pub draw: Draw<Member>,
}

impl MemberDraw {
    /// Draws from these members.
    pub fn new(draw: Draw<Member>, filter: MemberFilter) -> MemberDraw {
        MemberDraw { filter, draw }
    }
}

impl Sink for MemberDraw {
    fn row(&mut self, row: Row<'_>) -> io::Result<()> {
        if let Row::Member(member) = row
            && self.filter.matches(member)
        {
            self.draw.offer(&member_identity(member), || {
                let mut member = member.clone();
                member.sanitize();
                member
            });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(seed: &str, count: usize, identities: &[&str]) -> Vec<(String, usize)> {
        let mut draw = Draw::new(Seed::new(seed).unwrap(), count);
        for (index, identity) in identities.iter().enumerate() {
            draw.offer(identity, || index);
        }
        let sample = draw.finish();
        assert_eq!(sample.rows, u64::try_from(identities.len()).unwrap());
        sample.drawn.into_iter().map(|drawn| (drawn.sha256, drawn.row)).collect()
    }

    #[test]
    fn a_sample_is_the_beginning_of_the_whole_order() {
        let names: Vec<String> = (0..500).map(|n| format!("codehost|repository|acme/{n}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let all = sample("2026-Q4", 1_000, &names);
        assert_eq!(all.len(), 500);
        assert!(all.is_sorted());
        for count in [0, 1, 25, 499, 500] {
            assert_eq!(sample("2026-Q4", count, &names), all[..count]);
        }
        // printf '%s:%s' 2026-Q4 'codehost|repository|acme/0' | sha256sum
        let first = all.iter().find(|(_, index)| *index == 0).unwrap();
        assert_eq!(first.0, hex::encode(Sha256::digest("2026-Q4:codehost|repository|acme/0")));
        assert_ne!(sample("2026-Q3", 25, &names), all[..25]);
        // The order of the document does not matter.
        let turned: Vec<&str> = names.iter().rev().copied().collect();
        let hashes = |rows: Vec<(String, usize)>| rows.into_iter().map(|row| row.0).collect::<Vec<_>>();
        assert_eq!(hashes(sample("2026-Q4", 25, &turned)), hashes(sample("2026-Q4", 25, &names)));
    }

    #[test]
    fn rows_with_one_identity_are_several_rows() {
        let rows = sample("s", 2, &["a", "a", "a"]);
        assert_eq!(rows.iter().map(|row| row.1).collect::<Vec<_>>(), [0, 1]);
        assert_eq!(rows[0].0, rows[1].0);
    }

    #[test]
    fn a_seed_can_be_typed_again() {
        for text in ["2026-Q4", " a b ", "caf\u{e9}", "'; rm -rf /", "a:b"] {
            assert_eq!(Seed::new(text).unwrap().as_str(), text);
        }
        for text in ["", " ", "\n"] {
            assert_eq!(Seed::new(text), Err(SeedError::Empty));
        }
        for text in ["a\n", "a\0", "\u{202e}a", "\u{feff}a"] {
            assert_eq!(Seed::new(text), Err(SeedError::Invisible));
        }
    }

    #[test]
    fn the_hash_is_of_the_exact_text_and_what_is_shown_is_safe() {
        let name = "acme/\u{202e}x\n";
        let row =
            serde_json::json!({ "source": "codehost", "kind": "repository", "name": name, "in_scope": true });
        let member: Member = serde_json::from_value(row).unwrap();
        let mut reader = MemberDraw::new(Draw::new(Seed::new("s").unwrap(), 1), MemberFilter::default());
        reader.row(Row::Member(&member)).unwrap();
        let sample = reader.draw.finish();
        assert_eq!(
            sample.drawn[0].sha256,
            hex::encode(Sha256::digest(format!("s:codehost|repository|{name}")))
        );
        assert_eq!(sample.drawn[0].identity, "codehost|repository|acme/\\u{202e}x\\u{a}");
        assert_eq!(sample.drawn[0].row.name, "acme/\\u{202e}x\\u{a}");
    }
}
