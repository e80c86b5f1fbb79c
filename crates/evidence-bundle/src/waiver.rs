//! Which checks a waiver names, and whether it applies.
//!
//! Writers and verifiers use the same functions, so a verifier repeats the result from the checks of the bundle. Nothing
//! here changes a check.

use std::cmp::Ordering;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use evidence_text::{saturating_u32, saturating_u64};

use crate::document::{Counts, Status, WaiverMatch, WaiverRecord, WaiverState, WaiversSummary};
use crate::time;

/// The seconds of a day.
pub const DAY: i64 = 86_400;

/// The first second of a day that is written `YYYY-MM-DD`, in UTC; `None` for any other text.
pub fn day(text: &str) -> Option<i64> {
    (text.len() == 10).then(|| time::parse(&format!("{text}T00:00:00Z")))?
}

/// Whether a pattern matches a subject: `*` matches any characters but `/`, and ASCII case is ignored.
pub fn glob_matches(glob: &str, subject: &str) -> bool {
    let (mut patterns, mut parts) = (glob.split('/'), subject.split('/'));
    loop {
        match (patterns.next(), parts.next()) {
            (None, None) => return true,
            (Some(pattern), Some(part)) if component_matches(pattern, part) => {}
            _ => return false,
        }
    }
}

/// Without backtracking: the first place of each piece between two stars is as good as a later one.
fn component_matches(pattern: &str, part: &str) -> bool {
    let (pattern, part) = (pattern.as_bytes(), part.as_bytes());
    let mut pieces = pattern.split(|byte| *byte == b'*');
    let first = pieces.next().unwrap_or_default();
    let Some((begin, rest)) = part.split_at_checked(first.len()) else { return false };
    if !begin.eq_ignore_ascii_case(first) {
        return false;
    }
    let mut pieces: Vec<&[u8]> = pieces.collect();
    let Some(last) = pieces.pop() else { return rest.is_empty() };
    let Some((mut middle, end)) =
        rest.len().checked_sub(last.len()).and_then(|split| rest.split_at_checked(split))
    else {
        return false;
    };
    for piece in pieces.iter().filter(|piece| !piece.is_empty()) {
        let Some(place) = middle.windows(piece.len()).position(|part| part.eq_ignore_ascii_case(piece))
        else {
            return false;
        };
        middle = middle.get(place + piece.len()..).unwrap_or_default();
    }
    end.eq_ignore_ascii_case(last)
}

/// The identity and the result of every check, each text stored once.
#[derive(Debug, Default)]
pub struct Checks {
    numbers: HashMap<Arc<str>, u32>,
    texts: Vec<Arc<str>>,
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Copy)]
struct Row {
    control: u32,
    source: u32,
    rule: u32,
    subject: u32,
    reason: u32,
    status: Status,
}

/// A check: its identity and its result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedCheck<'a> {
    /// The control.
    pub control: &'a str,
    /// The source.
    pub source: &'a str,
    /// The code of the rule.
    pub rule: &'a str,
    /// The subject.
    pub subject: &'a str,
    /// The result.
    pub status: Status,
    /// The reason of the result.
    pub reason: &'a str,
}

impl NamedCheck<'_> {
    /// The check as a document writes it.
    pub fn record(&self) -> WaiverMatch {
        WaiverMatch {
            control: self.control.to_owned(),
            source: self.source.to_owned(),
            rule: self.rule.to_owned(),
            subject: self.subject.to_owned(),
            status: self.status,
            reason: self.reason.to_owned(),
        }
    }
}

impl Checks {
    /// Adds the next check of the results.
    pub fn add(&mut self, check: NamedCheck<'_>) {
        let row = Row {
            control: self.number(check.control),
            source: self.number(check.source),
            rule: self.number(check.rule),
            subject: self.number(check.subject),
            reason: self.number(check.reason),
            status: check.status,
        };
        self.rows.push(row);
    }

    /// Replaces a placeholder whose text was not known when the checks were added.
    pub fn rename(&mut self, placeholder: &str, text: &str) {
        let number = self.numbers.remove(placeholder).and_then(|number| usize::try_from(number).ok());
        if let Some(place) = number.and_then(|number| self.texts.get_mut(number)) {
            *place = text.into();
        }
    }

