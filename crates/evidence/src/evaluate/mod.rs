//! Judges observations against controls: pure functions over what was read, one file per control.
//!
//! A check passes or fails only on a setting that was read. Whatever was not read is `not_verifiable`, with the
//! reason; nothing here guesses, and nothing here asks a host.

mod cc6_1;
mod cc6_6;
mod cc7_2;
pub mod codeowners;

use std::sync::Arc;

pub use evidence_bundle::document::{Counts, Status};

use crate::control::Control;
use crate::observation::{Observation, Reason, Record, Seen, SourceName};

/// The rules that checks apply; one heading each in `docs/controls.md`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rule {
    /// CC6.1: the organization requires two-factor authentication.
    TwoFactorRequired,
    /// CC6.6: a CODEOWNERS file assigns an owner to every file.
    CodeownersDefaultRule,
    /// CC7.2: changes to the branch need a review and status checks, from administrators too.
    BranchProtection,
}

impl Rule {
    /// Every rule.
    pub const ALL: &'static [Rule] =
        &[Rule::TwoFactorRequired, Rule::CodeownersDefaultRule, Rule::BranchProtection];

    /// The code in documents.
    pub fn code(self) -> &'static str {
        match self {
            Rule::TwoFactorRequired => "two-factor-required",
            Rule::CodeownersDefaultRule => "codeowners-default-rule",
            Rule::BranchProtection => "branch-protection",
        }
    }

    /// What the rule wants, in words.
    pub fn expected(self) -> &'static str {
        match self {
            Rule::TwoFactorRequired => "two-factor authentication is required of every member",
            Rule::CodeownersDefaultRule => {
                "a CODEOWNERS file in the root or in .github/ with a default rule that has an owner"
            }
            Rule::BranchProtection => {
                "at least 1 approving review, at least one required status check, enforced for administrators"
            }
        }
    }

    /// The rule by which the code host's evidence for `control` is judged.
    fn of(control: Control) -> Rule {
        match control {
            Control::Cc6_1 => Rule::TwoFactorRequired,
            Control::Cc6_6 => Rule::CodeownersDefaultRule,
            Control::Cc7_2 => Rule::BranchProtection,
        }
    }
}

/// What a rule says about a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// Pass, fail or not verifiable.
    pub status: Status,
    /// Why.
    pub reason: Reason,
    /// What was found, in words; nothing in it that the record does not hold.
    pub actual: Option<String>,
    /// The criteria hold, and there is a recommendation beyond them.
    pub improvable: bool,
}

impl Verdict {
    fn new(status: Status, reason: Reason, actual: impl Into<String>) -> Verdict {
        Verdict { status, reason, actual: Some(actual.into()), improvable: false }
    }

    fn pass(actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::Pass, Reason::Ok, actual)
    }

    fn fail(reason: Reason, actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::Fail, reason, actual)
    }

    fn unknown(reason: Reason, actual: impl Into<String>) -> Verdict {
        Verdict::new(Status::NotVerifiable, reason, actual)
    }
}

/// One rule applied to one subject.
#[derive(Debug, Clone)]
pub struct Check {
    /// The control it belongs to.
    pub control: Control,
    /// The rule.
    pub rule: Rule,
    /// Whose observation it judges.
    pub source: SourceName,
    /// What it is about.
    pub subject: Arc<str>,
    /// The outcome.
    pub verdict: Verdict,
    /// The artifact it rests on: its number in the spool.
    pub evidence: Option<u32>,
}

/// Judges one observation. `evidence` is the number of its artifact in the spool, if it has one.
pub fn check(observation: &Observation, evidence: Option<u32>) -> Check {
    Check {
        control: observation.control,
        rule: Rule::of(observation.control),
        source: observation.source,
        subject: Arc::clone(&observation.subject),
        verdict: judge(observation),
        evidence,
    }
}

fn judge(observation: &Observation) -> Verdict {
    let verdict = match &observation.seen {
        Seen::Artifact { artifact, .. } => judge_record(artifact.record()),
        Seen::Nothing { reason, detail } => Verdict::fail(*reason, detail.clone()),
        Seen::Denied { reason, detail } => Verdict::unknown(*reason, detail.clone()),
        Seen::Withheld { rule } => {
            Verdict::unknown(Reason::ExcludedByPolicy, format!("the artifact matched the rule {rule}"))
        }
        Seen::Failed(failed) => Verdict::unknown(failed.reason, failed.message.clone()),
    };
    if observation.archived {
        // Nothing can be changed in an archived repository, whatever its settings say. What was read stays told.
        return Verdict {
            status: Status::NotApplicable,
            reason: Reason::Archived,
            improvable: false,
            ..verdict
        };
    }
    verdict
}

