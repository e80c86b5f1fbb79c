//! A table that finds words of one length in a text, counting only its letters and digits.

use std::collections::VecDeque;

use crate::words::Table;

/// The length of every word, in letters and digits.
pub(super) const LENGTH: usize = 8;

/// The length of a row: one column for ignored bytes, 62 for letters and digits, and one that stays empty.
const ROW: usize = 64;

/// The bit of an entry that marks the end of a word.
const END: u32 = 1 << 31;

/// The column of each byte in a row; zero for ignored bytes.
static PLACES: [u8; 256] = places();

#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which checks it")]
const fn places() -> [u8; 256] {
    let mut places = [0; 256];
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    let mut place = 0;
    while place < letters.len() {
        places[letters[place] as usize] = place as u8 + 1;
        place += 1;
    }
    places
}

/// Whether the byte counts.
#[inline]
pub(super) fn counts(byte: u8) -> bool {
    place(byte) != 0
}

#[inline]
fn place(byte: u8) -> usize {
    PLACES.get(usize::from(byte)).map_or(0, |place| usize::from(*place))
}

/// The beginning of the stretch before `end` with this many letters and digits.
pub(super) fn back(text: &[u8], end: usize, count: usize) -> usize {
    let mut left = count;
    let before = text.get(..end).unwrap_or_default().iter().rposition(|byte| {
        left -= usize::from(left > 0 && counts(*byte));
        left == 0
    });
    before.unwrap_or(0)
}

/// The words as a table: a state is the offset of its row, with [`END`] if a word ends there.
#[derive(Default)]
pub(super) struct Squeezed {
    rows: Vec<u32>,
    /// The word that ends in each state.
    words: Vec<Option<usize>>,
}

impl Squeezed {
    /// Builds the table. Every word has [`LENGTH`] letters and digits, and they are distinct.
    pub(super) fn new(words: &[&[u8]]) -> Squeezed {
        let mut table = Squeezed::default();
        table.add();
        for (number, word) in words.iter().enumerate() {
            let end = word.iter().fold(0, |state, byte| match table.entry(state, place(*byte)) {
                0 => {
                    let next = table.add();
                    table.set(state, place(*byte), next);
                    next
                }
                next => next,
            });
            if let Some(word) = table.words.get_mut(end) {
                *word = Some(number);
            }
        }
        table.complete();
        table
    }

    fn add(&mut self) -> usize {
        self.rows.extend([0; ROW]);
        self.words.push(None);
        self.words.len() - 1
    }

    fn entry(&self, state: usize, place: usize) -> usize {
        self.rows.get(state * ROW + place).map_or(0, |next| *next as usize)
    }

    fn set(&mut self, state: usize, place: usize, next: usize) {
        if let Some(entry) = self.rows.get_mut(state * ROW + place) {
            *entry = u32::try_from(next).unwrap_or(0);
        }
    }

    /// Completes the transitions for letters that do not continue a word, as in Aho and Corasick's algorithm: to the
    /// state of the longest suffix that begins a word. Then turns numbers into states.
    fn complete(&mut self) {
        let mut shorter = vec![0; self.words.len()];
        let mut queue = VecDeque::from([0]);
        while let Some(state) = queue.pop_front() {
            for place in 1..ROW {
                let through = match state {
                    0 => 0,
                    _ => self.entry(shorter.get(state).copied().unwrap_or(0), place),
                };
                match self.entry(state, place) {
                    0 => self.set(state, place, through),
                    next => {
                        shorter.get_mut(next).into_iter().for_each(|shorter| *shorter = through);
                        queue.push_back(next);
                    }
                }
            }
            self.set(state, 0, state);
        }
        for (at, entry) in self.rows.iter_mut().enumerate() {
            let ends = at % ROW != 0 && self.words.get(*entry as usize).is_some_and(Option::is_some);
            *entry = (*entry * ROW as u32) | if ends { END } else { 0 };
        }
    }
}

impl Table for Squeezed {
    type State = u32;

    #[inline]
    fn next(&self, state: u32, byte: u8) -> u32 {
        self.rows.get((state & !END) as usize + place(byte)).copied().unwrap_or(0)
    }

    #[inline]
    fn is_special(&self, state: u32) -> bool {
        state & END != 0
    }

    /// The length counts letters and digits only; the table does not know what is between them.
    fn words(&self, state: u32, mut take: impl FnMut(usize, usize)) {
        if self.is_special(state)
            && let Some(word) = self.words.get((state & !END) as usize / ROW).copied().flatten()
        {
            take(word, LENGTH);
        }
    }

    fn state_at(&self, text: &[u8], at: usize, limit: usize) -> u32 {
        // The ignored bytes change no state, and there can be many.
        let before = text.get(at.saturating_sub(limit)..at).unwrap_or_default();
        let mut letters = [0; LENGTH];
        let counted = before.iter().rev().filter(|byte| counts(**byte));
        letters.iter_mut().rev().zip(counted).for_each(|(letter, byte)| *letter = *byte);
        letters.iter().fold(0, |state, byte| self.next(state, *byte))
    }

    fn longest(&self) -> usize {
        LENGTH
    }
}
