//! One rule over a text: its compiled pattern, tried only around its key words.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Regex, RegexBuilder};

use super::effort::{Effort, LONG, PER_READ};
use super::finding::Finding;
use crate::credible;
use crate::patterns::{Context, Pattern, Value};
use crate::views::JOINT;

/// How many bytes around a key word a pattern is tried at first. A match that reaches the edge is followed to its
/// end; one that begins further from its key word is missed.
const WINDOW: usize = 1024;

/// How many joints at the end of an incredible match are left out, one after the other: the lines after a cut word can
/// hide it.
const LEFT_OUT: usize = 4;

/// With which a pattern begins that matches letters of either case.
const IGNORES_CASE: &str = "(?i)";

pub(super) struct Compiled {
    pub(super) rule: &'static Pattern,
    /// Whether the pattern matches letters of either case.
    pub(super) ignores_case: bool,
    plain: Form,
    /// For joined lines.
    joined: Form,
}

/// A pattern, compiled when a key word first occurs and when it first matches: most runs never need most rules.
struct Form {
    pattern: &'static str,
    finder: OnceLock<Option<Regex>>,
    reader: OnceLock<Option<Regex>>,
}

/// The area around key words of one rule that is still to be searched.
#[derive(Clone, Copy, Default)]
pub(super) struct Area {
    pub(super) start: usize,
    /// Zero before the first key word.
    pub(super) end: usize,
}

impl Area {
    /// Adds the surroundings of a key word. If they do not touch the current area, searches that area and begins
    /// a new one: so no rule reads a byte twice, however many key words there are.
    pub(super) fn widen(
        &mut self,
        keyword: Range<usize>,
        rule: &Compiled,
        text: Text,
        effort: &mut Effort,
        findings: &mut Vec<Finding>,
    ) {
        let start = keyword.start.saturating_sub(WINDOW);
        let end = keyword.end.saturating_add(WINDOW).min(text.bytes.len());
        if self.end == 0 {
            self.start = start;
        } else if start > self.end {
            let searched = rule.search(text, self.start, self.end, effort, findings);
            self.start = start.max(searched);
        }
        self.end = self.end.max(end);
    }
}

/// A text to search: as it is, or joined lines with the marks where they meet.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) is_joined: bool,
}

/// What may precede the beginning of a word: in JSON and URLs, the end of an escape also ends a word, as in `\nAKIA...`.
const START: &str = r"(?:\A|[^0-9A-Za-z]|\\[nrt]|\\u[0-9A-Fa-f]{4}|%[0-9A-Fa-f]{2})";

/// With which a pattern ends whose match does not end inside a word.
const END: &str = r"(?:[^0-9A-Za-z]|\z)";

/// The beginnings of a match after what [`START`] finds at this place, in the order of its parts.
fn beginnings(bytes: &[u8], at: usize) -> impl Iterator<Item = usize> {
    let rest = bytes.get(at..).unwrap_or_default();
    let are_hex = |digits: &[u8]| digits.iter().all(u8::is_ascii_hexdigit);
    let escape = match rest {
        [b'\\', b'n' | b'r' | b't', ..] => Some(2),
        [b'\\', b'u', digits @ ..] => {
            digits.first_chunk::<4>().is_some_and(|digits| are_hex(digits)).then_some(6)
        }
        [b'%', digits @ ..] => digits.first_chunk::<2>().is_some_and(|digits| are_hex(digits)).then_some(3),
        _ => None,
    };
    let sign = rest.first().is_some_and(|byte| !byte.is_ascii_alphanumeric());
    let lengths = [(at == 0).then_some(0), sign.then_some(1), escape];
    lengths.into_iter().flatten().map(move |length| at + length)
}

/// The place from `from` on where [`START`] finds something that ends at the word at this place.
fn word_start(bytes: &[u8], at: usize, from: usize) -> Option<usize> {
    let starts = [6, 3, 2, 1, 0].into_iter().filter_map(|length| at.checked_sub(length));
    starts.filter(|start| *start >= from).find(|start| beginnings(bytes, *start).any(|begin| begin == at))
}

