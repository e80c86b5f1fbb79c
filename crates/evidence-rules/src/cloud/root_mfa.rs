//! The root user of an account has a second factor.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{Critical, High};

use super::reason::ACCOUNT_ACCESS_KEYS_PRESENT_NOT_VISIBLE;
use super::record::RootAccount;
use crate::rule::{Judge, Reason, Rule, Verdict};

/// The root user has a second factor, or nothing that it could sign in with.
pub static ROOT_MFA: Rule = Rule {
    code: "root-mfa",
    title: "Second factor of the root user",
    version: 1,
    kind: "account",
    expected: "the root user has a second factor, or neither a password nor access keys",
    reads: "`AccountMFAEnabled`, `AccountPasswordPresent` and `AccountAccessKeysPresent` of the account's summary",
    not_checked: "the kind of the factor; who holds it; whether and when the root user signs in",
    permission: "Allow `iam:GetAccountSummary` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[
        &ROOT_MFA_MISSING,
        &ROOT_CREDENTIALS_REMOVED,
        &ACCOUNT_MFA_ENABLED_NOT_VISIBLE,
        &ACCOUNT_PASSWORD_PRESENT_NOT_VISIBLE,
    ],
};

/// The root user can sign in without a second factor.
pub static ROOT_MFA_MISSING: Reason = Reason::new("root_mfa_missing", "No second factor for the root user")
    .advice(
        Critical,
        Misconfigured,
        "Sign in as the root user and register a second factor, preferably a passkey or a hardware key; or remove the \
         root credentials of member accounts centrally.",
    );

/// The root user has no credentials, as after their central removal: there is nothing to protect.
pub static ROOT_CREDENTIALS_REMOVED: Reason =
    Reason::new("root_credentials_removed", "The root user has no credentials");

/// The summary does not say whether the root user has a second factor.
pub static ACCOUNT_MFA_ENABLED_NOT_VISIBLE: Reason =
    Reason::new("account_mfa_enabled_not_visible", "Second factor of the root user not reported").advice(
        High,
        Partial,
        "Check the root user's second factor by hand: the account's summary does not report it.",
    );

/// The summary does not say whether the root user has a password.
pub static ACCOUNT_PASSWORD_PRESENT_NOT_VISIBLE: Reason =
    Reason::new("account_password_present_not_visible", "Password of the root user not reported").advice(
        High,
        Partial,
        "Check by hand whether the root user has a password: the account's summary does not report it.",
    );

/// The judgement.
pub static JUDGE: Judge<RootAccount> = Judge { rule: &ROOT_MFA, judge: |root, _| Some(judge(root)) };

/// Passes with a second factor. Without one, a password or a key fails, and neither of them leaves nothing to judge.
pub fn judge(root: &RootAccount) -> Verdict {
    let password = root.account_password_present.value().copied();
    let keys = root.account_access_keys_present.value().copied();
    let words = |what: &str, number: Option<u64>| match number {
        Some(number) => format!("{what} is {number}"),
        None => format!("{what} is not in the answer"),
    };
    let actual = [
        words("AccountMFAEnabled", root.account_mfa_enabled.value().copied()),
        words("AccountPasswordPresent", password),
        words("AccountAccessKeysPresent", keys),
    ]
    .join(", ");
    match (root.account_mfa_enabled.value(), password, keys) {
        (None, ..) => Verdict::unknown(&ACCOUNT_MFA_ENABLED_NOT_VISIBLE, actual),
        (Some(number @ 1..), ..) => Verdict::pass(format!("AccountMFAEnabled is {number}")),
        (Some(0), Some(1..), _) | (Some(0), _, Some(1..)) => Verdict::fail(&ROOT_MFA_MISSING, actual),
        (Some(0), None, _) => Verdict::unknown(&ACCOUNT_PASSWORD_PRESENT_NOT_VISIBLE, actual),
        (Some(0), Some(0), None) => Verdict::unknown(&ACCOUNT_ACCESS_KEYS_PRESENT_NOT_VISIBLE, actual),
        (Some(0), Some(0), Some(0)) => Verdict::not_applicable(&ROOT_CREDENTIALS_REMOVED, actual),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;

    /// Every form of the three numbers: the whole domain.
    ///
    /// Centrally removed root credentials are no failure (ScoutSuite#1710, prowler#5804), and an account whose summary
    /// does not report the password does not count as one of them (prowler#7967). A hardware key beside a virtual one is a
    /// second factor (prowler#1855).
    #[test]
    fn the_whole_domain() {
        let forms = [Field::Absent, Field::Null, Field::Value(0), Field::Value(1), Field::Value(2)];
        let mut count = 0;
        for mfa in &forms {
            for password in &forms {
                for keys in &forms {
                    let root = RootAccount {
                        account_mfa_enabled: mfa.clone(),
                        account_password_present: password.clone(),
                        account_access_keys_present: keys.clone(),
                        ..RootAccount::default()
                    };
                    let is = |field: &Field<u64>| field.value().map(|number| *number > 0);
                    let expected = match (is(mfa), is(password), is(keys)) {
                        (None, ..) => "account_mfa_enabled_not_visible",
                        (Some(true), ..) => "ok",
                        (Some(false), Some(true), _) | (Some(false), _, Some(true)) => "root_mfa_missing",
                        (Some(false), None, _) => "account_password_present_not_visible",
                        (Some(false), Some(false), None) => "account_access_keys_present_not_visible",
                        (Some(false), Some(false), Some(false)) => "root_credentials_removed",
                    };
                    assert_eq!(judge(&root).reason.code, expected, "{root:?}");
                    count += 1;
                }
            }
        }
        assert_eq!(count, 125);
    }

    #[test]
    fn what_was_found_is_told_in_full() {
        let root = RootAccount { account_mfa_enabled: Field::Value(0), ..RootAccount::default() };
        assert_eq!(
            judge(&root).actual.unwrap(),
            "AccountMFAEnabled is 0, AccountPasswordPresent is not in the answer, AccountAccessKeysPresent is not in \
             the answer"
        );
    }
}
