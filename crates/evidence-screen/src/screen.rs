//! The search itself.
//!
//! Encoded text (escapes, base64, a word cut into lines) is also searched in its readable form, down to three layers.
//! One pass finds key words; the patterns are tried only around them. The time is linear in the length of the text,
//! whatever it holds.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, LazyLock, OnceLock, PoisonError, RwLock};

use memchr::memchr_iter;
use regex::bytes::{Regex, RegexBuilder};

use super::credible;
use super::own::Own;
use super::patterns::{Confidence, Context, PATTERNS, Pattern};
use super::views::View;
use super::words::{Hit, Keys, Words};

/// The rule for the collector's own secrets.
pub const OWN_CREDENTIAL: &str = "own-credential";

/// How many bytes around a key word a pattern is tried at first. A match that reaches the edge is followed to its
/// end; one that begins further from its key word is missed.
const WINDOW: usize = 1024;

/// How often a text is searched again after a redaction.
const ROUNDS: usize = 16;

/// How many nested layers of escapes, line breaks and base64 are undone.
const LAYERS: usize = 3;

/// The place of a possible credential. Holds no part of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Finding {
    /// The rule that matched.
    pub rule: &'static str,
    /// Its certainty.
    pub confidence: Confidence,
    /// Offset of the first byte of the secret.
    pub start: usize,
    /// Offset after its last byte.
    pub end: usize,
}

/// The compiled rules. Cloning shares them.
#[derive(Clone)]
pub struct Screen(Arc<Inner>);

struct Inner {
    rules: Vec<Compiled>,
    /// The rule and the text of each key word; case matters unless the rule's pattern ignores it.
    keywords: Vec<(usize, &'static str)>,
    /// Key words of one sign, and the rules of each by their contexts. Texts have too many of them for the prefilter,
    /// which is slow for frequent words.
    signs: BTreeMap<u8, Vec<(Context, Vec<usize>)>>,
    /// The collector's own secrets, some of which appear only during the run.
    own: RwLock<Own>,
    /// Finds all key words in one pass. Without it every rule is tried everywhere: slower, with the same
    /// findings.
    prefilter: Option<Words<Keys>>,
}

struct Compiled {
    rule: &'static Pattern,
    /// Whether the pattern matches letters of either case.
    ignores_case: bool,
    /// Compiled when a key word first occurs: most runs never need most rules.
    regex: OnceLock<Option<Regex>>,
}

/// The origin of a text, which decides what to search for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextOrigin {
    /// The original text: everything.
    Plain,
    /// Decoded text: certain findings only.
    Decoded,
    /// Joined lines: certain findings only, and no credential that only its place identifies.
    Joined,
}

impl TextOrigin {
    fn wants(self, rule: &Pattern) -> bool {
        match self {
            TextOrigin::Plain => true,
            TextOrigin::Decoded => rule.confidence == Confidence::High,
            TextOrigin::Joined => rule.confidence == Confidence::High && rule.may_be_cut,
        }
    }
}

/// The results of a search.
#[derive(Default)]
struct Sight {
    findings: Vec<Finding>,
    /// The places of key words, if requested.
    words: Option<Vec<Range<usize>>>,
}

/// The area around key words of one rule that is still to be searched.
#[derive(Clone, Copy, Default)]
struct Area {
    start: usize,
    /// Zero before the first key word.
    end: usize,
}

impl Screen {
    /// Compiles the rules, and adds the secrets in use.
    pub fn new(own_secrets: &[&str]) -> Screen {
        let rules = PATTERNS.iter().map(Compiled::new).collect();
        let all = PATTERNS.iter().enumerate();
        let all = all.flat_map(|(index, rule)| rule.keywords.iter().map(move |keyword| (index, *keyword)));
        let (single, keywords): (Vec<_>, Vec<_>) = all.partition(|(_, keyword)| keyword.len() == 1);
        let signs = by_sign(&single);
        let texts: Vec<&[u8]> = keywords.iter().map(|(_, keyword)| keyword.as_bytes()).collect();
        let prefilter = Words::new(&texts);
        let screen = Screen(Arc::new(Inner { rules, keywords, signs, own: RwLock::default(), prefilter }));
        screen.learn(own_secrets);
        screen
    }