/// The parts of a match.
struct Parts {
    span: Range<usize>,
    value: Option<Range<usize>>,
    /// Where the prefix of the value begins.
    start: usize,
}

impl Form {
    fn new(pattern: &'static str) -> Form {
        Form { pattern, finder: OnceLock::new(), reader: OnceLock::new() }
    }

    /// Finds matches, with the text before them that begins a word.
    fn finder(&self, begins_word: bool) -> Option<&Regex> {
        self.finder.get_or_init(|| self.compile(if begins_word { START } else { "" })).as_ref()
    }

    /// Reads a match at the beginning of a text, without what precedes it: no other expression finds its parts fast.
    fn reader(&self) -> Option<&Regex> {
        self.reader.get_or_init(|| self.compile(r"\A")).as_ref()
    }

    fn compile(&self, before: &str) -> Option<Regex> {
        let (flags, bare) = match self.pattern.strip_prefix(IGNORES_CASE) {
            Some(bare) => (IGNORES_CASE, bare),
            None => ("", self.pattern),
        };
        compile(&format!("{flags}{before}(?:{bare})"))
    }
}

impl Compiled {
    pub(super) fn new(rule: &'static Pattern) -> Compiled {
        let ignores_case = rule.pattern.starts_with(IGNORES_CASE);
        Compiled { rule, ignores_case, plain: Form::new(rule.pattern), joined: Form::new(rule.joined) }
    }

    fn form(&self, is_joined: bool) -> &Form {
        if is_joined { &self.joined } else { &self.plain }
    }

    /// Searches `text[start..end]`, and beyond for matches that reach its end. Returns its end position: a match
    /// is consumed.
    pub(super) fn search(
        &self,
        text: Text,
        mut start: usize,
        mut end: usize,
        effort: &mut Effort,
        findings: &mut Vec<Finding>,
    ) -> usize {
        let Some(finder) = self.form(text.is_joined).finder(self.rule.begins_word) else { return start };
        let length = text.bytes.len();
        while start < end && !effort.is_spent {
            let found = text.bytes.get(..end).and_then(|area| finder.find_at(area, start));
            let read = found.map_or(end, |found| found.end()).saturating_sub(start);
            effort.spend(read.saturating_mul(PER_READ));
            let Some(whole) = found.map(|found| found.range()) else { return start };
            if whole.end == end && end < length {
                // The match may continue. Doubling keeps the total of all repetitions within the length of the
                // match.
                start = whole.start;
                end = end.saturating_add(WINDOW.max(end - start)).min(length);
                continue;
            }
            start = self.judge(text, whole, end, effort, findings);
        }
        start
    }

    /// Whether every match begins with a key word: then it is tried only there.
    pub(super) fn begins_with_keyword(&self) -> bool {
        matches!(self.rule.context, Context::WordStart | Context::Hex)
    }

    /// Searches for the match that begins with the key word at this place, after the text until `done`, which other
    /// matches consumed. Returns the end of what is consumed.
    pub(super) fn search_at(
        &self,
        text: Text,
        at: usize,
        done: usize,
        effort: &mut Effort,
        findings: &mut Vec<Finding>,
    ) -> usize {
        // Its place is before the mark of a joint.
        let at = at + usize::from(text.is_joined && text.bytes.get(at) == Some(&JOINT));
        let Some(start) = word_start(text.bytes, at, done) else { return done };
        let rest = text.bytes.get(at..).unwrap_or_default();
        match self.form(text.is_joined).reader().and_then(|reader| reader.find(rest)) {
            None => done,
            Some(found) => self.judge(text, start..at + found.end(), text.bytes.len(), effort, findings),
        }
    }

