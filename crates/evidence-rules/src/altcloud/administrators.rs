//! Inactive accounts have no administrator role, and there are few super administrators.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::words::{counted, named};
use crate::altcloud::record::{AdminRoles, Administrator, AssignmentRecord, Role};
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict, reason};

/// Inactive accounts have no administrator role, and there are few super administrators.
pub static ADMINISTRATORS: Rule = Rule {
    code: "administrators",
    title: "Administrators",
    version: 1,
    kind: "directory",
    expected: "no suspended or archived user has an administrator role, and there are 2 to 4 super administrators",
    reads: "the administrator roles, their assignments, and the users who have them",
    not_checked: "the privileges of other roles; conditions and expiry of assignments; separate accounts for administration; members of groups",
    permission: "Delegate the scopes admin.directory.rolemanagement.readonly and admin.directory.user.readonly to the \
                 service account's client id, and set admin_email to a user who can read administrator roles and \
                 users.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[
        &INACTIVE_ADMINISTRATOR,
        &TOO_FEW_SUPER_ADMINISTRATORS,
        &TOO_MANY_SUPER_ADMINISTRATORS,
        &GROUP_MEMBERS_NOT_READ,
        &ASSIGNEE_NOT_READ,
    ],
};

/// A suspended or archived account still has a role.
pub static INACTIVE_ADMINISTRATOR: Reason =
    Reason::new("inactive_administrator", "Inactive user has an administrator role").advice(
        High,
        Misconfigured,
        "In the admin console, under Account, Admin roles, remove the role from the user.",
    );

/// With so few super administrators, losing one account can lock out the customer.
pub static TOO_FEW_SUPER_ADMINISTRATORS: Reason =
    Reason::new("too_few_super_administrators", "Too few super administrators").advice(
        Medium,
        Misconfigured,
        "Make a second person a super administrator, so that losing one account does not lock the \
                      organization out.",
    );

/// There are more super administrators than necessary.
pub static TOO_MANY_SUPER_ADMINISTRATORS: Reason =
    Reason::new("too_many_super_administrators", "Too many super administrators").advice(
        High,
        Misconfigured,
        "Give administrators narrower roles that fit their work, and keep 2 to 4 super administrators.",
    );

/// A role is assigned to a group.
pub static GROUP_MEMBERS_NOT_READ: Reason =
    Reason::new("group_members_not_read", "Administrator role assigned to a group").advice(
        Medium,
        Partial,
        "This version does not read the members of groups: check by hand that no member is suspended \
                      or archived, or assign the role to users.",
    );

/// The assignee of a role is unknown.
pub static ASSIGNEE_NOT_READ: Reason =
    Reason::new("assignee_not_read", "Administrator outside the users read").advice(
        Medium,
        Partial,
        "Leave `domains` empty, so that the users of the whole customer are read, or check by hand.",
    );

/// With fewer super administrators, losing one account can lock out the customer.
const FEWEST: usize = 2;
/// More super administrators than this are unnecessary.
const MOST: usize = 4;

/// The contents of a record, grouped by person.
#[derive(Default)]
pub(super) struct Holders<'a> {
    /// Everyone with a role, by id, with the data of `users.list` if available.
    pub(super) all: BTreeMap<&'a str, Option<&'a Administrator>>,
    /// Those who cannot sign in.
    inactive: BTreeMap<&'a str, &'a Administrator>,
    /// Those with the super administrator role.
    pub(super) supers: BTreeSet<&'a str>,
    /// The groups with a role.
    groups: BTreeSet<&'a str>,
    /// The groups that may have the super administrator role.
    pub(super) super_groups: BTreeSet<&'a str>,
    /// Users with a role but no reported id. Some may already be in `all`, so they are not counted.
    unnumbered: Vec<&'a Administrator>,
    /// Whether a user has a role that may or may not be the super administrator's, or has no id and may be a super
    /// administrator.
    pub(super) untold: bool,
}

/// The judgement.
pub static JUDGE: Judge<AdminRoles> = Judge { rule: &ADMINISTRATORS, judge: |record, _| judge(record) };

/// Passes if everything was read, no user with a role is suspended or archived, and there are 2 to 4 super
/// administrators. `None` if a part was not read and nothing fails for certain: the missing part has its own
/// observation.
pub fn judge(record: &AdminRoles) -> Option<Verdict> {
    let holders = Holders::of(record);
    let assigned = record.roles_read.is_complete() && record.role_assignments_read.is_complete();
    let users = record.user_listings.iter().all(|listing| listing.read.is_complete());
    let actual = holders.words();
    if let Some(verdict) = holders.failure(assigned, &actual) {
        return Some(verdict);
    }
    if !assigned || !users {
        return None;
    }
    let whole_customer = record.user_listings.iter().any(|listing| listing.customer.is_some());
    Some(holders.unknown(whole_customer, &actual).unwrap_or_else(|| Verdict::pass(actual)))
}

