//! One search through a text and everything that it hides.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock};

use memchr::memchr_iter;

use super::effort::{Effort, PER_KEYWORD, TextOrigin};
use super::finding::{ENTANGLED, Finding, OWN_CREDENTIAL};
use super::rule::{Area, Compiled, Text};
use crate::credible;
use crate::own::Own;
use crate::patterns::{Confidence, Context, PATTERNS, Pattern};
use crate::runs;
use crate::views::{self, View};
use crate::words::{Hit, Keys, Words};

pub(super) struct Inner {
    pub(super) rules: Vec<Compiled>,
    /// The rule and the text of each key word; case matters unless the rule's pattern ignores it.
    pub(super) keywords: Vec<(usize, Cow<'static, str>)>,
    /// Key words of one sign, and the rules of each by their contexts. Texts have too many of them for the prefilter,
    /// which is slow for frequent words.
    signs: BTreeMap<u8, Vec<(Context, Vec<usize>)>>,
    /// The rule for values behind a prefix, whose key words are too frequent even for that.
    prefixed: Option<usize>,
    /// The collector's own secrets, some of which appear only during the run.
    pub(super) own: RwLock<Own>,
    /// Finds all key words in one pass. Without it every rule is tried everywhere: slower, with the same
    /// findings.
    pub(super) prefilter: Option<Words<Keys>>,
}

/// A text and where it comes from.
#[derive(Clone, Copy)]
struct Subject<'a> {
    text: &'a [u8],
    origin: TextOrigin,
    /// The view that it is, if lines were joined.
    joints: Option<&'a View>,
}

impl Inner {
    pub(super) fn new() -> Inner {
        let rules = PATTERNS.iter().map(Compiled::new).collect();
        let all = PATTERNS.iter().enumerate();
        let all = all.flat_map(|(index, rule)| rule.keywords.iter().map(move |keyword| (index, *keyword)));
        let (single, keywords): (Vec<_>, Vec<_>) = all.partition(|(_, keyword)| keyword.len() == 1);
        // A joint can be in the place of a space.
        let spaced = keywords.iter().filter(|(_, keyword)| keyword.trim().contains(' '));
        let joined: Vec<_> =
            spaced.map(|(index, keyword)| (*index, Cow::from(keyword.replace(' ', "")))).collect();
        let keywords: Vec<_> =
            keywords.into_iter().map(|(index, keyword)| (index, Cow::from(keyword))).chain(joined).collect();
        let texts: Vec<&[u8]> = keywords.iter().map(|(_, keyword)| keyword.as_bytes()).collect();
        let prefilter = Words::new(&texts);
        let is_prefixed = |rule: &Pattern| rule.context == Context::Prefixed;
        let prefixed = PATTERNS.iter().position(is_prefixed);
        Inner { rules, keywords, prefixed, signs: by_sign(&single), own: RwLock::default(), prefilter }
    }

    /// Everything in the text, in whatever layer.
    pub(super) fn search(&self, text: &[u8], layers: usize) -> Vec<Finding> {
        let mut findings = Vec::new();
        let mut effort = Effort::new(text);
        self.search_own(text, &mut findings);
        let plain = Subject { text, origin: TextOrigin::Plain, joints: None };
        self.search_one(plain, &mut effort, &mut findings);
        self.search_views(text, TextOrigin::Plain, layers, &mut effort, &mut findings);
        if effort.is_spent {
            let (start, end) = (0, text.len());
            findings.push(Finding { rule: ENTANGLED, confidence: Confidence::High, start, end });
        }
        findings
    }

    /// Adds findings of the text as written.
    fn search_one(&self, subject: Subject, effort: &mut Effort, findings: &mut Vec<Finding>) {
        let marked = OnceCell::new();
        let text = || match subject.joints {
            None => Text { bytes: subject.text, is_joined: false },
            Some(view) => Text { bytes: marked.get_or_init(|| view.marked()), is_joined: true },
        };
        let known = findings.len();
        match &self.prefilter {
            Some(prefilter) => self.search_near(prefilter, subject, &text, effort, findings),
            None => self.search_everywhere(subject, text(), findings),
        }
        let Some(view) = subject.joints else { return };
        for finding in findings.iter_mut().skip(known) {
            finding.start = view.unmarked(finding.start);
            finding.end = view.unmarked(finding.end);
        }
    }

    /// The collector's own secrets in the text.
    fn search_own(&self, text: &[u8], findings: &mut Vec<Finding>) {
        let own = self.own.read().unwrap_or_else(PoisonError::into_inner);
        own.each(text, |Range { start, end }| {
            findings.push(Finding { rule: OWN_CREDENTIAL, confidence: Confidence::High, start, end });
        });
    }

    /// Adds the findings that are hidden in up to `layers` layers.
    fn search_views(
        &self,
        text: &[u8],
        above: TextOrigin,
        layers: usize,
        effort: &mut Effort,
        findings: &mut Vec<Finding>,
    ) {
        let Some(below) = layers.checked_sub(1) else { return };
        for view in views::of(text) {
            if effort.is_spent {
                return;
            }
            if effort.is_worth(&view, above, below) {
                self.search_view(&view, above, below, effort, findings);
            }
        }
    }

