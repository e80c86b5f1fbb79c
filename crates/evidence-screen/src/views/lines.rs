//! Joins lines that may be one word cut in two, without the comment signs at their beginnings. A tab ends a line like
//! a line break does, and lines without a word are skipped.
//!
//! The first view joins whole chains of such lines. Pairs from a longer chain are joined only if that can reveal
//! more: around a key word that the chain shows.

use std::ops::Range;

use memchr::memchr3;

use super::View;

/// The signs that begin a line of a comment or of a quotation.
const LEADERS: &[&[u8]] = &[b"#", b"//", b"*", b">", b"--", b";"];

/// Every chain of lines in which each may continue the word of the line before.
pub(super) fn chains(text: &[u8]) -> View {
    let mut view = View { joined: true, ..View::default() };
    each_chain(text, |chain| {
        put(chain, &mut view);
        let middle = chain.get(1..chain.len() - 1).unwrap_or_default();
        view.ambiguous |= middle.iter().any(|line| line.may_begin_in_a_word());
    });
    view
}

/// Every pair of neighbouring lines of the longer chains at the places in `seen`, which are in order: the line after a
/// cut word should not lengthen it if that is avoidable.
pub(super) fn pairs(text: &[u8], seen: &[Range<usize>]) -> View {
    let mut view = View { joined: true, ..View::default() };
    each_chain(text, |chain| {
        if chain.len() > 2 {
            for pair in chain.windows(2) {
                let (Some(first), Some(second)) = (pair.first(), pair.last()) else { continue };
                if first.may_begin_in_a_word() || is_seen(first.at, second.at + second.trimmed.len(), seen) {
                    put(pair, &mut view);
                }
            }
        }
    });
    view
}

/// Whether one of the places is in `start..end`.
fn is_seen(start: usize, end: usize, seen: &[Range<usize>]) -> bool {
    let next = seen.partition_point(|range| range.end <= start);
    seen.get(next).is_some_and(|range| range.start < end)
}

/// Calls `take` with every chain of two lines or more.
fn each_chain<'a>(text: &'a [u8], mut take: impl FnMut(&[Line<'a>])) {
    let mut chain: Vec<Line> = Vec::new();
    let mut at = 0;
    while let Some(rest) = text.get(at..) {
        let whole = rest.get(..end(rest)).unwrap_or(rest);
        let line = Line::new(at, whole);
        at += whole.len() + 1;
        if line.content.is_empty() {
            continue;
        }
        if !chain.last().is_some_and(|before| may_be_cut(before.trimmed, line.content)) {
            if chain.len() > 1 {
                take(&chain);
            }
            chain.clear();
        }
        chain.push(line);
    }
    if chain.len() > 1 {
        take(&chain);
    }
}

/// The end of the first line of the text.
fn end(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(rest) = text.get(at..)
        && let Some(sign) = memchr3(b'\n', b'\r', b'\t', rest)
    {
        let end = at + sign;
        let tabs = rest.iter().skip(sign).take_while(|byte| **byte == b'\t').count();
        // Treat a tab that is not between two words as a space.
        let inside = |byte: Option<&u8>| byte.is_some_and(|byte| kind(*byte) != OUTSIDE);
        if tabs == 0 || (inside(text.get(..end).and_then(<[u8]>::last)) && inside(text.get(end + tabs))) {
            return end;
        }
        at = end + tabs;
    }
    text.len()
}

fn put(chain: &[Line], view: &mut View) {
    let Some((first, rest)) = chain.split_first() else { return };
    view.part(first.at);
    first.push(first.trimmed, view);
    rest.iter().for_each(|line| line.push(line.content, view));
}

/// The least length of a joined word.
const SHORTEST: usize = 8;

/// Whether the end of one line and the beginning of the next can be a credential together: a word with a digit or a
/// capital. Most lines end and begin with names that have neither.
fn may_be_cut(before: &[u8], after: &[u8]) -> bool {
    let inside = |byte: Option<&u8>| byte.is_some_and(|byte| kind(*byte) != OUTSIDE);
    if !inside(before.last()) || !inside(after.first()) {
        return false;
    }
    let (mut length, mut kinds) = (0, 0);
    // From the cut outwards, and no further than needed.
    let mut goes_on = |byte: &u8| {
        let kind = kind(*byte);
        length += usize::from(kind != OUTSIDE);
        kinds |= kind;
        kind != OUTSIDE && (length < SHORTEST || kinds & RANDOM == 0)
    };
    let _ = before.iter().rev().all(&mut goes_on);
    let _ = after.iter().all(&mut goes_on);
    length >= SHORTEST && kinds & RANDOM != 0
}

/// The role of a byte in a cut credential: none, a part, a random-looking part.
const OUTSIDE: u8 = 0;
const INSIDE: u8 = 1;
const RANDOM: u8 = 2;

static KINDS: [u8; 256] = kinds();

#[allow(clippy::indexing_slicing, reason = "computed by the compiler, which checks it")]
const fn kinds() -> [u8; 256] {
    let mut kinds = [OUTSIDE; 256];
    let mut byte = 0;
    while byte < 256 {
        kinds[byte] = match byte as u8 {
            b'0'..=b'9' | b'A'..=b'Z' => INSIDE | RANDOM,
            b'a'..=b'z' | b'_' | b'+' | b'/' | b'=' | b'.' | b':' | b'~' | b'-' | b'%' => INSIDE,
            _ => OUTSIDE,
        };
        byte += 1;
    }
    kinds
}

fn kind(byte: u8) -> u8 {
    KINDS.get(usize::from(byte)).copied().unwrap_or(OUTSIDE)
}

#[derive(Clone, Copy)]
struct Line<'a> {
    at: usize,
    /// Without spaces and a continuation sign at its end.
    trimmed: &'a [u8],
    /// And without the signs at its beginning.
    content: &'a [u8],
}

impl<'a> Line<'a> {
    fn new(at: usize, whole: &'a [u8]) -> Line<'a> {
        let line = whole.trim_ascii_end();
        let trimmed = line.strip_suffix(b"\\").map_or(line, <[u8]>::trim_ascii_end);
        let mut content = trimmed.trim_ascii_start();
        // Nearly every line begins with something else.
        while !content.first().is_some_and(u8::is_ascii_alphanumeric)
            && let Some(rest) = LEADERS.iter().find_map(|leader| content.strip_prefix(*leader))
        {
            content = rest;
        }
        Line { at, trimmed, content: content.trim_ascii_start() }
    }

    /// Whether the sign at the beginning may also be a letter of encoded text.
    fn may_begin_in_a_word(self) -> bool {
        let line = self.trimmed.trim_ascii_start();
        let behind = line.strip_prefix(b"//").or_else(|| line.strip_prefix(b"--"));
        behind.and_then(<[u8]>::first).is_some_and(|byte| kind(*byte) != OUTSIDE)
    }

    /// Adds a part of this line to the view.
    fn push(self, part: &[u8], view: &mut View) {
        let end = self.trimmed.len();
        let from = self.at + end.saturating_sub(part.len());
        view.push(part, from, part.len());
    }
}