impl<'a> Holders<'a> {
    pub(super) fn of(record: &'a AdminRoles) -> Holders<'a> {
        let supers = super_roles(&record.roles);
        let mut holders = Holders::default();
        for AssignmentRecord { assignment, assignee_from_users_list: user } in &record.role_assignments {
            let is_super =
                assignment.role_id.value().and_then(|id| supers.get(id.as_str()).copied().flatten());
            let Some(holder) = number(&assignment.assigned_to) else {
                holders.untold = true;
                continue;
            };
            // An id of a known user is a user, whatever the type says.
            let kind = assignment.assignee_type.value().map_or("", String::as_str);
            if user.is_none() && kind.eq_ignore_ascii_case("group") {
                holders.groups.insert(holder);
                if is_super != Some(false) {
                    holders.super_groups.insert(holder);
                }
                continue;
            }
            holders.know(holder, user.as_ref());
            match is_super {
                Some(true) => {
                    holders.supers.insert(holder);
                }
                Some(false) => {}
                None => holders.untold = true,
            }
        }
        for user in &record.administrators_from_users_list {
            let Some(id) = number(&user.id) else {
                // An address is not a second key: the user may already be counted by id.
                holders.untold |= user.is_admin.value() != Some(&false);
                holders.unnumbered.push(user);
                continue;
            };
            holders.know(id, Some(user));
            if user.is_admin.value() == Some(&true) {
                holders.supers.insert(id);
            }
        }
        holders
    }

    fn know(&mut self, holder: &'a str, user: Option<&'a Administrator>) {
        let known = self.all.entry(holder).or_default();
        *known = known.or(user);
        if let Some(user) = user.filter(|user| user.is_inactive()) {
            self.inactive.insert(holder, user);
        }
    }

    /// Certain failures, whatever was not read. `assigned`: all roles and assignments were read.
    fn failure(&self, assigned: bool, actual: &str) -> Option<Verdict> {
        let mut inactive: Vec<_> = self.inactive.values().map(|user| &user.primary_email).collect();
        for user in self.unnumbered.iter().filter(|user| user.is_inactive()) {
            if !inactive.contains(&&user.primary_email) {
                inactive.push(&user.primary_email);
            }
        }
        if !inactive.is_empty() {
            let (count, who) = (inactive.len(), named(inactive.len(), inactive.iter().copied()));
            let text = format!("{count} suspended or archived: {who}; {actual}");
            return Some(Verdict::fail(&INACTIVE_ADMINISTRATOR, text));
        }
        let supers = self.supers.len();
        if supers > MOST {
            return Some(Verdict::fail(&TOO_MANY_SUPER_ADMINISTRATORS, actual));
        }
        // Every workspace has a super administrator: zero means that they were not shown.
        let exact = assigned && !self.untold && self.super_groups.is_empty();
        (exact && (1..FEWEST).contains(&supers)).then(|| Verdict::fail(&TOO_FEW_SUPER_ADMINISTRATORS, actual))
    }

    /// Why the check cannot pass although everything was read. `whole_customer`: the users of all domains were read.
    fn unknown(&self, whole_customer: bool, actual: &str) -> Option<Verdict> {
        let strangers = self.all.values().filter(|user| user.is_none()).count();
        let mut known = self.all.values().flatten().chain(&self.unnumbered);
        let untold_state = known.any(|user| !user.is_active() && !user.is_inactive());
        let known_supers =
            self.supers.iter().filter(|id| self.all.get(*id).is_some_and(Option::is_some)).count();
        let reason =
            if self.untold || untold_state || (self.supers.is_empty() && self.super_groups.is_empty()) {
                &reason::NO_EVIDENCE
            } else if strangers > 0
                && (!whole_customer || (known_supers < FEWEST && self.super_groups.is_empty()))
            {
                // An account outside the customer is neither one of its suspended users nor a second administrator.
                &ASSIGNEE_NOT_READ
            } else if !self.groups.is_empty() {
                &GROUP_MEMBERS_NOT_READ
            } else {
                return None;
            };
        Some(Verdict::unknown(reason, actual))
    }

    fn words(&self) -> String {
        let who = |id: &&str| match self.all.get(id) {
            Some(Some(user)) => user.primary_email.clone(),
            _ => Field::Value(format!("id {id}")),
        };
        let supers: Vec<Field<String>> = self.supers.iter().map(who).collect();
        let mut text = counted(supers.len(), "super administrator", "super administrators");
        if !supers.is_empty() {
            text.push_str(&format!(" ({})", named(supers.len(), supers.iter())));
        }
        text.push_str(&format!(", {} in all", counted(self.all.len(), "administrator", "administrators")));
        if !self.groups.is_empty() {
            text.push_str(&format!("; {} with a role", counted(self.groups.len(), "group", "groups")));
        }
        let strangers = self.all.values().filter(|user| user.is_none()).count();
        if strangers > 0 {
            text.push_str(&format!("; {strangers} missing from the list of users"));
        }
        if !self.unnumbered.is_empty() {
            let unnumbered = counted(self.unnumbered.len(), "administrator", "administrators");
            text.push_str(&format!("; {unnumbered} without an id, not counted"));
        }
        text
    }
}

/// The id, if it is reported.
fn number(field: &Field<String>) -> Option<&str> {
    field.value().map(String::as_str).filter(|number| !number.is_empty())
}

/// Whether each role is the super administrator's; `None` if not reported.
///
/// The provider omits the field if it is false. An absent field is therefore meaningful only if another role has it:
/// every customer has the super administrator role, so a list without it does not report the field.
fn super_roles(roles: &[Role]) -> HashMap<&str, Option<bool>> {
    let shown = roles.iter().any(|role| role.is_super_admin_role.value() == Some(&true));
    let is_super = |role: &Role| match role.is_super_admin_role {
        Field::Value(is_super) => Some(is_super),
        Field::Absent => shown.then_some(false),
        Field::Null => None,
    };
    roles.iter().filter_map(|role| Some((role.role_id.value()?.as_str(), is_super(role)))).collect()
}

#[cfg(test)]
mod tests;
