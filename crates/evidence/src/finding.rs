//! The most important results: checks that did not pass, grouped by control and reason.
//!
//! A group keeps a count and a few subjects, however many checks there are.

use std::sync::Arc;

use evidence_bundle::document::Status;

use crate::evaluate::Check;
use crate::framework::Control;
use crate::rule::Reason;

/// How many subjects of a group are listed.
pub const SUBJECTS_NAMED: usize = 5;

/// The checks of a control that share a status and a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// The control.
    pub control: &'static Control,
    /// Fail or not verifiable.
    pub status: Status,
    /// The reason.
    pub reason: &'static Reason,
    /// The number of checks.
    pub count: u64,
    /// The subjects of the first checks.
    pub subjects: Vec<Arc<str>>,
}

impl Finding {
    /// How many checks have a subject that is not listed.
    pub fn unnamed(&self) -> u64 {
        self.count.saturating_sub(crate::number::saturating_u64(self.subjects.len()))
    }
}

/// The checks that failed or could not be verified: by control, then by status, then by the number of checks.
pub fn findings<'a, Words: 'a>(
    controls: &[&'static Control],
    checks: impl IntoIterator<Item = &'a Check<Words>>,
) -> Vec<Finding> {
    let mut findings: Vec<Finding> = Vec::new();
    for check in checks {
        let (status, reason) = (check.verdict.status, check.verdict.reason);
        match status {
            Status::Fail | Status::NotVerifiable => {}
            Status::Pass | Status::NotApplicable => continue,
        }
        let Some(control) = controls.iter().find(|control| control.rests_on(check.rule)) else { continue };
        let known = findings
            .iter_mut()
            .find(|finding| (finding.control, finding.status, finding.reason) == (*control, status, reason));
        match known {
            Some(finding) => {
                finding.count += 1;
                if finding.subjects.len() < SUBJECTS_NAMED {
                    finding.subjects.push(Arc::clone(&check.subject));
                }
            }
            None => findings.push(Finding {
                control,
                status,
                reason,
                count: 1,
                subjects: vec![Arc::clone(&check.subject)],
            }),
        }
    }
    let place = |finding: &Finding| controls.iter().position(|control| *control == finding.control);
    // A stable sort: equal findings keep the order of the checks.
    findings.sort_by_key(|finding| {
        (place(finding), finding.status == Status::NotVerifiable, std::cmp::Reverse(finding.count))
    });
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluate::Evidence;
    use crate::framework::Mapping;
    use crate::observation::SourceName;
    use crate::rule::{Rule, Verdict};

    static RARE: Reason = Reason { code: "rare", advice: None };
    static COMMON: Reason = Reason { code: "common", advice: None };
    static RULE: Rule = Rule {
        code: "made-up",
        version: 1,
        expected: "",
        reads: "",
        not_checked: "",
        permission: "",
        improvement: None,
        reasons: &[],
        hints: &[],
    };
    static OTHER: Rule = Rule { code: "another", ..RULE };
    static FIRST: Control =
        Control { id: "C1", title: "", rules: &[Mapping { rule: &OTHER, criteria: &["C"] }] };
    static SECOND: Control =
        Control { id: "C2", title: "", rules: &[Mapping { rule: &RULE, criteria: &["C"] }] };

    fn check(rule: &'static Rule, subject: &str, status: Status, reason: &'static Reason) -> Check {
        let source = SourceName::new("made-up");
        let verdict = Verdict { status, reason, actual: None, improvable: false, hint: None };
        Check { rule, source, subject: subject.into(), verdict, evidence: Evidence::Many(Box::new([])) }
    }

    #[test]
    fn groups_keep_a_count_and_the_first_subjects() {
        let mut checks = vec![
            check(&RULE, "a", Status::Fail, &RARE),
            check(&RULE, "b", Status::NotVerifiable, &COMMON),
            check(&RULE, "c", Status::Pass, &COMMON),
            check(&RULE, "d", Status::NotApplicable, &COMMON),
            check(&OTHER, "e", Status::NotVerifiable, &RARE),
        ];
        checks.extend((0..7).map(|n| check(&RULE, &format!("r{n}"), Status::Fail, &COMMON)));
        let found = findings(&[&FIRST, &SECOND], &checks);
        let rows: Vec<_> = found
            .iter()
            .map(|finding| {
                let subjects: Vec<&str> = finding.subjects.iter().map(|subject| &**subject).collect();
                (finding.control.id, finding.status, finding.reason.code, finding.unnamed(), subjects)
            })
            .collect();
        assert_eq!(
            rows,
            [
                ("C1", Status::NotVerifiable, "rare", 0, vec!["e"]),
                ("C2", Status::Fail, "common", 2, vec!["r0", "r1", "r2", "r3", "r4"]),
                ("C2", Status::Fail, "rare", 0, vec!["a"]),
                ("C2", Status::NotVerifiable, "common", 0, vec!["b"]),
            ]
        );
        assert!(findings(&[&FIRST], &checks[..1]).is_empty(), "the rule belongs to no control of the run");
    }
}