    /// Also searches for these secrets from now on, in all their forms; [`is_sought`](crate::is_sought) excludes weak
    /// ones. A key in PEM form is searched for line by line.
    pub fn learn<S: AsRef<[u8]>>(&self, secrets: impl IntoIterator<Item = S>) {
        self.0.own.write().unwrap_or_else(PoisonError::into_inner).learn(secrets);
    }

    /// Everything in the text that looks like a credential, in the order of the text. Omits guesses inside a
    /// certain finding and in decoded text.
    pub fn check(&self, text: &[u8]) -> Vec<Finding> {
        let mut sight = Sight::default();
        self.0.search(text, TextOrigin::Plain, &mut sight);
        self.0.search_own(text, &mut sight);
        self.0.search_views(text, TextOrigin::Plain, LAYERS, &mut sight);
        let mut findings = sight.findings;
        findings.sort_by_key(|finding| {
            (finding.start, Reverse(finding.confidence), Reverse(finding.end), finding.rule)
        });
        let mut certain_until = 0;
        findings.retain(|finding| {
            if finding.confidence == Confidence::High {
                certain_until = certain_until.max(finding.end);
                return true;
            }
            finding.start >= certain_until
        });
        findings
    }

    /// The text with every certain finding replaced by `[redacted: <rule>]`.
    pub fn redact<'a>(&self, text: &'a str) -> Cow<'a, str> {
        let mut redacted = Cow::Borrowed(text);
        // A redaction can reveal something that its text had hidden.
        for _ in 0..ROUNDS {
            match self.redact_once(&redacted) {
                Some(next) => redacted = Cow::Owned(next),
                None => break,
            }
        }
        redacted
    }

    /// `None` if there is nothing to replace.
    fn redact_once(&self, text: &str) -> Option<String> {
        let findings = self.check(text.as_bytes());
        let mut redacted = String::new();
        let mut done = 0;
        for finding in findings.iter().filter(|finding| finding.confidence == Confidence::High) {
            if finding.end <= done {
                continue;
            }
            if finding.start >= done {
                redacted
                    .push_str(text.get(done..text.floor_char_boundary(finding.start)).unwrap_or_default());
                redacted.push_str("[redacted: ");
                redacted.push_str(finding.rule);
                redacted.push(']');
            }
            done = text.ceil_char_boundary(finding.end);
        }
        if done == 0 {
            return None;
        }
        redacted.push_str(text.get(done..).unwrap_or_default());
        Some(redacted)
    }
}

/// The screen of this process. A command adds the secrets of its run, so that texts which bypass the run's own
/// stages are clean too: a shortened message, or the last error.
pub fn shared() -> &'static Screen {
    static SCREEN: LazyLock<Screen> = LazyLock::new(|| Screen::new(&[]));
    &SCREEN
}

/// Shows how many secrets it searches for, never which: it holds the collector's own credentials.
impl fmt::Debug for Screen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Screen").field("rules", &self.0.rules.len()).finish_non_exhaustive()
    }
}

impl Inner {
    /// Adds findings of the text as written.
    fn search(&self, text: &[u8], reading: TextOrigin, sight: &mut Sight) {
        match &self.prefilter {
            Some(prefilter) => self.search_near(prefilter, text, reading, sight),
            None => self.search_everywhere(text, reading, sight),
        }
    }

    /// The collector's own secrets in the text.
    fn search_own(&self, text: &[u8], sight: &mut Sight) {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        own.each(text, |place| sight.findings.push(own_finding(place)));
    }

    /// Adds new findings that are hidden in up to `layers` layers.
    fn search_views(&self, text: &[u8], above: TextOrigin, layers: usize, sight: &mut Sight) {
        let Some(below) = layers.checked_sub(1) else { return };
        for view in View::of(text) {
            let words = self.search_view(&view, above, below, sight);
            if let Some(pairs) = view.pairs(text, &words) {
                self.search_view(&pairs, above, below, sight);
            }
        }
    }