fn judge_record(record: &Record) -> Verdict {
    match record {
        Record::OrganizationSettings(settings) => cc6_1::judge(settings),
        Record::BranchProtection(protection) => cc7_2::judge(protection),
        Record::Codeowners(file) => cc6_6::judge(file),
    }
}

/// The outcome of one control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlResult {
    /// The control.
    pub control: Control,
    /// Fail if any check fails, else not verifiable if any is, else pass; without any check, not verifiable.
    pub status: Status,
    /// The reason of the first check that has this status.
    pub reason: Reason,
    /// Its checks.
    pub counts: Counts,
}

/// Folds checks into the outcome of `control`.
pub fn control_result<'a>(control: Control, checks: impl Iterator<Item = &'a Check>) -> ControlResult {
    let mut counts = Counts::default();
    let mut first: [Option<Reason>; 4] = [None; 4];
    for check in checks.filter(|check| check.control == control) {
        counts.add(check.verdict.status);
        let rank = rank(check.verdict.status);
        if let Some(first) = first.get_mut(rank) {
            first.get_or_insert(check.verdict.reason);
        }
    }
    let strongest = ORDER.iter().zip(first).find_map(|(status, reason)| Some((*status, reason?)));
    let (status, reason) = strongest.unwrap_or((Status::NotVerifiable, Reason::NoEvidence));
    ControlResult { control, status, reason, counts }
}

/// Which status wins when checks are folded. Checks that do not apply say nothing, so they come last: a control that
/// has no others is not applicable, rather than passed by nobody.
const ORDER: [Status; 4] = [Status::Fail, Status::NotVerifiable, Status::Pass, Status::NotApplicable];

fn rank(status: Status) -> usize {
    match status {
        Status::Fail => 0,
        Status::NotVerifiable => 1,
        Status::Pass => 2,
        Status::NotApplicable => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(status: Status, reason: Reason) -> Check {
        Check {
            control: Control::Cc7_2,
            rule: Rule::BranchProtection,
            source: SourceName::CodeHost,
            subject: "acme/web".into(),
            verdict: Verdict { status, reason, actual: None, improvable: false },
            evidence: None,
        }
    }

    /// Every set of statuses: 2^4 cases, the whole domain.
    #[test]
    fn a_control_is_its_worst_check() {
        let kinds = [
            with(Status::Pass, Reason::Ok),
            with(Status::NotApplicable, Reason::Archived),
            with(Status::NotVerifiable, Reason::PermissionDenied),
            with(Status::Fail, Reason::BranchUnprotected),
        ];
        for set in 0..16_usize {
            let checks: Vec<Check> =
                (0..4).filter(|bit| set & (1 << bit) != 0).map(|bit| kinds[bit].clone()).collect();
            let result = control_result(Control::Cc7_2, checks.iter());
            let expected = match set {
                0 => (Status::NotVerifiable, Reason::NoEvidence),
                set if set & 8 != 0 => (Status::Fail, Reason::BranchUnprotected),
                set if set & 4 != 0 => (Status::NotVerifiable, Reason::PermissionDenied),
                set if set & 1 != 0 => (Status::Pass, Reason::Ok),
                _ => (Status::NotApplicable, Reason::Archived),
            };
            assert_eq!((result.status, result.reason), expected, "set {set:04b}");
            let counts = result.counts;
            let total = counts.pass + counts.fail + counts.not_verifiable + counts.not_applicable;
            assert_eq!(total, checks.len() as u64);
            let other = control_result(Control::Cc6_1, checks.iter());
            assert_eq!((other.status, other.reason), (Status::NotVerifiable, Reason::NoEvidence));
        }
    }

    #[test]
    fn what_was_not_read_neither_passes_nor_fails() {
        let failed = crate::observation::Failed {
            reason: Reason::HostError,
            message: "HTTP 502".to_string(),
            status: Some(502),
            request_id: None,
        };
        let unread = [
            Seen::Denied { reason: Reason::PermissionDenied, detail: "Not Found".to_string() },
            Seen::Withheld { rule: "private-key" },
            Seen::Failed(failed),
        ];
        for seen in unread {
            for control in Control::ALL {
                for archived in [false, true] {
                    let observation = Observation {
                        source: SourceName::CodeHost,
                        control: *control,
                        subject: "acme".into(),
                        archived,
                        seen: seen.clone(),
                    };
                    let status = check(&observation, None).verdict.status;
                    let expected = if archived { Status::NotApplicable } else { Status::NotVerifiable };
                    assert_eq!(status, expected);
                }
            }
        }
    }
}
