//! Passwords and access keys that nobody uses are removed.

use evidence_bundle::document::Category::Misconfigured;
use evidence_bundle::document::Severity::Medium;
use jiff::Timestamp;

use super::credentials::{CredentialRow, Credentials, When, flag, when};
use super::reason::not_visible::{PASSWORD_ENABLED, PASSWORD_LAST_CHANGED, PASSWORD_LAST_USED};
use crate::age::is_older;
use crate::field::Field;
use crate::rule::setting::{Setting, Settings};
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Several, Words};

/// Credentials that are in use.
pub static UNUSED_CREDENTIALS: Rule = Rule {
    code: "unused-credentials",
    title: "Unused credentials",
    version: 1,
    kind: "account",
    expected: "every password and every active access key of a user was used, or created, within {maximum_days one day|# days}",
    reads: "the flags and times of passwords and access keys of every user in the account's credential report",
    not_checked: "whether a user still works for the organization; roles; certificates; the root user, whose credentials are best unused",
    permission: "Allow `iam:GenerateCredentialReport` and `iam:GetCredentialReport` to the user or role that collects.",
    improvement: None,
    settings: &[&MAXIMUM_DAYS],
    hints: &[],
    reasons: &[&CREDENTIALS_UNUSED, &PASSWORD_LAST_USED, &PASSWORD_LAST_CHANGED],
};

/// A user has credentials that were not used for too long.
pub static CREDENTIALS_UNUSED: Reason = Reason::new("credentials_unused", "Unused credentials").advice(
    Medium,
    Misconfigured,
    "Remove the passwords and deactivate the access keys that this result names: nobody used them for more than \
     {maximum_days one day|# days}.",
);

/// The longest time without use.
pub static MAXIMUM_DAYS: Setting = Setting {
    rule: "unused-credentials",
    name: "maximum_days",
    default: 90,
    minimum: 1,
    maximum: 366,
    recommended: None,
};

/// The judgement.
pub static JUDGE: Judge<Credentials> =
    Judge { rule: &UNUSED_CREDENTIALS, judge: |credentials, settings| Some(judge(credentials, settings)) };

static WORDS: Words = Words {
    fails: &CREDENTIALS_UNUSED,
    failed: "credentials of users are unused",
    open: "credentials of users may be unused",
    good: "credentials of users, all in use",
    none: "no user has a password or an active access key",
};

/// Passes if every password and key was used. One that was never used counts from when it was made.
pub fn judge(credentials: &Credentials, settings: &Settings) -> Verdict {
    let days = settings.get(&MAXIMUM_DAYS);
    let age = |at: Timestamp| match is_older(at, credentials.at, days) {
        true => One::Failed,
        false => One::Good,
    };
    let of = |used: &Field<String>, made: &Field<String>, hidden: [&'static Reason; 2]| match (
        when(used),
        when(made),
    ) {
        (When::At(used), _) => age(used),
        (When::Never, When::At(made)) => age(made),
        (When::Never, When::Never | When::Unclear) => One::Open(hidden[1]),
        (When::Unclear, _) => One::Open(hidden[0]),
    };
    let mut all = Several::default();
    for row in credentials.report.users.iter().filter(|row| !row.is_root()) {
        let CredentialRow { user, password_enabled, password_last_used, password_last_changed, .. } = row;
        let password = match flag(password_enabled) {
            Some(true) => {
                of(password_last_used, password_last_changed, [&PASSWORD_LAST_USED, &PASSWORD_LAST_CHANGED])
            }
            Some(false) => One::Nothing,
            None => One::Open(&PASSWORD_ENABLED),
        };
        all.add(&format!("{user} (password)"), password);
        for (number, key) in (1..).zip(row.keys()) {
            let [active, last_rotated, last_used] = key.hidden;
            let one = match flag(key.active) {
                Some(true) => of(key.last_used, key.last_rotated, [last_used, last_rotated]),
                Some(false) => One::Nothing,
                None => One::Open(active),
            };
            all.add(&format!("{user} (key {number})"), one);
        }
    }
    all.judge(&WORDS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::credentials::CredentialReport;

    fn field(text: &str) -> Field<String> {
        Field::Value(text.to_string())
    }

    fn verdict(row: CredentialRow) -> Verdict {
        let report = CredentialReport { users: vec![row], ..CredentialReport::default() };
        judge(&Credentials { report, at: "2026-11-21T09:05:13Z".parse().unwrap() }, &Settings::default())
    }

    /// A user without any credential.
    fn idle(user: &str) -> CredentialRow {
        CredentialRow {
            user: user.to_string(),
            password_enabled: field("false"),
            access_key_1_active: field("false"),
            access_key_2_active: field("false"),
            ..CredentialRow::default()
        }
    }

    /// Every form of a flag and of both times, for the password and for each key.
    #[test]
    fn the_whole_domain() {
        let flags = [field("true"), field("false"), field("not_supported"), Field::Absent, Field::Null];
        let times = [
            field("2026-11-20T00:00:00+00:00"),
            field("2020-01-01T00:00:00+00:00"),
            field("N/A"),
            field("no_information"),
            field("not_supported"),
            Field::Absent,
            Field::Null,
        ];
        let mut count = 0;
        for place in 0..3 {
            let [on, used_name, made_name] = [
                ["password_enabled", "password_last_used", "password_last_changed"],
                ["access_key_1_active", "access_key_1_last_used_date", "access_key_1_last_rotated"],
                ["access_key_2_active", "access_key_2_last_used_date", "access_key_2_last_rotated"],
            ][place];
            for active in &flags {
                for used in &times {
                    for made in &times {
                        let mut row = idle("alice");
                        let places = match place {
                            0 => (
                                &mut row.password_enabled,
                                &mut row.password_last_used,
                                &mut row.password_last_changed,
                            ),
                            1 => (
                                &mut row.access_key_1_active,
                                &mut row.access_key_1_last_used_date,
                                &mut row.access_key_1_last_rotated,
                            ),
                            _ => (
                                &mut row.access_key_2_active,
                                &mut row.access_key_2_last_used_date,
                                &mut row.access_key_2_last_rotated,
                            ),
                        };
                        (*places.0, *places.1, *places.2) = (active.clone(), used.clone(), made.clone());
                        let text = |field: &Field<String>| field.value().cloned().unwrap_or_default();
                        let (used, made) = (text(used), text(made));
                        let by_age = |time: &str| match time.starts_with("2026") {
                            true => "ok".to_string(),
                            false => "credentials_unused".to_string(),
                        };
                        let expected = match &*text(active) {
                            "false" => "nothing_in_scope".to_string(),
                            "true" if used.starts_with('2') => by_age(&used),
                            "true" if used == "N/A" || used == "no_information" => {
                                match made.starts_with('2') {
                                    true => by_age(&made),
                                    false => format!("{made_name}_not_visible"),
                                }
                            }
                            "true" => format!("{used_name}_not_visible"),
                            _ => format!("{on}_not_visible"),
                        };
                        let verdict = verdict(row);
                        assert_eq!(verdict.reason.code, expected, "{on} {active:?} {used} {made}");
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(count, 3 * 5 * 7 * 7);
    }

    #[test]
    fn the_root_user_is_not_counted_and_names_say_which_credential() {
        let old = |user: &str| CredentialRow {
            password_enabled: field("true"),
            password_last_used: field("2020-01-01T00:00:00Z"),
            ..idle(user)
        };
        assert_eq!(verdict(old("<root_account>")).reason.code, "nothing_in_scope");
        let actual = verdict(old("alice")).actual.unwrap();
        assert_eq!(actual, "1 of 1 credentials of users are unused: alice (password)");
    }
}
