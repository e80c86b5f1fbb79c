//! The effort for one text: what to search again, and when to give up. Giving up is a finding, never silence.
//!
//! There are two limits: for the bytes of views, and for patterns in an estimate of their time in nanoseconds. Both come
//! from lengths and counts only: the same text has the same findings on every machine.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use crate::patterns::{Confidence, Pattern};
use crate::views::View;

/// How many bytes of views to search for each byte of the text, and how many whatever its length. A large file in base64
/// in JSON, which is a text of JSON once more, needs more than half.
const TIMES: usize = 12;
const LEAST: usize = 256 * 1024;

/// The effort of patterns for each byte of the text, and for any text.
const PER_BYTE: usize = 36;
const FOR_ANY: usize = 3_000_000;

/// The effort for a key word at which a pattern may be tried.
pub(super) const PER_KEYWORD: usize = 15;

/// The effort for a byte that a pattern reads.
pub(super) const PER_READ: usize = 1;

/// The effort for a match, and for each byte of it that is read for its parts.
const PER_MATCH: usize = 600;
const PER_MATCHED: usize = 4;

/// How much of a match is read.
pub(super) const LONG: usize = 2048;

/// The origin of a text, which decides what to search for.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum TextOrigin {
    /// The original text: everything.
    Plain,
    /// Decoded text: certain findings only.
    Decoded,
    /// Joined lines: certain findings only, and no credential that only its place identifies.
    Joined,
}

impl TextOrigin {
    pub(super) fn wants(self, rule: &Pattern) -> bool {
        match self {
            TextOrigin::Plain => true,
            TextOrigin::Decoded => rule.confidence == Confidence::High,
            TextOrigin::Joined => rule.confidence == Confidence::High && rule.may_be_cut,
        }
    }
}

pub(super) struct Effort {
    /// For patterns.
    left: usize,
    /// The bytes of views.
    views: usize,
    /// Whether something was left out.
    pub(super) is_spent: bool,
    /// The views of lower layers, and how many layers below them were searched: layers in another order often show the
    /// same.
    known: HashMap<(u64, usize, bool, TextOrigin), usize>,
    keys: RandomState,
}

impl Effort {
    pub(super) fn new(text: &[u8]) -> Effort {
        let left = text.len().saturating_mul(PER_BYTE).saturating_add(FOR_ANY);
        let views = text.len().saturating_mul(TIMES).saturating_add(LEAST);
        Effort { left, views, is_spent: false, known: HashMap::new(), keys: RandomState::new() }
    }

    /// For patterns without a limit.
    pub(super) fn unlimited() -> Effort {
        Effort { left: usize::MAX, ..Effort::new(&[]) }
    }

    /// Takes this much of the effort of patterns. False if not enough is left, now and from then on.
    pub(super) fn spend(&mut self, effort: usize) -> bool {
        match self.left.checked_sub(effort) {
            Some(left) if !self.is_spent => self.left = left,
            _ => self.is_spent = true,
        }
        !self.is_spent
    }

    /// Takes the effort for a match of this length.
    pub(super) fn spend_match(&mut self, length: usize) -> bool {
        self.spend(PER_MATCH.saturating_add(length.min(LONG) * PER_MATCHED).saturating_add(length))
    }

    /// Whether to search this view and `below` layers in it.
    pub(super) fn is_worth(&mut self, view: &View, above: TextOrigin, below: usize) -> bool {
        let key = (self.keys.hash_one(&view.bytes), view.bytes.len(), view.joined, above);
        if self.known.get(&key).is_some_and(|known| *known >= below) {
            return false;
        }
        self.known.insert(key, below);
        match self.views.checked_sub(view.bytes.len()) {
            Some(views) => self.views = views,
            None => self.is_spent = true,
        }
        !self.is_spent
    }
}
