//! Base32 that holds plain text, wherever it begins, in capitals or in small letters.
//!
//! As with base64, each of the eight places where the encoding can begin is tried, and what it would say is text only
//! if enough bytes in a row are below 128.

use super::View;

/// Letters of a group, which says five bytes.
const GROUP: usize = 8;

/// Groups that must in a row say plain text: fifteen bytes, less than a credential of a known form has.
const GROUPS: usize = 3;

/// A word of fewer letters hides nothing.
const SHORTEST: usize = GROUPS * GROUP;

/// What is a letter of base32 in capitals, and what in small letters.
const CAPITAL: u8 = 1;
const SMALL: u8 = 2;

/// In which case each byte is a letter.
static CASES: [u8; 256] = cases();
/// What a letter stands for.
static VALUES: [u8; 256] = values();
/// Which places of a group a letter can have if the group says bytes below 128: the first in the lowest bit, and the
/// same again for every group in a row.
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
    // Which bit of each letter is the highest of a byte.
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
    // As with base64: the last letter first.
    while let Some(stretch) = text.get(at..at + SHORTEST) {
        let mut left = CAPITAL | SMALL;
        let mut is_end = |byte: &u8| {
            left &= case(*byte);
            left == 0
        };
        if let Some(sign) = stretch.iter().rposition(&mut is_end) {
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

/// Where in a word groups can begin, a bit for each, so that enough of them in a row say plain text.
fn phases(word: &[u8]) -> u8 {
    // A bit for each place up to which the letters so far can be those of plain groups.
    let (mut fits, mut phases) = (0_u32, 0);
    for (at, letter) in word.iter().enumerate() {
        fits = (fits << 1 | 1) & PLACES.get(usize::from(*letter)).copied().unwrap_or(0);
        if fits >> (GROUPS * GROUP - 1) != 0 {
            phases |= 1 << ((at + 1) % GROUP);
        }
    }
    phases
}

/// Adds what the letters say, which stand at `at`.
fn decode(letters: &[u8], at: usize, view: &mut View) {
    let value = |letter: &u8| u64::from(VALUES.get(usize::from(*letter)).copied().unwrap_or(0));
    let bits = |letters: &[u8]| letters.iter().fold(0, |bits, letter| (bits << 5) | value(letter));
    let (groups, rest) = letters.as_chunks::<GROUP>();
    view.part(at);
    for (group, at) in groups.iter().zip((at..).step_by(GROUP)) {
        let [_, _, _, bytes @ ..] = bits(group).to_be_bytes();
        view.push(&bytes, at, GROUP);
    }
    // The last bytes, of fewer letters.
    let bytes = rest.len() * 5 / 8;
    let [_, _, _, last @ ..] = (bits(rest) << (5 * (GROUP - rest.len()))).to_be_bytes();
    view.push(last.get(..bytes).unwrap_or_default(), at + letters.len() - rest.len(), rest.len());
}
