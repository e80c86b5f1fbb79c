//! Reads stored bundles for pages: a bounded number at once, and always while verifying the bytes.

use std::fs::File;
use std::io::BufReader;
use std::sync::Arc;

use evidence_bundle::Reason;
use evidence_view::{Recorder, Sink, Skipped, replay_without};
use flate2::read::GzDecoder;

use super::Service;
use super::shares::Share;
use crate::cancel::{self, CancelGuard, CancelToken};
use crate::error::Error;
use crate::principal::{Caller, Principal};
use crate::readings::ROWS_BYTES;
use crate::role::Capability;
use crate::store::BundleRow;
use crate::time::Time;
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
    pub fn page_share(&self, caller: &Caller) -> Result<PageShare, Error> {
        let share = self.inner.pages.take(caller.id())?;
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
        principal.require(Capability::Read)?;
        let service = &self.service;
        let mut trust = service.revoked(principal, bundle.uploaded_at).await?;
        let damaged = |error| Error::internal("a stored key id is damaged", error);
        trust.add_fingerprint(&bundle.overview.key_id).map_err(damaged)?;
        let (file, _spooled) = service.local(service.stored(principal, bundle).await?).await?;
        let (file, stored) = (self.cancel.reader(file), bundle.digest);
        let readings = service.inner.readings.clone();
        self.work(move || {
            let read = match verify::read(file, &trust, &verify::LIMITS, reader) {
                (_, digest) if digest != Some(stored) => Err(Error::digest_mismatch()),
                (Ok((_, read)), _) => Ok(read),
                (Err(Error::Refused { reason, detail }), _) if reason != Reason::KeyRevoked => {
                    Err(Error::Damaged { reason: reason.code(), detail })
                }
                (Err(error), _) => Err(error),
            };
            if matches!(read, Err(Error::Damaged { .. })) {
                // The bytes have changed since the rows were read.
                readings.forget(&stored);
            }
            read
        })
        .await?
    }

    /// Like [`Viewer::read`], for a reader that wants rows only: of a bundle that this machine has verified before, the
    /// kept rows are read, and its bytes are not. Also returns when the bytes were verified.
    ///
    /// # Errors
    /// Fails like [`Viewer::read`].
    pub async fn rows<T: Sink + Send + 'static>(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
        reader: T,
    ) -> Result<(T, Time), Error> {
        self.rows_without(principal, bundle, &Skipped::default(), reader).await
    }

    /// Like [`Viewer::rows`]; of kept rows, some are not passed on.
    ///
    /// # Errors
    /// Fails like [`Viewer::read`].
    pub async fn rows_without<T: Sink + Send + 'static>(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
        skipped: &Skipped,
        reader: T,
    ) -> Result<(T, Time), Error> {
        principal.require(Capability::Read)?;
        let (readings, digest) = (self.service.inner.readings.clone(), bundle.digest);
        if let Some((transcript, verified)) = self.kept(principal, bundle).await? {
            let (transcript, skipped) = (self.cancel.reader(transcript), skipped.clone());
            let replayed = self.work(move || {
                let replayed = replay_without(GzDecoder::new(transcript), &skipped, reader);
                if replayed.is_err() {
                    // The next page verifies the bundle again.
                    readings.forget(&digest);
                }
                replayed
            });
            return Ok((replayed.await??, verified));
        }
        let now = self.service.inner.clock.now();
        let begin = readings.clone();
        let out = self.work(move || begin.begin(now)).await?;
        let recorder = self.read(principal, bundle, Recorder::new(reader, out, ROWS_BYTES)).await?;
        let (reader, out) = recorder.finish();
        if let Some(out) = out {
            self.work(move || readings.keep(&digest, out)).await?;
        }
        Ok((reader, now))
    }

    /// The report that was made of a bundle when it was read before, if it may be shown.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn report(&self, principal: &Principal, bundle: &BundleRow) -> Result<Option<Vec<u8>>, Error> {
        principal.require(Capability::Read)?;
        let (readings, digest) = (self.service.inner.readings.clone(), bundle.digest);
        self.may_be_shown(principal, bundle, move || readings.report(&digest)).await
    }

    /// Keeps the report that was made of a bundle.
    ///
    /// # Errors
    /// Fails with [`Error::Internal`].
    pub async fn keep_report(&self, bundle: &BundleRow, report: Vec<u8>) -> Result<(), Error> {
        let (readings, digest) = (self.service.inner.readings.clone(), bundle.digest);
        self.work(move || readings.keep_report(&digest, &report)).await
    }

    /// What is kept of a bundle, if it may be shown.
    async fn kept(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
    ) -> Result<Option<(BufReader<File>, Time)>, Error> {
        let (readings, digest) = (self.service.inner.readings.clone(), bundle.digest);
        self.may_be_shown(principal, bundle, move || readings.find(&digest)).await
    }

    /// What `find` finds, if the bundle may be shown without reading it.
    async fn may_be_shown<T: Send + 'static>(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
        find: impl FnOnce() -> Option<T> + Send + 'static,
    ) -> Result<Option<T>, Error> {
        let service = &self.service;
        let Some(found) = self.work(find).await? else { return Ok(None) };
        // Missing or cut bytes show at once; a changed one when everything is checked.
        let size = service.inner.blobs.size(principal.organization(), &bundle.digest).await?;
        if size != Some(bundle.size_bytes) || service.may_be_revoked(principal, bundle).await? {
            return Ok(None);
        }
        Ok(Some(found))
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
