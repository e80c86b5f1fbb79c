//! Judges what was seen: the engine. What a source's evidence must show is declared beside the source, as [`Rule`]s
//! and pure functions; here they are applied and folded into the outcome of each control.
//!
//! A check passes or fails only on a setting that was read. Whatever was not read is `not_verifiable`, with the
//! reason; nothing here guesses, and nothing here asks a host.

use std::sync::Arc;

use evidence_bundle::document::{Counts, Status};

use crate::control::Control;
use crate::observation::{Observation, Seen, SourceName};
use crate::rule::{Reason, Rule, Verdict, reason};

/// The artifacts a check rests on: their numbers in the spool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// None: there was nothing to read, or it was not read.
    None,
    /// One, as for most checks.
    One(u32),
    /// Several.
    Many(Box<[u32]>),
}

impl Evidence {
    /// The numbers.
    pub fn numbers(&self) -> &[u32] {
        match self {
            Evidence::None => &[],
            Evidence::One(number) => std::slice::from_ref(number),
            Evidence::Many(numbers) => numbers,
        }
    }
}

/// One rule applied to one subject.
#[derive(Debug, Clone)]
pub struct Check<Words = String> {
    /// The rule.
    pub rule: &'static Rule,
    /// Whose observation it judges.
    pub source: SourceName,
    /// What it is about.
    pub subject: Arc<str>,
    /// The outcome.
    pub verdict: Verdict<Words>,
    /// What it rests on.
    pub evidence: Evidence,
}

impl<Words> Check<Words> {
    /// The control it belongs to.
    pub fn control(&self) -> Control {
        self.rule.control
    }

    /// The same check with its words kept elsewhere.
    ///
    /// # Errors
    ///
    /// Those of `keep`.
    pub fn keep<Kept, E>(self, keep: impl FnOnce(Words) -> Result<Kept, E>) -> Result<Check<Kept>, E> {
        let Check { rule, source, subject, verdict, evidence } = self;
        let Verdict { status, reason, actual, improvable } = verdict;
        let verdict = Verdict { status, reason, actual: actual.map(keep).transpose()?, improvable };
        Ok(Check { rule, source, subject, verdict, evidence })
    }
}

/// Judges one observation; `None` if its artifact is judged together with others.
pub fn check(observation: &Observation, evidence: Evidence) -> Option<Check> {
    Some(Check {
        rule: observation.rule,
        source: observation.source,
        subject: Arc::clone(&observation.subject),
        verdict: judge(observation)?,
        evidence,
    })
}

fn judge(observation: &Observation) -> Option<Verdict> {
    let verdict = match &observation.seen {
        Seen::Artifact { artifact, .. } => artifact.record().judge()?,
        Seen::Nothing { reason, detail } => Verdict::fail(reason, detail.clone()),
        Seen::Denied { reason, detail } => Verdict::unknown(reason, detail.clone()),
        Seen::Withheld { rule } => withheld(rule),
        Seen::Failed(failed) => Verdict::unknown(failed.reason, failed.message.clone()),
    };
    if let Some(reason) = observation.exempt {
        // Nothing can be changed there, whatever its settings say. What was read stays told.
        return Some(Verdict { status: Status::NotApplicable, reason, improvable: false, ..verdict });
    }
    Some(verdict)
}

/// What can be said of a setting whose artifact was left out by `rule` of the screen.
pub fn withheld(rule: &str) -> Verdict {
    Verdict::unknown(&reason::EXCLUDED_BY_POLICY, format!("the artifact matched the rule {rule}"))
}

/// The outcome of one control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlResult {
    /// The control.
    pub control: Control,
    /// Fail if any check fails, else not verifiable if any is, else pass; without any check, not verifiable.
    pub status: Status,
    /// The reason of the first check that has this status.
    pub reason: &'static Reason,
    /// Its checks.
    pub counts: Counts,
}

