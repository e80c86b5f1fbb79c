//! Super administrators, whether they have the role themselves or through a group.

use std::collections::{BTreeMap, BTreeSet};

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};
use serde::{Deserialize, Serialize};

use super::administrators::Holders;
use super::record::{AdminRoles, Administrator, Extent};
use super::words::{counted, named};
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict, reason};

/// Nobody becomes a super administrator unseen, through a group.
pub static ADMINISTRATORS_BY_GROUP: Rule = Rule {
    code: "administrators-by-group",
    title: "Super administrators with those of groups",
    version: 1,
    kind: "directory",
    expected: "2 to 4 active users are super administrators, directly or through a group",
    reads: "the administrator roles, their assignments, the members of every group with the super administrator role, also of \
            groups inside it, and the users",
    not_checked: "other roles; conditions and expiry of assignments; who can change the members of a group",
    permission: "Delegate the scopes admin.directory.rolemanagement.readonly, admin.directory.user.readonly and \
                 admin.directory.group.member.readonly to the service account's client id, and set admin_email to a user who can \
                 read administrator roles, users and groups.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[
        &SUPER_ADMINISTRATORS_TOO_FEW,
        &SUPER_ADMINISTRATORS_TOO_MANY,
        &GROUP_NOT_EXPANDED,
        &SUPER_ADMINISTRATOR_NOT_READ,
    ],
};

/// Losing one account can lock out the customer.
pub static SUPER_ADMINISTRATORS_TOO_FEW: Reason =
    Reason::new("super_administrators_too_few", "Fewer than two active super administrators").advice(
        Medium,
        Misconfigured,
        "Make a second active person a super administrator, so that losing one account does not lock the organization out.",
    );

/// More people than needed can change everything.
pub static SUPER_ADMINISTRATORS_TOO_MANY: Reason =
    Reason::new("super_administrators_too_many", "More than four super administrators, with those of groups").advice(
        High,
        Misconfigured,
        "Remove members from the groups with the super administrator role, or take the role from the group, and give people \
         narrower roles that fit their work.",
    );

/// The members of a group are not known.
pub static GROUP_NOT_EXPANDED: Reason =
    Reason::new("group_not_expanded", "Members of a group of super administrators not read").advice(
        Medium,
        Partial,
        "Delegate the scope admin.directory.group.member.readonly and let the administrator read groups, or check the members of \
         the groups that this result names by hand.",
    );

/// Whether a super administrator is active is not known.
pub static SUPER_ADMINISTRATOR_NOT_READ: Reason =
    Reason::new("super_administrator_not_read", "State of a super administrator not reported").advice(
        Medium,
        Partial,
        "Leave `domains` empty, so that the users of the whole customer are read, or check by hand who these super administrators \
         are.",
    );

/// With fewer, losing one account can lock out the customer.
const FEWEST: usize = 2;
/// More are unnecessary.
const MOST: usize = 4;

/// `administrators_effective.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct EffectiveAdministrators {
    /// What `admin_roles.json` has.
    #[serde(flatten)]
    pub direct: AdminRoles,
    /// The groups that may have the super administrator role, and the groups inside them.
    pub groups: Vec<GroupRecord>,
}

/// What is known of the administrators.
#[derive(Debug, Clone)]
pub struct EffectiveFacts {
    /// The record, if anything was read.
    pub record: Option<EffectiveAdministrators>,
    /// Why a part of the listings was not read, if one was not.
    pub gap: Option<(&'static Reason, String)>,
}

/// A group.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GroupRecord {
    /// Its id.
    pub group_id: String,
    /// How much of its members was read.
    pub members_read: Extent,
    /// Its members.
    pub members: Vec<MemberRecord>,
}

/// A member of a group, as `members.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Member {
    /// The id of the user or group.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub id: Field<String>,
    /// `USER`, `GROUP`, `CUSTOMER` or `EXTERNAL`.
    #[serde(default, rename = "type", skip_serializing_if = "Field::is_absent")]
    pub kind: Field<String>,
    /// `ACTIVE`, or another state of the account.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub status: Field<String>,
}

/// A member, with the data of `users.list` about it.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemberRecord {
    /// The provider's fields.
    #[serde(flatten)]
    pub member: Member,
    /// The user with this id; absent if no such user was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member_from_users_list: Option<Administrator>,
}

impl Member {
    /// Whether it is a group in the group.
    pub fn is_group(&self) -> bool {
        self.kind.value().is_some_and(|kind| kind.eq_ignore_ascii_case("group"))
    }

    /// Whether it is a user.
    pub fn is_user(&self) -> bool {
        self.kind.value().is_some_and(|kind| kind.eq_ignore_ascii_case("user"))
    }
}

/// The ids of the groups that may have the super administrator role.
pub fn groups_to_expand(record: &AdminRoles) -> Vec<String> {
    Holders::of(record).super_groups.into_iter().map(str::to_string).collect()
}

/// The judgement.
pub static JUDGE: Judge<EffectiveFacts> =
    Judge { rule: &ADMINISTRATORS_BY_GROUP, judge: |facts, _| Some(judge(facts)) };

/// What is known of a super administrator: whether the account is active, and its address.
type Known<'a> = (Option<bool>, Option<&'a Field<String>>);

