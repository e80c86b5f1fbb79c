//! Reads the stored bundles whose rows this machine does not have: after an update, of bundles that came to another
//! instance, and of those whose upload was killed before its rows were kept. The newest first, at a pace.

use std::time::Instant;

use evidence_bundle::TrustRoot;

use super::Service;
use super::check::rest;
use super::upload::{Judged, Rows};
use crate::cancel;
use crate::error::Error;
use crate::id::OrganizationId;
use crate::store::StoredBytes;
use crate::time::Time;
use crate::verify::Terms;

/// How many bundles to list at once.
const BATCH: i64 = 100;
/// How many bundles in a row may fail before the storage counts as away.
const FAILURES: u32 = 3;

/// What was filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filled {
    /// The bundles that were read.
    pub bundles: u64,
    /// When the newest bundle of all arrived; before the first, the beginning of time.
    pub newest: Time,
}

impl Service {
    /// Reads the bundles since this time that have no rows, until the room for rows is full.
    /// Rests after each at least as long as it took, and so long that no more than these bytes per second are read.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`] if the database or the storage does not answer; a later call goes on.
    pub async fn fill_rows(&self, since: Time, pace: u64) -> Result<Filled, Error> {
        let mut filled = Filled { bundles: 0, newest: since };
        let mut failures = 0_u32;
        let mut before = None;
        loop {
            let batch = self.inner.store.arrived(since, before.as_ref(), BATCH).await?;
            let Some(last) = batch.last() else { return Ok(filled) };
            before = Some((last.uploaded_at, last.organization.as_str().to_owned(), last.id.clone()));
            for bundle in &batch {
                filled.newest = filled.newest.max(bundle.uploaded_at);
                let (readings, digest) = (self.inner.readings.clone(), bundle.digest);
                let is_kept = move || (readings.has(&digest), readings.has_room());
                let (is_kept, has_room) = tokio::task::spawn_blocking(is_kept).await.map_err(Error::join)?;
                if is_kept {
                    continue;
                }
                if !has_room {
                    return Ok(filled);
                }
                let begun = Instant::now();
                match self.fill(bundle).await {
                    Ok(kept) => {
                        filled.bundles = filled.bundles.saturating_add(u64::from(kept));
                        failures = 0;
                    }
                    Err(error) if failures >= FAILURES => return Err(error),
                    Err(error) => {
                        failures = failures.saturating_add(1);
                        let bundle = &bundle.id;
                        tracing::warn!(bundle, error = ?error, "the rows of a bundle are not read");
                    }
                }
                let took = begun.elapsed();
                tokio::time::sleep(took).await;
                rest(Some(pace), bundle.size_bytes, begun).await;
            }
        }
    }

    /// Reads a bundle and keeps its rows. What is damaged is left to the check of everything.
    async fn fill(&self, bundle: &StoredBytes) -> Result<bool, Error> {
        let Some((verdict, digest)) = self.read_again(bundle, Rows::Write).await? else { return Ok(false) };
        if digest != Some(bundle.digest) {
            return Ok(false);
        }
        match verdict {
            Ok((_, Some(rows))) => {
                let (readings, digest) = (self.inner.readings.clone(), bundle.digest);
                let keep = move || readings.keep(&digest, rows);
                tokio::task::spawn_blocking(keep).await.map_err(Error::join)?;
                Ok(true)
            }
            Ok((_, None)) | Err(Error::Refused { .. } | Error::NewerVersion(_)) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Verifies a stored bundle with the key that it was accepted with. `None` if its bytes are missing.
    pub(super) async fn read_again(&self, bundle: &StoredBytes, rows: Rows) -> Result<Option<Judged>, Error> {
        let Some(blob) = self.inner.blobs.get(&bundle.organization, &bundle.digest).await? else {
            return Ok(None);
        };
        let mut trust = TrustRoot::new();
        let damaged = |error| Error::internal("a stored key id is damaged", error);
        trust.add_fingerprint(&bundle.key_id).map_err(damaged)?;
        let share = self.inner.readers.wait(&OrganizationId::platform()).await?;
        let (file, _spooled) = self.local(blob).await?;
        let (_guard, cancel) = cancel::pair();
        self.judge(share, &cancel, file, Terms::stored(trust), rows).await.map(Some)
    }
}
