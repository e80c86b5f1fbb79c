//! Judges the observations of a group, and compares each check with the one in the bundle.

use std::sync::Arc;

use evidence_bundle::Reason as Refusal;

use super::group::{JudgeContext, Judged, Row, SourceSettings};
use super::kept::{Kept, all_of};
use super::state::{Rejudged, Repetition};
use super::{altcloud, cloud, codehost, order};
use crate::inspection::{Conclusion, Judgement as Verdicts, Shown, conclude, withheld};
use crate::rule::reason;
use crate::{SOURCES, rule_of};

impl Repetition {
    /// Judges a group and forgets it.
    pub(super) fn judge(&mut self, number: usize) {
        let Some(group) = self.groups.get_mut(number) else { return };
        let (rows, source_number) = (std::mem::take(&mut group.rows), group.source);
        let Some(first) = rows.first() else { return };
        let source = name_of(source_number);
        if *first.kind == order::CONNECTION {
            self.unconnected(source_number, first, number);
            return;
        }
        let is_applied = self.applies_to(first);
        if !is_applied && self.again.is_none() {
            return;
        }
        let all = all_of(rows.iter().map(|row| row.basis));
        if let (Some(screen), false) = (excluded(&rows), source_number == 0) {
            // Which parts of such an artifact were judged is not known without it.
            let verdict = withheld(screen);
            for rule in first.kind.rules {
                for subject in self.checks.take_all(rule, &verdict, all) {
                    self.judgement.repeated += 1;
                    let Some(subject) = self.subjects.get(subject) else { continue };
                    let subject = Arc::clone(&subject.name);
                    let judgement = Verdicts { rule, subject, verdict: verdict.clone() };
                    self.judged_again(source, number, [judgement]);
                }
            }
            return;
        }
        let settings = self.sources.iter().find(|scope| scope.source == source).map(|scope| &scope.settings);
        let known = self.subjects.begin(first.number);
        let around = JudgeContext {
            rules: &self.settings,
            only_read: false,
            settings: SourceSettings(settings),
            default_branch: known.and_then(|known| known.default_branch.as_deref()),
            archived: known.is_some_and(|known| known.archived),
        };
        let by = |around: JudgeContext<'_>| match source_number {
            0 => codehost::judged(&rows, around),
            1 => cloud::judged(&rows, around.rules),
            _ => Some(altcloud::judged(&rows, around.rules)),
        };
        let judged = by(around);
        let observed: Vec<_> = rows.iter().map(Row::observed).collect();
        if let Some(again) = &self.again {
            let rules = again.settings.as_ref().unwrap_or(&self.settings);
            let other = by(JudgeContext { rules, only_read: true, ..around });
            let Judged { judgements, exempt } = other.unwrap_or_default();
            let concluded = conclude(&observed, judgements, exempt).into_iter();
            self.judged_again(source, number, concluded.map(|one| one.judgement));
        }
        if !is_applied {
            return;
        }
        let Some(Judged { judgements, exempt }) = judged else {
            let detail = format!("the observations of {} are not those that the rules need", first.subject);
            self.problem(Refusal::ChecksIncomplete, detail);
            return;
        };
        for Conclusion { judgement, on } in conclude(&observed, judgements, exempt) {
            let basis = on.and_then(|index| rows.get(index)).map_or(all, |row| all_of([row.basis]));
            self.expect(source_number, &judgement, basis);
        }
    }

    /// A source that could not be connected has a check of each of its rules.
    fn unconnected(&mut self, source_number: usize, row: &Row, number: usize) {
        let source = name_of(source_number);
        let rules: Vec<_> = self
            .rules
            .iter()
            .filter(|rule| rule.source == source)
            .filter_map(|rule| rule_of(&rule.code))
            .collect();
        for rule in rules {
            let verdict = crate::rule::Verdict::unknown(&reason::CONNECTION_FAILED, &*row.detail);
            let judgement = row.judged(rule, verdict);
            self.expect(source_number, &judgement, all_of([row.basis]));
            self.judged_again(source, number, [judgement]);
        }
    }

    /// Keeps what this version's rules say, if anyone asks.
    fn judged_again(
        &mut self,
        source: &'static str,
        group: usize,
        judgements: impl IntoIterator<Item = Verdicts>,
    ) {
        if let Some(again) = &mut self.again {
            let judgements = judgements.into_iter().map(|judgement| Rejudged { source, judgement, group });
            again.judgements.extend(judgements);
        }
    }

    /// Compares a check that follows from the facts with the one in the bundle.
    fn expect(&mut self, source: usize, expected: &Verdicts, basis: u64) {
        let Verdicts { rule, subject, .. } = expected;
        if !self.applies(rule) {
            // A rule that was not applied has no check; one that is not known here is counted at the end.
            return;
        }
        let number = self.subjects.find(subject);
        let kept = number.map_or(Kept::Missing, |subject| self.checks.take(source, subject, expected, basis));
        match kept {
            Kept::Same => self.judgement.repeated += 1,
            Kept::Differs(found) => {
                let detail = format!("{} of {subject}: {found}", rule.code);
                self.problem(Refusal::JudgementDiffers, detail);
            }
            Kept::Missing => {
                let detail = format!("{} of {subject} is missing", rule.code);
                self.problem(Refusal::ChecksIncomplete, detail);
            }
        }
    }

    /// Judges the groups whose artifacts are not all there.
    pub(super) fn judge_the_rest(&mut self) {
        for number in 0..self.groups.len() {
            self.judge(number);
        }
    }
}

fn name_of(source: usize) -> &'static str {
    SOURCES.get(source).map_or("", |source| source.source)
}

/// The rule of the screen that excluded an artifact of a group, if one was.
fn excluded(rows: &[Row]) -> Option<&str> {
    rows.iter().find_map(|row| match row.shown() {
        Shown::Excluded(rule) => Some(rule),
        _ => None,
    })
}
