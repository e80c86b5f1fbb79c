//! The row of `clock`: the last time at which the platform is known to have run.

use super::columns::integer;
use super::database::Transaction;
use crate::error::Error;
use crate::time::{DAY_MS, Time};

/// How old the row is before it is written again, in milliseconds: uploads of several instances must not wait for it.
const STALE_MS: i64 = 30 * 60 * 1_000;

impl Transaction {
    /// Records this time, unless it is further than a day ahead of the recorded one.
    pub(crate) async fn advance_clock(&mut self, now: Time) -> Result<(), Error> {
        sqlx::query("UPDATE clock SET seen = $1 WHERE seen = 0 OR (seen < $2 AND seen >= $3)")
            .bind(now.0)
            .bind(now.0.saturating_sub(STALE_MS))
            .bind(now.0.saturating_sub(DAY_MS))
            .execute(self.connection())
            .await?;
        Ok(())
    }

    /// Records this time, whatever the recorded one is.
    pub(crate) async fn set_clock(&mut self, now: Time) -> Result<(), Error> {
        sqlx::query("UPDATE clock SET seen = $1").bind(now.0).execute(self.connection()).await?;
        Ok(())
    }

    /// The recorded time.
    pub(crate) async fn clock(&mut self) -> Result<Time, Error> {
        let row = sqlx::query("SELECT seen FROM clock").fetch_one(self.connection()).await?;
        Ok(Time(integer(&row, "seen")?))
    }
}
