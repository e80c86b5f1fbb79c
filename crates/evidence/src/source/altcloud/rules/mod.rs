//! What the workspace's evidence must show: its rules, their reasons and advice, and the judgements, one file each.
//!
//! Pure functions over what was read. What was not read neither passes nor fails.

pub(super) mod administrators;
pub(super) mod lifecycle;
pub(super) mod two_step;

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{Critical, High, Medium};
use evidence_bundle::text::Printable;

use crate::control::Control;
use crate::observation::Field;
use crate::report::format;
use crate::rule::{Advice, Reason, Rule};

/// How many people are named in what was found; the artifacts have all of them.
const NAMED: usize = 5;

/// No e-mail address is longer (RFC 5321, section 4.5.3.1).
const LONGEST_ADDRESS: usize = 320;

/// CC6.1: every active user must use a second step.
pub static TWO_STEP_VERIFICATION: Rule = Rule {
    code: "two-step-verification",
    control: Control::Cc6_1,
    expected: "two-step verification is enforced for every active user",
    permission: "Delegate the scope admin.directory.user.readonly to the service account's client id, and let \
                 admin_email have the privilege Admin API, Users: Read for the whole organization.",
    improvement: None,
};

/// CC6.6: who has left administers nothing, and few can do everything.
pub static ADMINISTRATORS: Rule = Rule {
    code: "administrators",
    control: Control::Cc6_6,
    expected: "no suspended or archived user has an administrator role, and there are 2 to 4 super administrators",
    permission: "Delegate the scopes admin.directory.rolemanagement.readonly and admin.directory.user.readonly to the \
                 service account's client id, and let admin_email be somebody who may read administrator roles and \
                 users.",
    improvement: None,
};

/// CC6.6: what happened to accounts is on record.
pub static USER_LIFECYCLE_LOG: Rule = Rule {
    code: "user-lifecycle-log",
    control: Control::Cc6_6,
    expected: "the log of accounts that were made, suspended, deleted or given a role can be read",
    permission: "Delegate the scope admin.reports.audit.readonly to the service account's client id, and let \
                 admin_email have the privilege Reports.",
    improvement: None,
};

/// Every rule, in the order of the controls.
pub static RULES: &[&Rule] = &[&TWO_STEP_VERIFICATION, &ADMINISTRATORS, &USER_LIFECYCLE_LOG];

/// Somebody may sign in with a password alone.
pub static TWO_STEP_NOT_ENFORCED: Reason = Reason {
    code: "two_step_not_enforced",
    advice: Some(Advice {
        severity: Critical,
        category: Misconfigured,
        title: "two-step verification is not enforced for every active user",
        remediation: "In the admin console, under Security, Authentication, 2-step verification, turn enforcement on \
                      for every organizational unit, and suspend accounts that nobody uses.",
    }),
};

/// The provider did not tell for everybody.
pub static TWO_STEP_NOT_VISIBLE: Reason = Reason {
    code: "two_step_not_visible",
    advice: Some(Advice {
        severity: High,
        category: Partial,
        title: "the state of two-step verification is not shown for every user",
        remediation: "Collect with an admin_email that may read all users, such as a super administrator.",
    }),
};

/// An account that may not sign in still has a role.
pub static INACTIVE_ADMINISTRATOR: Reason = Reason {
    code: "inactive_administrator",
    advice: Some(Advice {
        severity: High,
        category: Misconfigured,
        title: "a suspended or archived user has an administrator role",
        remediation: "In the admin console, under Account, Admin roles, take the role away from the user.",
    }),
};

/// One lost account locks everybody out.
pub static TOO_FEW_SUPER_ADMINISTRATORS: Reason = Reason {
    code: "too_few_super_administrators",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "there are fewer than 2 super administrators",
        remediation: "Make a second person super administrator, so that the loss of one account locks nobody out.",
    }),
};

/// More people can do everything than need to.
pub static TOO_MANY_SUPER_ADMINISTRATORS: Reason = Reason {
    code: "too_many_super_administrators",
    advice: Some(Advice {
        severity: High,
        category: Misconfigured,
        title: "there are more than 4 super administrators",
        remediation: "Give administrators the narrower role that their work needs, and keep 2 to 4 super \
                      administrators.",
    }),
};

/// A role is assigned to a group.
pub static GROUP_MEMBERS_NOT_READ: Reason = Reason {
    code: "group_members_not_read",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "an administrator role is assigned to a group",
        remediation: "This version does not read the members of groups: check by hand that none of them is suspended \
                      or archived, or assign the role to users.",
    }),
};

/// A role is assigned to somebody of whom nothing is known.
pub static ASSIGNEE_NOT_READ: Reason = Reason {
    code: "assignee_not_read",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "an administrator is not among the users that were read",
        remediation: "Leave `domains` empty, so that the users of the whole customer are read, or check by hand.",
    }),
};

/// Every reason of these rules that is not shared with other sources.
pub static REASONS: &[&Reason] = &[
    &TWO_STEP_NOT_ENFORCED,
    &TWO_STEP_NOT_VISIBLE,
    &INACTIVE_ADMINISTRATOR,
    &TOO_FEW_SUPER_ADMINISTRATORS,
    &TOO_MANY_SUPER_ADMINISTRATORS,
    &GROUP_MEMBERS_NOT_READ,
    &ASSIGNEE_NOT_READ,
];

/// The first few of `count` people, by their addresses, each on one bounded line.
fn named<'a>(count: usize, addresses: impl Iterator<Item = &'a Field<String>>) -> String {
    let names: Vec<String> = addresses.take(NAMED).map(address).collect();
    let more = count.saturating_sub(names.len());
    let names = names.join(", ");
    if more == 0 { names } else { format!("{names} and {more} more") }
}

/// An address as it is shown: whatever the provider sent, it is one line and not long.
fn address(address: &Field<String>) -> String {
    match address.value() {
        None => "(no address)".to_string(),
        Some(text) if text.len() > LONGEST_ADDRESS => format!("(an address of {} bytes)", text.len()),
        Some(text) => Printable(text).to_string(),
    }
}

/// `1 user`, `2,000 users`.
fn counted(number: usize, one: &str, many: &str) -> String {
    format::counted(u64::try_from(number).unwrap_or(u64::MAX), one, many)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_few_short_and_on_one_line() {
        let field = |text: &str| Field::Value(text.to_string());
        let people: Vec<Field<String>> = (0..9).map(|number| field(&format!("u{number}@a"))).collect();
        assert_eq!(named(2, people.iter().take(2)), "u0@a, u1@a");
        assert_eq!(named(9, people.iter()), "u0@a, u1@a, u2@a, u3@a, u4@a and 4 more");
        let (longest, longer) = ("x".repeat(LONGEST_ADDRESS), "x".repeat(LONGEST_ADDRESS + 1));
        assert_eq!(named(1, [field(&longest)].iter()), longest);
        assert!(named(1, [field(&longer)].iter()).starts_with("(an address of "));
        let hostile = [field("a\u{1b}[31m\nb@x"), field(&"x".repeat(100_000)), Field::Null];
        let shown = named(3, hostile.iter());
        assert!(!shown.chars().any(char::is_control), "{shown}");
        assert!(shown.len() < 200 && shown.contains("(an address of 100000 bytes), (no address)"), "{shown}");
    }
}