/// Folds checks into the outcome of `control`.
pub fn control_result<'a, Words: 'a>(
    control: Control,
    checks: impl Iterator<Item = &'a Check<Words>>,
) -> ControlResult {
    let mut counts = Counts::default();
    let mut first: [Option<&'static Reason>; 4] = [None; 4];
    for check in checks.filter(|check| check.control() == control) {
        counts.add(check.verdict.status);
        if let Some(first) = first.get_mut(index(check.verdict.status)) {
            first.get_or_insert(check.verdict.reason);
        }
    }
    let status = counts.status();
    let reason = first.get(index(status)).copied().flatten().unwrap_or(&reason::NO_EVIDENCE);
    ControlResult { control, status, reason, counts }
}

fn index(status: Status) -> usize {
    match status {
        Status::Fail => 0,
        Status::NotVerifiable => 1,
        Status::Pass => 2,
        Status::NotApplicable => 3,
    }
}

#[cfg(test)]
mod tests {
    use std::io::{self, Write as _};

    use super::*;
    use crate::http::Meta;
    use crate::observation::{Failed, Record};

    const SOURCE: SourceName = SourceName::new("made-up");
    static ARCHIVED: Reason = Reason { code: "archived", advice: None };
    static UNPROTECTED: Reason = Reason { code: "unprotected", advice: None };
    static RULE: Rule = Rule {
        code: "made-up",
        control: Control::Cc7_2,
        expected: "something",
        permission: "Grant it.",
        improvement: None,
    };

    fn with(status: Status, reason: &'static Reason) -> Check {
        let verdict = Verdict { status, reason, actual: None, improvable: false };
        Check { rule: &RULE, source: SOURCE, subject: "acme/web".into(), verdict, evidence: Evidence::None }
    }

    /// Every set of statuses: 2^4 cases, the whole domain.
    #[test]
    fn a_control_is_its_worst_check() {
        let kinds = [
            with(Status::Pass, &reason::OK),
            with(Status::NotApplicable, &ARCHIVED),
            with(Status::NotVerifiable, &reason::PERMISSION_DENIED),
            with(Status::Fail, &UNPROTECTED),
        ];
        for set in 0..16_usize {
            let checks: Vec<Check> =
                (0..4).filter(|bit| set & (1 << bit) != 0).map(|bit| kinds[bit].clone()).collect();
            let result = control_result(Control::Cc7_2, checks.iter());
            let expected = match set {
                0 => (Status::NotVerifiable, &reason::NO_EVIDENCE),
                set if set & 8 != 0 => (Status::Fail, &UNPROTECTED),
                set if set & 4 != 0 => (Status::NotVerifiable, &reason::PERMISSION_DENIED),
                set if set & 1 != 0 => (Status::Pass, &reason::OK),
                _ => (Status::NotApplicable, &ARCHIVED),
            };
            assert_eq!((result.status, result.reason), expected, "set {set:04b}");
            let counts = result.counts;
            let total = counts.pass + counts.fail + counts.not_verifiable + counts.not_applicable;
            assert_eq!(total, checks.len() as u64);
            let other = control_result(Control::Cc6_1, checks.iter());
            assert_eq!((other.status, other.reason), (Status::NotVerifiable, &reason::NO_EVIDENCE));
        }
    }

    #[test]
    fn a_rule_is_its_code() {
        let other = Rule { code: "another", ..RULE };
        assert!(RULE == Rule { control: Control::Cc6_1, ..RULE } && RULE != other);
    }

    /// Passes, and could be better.
    #[derive(Debug)]
    struct Improvable;

    impl Record for Improvable {
        fn artifact_type(&self) -> &'static str {
            "made_up"
        }

        fn write(&self, out: &mut Vec<u8>) -> io::Result<()> {
            out.write_all(b"{}\n")
        }

        fn judge(&self) -> Option<Verdict> {
            Some(Verdict { improvable: true, ..Verdict::pass("what was read") })
        }
    }

    #[test]
    fn an_exemption_says_why_and_recommends_nothing() {
        let seen = Seen::artifact(SOURCE, "made_up.json", Improvable, &Meta::default());
        let observation =
            Observation { source: SOURCE, rule: &RULE, subject: "acme".into(), exempt: None, seen };
        let verdict = check(&observation, Evidence::One(7)).unwrap().verdict;
        assert_eq!((verdict.status, verdict.reason, verdict.improvable), (Status::Pass, &reason::OK, true));
        let exempt = Observation { exempt: Some(&ARCHIVED), ..observation };
        let check = check(&exempt, Evidence::One(7)).unwrap();
        let actual = Some("what was read".to_string());
        let expected =
            Verdict { status: Status::NotApplicable, reason: &ARCHIVED, actual, improvable: false };
        assert_eq!((check.verdict, check.evidence.numbers()), (expected, [7].as_slice()));
    }

    #[test]
    fn what_was_not_read_neither_passes_nor_fails() {
        let failed = Failed {
            reason: &reason::HOST_ERROR,
            message: "HTTP 502".to_string(),
            status: Some(502),
            request_id: None,
        };
        let unread = [
            Seen::Denied { reason: &reason::PERMISSION_DENIED, detail: "Not Found".to_string() },
            Seen::Withheld { rule: "private-key" },
            Seen::Failed(failed),
        ];
        for seen in unread {
            for exempt in [None, Some(&ARCHIVED)] {
                let observation = Observation {
                    source: SOURCE,
                    rule: &RULE,
                    subject: "acme".into(),
                    exempt,
                    seen: seen.clone(),
                };
                let status = check(&observation, Evidence::None).unwrap().verdict.status;
                let expected = if exempt.is_some() { Status::NotApplicable } else { Status::NotVerifiable };
                assert_eq!(status, expected);
            }
        }
    }
}
