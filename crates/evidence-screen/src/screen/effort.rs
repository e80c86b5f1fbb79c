//! The effort for one text: what to search again, and when to give up. Giving up is a finding, never silence.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use crate::patterns::{Confidence, Pattern};
use crate::views::View;

/// How many bytes of views to search for each byte of the text, and how many whatever its length. Ordinary evidence
/// needs less than a quarter.
const TIMES: usize = 12;
const LEAST: usize = 256 * 1024;

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
    left: usize,
    /// Whether something was left out.
    pub(super) is_spent: bool,
    /// The views of lower layers, and how many layers below them were searched: layers in another order often show the
    /// same.
    known: HashMap<(u64, usize, bool, TextOrigin), usize>,
    keys: RandomState,
}

impl Effort {
    pub(super) fn new(text: &[u8]) -> Effort {
        let left = text.len().saturating_mul(TIMES).saturating_add(LEAST);
        Effort { left, is_spent: false, known: HashMap::new(), keys: RandomState::new() }
    }

    /// Whether to search this view and `below` layers in it.
    pub(super) fn is_worth(&mut self, view: &View, above: TextOrigin, below: usize) -> bool {
        let Some(left) = self.left.checked_sub(view.bytes.len()) else {
            self.is_spent = true;
            return false;
        };
        let key = (self.keys.hash_one(&view.bytes), view.bytes.len(), view.joined, above);
        if self.known.get(&key).is_some_and(|known| *known >= below) {
            return false;
        }
        self.known.insert(key, below);
        self.left = left;
        true
    }
}
