//! Roles and their permissions.

use std::fmt;

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// What an API key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, ToSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Uploads bundles and has them verified. For the machine that collects.
    Upload,
    /// Looks at everything. For auditors.
    Read,
    /// Does both and administers the organization.
    Admin,
    /// Sees how fresh the evidence is. For monitoring.
    Monitor,
}

impl Role {
    /// Every role.
    pub const ALL: [Role; 4] = [Role::Upload, Role::Read, Role::Admin, Role::Monitor];

    /// The role as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Role::Upload => "upload",
            Role::Read => "read",
            Role::Admin => "admin",
            Role::Monitor => "monitor",
        }
    }

    /// Parses the stored form of a role.
    pub(crate) fn stored(text: &str) -> Option<Role> {
        Role::ALL.into_iter().find(|role| role.as_str() == text)
    }

    /// Whether the role has this capability.
    pub fn may(self, capability: Capability) -> bool {
        match (capability, self) {
            (Capability::Identify, Role::Upload | Role::Read | Role::Admin | Role::Monitor) => true,
            (Capability::Upload | Capability::Verify, Role::Upload | Role::Admin) => true,
            (Capability::Upload | Capability::Verify, Role::Read | Role::Monitor) => false,
            (Capability::Read, Role::Read | Role::Admin) => true,
            (Capability::Read, Role::Upload | Role::Monitor) => false,
            (Capability::Monitor, Role::Read | Role::Admin | Role::Monitor) => true,
            (Capability::Monitor, Role::Upload) => false,
            (Capability::Administer, Role::Admin) => true,
            (Capability::Administer, Role::Upload | Role::Read | Role::Monitor) => false,
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A permission that a request needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Capability {
    /// See the own organization and role.
    Identify,
    /// Store a bundle.
    Upload,
    /// Verify a stored bundle again.
    Verify,
    /// See bundles and their contents.
    Read,
    /// See how fresh the evidence is.
    Monitor,
    /// Manage keys, trust, retention, legal hold, deletion, the audit log.
    Administer,
}

impl Capability {
    /// Every capability.
    pub const ALL: [Capability; 6] = [
        Capability::Identify,
        Capability::Upload,
        Capability::Verify,
        Capability::Read,
        Capability::Monitor,
        Capability::Administer,
    ];

    /// The capability as text.
    pub fn as_str(self) -> &'static str {
        match self {
            Capability::Identify => "identify",
            Capability::Upload => "upload",
            Capability::Verify => "verify",
            Capability::Read => "read",
            Capability::Monitor => "monitor",
            Capability::Administer => "administer",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_role_may_do_what_the_documentation_says() {
        let table = [
            (Role::Upload, [true, true, true, false, false, false]),
            (Role::Read, [true, false, false, true, true, false]),
            (Role::Admin, [true, true, true, true, true, true]),
            (Role::Monitor, [true, false, false, false, true, false]),
        ];
        for (role, may) in table {
            assert_eq!(Capability::ALL.map(|capability| role.may(capability)), may, "{role}");
            assert_eq!(Role::stored(role.as_str()), Some(role));
        }
        assert_eq!(Role::stored("root"), None);
    }
}
