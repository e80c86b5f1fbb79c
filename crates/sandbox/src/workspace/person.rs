//! The people of the directory.

use super::shape;

/// A person's account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Person {
    pub(crate) email: String,
    pub(super) given: String,
    pub(super) family: String,
    pub(super) enrolled: bool,
    pub(super) enforced: bool,
    pub(super) suspended: bool,
    pub(super) archived: bool,
    pub(super) super_admin: bool,
    pub(super) roles: Vec<String>,
    pub(super) unit: String,
    /// Days before the server's start; `None` for never.
    pub(super) last_login: Option<u32>,
    pub(super) created: u32,
    pub(super) deleted: Option<u32>,
    pub(super) guest: bool,
}

impl Person {
    /// A person who is enrolled in required two-step verification, signed in today, and has no administrator
    /// role.
    pub fn new(email: impl Into<String>, given: impl Into<String>, family: impl Into<String>) -> Self {
        Self {
            email: email.into(),
            given: given.into(),
            family: family.into(),
            enrolled: true,
            enforced: true,
            suspended: false,
            archived: false,
            super_admin: false,
            roles: Vec::new(),
            unit: "/".to_owned(),
            last_login: Some(0),
            created: 800,
            deleted: None,
            guest: false,
        }
    }

    /// Whether the person has set up a second step.
    pub fn enrolled(mut self, enrolled: bool) -> Self {
        self.enrolled = enrolled;
        self
    }

    /// Whether a second step is required.
    pub fn enforced(mut self, enforced: bool) -> Self {
        self.enforced = enforced;
        self
    }

    /// Whether the account is suspended.
    pub fn suspended(mut self, suspended: bool) -> Self {
        self.suspended = suspended;
        self
    }

    /// Whether the account is archived.
    pub fn archived(mut self, archived: bool) -> Self {
        self.archived = archived;
        self
    }

    /// Whether they are a super administrator: they have the customer's first role, and may do everything.
    pub fn super_admin(mut self, admin: bool) -> Self {
        self.super_admin = admin;
        self
    }

    /// Adds an administrator role by its name.
    pub fn admin_role(mut self, name: impl Into<String>) -> Self {
        self.roles.push(name.into());
        self
    }

    /// Removes all administrator roles.
    pub fn no_admin_roles(mut self) -> Self {
        self.roles.clear();
        self.super_admin = false;
        self
    }

    /// The organizational unit, such as `/Engineering`.
    pub fn unit(mut self, path: impl Into<String>) -> Self {
        self.unit = path.into();
        self
    }

    /// How many days before the server's start the person last signed in; `None` for never, which the answer writes as
    /// the beginning of 1970.
    pub fn last_login_days_ago(mut self, days: Option<u32>) -> Self {
        self.last_login = days;
        self
    }

    /// Whether they are a guest.
    pub fn guest(mut self, guest: bool) -> Self {
        self.guest = guest;
        self
    }

    /// How many days before the server's start the account was created.
    pub fn created_days_ago(mut self, days: u32) -> Self {
        self.created = days;
        self
    }

    /// Deletes the account this many days before the server's start: only `showDeleted` lists it.
    pub fn deleted_days_ago(mut self, days: u32) -> Self {
        self.deleted = Some(days);
        self
    }

    /// Twenty-one digits, derived from the address.
    pub fn id(&self) -> String {
        shape::number_of_21_digits(&self.email)
    }

    pub(super) fn domain(&self) -> &str {
        self.email.split('@').nth(1).unwrap_or_default()
    }
}
