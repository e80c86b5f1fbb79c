//! Words that quotes cut: `'gh''p_...'`, `gh"p_..."`, `"gh" + "p_..."`, `"gh" "p_..."`, as shells and programming
//! languages join them.

use std::iter;

use memchr::memchr2;

use super::undo::{self, Escape, Plain};
use super::view::View;

/// The most bytes between two quotes that join two words.
const BETWEEN: usize = 48;

/// How far to look for a digit or a capital, without which a lone quote cuts no credential.
const NEAR: usize = 16;

pub(super) fn view(text: &[u8]) -> View {
    let mut done = 0;
    let joints = iter::from_fn(|| {
        loop {
            let at = done + memchr2(b'\'', b'"', text.get(done..)?)?;
            done = at + 1;
            if at.checked_sub(1).and_then(|before| text.get(before)).is_some_and(|byte| is_word(*byte))
                && let Some(length) = joint(text, at)
            {
                done = at + length;
                return Some(Escape { at, length, plain: Plain::NOTHING });
            }
        }
    });
    View { joined: true, ..undo::view(text, joints) }
}

/// The length of what joins the words before and behind the quote at this place.
fn joint(text: &[u8], at: usize) -> Option<usize> {
    let behind = text.get(at + 1..)?;
    let first = *behind.first()?;
    if is_word(first) {
        return is_cut(text, at).then_some(1);
    }
    // Most quotes end a text of JSON.
    if matches!(first, b',' | b':' | b'}' | b']' | b'>' | b')' | b'=' | b'/') {
        return None;
    }
    let near = behind.get(..BETWEEN).unwrap_or(behind);
    let (mut next, mut operators) = (0, 0);
    while let Some(byte) = near.get(next) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b'\\' => {}
            b'+' | b'.' | b'&' | b'|' | b'~' | b'$' => operators += 1,
            b'\'' | b'"' => break,
            _ => return None,
        }
        next += 1;
    }
    let word = near.get(next + 1).is_some_and(|byte| is_word(*byte));
    (word && operators <= 2).then_some(next + 2)
}

/// Whether the word around a lone quote has a digit or a capital on one side: an apostrophe has none.
fn is_cut(text: &[u8], at: usize) -> bool {
    let random = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() || *byte == b'_';
    let before = text.get(..at).unwrap_or_default().iter().rev().take(NEAR);
    let behind = text.get(at + 1..).unwrap_or_default().iter().take(NEAR);
    let mut behind = behind.take_while(|byte| is_word(**byte));
    before.take_while(|byte| is_word(**byte)).any(random) || behind.any(random)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-')
}
