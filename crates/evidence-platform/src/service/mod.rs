//! The operations of the platform, for the API, the pages and the command line.
//!
//! Tenancy and roles are enforced only here: every method that touches an organization takes an authenticated
//! [`Principal`], requires the capability, and passes only its organization to the store. Nothing here knows
//! HTTP.

mod admin;
mod attempts;
mod bundles;
mod clock;
mod operator;
mod page;
mod ready;
mod sessions;
mod settings;
mod shares;
mod sweep;
mod upload;
mod viewer;

use std::fmt;
use std::sync::Arc;

pub use admin::NewKey;
pub use attempts::Attempt;
pub use bundles::Download;
pub use operator::Operator;
pub use page::{Page, PageRequest};
pub use sessions::SESSION_SECONDS;
pub use settings::Settings;
pub use sweep::Swept;
pub use upload::{NewUpload, Stored, Verification, check_tags};
pub use viewer::{PageShare, Viewer};

use attempts::Attempts;
use shares::Shares;

use crate::blobs::Blobs;
use crate::error::Error;
use crate::principal::Principal;
use crate::secret::ApiKey;
use crate::spool::Spool;
use crate::store::Action;
use crate::store::{NewAudit, Outcome, Store};
use crate::time::Clock;

/// The id of a request, as in the log and in the answer's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

/// The platform.
#[derive(Clone)]
pub struct Service {
    inner: Arc<Inner>,
}

struct Inner {
    store: Store,
    blobs: Blobs,
    spool: Spool,
    clock: Clock,
    settings: Settings,
    uploads: Arc<Shares>,
    verifications: Arc<Shares>,
    pages: Arc<Shares>,
    ready: ready::LastProbe,
    /// The one queue for reading bundles. A request in it already holds a share of one of the three above.
    readers: Arc<Shares>,
    attempts: Attempts,
}

impl fmt::Debug for Service {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Service").field("store", &self.inner.store).field("blobs", &self.inner.blobs).finish()
    }
}

impl Service {
    /// The platform on this database and this storage. Uses `spool` if the storage is not a directory.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`] if the spool cannot be created.
    pub fn new(
        store: Store,
        blobs: Blobs,
        spool: &std::path::Path,
        clock: Clock,
        settings: Settings,
    ) -> Result<Service, Error> {
        let spool = Spool::open(&blobs.spool_directory().unwrap_or_else(|| spool.to_owned()))?;
        let (uploads, verifications) = (Shares::new(settings.uploads), Shares::new(upload::VERIFICATIONS));
        let (pages, readers) = (Shares::new(viewer::PAGES), Shares::new(settings.readers));
        let inner = Inner {
            store,
            blobs,
            spool,
            clock,
            settings,
            uploads,
            verifications,
            pages,
            readers,
            ready: ready::LastProbe::default(),
            attempts: Attempts::new(),
        };
        Ok(Service { inner: Arc::new(inner) })
    }

    /// The operator's settings.
    pub fn settings(&self) -> &Settings {
        &self.inner.settings
    }

    /// The clock of the platform.
    pub fn clock(&self) -> &Clock {
        &self.inner.clock
    }

    /// Finds the principal of a key.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`] for every key that is not valid, whatever the reason.
    pub async fn authenticate(&self, key: &str) -> Result<Principal, Error> {
        let key = ApiKey::parse(key).ok_or(Error::Unauthenticated)?;
        let found = self.inner.store.key_by_prefix(key.prefix()).await?;
        let (principal, hash) = found.ok_or(Error::Unauthenticated)?;
        if hash.matches(&key.hash()) { Ok(principal) } else { Err(Error::Unauthenticated) }
    }

    /// Closes the database in order.
    pub async fn close(&self) {
        self.inner.store.close().await;
    }

    /// An audit record of a principal's action.
    fn record<'a>(
        &self,
        principal: &'a Principal,
        request: &'a RequestId,
        action: Action,
        target: &'a str,
        outcome: Outcome,
        detail: serde_json::Value,
    ) -> NewAudit<'a> {
        NewAudit {
            organization: principal.organization(),
            at: self.inner.clock.now(),
            actor: format!("key:{}", principal.key_prefix()),
            action,
            target,
            outcome,
            detail,
            request_id: &request.0,
        }
    }

    /// Writes one audit record in its own transaction.
    async fn note(&self, record: NewAudit<'_>) -> Result<(), Error> {
        let mut transaction = self.inner.store.begin().await?;
        transaction.audit(record).await?;
        transaction.commit().await
    }
}
