//! Administrator roles and their assignments.

use super::person::Person;
use super::shape::{etag, number_of_17_digits, number_of_21_digits};
use serde_json::{Value, json};

/// The provider's name of the super administrators' role.
pub(super) const SUPER: &str = "_SEED_ADMIN_ROLE";

/// An administrator role.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AdminRole {
    pub(crate) name: String,
    description: String,
    system: bool,
    /// Service and privilege.
    privileges: Vec<(String, String)>,
}

impl AdminRole {
    /// A custom role without privileges.
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> Self {
        Self { name: name.into(), description: description.into(), system: false, privileges: Vec::new() }
    }

    /// Adds a privilege, such as `USERS_RETRIEVE`.
    pub fn privilege(mut self, name: impl Into<String>) -> Self {
        self.privileges.push(("00haapch16h1ysv".to_owned(), name.into()));
        self
    }

    /// The default roles of every customer.
    pub(super) fn system() -> Vec<Self> {
        let role = |name: &str, description: &str, privileges: &[&str]| {
            let role = Self { system: true, ..Self::new(name, description) };
            privileges.iter().fold(role, |role, privilege| role.privilege(*privilege))
        };
        vec![
            role(
                SUPER,
                "Google Workspace Administrator Seed Role",
                &["SUPER_ADMIN", "ROOT_APP_ADMIN", "ADMIN_APIS_ALL", "USERS_ALL", "REPORTS_ACCESS"],
            ),
            role("_GROUPS_ADMIN_ROLE", "Groups Administrator", &["GROUPS_ALL"]),
            role(
                "_USER_MANAGEMENT_ADMIN_ROLE",
                "User Management Administrator",
                &["USERS_ALL", "USERS_RETRIEVE", "ORGANIZATION_UNITS_RETRIEVE"],
            ),
            role(
                "_HELP_DESK_ADMIN_ROLE",
                "Help Desk Administrator",
                &["USERS_RETRIEVE", "USERS_RESET_PASSWORD", "ORGANIZATION_UNITS_RETRIEVE"],
            ),
            role("_SERVICE_ADMIN_ROLE", "Services Administrator", &["SERVICES_ALL"]),
        ]
    }

    pub(super) fn id(&self) -> String {
        number_of_17_digits(&self.name)
    }

    pub(super) fn has(&self, privilege: &str) -> bool {
        self.privileges.iter().any(|(_, name)| name == privilege)
    }

    pub(super) fn body(&self) -> Value {
        let privileges = self.privileges.iter();
        let mut body = json!({
            "kind": "admin#directory#role",
            "etag": etag(&self.name),
            "roleId": self.id(),
            "roleName": self.name,
            "roleDescription": self.description,
            "rolePrivileges": privileges
                .map(|(service, name)| json!({ "privilegeName": name, "serviceId": service }))
                .collect::<Vec<_>>(),
        });
        // False members are absent.
        if let Some(body) = body.as_object_mut() {
            if self.system {
                body.insert("isSystemRole".to_owned(), true.into());
            }
            if self.name == SUPER {
                body.insert("isSuperAdminRole".to_owned(), true.into());
            }
        }
        body
    }
}

/// A role assigned to a group or a service account, or to a person within one organizational unit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Assignment {
    pub(super) role: String,
    assignee: String,
    /// `user` or `group`.
    kind: &'static str,
    unit: Option<String>,
}

impl Assignment {
    /// A group's.
    pub fn group(role: impl Into<String>, group_id: impl Into<String>) -> Self {
        Self { role: role.into(), assignee: group_id.into(), kind: "group", unit: None }
    }

    /// An assignment to anything else with an id: a service account, or a deleted person.
    pub fn other(role: impl Into<String>, unique_id: impl Into<String>) -> Self {
        Self { role: role.into(), assignee: unique_id.into(), kind: "user", unit: None }
    }

    /// Restricts it to this organizational unit, by its name.
    pub fn within(mut self, unit: &str) -> Self {
        self.unit = Some(format!("03ph8a2z{}", number_of_21_digits(unit).get(14..).unwrap_or_default()));
        self
    }

    pub(super) fn of(person: &Person, role: &str) -> Self {
        Self::other(role, person.id())
    }

    pub(super) fn body(&self, role_id: &str) -> Value {
        let name = format!("{} {} {:?}", self.role, self.assignee, self.unit);
        let mut body = json!({
            "kind": "admin#directory#roleAssignment",
            "etag": etag(&name),
            "roleAssignmentId": number_of_17_digits(&name),
            "roleId": role_id,
            "assignedTo": self.assignee,
            "assigneeType": self.kind,
            "scopeType": if self.unit.is_some() { "ORG_UNIT" } else { "CUSTOMER" },
        });
        if let (Some(unit), Some(body)) = (&self.unit, body.as_object_mut()) {
            body.insert("orgUnitId".to_owned(), unit.clone().into());
        }
        body
    }

    pub(super) fn is_of(&self, id: &str) -> bool {
        self.assignee == id
    }
}
