//! Rows of `sessions`: who is signed in to the pages. They hold only hashes.

use super::database::{Store, Transaction};
use crate::error::Error;
use crate::principal::Caller;
use crate::secret::SessionHash;
use crate::time::Time;

impl Store {
    /// Whose key a session was begun with, unless the session has ended, or the key is revoked or has ended.
    pub(crate) async fn session(&self, hash: &SessionHash, now: Time) -> Result<Option<Caller>, Error> {
        let condition = "k.id = (SELECT s.key_id FROM sessions s WHERE s.hash = $2 AND s.expires_at > $3)";
        let found = self.known_key(condition, &hash.to_stored(), now, Some(now)).await?;
        Ok(found.map(|known| known.caller))
    }
}

impl Transaction {
    /// Adds a session.
    pub(crate) async fn add_session(
        &mut self,
        hash: &SessionHash,
        key_id: &str,
        now: Time,
        expires_at: Time,
    ) -> Result<(), Error> {
        sqlx::query("INSERT INTO sessions (hash, key_id, created_at, expires_at) VALUES ($1, $2, $3, $4)")
            .bind(hash.to_stored())
            .bind(key_id)
            .bind(now.0)
            .bind(expires_at.0)
            .execute(self.connection())
            .await?;
        Ok(())
    }

    /// Ends a session. `false` if it does not exist.
    pub(crate) async fn end_session(&mut self, hash: &SessionHash) -> Result<bool, Error> {
        let done = sqlx::query("DELETE FROM sessions WHERE hash = $1")
            .bind(hash.to_stored())
            .execute(self.connection())
            .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Removes expired sessions.
    pub(crate) async fn remove_expired_sessions(&mut self, now: Time) -> Result<(), Error> {
        sqlx::query("DELETE FROM sessions WHERE expires_at <= $1")
            .bind(now.0)
            .execute(self.connection())
            .await?;
        Ok(())
    }
}
