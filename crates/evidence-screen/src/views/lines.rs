//! Joins lines that may be one word cut into pieces, without the comment signs at their beginnings. A tab ends a line
//! like a line break does, and lines without a word are skipped.
//!
//! The view holds whole chains of such lines and the places where they meet: nothing else shows with which line a cut
//! word begins and ends.

use memchr::memchr3;

use super::view::View;

/// The signs that begin a line of a comment or of a quotation.
const LEADERS: &[&[u8]] = &[b"#", b"//", b"*", b">", b"--", b";"];

/// Every chain of lines in which each may continue the word of the line before. A chain in which a sign that was
/// removed may belong to a word follows once more, with these signs.
pub(super) fn view(text: &[u8]) -> View {
    let mut view = View { joined: true, ..View::default() };
    each_chain(text, |chain| {
        put(chain, |line| line.content, &mut view);
        let rest = chain.get(1..).unwrap_or_default();
        if rest.iter().any(|line| line.may_begin_in_a_word()) {
            put(chain, Line::with_its_sign, &mut view);
        }
    });
    view
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
            if chain.len() > 1 && is_random(&chain) {
                take(&chain);
            }
            chain.clear();
        }
        chain.push(line);
    }
    if chain.len() > 1 && is_random(&chain) {
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

fn put<'a>(chain: &[Line<'a>], part: impl Fn(Line<'a>) -> &'a [u8], view: &mut View) {
    let Some((first, rest)) = chain.split_first() else { return };
    view.part(first.at);
    first.push(first.trimmed, view);
    for line in rest {
        view.join();
        line.push(part(*line), view);
    }
}

/// Whether a word may be cut between these two.
fn may_be_cut(before: &[u8], after: &[u8]) -> bool {
    let inside = |byte: Option<&u8>| byte.is_some_and(|byte| kind(*byte) != OUTSIDE);
    inside(before.last()) && inside(after.first())
}

/// Whether there is a digit or a capital: no credential is without.
fn is_random(chain: &[Line]) -> bool {
    chain.iter().any(|line| line.trimmed.iter().any(|byte| kind(*byte) == RANDOM))
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
            b'0'..=b'9' | b'A'..=b'Z' => RANDOM,
            b'a'..=b'z' => INSIDE,
            b'_' | b'+' | b'/' | b'=' | b'.' | b':' | b'~' | b'-' | b'%' => INSIDE,
            b'$' | b'!' | b'@' | b'?' | b'&' | b'|' | b',' => INSIDE,
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
        self.with_its_sign().len() > self.content.len()
    }

    /// The content, with the sign before it if the sign may belong to its word.
    fn with_its_sign(self) -> &'a [u8] {
        let line = self.trimmed.trim_ascii_start();
        let signs = line.len() - self.content.len();
        let joint = |sign: &u8| matches!(sign, b'/' | b'-');
        let signs = line.get(..signs).unwrap_or_default().iter().rev().take_while(|sign| joint(sign)).count();
        line.get(line.len() - self.content.len() - signs..).unwrap_or_default()
    }

    /// Adds a part of this line to the view.
    fn push(self, part: &[u8], view: &mut View) {
        let end = self.trimmed.len();
        let from = self.at + end.saturating_sub(part.len());
        view.push(part, from, part.len());
    }
}
