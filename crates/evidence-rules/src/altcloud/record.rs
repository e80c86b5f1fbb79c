//! The artifacts: exactly the fields that the checks and an access review need, under the provider's names.
//!
//! No struct has a field for names, addresses, phone numbers, recovery data or passwords, so none can be stored. Data
//! that this tool adds (which parts were read, what is known of an assignee) has separate fields.

use std::borrow::Cow;
use std::hash::{Hash, Hasher};
use std::mem;

use serde::{Deserialize, Serialize};

use crate::field::Field;

/// Duplicates are found by hash, so that each item takes one lookup.
impl<T: Hash> Hash for Field<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        mem::discriminant(self).hash(state);
        self.value().hash(state);
    }
}

/// How much of a listing was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Extent {
    /// Every page.
    Complete,
    /// Some pages; the rest is unknown.
    Partial,
    /// No page.
    NotRead,
}

impl Extent {
    /// Whether every page was read.
    pub fn is_complete(self) -> bool {
        self == Extent::Complete
    }
}

/// A listing of users: of the whole customer, or of one domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserListing {
    /// The requested customer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub customer: Option<String>,
    /// The requested domain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// How much of it was read.
    pub read: Extent,
    /// The number of users on the pages that were read.
    pub users: u64,
}

/// A user, as `users.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct User {
    /// The user's id.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub id: Field<String>,
    /// The customer. Not a field of the artifact.
    #[serde(default, skip_serializing)]
    pub customer_id: Field<String>,
    /// The primary address.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub primary_email: Field<String>,
    /// Whether the account is suspended.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub suspended: Field<bool>,
    /// Whether the account is archived.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub archived: Field<bool>,
    /// Whether the user is enrolled in two-step verification.
    #[serde(default, rename = "isEnrolledIn2Sv", skip_serializing_if = "Field::is_absent")]
    pub is_enrolled_in_2sv: Field<bool>,
    /// Whether two-step verification is enforced for the user.
    #[serde(default, rename = "isEnforcedIn2Sv", skip_serializing_if = "Field::is_absent")]
    pub is_enforced_in_2sv: Field<bool>,
    /// Whether the user is a super administrator.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub is_admin: Field<bool>,
    /// Whether the user has another administrator role.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub is_delegated_admin: Field<bool>,
    /// The last sign-in.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub last_login_time: Field<String>,
    /// When the account was created.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub creation_time: Field<String>,
    /// The path of the organizational unit. Not a field of the artifact.
    #[serde(default, skip_serializing)]
    pub org_unit_path: Field<String>,
    /// Whether the user is a guest. Not a field of the artifact.
    #[serde(default, skip_serializing)]
    pub is_guest_user: Field<bool>,
}

impl User {
    /// The user cannot sign in. Either field alone is enough.
    pub fn is_inactive(&self) -> bool {
        is_inactive(&self.suspended, &self.archived)
    }

    /// The user can sign in. Certain only if both fields are reported.
    pub fn is_active(&self) -> bool {
        is_active(&self.suspended, &self.archived)
    }
}

fn is_inactive(suspended: &Field<bool>, archived: &Field<bool>) -> bool {
    suspended.value() == Some(&true) || archived.value() == Some(&true)
}

fn is_active(suspended: &Field<bool>, archived: &Field<bool>) -> bool {
    suspended.value() == Some(&false) && archived.value() == Some(&false)
}

/// `two_step_verification.json`
#[derive(Debug, Serialize, Deserialize)]
pub struct TwoStepVerification {
    /// The listings that were read.
    pub listings: Vec<UserListing>,
    /// Every user of the listings, without duplicates.
    pub users: Vec<User>,
}

impl TwoStepVerification {
    /// The users of one of the listings. With several, a user belongs to the domain of its address; a user without an
    /// address of any of the domains belongs to each that was read.
    pub fn users_of<'a>(&'a self, listing: &'a UserListing) -> impl Iterator<Item = &'a User> {
        let domains: Vec<&str> =
            self.listings.iter().filter_map(|listing| listing.domain.as_deref()).collect();
        self.users.iter().filter(move |user| {
            let address = user.primary_email.value().and_then(|address| address.rsplit_once('@'));
            let is_of = |domain: &str| address.is_some_and(|(_, own)| own.eq_ignore_ascii_case(domain));
            self.listings.len() < 2
                || listing.domain.as_deref().is_some_and(is_of)
                || (listing.read != Extent::NotRead && !domains.iter().any(|domain| is_of(domain)))
        })
    }
}

