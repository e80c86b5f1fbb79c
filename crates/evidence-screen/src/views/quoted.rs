//! Quoted-printable, the encoding of mail: `=67`, and lines that end in `=` and continue on the next.

use std::iter;

use memchr::memchr;

use super::undo::{self, Escape, Plain, number};
use super::view::View;

pub(super) fn view(text: &[u8]) -> View {
    let mut done = 0;
    let escapes = iter::from_fn(|| {
        loop {
            let at = done + memchr(b'=', text.get(done..)?)?;
            done = at + 1;
            if let Some((plain, length)) = read(text.get(done..)?) {
                done += length;
                return Some(Escape { at, length: length + 1, plain });
            }
        }
    });
    undo::view(text, escapes)
}

/// Reads the text after an equals sign: the code of a character that a credential can have, or the end of a line.
fn read(rest: &[u8]) -> Option<(Plain, usize)> {
    if let Some(code) = number(rest, 2, 16) {
        let byte = u8::try_from(code).ok().filter(u8::is_ascii_graphic)?;
        return Some((Plain::byte(byte), 2));
    }
    let spaces = rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    match rest.get(spaces..)? {
        [b'\r', b'\n', ..] => Some((Plain::NOTHING, spaces + 2)),
        [b'\n' | b'\r', ..] => Some((Plain::NOTHING, spaces + 1)),
        _ => None,
    }
}
