//! The root user of an account has no access keys.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Critical;

use super::reason::ACCOUNT_ACCESS_KEYS_PRESENT_NOT_VISIBLE;
use super::record::RootAccount;
use crate::rule::{Judge, Reason, Rule, Verdict};

/// No program can act as the root user.
pub static ROOT_KEYS: Rule = Rule {
    code: "root-keys",
    title: "Access keys of the root user",
    version: 1,
    kind: "account",
    expected: "the root user has no access keys, active or not",
    reads: "`AccountAccessKeysPresent` of the account's summary",
    not_checked: "the root user's password, and its signing certificates, which the artifact counts",
    permission: "Allow `iam:GetAccountSummary` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&ROOT_KEYS_PRESENT],
};

/// The root user has an access key.
pub static ROOT_KEYS_PRESENT: Reason = Reason::new("root_keys_present", "The root user has access keys")
    .advice(
        Critical,
        Misconfigured,
        "Give the programs that use the keys a role or a user of their own, then delete the root user's access keys.",
    );

/// The judgement.
pub static JUDGE: Judge<RootAccount> = Judge { rule: &ROOT_KEYS, judge: |root, _| Some(judge(root)) };

/// Passes without keys. The provider counts inactive ones too.
pub fn judge(root: &RootAccount) -> Verdict {
    match root.account_access_keys_present.value() {
        Some(0) => Verdict::pass("AccountAccessKeysPresent is 0"),
        Some(number) => Verdict::fail(&ROOT_KEYS_PRESENT, format!("AccountAccessKeysPresent is {number}")),
        None => Verdict::unknown(
            &ACCOUNT_ACCESS_KEYS_PRESENT_NOT_VISIBLE,
            "AccountAccessKeysPresent is not in the answer",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::field::Field;

    #[test]
    fn the_whole_domain() {
        for (keys, expected) in [
            (Field::Absent, "account_access_keys_present_not_visible"),
            (Field::Null, "account_access_keys_present_not_visible"),
            (Field::Value(0), "ok"),
            (Field::Value(1), "root_keys_present"),
            (Field::Value(2), "root_keys_present"),
        ] {
            let root = RootAccount { account_access_keys_present: keys, ..RootAccount::default() };
            assert_eq!(judge(&root).reason.code, expected, "{root:?}");
        }
    }
}
