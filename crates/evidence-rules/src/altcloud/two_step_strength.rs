//! The second step is not just any.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::High;

use super::policies::PolicyFacts;
use super::policy_rules::{PERMISSION, PolicyRule, READS, Shows, not_visible};
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule};

/// The policy restricts what a second step may be.
pub static TWO_STEP_STRENGTH: Rule = Rule {
    code: "two-step-strength",
    title: "Strength of the second step",
    version: 1,
    kind: "directory",
    expected: "the policy that applies to each active user, by unit and by group, restricts the second step: no text messages and calls, \
               or only passkeys and security keys",
    reads: READS,
    not_checked: "whether two-step verification is enforced at all; which second steps users have; roles, because a policy has none: \
                  administrators count as other users of their unit and groups",
    permission: PERMISSION,
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&TWO_STEP_ANY_FACTOR, &ALLOWED_SIGN_IN_FACTOR_SET_NOT_VISIBLE],
};

/// Text messages and calls are allowed, too.
pub static TWO_STEP_ANY_FACTOR: Reason = Reason::new("two_step_any_factor", "Any second step is allowed").advice(
    High,
    Misconfigured,
    "In the admin console, under Security, Authentication, 2-step verification, allow only security keys, or any except codes by text \
     message and phone call, for the units and groups that this result names.",
);

not_visible! {
    ALLOWED_SIGN_IN_FACTOR_SET_NOT_VISIBLE = "allowed_sign_in_factor_set_not_visible", "allowedSignInFactorSet";
}

static POLICY: PolicyRule = PolicyRule {
    setting: "security.two_step_verification_enforcement_factor",
    administrators: false,
    value: |value, _, _| match &value.allowed_sign_in_factor_set {
        Field::Absent => Shows::Failed(&TWO_STEP_ANY_FACTOR, "any, because nothing is set".to_string()),
        Field::Value(set) => match set.as_str() {
            "ALL" => Shows::Failed(&TWO_STEP_ANY_FACTOR, "any".to_string()),
            "NO_TELEPHONY" => Shows::Good("no text messages and calls".to_string()),
            "PASSKEY_ONLY" | "PASSKEY_PLUS_SECURITY_CODE" | "PASSKEY_PLUS_IP_BOUND_SECURITY_CODE" => {
                Shows::Good("passkeys and security keys".to_string())
            }
            other => {
                let words = format!("{} is not known here", evidence_text::single_line(other));
                Shows::Open(&ALLOWED_SIGN_IN_FACTOR_SET_NOT_VISIBLE, words)
            }
        },
        Field::Null => Shows::Open(&ALLOWED_SIGN_IN_FACTOR_SET_NOT_VISIBLE, "not reported".to_string()),
    },
    overridden: None,
    has_default: false,
    words: ("the second step is restricted", "any second step is allowed"),
};

/// The judgement.
pub static JUDGE: Judge<PolicyFacts> =
    Judge { rule: &TWO_STEP_STRENGTH, judge: |facts, settings| Some(POLICY.judge(facts, settings)) };
