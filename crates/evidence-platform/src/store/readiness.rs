//! Whether the database takes writes.

use super::database::Store;
use crate::error::Error;
use crate::time::Time;

/// Rows of this size, four of which fill a page of PostgreSQL and none of which it compresses.
const FILLER: usize = 1_900;
/// More rows than fit into one page.
const ROWS: usize = 5;

impl Store {
    /// Writes as an upload does, and keeps nothing.
    ///
    /// # Errors
    /// [`Error::Unavailable`].
    pub(crate) async fn probe(&self, now: Time) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        // A changed row fits into a page that is there. Uploads soon need new ones, and on a full disk get none. What is
        // taken back is dead, so that the next probe needs a new page again; vacuuming returns them.
        sqlx::raw_sql("SAVEPOINT room").execute(transaction.connection()).await?;
        for _ in 0..ROWS {
            sqlx::query("INSERT INTO readiness_room (filler) VALUES ($1)")
                .bind("x".repeat(FILLER))
                .execute(transaction.connection())
                .await?;
        }
        sqlx::raw_sql("ROLLBACK TO SAVEPOINT room").execute(transaction.connection()).await?;
        sqlx::query("UPDATE readiness SET at = $1").bind(now.0).execute(transaction.connection()).await?;
        transaction.commit().await
    }
}
