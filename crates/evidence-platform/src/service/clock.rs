//! Whether the clock can be believed when it says that a retention has ended.
//!
//! The database keeps the last time at which the platform ran, took an upload or a sign-in. It advances in steps of at most a
//! day. If the clock is further ahead, either it has jumped or the platform was off: only the operator knows.

use super::Service;
use crate::error::Error;
use crate::store::Transaction;
use crate::time::Time;

impl Transaction {
    /// Requires that the clock is at most a day ahead of the recorded time.
    ///
    /// # Errors
    /// Fails with [`Error::ClockAhead`].
    pub(super) async fn require_clock(&mut self, now: Time) -> Result<(), Error> {
        let seen = self.clock().await?;
        if now > seen.plus_days(1) { Err(Error::ClockAhead(seen)) } else { Ok(()) }
    }
}

impl Service {
    /// Records that the platform runs.
    ///
    /// # Errors
    /// Fails with [`Error::ClockAhead`].
    pub(super) async fn tick(&self) -> Result<(), Error> {
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        transaction.advance_clock(now).await?;
        transaction.require_clock(now).await?;
        transaction.commit().await
    }

    /// Accepts the clock as it is, on the word of the operator.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn accept_clock(&self) -> Result<(), Error> {
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        let before = transaction.clock().await?;
        transaction.set_clock(now).await?;
        transaction.commit().await?;
        tracing::warn!(%before, %now, "the clock is accepted");
        Ok(())
    }
}
