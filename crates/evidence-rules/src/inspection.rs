//! From observations and verdicts to checks.
//!
//! Observations that were made together are judged together. A check passes or fails only on a setting that was read; a
//! setting that was not read is `not_verifiable`, with the reason.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::Value;

use crate::rule::{Reason, Rule, Status, Verdict, reason};

/// A kind of setting to read, and the artifact that holds it.
#[derive(Debug)]
pub struct ArtifactKind {
    /// `artifact_type` in the manifest.
    pub name: &'static str,
    /// The rules that use it as evidence.
    pub rules: &'static [&'static Rule],
}

impl ArtifactKind {
    /// Whether a rule with this code uses it.
    pub fn serves(&self, code: &str) -> bool {
        self.rules.iter().any(|rule| rule.code == code)
    }
}

impl PartialEq for ArtifactKind {
    /// Names are unique: a test compares them all.
    fn eq(&self, other: &ArtifactKind) -> bool {
        self.name == other.name
    }
}

impl Eq for ArtifactKind {}

/// Small values that a judgement uses and that no artifact has a field for, by name.
pub type Facts = BTreeMap<Cow<'static, str>, Value>;

/// What an observation shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shown<'a> {
    /// The setting: it is an artifact.
    Artifact,
    /// That the setting does not exist, in the host's words.
    Nothing(&'static Reason, &'a str),
    /// That the host refuses access.
    Denied(&'static Reason, &'a str),
    /// That it could not be obtained.
    Failed(&'static Reason, &'a str),
    /// That its artifact held forbidden data, by this rule of the screen, and is not in the bundle.
    Excluded(&'a str),
}

/// An observation as judgement sees it.
#[derive(Debug, Clone)]
pub struct Observed<'a> {
    /// The kind of setting.
    pub kind: &'static ArtifactKind,
    /// The subject.
    pub subject: Arc<str>,
    /// The result.
    pub shown: Shown<'a>,
}

/// The verdict of a rule on a subject.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The rule.
    pub rule: &'static Rule,
    /// The subject.
    pub subject: Arc<str>,
    /// The outcome, from the rule's own function.
    pub verdict: Verdict,
}

/// A check to be.
#[derive(Debug, Clone)]
pub struct Conclusion {
    /// The rule, the subject and the outcome.
    pub judgement: Judgement,
    /// The number of the observation it rests on; `None` if it rests on all of them.
    pub on: Option<usize>,
}

/// The checks of observations that were made together: first for settings that were not read, then the judgements. A
/// rule with a judgement needs no other check, because its judgement accounts for what was not read.
///
/// If an artifact was excluded, every judgement becomes not verifiable, because its basis is not in the bundle. `exempt`
/// says why no rule applies to the subject, if none does.
pub fn conclude(
    observed: &[Observed<'_>],
    judgements: Vec<Judgement>,
    exempt: Option<&'static Reason>,
) -> Vec<Conclusion> {
    let excluded = observed.iter().find_map(|one| match one.shown {
        Shown::Excluded(rule) => Some(rule),
        Shown::Artifact | Shown::Nothing(..) | Shown::Denied(..) | Shown::Failed(..) => None,
    });
    let mut found = Vec::new();
    for (index, Observed { kind, subject, shown }) in observed.iter().enumerate() {
        let Some(verdict) = unread(*shown) else { continue };
        let judged = |rule: &Rule| judgements.iter().any(|judgement| *judgement.rule == *rule);
        found.extend(kind.rules.iter().filter(|rule| !judged(rule)).map(|rule| Conclusion {
            judgement: Judgement { rule, subject: Arc::clone(subject), verdict: verdict.clone() },
            on: Some(index),
        }));
    }
    found.extend(judgements.into_iter().map(|Judgement { rule, subject, verdict }| {
        let verdict = excluded.map_or(verdict, withheld);
        Conclusion { judgement: Judgement { rule, subject, verdict }, on: None }
    }));
    if let Some(reason) = exempt {
        // Nothing can be changed there, so the settings do not matter. What was read stays in the bundle.
        for Conclusion { judgement: Judgement { verdict, .. }, .. } in &mut found {
            (verdict.status, verdict.reason) = (Status::NotApplicable, reason);
            (verdict.improvable, verdict.hint) = (false, None);
        }
    }
    found
}

/// The verdict on a setting that was not read; `None` if it was read, whether or not its artifact is kept.
fn unread(shown: Shown<'_>) -> Option<Verdict> {
    match shown {
        Shown::Artifact | Shown::Excluded(_) => None,
        Shown::Nothing(reason, detail) => Some(Verdict::fail(reason, detail)),
        Shown::Denied(reason, detail) | Shown::Failed(reason, detail) => {
            Some(Verdict::unknown(reason, detail))
        }
    }
}

/// The verdict on a setting whose artifact was excluded by the screen's `rule`.
pub(crate) fn withheld(rule: &str) -> Verdict {
    Verdict::unknown(&reason::EXCLUDED_BY_POLICY, format!("the artifact matched the rule {rule}"))
}