    fn number(&mut self, text: &str) -> u32 {
        if let Some(number) = self.numbers.get(text) {
            return *number;
        }
        let (number, text): (_, Arc<str>) = (saturating_u32(self.texts.len()), text.into());
        self.numbers.insert(Arc::clone(&text), number);
        self.texts.push(text);
        number
    }

    /// Prepares the search.
    pub fn sorted(self) -> SortedChecks {
        let mut order: Vec<u32> = (0..saturating_u32(self.rows.len())).collect();
        order.sort_by(|left, right| match (self.row(*left), self.row(*right)) {
            (Some(left), Some(right)) => left
                .rule
                .cmp(&right.rule)
                .then_with(|| folded(self.text(left.subject), self.text(right.subject))),
            _ => Ordering::Equal,
        });
        SortedChecks { checks: self, order }
    }

    fn row(&self, number: u32) -> Option<Row> {
        self.rows.get(usize::try_from(number).ok()?).copied()
    }

    fn text(&self, number: u32) -> &str {
        usize::try_from(number).ok().and_then(|number| self.texts.get(number)).map_or("", |text| text)
    }
}

/// The order of two texts without regard to ASCII case.
fn folded(left: &str, right: &str) -> Ordering {
    let lower = |byte: u8| byte.to_ascii_lowercase();
    left.bytes().map(lower).cmp(right.bytes().map(lower))
}

/// The checks of a bundle, to be searched.
#[derive(Debug, Default)]
pub struct SortedChecks {
    checks: Checks,
    /// The rows by rule and subject.
    order: Vec<u32>,
}

impl SortedChecks {
    /// The check with this number.
    pub fn get(&self, number: u32) -> Option<NamedCheck<'_>> {
        let text = |number| self.checks.text(number);
        let row = self.checks.row(number)?;
        Some(NamedCheck {
            control: text(row.control),
            source: text(row.source),
            rule: text(row.rule),
            subject: text(row.subject),
            status: row.status,
            reason: text(row.reason),
        })
    }

    /// How many checks failed.
    pub fn failed(&self) -> u64 {
        let failed = self.checks.rows.iter().filter(|row| row.status == Status::Fail).count();
        saturating_u64(failed)
    }

    /// The numbers of the checks that a waiver names, ascending.
    pub fn named<M>(&self, waiver: &WaiverRecord<M>) -> Vec<u32> {
        let Some(rule) = self.checks.numbers.get(waiver.rule.as_str()) else { return Vec::new() };
        let mut named: Vec<u32> =
            waiver.subjects.iter().flat_map(|subject| self.about(*rule, subject)).copied().collect();
        if !waiver.globs.is_empty() {
            let matching = self.of_rule(*rule).iter().filter(|number| {
                let subject = self.get(**number).map_or("", |check| check.subject);
                waiver.globs.iter().any(|glob| glob_matches(glob, subject))
            });
            named.extend(matching);
        }
        let is_meant = |number: &u32| {
            self.get(*number).is_some_and(|check| {
                check.source == waiver.source
                    && waiver.control.as_deref().is_none_or(|control| control == check.control)
            })
        };
        named.retain(is_meant);
        named.sort_unstable();
        named.dedup();
        named
    }

    /// The result of the checks of a rule about a subject; `None` without such a check.
    pub fn status(&self, rule: &str, subject: &str) -> Option<Status> {
        let rule = self.checks.numbers.get(rule)?;
        let (mut counts, mut any) = (Counts::default(), false);
        for check in self.about(*rule, subject).iter().filter_map(|number| self.get(*number)) {
            counts.add(check.status);
            any = true;
        }
        any.then(|| counts.status())
    }

    fn of_rule(&self, rule: u32) -> &[u32] {
        self.range(|row| row.rule.cmp(&rule))
    }

    fn about(&self, rule: u32, subject: &str) -> &[u32] {
        self.range(|row| row.rule.cmp(&rule).then_with(|| folded(self.checks.text(row.subject), subject)))
    }

    /// The rows that compare as equal.
    fn range(&self, order: impl Fn(Row) -> Ordering) -> &[u32] {
        let compared = |number: &u32| self.checks.row(*number).map_or(Ordering::Less, &order);
        let begin = self.order.partition_point(|number| compared(number) == Ordering::Less);
        let rest = self.order.get(begin..).unwrap_or_default();
        let end = rest.partition_point(|number| compared(number) == Ordering::Equal);
        rest.get(..end).unwrap_or_default()
    }
}

