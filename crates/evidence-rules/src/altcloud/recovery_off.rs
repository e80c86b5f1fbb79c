//! Super administrators do not recover their accounts by themselves.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Medium;

use super::policies::PolicyFacts;
use super::policy_rules::{DEFAULT_VALUE, PERMISSION, PolicyRule, READS, Shows, not_visible};
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule};

/// A phone or another mailbox does not open the account of a super administrator.
pub static RECOVERY_OFF: Rule = Rule {
    code: "recovery-off",
    title: "Account recovery of super administrators",
    version: 1,
    kind: "directory",
    expected: "the policy that applies to each super administrator does not let them recover their account by phone or mail",
    reads: READS,
    not_checked: "recovery by other users; super administrators through a group; recovery through the provider's support",
    permission: PERMISSION,
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&RECOVERY_ALLOWED, &ENABLE_ACCOUNT_RECOVERY_NOT_VISIBLE],
};

/// Whoever has the phone or the mailbox gets the account.
pub static RECOVERY_ALLOWED: Reason =
    Reason::new("recovery_allowed", "Super administrators can recover their accounts by themselves").advice(
        Medium,
        Misconfigured,
        "In the admin console, under Security, Authentication, Account recovery, turn off recovery for super administrators.",
    );

not_visible! {
    ENABLE_ACCOUNT_RECOVERY_NOT_VISIBLE = "enable_account_recovery_not_visible", "enableAccountRecovery";
}

static POLICY: PolicyRule = PolicyRule {
    setting: "security.super_admin_account_recovery",
    administrators: true,
    value: |value, _, _| match value.enable_account_recovery {
        Field::Absent => {
            Shows::Open(&DEFAULT_VALUE, "not set, so the provider's default applies".to_string())
        }
        Field::Null => Shows::Open(&ENABLE_ACCOUNT_RECOVERY_NOT_VISIBLE, "not reported".to_string()),
        Field::Value(true) => Shows::Failed(&RECOVERY_ALLOWED, "on".to_string()),
        Field::Value(false) => Shows::Good("off".to_string()),
    },
    overridden: None,
    has_default: false,
    words: ("account recovery is off", "account recovery is on"),
};

/// The judgement.
pub static JUDGE: Judge<PolicyFacts> =
    Judge { rule: &RECOVERY_OFF, judge: |facts, settings| Some(POLICY.judge(facts, settings)) };
