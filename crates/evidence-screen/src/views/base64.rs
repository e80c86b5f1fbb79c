//! Base64 of plain text in either alphabet, at any offset.
//!
//! The offset of the encoding is unknown if other letters precede it, so all four are tried. The result is text only
//! if every byte is below 128, which random letters do not satisfy for long.

use std::ops::Range;

use super::view::View;

/// How many groups of four letters in a row must decode to plain text: twelve bytes, fewer than any credential
/// has.
const GROUPS: usize = 4;

/// The same in letters.
const SHORTEST: usize = 4 * GROUPS;

/// The positions that a letter can have in a group of bytes below 128.
const FIRST: u8 = 1;
const SECOND: u8 = 2;
const THIRD: u8 = 4;
const FOURTH: u8 = 8;

/// The possible positions of each letter, in the upper half; zero for other bytes.
static PLACES: [u8; 256] = places();
/// The value of each letter.
static VALUES: [u8; 256] = values();

#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which checks it")]
const fn values() -> [u8; 256] {
    let mut values = [u8::MAX; 256];
    let letters = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut value = 0;
    while value < 64 {
        values[letters[value] as usize] = value as u8;
        value += 1;
    }
    values[b'-' as usize] = 62;
    values[b'_' as usize] = 63;
    values
}

#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which checks it")]
const fn places() -> [u8; 256] {
    let values = values();
    let mut places = [0; 256];
    let mut letter = 0;
    while letter < 256 {
        let value = values[letter];
        if value != u8::MAX {
            // The highest bits of the three bytes are in the first, second and third letter.
            let first = if value & 0b10_0000 == 0 { FIRST } else { 0 };
            let second = if value & 0b00_1000 == 0 { SECOND } else { 0 };
            let third = if value & 0b00_0010 == 0 { THIRD } else { 0 };
            places[letter] = first | second | third | FOURTH;
        }
        letter += 1;
    }
    places
}

fn value(letter: u8) -> Option<u32> {
    VALUES.get(usize::from(letter)).copied().filter(|value| *value != u8::MAX).map(u32::from)
}

/// Whether the group decodes to three bytes below 128.
#[inline]
fn says_plain([a, b, c, d]: &[u8; 4]) -> bool {
    let place = |letter: &u8| PLACES.get(usize::from(*letter)).copied().unwrap_or(0);
    let fits = (place(a) & FIRST) | (place(b) & SECOND) | (place(c) & THIRD) | (place(d) & FOURTH);
    fits == FIRST | SECOND | THIRD | FOURTH
}

pub(super) fn view(text: &[u8]) -> View {
    let mut view = View::default();
    let mut at = 0;
    // Most texts have a sign between any two words: testing the last letter first skips nearly all of it.
    while let Some(span) = text.get(at..at + SHORTEST) {
        if let Some(sign) = span.iter().rposition(|byte| !is_letter(*byte)) {
            at += sign + 1;
            continue;
        }
        let more = text.get(at + SHORTEST..).unwrap_or_default();
        let end = at + SHORTEST + more.iter().position(|byte| !is_letter(*byte)).unwrap_or(more.len());
        (0..4).for_each(|phase| search(text, at + phase..end, &mut view));
        at = end + 1;
    }
    // The phases are not in the order of the text, which `back` does not require.
    view
}

/// Adds the decoded groups of four in `letters`, if the first group begins with them.
fn search(text: &[u8], letters: Range<usize>, view: &mut View) {
    let mut at = letters.start;
    let mut said = Vec::new();
    let mut done = None;
    while at + SHORTEST <= letters.end {
        let Some(span) = text.get(at..).and_then(|rest| rest.first_chunk::<SHORTEST>()) else { return };
        let (groups, _) = span.as_chunks::<4>();
        // The last group first: if it is not plain, the ones before it can be skipped.
        match groups.iter().rposition(|group| !says_plain(group)) {
            Some(group) => at += 4 * (group + 1),
            None => at = take(text, at..letters.end, &mut done, &mut said, view),
        }
    }
}

fn is_letter(byte: u8) -> bool {
    PLACES.get(usize::from(byte)).is_some_and(|places| *places != 0)
}

/// Decodes the text around the stretch with which `letters` begin, and returns its end. `done` is the end of the
/// previous one: one or two other characters between them do not separate them. `bytes` is a scratch buffer.
fn take(
    text: &[u8],
    letters: Range<usize>,
    done: &mut Option<usize>,
    bytes: &mut Vec<u8>,
    view: &mut View,
) -> usize {
    let at = letters.start;
    bytes.clear();
    let (groups, _) = text.get(letters).unwrap_or_default().as_chunks::<4>();
    groups.iter().map_while(said_plain).for_each(|said| bytes.extend_from_slice(&said));
    let end = at + bytes.len() / 3 * 4;
    let before = at.checked_sub(4);
    if done.is_none_or(|done| before.is_none_or(|before| done < before)) {
        view.part(at);
    }
    // The groups at both ends, in which the text shares a group with other bytes.
    if let Some(before) = before.filter(|before| done.is_none_or(|done| done <= *before))
        && let Some(bytes) = decoded(text, before)
    {
        view.push(&bytes, before, 4);
    }
    view.push(bytes, at, end - at);
    *done = Some(end);
    match decoded(text, end) {
        Some(bytes) => {
            view.push(&bytes, end, 4);
            *done = Some(end + 4);
        }
        None => {
            // The last one or two bytes, from two or three letters.
            let letters = text.get(end..).unwrap_or_default().iter().map_while(|letter| value(*letter));
            let letters: Vec<u32> = letters.take(3).collect();
            let bits = letters.iter().fold(0, |bits, value| (bits << 6) | value);
            match letters.len() {
                2 => view.push(&[(bits >> 4) as u8], end, 2),
                3 => view.push(&[(bits >> 10) as u8, (bits >> 2) as u8], end, 3),
                _ => {}
            }
        }
    }
    end
}

fn decoded(text: &[u8], at: usize) -> Option<[u8; 3]> {
    text.get(at..)?.first_chunk::<4>().and_then(said)
}

/// Decodes a group of letters to three bytes below 128. Like [`says_plain`], but faster if most groups are plain.
#[inline]
fn said_plain([a, b, c, d]: &[u8; 4]) -> Option<[u8; 3]> {
    // Not `map` of the array, which the compiler does not always unroll.
    let value = |letter: &u8| VALUES.get(usize::from(*letter)).copied().unwrap_or(u8::MAX);
    let (a, b, c, d) = (value(a), value(b), value(c), value(d));
    let bits = (u32::from(a) << 18) | (u32::from(b) << 12) | (u32::from(c) << 6) | u32::from(d);
    let [_, first, second, third] = bits.to_be_bytes();
    // A letter's value never has the highest bit; the mark of other bytes does.
    ((a | b | c | d) & 0x80 == 0 && (first | second | third) & 0x80 == 0).then_some([first, second, third])
}

/// Decodes a group of letters.
fn said([a, b, c, d]: &[u8; 4]) -> Option<[u8; 3]> {
    let bits = (value(*a)? << 18) | (value(*b)? << 12) | (value(*c)? << 6) | value(*d)?;
    let [_, first, second, third] = bits.to_be_bytes();
    Some([first, second, third])
}
