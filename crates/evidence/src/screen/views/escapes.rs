//! Escapes of JSON strings, of URLs and of what this tool prints: `\u0067`, `\n`, `\/`, `\x67`, `%67`, `\u{67}`.
//!
//! Only the surroundings of escapes are copied: most of a text has none, and was searched already.

use memchr::memchr2;

use super::View;

/// How far around an escape the text is copied; further where a word goes on.
const AROUND: usize = 512;

pub(super) fn view(text: &[u8]) -> View {
    let mut view = View::default();
    let mut escapes = Escapes { text, at: 0 };
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

/// An escape and what it stands for.
#[derive(Clone, Copy)]
struct Escape {
    at: usize,
    length: usize,
    plain: Plain,
}

#[derive(Clone, Copy)]
struct Plain {
    buffer: [u8; 4],
    length: usize,
}

impl Plain {
    fn byte(byte: u8) -> Plain {
        Plain { buffer: [byte, 0, 0, 0], length: 1 }
    }

    fn character(character: char) -> Plain {
        let mut buffer = [0; 4];
        let length = character.encode_utf8(&mut buffer).len();
        Plain { buffer, length }
    }

    fn bytes(&self) -> &[u8] {
        self.buffer.get(..self.length).unwrap_or_default()
    }
}

struct Escapes<'a> {
    text: &'a [u8],
    at: usize,
}

impl Iterator for Escapes<'_> {
    type Item = Escape;

    fn next(&mut self) -> Option<Escape> {
        loop {
            let rest = self.text.get(self.at..)?;
            let at = self.at + memchr2(b'\\', b'%', rest)?;
            let rest = self.text.get(at..)?;
            if let Some((plain, length)) = read(rest) {
                self.at = at + length;
                return Some(Escape { at, length, plain });
            }
            self.at = at + 1;
        }
    }
}

/// The escape with which `rest` begins.
fn read(rest: &[u8]) -> Option<(Plain, usize)> {
    match rest {
        [b'%', digits @ ..] => Some((Plain::byte(number(digits, 2)?.try_into().ok()?), 3)),
        [b'\\', b'x', digits @ ..] => Some((Plain::byte(number(digits, 2)?.try_into().ok()?), 4)),
        [b'\\', b'u', b'{', digits @ ..] => {
            let count = digits.iter().take(7).position(|digit| *digit == b'}')?;
            let code = number(digits, count)?;
            Some((Plain::character(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)), count + 4))
        }
        // Half of a pair stands for no character that a credential has.
        [b'\\', b'u', digits @ ..] => {
            let code = number(digits, 4)?;
            Some((Plain::character(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER)), 6))
        }
        [b'\\', sign, ..] => {
            let plain = match sign {
                b'n' => b'\n',
                b'r' => b'\r',
                b't' => b'\t',
                b'b' | b'f' => b' ',
                b'"' | b'\'' | b'/' | b'\\' => *sign,
                _ => return None,
            };
            Some((Plain::byte(plain), 2))
        }
        _ => None,
    }
}

fn number(digits: &[u8], count: usize) -> Option<u32> {
    let digits = digits.get(..count)?;
    digits.iter().try_fold(0, |number, digit| Some(number * 16 + char::from(*digit).to_digit(16)?))
}
