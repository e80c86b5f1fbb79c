//! Checks that the database accepts writes.

use super::database::Store;
use crate::error::Error;
use crate::time::Time;

/// The size of a row: four fill a page of PostgreSQL, which does not compress them.
const FILLER: usize = 1_900;
/// More rows than fit into one page.
const ROWS: usize = 5;

impl Store {
    /// Writes like an upload, and keeps nothing.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub(crate) async fn probe(&self, now: Time) -> Result<(), Error> {
        let mut transaction = self.begin().await?;
        // A changed row fits into an existing page. Uploads soon need new pages, and get none on a full disk. A
        // rollback leaves dead rows, so the next probe needs a new page again; vacuuming returns them.
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
