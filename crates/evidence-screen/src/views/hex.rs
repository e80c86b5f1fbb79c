//! Hexadecimal digits of plain text in either case: `6768705f`, `67 68 70 5f`, `67:68:70:5f`, `0x67, 0x68, 0x70`.
//!
//! Like base64: both offsets are tried, and the result is text only if enough bytes in a row are printable, which the
//! digits of a digest never are for long.

use super::view::View;

/// How many bytes in a row must be printable: fewer than any credential of a known form has.
const BYTES: usize = 12;

/// The same in digits: fewer hide nothing.
const SHORTEST: usize = 2 * BYTES;

const DIGIT: u8 = 1;
const SEPARATOR: u8 = 2;
/// The first digit of a printable byte.
const BEGINS: u8 = 4;

static KINDS: [u8; 256] = kinds();

#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which checks it")]
const fn kinds() -> [u8; 256] {
    let mut kinds = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'0' | b'2'..=b'7' => DIGIT | BEGINS,
            b'1' | b'8'..=b'9' | b'a'..=b'f' | b'A'..=b'F' => DIGIT,
            b' ' | b':' | b',' | b'x' => SEPARATOR,
            _ => 0,
        };
        byte += 1;
    }
    kinds
}

fn kind(byte: u8) -> u8 {
    KINDS.get(usize::from(byte)).copied().unwrap_or(0)
}

pub(super) fn view(text: &[u8]) -> View {
    let mut view = View::default();
    let (mut digits, mut known) = (Vec::new(), Vec::new());
    let mut at = 0;
    // As in base64: the last sign first.
    while let Some(span) = text.get(at..at + SHORTEST) {
        if let Some(sign) = span.iter().rposition(|byte| kind(*byte) == 0) {
            at += sign + 1;
            continue;
        }
        let more = text.get(at + SHORTEST..).unwrap_or_default();
        let end = at + SHORTEST + more.iter().position(|byte| kind(*byte) == 0).unwrap_or(more.len());
        // Most are digests.
        if may_say(text.get(at..end).unwrap_or_default(), &mut known) {
            collect(text, at, end, &mut digits);
            (0..2).for_each(|phase| decode(digits.get(phase..).unwrap_or_default(), &mut view));
        }
        at = end;
    }
    view
}

/// Whether printable bytes can be among the digits: every second digit of enough in a row is that of a letter or a
/// sign. `digits` is a scratch buffer.
fn may_say(span: &[u8], digits: &mut Vec<u8>) -> bool {
    digits.clear();
    for part in span.split_inclusive(|byte| kind(*byte) == SEPARATOR) {
        digits.extend_from_slice(match part {
            [part @ .., b'0', b'x'] => part,
            [part @ .., last] if kind(*last) == SEPARATOR => part,
            part => part,
        });
    }
    (0..2).any(|phase| says(digits.get(phase..).unwrap_or_default()))
}

/// Whether every second digit of enough in a row, from the first on, begins a printable byte.
fn says(digits: &[u8]) -> bool {
    let mut at = 0;
    while let Some(part) = digits.get(at..at + SHORTEST) {
        let (pairs, _) = part.as_chunks::<2>();
        // The last pair first: if it is not printable, the ones before it can be skipped.
        match pairs.iter().rposition(|[first, _]| kind(*first) & BEGINS == 0) {
            Some(pair) => at += 2 * (pair + 1),
            None => return true,
        }
    }
    false
}

/// The values of the digits and their places, without separators and `0x`.
fn collect(text: &[u8], start: usize, end: usize, digits: &mut Vec<(u8, usize)>) {
    digits.clear();
    let span = text.get(start..end).unwrap_or_default();
    for (at, byte) in span.iter().enumerate() {
        let is_mark = *byte == b'0' && span.get(at + 1) == Some(&b'x');
        if let Some(value) = char::from(*byte).to_digit(16).filter(|_| !is_mark) {
            digits.push((value as u8, start + at));
        }
    }
}

/// Adds the printable stretches of the digits.
fn decode(digits: &[(u8, usize)], view: &mut View) {
    let (pairs, _) = digits.as_chunks::<2>();
    let said = |pair: &[(u8, usize); 2]| {
        let [(high, _), (low, _)] = pair;
        Some(high << 4 | low).filter(|byte| matches!(byte, b' '..=b'~' | 0 | b'\n' | b'\r' | b'\t'))
    };
    let mut at = 0;
    while let Some(span) = pairs.get(at..at + BYTES) {
        if let Some(other) = span.iter().rposition(|pair| said(pair).is_none()) {
            at += other + 1;
            continue;
        }
        let Some([(_, from), _]) = pairs.get(at) else { return };
        view.part(*from);
        while let Some((byte, [(_, first), (_, last)])) =
            pairs.get(at).and_then(|pair| Some((said(pair)?, pair)))
        {
            view.push(&[byte], *first, last + 1 - first);
            at += 1;
        }
    }
}
