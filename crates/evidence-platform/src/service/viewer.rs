//! Reads stored bundles for pages: a bounded number at once, and always while verifying the bytes.

use std::fs::File;
use std::sync::Arc;

use evidence_bundle::{Reason, VerifiedBundle};
use evidence_view::Sink;

use super::Service;
use super::shares::Share;
use crate::cancel::{self, CancelGuard, CancelToken};
use crate::error::Error;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::BundleRow;
use crate::verify;

/// A page's share of the platform, held until its last byte is sent.
#[derive(Debug)]
pub struct PageShare {
    _share: Share,
}

/// A turn to read bundles. Dropping it cancels reads in progress.
#[derive(Debug)]
pub struct Viewer {
    service: Service,
    share: Arc<Share>,
    cancel: CancelToken,
    _guard: CancelGuard,
}

impl Service {
    /// Takes a share of the platform for a page.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if the organization has too many of them.
    pub fn page_share(&self, principal: &Principal) -> Result<PageShare, Error> {
        let share = self.inner.pages.take(principal.organization())?;
        Ok(PageShare { _share: share })
    }

    /// Waits for a turn to read bundles.
    ///
    /// # Errors
    /// Fails with [`Error::Internal`].
    pub async fn viewer(&self, principal: &Principal) -> Result<Viewer, Error> {
        let share = Arc::new(self.inner.readers.wait(principal.organization()).await?);
        let (guard, cancel) = cancel::pair();
        Ok(Viewer { service: self.clone(), share, cancel, _guard: guard })
    }
}

impl Viewer {
    /// Reads a bundle with `reader`.
    ///
    /// Meanwhile it compares the bytes with their stored digest, and verifies them completely with the key that the
    /// bundle was accepted with: a bundle stays readable after the trust in its key ends, unless the key was revoked
    /// before the platform received the bundle.
    ///
    /// # Errors
    /// Fails with [`Error::Damaged`] if the stored bytes are missing or have changed, [`Error::NotFound`] if the bundle
    /// was deleted meanwhile, [`Error::Refused`] if its key was revoked, [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn read<T: Sink + Send + 'static>(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
        reader: T,
    ) -> Result<T, Error> {
        self.read_verified(principal, bundle, reader).await.map(|(_, read)| read)
    }

    /// Like [`read`](Viewer::read), with what the verification found.
    ///
    /// # Errors
    /// Fails like [`read`](Viewer::read).
    pub async fn read_verified<T: Sink + Send + 'static>(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
        reader: T,
    ) -> Result<(VerifiedBundle, T), Error> {
        principal.require(Capability::Read)?;
        let service = &self.service;
        let mut trust = service.revoked(principal, bundle.uploaded_at).await?;
        let damaged = |error| Error::internal("a stored key id is damaged", error);
        trust.add_fingerprint(&bundle.overview.key_id).map_err(damaged)?;
        let (file, _spooled) = service.local(service.stored(principal, bundle).await?).await?;
        let (file, stored) = (self.cancel.reader(file), bundle.digest);
        self.work(move || match verify::read(file, &trust, &verify::LIMITS, reader) {
            (_, digest) if digest != Some(stored) => Err(Error::digest_mismatch()),
            (Ok(read), _) => Ok(read),
            (Err(Error::Refused { reason, detail }), _) if reason != Reason::KeyRevoked => {
                Err(Error::Damaged { reason: reason.code(), detail })
            }
            (Err(error), _) => Err(error),
        })
        .await?
    }

    /// An unnamed file for output that is written while reading a bundle and sent only after the whole bundle is
    /// verified.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn scratch(&self) -> Result<File, Error> {
        let spool = self.service.inner.spool.clone();
        Ok(self.work(move || spool.scratch()).await??)
    }

    /// Makes any number of such files while reading a bundle.
    pub fn scratches(&self) -> impl Fn() -> std::io::Result<File> + Send + use<> {
        let service = self.service.clone();
        move || service.inner.spool.scratch()
    }

    /// Runs slow work on a separate thread, so that other requests are served meanwhile.
    ///
    /// # Errors
    /// Fails with [`Error::Internal`] if it panics.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, Error> {
        // The thread keeps its share until it notices that the client has disconnected.
        let share = Arc::clone(&self.share);
        let work = move || {
            let done = work();
            drop(share);
            done
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::join)
    }
}
