//! The guests of the directory: a list, and no verdict.

use super::inactive_users::Activity;
use super::reason::INFORMATION;
use super::words::{counted, named};
use crate::field::Field;
use crate::rule::{Judge, Rule, Verdict};

/// Outsiders with an account are known.
pub static GUESTS: Rule = Rule {
    code: "guests",
    title: "Guests",
    version: 1,
    kind: "directory",
    expected: "nothing: the check lists the guests among the users",
    reads: "`isGuestUser` of every user of the customer or of the configured domains",
    not_checked: "whether a guest still needs the account; outsiders in groups, shared files and chats, who have no account here",
    permission: "Delegate the scope `https://www.googleapis.com/auth/admin.directory.user.readonly` to the service account, and let the \
                 administrator that it acts for read users.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[],
};

/// The judgement.
pub static JUDGE: Judge<Activity> = Judge { rule: &GUESTS, judge: |activity, _| Some(judge(activity)) };

/// Lists the guests. Never passes or fails.
pub fn judge(activity: &Activity) -> Verdict {
    let is = |value: Option<bool>| {
        activity.users.iter().filter(move |user| user.is_guest_user.value().copied() == value)
    };
    let guests: Vec<&Field<String>> = is(Some(true)).map(|user| &user.primary_email).collect();
    let mut text = counted(guests.len(), "guest", "guests");
    if !guests.is_empty() {
        text.push_str(&format!(": {}", named(guests.len(), guests.iter().copied())));
    }
    let hidden = is(None).count();
    if hidden > 0 {
        text.push_str(&format!("; of {} not reported", counted(hidden, "user", "users")));
    }
    match &activity.gap {
        Some((reason, words)) => {
            Verdict::unknown(reason, format!("{text}; not all users were read: {words}"))
        }
        None => Verdict::not_applicable(&INFORMATION, text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::altcloud::inactive_users::ActiveUser;
    use crate::rule::{Status, reason};

    #[test]
    fn every_state_is_information() {
        let user = |guest: Field<bool>| ActiveUser {
            primary_email: Field::Value("ann@partner.example".to_string()),
            is_guest_user: guest,
            ..ActiveUser::default()
        };
        let judged = |guests: &[Field<bool>], gap| {
            let users = guests.iter().cloned().map(user).collect();
            let verdict = judge(&Activity { users, at: jiff::Timestamp::UNIX_EPOCH, gap });
            (verdict.status, verdict.reason.code, verdict.actual.unwrap())
        };
        for (guests, text) in [
            (vec![], "0 guests"),
            (vec![Field::Value(false)], "0 guests"),
            (vec![Field::Value(true), Field::Value(false)], "1 guest: ann@partner.example"),
            (vec![Field::Null, Field::Absent], "0 guests; of 2 users not reported"),
        ] {
            assert_eq!(judged(&guests, None), (Status::NotApplicable, "information", text.to_string()));
        }
        let (status, code, _) = judged(&[], Some((&reason::PERMISSION_DENIED, "no".to_string())));
        assert_eq!((status, code), (Status::NotVerifiable, "permission_denied"));
    }
}
