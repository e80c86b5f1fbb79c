//! Checks and hints in groups: the count for each status and reason, and some of the subjects.

use std::collections::BTreeSet;

use evidence_bundle::Status;
use evidence_bundle::document::{Category, Check, Counts, Hint, Severity};
use evidence_text::saturating_u64;

use crate::sanitize::sanitized;

/// The most subjects that a group names.
const NAMED: usize = 5;
/// The most characters of a subject, a reason or a rule in a group, since there can be many groups.
const CHARACTERS: usize = 200;
/// The most groups of one control. A source has a few dozen reasons.
const GROUPS: usize = 50;
/// The most groups of all controls of a bundle.
const ALL_GROUPS: usize = 1_000;
/// The most groups of hints.
const HINT_GROUPS: usize = 100;
/// The most rules that a group names.
const RULES: usize = 5;

/// The beginning of a text, made safe to show.
fn short(text: &str) -> String {
    match text.char_indices().nth(CHARACTERS) {
        Some((end, _)) => format!("{}…", sanitized(text.get(..end).unwrap_or_default())),
        None => sanitized(text),
    }
}

/// The first subjects of a group.
#[derive(Debug, Default)]
pub struct Subjects {
    /// The first of them, made safe to show.
    pub named: Vec<String>,
    /// The number of all, named or not.
    pub count: u64,
}

impl Subjects {
    fn add(&mut self, subject: &str) {
        self.count = self.count.saturating_add(1);
        if self.named.len() < NAMED {
            self.named.push(short(subject));
        }
    }

    /// The number of unnamed ones.
    pub fn unnamed(&self) -> u64 {
        self.count.saturating_sub(saturating_u64(self.named.len()))
    }
}

/// The checks of a control with one status and one reason.
#[derive(Debug)]
pub struct CheckGroup {
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// The codes of the rules that were applied.
    pub rules: BTreeSet<String>,
    /// The subjects of the checks.
    pub subjects: Subjects,
}

/// The checks of a control.
#[derive(Debug, Default)]
pub struct Checks {
    counts: Counts,
    groups: Vec<CheckGroup>,
    /// The number of checks without a group, because there are too many reasons.
    pub ungrouped: u64,
}

impl Checks {
    /// How many of each status there are.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Keeps at most this many groups, the first ones, and returns how many it kept.
    fn keep(&mut self, most: usize) -> usize {
        let left = self.groups.split_off(self.groups.len().min(most));
        let checks = left.iter().map(|group| group.subjects.count).fold(0, u64::saturating_add);
        self.ungrouped = self.ungrouped.saturating_add(checks);
        self.groups.len()
    }

    /// Limits the groups of all controls of a bundle together: a page shows them all.
    pub(crate) fn limit<'a>(controls: impl Iterator<Item = &'a mut Checks>) {
        let mut left = ALL_GROUPS;
        for checks in controls {
            left = left.saturating_sub(checks.keep(left));
        }
    }

    /// The groups, the most urgent status first, and within a status the largest first.
    pub fn groups(&self) -> Vec<&CheckGroup> {
        let mut groups: Vec<&CheckGroup> = self.groups.iter().collect();
        groups.sort_by_key(|group| (group.status.urgency(), std::cmp::Reverse(group.subjects.count)));
        groups
    }
}

impl Checks {
    /// Adds a check.
    pub(crate) fn take(&mut self, check: &Check) {
        self.counts.add(check.status);
        let reason = short(&check.reason);
        let known = |group: &&mut CheckGroup| group.status == check.status && group.reason == reason;
        if let Some(group) = self.groups.iter_mut().find(known) {
            group.add(check);
        } else if self.groups.len() < GROUPS {
            let (rules, subjects) = (BTreeSet::new(), Subjects::default());
            let mut group = CheckGroup { status: check.status, reason, rules, subjects };
            group.add(check);
            self.groups.push(group);
        } else {
            self.ungrouped = self.ungrouped.saturating_add(1);
        }
    }
}

impl CheckGroup {
    fn add(&mut self, check: &Check) {
        self.subjects.add(&check.subject);
        if self.rules.len() < RULES {
            self.rules.insert(short(&check.rule));
        }
    }
}