    /// Adds the findings of one view. Returns the places of key words in the text, in order, if the view has joined
    /// lines or the caller wants them.
    fn search_view(
        &self,
        view: &View,
        above: TextOrigin,
        below: usize,
        sight: &mut Sight,
    ) -> Vec<Range<usize>> {
        let wanted = view.joined || sight.words.is_some();
        let mut hidden = Sight { words: wanted.then(Vec::new), ..Sight::default() };
        // Escapes in joined lines belong to joined text too.
        let joined = view.joined || (above == TextOrigin::Joined && !view.encoded);
        let reading = if joined { TextOrigin::Joined } else { TextOrigin::Decoded };
        self.search(&view.bytes, reading, &mut hidden);
        // For joined lines the plain text already shows them, since only letters and digits count.
        if !view.joined {
            self.search_own(&view.bytes, &mut hidden);
        }
        self.search_views(&view.bytes, reading, below, &mut hidden);
        for finding in hidden.findings.iter().filter(|finding| finding.confidence == Confidence::High) {
            let (start, end) = view.back(finding.start, finding.end);
            let known = |known: &Finding| {
                known.confidence == Confidence::High && known.start <= start && end <= known.end
            };
            if start < end && !sight.findings.iter().any(known) {
                sight.findings.push(Finding { start, end, ..*finding });
            }
        }
        let words = hidden.words.unwrap_or_default();
        let words = words.into_iter().map(|word| view.back(word.start, word.end));
        let words = in_order(words.map(|(start, end)| start..end).collect());
        if let Some(above) = &mut sight.words {
            above.extend(words.iter().cloned());
        }
        words
    }

    fn search_near(&self, prefilter: &Words<Keys>, text: &[u8], reading: TextOrigin, sight: &mut Sight) {
        let mut areas: Vec<Area> = Vec::new();
        let wanted = |hit: &Hit| {
            self.keywords.get(hit.word).is_some_and(|(index, word)| {
                self.rules.get(*index).is_some_and(|rule| {
                    let exact = rule.ignores_case || text.get(hit.range.clone()) == Some(word.as_bytes());
                    exact && rule.may_match(text, &hit.range, reading)
                })
            })
        };
        let mut take = |index: usize, keyword: Range<usize>| {
            if areas.is_empty() {
                areas.resize(self.rules.len(), Area::default());
            }
            if let (Some(area), Some(rule)) = (areas.get_mut(index), self.rules.get(index)) {
                area.widen(keyword.start, keyword.end, rule, text, &mut sight.findings);
            }
            sight.words.iter_mut().for_each(|words| words.push(keyword.clone()));
        };
        prefilter.each(text, wanted, |hit| {
            if let Some((index, _)) = self.keywords.get(hit.word) {
                take(*index, hit.range);
            }
        });
        let wants = |index: &&usize| self.rules.get(**index).is_some_and(|known| reading.wants(known.rule));
        for (sign, contexts) in &self.signs {
            let any_wanted = |(_, rules): &&(Context, Vec<usize>)| rules.iter().any(|index| wants(&index));
            let contexts: Vec<_> = contexts.iter().filter(any_wanted).collect();
            let places = if contexts.is_empty() { &[] } else { text };
            for at in memchr_iter(*sign, places) {
                let (before, behind) = (text.get(..at), text.get(at + 1..));
                let (before, behind) = (before.unwrap_or_default(), behind.unwrap_or_default());
                let possible =
                    contexts.iter().filter(|(context, _)| credible::can_stand(*context, before, behind));
                let rules = possible.flat_map(|(_, rules)| rules).filter(wants);
                rules.for_each(|index| take(*index, at..at + 1));
            }
        }
        for (area, rule) in areas.iter().zip(&self.rules) {
            if area.end > 0 {
                rule.search(text, area.start, area.end, &mut sight.findings);
            }
        }
    }

    fn search_everywhere(&self, text: &[u8], reading: TextOrigin, sight: &mut Sight) {
        for rule in self.rules.iter().filter(|rule| reading.wants(rule.rule)) {
            rule.search(text, 0, text.len(), &mut sight.findings);
        }
        if let Some(words) = &mut sight.words {
            words.push(0..text.len());
        }
    }
}

