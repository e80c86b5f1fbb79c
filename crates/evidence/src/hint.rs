//! Hints: what to do about each check that failed or could not be verified, and about passing checks that could be
//! improved. Most severe first.
//!
//! The hint of a failed or not verifiable check depends only on its rule and reason; that of a passed check also on the
//! setting. So two runs over the same settings give the same hints.
//! A hint never changes a status.

use evidence_bundle::document::Status;

use crate::evaluate::Check;
use evidence_rules::rule::{Advice, Reason, Rule, reason};

/// The title and the advice for `check`, if any.
pub fn advice<Words>(check: &Check<Words>) -> Option<(&'static str, Advice)> {
    let verdict = &check.verdict;
    match verdict.status {
        Status::NotApplicable => None,
        Status::Pass => match verdict.hint {
            Some(hint) => Some((hint.title, hint.advice?)),
            None if verdict.improvable => {
                check.rule.improvement.map(|improvement| (improvement.title, improvement.advice))
            }
            None => None,
        },
        Status::Fail | Status::NotVerifiable => {
            Some((verdict.reason.title, not_passed(check.rule, verdict.reason)?))
        }
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
    not_passed(evidence_rules::rule_of(rule)?, evidence_rules::reason_of(reason)?)
}

/// The code of the hint: that of the check's reason, or of the advice beyond it.
pub fn code<Words>(check: &Check<Words>) -> &'static str {
    check.verdict.hint.unwrap_or(check.verdict.reason).code
}

/// A check with a hint: its title, and what to do.
pub type Hinted<'a, Words> = (&'a Check<Words>, &'static str, Advice);

/// The checks with a hint, most severe first, otherwise in the order of the checks.
pub fn ordered<Words>(checks: &[Check<Words>]) -> Vec<Hinted<'_, Words>> {
    let hinted = |check| advice(check).map(|(title, advice)| (check, title, advice));
    let mut hints: Vec<Hinted<'_, Words>> = checks.iter().filter_map(hinted).collect();
    // A stable sort: equal severities keep the order of the checks, which is the specification's.
    hints.sort_by_key(|(_, _, advice)| advice.severity);
    hints
}
