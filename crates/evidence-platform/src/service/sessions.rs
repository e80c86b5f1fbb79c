//! Sessions: after signing in with a key, a cookie identifies the browser until the session ends, or the key is
//! revoked or has ended.

use serde_json::json;

use super::{RequestId, Service};
use crate::error::Error;
use crate::principal::Caller;
use crate::role::Capability;
use crate::secret::SessionToken;
use crate::store::{Action, NewAudit, Outcome};
use crate::time::Time;

/// How many seconds a session is valid: a working day.
pub const SESSION_SECONDS: i64 = 12 * 60 * 60;

impl Service {
    /// Begins a session with a key that may read, of an organization or a group. Recorded in the audit log.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`], or with [`Error::Forbidden`] for a key that may not read.
    pub async fn sign_in(&self, request: &RequestId, key: &str) -> Result<SessionToken, Error> {
        let caller = self.caller(key).await?;
        caller.require(Capability::Read)?;
        let token = SessionToken::random()?;
        let now = self.inner.clock.now();
        let working_day = Time(now.0.saturating_add(SESSION_SECONDS.saturating_mul(1_000)));
        let expires_at = caller.expires_at().map_or(working_day, |end| end.min(working_day));
        let mut transaction = self.inner.store.begin().await?;
        transaction.add_session(&token.hash(), caller.key_id(), now, expires_at).await?;
        let detail = json!({ "until": expires_at });
        transaction.audit(about(&caller, request, now, Action::SessionBegin, detail)).await?;
        transaction.advance_clock(now).await?;
        transaction.commit().await?;
        Ok(token)
    }

    /// Finds whose session this is.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`] for every token that is not valid, whatever the reason.
    pub async fn session(&self, token: &str) -> Result<Caller, Error> {
        let token = SessionToken::parse(token).ok_or(Error::Unauthenticated)?;
        let now = self.inner.clock.now();
        let mut found = self.inner.store.session(&token.hash(), now).await?.ok_or(Error::Unauthenticated)?;
        if let Caller::Organization(principal) = &mut found {
            principal.freshness = Some(self.inner.store.freshness(&principal.organization, now).await?);
        }
        Ok(found)
    }

    /// Ends a session. Recorded in the audit log.
    ///
    /// # Errors
    /// Fails with [`Error::Unauthenticated`] if the session does not exist.
    pub async fn sign_out(&self, request: &RequestId, token: &str) -> Result<(), Error> {
        let caller = self.session(token).await?;
        let token = SessionToken::parse(token).ok_or(Error::Unauthenticated)?;
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        if transaction.end_session(&token.hash()).await? {
            transaction.audit(about(&caller, request, now, Action::SessionEnd, json!({}))).await?;
        }
        transaction.commit().await
    }
}

fn about<'a>(
    caller: &'a Caller,
    request: &'a RequestId,
    at: Time,
    action: Action,
    detail: serde_json::Value,
) -> NewAudit<'a> {
    NewAudit {
        organization: caller.id(),
        at,
        actor: format!("key:{}", caller.key_prefix()),
        action,
        target: caller.key_prefix(),
        outcome: Outcome::Done,
        detail,
        request_id: &request.0,
    }
}
