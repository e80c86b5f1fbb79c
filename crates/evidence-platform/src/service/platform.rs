//! The platform: what every operation needs.

use std::fmt;
use std::sync::Arc;

use super::attempts::Attempts;
use super::gauges::CheckGauges;
use super::periods::Periods;
use super::probe::LastProbe;
use super::settings::Settings;
use super::shares::Shares;
use crate::blobs::Blobs;
use crate::error::Error;
use crate::principal::{Caller, Principal};
use crate::readings::Readings;
use crate::secret::ApiKey;
use crate::spool::Spool;
use crate::store::{Action, NewAudit, Outcome, Store};
use crate::time::Clock;

/// The id of a request, as in the log and in the answer's header.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(pub String);

/// How many pages may be in progress at once; one organization gets at most half. Bounds the memory of all pages
/// together.
const PAGES: usize = 64;
/// How many verifications of stored bundles may wait; one organization gets at most half.
const VERIFICATIONS: usize = 64;

/// How exact the last use of a key is.
const USE_SECONDS: u64 = 60 * 60;

/// The platform.
#[derive(Clone)]
pub struct Service {
    pub(super) inner: Arc<Inner>,
}

/// What all clones of the service share.
pub(super) struct Inner {
    pub(super) store: Store,
    pub(super) blobs: Blobs,
    pub(super) spool: Spool,
    pub(super) clock: Clock,
    pub(super) settings: Settings,
    pub(super) uploads: Arc<Shares>,
    pub(super) verifications: Arc<Shares>,
    pub(super) pages: Arc<Shares>,
    pub(super) ready: LastProbe,
    /// The one queue for reading bundles. A request in it already holds a share of one of the three above.
    pub(super) readers: Arc<Shares>,
    pub(super) attempts: Attempts,
    pub(super) checks: CheckGauges,
    pub(super) readings: Readings,
    pub(super) periods: Periods,
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
        let readings = Readings::open(&spool.with_file_name("rows"), settings.rows_bytes)?;
        let spool = Spool::open(&blobs.spool_directory().unwrap_or_else(|| spool.to_owned()))?;
        let (uploads, verifications) = (Shares::new(settings.uploads), Shares::new(VERIFICATIONS));
        let (pages, readers) = (Shares::new(PAGES), Shares::new(settings.readers));
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
            ready: LastProbe::default(),
            attempts: Attempts::new(),
            checks: CheckGauges::default(),
            readings,
            periods: Periods::default(),
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

    /// Finds the principal of an organization's key.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`] for every other key, whatever the reason.
    pub async fn authenticate(&self, key: &str) -> Result<Principal, Error> {
        match self.caller(key).await? {
            Caller::Organization(principal) => Ok(principal),
            Caller::Group(_) => Err(Error::Unauthenticated),
        }
    }

    /// Finds whose key this is.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`] for every key that is not valid, whatever the reason.
    pub async fn caller(&self, key: &str) -> Result<Caller, Error> {
        let key = ApiKey::parse(key).ok_or(Error::Unauthenticated)?;
        let now = self.inner.clock.now();
        let known = self.inner.store.key_by_prefix(key.prefix(), now).await?.ok_or(Error::Unauthenticated)?;
        if !known.hash.matches(&key.hash()) {
            return Err(Error::Unauthenticated);
        }
        // At most once an hour for each key: a request must not become a write.
        if known.last_used_at.is_none_or(|last| last < now.minus_seconds(USE_SECONDS))
            && let Err(error) = self.touch(known.caller.key_id()).await
        {
            tracing::warn!(cause = error.causes(), "the use of a key is not recorded");
        }
        Ok(known.caller)
    }

    async fn touch(&self, key_id: &str) -> Result<(), Error> {
        let mut transaction = self.inner.store.begin().await?;
        transaction.touch_key(key_id, self.inner.clock.now()).await?;
        transaction.commit().await
    }

    /// Closes the database in order.
    pub async fn close(&self) {
        self.inner.store.close().await;
    }

    /// An audit record of a principal's action.
    pub(super) fn record<'a>(
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
    pub(super) async fn note(&self, record: NewAudit<'_>) -> Result<(), Error> {
        let mut transaction = self.inner.store.begin().await?;
        transaction.audit(record).await?;
        transaction.commit().await
    }
}
