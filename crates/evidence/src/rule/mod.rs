//! A rule, what it says about a setting, and why.
//!
//! A rule is a file beside the source whose evidence it judges: the [`Rule`], its reasons, and a pure function from
//! what was read to a [`Verdict`]. Which control it counts for is said by the [frameworks](crate::framework). Nothing
//! here knows a host, an observation or a control.

pub mod reason;

pub use evidence_bundle::document::{Counts, Status};
pub use reason::{Advice, Reason};

/// What a check applies; one heading each in `docs/controls.md`.
#[derive(Debug, Clone, Copy)]
pub struct Rule {
    /// The code in documents.
    pub code: &'static str,
    /// The version of the judgement in documents: it rises when the same evidence can be judged otherwise than before.
    pub version: u32,
    /// What the rule wants, in words.
    pub expected: &'static str,
    /// What to grant so that it can be judged: the advice when the credentials may not see it.
    pub permission: &'static str,
    /// What is recommended beyond passing, if anything.
    pub improvement: Option<Advice>,
    /// Further advice for a check that passes: a verdict names one of them.
    pub hints: &'static [&'static Reason],
    /// The reasons that only its checks have.
    pub reasons: &'static [&'static Reason],
}

/// A rule for tests that need one of any source.
#[cfg(test)]
pub(crate) static MADE_UP: Rule = Rule {
    code: "made-up",
    version: 1,
    expected: "something",
    permission: "Grant it.",
    improvement: None,
    hints: &[],
    reasons: &[],
};

impl PartialEq for Rule {
    /// Codes are unique: a test compares them all.
    fn eq(&self, other: &Rule) -> bool {
        self.code == other.code
    }
}

impl Eq for Rule {}

/// What a rule says about a setting that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict<Words = String> {
    /// Pass, fail, not verifiable or not applicable.
    pub status: Status,
    /// Why.
    pub reason: &'static Reason,
    /// What was found, in words, or where these words are kept; nothing in it that was not read.
    pub actual: Option<Words>,
    /// The criteria hold, and there is a recommendation beyond them.
    pub improvable: bool,
    /// The criteria hold, and this is worth doing first: one of the rule's [`hints`](Rule::hints).
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

    /// A criterion does not hold, for certain.
    pub fn fail(reason: &'static Reason, actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::Fail, reason, actual)
    }

    /// What was read does not tell.
    pub fn unknown(reason: &'static Reason, actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::NotVerifiable, reason, actual)
    }

    /// There is nothing the rule could be about.
    pub fn not_applicable(reason: &'static Reason, actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::NotApplicable, reason, actual)
    }
}
