//! Looking into bundles: how many may look at once, and reading the files of a bundle while it is verified.

use std::io::Read;
use std::sync::Arc;

use evidence_bundle::TrustRoot;

use super::Service;
use super::shares::Share;
use crate::error::Error;
use crate::facts;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::BundleRow;
use crate::wanted::{self, Waiting, Wanted};

/// How many pages may be made and on their way at once; one organization can have half of them. Bounds the memory of all
/// pages together.
pub(super) const PAGES: usize = 64;

/// A page's part of the platform, for as long as it is made and on its way.
#[derive(Debug)]
pub struct Seat {
    _share: Share,
}

/// A turn to look into bundles. Dropping it ends what is still being read.
#[derive(Debug)]
pub struct Viewer {
    service: Service,
    share: Arc<Share>,
    wanted: Wanted,
    _waiting: Waiting,
}

impl Service {
    /// A part of the platform for a page.
    ///
    /// # Errors
    /// [`Error::Busy`] if the organization has enough of them.
    pub fn seat(&self, principal: &Principal) -> Result<Seat, Error> {
        let share = self.inner.pages.take(principal.organization())?;
        Ok(Seat { _share: share })
    }

    /// Waits for a turn to look into bundles.
    ///
    /// # Errors
    /// [`Error::Internal`].
    pub async fn viewer(&self, principal: &Principal) -> Result<Viewer, Error> {
        let share = Arc::new(self.inner.readers.wait(principal.organization()).await?);
        let (waiting, wanted) = wanted::pair();
        Ok(Viewer { service: self.clone(), share, wanted, _waiting: waiting })
    }
}

impl Viewer {
    /// Shows every file of a bundle to `look`, in the order of the archive, and gives what `look` made of them.
    ///
    /// On the way the bytes are compared with the digest that they were stored under, and verified to the last one with
    /// the key that the bundle was accepted with: trust that has ended since does not make what is stored unreadable.
    ///
    /// # Errors
    /// [`Error::Damaged`] if the stored bytes are missing or others, [`Error::NotFound`] if the bundle was deleted meanwhile,
    /// [`Error::Forbidden`], [`Error::Unavailable`].
    pub async fn inspect<T: Default + Send + 'static>(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
        mut look: impl FnMut(&mut T, &str, &mut dyn Read) -> std::io::Result<()> + Send + 'static,
    ) -> Result<T, Error> {
        principal.require(Capability::Read)?;
        let service = &self.service;
        let mut trust = TrustRoot::new();
        let damaged = |error| Error::internal("a stored key id is damaged", error);
        trust.add_fingerprint(&bundle.facts.key_id).map_err(damaged)?;
        let (file, _spooled) = service.local(service.stored(principal, bundle).await?).await?;
        let (file, stored) = (self.wanted.reader(file), bundle.digest);
        self.work(move || {
            let mut seen = T::default();
            let (verdict, digest) =
                facts::inspect(file, &trust, &mut |path, contents| look(&mut seen, path, contents));
            match verdict {
                _ if digest != Some(stored) => Err(Error::digest_mismatch()),
                Ok(()) => Ok(seen),
                Err(Error::Refused { reason, detail }) => {
                    Err(Error::Damaged { reason: reason.code(), detail })
                }
                Err(error) => Err(error),
            }
        })
        .await?
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
