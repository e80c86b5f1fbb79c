//! The principal that an authenticated request acts as.

use crate::error::Error;
use crate::freshness::Freshness;
use crate::id::OrganizationId;
use crate::role::{Capability, Role};
use crate::time::Time;

/// The caller of a request: an authenticated API key and its organization.
///
/// Only [`Service::authenticate`](crate::service::Service::authenticate) and
/// [`Service::session`](crate::service::Service::session) create one. Every method of the service takes one, and
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
}

impl Principal {
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
        if self.role.may(capability) { Ok(()) } else { Err(Error::Forbidden { role: self.role, capability }) }
    }
}
