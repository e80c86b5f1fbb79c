//! Hints: what to do about each check that failed or could not be verified, and about passing checks that could be
//! improved. Most severe first.
//!
//! The hint of a failed or not verifiable check depends only on its rule and reason; that of a passed check also on the
//! setting. So two runs over the same settings give the same hints.
//! A hint never changes a status.

use evidence_bundle::document::{Severity, Status};

use crate::evaluate::Check;
use crate::rule::{Advice, Reason, Rule, reason};
use crate::source;

/// The advice for `check`, if any.
pub fn advice<Words>(check: &Check<Words>) -> Option<Advice> {
    let verdict = &check.verdict;
    match verdict.status {
        Status::NotApplicable => None,
        Status::Pass => match verdict.hint {
            Some(hint) => hint.advice,
            None if verdict.improvable => check.rule.improvement,
            None => None,
        },
        Status::Fail | Status::NotVerifiable => not_passed(check.rule, verdict.reason),
    }
}

/// The advice for a check of this rule that did not pass for this reason.
fn not_passed(rule: &Rule, reason: &Reason) -> Option<Advice> {
    let advice = reason.advice?;
    let remediation = if *reason == reason::PERMISSION_DENIED { rule.permission } else { advice.remediation };
    Some(Advice { remediation, ..advice })
}

/// The advice for a check that did not pass, by the codes in documents. `None` for the codes of another version.
pub fn by_code(rule: &str, reason: &str) -> Option<Advice> {
    let rule = source::rules().find(|known| known.code == rule)?;
    not_passed(rule, source::reasons().find(|known| known.code == reason)?)
}

/// The code of the hint: that of the check's reason, or of the advice beyond it.
pub fn code<Words>(check: &Check<Words>) -> &'static str {
    check.verdict.hint.unwrap_or(check.verdict.reason).code
}

/// The checks with a hint, most severe first, otherwise in the order of the checks.
pub fn ordered<Words>(checks: &[Check<Words>]) -> Vec<(&Check<Words>, Advice)> {
    let mut hints: Vec<(&Check<Words>, Advice)> =
        checks.iter().filter_map(|check| Some((check, advice(check)?))).collect();
    // A stable sort: equal severities keep the order of the checks, which is the specification's.
    hints.sort_by_key(|(_, advice)| rank(advice.severity));
    hints
}

/// The place of a severity: the most severe has the lowest number.
fn rank(severity: Severity) -> u8 {
    match severity {
        Severity::Critical => 0,
        Severity::High => 1,
        Severity::Medium => 2,
        Severity::Low => 3,
        Severity::Info => 4,
    }
}
