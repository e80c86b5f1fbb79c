//! Turns inspections into checks, and checks into the outcome of each control. The criteria are declared next to each
//! source, as a [`Rule`] and a pure function; this module combines the verdicts.
//!
//! A check passes or fails only on a setting that was read. A setting that was not read is `not_verifiable`, with the
//! reason. Nothing here guesses or calls a host.

use std::sync::Arc;

use evidence_bundle::document::{Counts, Status};

use crate::observation::{Inspection, Judgement, Observation, SourceName};
use evidence_rules::framework::Control;
use evidence_rules::inspection::{Conclusion, conclude};
use evidence_rules::rule::{Reason, Rule, Verdict, reason};

/// The basis of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Basis {
    /// An artifact, by its number in the spool.
    Artifact(u32),
    /// An observation without an artifact, by its number within its source, from 1.
    Observation(u32),
}

/// Everything that a check is based on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// One artifact or observation, as for most checks.
    One(Basis),
    /// Several.
    Many(Box<[Basis]>),
}

impl Evidence {
    /// Everything in `all`.
    fn of(all: &[Basis]) -> Evidence {
        match all {
            [one] => Evidence::One(*one),
            _ => Evidence::Many(all.into()),
        }
    }

    /// Every artifact and observation.
    pub fn all(&self) -> &[Basis] {
        match self {
            Evidence::One(one) => std::slice::from_ref(one),
            Evidence::Many(all) => all,
        }
    }
}

/// One rule applied to one subject.
#[derive(Debug, Clone)]
pub struct Check<Words = String> {
    /// The rule.
    pub rule: &'static Rule,
    /// The source whose observation it judges.
    pub source: SourceName,
    /// The subject.
    pub subject: Arc<str>,
    /// The outcome.
    pub verdict: Verdict<Words>,
    /// The evidence.
    pub evidence: Evidence,
}

impl<Words> Check<Words> {
    /// The same check with its text stored elsewhere.
    ///
    /// # Errors
    ///
    /// Fails if `keep` does.
    pub fn keep<Kept, E>(self, keep: impl FnOnce(Words) -> Result<Kept, E>) -> Result<Check<Kept>, E> {
        let Check { rule, source, subject, verdict, evidence } = self;
        let Verdict { status, reason, actual, improvable, hint } = verdict;
        let verdict = Verdict { status, reason, actual: actual.map(keep).transpose()?, improvable, hint };
        Ok(Check { rule, source, subject, verdict, evidence })
    }
}

/// The checks of an inspection. `bases` maps each observation to the basis of a check.
pub fn checks(inspection: Inspection, bases: &[Basis]) -> Vec<Check> {
    let Inspection { exempt, observations, judgements } = inspection;
    let Some(source) = observations.first().map(|observation| observation.source) else { return Vec::new() };
    let observed: Vec<_> = observations.iter().map(Observation::observed).collect();
    let checks = conclude(&observed, judgements, exempt).into_iter();
    let checks = checks.map(|Conclusion { judgement: Judgement { rule, subject, verdict }, on }| {
        let own = on.and_then(|index| bases.get(index));
        Check {
            rule,
            source,
            subject,
            verdict,
            evidence: own.map_or_else(|| Evidence::of(bases), |own| Evidence::One(*own)),
        }
    });
    checks.collect()
}

/// The checks of a single inspection, with its observations numbered in order.
pub fn checks_alone(inspection: Inspection) -> Vec<Check> {
    let bases: Vec<Basis> = (1..).take(inspection.observations.len()).map(Basis::Observation).collect();
    checks(inspection, &bases)
}

/// The outcome of one control.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ControlResult {
    /// The control.
    pub control: &'static Control,
    /// Fail if any check fails, else not verifiable if any check is, else pass. Not verifiable without any check.
    pub status: Status,
    /// The reason of the first check that has this status.
    pub reason: &'static Reason,
    /// The number of checks by status.
    pub counts: Counts,
}

