//! The effort for one text: what to search again, and when to give up. Giving up is a finding, never silence.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};

use super::search::TextOrigin;
use crate::views::View;

/// How many bytes of views to search for each byte of the text, and how many whatever its length. Ordinary evidence
/// needs less than a quarter.
const TIMES: usize = 12;
const LEAST: usize = 256 * 1024;

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
