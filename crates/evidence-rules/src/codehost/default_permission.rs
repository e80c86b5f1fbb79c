//! Membership of the organization alone gives nobody write access.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::High;
use evidence_text::single_line;

use crate::codehost::record::OrganizationSettings;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};

/// Members have no more than read access to every repository.
pub static DEFAULT_PERMISSION: Rule = Rule {
    code: "default-permission",
    title: "Base permission of members",
    version: 1,
    kind: "organization",
    expected: "members have at most read access to every repository: the base permission is none or read",
    reads: "`default_repository_permission` of the organization",
    not_checked: "the permissions of teams, of collaborators and of single members; custom roles; the visibility of repositories",
    permission: "Use a token whose user is an organization owner.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&DEFAULT_PERMISSION_WRITES, &DEFAULT_REPOSITORY_PERMISSION_NOT_VISIBLE],
};

/// Every member may write to every repository.
pub static DEFAULT_PERMISSION_WRITES: Reason =
    Reason::new("default_permission_writes", "Every member can write to every repository").advice(
        High,
        Misconfigured,
        "In the organization's settings, under Member privileges, set the base permissions to Read or No permission, and give write \
         access through teams.",
    );

/// The host does not show the setting to this token.
pub static DEFAULT_REPOSITORY_PERMISSION_NOT_VISIBLE: Reason =
    Reason::new("default_repository_permission_not_visible", "Base permission not visible to this token").advice(
        High,
        Partial,
        "Use a token whose user is an organization owner and, for a fine-grained token, whose resource owner is this \
         organization.",
    );

/// The judgement.
pub static JUDGE: Judge<OrganizationSettings> =
    Judge { rule: &DEFAULT_PERMISSION, judge: |settings, _| Some(judge(settings)) };

/// Passes if the base permission is `none` or `read`. A word that is not documented decides nothing.
pub fn judge(settings: &OrganizationSettings) -> Verdict {
    let hidden = |what: &str| {
        let actual = format!("default_repository_permission is {what}");
        Verdict::unknown(&DEFAULT_REPOSITORY_PERMISSION_NOT_VISIBLE, actual)
    };
    match &settings.default_repository_permission {
        Field::Value(word) => {
            let actual = format!("default_repository_permission is {}", single_line(word));
            match word.as_str() {
                "none" | "read" => Verdict::pass(actual),
                "write" | "admin" => Verdict::fail(&DEFAULT_PERMISSION_WRITES, actual),
                _ => Verdict::unknown(&DEFAULT_REPOSITORY_PERMISSION_NOT_VISIBLE, actual),
            }
        }
        Field::Null => hidden("null"),
        Field::Absent => hidden("not in the answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    #[test]
    fn every_value_of_the_setting() {
        let value = |word: &str| Field::Value(word.to_string());
        for (permission, status, reason) in [
            (value("none"), Status::Pass, "ok"),
            (value("read"), Status::Pass, "ok"),
            (value("write"), Status::Fail, "default_permission_writes"),
            (value("admin"), Status::Fail, "default_permission_writes"),
            (value("triage"), Status::NotVerifiable, "default_repository_permission_not_visible"),
            (value(""), Status::NotVerifiable, "default_repository_permission_not_visible"),
            (Field::Null, Status::NotVerifiable, "default_repository_permission_not_visible"),
            (Field::Absent, Status::NotVerifiable, "default_repository_permission_not_visible"),
        ] {
            let settings = OrganizationSettings {
                default_repository_permission: permission.clone(),
                ..OrganizationSettings::default()
            };
            let verdict = judge(&settings);
            assert_eq!((verdict.status, verdict.reason.code), (status, reason), "{permission:?}");
        }
    }
}
