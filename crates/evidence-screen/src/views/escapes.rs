//! Escapes of JSON strings, of URLs, of programming languages and of this tool's output: `\u0067`, `\n`, `\/`, `\x67`,
//! `\147`, `\U00000067`, `\u{67}`, `%67`, `%u0067`, and of HTML. Also removes invisible characters and the zeros of
//! UTF-16, and makes full-width characters narrow.

use std::iter;

use memchr::{memchr, memchr3};

use super::entities;
use super::undo::{self, Escape, Plain, number};
use super::view::View;

pub(super) fn view(text: &[u8]) -> View {
    let mut signs = Signs { text, rare: <[Rare; 2]>::default() };
    let mut done = 0;
    let escapes = iter::from_fn(|| {
        loop {
            let at = signs.next_from(done)?;
            let rest = text.get(at..)?;
            if let Some((plain, length)) = read(rest) {
                done = at + length;
                return Some(Escape { at, length, plain });
            }
            // Each further one of these would be followed by the same.
            done = at + invisible(rest).max(1);
        }
    });
    undo::view(text, escapes)
}

/// The possible beginnings of escapes and of invisible characters, which are rare.
struct Signs<'a> {
    text: &'a [u8],
    /// The next possibly invisible or wide character, and the next zero.
    rare: [Rare; 2],
}

/// The next place of a rare byte, if the search began before `searched`.
#[derive(Default)]
struct Rare {
    next: Option<usize>,
    searched: usize,
}

impl Rare {
    fn next_from(
        &mut self,
        from: usize,
        text: &[u8],
        find: impl Fn(&[u8]) -> Option<usize>,
    ) -> Option<usize> {
        if self.searched <= from && self.next.is_none_or(|next| next < from) {
            self.next = text.get(from..).and_then(find).map(|next| from + next);
            self.searched = self.next.map_or(text.len(), |next| next + 1);
        }
        self.next
    }
}

impl Signs<'_> {
    fn next_from(&mut self, from: usize) -> Option<usize> {
        let [wide, zero] = &mut self.rare;
        let wide = wide.next_from(from, self.text, |rest| memchr3(0xc2, 0xe2, 0xef, rest));
        let zero = zero.next_from(from, self.text, |rest| memchr(0, rest));
        let next = wide.into_iter().chain(zero).min();
        // Not beyond the other one.
        let before = self.text.get(from..next.unwrap_or(self.text.len()))?;
        memchr3(b'\\', b'%', b'&', before).map(|sign| from + sign).or(next)
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
        [b'&', name @ ..] => entities::read(name).map(|(plain, length)| (plain, length + 1)),
        _ => {
            let length = invisible(rest);
            let hides = length > 0 && rest.get(length).is_some_and(u8::is_ascii_graphic);
            if hides { Some((Plain::NOTHING, length)) } else { narrow(rest) }
        }
    }
}

/// The full-width letter, digit or sign with which `rest` begins, as a narrow one.
fn narrow(rest: &[u8]) -> Option<(Plain, usize)> {
    let byte = match rest {
        [0xef, 0xbc, low @ 0x81..=0xbf, ..] => low - 0x81 + b'!',
        [0xef, 0xbd, low @ 0x80..=0x9e, ..] => low - 0x80 + b'`',
        _ => return None,
    };
    Some((Plain::byte(byte), 3))
}

/// The length of the invisible characters at the beginning of `rest`: soft hyphens, spaces, joiners and marks of zero
/// width, variation selectors. They hide something if a letter or a sign follows: within an emoji or a word in another
/// script, they do not.
fn invisible(rest: &[u8]) -> usize {
    let mut length = 0;
    loop {
        length += match rest.get(length..).unwrap_or_default() {
            [0, ..] => 1,
            [0xc2, 0xad, ..] => 2,
            [0xe2, 0x80, 0x8b..=0x8f | 0xaa..=0xae, ..]
            | [0xe2, 0x81, 0xa0..=0xaf, ..]
            | [0xef, 0xb8, 0x80..=0x8f, ..]
            | [0xef, 0xbb, 0xbf, ..] => 3,
            _ => return length,
        }
    }
}
