//! Removing what a crash or a broken connection left: spooled uploads and blobs that no bundle names. Expired sessions
//! go too.
//!
//! Only what is older than any upload takes is touched, because other instances share the database and the storage. While
//! the clock is ahead, nothing is removed: everything would look old.

use std::time::{Duration, SystemTime};

use super::Service;
use crate::blobs::Removal;
use crate::error::Error;
use crate::store::Claim;

/// How long messages of webhooks are kept that were delivered or given up: 30 days.
const MESSAGE_SECONDS: u64 = 30 * 86_400;

/// What a sweep removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Swept {
    /// Spooled uploads.
    pub uploads: usize,
    /// Blobs without a bundle.
    pub blobs: usize,
    /// Blobs without a bundle that could not be removed; the next sweep tries again.
    pub failed: usize,
}

impl Service {
    /// Removes old leftovers.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`]; the next sweep finds the rest. A blob that cannot be removed is counted,
    /// and does not stop the sweep.
    pub async fn sweep(&self) -> Result<Swept, Error> {
        match self.tick().await {
            Ok(()) => {}
            Err(error @ Error::ClockAhead(_)) => {
                let help = "check the clock; if it is right, start the server again with --accept-clock";
                tracing::warn!(cause = %error, help, "no leftovers are removed, and no bundle can be deleted");
                return Ok(Swept::default());
            }
            Err(error) => return Err(error),
        }
        let age = self.inner.settings.leftovers_seconds;
        let spool = self.inner.spool.clone();
        // The file system's clock, since it is compared with the times of files.
        let before =
            SystemTime::now().checked_sub(Duration::from_secs(age)).unwrap_or(SystemTime::UNIX_EPOCH);
        let uploads =
            tokio::task::spawn_blocking(move || spool.sweep(before)).await.map_err(Error::join)??;
        let readings = self.inner.readings.clone();
        tokio::task::spawn_blocking(move || readings.sweep()).await.map_err(Error::join)??;
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        let claims = transaction.take_over_claims(now.minus_seconds(age), now).await?;
        transaction.remove_expired_sessions(now).await?;
        transaction.clear_outbox(now.minus_seconds(MESSAGE_SECONDS)).await?;
        transaction.commit().await?;
        let mut swept = Swept { uploads, ..Swept::default() };
        for claim in &claims {
            let count = match self.sweep_blob(claim).await {
                Ok(true) => &mut swept.blobs,
                Ok(false) => continue,
                Err(error) => {
                    tracing::warn!(error = ?error, "a blob without a bundle is left for the next sweep");
                    &mut swept.failed
                }
            };
            *count = count.saturating_add(1);
        }
        Ok(swept)
    }

    /// Removes a blob, unless an upload has taken over its claim in the meantime.
    async fn sweep_blob(&self, claim: &Claim) -> Result<bool, Error> {
        let mut transaction = self.inner.store.begin().await?;
        let ours = transaction.renew_claim(claim, self.inner.clock.now()).await?;
        transaction.commit().await?;
        if ours {
            self.remove_blob(claim).await?;
        }
        Ok(ours)
    }

    /// Deletes a claimed blob and ends the claim. If that certainly fails, the next upload of the same bytes may take
    /// the claim at once; if it may still take effect, after some minutes.
    pub(super) async fn remove_blob(&self, claim: &Claim) -> Result<(), Error> {
        let removal = self.inner.blobs.delete(&claim.organization, &claim.digest).await;
        if let Removal::Unknown(error) = removal {
            return Err(error);
        }
        let mut transaction = self.inner.store.begin().await?;
        if let Removal::Failed(error) = removal {
            transaction.leave_claim(claim).await?;
            transaction.commit().await?;
            return Err(error);
        }
        transaction.end_claim(claim).await?;
        transaction.commit().await
    }

    /// How many blobs are being put or deleted, or were abandoned in that state.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn claims(&self) -> Result<i64, Error> {
        self.inner.store.count_claims().await
    }
}
