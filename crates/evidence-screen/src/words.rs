//! Finds all key words in one pass, ignoring case.
//!
//! A table lookup per byte depends on the one before. Several parts of a text are therefore searched in an interleaved
//! way, so that the lookups overlap. Nothing here knows what a word means.

use std::ops::Range;

use aho_corasick::Anchored;
use aho_corasick::automaton::{Automaton as _, StateID};
use aho_corasick::dfa::DFA;

/// How many parts of a text are searched at once.
const LANES: usize = 4;

/// How much of a text is divided at a time: hits in later parts are buffered until the earlier ones are done.
const BLOCK: usize = LANES * 64 * 1024;

/// A state machine over bytes.
pub(super) trait Table {
    /// What matters of the bytes so far.
    type State: Copy;

    /// The state after this byte.
    fn next(&self, state: Self::State, byte: u8) -> Self::State;

    /// Whether a word may end here; a quick test.
    fn is_special(&self, state: Self::State) -> bool;

    /// Calls `take` with every word that ends here, and its length.
    fn words(&self, state: Self::State, take: impl FnMut(usize, usize));

    /// The state at `at`: a word may have begun before it. Reads at most `limit` bytes.
    fn state_at(&self, text: &[u8], at: usize, limit: usize) -> Self::State;

    /// The length of the longest word, in bytes.
    fn longest(&self) -> usize;
}

/// Finds words by a table.
#[derive(Default)]
pub(super) struct Words<T> {
    table: T,
}

/// Key words, ignoring case.
pub(super) struct Keys {
    table: DFA,
    start: StateID,
}

impl Table for Keys {
    type State = StateID;

    #[inline]
    fn next(&self, state: StateID, byte: u8) -> StateID {
        self.table.next_state(Anchored::No, state, byte)
    }

    #[inline]
    fn is_special(&self, state: StateID) -> bool {
        self.table.is_special(state)
    }

    fn words(&self, state: StateID, mut take: impl FnMut(usize, usize)) {
        if !self.table.is_match(state) {
            return;
        }
        for index in 0..self.table.match_len(state) {
            let word = self.table.match_pattern(state, index);
            take(word.as_usize(), self.table.pattern_len(word));
        }
    }

    fn state_at(&self, text: &[u8], at: usize, _: usize) -> StateID {
        let before = text.get(at.saturating_sub(self.longest())..at).unwrap_or_default();
        before.iter().fold(self.start, |state, byte| self.next(state, *byte))
    }

    fn longest(&self) -> usize {
        self.table.max_pattern_len()
    }
}

/// An occurrence of a word in a text.
pub(super) struct Hit {
    /// The index of the word, in the order given.
    pub(super) word: usize,
    /// Its place.
    pub(super) range: Range<usize>,
}

impl Words<Keys> {
    /// `None` if there are too many for one table.
    pub(super) fn new(words: &[&[u8]]) -> Option<Words<Keys>> {
        let table = DFA::builder().ascii_case_insensitive(true).prefilter(false).build(words).ok()?;
        let start = table.start_state(Anchored::No).ok()?;
        Some(Words::of(Keys { table, start }))
    }
}

impl<T: Table> Words<T> {
    pub(super) fn of(table: T) -> Words<T> {
        Words { table }
    }

    /// Calls `take` with every wanted word in the text, ordered by their ends.
    pub(super) fn each(&self, text: &[u8], wanted: impl Fn(&Hit) -> bool, mut take: impl FnMut(Hit)) {
        for at in (0..text.len()).step_by(BLOCK) {
            let block = at..text.len().min(at + BLOCK);
            let mut found: [Vec<Hit>; LANES] = Default::default();
            let lane = block.len().div_ceil(LANES);
            if lane < 2 * self.table.longest() {
                let [found, ..] = &mut found;
                let state = self.state_at(text, at);
                self.one(text, block, state, &mut |hit| found.extend(Some(hit).filter(&wanted)));
            } else {
                let mut keep = |lane: usize, hit: Hit| {
                    if let Some(found) = found.get_mut(lane)
                        && wanted(&hit)
                    {
                        found.push(hit);
                    }
                };
                self.side_by_side(text, block, lane, &mut keep);
            }
            found.into_iter().flatten().for_each(&mut take);
        }
    }

