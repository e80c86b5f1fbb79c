//! Everyone who signs in to an account with a password has a second factor.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::High;

use super::credentials::{CredentialRow, Credentials, flag};
use super::reason::not_visible::{MFA_ACTIVE, PASSWORD_ENABLED};
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Several, Words};

/// Users with a password have a second factor.
pub static USER_MFA: Rule = Rule {
    code: "user-mfa",
    title: "Second factor of users",
    version: 1,
    kind: "account",
    expected: "every user with a password has a second factor",
    reads: "`password_enabled` and `mfa_active` of every user in the account's credential report",
    not_checked: "the kind of the factor; users of an identity provider or of IAM Identity Center; the root user, which `root-mfa` judges",
    permission: "Allow `iam:GenerateCredentialReport` and `iam:GetCredentialReport` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&USER_WITHOUT_MFA, &MFA_ACTIVE],
};

/// A user can sign in with a password alone.
pub static USER_WITHOUT_MFA: Reason = Reason::new("user_without_mfa", "Users without a second factor")
    .advice(
        High,
        Misconfigured,
        "Let the users that this result names register a second factor, or remove their passwords.",
    );

/// The judgement.
pub static JUDGE: Judge<Credentials> =
    Judge { rule: &USER_MFA, judge: |credentials, _| Some(judge(&credentials.report.users)) };

static WORDS: Words = Words {
    fails: &USER_WITHOUT_MFA,
    failed: "users with a password have no second factor",
    open: "users may have a password without a second factor",
    good: "users with a password, each with a second factor",
    none: "no user has a password",
};

fn judge(rows: &[CredentialRow]) -> Verdict {
    let mut users = Several::default();
    for row in rows.iter().filter(|row| !row.is_root()) {
        users.add(&row.user, of_row(row));
    }
    users.judge(&WORDS)
}

fn of_row(row: &CredentialRow) -> One {
    match (flag(&row.password_enabled), flag(&row.mfa_active)) {
        (Some(false), _) => One::Nothing,
        (Some(true), Some(true)) => One::Good,
        (Some(true), Some(false)) => One::Failed,
        (Some(true), None) => One::Open(&MFA_ACTIVE),
        (None, _) => One::Open(&PASSWORD_ENABLED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;
    use crate::rule::Status;

    fn forms() -> Vec<Field<String>> {
        let words = ["true", "false", "not_supported", "no_information", "N/A"];
        words
            .into_iter()
            .map(|word| Field::Value(word.to_string()))
            .chain([Field::Absent, Field::Null])
            .collect()
    }

    /// Every form of the two flags.
    #[test]
    fn the_whole_domain() {
        for password in forms() {
            for mfa in forms() {
                let row = CredentialRow {
                    user: "alice".to_string(),
                    password_enabled: password.clone(),
                    mfa_active: mfa.clone(),
                    ..CredentialRow::default()
                };
                let text = |field: &Field<String>| field.value().cloned().unwrap_or_default();
                let expected = match (&*text(&password), &*text(&mfa)) {
                    ("false", _) => "nothing_in_scope",
                    ("true", "true") => "ok",
                    ("true", "false") => "user_without_mfa",
                    ("true", _) => "mfa_active_not_visible",
                    _ => "password_enabled_not_visible",
                };
                assert_eq!(judge(&[row]).reason.code, expected, "{password:?} {mfa:?}");
            }
        }
    }

    /// The root user is no user (prowler#3519), whatever its row says.
    #[test]
    fn the_root_user_is_not_counted() {
        let row = |user: &str, mfa: &str| CredentialRow {
            user: user.to_string(),
            password_enabled: Field::Value("true".to_string()),
            mfa_active: Field::Value(mfa.to_string()),
            ..CredentialRow::default()
        };
        assert_eq!(judge(&[row("<root_account>", "false")]).status, Status::NotApplicable);
        let verdict = judge(&[row("<root_account>", "false"), row("alice", "true")]);
        assert_eq!(verdict.actual.as_deref(), Some("1 users with a password, each with a second factor"));
        let verdict = judge(&[row("alice", "false"), row("bob", "true")]);
        assert_eq!(
            verdict.actual.as_deref(),
            Some("1 of 2 users with a password have no second factor: alice")
        );
    }
}
