//! Escapes of JSON strings, of URLs, of programming languages and of this tool's output: `\u0067`, `\n`, `\/`, `\x67`,
//! `\147`, `\U00000067`, `\u{67}`, `%67`, `%u0067`. Also removes invisible characters.

use std::iter;

use memchr::{memchr2, memchr3};

use super::View;
use super::undo::{self, Escape, Plain, number};

pub(super) fn view(text: &[u8]) -> View {
    let mut signs = Signs { text, next: None, at: 0 };
    let mut done = 0;
    let escapes = iter::from_fn(|| {
        loop {
            let at = signs.next_from(done)?;
            done = at + 1;
            if let Some((plain, length)) = read(text.get(at..)?) {
                done = at + length;
                return Some(Escape { at, length, plain });
            }
        }
    });
    undo::view(text, escapes)
}

/// The possible beginnings of escapes and of invisible characters, which are rare.
struct Signs<'a> {
    text: &'a [u8],
    /// The next possibly invisible character, if the search began before `at`.
    next: Option<usize>,
    at: usize,
}

impl Signs<'_> {
    fn next_from(&mut self, from: usize) -> Option<usize> {
        let rest = self.text.get(from..)?;
        if self.at <= from && self.next.is_none_or(|next| next < from) {
            self.next = memchr3(0xc2, 0xe2, 0xef, rest).map(|next| from + next);
            self.at = self.next.map_or(self.text.len(), |next| next + 1);
        }
        // Not beyond the other one.
        let before = rest.get(..self.next.map_or(rest.len(), |next| next - from)).unwrap_or(rest);
        memchr2(b'\\', b'%', before).map(|sign| from + sign).or(self.next)
    }
}

/// The escape with which `rest` begins.
fn read(rest: &[u8]) -> Option<(Plain, usize)> {
    let byte = |code: Option<u32>| Some(Plain::byte(code?.try_into().ok()?));
    match rest {
        [b'%', b'u' | b'U', digits @ ..] => Some((Plain::code(number(digits, 4, 16)?), 6)),
        [b'%', digits @ ..] => Some((byte(number(digits, 2, 16))?, 3)),
        [b'\\', b'x', digits @ ..] => Some((byte(number(digits, 2, 16))?, 4)),
        [b'\\', b'u', b'{', digits @ ..] => {
            let count = digits.iter().take(7).position(|digit| *digit == b'}')?;
            Some((Plain::code(number(digits, count, 16)?), count + 4))
        }
        [b'\\', b'u', digits @ ..] => Some((Plain::code(number(digits, 4, 16)?), 6)),
        [b'\\', b'U', digits @ ..] => Some((Plain::code(number(digits, 8, 16)?), 10)),
        [b'\\', digits @ ..] if digits.first().is_some_and(|digit| (b'0'..=b'3').contains(digit)) => {
            Some((byte(number(digits, 3, 8))?, 4))
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
        _ => Some((Plain::NOTHING, invisible(rest)?)),
    }
}

/// The length of the invisible characters at the beginning of `rest`, if a letter or a sign follows: soft hyphens,
/// spaces, joiners and marks of zero width, variation selectors. Within an emoji or a word in another script, they hide
/// nothing.
fn invisible(rest: &[u8]) -> Option<usize> {
    let mut length = 0;
    loop {
        length += match rest.get(length..)? {
            [0xc2, 0xad, ..] => 2,
            [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
            | [0xe2, 0x81, 0xa0..=0xaf, ..]
            | [0xef, 0xb8, 0x80..=0x8f, ..]
            | [0xef, 0xbb, 0xbf, ..] => 3,
            [next, ..] => return (length > 0 && next.is_ascii_graphic()).then_some(length),
            [] => return None,
        }
    }
}
