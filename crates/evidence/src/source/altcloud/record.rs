//! The artifacts: exactly the fields that the checks and an access review need, under the provider's own names.
//!
//! There is no room here for names, addresses, phones, recovery data or passwords, so they have nowhere to land. What
//! this tool adds to the provider's words (which parts were read, what is known of an assignee) has fields of its own.

use std::hash::{Hash, Hasher};
use std::mem;

use serde::{Deserialize, Serialize};

use crate::observation::Field;

/// So that what is listed twice is found in one look.
impl<T: Hash> Hash for Field<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        mem::discriminant(self).hash(state);
        self.value().hash(state);
    }
}

/// How much of a listing was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Extent {
    /// Every page.
    Complete,
    /// Some pages: what is missing is unknown.
    Partial,
    /// None.
    NotRead,
}

impl Extent {
    /// Whether nothing is missing.
    pub(super) fn is_complete(self) -> bool {
        self == Extent::Complete
    }
}

/// A listing of users: of the whole customer, or of one domain.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct UserListing {
    /// The customer that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) customer: Option<String>,
    /// The domain that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) domain: Option<String>,
    /// How much of it was read.
    pub(super) read: Extent,
    /// Users on the pages that were read.
    pub(super) users: u64,
}

/// A user, as `users.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct User {
    /// Its number.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) id: Field<String>,
    /// Its address.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) primary_email: Field<String>,
    /// Whether it may not sign in for now.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) suspended: Field<bool>,
    /// Whether it may not sign in for good.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) archived: Field<bool>,
    /// Whether it has a second step.
    #[serde(default, rename = "isEnrolledIn2Sv", skip_serializing_if = "Field::is_absent")]
    pub(super) is_enrolled_in_2sv: Field<bool>,
    /// Whether it must have a second step.
    #[serde(default, rename = "isEnforcedIn2Sv", skip_serializing_if = "Field::is_absent")]
    pub(super) is_enforced_in_2sv: Field<bool>,
    /// Whether it is a super administrator.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) is_admin: Field<bool>,
    /// Whether it has another administrator role.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) is_delegated_admin: Field<bool>,
    /// When it last signed in.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) last_login_time: Field<String>,
    /// When it was made.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) creation_time: Field<String>,
}

impl User {
    /// It cannot sign in: certain from one of the two alone.
    pub(super) fn is_inactive(&self) -> bool {
        is_inactive(&self.suspended, &self.archived)
    }

    /// It can sign in: certain only if both are reported.
    pub(super) fn is_active(&self) -> bool {
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
#[derive(Debug, Serialize)]
pub(super) struct TwoStepVerification {
    /// What was listed.
    pub(super) listings: Vec<UserListing>,
    /// Every user on them, once.
    pub(super) users: Vec<User>,
}

/// A role, as `roles.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Role {
    /// Its number.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) role_id: Field<String>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) role_name: Field<String>,
    /// Whether it may do everything.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) is_super_admin_role: Field<bool>,
    /// Whether the provider made it.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) is_system_role: Field<bool>,
}

/// Who has a role, as `roleAssignments.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Assignment {
    /// Its number.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) role_assignment_id: Field<String>,
    /// The role.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) role_id: Field<String>,
    /// The user, group or service account, by number.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) assigned_to: Field<String>,
    /// `user` or `group`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) assignee_type: Field<String>,
    /// For everything, or for an organizational unit.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) scope_type: Field<String>,
    /// The organizational unit.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) org_unit_id: Field<String>,
}

/// An assignment, and what `users.list` returns for the assignee.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AssignmentRecord {
    /// The provider's words.
    #[serde(flatten)]
    pub(super) assignment: Assignment,
    /// The user with the number `assignedTo`; absent if there is none among those that were read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) assignee_from_users_list: Option<Administrator>,
}

/// What is said of an administrator, from `users.list`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Administrator {
    /// Its number.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub(super) id: Field<String>,
    /// Its address.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub(super) primary_email: Field<String>,
    /// Whether it may not sign in for now.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub(super) suspended: Field<bool>,
    /// Whether it may not sign in for good.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub(super) archived: Field<bool>,
    /// Whether it is a super administrator.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub(super) is_admin: Field<bool>,
    /// Whether it has another administrator role.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub(super) is_delegated_admin: Field<bool>,
}

impl Administrator {
    /// What is kept of `user`.
    pub(super) fn of(user: &User) -> Administrator {
        Administrator {
            id: user.id.clone(),
            primary_email: user.primary_email.clone(),
            suspended: user.suspended.clone(),
            archived: user.archived.clone(),
            is_admin: user.is_admin.clone(),
            is_delegated_admin: user.is_delegated_admin.clone(),
        }
    }

    /// It cannot sign in.
    pub(super) fn is_inactive(&self) -> bool {
        is_inactive(&self.suspended, &self.archived)
    }

    /// It can sign in.
    pub(super) fn is_active(&self) -> bool {
        is_active(&self.suspended, &self.archived)
    }
}

/// `admin_roles.json`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AdminRoles {
    /// How much of `roles.list` was read.
    pub(super) roles_read: Extent,
    /// How much of `roleAssignments.list` was read.
    pub(super) role_assignments_read: Extent,
    /// What was asked of `users.list`, and how much of it was read.
    pub(super) user_listings: Vec<UserListing>,
    /// The roles.
    pub(super) roles: Vec<Role>,
    /// Who has them.
    pub(super) role_assignments: Vec<AssignmentRecord>,
    /// Users of whom `users.list` says `isAdmin` or `isDelegatedAdmin`.
    pub(super) administrators_from_users_list: Vec<Administrator>,
}

/// `user_lifecycle.json`
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct UserLifecycle {
    /// From when on was asked.
    pub(super) start_time: String,
    /// Until when was asked.
    pub(super) end_time: String,
    /// What was asked for.
    pub(super) event_names: Vec<EventListing>,
    /// What there was.
    pub(super) events: Vec<AdminEvent>,
}

/// A listing of the events of one name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct EventListing {
    /// The event's name.
    pub(super) name: &'static str,
    /// How much of it was read.
    pub(super) read: Extent,
    /// Events on the pages that were read.
    pub(super) events: u64,
}

/// Something that an administrator did with an account, as `activities.list` returns it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AdminEvent {
    /// When.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub(super) time: Field<String>,
    /// Tells events of the same time apart.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub(super) unique_qualifier: Field<String>,
    /// What.
    pub(super) name: &'static str,
    /// Who did it.
    pub(super) actor: Actor,
    /// To whom.
    pub(super) parameters: Parameters,
}

/// Who did something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Actor {
    /// The address.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) email: Field<String>,
    /// A user, or something that acts for one.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub(super) caller_type: Field<String>,
}

/// The parameters of an event that are kept: no others are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub(super) struct Parameters {
    /// Whose account.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) user_email: Option<String>,
    /// Which role.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) role_name: Option<String>,
}
