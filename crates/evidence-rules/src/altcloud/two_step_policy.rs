//! Two-step verification is a policy, with every override of it.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Critical;
use jiff::Timestamp;

use super::policies::PolicyFacts;
use super::policy_rules::{PERMISSION, PolicyRule, READS, Shows, not_visible};
use super::two_step::TWO_STEP_NOT_ENFORCED;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule};

/// The policy makes every active user take the second step.
pub static TWO_STEP_POLICY: Rule = Rule {
    code: "two-step-policy",
    title: "Two-step verification by policy",
    version: 1,
    kind: "directory",
    expected: "the policy that applies to each active user, by unit and by group, enforces two-step verification",
    reads: READS,
    not_checked: "whether a user has enrolled, and grace periods of new users; a second step at an external identity provider; members of \
                  groups inside a group that has a policy of its own",
    permission: PERMISSION,
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&TWO_STEP_OVERRIDE, &ENFORCED_FROM_NOT_VISIBLE],
};

/// A policy for a unit or a group takes the enforcement away.
pub static TWO_STEP_OVERRIDE: Reason =
    Reason::new("two_step_override", "An override turns two-step verification off").advice(
        Critical,
        Misconfigured,
        "In the admin console, under Security, Authentication, 2-step verification, choose the unit or group that this result names \
         and turn enforcement on there, or let it inherit the setting.",
    );

not_visible! {
    ENFORCED_FROM_NOT_VISIBLE = "enforced_from_not_visible", "enforcedFrom";
}

static POLICY: PolicyRule = PolicyRule {
    setting: "security.two_step_verification_enforcement",
    administrators: false,
    value: |value, at, _| {
        let from = match &value.enforced_from {
            Field::Absent => return Shows::Failed(&TWO_STEP_NOT_ENFORCED, "off".to_string()),
            Field::Null => None,
            Field::Value(text) => text.parse::<Timestamp>().ok(),
        };
        match from {
            None => Shows::Open(&ENFORCED_FROM_NOT_VISIBLE, "not reported".to_string()),
            Some(from) if from.as_second() <= 0 => Shows::Failed(&TWO_STEP_NOT_ENFORCED, "off".to_string()),
            Some(from) if from > at => Shows::Failed(&TWO_STEP_NOT_ENFORCED, format!("only from {from}")),
            Some(from) => Shows::Good(format!("enforced since {from}")),
        }
    },
    overridden: Some(&TWO_STEP_OVERRIDE),
    has_default: false,
    words: ("two-step verification is enforced", "two-step verification is not enforced"),
};

/// The judgement.
pub static JUDGE: Judge<PolicyFacts> =
    Judge { rule: &TWO_STEP_POLICY, judge: |facts, settings| Some(POLICY.judge(facts, settings)) };