/// The rules of each single-character key word.
fn by_sign(keywords: &[(usize, &'static str)]) -> BTreeMap<u8, Vec<(Context, Vec<usize>)>> {
    let mut signs: BTreeMap<u8, Vec<(Context, Vec<usize>)>> = BTreeMap::new();
    for (index, keyword) in keywords {
        let (Some(rule), Some(sign)) = (PATTERNS.get(*index), keyword.bytes().next()) else { continue };
        let contexts = signs.entry(sign).or_default();
        match contexts.iter_mut().find(|(context, _)| *context == rule.context) {
            Some((_, rules)) => rules.push(*index),
            None => contexts.push((rule.context, vec![*index])),
        }
    }
    signs
}

/// The stretches in the order of the text, without nested ones.
fn in_order(mut stretches: Vec<Range<usize>>) -> Vec<Range<usize>> {
    stretches.sort_unstable_by_key(|stretch| (stretch.start, stretch.end));
    let mut ordered: Vec<Range<usize>> = Vec::new();
    for stretch in stretches {
        match ordered.last_mut() {
            Some(last) if stretch.start <= last.end => last.end = last.end.max(stretch.end),
            _ => ordered.push(stretch),
        }
    }
    ordered
}

fn own_finding(Range { start, end }: Range<usize>) -> Finding {
    Finding { rule: OWN_CREDENTIAL, confidence: Confidence::High, start, end }
}

impl Area {
    /// Adds the surroundings of a key word. If they do not touch the current area, searches that area and begins
    /// a new one: so no rule reads a byte twice, however many key words there are.
    fn widen(&mut self, start: usize, end: usize, rule: &Compiled, text: &[u8], findings: &mut Vec<Finding>) {
        let start = start.saturating_sub(WINDOW);
        let end = end.saturating_add(WINDOW).min(text.len());
        if self.end == 0 {
            self.start = start;
        } else if start > self.end {
            let searched = rule.search(text, self.start, self.end, findings);
            self.start = start.max(searched);
        }
        self.end = self.end.max(end);
    }
}

impl Compiled {
    fn new(rule: &'static Pattern) -> Compiled {
        Compiled { rule, ignores_case: rule.pattern.starts_with("(?i)"), regex: OnceLock::new() }
    }

    /// Whether a match can have this key word.
    fn may_match(&self, text: &[u8], keyword: &Range<usize>, reading: TextOrigin) -> bool {
        let before = text.get(..keyword.start).unwrap_or_default();
        let behind = text.get(keyword.end..).unwrap_or_default();
        reading.wants(self.rule) && credible::can_stand(self.rule.context, before, behind)
    }

    fn regex(&self) -> Option<&Regex> {
        self.regex.get_or_init(|| compile(self.rule)).as_ref()
    }

    /// Searches `text[start..end]`, and beyond for matches that reach its end. Returns its end position: a match
    /// is consumed.
    fn search(&self, text: &[u8], mut start: usize, mut end: usize, findings: &mut Vec<Finding>) -> usize {
        let Some(regex) = self.regex() else { return start };
        while start < end {
            let captures = text.get(..end).and_then(|area| regex.captures_at(area, start));
            let Some(captures) = captures else { return start };
            let Some(whole) = captures.get(0) else { return start };
            if whole.end() == end && end < text.len() {
                // The match may continue. Doubling keeps the total of all repetitions within the length of the
                // match.
                start = whole.start();
                end = end.saturating_add(WINDOW.max(end - start)).min(text.len());
                continue;
            }
            let secret = captures.name("span").unwrap_or(whole);
            let before = text.get(..whole.start()).unwrap_or_default();
            if captures
                .name("value")
                .is_none_or(|value| credible::is_credible(self.rule, before, value.as_bytes()))
            {
                let Pattern { id, confidence, .. } = *self.rule;
                findings.push(Finding { rule: id, confidence, start: secret.start(), end: secret.end() });
            }
            start = secret.end().max(whole.start() + 1);
        }
        start
    }
}

/// `None` only if the pattern is invalid or too large, which a test excludes for every rule.
fn compile(rule: &Pattern) -> Option<Regex> {
    RegexBuilder::new(rule.pattern).unicode(false).build().ok()
}

#[cfg(test)]
mod tests;
