//! Lines that may be one word cut in two: put together, without what begins a line of a comment.

use super::View;

/// What begins a line of a comment or of a quotation.
const LEADERS: &[&[u8]] = &[b"#", b"//", b"*", b">", b"--", b";"];

/// Every two lines that may be one word, and every longer chain of such lines: what follows a cut word must not make
/// it longer than it is, where that can be helped.
pub(super) fn view(text: &[u8]) -> View {
    let mut view = View { joined: true, ..View::default() };
    let mut chain: Vec<Line> = Vec::new();
    let mut at = 0;
    for raw in text.split(|byte| *byte == b'\n') {
        let line = Line { at, whole: raw };
        at += raw.len() + 1;
        match chain.last() {
            Some(before) if may_be_cut(before.trimmed(), line.content()) => {
                put(&[*before, line], &mut view);
            }
            _ => {
                put_long(&chain, &mut view);
                chain.clear();
            }
        }
        chain.push(line);
    }
    put_long(&chain, &mut view);
    view
}

/// Adds a chain that is more than two lines.
fn put_long(chain: &[Line], view: &mut View) {
    if chain.len() > 2 {
        put(chain, view);
    }
}

fn put(chain: &[Line], view: &mut View) {
    let Some((first, rest)) = chain.split_first() else { return };
    view.part(first.at);
    first.push(first.trimmed(), view);
    rest.iter().for_each(|line| line.push(line.content(), view));
}

/// The least length of a word that is put together.
const SHORTEST: usize = 8;

/// Whether the end of one line and the beginning of the next can be a credential together: a word with a digit or a
/// capital. Most lines end and begin with names that have neither.
fn may_be_cut(before: &[u8], after: &[u8]) -> bool {
    let end = before.iter().rev().take_while(|byte| is_inside(**byte));
    let start = after.iter().take_while(|byte| is_inside(**byte));
    let (mut left, mut right, mut random) = (0, 0, false);
    let is_random = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase();
    end.for_each(|byte| (left, random) = (left + 1, random || is_random(byte)));
    start.for_each(|byte| (right, random) = (right + 1, random || is_random(byte)));
    left > 0 && right > 0 && left + right >= SHORTEST && random
}

/// What a credential can have on both sides of a cut.
fn is_inside(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'_' | b'+' | b'/' | b'=' | b'.' | b':' | b'~' | b'-' | b'%')
}

#[derive(Clone, Copy)]
struct Line<'a> {
    at: usize,
    whole: &'a [u8],
}

impl<'a> Line<'a> {
    /// Without spaces and a sign of continuation at its end.
    fn trimmed(self) -> &'a [u8] {
        let line = self.whole.trim_ascii_end();
        line.strip_suffix(b"\\").unwrap_or(line).trim_ascii_end()
    }

    /// Without what begins it and what ends it.
    fn content(self) -> &'a [u8] {
        let mut line = self.trimmed().trim_ascii_start();
        while let Some(rest) = LEADERS.iter().find_map(|leader| line.strip_prefix(*leader)) {
            line = rest;
        }
        line.trim_ascii_start()
    }

    /// Adds a part of this line to the view.
    fn push(self, part: &[u8], view: &mut View) {
        let end = self.trimmed().len();
        let from = self.at + end.saturating_sub(part.len());
        view.push(part, from, part.len());
    }
}
