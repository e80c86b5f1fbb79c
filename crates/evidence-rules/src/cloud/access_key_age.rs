//! The access keys of an account are renewed.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Medium;

use super::credentials::{AccessKey, Credentials, When, flag, when};
use crate::age::is_older;
use crate::rule::setting::{Setting, Settings};
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Several, Words};

/// Active access keys are young.
pub static ACCESS_KEY_AGE: Rule = Rule {
    code: "access-key-age",
    title: "Age of access keys",
    version: 1,
    kind: "account",
    expected: "every active access key was created or renewed within {maximum_days one day|# days}",
    reads: "`access_key_1_active`, `access_key_1_last_rotated` and those of the second key, of every user and of the root user in the \
            account's credential report",
    not_checked: "what a key may do and who holds it; inactive keys; keys of programs outside the account",
    permission: "Allow `iam:GenerateCredentialReport` and `iam:GetCredentialReport` to the user or role that collects.",
    improvement: None,
    settings: &[&MAXIMUM_DAYS],
    hints: &[],
    reasons: &[&ACCESS_KEY_OLD],
};

/// A key is older than allowed.
pub static ACCESS_KEY_OLD: Reason = Reason::new("access_key_old", "Old access keys").advice(
    Medium,
    Misconfigured,
    "Replace the access keys that this result names, or use a role with temporary credentials in their place: active keys may be \
     at most {maximum_days one day|# days} old.",
);

/// The oldest that an active key may be.
pub static MAXIMUM_DAYS: Setting = Setting {
    rule: "access-key-age",
    name: "maximum_days",
    default: 90,
    minimum: 1,
    maximum: 366,
    recommended: None,
};

/// The judgement.
pub static JUDGE: Judge<Credentials> =
    Judge { rule: &ACCESS_KEY_AGE, judge: |credentials, settings| Some(judge(credentials, settings)) };

static WORDS: Words = Words {
    fails: &ACCESS_KEY_OLD,
    failed: "active access keys are too old",
    open: "access keys may be too old",
    good: "active access keys, none too old",
    none: "no user has an active access key",
};

/// Passes if every active key is young. A root user's key is a key of the account too.
pub fn judge(credentials: &Credentials, settings: &Settings) -> Verdict {
    let days = settings.get(&MAXIMUM_DAYS);
    let mut keys = Several::default();
    for row in &credentials.report.users {
        for (number, key) in (1..).zip(row.keys()) {
            keys.add(&format!("{} (key {number})", row.user), of_key(&key, credentials, days));
        }
    }
    keys.judge(&WORDS)
}

fn of_key(key: &AccessKey<'_>, credentials: &Credentials, days: u64) -> One {
    let [active, last_rotated, _] = key.hidden;
    match (flag(key.active), when(key.last_rotated)) {
        (Some(false), _) => One::Nothing,
        (None, _) => One::Open(active),
        (Some(true), When::At(at)) if is_older(at, credentials.at, days) => One::Failed,
        (Some(true), When::At(_)) => One::Good,
        (Some(true), When::Never | When::Unclear) => One::Open(last_rotated),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::credentials::{CredentialReport, CredentialRow};
    use crate::field::Field;

    fn credentials(rows: Vec<CredentialRow>) -> Credentials {
        let report = CredentialReport { users: rows, ..CredentialReport::default() };
        Credentials { report, at: "2026-11-21T09:05:13Z".parse().unwrap() }
    }

    fn field(text: &str) -> Field<String> {
        Field::Value(text.to_string())
    }

    /// Every form of a flag and of a time, in each of the two places.
    #[test]
    fn the_whole_domain() {
        let flags = [field("true"), field("false"), field("not_supported"), Field::Absent, Field::Null];
        let times = [
            field("2026-11-20T00:00:00+00:00"),
            field("2026-08-23T09:05:13+00:00"),
            field("2026-08-23T09:05:12+00:00"),
            field("2020-01-01T00:00:00+00:00"),
            field("N/A"),
            field("no_information"),
            Field::Absent,
            Field::Null,
        ];
        for second in [false, true] {
            for active in &flags {
                for rotated in &times {
                    let mut row = CredentialRow { user: "alice".to_string(), ..CredentialRow::default() };
                    (row.access_key_1_active, row.access_key_2_active) = (field("false"), field("false"));
                    let number = if second { 2 } else { 1 };
                    if second {
                        (row.access_key_2_active, row.access_key_2_last_rotated) =
                            (active.clone(), rotated.clone());
                    } else {
                        (row.access_key_1_active, row.access_key_1_last_rotated) =
                            (active.clone(), rotated.clone());
                    }
                    let time = rotated.value().map(String::as_str).unwrap_or_default();
                    let expected = match active.value().map(String::as_str) {
                        Some("false") => "nothing_in_scope".to_string(),
                        Some("true") if time.starts_with("2026-11") || time.ends_with("13+00:00") => {
                            "ok".to_string()
                        }
                        Some("true") if time.starts_with('2') => "access_key_old".to_string(),
                        Some("true") => format!("access_key_{number}_last_rotated_not_visible"),
                        _ => format!("access_key_{number}_active_not_visible"),
                    };
                    let verdict = judge(&credentials(vec![row]), &Settings::default());
                    assert_eq!(verdict.reason.code, expected, "{number} {active:?} {rotated:?}");
                }
            }
        }
    }

    #[test]
    fn keys_are_named_and_the_root_user_counts() {
        let row = |user: &str, rotated: &str| CredentialRow {
            user: user.to_string(),
            access_key_1_active: field("true"),
            access_key_1_last_rotated: field(rotated),
            access_key_2_active: field("false"),
            ..CredentialRow::default()
        };
        let rows = vec![row("<root_account>", "2020-01-01T00:00:00Z"), row("bob", "2026-10-01T00:00:00Z")];
        let verdict = judge(&credentials(rows.clone()), &Settings::default());
        assert_eq!(
            verdict.actual.as_deref(),
            Some("1 of 2 active access keys are too old: <root_account> (key 1)")
        );
        let mut strict = Settings::default();
        strict.set(&MAXIMUM_DAYS, 30);
        assert!(judge(&credentials(rows), &strict).actual.unwrap().starts_with("2 of 2"));
    }
}