/// A role, as `roles.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Role {
    /// The role's id.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub role_id: Field<String>,
    /// The role's name.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub role_name: Field<String>,
    /// Whether this is the super administrator role.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub is_super_admin_role: Field<bool>,
    /// Whether the provider defines the role.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub is_system_role: Field<bool>,
}

/// A role assignment, as `roleAssignments.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Assignment {
    /// The assignment's id.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub role_assignment_id: Field<String>,
    /// The role.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub role_id: Field<String>,
    /// The id of the user, group or service account.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub assigned_to: Field<String>,
    /// `user` or `group`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub assignee_type: Field<String>,
    /// The scope: everything, or an organizational unit.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub scope_type: Field<String>,
    /// The organizational unit.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub org_unit_id: Field<String>,
}

/// An assignment, with the data of `users.list` about the assignee.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AssignmentRecord {
    /// The provider's fields.
    #[serde(flatten)]
    pub assignment: Assignment,
    /// The user with the id `assignedTo`; absent if no such user was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub assignee_from_users_list: Option<Administrator>,
}

/// The data of `users.list` about an administrator.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Administrator {
    /// The user's id.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub id: Field<String>,
    /// The primary address.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub primary_email: Field<String>,
    /// Whether the account is suspended.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub suspended: Field<bool>,
    /// Whether the account is archived.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub archived: Field<bool>,
    /// Whether the user is a super administrator.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub is_admin: Field<bool>,
    /// Whether the user has another administrator role.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub is_delegated_admin: Field<bool>,
}

impl Administrator {
    /// The stored fields of `user`.
    pub fn of(user: &User) -> Administrator {
        Administrator {
            id: user.id.clone(),
            primary_email: user.primary_email.clone(),
            suspended: user.suspended.clone(),
            archived: user.archived.clone(),
            is_admin: user.is_admin.clone(),
            is_delegated_admin: user.is_delegated_admin.clone(),
        }
    }

    /// The user cannot sign in.
    pub fn is_inactive(&self) -> bool {
        is_inactive(&self.suspended, &self.archived)
    }

    /// The user can sign in.
    pub fn is_active(&self) -> bool {
        is_active(&self.suspended, &self.archived)
    }
}

/// `admin_roles.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdminRoles {
    /// How much of `roles.list` was read.
    pub roles_read: Extent,
    /// How much of `roleAssignments.list` was read.
    pub role_assignments_read: Extent,
    /// The `users.list` listings, and how much of each was read.
    pub user_listings: Vec<UserListing>,
    /// The roles.
    pub roles: Vec<Role>,
    /// The role assignments.
    pub role_assignments: Vec<AssignmentRecord>,
    /// Users with `isAdmin` or `isDelegatedAdmin` in `users.list`.
    pub administrators_from_users_list: Vec<Administrator>,
}

/// `user_lifecycle.json`
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UserLifecycle {
    /// The start of the requested period.
    pub start_time: String,
    /// The end of the requested period.
    pub end_time: String,
    /// The requested events.
    pub event_names: Vec<EventListing>,
    /// The events that were read.
    pub events: Vec<AdminEvent>,
}

/// A listing of the events of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EventListing {
    /// The event's name.
    pub name: Cow<'static, str>,
    /// How much of it was read.
    pub read: Extent,
    /// The number of events on the pages that were read.
    pub events: u64,
}

/// An administrator's action on an account, as `activities.list` returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AdminEvent {
    /// The time.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub time: Field<String>,
    /// Distinguishes events of the same time.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub unique_qualifier: Field<String>,
    /// The event's name.
    pub name: Cow<'static, str>,
    /// The actor.
    pub actor: Actor,
    /// The affected account and role.
    pub parameters: Parameters,
}

/// The actor of an event.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Actor {
    /// The address.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub email: Field<String>,
    /// A user, or something acting on behalf of one.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub caller_type: Field<String>,
}

/// The stored parameters of an event; all others are dropped.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub struct Parameters {
    /// The affected account.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_email: Option<String>,
    /// The affected role.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role_name: Option<String>,
}
