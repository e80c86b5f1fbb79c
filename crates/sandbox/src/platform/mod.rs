//! An evidence platform with the endpoints that an uploading client uses: `whoami`, `bundles`, `verify`.
//!
//! Keys, organizations, the size limit and verification results are all state. Received bundles are stored beside it,
//! by organization and digest, and [`Server::state`] shows them. The platform reads only the id of a bundle. Its
//! verification result is configured.

mod bundle;
mod live;

pub use crate::server::{Identity, Request, Server};
pub use crate::{Body, Fault, FaultKind};

use crate::clock::Clock;
use crate::server::{Settings, engine_options};
use live::Live;
use std::io;
use std::sync::Arc;
use std::time::Duration;

/// The state of an evidence platform.
#[derive(Clone, Debug)]
pub struct Platform {
    pub(crate) organizations: Vec<Organization>,
    pub(crate) keys: Vec<Key>,
    pub(crate) verification: Verification,
    pub(crate) corrupting: bool,
    pub(crate) bundles: Vec<StoredBundle>,
    pub(crate) settings: Settings,
    pub(crate) clock_offset_seconds: i64,
}

engine_options!(Platform);

/// An organization on the platform.
#[derive(Clone, Debug)]
pub struct Organization {
    pub(crate) id: String,
    pub(crate) slug: String,
    pub(crate) name: String,
    /// The signing keys it trusts; `None` if the platform does not report them.
    pub(crate) trusted_keys: Option<Vec<String>>,
}

impl Organization {
    /// An organization with this id, short name and name.
    pub fn new(id: impl Into<String>, slug: impl Into<String>, name: impl Into<String>) -> Self {
        Self { id: id.into(), slug: slug.into(), name: name.into(), trusted_keys: None }
    }

    /// Reports that it trusts these signing keys.
    pub fn trusts<K: Into<String>>(mut self, keys: impl IntoIterator<Item = K>) -> Self {
        self.trusted_keys = Some(keys.into_iter().map(Into::into).collect());
        self
    }
}

/// What a key may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Upload and verify.
    Upload,
    /// Read.
    Read,
    /// Everything.
    Admin,
}

impl Role {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Upload => "upload",
            Self::Read => "read",
            Self::Admin => "admin",
        }
    }
}

/// An API key. Its `Debug` does not show it.
#[derive(Clone)]
pub struct Key {
    pub(crate) secret: String,
    pub(crate) organization: String,
    pub(crate) role: Role,
    pub(crate) revoked: bool,
}

impl Key {
    /// An upload key for the organization with this id.
    pub fn new(secret: impl Into<String>, organization: impl Into<String>) -> Self {
        Self { secret: secret.into(), organization: organization.into(), role: Role::Upload, revoked: false }
    }

    /// Its role.
    pub fn role(mut self, role: Role) -> Self {
        self.role = role;
        self
    }

    /// Whether it is revoked.
    pub fn revoked(mut self, revoked: bool) -> Self {
        self.revoked = revoked;
        self
    }
}

impl std::fmt::Debug for Key {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Key")
            .field("organization", &self.organization)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// The result of a verification.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verification {
    /// A trusted key signed it.
    Verified {
        /// The key, if the platform names it.
        key_id: Option<String>,
    },
    /// It is not verified.
    Refused {
        /// The code of the reason.
        reason: String,
        /// A description of the reason.
        detail: Option<String>,
    },
}

/// A stored bundle.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredBundle {
    /// Its id.
    pub id: String,
    /// The organization it belongs to, by its id.
    pub organization: String,
    /// SHA-256 of its bytes, lower-case hex.
    pub sha256: String,
    /// The query it came with, as sent.
    pub query: String,
    /// Its bytes.
    pub bytes: bytes::Bytes,
}

impl std::fmt::Debug for StoredBundle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredBundle")
            .field("id", &self.id)
            .field("bytes", &self.bytes.len())
            .finish_non_exhaustive()
    }
}

impl Default for Platform {
    fn default() -> Self {
        Self::new()
    }
}

impl Platform {
    /// A platform without keys that accepts bundles of up to 64 MiB and reports every one as verified.
    pub fn new() -> Self {
        Self {
            organizations: Vec::new(),
            keys: Vec::new(),
            verification: Verification::Verified { key_id: None },
            corrupting: false,
            bundles: Vec::new(),
            settings: Settings {
                log_limit: 10_000,
                max_body: 64 << 20,
                refused_for: Duration::from_millis(50),
                ..Settings::default()
            },
            clock_offset_seconds: 0,
        }
    }

    /// Adds an organization, or replaces the one with that id.
    pub fn organization(mut self, organization: Organization) -> Self {
        self.organizations.retain(|old| old.id != organization.id);
        self.organizations.push(organization);
        self
    }

    /// Adds a key, or replaces it.
    pub fn key(mut self, key: Key) -> Self {
        self.put_key(key);
        self
    }

    /// Sets the verification result.
    pub fn verification(mut self, verification: Verification) -> Self {
        self.verification = verification;
        self
    }

    /// The largest accepted bundle, in bytes.
    pub fn max_bytes(mut self, bytes: usize) -> Self {
        self.settings.max_body = bytes;
        self
    }

    /// Whether the platform stores other bytes than it receives, and reports their digest.
    pub fn corrupting(mut self, corrupting: bool) -> Self {
        self.corrupting = corrupting;
        self
    }

    /// Serves the API below this path.
    pub fn base_path(mut self, path: &str) -> Self {
        self.settings.base_path = path.trim_end_matches('/').to_owned();
        self
    }

    /// Adds or replaces a key.
    pub fn put_key(&mut self, key: Key) {
        self.keys.retain(|old| old.secret != key.secret);
        self.keys.push(key);
    }

    /// Sets the verification result.
    pub fn set_verification(&mut self, verification: Verification) {
        self.verification = verification;
    }

    /// The stored bundles, in order of arrival.
    pub fn bundles(&self) -> &[StoredBundle] {
        &self.bundles
    }

    /// Serves it on a loopback port until the server is dropped.
    ///
    /// # Errors
    /// Fails if no port or thread is available.
    pub fn serve(self) -> io::Result<Server<Self>> {
        let clock = Clock::default();
        Server::start(self.settings.clone(), clock.clone(), move |_| {
            let live = Arc::new(Live::new(self, clock));
            (live.clone(), Some(live))
        })
    }
}
