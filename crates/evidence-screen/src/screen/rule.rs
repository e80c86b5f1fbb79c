//! One rule over a text: its compiled pattern, tried only around its key words.

use std::ops::Range;
use std::sync::OnceLock;

use regex::bytes::{Captures, Regex, RegexBuilder};

use super::Finding;
use crate::credible;
use crate::patterns::{Pattern, Value};
use crate::views::JOINT;

/// How many bytes around a key word a pattern is tried at first. A match that reaches the edge is followed to its
/// end; one that begins further from its key word is missed.
const WINDOW: usize = 1024;

/// How many joints at the end of an incredible match are left out, one after the other: the lines after a cut word can
/// hide it.
const LEFT_OUT: usize = 4;

pub(super) struct Compiled {
    pub(super) rule: &'static Pattern,
    /// Whether the pattern matches letters of either case.
    pub(super) ignores_case: bool,
    /// Compiled when a key word first occurs: most runs never need most rules.
    regex: OnceLock<Option<Regex>>,
    /// For joined lines.
    joined: OnceLock<Option<Regex>>,
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
        findings: &mut Vec<Finding>,
    ) {
        let start = keyword.start.saturating_sub(WINDOW);
        let end = keyword.end.saturating_add(WINDOW).min(text.bytes.len());
        if self.end == 0 {
            self.start = start;
        } else if start > self.end {
            let searched = rule.search(text, self.start, self.end, findings);
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

impl Compiled {
    pub(super) fn new(rule: &'static Pattern) -> Compiled {
        let ignores_case = rule.pattern.starts_with("(?i)");
        Compiled { rule, ignores_case, regex: OnceLock::new(), joined: OnceLock::new() }
    }

    fn regex(&self, is_joined: bool) -> Option<&Regex> {
        let (regex, pattern) = match is_joined {
            false => (&self.regex, self.rule.pattern),
            true => (&self.joined, self.rule.joined),
        };
        regex.get_or_init(|| compile(pattern)).as_ref()
    }

    /// Searches `text[start..end]`, and beyond for matches that reach its end. Returns its end position: a match
    /// is consumed.
    pub(super) fn search(
        &self,
        text: Text,
        mut start: usize,
        mut end: usize,
        findings: &mut Vec<Finding>,
    ) -> usize {
        let Some(regex) = self.regex(text.is_joined) else { return start };
        let length = text.bytes.len();
        while start < end {
            let captures = text.bytes.get(..end).and_then(|area| regex.captures_at(area, start));
            let Some(captures) = captures else { return start };
            let Some(whole) = captures.get(0) else { return start };
            if whole.end() == end && end < length {
                // The match may continue. Doubling keeps the total of all repetitions within the length of the
                // match.
                start = whole.start();
                end = end.saturating_add(WINDOW.max(end - start)).min(length);
                continue;
            }
            let span = span(&captures);
            let found = match self.is_credible(text, &captures) {
                true => Some(span.clone()),
                false if text.is_joined => self.shorter(regex, text, whole.range()),
                false => None,
            };
            if let Some(Range { start, end }) = found {
                let Pattern { id, confidence, .. } = *self.rule;
                findings.push(Finding { rule: id, confidence, start, end });
            }
            start = span.end.max(whole.start() + 1);
        }
        start
    }

    /// The credible match that begins there and ends at an earlier joint, if there is one.
    fn shorter(&self, regex: &Regex, text: Text, whole: Range<usize>) -> Option<Range<usize>> {
        let joints = text.bytes.get(whole.clone())?.iter().enumerate().rev();
        let joints = joints.filter(|(_, byte)| **byte == JOINT).take(LEFT_OUT);
        joints.map(|(at, _)| whole.start + at).find_map(|end| {
            let captures = regex.captures_at(text.bytes.get(..end)?, whole.start)?;
            self.is_credible(text, &captures).then(|| span(&captures))
        })
    }

    fn is_credible(&self, text: Text, captures: &Captures) -> bool {
        let Some(value) = captures.name("value") else { return true };
        let whole = captures.get(0).map_or(0, |whole| whole.start());
        // The prefix of an unlisted value is part of the match.
        let start = if self.rule.value == Value::Unlisted { value.start() } else { whole };
        let before = text.bytes.get(..start).unwrap_or_default();
        if !text.is_joined {
            return credible::is_credible(self.rule, before, value.as_bytes());
        }
        let value: Vec<u8> = value.as_bytes().iter().copied().filter(|byte| *byte != JOINT).collect();
        credible::is_credible(self.rule, before, &value)
    }
}

fn span(captures: &Captures) -> Range<usize> {
    captures.name("span").or_else(|| captures.get(0)).map_or(0..0, |span| span.range())
}

/// `None` only if the pattern is invalid or too large, which a test excludes for every rule.
pub(super) fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).unicode(false).build().ok()
}