/// Combines checks into the outcome of `control`.
pub fn control_result<'a, Words: 'a>(
    control: &'static Control,
    checks: impl Iterator<Item = &'a Check<Words>>,
) -> ControlResult {
    let mut counts = Counts::default();
    let mut first: [Option<&'static Reason>; 4] = [None; 4];
    for check in checks.filter(|check| control.uses(check.rule)) {
        counts.add(check.verdict.status);
        if let Some(first) = first.get_mut(check.verdict.status.urgency()) {
            first.get_or_insert(check.verdict.reason);
        }
    }
    let status = counts.status();
    let reason = first.get(status.urgency()).copied().flatten().unwrap_or(&reason::NO_EVIDENCE);
    ControlResult { control, status, reason, counts }
}

/// A rule for tests that need any rule.
#[cfg(test)]
pub(crate) static MADE_UP: Rule = Rule {
    code: "made-up",
    title: "Made up",
    version: 1,
    kind: "made_up",
    expected: "something",
    reads: "a setting",
    not_checked: "anything else",
    permission: "Grant it.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[],
};

#[cfg(test)]
mod tests {
    use super::MADE_UP as RULE;
    use super::*;
    use crate::observation::{ArtifactKind, Failed, Seen};
    use evidence_http::Meta;
    use evidence_rules::framework::Mapping;

    const SOURCE: SourceName = SourceName::new("made-up");
    static ARCHIVED: Reason = Reason::new("archived", "Archived");
    static UNPROTECTED: Reason = Reason::new("unprotected", "Unprotected");
    static KIND: ArtifactKind = ArtifactKind { name: "made_up", rules: &[&RULE] };
    static OURS: Control = Control {
        id: "C1",
        title: "ours",
        about: "",
        rules: &[Mapping { rule: &RULE, criteria: &["C"], why: "", also: "", opt_in: false }],
    };
    static OTHER: Control = Control { id: "C2", title: "another's", about: "", rules: &[] };

    fn with(status: Status, reason: &'static Reason) -> Check {
        let verdict = Verdict { status, reason, actual: None, improvable: false, hint: None };
        Check {
            rule: &RULE,
            source: SOURCE,
            subject: "acme/web".into(),
            verdict,
            evidence: Evidence::Many(Box::new([])),
        }
    }

    fn observed(seen: Seen) -> Observation {
        Observation::new(SOURCE, &KIND, "acme", seen)
    }

    fn artifact() -> Seen {
        Seen::artifact(SOURCE, "made_up.json", &(), None, &Meta::default())
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
            let result = control_result(&OURS, checks.iter());
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
            let other = control_result(&OTHER, checks.iter());
            assert_eq!((other.status, other.reason), (Status::NotVerifiable, &reason::NO_EVIDENCE));
        }
    }

    #[test]
    fn a_rule_is_its_code() {
        let other = Rule { code: "another", ..RULE };
        assert!(RULE == Rule { expected: "something else", ..RULE } && RULE != other);
    }

    /// A check that passes and could be better.
    #[test]
    fn an_exemption_says_why_and_recommends_nothing() {
        let verdict = Verdict { improvable: true, ..Verdict::pass("what was read") };
        let inspection = Inspection::from(observed(artifact())).judged(&RULE, "acme", verdict.clone());
        let plain = checks(inspection.clone(), &[Basis::Artifact(7)]);
        assert_eq!((plain.len(), &plain[0].verdict), (1, &verdict));
        let exempt = checks(Inspection { exempt: Some(&ARCHIVED), ..inspection }, &[Basis::Artifact(7)]);
        let expected =
            Verdict { status: Status::NotApplicable, reason: &ARCHIVED, improvable: false, ..verdict };
        assert_eq!(
            (&exempt[0].verdict, exempt[0].evidence.all()),
            (&expected, [Basis::Artifact(7)].as_slice())
        );
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
            Seen::Failed(failed),
        ];
        for seen in unread {
            for exempt in [None, Some(&ARCHIVED)] {
                let inspection = Inspection::from(observed(seen.clone()));
                // A setting that was not read cannot be judged.
                let inspection = inspection.judged(&RULE, "acme", Verdict::pass("made up"));
                let found = checks(Inspection { exempt, ..inspection }, &[Basis::Observation(3)]);
                assert_eq!(found[0].evidence, Evidence::One(Basis::Observation(3)));
                let expected = if exempt.is_some() { Status::NotApplicable } else { Status::NotVerifiable };
                assert_eq!((found.len(), found[0].verdict.status), (1, expected));
            }
        }
    }

    #[test]
    fn what_was_left_out_of_the_bundle_is_not_used() {
        let read = observed(artifact());
        let left_out = observed(Seen::Withheld { rule: "private-key" });
        for observations in [vec![left_out.clone()], vec![read.clone(), left_out.clone()]] {
            let judgement =
                Judgement { rule: &RULE, subject: "acme".into(), verdict: Verdict::pass("made up") };
            let inspection = Inspection { judgements: vec![judgement], ..Inspection::of(observations) };
            let found = checks(inspection, &[Basis::Artifact(1), Basis::Observation(2)]);
            assert_eq!((found.len(), found[0].verdict.status), (1, Status::NotVerifiable));
            assert_eq!(*found[0].verdict.reason, reason::EXCLUDED_BY_POLICY);
        }
    }
}
