//! Removing what a crash or a broken connection left: spooled uploads and blobs that no bundle names. Expired sessions
//! go too.
//!
//! Only what is older than any upload takes is touched, because other instances share the database and the storage.

use std::time::{Duration, SystemTime};

use super::Service;
use crate::error::Error;
use crate::store::Claim;

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Spooled uploads.
    pub uploads: usize,
    /// Blobs without a bundle.
    pub blobs: usize,
}

impl Service {
    /// Removes what is left over from long ago.
    ///
    /// # Errors
    /// [`Error::Unavailable`]; what is still left is found again by the next sweep.
    pub async fn sweep(&self) -> Result<Swept, Error> {
        let age = self.inner.settings.leftovers_seconds;
        let spool = self.inner.spool.clone();
        // The file system's clock, not ours: it is compared with the times of files.
        let before =
            SystemTime::now().checked_sub(Duration::from_secs(age)).unwrap_or(SystemTime::UNIX_EPOCH);
        let uploads =
            tokio::task::spawn_blocking(move || spool.sweep(before)).await.map_err(Error::join)??;
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        let claims = transaction.take_over_claims(now.minus_seconds(age), now).await?;
        transaction.remove_expired_sessions(now).await?;
        transaction.commit().await?;
        for claim in &claims {
            self.remove_blob(claim).await?;
        }
        Ok(Swept { uploads, blobs: claims.len() })
    }

    /// Deletes a blob that is claimed for it, and ends the claim.
    pub(super) async fn remove_blob(&self, claim: &Claim) -> Result<(), Error> {
        self.inner.blobs.delete(&claim.organization, &claim.digest).await?;
        let mut transaction = self.inner.store.begin().await?;
        transaction.end_claim(claim).await?;
        transaction.commit().await
    }

    /// How many blobs are being put or deleted, or were left so.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub async fn claims(&self) -> Result<i64, Error> {
        self.inner.store.count_claims().await
    }
}
