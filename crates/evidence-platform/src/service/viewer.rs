//! Reading stored bundles for pages: how many at once, and always while the bytes are verified.

use std::fs::File;
use std::sync::Arc;

use evidence_bundle::TrustRoot;
use evidence_view::FileReader;

use super::Service;
use super::shares::Share;
use crate::cancel::{self, CancelGuard, CancelToken};
use crate::error::Error;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::BundleRow;
use crate::verify;

/// How many pages may be made and on their way at once; one organization can have half of them. Bounds the memory of all
/// pages together.
pub(super) const PAGES: usize = 64;

/// A page's share of the platform, held until its last byte is sent.
#[derive(Debug)]
pub struct PageShare {
    _share: Share,
}

/// A turn to read bundles. Dropping it ends what is still being read.
#[derive(Debug)]
pub struct Viewer {
    service: Service,
    share: Arc<Share>,
    cancel: CancelToken,
    _guard: CancelGuard,
}

impl Service {
    /// A share of the platform for a page.
    ///
    /// # Errors
    /// [`Error::Busy`] if the organization has enough of them.
    pub fn page_share(&self, principal: &Principal) -> Result<PageShare, Error> {
        let share = self.inner.pages.take(principal.organization())?;
        Ok(PageShare { _share: share })
    }

    /// Waits for a turn to read bundles.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub async fn viewer(&self, principal: &Principal) -> Result<Viewer, Error> {
        let share = Arc::new(self.inner.readers.wait(principal.organization()).await?);
        let (guard, cancel) = cancel::pair();
        Ok(Viewer { service: self.clone(), share, cancel, _guard: guard })
    }
}

impl Viewer {
    /// Reads a bundle with `reader`.
    ///
    /// On the way the bytes are compared with the digest that they were stored under, and verified to the last one with
    /// the key that the bundle was accepted with: trust that has ended since does not make what is stored unreadable.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the stored bytes are missing or others, [`Error::NotFound`] if the bundle was deleted meanwhile,
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn read<T: FileReader + Send + 'static>(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
        reader: T,
    ) -> Result<T, Error> {
        principal.require(Capability::Read)?;
        let service = &self.service;
        let mut trust = TrustRoot::new();
        let damaged = |error| Error::internal("a stored key id is damaged", error);
        trust.add_fingerprint(&bundle.overview.key_id).map_err(damaged)?;
        let (file, _spooled) = service.local(service.stored(principal, bundle).await?).await?;
        let (file, stored) = (self.cancel.reader(file), bundle.digest);
        self.work(move || match verify::read(file, &trust, &verify::LIMITS, reader) {
            (_, digest) if digest != Some(stored) => Err(Error::digest_mismatch()),
            (Ok((_, read)), _) => Ok(read),
            (Err(Error::Refused { reason, detail }), _) => {
                Err(Error::Damaged { reason: reason.code(), detail })
            }
            (Err(error), _) => Err(error),
        })
        .await?
    }

    /// A file without a name, for what is written while a bundle is read and sent once all of it is verified.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn scratch(&self) -> Result<File, Error> {
        let spool = self.service.inner.spool.clone();
        Ok(self.work(move || spool.scratch()).await??)
    }

    /// Does what takes a while on a thread of its own, so that others are served meanwhile.
    ///
    /// # Errors
    /// [`Error::Internal`] if it panics.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        // The thread outlives a client that has left, until it notices, and keeps its share until then.
        let share = Arc::clone(&self.share);
        let work = move || {
            let done = work();
            drop(share);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::join)
    }
}
