//! Sessions: after signing in with a key, a cookie identifies the browser until the session ends, or the key is
//! revoked or has ended.

use serde_json::json;

use super::{RequestId, Service};
use crate::error::Error;
use crate::principal::Principal;
use crate::role::Capability;
use crate::secret::SessionToken;
use crate::store::{Action, Outcome};
use crate::time::Time;

/// How many seconds a session is valid: a working day.
pub const SESSION_SECONDS: i64 = 12 * 60 * 60;

impl Service {
    /// Begins a session with a key that may read. Recorded in the audit log.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`], or with [`Error::Forbidden`] for a key that may not read.
    pub async fn sign_in(&self, request: &RequestId, key: &str) -> Result<SessionToken, Error> {
        let principal = self.authenticate(key).await?;
        principal.require(Capability::Read)?;
        let token = SessionToken::random()?;
        let now = self.inner.clock.now();
        let working_day = Time(now.0.saturating_add(SESSION_SECONDS.saturating_mul(1_000)));
        let expires_at = principal.expires_at.map_or(working_day, |end| end.min(working_day));
        let mut transaction = self.inner.store.begin().await?;
        transaction.add_session(&token.hash(), principal.key_id(), now, expires_at).await?;
        let target = principal.key_prefix();
        let detail = json!({ "until": expires_at });
        let record = self.record(&principal, request, Action::SessionBegin, target, Outcome::Done, detail);
        transaction.audit(record).await?;
        transaction.advance_clock(now).await?;
        transaction.commit().await?;
        Ok(token)
    }

    /// Finds the principal of a session token.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`] for every token that is not valid, whatever the reason.
    pub async fn session(&self, token: &str) -> Result<Principal, Error> {
        let token = SessionToken::parse(token).ok_or(Error::Unauthenticated)?;
        let now = self.inner.clock.now();
        let mut found = self.inner.store.session(&token.hash(), now).await?.ok_or(Error::Unauthenticated)?;
        found.freshness = Some(self.inner.store.freshness(&found.organization, now).await?);
        Ok(found)
    }

    /// Ends a session. Recorded in the audit log.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`] if the session does not exist.
    pub async fn sign_out(&self, request: &RequestId, token: &str) -> Result<(), Error> {
        let principal = self.session(token).await?;
        let token = SessionToken::parse(token).ok_or(Error::Unauthenticated)?;
        let mut transaction = self.inner.store.begin().await?;
        if transaction.end_session(&token.hash()).await? {
            let target = principal.key_prefix();
            let record =
                self.record(&principal, request, Action::SessionEnd, target, Outcome::Done, json!({}));
            transaction.audit(record).await?;
        }
        transaction.commit().await
    }
}