/// Everyone who is found, and what is not known.
#[derive(Default)]
struct Found<'a> {
    people: BTreeMap<&'a str, Known<'a>>,
    /// Members that cannot be counted, such as everyone of the customer, and groups that were not read.
    unread: BTreeSet<&'a str>,
    groups: BTreeSet<&'a str>,
}

impl<'a> Found<'a> {
    fn add(&mut self, id: &'a str, user: Option<&'a Administrator>, status: Option<&str>) {
        let active = match user {
            Some(user) if user.is_inactive() => Some(false),
            Some(user) if user.is_active() => Some(true),
            Some(_) => None,
            // An account outside the users that were read: the group says whether it is active.
            None => status.map(|status| status.eq_ignore_ascii_case("active")),
        };
        let known = self.people.entry(id).or_insert((active, None));
        known.0 = known.0.or(active);
        known.1 = known.1.or(user.map(|user| &user.primary_email));
    }

    /// Adds the members of a group, and of the groups inside it.
    fn expand(&mut self, id: &'a str, groups: &'a [GroupRecord]) {
        let mut left = vec![id];
        while let Some(id) = left.pop() {
            if !self.groups.insert(id) {
                continue;
            }
            let Some(group) = groups.iter().find(|group| group.group_id == id) else {
                self.unread.insert(id);
                continue;
            };
            if !group.members_read.is_complete() {
                self.unread.insert(id);
            }
            for MemberRecord { member, member_from_users_list: user } in &group.members {
                match member.id.value().map(String::as_str) {
                    Some(inner) if member.is_group() && user.is_none() => left.push(inner),
                    Some(person) if member.is_user() || user.is_some() => {
                        self.add(person, user.as_ref(), member.status.value().map(String::as_str));
                    }
                    _ => {
                        self.unread.insert(id);
                    }
                }
            }
        }
    }
}

/// Passes if 2 to 4 active users have the role.
pub fn judge(EffectiveFacts { record, gap }: &EffectiveFacts) -> Verdict {
    let open = |actual: &str| {
        let (reason, words) =
            gap.as_ref().map_or((&reason::NO_EVIDENCE, ""), |(reason, words)| (*reason, words));
        let parts: Vec<&str> = [actual, words].into_iter().filter(|part| !part.is_empty()).collect();
        Verdict::unknown(reason, parts.join("; "))
    };
    match record {
        Some(record) => of_record(record).unwrap_or_else(|actual| open(&actual)),
        None => open(""),
    }
}

/// The verdict, or what is known if a listing was not read and nothing fails for certain.
fn of_record(record: &EffectiveAdministrators) -> Result<Verdict, String> {
    let holders = Holders::of(&record.direct);
    let mut found = Found::default();
    for id in &holders.supers {
        found.add(id, holders.all.get(id).copied().flatten(), None);
    }
    for group in &holders.super_groups {
        found.expand(group, &record.groups);
    }
    let is = |state: Option<bool>| found.people.values().filter(move |(active, _)| *active == state);
    let (active, unknown) = (is(Some(true)).count(), is(None).count());
    let none = Field::Absent;
    let names = is(Some(true)).map(|(_, address)| address.unwrap_or(&none));
    let mut actual = counted(active, "active super administrator", "active super administrators");
    if active > 0 {
        actual.push_str(&format!(" ({})", named(active, names)));
    }
    let inactive = is(Some(false)).count();
    if inactive > 0 {
        actual.push_str(&format!("; {inactive} suspended or archived"));
    }
    if !found.groups.is_empty() {
        actual.push_str(&format!("; {}", counted(found.groups.len(), "group", "groups")));
    }
    if active > MOST {
        return Ok(Verdict::fail(&SUPER_ADMINISTRATORS_TOO_MANY, actual));
    }
    let direct = &record.direct;
    let assigned = direct.roles_read.is_complete() && direct.role_assignments_read.is_complete();
    let is_exact = assigned && !holders.untold && found.unread.is_empty();
    // Every workspace has a super administrator: none at all means that they were not shown.
    if is_exact && !found.people.is_empty() && active.saturating_add(unknown) < FEWEST {
        return Ok(Verdict::fail(&SUPER_ADMINISTRATORS_TOO_FEW, actual));
    }
    if !found.unread.is_empty() {
        let groups: Vec<&str> = found.unread.iter().take(super::words::NAMED).copied().collect();
        let groups = evidence_text::single_line(&groups.join(", "));
        return Ok(Verdict::unknown(&GROUP_NOT_EXPANDED, format!("{actual}; not expanded: {groups}")));
    }
    if !assigned || !direct.user_listings.iter().all(|listing| listing.read.is_complete()) {
        return Err(actual);
    }
    if holders.untold || found.people.is_empty() {
        return Ok(Verdict::unknown(&reason::NO_EVIDENCE, actual));
    }
    if active < FEWEST || active.saturating_add(unknown) > MOST {
        return Ok(Verdict::unknown(&SUPER_ADMINISTRATOR_NOT_READ, format!("{actual}; {unknown} not known")));
    }
    Ok(Verdict::pass(actual))
}

#[cfg(test)]
mod tests;
