//! Rules and their verdicts.
//!
//! Each rule is a file in the folder of the source whose evidence it judges: the [`Rule`], its reasons, and a pure
//! function from facts to a [`Verdict`]. The [frameworks](crate::framework) map rules to controls. Nothing here knows a
//! control.

pub mod reason;
pub mod setting;

use evidence_bundle::document::{Category, Severity};
pub use evidence_bundle::document::{Counts, Status};
pub use reason::{Advice, Reason};

pub use setting::{Setting, Settings};

use std::borrow::Cow;

/// The criteria of a check; each has a heading in `docs/controls.md`.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The code in documents.
    pub code: &'static str,
    /// The title that people read, everywhere.
    pub title: &'static str,
    /// The version of the judgement in documents. It increases when the same evidence can get another verdict.
    pub version: u32,
    /// What its checks are about: a kind of member of the population, the `organization`, or the `directory` of users.
    pub kind: &'static str,
    /// What the rule requires, as text with places for its [settings](Settings::fill).
    pub expected: &'static str,
    /// What the rule reads, as text.
    pub reads: &'static str,
    /// What the rule does not check, as text.
    pub not_checked: &'static str,
    /// The permission to grant: the advice when the credentials lack access.
    pub permission: &'static str,
    /// What is recommended beyond passing, if anything.
    pub improvement: Option<Recommendation>,
    /// The numbers that it judges by and that an organization can make stricter.
    pub settings: &'static [&'static Setting],
    /// Further advice for a passing check: a verdict names one of these.
    pub hints: &'static [&'static Reason],
    /// The reasons that only this rule's checks have.
    pub reasons: &'static [&'static Reason],
}

impl Rule {
    /// What the rule requires under these settings, as text.
    pub fn expectation(&self, settings: &Settings) -> Cow<'static, str> {
        settings.fill(self, self.expected)
    }
}

/// A rule, and how it judges facts of one form.
///
/// The rules over the same facts are in one list: the collection and every verifier go through it, so a new rule is its
/// file and a row.
#[derive(Debug)]
pub struct Judge<F: 'static> {
    /// The rule.
    pub rule: &'static Rule,
    /// Its verdict; `None` if the facts show that a part was not read, which has its own observation.
    pub judge: fn(&F, &Settings) -> Option<Verdict>,
}

/// The verdicts of rules over the same facts.
pub fn judged<'a, F>(
    judges: &'static [&'static Judge<F>],
    facts: &'a F,
    settings: &'a Settings,
) -> impl Iterator<Item = (&'static Rule, Verdict)> + 'a {
    judges.iter().filter_map(|judge| Some((judge.rule, (judge.judge)(facts, settings)?)))
}

/// What is recommended beyond passing.
#[derive(Debug, Clone, Copy)]
pub struct Recommendation {
    /// The title that people read.
    pub title: &'static str,
    /// What to do.
    pub advice: Advice,
}

impl Recommendation {
    /// A recommendation: its title, and what to do.
    pub const fn new(title: &'static str, remediation: &'static str) -> Recommendation {
        let advice = Advice { severity: Severity::Info, category: Category::Improvement, remediation };
        Recommendation { title, advice }
    }
}

impl PartialEq for Rule {
    /// Codes are unique: a test compares them all.
    fn eq(&self, other: &Rule) -> bool {
        self.code == other.code
    }
}

impl Eq for Rule {}

/// A rule's verdict on a setting.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict<Words = String> {
    /// Pass, fail, not verifiable or not applicable.
    pub status: Status,
    /// The reason.
    pub reason: &'static Reason,
    /// The finding as text, or where the text is stored. It contains only what was read.
    pub actual: Option<Words>,
    /// Whether the criteria hold and a recommendation goes beyond them.
    pub improvable: bool,
    /// An important improvement, although the criteria hold: one of the rule's [`hints`](Rule::hints).
    pub hint: Option<&'static Reason>,
}

impl Verdict {
    fn new(status: Status, reason: &'static Reason, actual: impl Into<String>) -> Verdict {
        Verdict { status, reason, actual: Some(actual.into()), improvable: false, hint: None }
    }

    /// The criteria hold.
    pub fn pass(actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::Pass, &reason::OK, actual)
    }

    /// A criterion certainly does not hold.
    pub fn fail(reason: &'static Reason, actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::Fail, reason, actual)
    }

    /// The evidence does not show whether the criteria hold.
    pub fn unknown(reason: &'static Reason, actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::NotVerifiable, reason, actual)
    }

    /// The rule has nothing to apply to.
    pub fn not_applicable(reason: &'static Reason, actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::NotApplicable, reason, actual)
    }
}