/// The waivers of a run, applied to its checks one by one.
#[derive(Debug)]
pub struct Applying<'a> {
    checks: &'a SortedChecks,
    /// The time at which waivers are judged, in Unix seconds.
    at: i64,
    accepted: HashSet<u32>,
}

/// What came of a waiver.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// Whether it applied.
    pub state: WaiverState,
    /// The numbers of the checks that it names, ascending.
    pub named: Vec<u32>,
    /// The result of its compensating check, if it names one that exists.
    pub compensating: Option<Status>,
    /// How many failures it accepts, or would accept on another day.
    pub failures: u64,
    /// A failure that an earlier waiver accepts too.
    pub twice: Option<u32>,
}

impl<'a> Applying<'a> {
    /// Applies waivers to these checks, at this time.
    pub fn new(checks: &'a SortedChecks, at: i64) -> Applying<'a> {
        Applying { checks, at, accepted: HashSet::new() }
    }

    /// Applies a waiver. `None` if its dates are not days.
    pub fn apply<M>(&mut self, waiver: &WaiverRecord<M>) -> Option<Applied> {
        let (first, last) = (day(&waiver.approved_at)?, day(&waiver.expires_at)?);
        let named = self.checks.named(waiver);
        let failures: Vec<u32> = named
            .iter()
            .filter(|number| {
                self.checks.get(**number).is_some_and(|check| accepts(waiver, check.status, check.reason))
            })
            .copied()
            .collect();
        let passed =
            |number: &u32| self.checks.get(*number).is_some_and(|check| check.status == Status::Pass);
        let state = if self.at >= last.saturating_add(DAY) {
            WaiverState::Expired
        } else if self.at < first {
            WaiverState::NotYetValid
        } else if named.is_empty() {
            WaiverState::Unused
        } else if !failures.is_empty() {
            WaiverState::Applied
        } else if named.iter().all(passed) {
            WaiverState::NotNeeded
        } else {
            WaiverState::NotMatched
        };
        let accepts = saturating_u64(failures.len());
        let mut twice = None;
        if state == WaiverState::Applied {
            for failure in failures {
                if !self.accepted.insert(failure) {
                    twice.get_or_insert(failure);
                }
            }
        }
        let compensating = waiver
            .compensating_check
            .as_ref()
            .and_then(|check| self.checks.status(&check.rule, &check.subject));
        Some(Applied { state, named, compensating, failures: accepts, twice })
    }

    /// Whether a waiver that was applied accepts the check with this number.
    pub fn is_accepted(&self, number: u32) -> bool {
        self.accepted.contains(&number)
    }

    /// How many failures there are, with a waiver and without.
    pub fn summary(&self) -> WaiversSummary {
        let failed = self.checks.failed();
        let failed_waived = saturating_u64(self.accepted.len());
        WaiversSummary { failed, failed_waived, failed_unwaived: failed.saturating_sub(failed_waived) }
    }
}

/// Whether a check with this result failed for a reason that the waiver accepts.
pub fn accepts<M>(waiver: &WaiverRecord<M>, status: Status, reason: &str) -> bool {
    status == Status::Fail
        && (waiver.reasons.is_empty() || waiver.reasons.iter().any(|accepted| accepted == reason))
}

/// Whether a waiver was approved by its owner.
pub fn is_self_approved(owner: &str, approved_by: &str) -> bool {
    owner.trim().to_lowercase() == approved_by.trim().to_lowercase()
}

#[cfg(test)]
mod tests;
