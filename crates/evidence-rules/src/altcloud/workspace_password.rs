//! Passwords of the workspace are long, strong and not used again.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Medium;

use super::policies::{PolicyFacts, PolicyValue};
use super::policy_rules::{DEFAULT_VALUE, PERMISSION, PolicyRule, READS, Shows, not_visible};
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Setting, Settings};

/// The policy demands good passwords.
pub static WORKSPACE_PASSWORD_POLICY: Rule = Rule {
    code: "workspace-password-policy",
    title: "Password policy of the workspace",
    version: 1,
    kind: "directory",
    expected: "the policy that applies to each active user, by unit and by group, demands strong passwords of at least \
               {minimum_length one character|# characters} and prevents reuse",
    reads: READS,
    not_checked: "passwords themselves; whether passwords that are older than the policy meet it; expiry, which is not demanded",
    permission: PERMISSION,
    improvement: None,
    settings: &[&MINIMUM_LENGTH],
    hints: &[],
    reasons: &[
        &PASSWORD_POLICY_WEAK,
        &MINIMUM_LENGTH_NOT_VISIBLE,
        &ALLOWED_STRENGTH_NOT_VISIBLE,
        &ALLOW_REUSE_NOT_VISIBLE,
    ],
};

/// A password may be short, weak or an old one.
pub static PASSWORD_POLICY_WEAK: Reason =
    Reason::new("password_policy_weak", "Password policy of the workspace is weak").advice(
        Medium,
        Misconfigured,
        "In the admin console, under Security, Authentication, Password management, enforce strong passwords of at least \
         {minimum_length one character|# characters} and do not allow reuse, for the units and groups that this result names.",
    );

not_visible! {
    MINIMUM_LENGTH_NOT_VISIBLE = "minimum_length_not_visible", "minimumLength";
    ALLOWED_STRENGTH_NOT_VISIBLE = "allowed_strength_not_visible", "allowedStrength";
    ALLOW_REUSE_NOT_VISIBLE = "allow_reuse_not_visible", "allowReuse";
}

/// The shortest password that a policy may allow.
pub static MINIMUM_LENGTH: Setting = Setting {
    rule: "workspace-password-policy",
    name: "minimum_length",
    default: 12,
    minimum: 8,
    maximum: 100,
    recommended: None,
};

/// The provider's own minimum.
const DEFAULT_LENGTH: u32 = 8;

/// What one field says.
enum Part {
    Good,
    Weak,
    Default,
    Open(&'static Reason),
}

fn judge(value: &PolicyValue, settings: &Settings) -> Shows {
    let least = settings.get(&MINIMUM_LENGTH);
    let is_enough = |length: f64| length >= f64::from(u32::try_from(least).unwrap_or(u32::MAX));
    let (length, length_words) = match &value.minimum_length {
        Field::Absent if is_enough(DEFAULT_LENGTH.into()) => {
            (Part::Good, format!("{DEFAULT_LENGTH} characters by default"))
        }
        Field::Absent => (Part::Default, format!("{DEFAULT_LENGTH} characters by default")),
        Field::Null => (Part::Open(&MINIMUM_LENGTH_NOT_VISIBLE), "length not reported".to_string()),
        Field::Value(number) => match number.as_f64() {
            Some(length) if is_enough(length) => (Part::Good, format!("{number} characters")),
            _ => (Part::Weak, format!("{number} characters")),
        },
    };
    let (strength, strength_words) = match &value.allowed_strength {
        Field::Absent => (Part::Default, "strength not demanded by default"),
        Field::Value(text) if text == "STRONG" => (Part::Good, "strong"),
        Field::Value(text) if text == "WEAK" => (Part::Weak, "weak ones allowed"),
        Field::Null | Field::Value(_) => (Part::Open(&ALLOWED_STRENGTH_NOT_VISIBLE), "strength not reported"),
    };
    let (reuse, reuse_words) = match &value.allow_reuse {
        Field::Absent => (Part::Default, "reuse not prevented by default"),
        Field::Value(false) => (Part::Good, "no reuse"),
        Field::Value(true) => (Part::Weak, "reuse allowed"),
        Field::Null => (Part::Open(&ALLOW_REUSE_NOT_VISIBLE), "reuse not reported"),
    };
    let words = format!("{length_words}, {strength_words}, {reuse_words}");
    let parts = [length, strength, reuse];
    let open = parts.iter().find_map(|part| match part {
        Part::Open(reason) => Some(*reason),
        _ => None,
    });
    if parts.iter().any(|part| matches!(part, Part::Weak)) {
        Shows::Failed(&PASSWORD_POLICY_WEAK, words)
    } else if parts.iter().any(|part| matches!(part, Part::Default)) {
        Shows::Failed(&DEFAULT_VALUE, words)
    } else if let Some(reason) = open {
        Shows::Open(reason, words)
    } else {
        Shows::Good(words)
    }
}

static POLICY: PolicyRule = PolicyRule {
    setting: "security.password",
    administrators: false,
    value: |value, _, settings| judge(value, settings),
    overridden: None,
    has_default: true,
    words: ("the password policy is strong", "the password policy is weak"),
};

/// The judgement.
pub static JUDGE: Judge<PolicyFacts> =
    Judge { rule: &WORKSPACE_PASSWORD_POLICY, judge: |facts, settings| Some(POLICY.judge(facts, settings)) };
