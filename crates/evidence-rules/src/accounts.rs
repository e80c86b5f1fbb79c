//! `people.json` of the cloud and of the directory: everyone with an account, as far as an access review needs it.
//!
//! The list of the code host has a form of its own, because it is evidence of rules too.

use serde::{Deserialize, Serialize};

use crate::altcloud::record::User;
use crate::cloud::credentials::{CredentialReport, CredentialRow, When, flag, when};
use crate::field::Field;

/// `people.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Accounts {
    /// Whether it has everyone: whoever is not in it has no account.
    pub complete: bool,
    /// Everyone, in the order of the provider.
    pub people: Vec<Account>,
}

/// An account. No name, no picture, no key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Account {
    /// What identifies it in its source.
    pub id: String,
    /// The name that it signs in with.
    pub login: String,
    /// Its role.
    pub role: String,
    /// Whether it has a second factor.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub two_factor: Field<bool>,
    /// When it was created.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub created: Field<String>,
    /// The last use that the provider noticed; absent if it noticed none.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub last_use: Field<String>,
    /// Whether it cannot sign in.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub suspended: Field<bool>,
}

/// A value that is known, or absent.
fn known<T>(value: Option<T>) -> Field<T> {
    value.map_or(Field::Absent, Field::Value)
}

/// The users of an account of the cloud, the root user among them.
pub fn of_report(account: &str, report: &CredentialReport) -> Accounts {
    Accounts { complete: true, people: report.users.iter().map(|row| of_row(account, row)).collect() }
}

fn of_row(account: &str, row: &CredentialRow) -> Account {
    let [first, second] = row.keys();
    let at = |field: &Field<String>| match when(field) {
        When::At(time) => Some((time, field.value()?.clone())),
        When::Never | When::Unclear => None,
    };
    let uses = [&row.password_last_used, first.last_used, second.last_used];
    let last = uses.into_iter().filter_map(at).max();
    let flags = [flag(&row.password_enabled), flag(first.active), flag(second.active)];
    let suspended = match flags {
        // Whether the root user has a password, the report does not say.
        _ if row.is_root() => None,
        _ if flags.contains(&Some(true)) => Some(false),
        [Some(_), Some(_), Some(_)] => Some(true),
        _ => None,
    };
    Account {
        id: format!("{account}/{}", row.user),
        login: row.user.clone(),
        role: if row.is_root() { "root" } else { "user" }.to_string(),
        two_factor: known(flag(&row.mfa_active)),
        created: known(at(&row.user_creation_time).map(|(_, text)| text)),
        last_use: known(last.map(|(_, text)| text)),
        suspended: known(suspended),
    }
}

/// The users of the directory. `complete`: they are all users of the customer.
pub fn of_users<'a>(users: impl IntoIterator<Item = &'a User>, complete: bool) -> Accounts {
    Accounts { complete, people: users.into_iter().map(of_user).collect() }
}

fn of_user(user: &User) -> Account {
    let text = |field: &Field<String>| field.value().cloned().unwrap_or_default();
    let role = match (user.is_admin.value(), user.is_delegated_admin.value()) {
        (Some(true), _) => "super_administrator",
        (_, Some(true)) => "administrator",
        (Some(false), Some(false)) => "user",
        _ => "unknown",
    };
    let suspended = match (user.is_inactive(), user.is_active()) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    // The provider writes the beginning of 1970 for a user who never signed in.
    let used = |text: &&String| text.parse::<jiff::Timestamp>().is_ok_and(|time| time.as_second() > 0);
    Account {
        id: text(&user.id),
        login: text(&user.primary_email),
        role: role.to_string(),
        two_factor: known(user.is_enrolled_in_2sv.value().copied()),
        created: known(user.creation_time.value().cloned()),
        last_use: known(user.last_login_time.value().filter(used).cloned()),
        suspended: known(suspended),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(text: &str) -> Field<String> {
        Field::Value(text.to_string())
    }

    /// Every combination of the three credentials, known or not: 3 * 3 * 3 cases.
    #[test]
    fn who_can_sign_in_to_the_cloud() {
        let forms = [Field::Absent, field("true"), field("false")];
        for password in &forms {
            for first in &forms {
                for second in &forms {
                    let row = CredentialRow {
                        user: "mia".to_string(),
                        password_enabled: password.clone(),
                        access_key_1_active: first.clone(),
                        access_key_2_active: second.clone(),
                        ..CredentialRow::default()
                    };
                    let all = [password, first, second];
                    let expected = if all.contains(&&forms[1]) {
                        Field::Value(false)
                    } else if all.contains(&&forms[0]) {
                        Field::Absent
                    } else {
                        Field::Value(true)
                    };
                    assert_eq!(of_row("1", &row).suspended, expected, "{all:?}");
                    let root = CredentialRow { user: "<root_account>".to_string(), ..row };
                    assert_eq!(of_row("1", &root).suspended, Field::Absent);
                }
            }
        }
    }

    #[test]
    fn the_latest_use_counts() {
        let row = CredentialRow {
            user: "mia".to_string(),
            user_creation_time: field("2024-01-01T00:00:00+00:00"),
            mfa_active: field("true"),
            password_last_used: field("2026-09-01T00:00:00+00:00"),
            access_key_1_last_used_date: field("2026-10-01T01:00:00+02:00"),
            access_key_2_last_used_date: field("N/A"),
            ..CredentialRow::default()
        };
        let found = of_row("111122223333", &row);
        let expected = Account {
            id: "111122223333/mia".to_string(),
            login: "mia".to_string(),
            role: "user".to_string(),
            two_factor: Field::Value(true),
            created: field("2024-01-01T00:00:00+00:00"),
            last_use: field("2026-10-01T01:00:00+02:00"),
            suspended: Field::Absent,
        };
        assert_eq!(found, expected);
        let never = CredentialRow { password_last_used: field("no_information"), ..CredentialRow::default() };
        assert_eq!(of_row("1", &never).last_use, Field::Absent);
    }

    /// Every form of the flags of a user: 3^4 cases.
    #[test]
    fn roles_and_states_of_users() {
        let forms = [Field::Absent, Field::Value(false), Field::Value(true)];
        for suspended in &forms {
            for archived in &forms {
                for admin in &forms {
                    for delegated in &forms {
                        let user = User {
                            suspended: suspended.clone(),
                            archived: archived.clone(),
                            is_admin: admin.clone(),
                            is_delegated_admin: delegated.clone(),
                            last_login_time: field("1970-01-01T00:00:00.000Z"),
                            ..User::default()
                        };
                        let found = of_user(&user);
                        let (yes, no) = (&forms[2], &forms[1]);
                        let role = match () {
                            () if admin == yes => "super_administrator",
                            () if delegated == yes => "administrator",
                            () if admin == no && delegated == no => "user",
                            () => "unknown",
                        };
                        let state = match () {
                            () if suspended == yes || archived == yes => Field::Value(true),
                            () if suspended == no && archived == no => Field::Value(false),
                            () => Field::Absent,
                        };
                        assert_eq!((found.role.as_str(), found.suspended), (role, state), "{user:?}");
                        assert_eq!(found.last_use, Field::Absent);
                    }
                }
            }
        }
    }
}