    /// Adds the findings of one view.
    fn search_view(
        &self,
        view: &View,
        above: TextOrigin,
        below: usize,
        effort: &mut Effort,
        findings: &mut Vec<Finding>,
    ) {
        let known = findings.len();
        // Escapes in joined lines belong to joined text too.
        let joined = view.joined || (above == TextOrigin::Joined && !view.encoded);
        let origin = if joined { TextOrigin::Joined } else { TextOrigin::Decoded };
        let joints = view.joined.then_some(view);
        self.search_one(Subject { text: &view.bytes, origin, joints }, effort, findings);
        // For joined lines the plain text already shows them, since only letters and digits count.
        if !view.joined {
            self.search_own(&view.bytes, findings);
        }
        self.search_views(&view.bytes, origin, below, effort, findings);
        let mut at = known;
        while let Some(finding) = findings.get_mut(at) {
            let (start, end) = view.back(finding.start, finding.end);
            (finding.start, finding.end) = (start, end);
            if start < end && finding.confidence == Confidence::High {
                at += 1;
            } else {
                findings.swap_remove(at);
            }
        }
    }

    fn search_near<'a>(
        &self,
        prefilter: &Words<Keys>,
        subject: Subject,
        text: &impl Fn() -> Text<'a>,
        effort: &mut Effort,
        findings: &mut Vec<Finding>,
    ) {
        let mut areas: Vec<Area> = Vec::new();
        let keywords = subject.text;
        let joints = subject.joints.map(View::places_of_joints).unwrap_or_default();
        let is_joint = |at: usize| joints.is_joint(at);
        let may_match = |rule: &Compiled, keyword: &Range<usize>| {
            let before = keywords.get(..keyword.start).unwrap_or_default();
            let behind = keywords.get(keyword.end..).unwrap_or_default();
            let can_stand = |before| credible::can_stand(rule.rule.context, before, behind);
            subject.origin.wants(rule.rule)
                && (can_stand(before) || is_joint(keyword.start) && can_stand(&[]))
        };
        let wanted = |hit: &Hit| {
            self.keywords.get(hit.word).is_some_and(|(index, word)| {
                self.rules.get(*index).is_some_and(|rule| {
                    let exact = rule.ignores_case || keywords.get(hit.range.clone()) == Some(word.as_bytes());
                    exact && may_match(rule, &hit.range)
                })
            })
        };
        let mut take = |index: usize, keyword: Range<usize>| {
            if !effort.spend(PER_KEYWORD) {
                return;
            }
            if areas.is_empty() {
                areas.resize(self.rules.len(), Area::default());
            }
            let keyword = match subject.joints {
                None => keyword,
                Some(_) => joints.to_marked(keyword.start)..joints.to_marked(keyword.end),
            };
            if let (Some(area), Some(rule)) = (areas.get_mut(index), self.rules.get(index)) {
                if rule.begins_with_keyword() {
                    area.start = rule.search_at(text(), keyword.start, area.start, effort, findings);
                } else {
                    area.widen(keyword, rule, text(), effort, findings);
                }
            }
        };
        prefilter.each(keywords, wanted, |hit| {
            if let Some((index, _)) = self.keywords.get(hit.word) {
                take(*index, hit.range);
            }
        });
        if let Some(index) = self.prefixed
            && subject.origin == TextOrigin::Plain
        {
            runs::separators(keywords).for_each(|at| take(index, at..at + 1));
        }
        let wants =
            |index: &&usize| self.rules.get(**index).is_some_and(|known| subject.origin.wants(known.rule));
        for (sign, contexts) in &self.signs {
            let any_wanted = |(_, rules): &&(Context, Vec<usize>)| rules.iter().any(|index| wants(&index));
            let contexts: Vec<_> = contexts.iter().filter(any_wanted).collect();
            let places = if contexts.is_empty() { &[] } else { keywords };
            for at in memchr_iter(*sign, places) {
                let (before, behind) = (keywords.get(..at), keywords.get(at + 1..));
                let (before, behind) = (before.unwrap_or_default(), behind.unwrap_or_default());
                let possible =
                    contexts.iter().filter(|(context, _)| credible::can_stand(*context, before, behind));
                let rules = possible.flat_map(|(_, rules)| rules).filter(wants);
                rules.for_each(|index| take(*index, at..at + 1));
            }
        }
        for (area, rule) in areas.iter().zip(&self.rules) {
            if area.end > 0 {
                rule.search(text(), area.start, area.end, effort, findings);
            }
        }
    }

    fn search_everywhere(&self, subject: Subject, text: Text, findings: &mut Vec<Finding>) {
        let mut effort = Effort::unlimited();
        for rule in self.rules.iter().filter(|rule| subject.origin.wants(rule.rule)) {
            rule.search(text, 0, text.bytes.len(), &mut effort, findings);
        }
    }
}

/// The rules of each single-character key word.
fn by_sign(keywords: &[(usize, &'static str)]) -> BTreeMap<u8, Vec<(Context, Vec<usize>)>> {
    let mut signs: BTreeMap<u8, Vec<(Context, Vec<usize>)>> = BTreeMap::new();
    for (index, keyword) in keywords {
        let (Some(rule), Some(sign)) = (PATTERNS.get(*index), keyword.bytes().next()) else { continue };
        if rule.context == Context::Prefixed {
            continue;
        }
        let contexts = signs.entry(sign).or_default();
        match contexts.iter_mut().find(|(context, _)| *context == rule.context) {
            Some((_, rules)) => rules.push(*index),
            None => contexts.push((rule.context, vec![*index])),
        }
    }
    signs
}
