//! Base32 of plain text, at any offset, in upper or lower case.
//!
//! Like base64: it tries each of the eight possible offsets of the encoding. The result is text only if enough bytes
//! in a row are below 128.

use super::view::View;

/// Letters per group, which encode five bytes.
const GROUP: usize = 8;

/// How many groups in a row must decode to plain text: fifteen bytes, fewer than any credential of a known form
/// has.
const GROUPS: usize = 3;

/// A shorter word hides nothing.
const SHORTEST: usize = GROUPS * GROUP;

/// The flags of an upper-case and a lower-case letter of base32.
const CAPITAL: u8 = 1;
const SMALL: u8 = 2;

/// The cases in which each byte is a letter.
static CASES: [u8; 256] = cases();
/// The value of each letter.
static VALUES: [u8; 256] = values();
/// The positions that a letter can have in a group of bytes below 128: the first in the lowest bit, repeated for
/// every group in a row.
static PLACES: [u32; 256] = places();

#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which checks it")]
const fn cases() -> [u8; 256] {
    let mut cases = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        cases[byte] = match byte as u8 {
            b'A'..=b'Z' => CAPITAL,
            b'a'..=b'z' => SMALL,
            b'2'..=b'7' => CAPITAL | SMALL,
            _ => 0,
        };
        byte += 1;
    }
    cases
}

#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which checks it")]
const fn values() -> [u8; 256] {
    let mut values = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        values[byte] = match byte as u8 {
            letter @ b'A'..=b'Z' => letter - b'A',
            letter @ b'a'..=b'z' => letter - b'a',
            digit @ b'2'..=b'7' => digit - b'2' + 26,
            _ => 0,
        };
        byte += 1;
    }
    values
}

#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which checks it")]
const fn places() -> [u32; 256] {
    let values = values();
    // The bit of each letter that is the highest of a byte.
    let highest = [0b1_0000, 0b0_0010, 0, 0b0_1000, 0b0_0001, 0, 0b0_0100, 0];
    let mut places = [0; 256];
    let mut letter = 0;
    while letter < 256 {
        let mut place = 0;
        while place < GROUPS * GROUP {
            if values[letter] & highest[place % GROUP] == 0 {
                places[letter] |= 1 << place;
            }
            place += 1;
        }
        letter += 1;
    }
    places
}

fn case(byte: u8) -> u8 {
    CASES.get(usize::from(byte)).copied().unwrap_or(0)
}

pub(super) fn view(text: &[u8]) -> View {
    let mut view = View::default();
    let mut at = 0;
    // As in base64: the last letter first.
    while let Some(span) = text.get(at..at + SHORTEST) {
        let mut left = CAPITAL | SMALL;
        let mut is_end = |byte: &u8| {
            left &= case(*byte);
            left == 0
        };
        if let Some(sign) = span.iter().rposition(&mut is_end) {
            at += sign + 1;
            continue;
        }
        let more = text.get(at + SHORTEST..).unwrap_or_default();
        let end = at + SHORTEST + more.iter().position(is_end).unwrap_or(more.len());
        let word = text.get(at..end).unwrap_or_default();
        let phases = phases(word);
        for phase in (0..GROUP).filter(|phase| phases & (1 << phase) != 0) {
            decode(word.get(phase..).unwrap_or_default(), at + phase, &mut view);
        }
        at = end;
    }
    view
}

/// The offsets in a word, as bits, at which enough groups in a row decode to plain text.
fn phases(word: &[u8]) -> u8 {
    // One bit for each position up to which the letters so far fit plain groups.
    let (mut fits, mut phases) = (0_u32, 0);
    for (at, letter) in word.iter().enumerate() {
        fits = (fits << 1 | 1) & PLACES.get(usize::from(*letter)).copied().unwrap_or(0);
        if fits >> (GROUPS * GROUP - 1) != 0 {
            phases |= 1 << ((at + 1) % GROUP);
        }
    }
    phases
}

/// Adds the decoded letters, which begin at `at`.
fn decode(letters: &[u8], at: usize, view: &mut View) {
    let value = |letter: &u8| u64::from(VALUES.get(usize::from(*letter)).copied().unwrap_or(0));
    let bits = |letters: &[u8]| letters.iter().fold(0, |bits, letter| (bits << 5) | value(letter));
    let (groups, rest) = letters.as_chunks::<GROUP>();
    view.part(at);
    for (group, at) in groups.iter().zip((at..).step_by(GROUP)) {
        let [_, _, _, bytes @ ..] = bits(group).to_be_bytes();
        view.push(&bytes, at, GROUP);
    }
    // The last bytes, from fewer letters.
    let bytes = rest.len() * 5 / 8;
    let [_, _, _, last @ ..] = (bits(rest) << (5 * (GROUP - rest.len()))).to_be_bytes();
    view.push(last.get(..bytes).unwrap_or_default(), at + letters.len() - rest.len(), rest.len());
}
