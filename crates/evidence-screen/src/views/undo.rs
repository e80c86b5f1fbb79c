//! Replaces escaped characters by the characters themselves.
//!
//! Copies only the surroundings of escapes: most of a text has none, and has been searched already.

use super::view::View;

/// How much of the text around an escape to copy; more to complete a word.
const AROUND: usize = 512;

/// The view of the text with its escapes undone; they come in order.
pub(super) fn view(text: &[u8], mut escapes: impl Iterator<Item = Escape>) -> View {
    let mut view = View::default();
    let Some(first) = escapes.next() else { return view };
    let mut done = back_to_gap(text, first.at.saturating_sub(AROUND), 0);
    view.bytes.reserve(text.len().saturating_sub(done));
    let mut next = Some(first);
    while let Some(escape) = next {
        view.push(text.get(done..escape.at).unwrap_or_default(), done, escape.at - done);
        view.push(escape.plain.bytes(), escape.at, escape.length);
        done = escape.at + escape.length;
        next = escapes.next();
        let limit = next.map_or(text.len(), |escape| escape.at);
        let end = on_to_gap(text, done.saturating_add(AROUND).min(limit), limit);
        let start = next.map_or(limit, |escape| back_to_gap(text, escape.at.saturating_sub(AROUND), done));
        // Unless the surroundings of the next one touch these.
        if start > end || next.is_none() {
            view.push(text.get(done..end).unwrap_or_default(), done, end - done);
            view.part(start);
            done = start;
        }
    }
    view
}

fn is_gap(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'"'
}

/// The beginning of the word at `at`, not before `limit`.
fn back_to_gap(text: &[u8], at: usize, limit: usize) -> usize {
    let before = text.get(limit..at.max(limit)).unwrap_or_default();
    limit + before.iter().rposition(|byte| is_gap(*byte)).map_or(0, |gap| gap + 1)
}

/// The end of the word at `at`, not behind `limit`.
fn on_to_gap(text: &[u8], at: usize, limit: usize) -> usize {
    let behind = text.get(at..limit).unwrap_or_default();
    at + behind.iter().position(|byte| is_gap(*byte)).unwrap_or(behind.len())
}

/// An escape and the character that it represents.
#[derive(Clone, Copy)]
pub(super) struct Escape {
    pub(super) at: usize,
    pub(super) length: usize,
    pub(super) plain: Plain,
}

/// The character of an escape.
#[derive(Clone, Copy)]
pub(super) struct Plain {
    buffer: [u8; 4],
    length: usize,
}

impl Plain {
    pub(super) const NOTHING: Plain = Plain { buffer: [0; 4], length: 0 };

    pub(super) fn byte(byte: u8) -> Plain {
        Plain { buffer: [byte, 0, 0, 0], length: 1 }
    }

    /// The character with this code. Half of a surrogate pair represents none that a credential has.
    pub(super) fn code(code: u32) -> Plain {
        let character = char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER);
        let mut buffer = [0; 4];
        let length = character.encode_utf8(&mut buffer).len();
        Plain { buffer, length }
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

/// The number with `count` digits of this base at the beginning.
pub(super) fn number(digits: &[u8], count: usize, base: u32) -> Option<u32> {
    let digits = digits.get(..count)?;
    digits.iter().try_fold(0, |number, digit| Some(number * base + char::from(*digit).to_digit(base)?))
}
