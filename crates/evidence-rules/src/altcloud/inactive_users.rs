//! Users of the directory sign in, or are suspended.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::Medium;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::record::{User, UserListing};
use crate::age::is_older;
use crate::field::Field;
use crate::rule::setting::{Setting, Settings};
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Several, Words};

/// No active user is idle.
pub static INACTIVE_USERS: Rule = Rule {
    code: "inactive-users",
    title: "Inactive users",
    version: 1,
    kind: "directory",
    expected: "every active user signed in within {maximum_days one day|# days}, or was created within {grace_days one day|# days}",
    reads: "`suspended`, `archived`, `lastLoginTime` and `creationTime` of every user of the customer or of the configured domains",
    not_checked: "whether a user still works for the organization; sign-ins through another identity provider, which may not move \
                  `lastLoginTime`; guests and groups",
    permission: "Delegate the scope `https://www.googleapis.com/auth/admin.directory.user.readonly` to the service account, and let the \
                 administrator that it acts for read users.",
    improvement: None,
    settings: &[&MAXIMUM_DAYS, &GRACE_DAYS],
    hints: &[],
    reasons: &[
        &USER_INACTIVE,
        &SUSPENDED_NOT_VISIBLE,
        &LAST_LOGIN_TIME_NOT_VISIBLE,
        &CREATION_TIME_NOT_VISIBLE,
    ],
};

/// An active user did not sign in for too long.
pub static USER_INACTIVE: Reason = Reason::new("user_inactive", "Inactive users").advice(
    Medium,
    Misconfigured,
    "Suspend or archive the users that this result names, or have them sign in: nobody used these accounts for more than \
     {maximum_days one day|# days}.",
);

macro_rules! not_visible {
    ($($name:ident = $code:literal, $field:literal;)+) => {
        $(
            #[doc = concat!("The directory does not show `", $field, "` of a user.")]
            pub static $name: Reason = Reason::new($code, concat!("`", $field, "` of a user not reported")).advice(
                Medium,
                Partial,
                concat!("Check by hand: the directory's answer does not report `", $field, "` of the users that this result names."),
            );
        )+
    };
}

not_visible! {
    SUSPENDED_NOT_VISIBLE = "suspended_not_visible", "suspended";
    LAST_LOGIN_TIME_NOT_VISIBLE = "last_login_time_not_visible", "lastLoginTime";
    CREATION_TIME_NOT_VISIBLE = "creation_time_not_visible", "creationTime";
}

/// The longest time without a sign-in.
pub static MAXIMUM_DAYS: Setting = Setting {
    rule: "inactive-users",
    name: "maximum_days",
    default: 90,
    minimum: 1,
    maximum: 366,
    recommended: None,
};

/// How long a new user may take to sign in.
pub static GRACE_DAYS: Setting = Setting {
    rule: "inactive-users",
    name: "grace_days",
    default: 30,
    minimum: 1,
    maximum: 366,
    recommended: None,
};

/// `user_activity.json`: the users as the listings show them, as far as this rule needs them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UserActivity {
    /// The listings that were read.
    pub listings: Vec<UserListing>,
    /// Every user of the listings, without duplicates.
    pub users: Vec<ActiveUser>,
}

/// A user of the directory.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ActiveUser {
    /// The user's id.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub id: Field<String>,
    /// The primary address, by which administrators know the user.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub primary_email: Field<String>,
    /// Whether the account is suspended.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub suspended: Field<bool>,
    /// Whether the account is archived.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub archived: Field<bool>,
    /// Whether the user is a guest; only asked for if a rule needs it.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub is_guest_user: Field<bool>,
    /// The last sign-in; 1970 for never.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub last_login_time: Field<String>,
    /// When the account was created.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub creation_time: Field<String>,
}

impl From<&User> for ActiveUser {
    fn from(user: &User) -> ActiveUser {
        ActiveUser {
            id: user.id.clone(),
            primary_email: user.primary_email.clone(),
            suspended: user.suspended.clone(),
            archived: user.archived.clone(),
            is_guest_user: user.is_guest_user.clone(),
            last_login_time: user.last_login_time.clone(),
            creation_time: user.creation_time.clone(),
        }
    }
}