    /// Searches the parts of a block, each of `length` bytes except the last.
    fn side_by_side(
        &self,
        text: &[u8],
        block: Range<usize>,
        length: usize,
        keep: &mut impl FnMut(usize, Hit),
    ) {
        let part = |lane: usize| {
            block.end.min(block.start + lane * length)..block.end.min(block.start + (lane + 1) * length)
        };
        let parts: [Range<usize>; LANES] = std::array::from_fn(part);
        let mut states = parts.each_ref().map(|part| self.state_at(text, part.start));
        // The last part is the shortest.
        let together = parts.last().map_or(0, Range::len);
        let mut done = 0;
        while done < together {
            let rest = parts
                .each_ref()
                .map(|part| text.get(part.start + done..part.start + together).unwrap_or_default());
            done += self.until_special(rest, &mut states);
            for (lane, (part, state)) in parts.iter().zip(&states).enumerate() {
                self.emit(*state, part.start + done, &mut |hit| keep(lane, hit));
            }
        }
        for (lane, (part, state)) in parts.iter().zip(states).enumerate() {
            self.one(text, part.start + done..part.end, state, &mut |hit| keep(lane, hit));
        }
    }

    /// Advances in all parts until a word may end in one of them, and returns that position. A separate function, so
    /// that the states stay in registers.
    #[inline(never)]
    fn until_special(&self, parts: [&[u8]; LANES], states: &mut [T::State; LANES]) -> usize {
        let [a, b, c, d] = parts;
        let [mut first, mut second, mut third, mut fourth] = *states;
        let mut done = 0;
        for (((a, b), c), d) in a.iter().zip(b).zip(c).zip(d) {
            first = self.table.next(first, *a);
            second = self.table.next(second, *b);
            third = self.table.next(third, *c);
            fourth = self.table.next(fourth, *d);
            done += 1;
            if self.table.is_special(first)
                | self.table.is_special(second)
                | self.table.is_special(third)
                | self.table.is_special(fourth)
            {
                break;
            }
        }
        *states = [first, second, third, fourth];
        done
    }

    /// Searches one part.
    fn one(&self, text: &[u8], part: Range<usize>, mut state: T::State, keep: &mut impl FnMut(Hit)) {
        for (byte, end) in text.get(part.clone()).unwrap_or_default().iter().zip(part.start + 1..) {
            state = self.table.next(state, *byte);
            if self.table.is_special(state) {
                self.emit(state, end, keep);
            }
        }
    }

    /// The state at this place.
    fn state_at(&self, text: &[u8], at: usize) -> T::State {
        // At most the length of a part, so that the time stays linear.
        self.table.state_at(text, at, BLOCK / LANES)
    }

    /// The words that end here.
    fn emit(&self, state: T::State, end: usize, keep: &mut impl FnMut(Hit)) {
        self.table.words(state, |word, length| keep(Hit { word, range: end.saturating_sub(length)..end }));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words at and around every border of the parts are found once and in order.
    #[test]
    fn finds_what_is_there_wherever_the_parts_meet() {
        let texts: [&[u8]; 4] = [b"ab", b"abab", b"x", b"a-much-longer-word"];
        let words = Words::new(&texts).unwrap();
        let naive = |text: &[u8]| {
            let mut all: Vec<(usize, usize)> = Vec::new();
            for end in 0..=text.len() {
                for (index, word) in texts.iter().enumerate() {
                    let start = end.checked_sub(word.len());
                    if start.is_some_and(|start| text[start..end].eq_ignore_ascii_case(word)) {
                        all.push((end, index));
                    }
                }
            }
            all.sort_unstable();
            all
        };
        let found = |text: &[u8]| {
            let mut all = Vec::new();
            words.each(text, |hit| hit.word != 2, |hit| all.push((hit.range.end, hit.word)));
            assert!(all.is_sorted_by_key(|(end, _)| *end));
            all.sort_unstable();
            all
        };
        for length in
            [0, 1, 2, 7, 71, 72, 73, 143, 144, 145, 1_000, BLOCK - 1, BLOCK, BLOCK + 1, 2 * BLOCK + 5]
        {
            for piece in ["ab", "aBx", "y", "ya-much-LONGER-wordab"] {
                let text: Vec<u8> = piece.bytes().cycle().take(length).collect();
                let mut expected = naive(&text);
                expected.retain(|(_, word)| *word != 2);
                assert!(found(&text) == expected, "{length} bytes of {piece}");
            }
        }
    }
}