    /// Adds the match at this place if it is credible, and returns the end of what it consumes.
    fn judge(
        &self,
        text: Text,
        whole: Range<usize>,
        end: usize,
        effort: &mut Effort,
        findings: &mut Vec<Finding>,
    ) -> usize {
        if !effort.spend_match(whole.len()) {
            return whole.end.max(whole.start + 1);
        }
        let Some(parts) = self.read(text, &whole, end) else { return whole.end.max(whole.start + 1) };
        let found = match self.is_credible(text, &parts) {
            true => Some(parts.span.clone()),
            false if text.is_joined => self.shorter(text, whole.clone(), effort),
            false => None,
        };
        if let Some(Range { start, end }) = found {
            let Pattern { id, confidence, .. } = *self.rule;
            findings.push(Finding { rule: id, confidence, start, end });
        }
        parts.span.end.max(whole.start + 1)
    }

    /// The parts of the match at this place of `text[..end]`. Of a long one, only the beginning is read: its value
    /// continues to its end.
    fn read(&self, text: Text, whole: &Range<usize>, end: usize) -> Option<Parts> {
        let limit = whole.start.saturating_add(LONG);
        if limit < whole.end
            && let Some(last) = self.last(text, whole)
            && let Some(mut parts) = self.read_until(text, whole, limit)
            && parts.span.end == limit
            && let Some(value) = parts.value.as_mut().filter(|value| value.end == limit)
        {
            value.end = last;
            parts.span.end = last;
            return Some(parts);
        }
        self.read_until(text, whole, end)
    }

    /// The end of a long match without the sign behind it, unless the last sign of the text can be either.
    fn last(&self, text: Text, whole: &Range<usize>) -> Option<usize> {
        if !self.rule.pattern.ends_with(END) {
            return Some(whole.end);
        }
        if whole.end < text.bytes.len() {
            return Some(whole.end - 1);
        }
        text.bytes.last().is_some_and(u8::is_ascii_alphanumeric).then_some(whole.end)
    }

    fn read_until(&self, text: Text, whole: &Range<usize>, end: usize) -> Option<Parts> {
        let reader = self.form(text.is_joined).reader()?;
        let read = |start: usize| {
            let captures = reader.captures(text.bytes.get(start..end)?)?;
            let range = |found: regex::bytes::Match| start + found.start()..start + found.end();
            let span = captures.name("span").or_else(|| captures.get(0)).map(range)?;
            Some(Parts { span, value: captures.name("value").map(range), start: whole.start })
        };
        if !self.rule.begins_word {
            return read(whole.start);
        }
        beginnings(text.bytes, whole.start).find_map(read)
    }

    /// The credible match that begins there and ends at an earlier joint, if there is one.
    fn shorter(&self, text: Text, whole: Range<usize>, effort: &mut Effort) -> Option<Range<usize>> {
        let joints = text.bytes.get(whole.clone())?.iter().enumerate().rev();
        let joints = joints.filter(|(_, byte)| **byte == JOINT).take(LEFT_OUT);
        joints.map(|(at, _)| whole.start + at).find_map(|end| {
            if !effort.spend_match(end - whole.start) {
                return None;
            }
            let parts = self.read(text, &whole, end)?;
            self.is_credible(text, &parts).then_some(parts.span)
        })
    }

    fn is_credible(&self, text: Text, parts: &Parts) -> bool {
        let Some(range) = parts.value.clone() else { return true };
        // The prefix of an unlisted value is part of the match.
        let start = if self.rule.value == Value::Unlisted { range.start } else { parts.start };
        let before = text.bytes.get(..start).unwrap_or_default();
        let value = text.bytes.get(range).unwrap_or_default();
        if !text.is_joined {
            return credible::is_credible(self.rule, before, value);
        }
        let value: Vec<u8> = value.iter().copied().filter(|byte| *byte != JOINT).collect();
        credible::is_credible(self.rule, before, &value)
    }
}

/// `None` only if the pattern is invalid or too large, which a test excludes for every rule.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}