/// The hints with the same advice for the same finding.
#[derive(Debug)]
pub struct HintGroup {
    /// The control.
    pub control: String,
    /// How much it matters.
    pub severity: Severity,
    /// What kind of gap it is.
    pub category: Category,
    /// The finding in one line.
    pub title: String,
    /// The detail of the first subject's finding.
    pub detail: String,
    /// What to do.
    pub remediation: String,
    /// The subjects of the hints.
    pub subjects: Subjects,
}

/// The hints of a bundle, in the order of the document: the most severe first.
#[derive(Debug, Default)]
pub struct HintGroups {
    /// The groups.
    pub groups: Vec<HintGroup>,
    /// How many hints there are.
    pub count: u64,
}

impl HintGroups {
    /// Adds a hint.
    pub(crate) fn take(&mut self, hint: &Hint) {
        self.count = self.count.saturating_add(1);
        let title = sanitized(&hint.title);
        let remediation = sanitized(&hint.remediation);
        let known = |group: &&mut HintGroup| {
            (group.severity, &group.title, &group.remediation) == (hint.severity, &title, &remediation)
                && group.control == hint.control
        };
        if let Some(group) = self.groups.iter_mut().find(known) {
            group.subjects.add(&hint.subject);
        } else if self.groups.len() < HINT_GROUPS {
            let mut subjects = Subjects::default();
            subjects.add(&hint.subject);
            let Hint { control, severity, category, detail, .. } = hint;
            let (control, detail) = (sanitized(control), sanitized(detail));
            let (severity, category) = (*severity, *category);
            self.groups.push(HintGroup { control, severity, category, title, detail, remediation, subjects });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(subject: &str, status: Status, reason: &str) -> Check {
        Check {
            rule: "a-rule".to_owned(),
            source: "codehost".to_owned(),
            subject: subject.to_owned(),
            status,
            reason: reason.to_owned(),
            expected: None,
            actual: None,
            evidence: Vec::new(),
        }
    }

    #[test]
    fn groups_count_all_and_name_a_few() {
        let mut checks = Checks::default();
        for number in 0..3 {
            checks.take(&check(&format!("p{number}"), Status::Pass, "ok"));
        }
        checks.take(&check("a\u{202e}", Status::Fail, "rare"));
        for number in 0..7 {
            checks.take(&check(&format!("f{number}"), Status::Fail, "common"));
        }
        let found: Vec<_> = checks
            .groups()
            .iter()
            .map(|group| {
                (group.status, group.reason.clone(), group.subjects.named.len(), group.subjects.unnamed())
            })
            .collect();
        assert_eq!(
            found,
            [
                (Status::Fail, "common".to_owned(), 5, 2),
                (Status::Fail, "rare".to_owned(), 1, 0),
                (Status::Pass, "ok".to_owned(), 3, 0)
            ]
        );
        assert_eq!(checks.groups()[1].subjects.named, ["a\\u{202e}"]);
        assert_eq!((checks.counts().pass, checks.counts().fail), (3, 8));
        // Further reasons are counted, but not kept.
        for number in 0..1_000 {
            checks.take(&check("x", Status::Fail, &format!("reason {number}")));
        }
        assert_eq!((checks.groups().len(), checks.counts().fail), (GROUPS, 1_008));
        assert_eq!(checks.ungrouped, 1_003 - GROUPS as u64);
        // All controls together have a limit too.
        let mut controls: Vec<Checks> = (0..100).map(|_| Checks::default()).collect();
        for checks in &mut controls {
            (0..GROUPS)
                .for_each(|number| checks.take(&check("x", Status::Fail, &format!("reason {number}"))));
        }
        Checks::limit(controls.iter_mut());
        assert_eq!(controls.iter().map(|checks| checks.groups.len()).sum::<usize>(), ALL_GROUPS);
        assert!(controls.iter().all(|checks| checks.groups.len() as u64 + checks.ungrouped == GROUPS as u64));
        assert_eq!(short(&"x".repeat(1_000)).chars().count(), CHARACTERS + 1);
    }
}
