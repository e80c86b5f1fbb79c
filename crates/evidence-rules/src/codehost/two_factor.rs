//! The organization requires two-factor authentication.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{Critical, High};

use crate::codehost::record::OrganizationSettings;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};

/// The organization requires two-factor authentication.
pub static TWO_FACTOR_REQUIRED: Rule = Rule {
    code: "two-factor-required",
    title: "Two-factor authentication",
    version: 1,
    kind: "organization",
    expected: "two-factor authentication is required of every member",
    reads: "`two_factor_requirement_enabled` of the organization",
    not_checked: "which members have a second factor, and of which kind; the second factor of an identity provider, and exemptions through it",
    permission: "Use a token whose user is an organization owner.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&TWO_FACTOR_DISABLED, &TWO_FACTOR_NOT_VISIBLE],
};

/// The organization does not require two-factor authentication.
pub static TWO_FACTOR_DISABLED: Reason =
    Reason::new("two_factor_disabled", "Two-factor authentication not required").advice(
        Critical,
        Misconfigured,
        "In the organization's settings, under Authentication security, require two-factor \
                      authentication for \
             everyone in the organization.",
    );

/// The host does not show the setting to this token.
pub static TWO_FACTOR_NOT_VISIBLE: Reason =
    Reason::new("two_factor_not_visible", "Two-factor setting not visible to this token").advice(
        High,
        Partial,
        "Use a token whose user is an organization owner \
             and, for a fine-grained token, whose resource owner is this organization.",
    );

/// The judgement.
pub static JUDGE: Judge<OrganizationSettings> =
    Judge { rule: &TWO_FACTOR_REQUIRED, judge: |settings, _| Some(judge(settings)) };

/// Passes if `two_factor_requirement_enabled` is true.
///
/// The host shows the setting only to organization owners: members get `null`, others no field, always with status 200.
/// Neither counts as `false`.
pub fn judge(settings: &OrganizationSettings) -> Verdict {
    match settings.two_factor_requirement_enabled {
        Field::Value(true) => Verdict::pass("two_factor_requirement_enabled is true"),
        Field::Value(false) => Verdict::fail(&TWO_FACTOR_DISABLED, "two_factor_requirement_enabled is false"),
        Field::Null => Verdict::unknown(&TWO_FACTOR_NOT_VISIBLE, "two_factor_requirement_enabled is null"),
        Field::Absent => {
            Verdict::unknown(&TWO_FACTOR_NOT_VISIBLE, "two_factor_requirement_enabled is not in the answer")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Status, reason as shared};

    #[test]
    fn every_value_of_the_setting() {
        let table = [
            (Field::Value(true), Status::Pass, &shared::OK),
            (Field::Value(false), Status::Fail, &TWO_FACTOR_DISABLED),
            (Field::Null, Status::NotVerifiable, &TWO_FACTOR_NOT_VISIBLE),
            (Field::Absent, Status::NotVerifiable, &TWO_FACTOR_NOT_VISIBLE),
        ];
        for (value, status, reason) in table {
            let settings =
                OrganizationSettings { two_factor_requirement_enabled: value.clone(), ..Default::default() };
            let verdict = judge(&settings);
            assert_eq!((verdict.status, verdict.reason), (status, reason), "{value:?}");
        }
    }
}
