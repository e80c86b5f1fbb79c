//! The principal that an authenticated request acts as: a key of an organization, or of a group.

use crate::error::Error;
use crate::freshness::Freshness;
use crate::id::OrganizationId;
use crate::role::{Capability, Role};
use crate::time::Time;

/// The caller of a request: an authenticated API key and its organization.
///
/// Only [`Service::caller`](crate::service::Service::caller), [`Service::session`](crate::service::Service::session) and
/// [`Service::within`](crate::service::Service::within) create one. Every method of the service takes one, and
/// reaches only the rows of its organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Principal {
    pub(crate) organization: OrganizationId,
    pub(crate) slug: String,
    pub(crate) name: String,
    pub(crate) key_id: String,
    pub(crate) key_prefix: String,
    pub(crate) role: Role,
    /// When the key ends.
    pub(crate) expires_at: Option<Time>,
    /// For a session: how fresh the evidence is, which every page shows.
    pub(crate) freshness: Option<Freshness>,
    /// For a key of a group: the name of the group.
    pub(crate) group: Option<String>,
}

/// Whose key a request brings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Caller {
    /// A key of an organization.
    Organization(Principal),
    /// A key of a group, which reaches no organization by itself.
    Group(GroupPrincipal),
}

/// The caller with a key of a group of organizations. [`Service::within`](crate::service::Service::within) makes it a
/// [`Principal`] of one of them, which may only look, whatever the key may do in the group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupPrincipal {
    /// The id of the group's row.
    pub(crate) id: OrganizationId,
    pub(crate) slug: String,
    pub(crate) name: String,
    pub(crate) key_id: String,
    pub(crate) key_prefix: String,
    pub(crate) role: Role,
    pub(crate) expires_at: Option<Time>,
}

impl Caller {
    /// The id of the organization or group.
    pub fn id(&self) -> &OrganizationId {
        match self {
            Caller::Organization(principal) => &principal.organization,
            Caller::Group(group) => &group.id,
        }
    }

    /// The id of the key.
    pub fn key_id(&self) -> &str {
        match self {
            Caller::Organization(principal) => &principal.key_id,
            Caller::Group(group) => &group.key_id,
        }
    }

    /// The part of the key that is not secret.
    pub fn key_prefix(&self) -> &str {
        match self {
            Caller::Organization(principal) => &principal.key_prefix,
            Caller::Group(group) => &group.key_prefix,
        }
    }

    /// When the key ends.
    pub fn expires_at(&self) -> Option<Time> {
        match self {
            Caller::Organization(principal) => principal.expires_at,
            Caller::Group(group) => group.expires_at,
        }
    }

    /// Fails unless the role has this capability.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`].
    pub fn require(&self, capability: Capability) -> Result<(), Error> {
        match self {
            Caller::Organization(principal) => principal.require(capability),
            Caller::Group(group) => require(group.role, capability),
        }
    }
}

impl GroupPrincipal {
    /// The short name of the group.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// The name of the group.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The part of the key that is not secret.
    pub fn key_prefix(&self) -> &str {
        &self.key_prefix
    }
}

fn require(role: Role, capability: Capability) -> Result<(), Error> {
    if role.may(capability) { Ok(()) } else { Err(Error::Forbidden { role, capability }) }
}

impl Principal {
    /// The principal of an organization's own key.
    pub(crate) fn of(key: GroupPrincipal) -> Principal {
        let GroupPrincipal { id: organization, slug, name, key_id, key_prefix, role, expires_at } = key;
        let (freshness, group) = (None, None);
        Principal { organization, slug, name, key_id, key_prefix, role, expires_at, freshness, group }
    }

    /// The name of the group whose key this is.
    pub fn group(&self) -> Option<&str> {
        self.group.as_deref()
    }

    /// The organization that the principal belongs to.
    pub fn organization(&self) -> &OrganizationId {
        &self.organization
    }

    /// The short name of the organization.
    pub fn slug(&self) -> &str {
        &self.slug
    }

    /// The name of the organization.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The id of the key, which a session stores.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// The part of the key that is not secret.
    pub fn key_prefix(&self) -> &str {
        &self.key_prefix
    }

    /// The role of the key.
    pub fn role(&self) -> Role {
        self.role
    }

    /// How fresh the evidence of the organization is, for a session.
    pub fn freshness(&self) -> Option<&Freshness> {
        self.freshness.as_ref()
    }

    /// Fails unless the role has this capability.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`].
    pub fn require(&self, capability: Capability) -> Result<(), Error> {
        require(self.role, capability)
    }
}