/// The users, and what is not known of them.
#[derive(Debug)]
pub struct Activity {
    /// The users of the listings that were read.
    pub users: Vec<ActiveUser>,
    /// When the run began: ages count from then.
    pub at: Timestamp,
    /// Why a part of the listings was not read, if one was not.
    pub gap: Option<(&'static Reason, String)>,
}

/// The judgement.
pub static JUDGE: Judge<Activity> =
    Judge { rule: &INACTIVE_USERS, judge: |activity, settings| Some(judge(activity, settings)) };

static WORDS: Words = Words {
    fails: &USER_INACTIVE,
    failed: "active users did not sign in",
    open: "users may be inactive",
    good: "active users, all signed in lately or new",
    none: "no active user",
};

/// Passes if every active user signed in lately, or is new. An incomplete list can only fail.
pub fn judge(activity: &Activity, settings: &Settings) -> Verdict {
    let mut users = Several::default();
    for user in &activity.users {
        let name =
            user.primary_email.value().or(user.id.value()).map_or("a user without a name", String::as_str);
        users.add(name, of_user(user, activity.at, settings));
    }
    let verdict = users.judge(&WORDS);
    match &activity.gap {
        Some((reason, words)) if *verdict.reason != USER_INACTIVE => {
            let actual = verdict.actual.unwrap_or_default();
            Verdict::unknown(reason, format!("{actual}; not all users were read: {words}"))
        }
        _ => verdict,
    }
}

fn of_user(user: &ActiveUser, now: Timestamp, settings: &Settings) -> One {
    let (suspended, archived) = (user.suspended.value(), user.archived.value());
    if suspended == Some(&true) || archived == Some(&true) {
        return One::Nothing;
    }
    let time = |field: &Field<String>| field.value().and_then(|text| text.parse::<Timestamp>().ok());
    let (Some(login), created) = (time(&user.last_login_time), time(&user.creation_time)) else {
        return One::Open(&LAST_LOGIN_TIME_NOT_VISIBLE);
    };
    let grace = settings.get(&GRACE_DAYS);
    // A sign-in is later than the account, so one before the grace says enough of an account without a date.
    let is_new = match created {
        Some(created) => Some(!is_older(created, now, grace)),
        None if login.as_second() > 0 && is_older(login, now, grace) => Some(false),
        None => None,
    };
    match (is_older(login, now, settings.get(&MAXIMUM_DAYS)), is_new) {
        (false, _) | (true, Some(true)) => One::Good,
        (true, None) => One::Open(&CREATION_TIME_NOT_VISIBLE),
        (true, Some(false)) if suspended.is_none() || archived.is_none() => One::Open(&SUSPENDED_NOT_VISIBLE),
        (true, Some(false)) => One::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    fn activity(users: Vec<ActiveUser>) -> Activity {
        Activity { users, at: "2026-11-21T09:05:13Z".parse().unwrap(), gap: None }
    }

    fn field(text: &str) -> Field<String> {
        Field::Value(text.to_string())
    }

    /// Every form of the two flags and of the two times.
    #[test]
    fn the_whole_domain() {
        let flags = [Field::Absent, Field::Null, Field::Value(false), Field::Value(true)];
        let times = [
            (Field::Absent, None),
            (Field::Null, None),
            (field("no time"), None),
            (field("1970-01-01T00:00:00.000Z"), Some(20_000)),
            (field("2020-01-01T00:00:00.000Z"), Some(2_000)),
            (field("2026-10-01T00:00:00.000Z"), Some(51)),
            (field("2026-11-20T00:00:00.000Z"), Some(1)),
        ];
        let mut count = 0;
        for suspended in &flags {
            for archived in &flags {
                for (login, login_age) in &times {
                    for (created, age) in &times {
                        let user = ActiveUser {
                            primary_email: field("mia@acme.example"),
                            suspended: suspended.clone(),
                            archived: archived.clone(),
                            last_login_time: login.clone(),
                            creation_time: created.clone(),
                            ..ActiveUser::default()
                        };
                        let either = |wanted: Option<bool>| {
                            [suspended, archived].iter().any(|flag| flag.value().copied() == wanted)
                        };
                        let is_new = age.map(|age| age <= 30);
                        let expected = match (login_age, is_new) {
                            _ if either(Some(true)) => "nothing_in_scope",
                            (None, _) => "last_login_time_not_visible",
                            (Some(..=90), _) | (_, Some(true)) => "ok",
                            (Some(20_000), None) => "creation_time_not_visible",
                            _ if either(None) => "suspended_not_visible",
                            _ => "user_inactive",
                        };
                        let verdict = judge(&activity(vec![user.clone()]), &Settings::default());
                        assert_eq!(verdict.reason.code, expected, "{user:?}");
                        count += 1;
                    }
                }
            }
        }
        assert_eq!(count, 4 * 4 * 7 * 7);
    }

    /// A list that was not read to its end fails for those that it shows, and otherwise decides nothing.
    #[test]
    fn an_incomplete_list_cannot_pass() {
        let user = |login: &str| ActiveUser {
            primary_email: field("mia@acme.example"),
            suspended: Field::Value(false),
            archived: Field::Value(false),
            last_login_time: field(login),
            creation_time: field("2020-01-01T00:00:00.000Z"),
            ..ActiveUser::default()
        };
        for (login, status, reason) in [
            ("2026-11-20T00:00:00.000Z", Status::NotVerifiable, "host_error"),
            ("2020-02-01T00:00:00.000Z", Status::Fail, "user_inactive"),
        ] {
            let gap =
                Some((&crate::rule::reason::HOST_ERROR, "users of acme.example, after page 1".to_string()));
            let verdict = judge(&Activity { gap, ..activity(vec![user(login)]) }, &Settings::default());
            assert_eq!((verdict.status, verdict.reason.code), (status, reason), "{login}");
        }
        let mut strict = Settings::default();
        strict.set(&MAXIMUM_DAYS, 7);
        let verdict = judge(&activity(vec![user("2026-11-01T00:00:00.000Z")]), &strict);
        assert_eq!(verdict.actual.as_deref(), Some("1 of 1 active users did not sign in: mia@acme.example"));
    }
}
