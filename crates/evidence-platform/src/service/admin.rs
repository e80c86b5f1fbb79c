//! Administration of one organization by its admin keys: keys, hold, retention, deletion, the audit log.

use serde_json::json;

use super::{Page, PageRequest, RequestId, Service};
use crate::error::Error;
use crate::id::{OrganizationId, random_hex};
use crate::principal::Principal;
use crate::role::{Capability, Role};
use crate::secret::ApiKey;
use crate::store::{Action, AuditRecord, BundleRow, KeyRow, NewAudit, Outcome, Position};
use crate::time::Time;

/// A new key, which is shown only once.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Its stored row.
    pub row: KeyRow,
    /// The key.
    pub key: ApiKey,
}

/// The administrator: an admin key, or the operator on the command line.
pub(super) struct Actor<'a> {
    pub(super) organization: &'a OrganizationId,
    pub(super) name: String,
    pub(super) request: &'a str,
}

impl<'a> Actor<'a> {
    pub(super) fn of(principal: &'a Principal, request: &'a RequestId) -> Result<Actor<'a>, Error> {
        principal.require(Capability::Administer)?;
        let name = format!("key:{}", principal.key_prefix());
        Ok(Actor { organization: principal.organization(), name, request: &request.0 })
    }

    pub(super) fn record(
        &'a self,
        at: Time,
        action: Action,
        target: &'a str,
        outcome: Outcome,
        detail: serde_json::Value,
    ) -> NewAudit<'a> {
        let actor = self.name.clone();
        NewAudit {
            organization: self.organization,
            at,
            actor,
            action,
            target,
            outcome,
            detail,
            request_id: self.request,
        }
    }
}

/// Checks a label that a person chose.
pub(super) fn check_label(label: &str) -> Result<(), Error> {
    if label.trim().is_empty() || label.len() > 200 || label.chars().any(char::is_control) {
        return Err(Error::Invalid("a name must have 1 to 200 bytes and no control characters".into()));
    }
    Ok(())
}

impl Service {
    /// Creates a key.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Invalid`].
    pub async fn create_key(
        &self,
        principal: &Principal,
        request: &RequestId,
        role: Role,
        label: &str,
        expires_at: Option<Time>,
    ) -> Result<NewKey, Error> {
        self.make_key(&Actor::of(principal, request)?, role, label, expires_at).await
    }

    /// The keys of the organization, including revoked ones.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`].
    pub async fn keys(&self, principal: &Principal) -> Result<Vec<KeyRow>, Error> {
        principal.require(Capability::Administer)?;
        self.inner.store.keys(principal.organization()).await
    }

    /// Revokes a key by its id or its prefix. Takes effect immediately.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn revoke_key(
        &self,
        principal: &Principal,
        request: &RequestId,
        id: &str,
    ) -> Result<KeyRow, Error> {
        self.end_key(&Actor::of(principal, request)?, id).await
    }

    /// Puts a bundle under legal hold, or releases it.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn set_legal_hold(
        &self,
        principal: &Principal,
        request: &RequestId,
        id: &str,
        hold: bool,
    ) -> Result<BundleRow, Error> {
        let actor = Actor::of(principal, request)?;
        self.find(principal, id).await?;
        let mut transaction = self.inner.store.begin().await?;
        let changed = transaction.set_legal_hold(actor.organization, id, hold).await?;
        let outcome = if changed { Outcome::Done } else { Outcome::Unchanged };
        let detail = json!({ "legal_hold": hold });
        transaction
            .audit(actor.record(self.inner.clock.now(), Action::BundleHold, id, outcome, detail))
            .await?;
        transaction.commit().await?;
        self.find(principal, id).await
    }

    /// Extends the retention of a bundle.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], or with [`Error::RetentionShortened`] if it would end earlier than now.
    pub async fn extend_retention(
        &self,
        principal: &Principal,
        request: &RequestId,
        id: &str,
        until: Time,
    ) -> Result<BundleRow, Error> {
        let actor = Actor::of(principal, request)?;
        let now = self.inner.clock.now();
        if until > now.plus_days(super::settings::RETENTION_DAYS) {
            return Err(Error::Invalid("retention_until is more than a hundred years away".into()));
        }
        let before = self.find(principal, id).await?;
        let mut transaction = self.inner.store.begin().await?;
        let changed = transaction.extend_retention(actor.organization, id, until).await?;
        if !changed && until < before.retention_until {
            return Err(Error::RetentionShortened(before.retention_until));
        }
        let outcome = if changed { Outcome::Done } else { Outcome::Unchanged };
        let detail = json!({ "from": before.retention_until, "until": until });
        transaction.audit(actor.record(now, Action::BundleRetain, id, outcome, detail)).await?;
        transaction.commit().await?;
        self.find(principal, id).await
    }

    /// Deletes a bundle whose retention has ended and that nothing holds.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], [`Error::LegalHold`], [`Error::Retained`] or [`Error::ClockAhead`].
    pub async fn delete_bundle(
        &self,
        principal: &Principal,
        request: &RequestId,
        id: &str,
    ) -> Result<(), Error> {
        let actor = Actor::of(principal, request)?;
        let now = self.inner.clock.now();
        self.find(principal, id).await?;
        if self.delete_due(&actor, id, now).await? {
            return Ok(());
        }
        let bundle = self.find(principal, id).await?;
        let tags = self.holding_tags(&actor, &bundle.tags).await?;
        let detail = json!({
            "legal_hold": bundle.legal_hold,
            "held_by_tags": tags,
            "retention_until": bundle.retention_until,
        });
        self.note(actor.record(now, Action::BundleDelete, id, Outcome::Refused, detail)).await?;
        Err(match bundle.legal_hold || !tags.is_empty() {
            true => Error::LegalHold,
            false => Error::Retained(bundle.retention_until),
        })
    }

    /// Deletes a bundle whose retention has ended and that nothing holds. `false` otherwise.
    pub(super) async fn delete_due(&self, actor: &Actor<'_>, id: &str, now: Time) -> Result<bool, Error> {
        let mut transaction = self.inner.store.begin().await?;
        let digest = transaction.digest_of(actor.organization, id).await?;
        let deleted = transaction.delete_bundle(actor.organization, id, now).await?;
        let Some(digest) = digest.filter(|_| deleted) else { return Ok(false) };
        if let Err(error) = transaction.require_clock(now).await {
            drop(transaction);
            if let Error::ClockAhead(seen) = &error {
                let detail = json!({ "clock_ahead_of": seen });
                self.note(actor.record(now, Action::BundleDelete, id, Outcome::Refused, detail)).await?;
            }
            return Err(error);
        }
        let claim = transaction.claim_delete(actor.organization, &digest, now).await?;
        let detail = json!({ "sha256": digest.to_string() });
        transaction.audit(actor.record(now, Action::BundleDelete, id, Outcome::Done, detail)).await?;
        transaction.commit().await?;
        self.inner.readings.forget(&digest);
        // The bundle is deleted. If its bytes cannot be removed now, the next sweep finds the claim.
        if let Some(claim) = claim
            && let Err(error) = self.remove_blob(&claim).await
        {
            tracing::warn!(error = ?error, "a deleted bundle's bytes are left for the next sweep");
        }
        Ok(true)
    }

    /// The audit log, newest first.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`].
    pub async fn audit_log(
        &self,
        principal: &Principal,
        page: &PageRequest,
    ) -> Result<Page<AuditRecord>, Error> {
        principal.require(Capability::Administer)?;
        let rows = self.inner.store.audit_log(principal.organization(), &page.after, page.rows()).await?;
        Ok(Page::of(rows, page, |row| Position { time: row.at, id: row.id.clone() }))
    }

    pub(super) async fn make_key(
        &self,
        actor: &Actor<'_>,
        role: Role,
        label: &str,
        expires_at: Option<Time>,
    ) -> Result<NewKey, Error> {
        self.add_new_key(actor, ApiKey::random()?, role, label, expires_at).await
    }

    pub(super) async fn add_new_key(
        &self,
        actor: &Actor<'_>,
        key: ApiKey,
        role: Role,
        label: &str,
        expires_at: Option<Time>,
    ) -> Result<NewKey, Error> {
        check_label(label)?;
        let now = self.inner.clock.now();
        if expires_at.is_some_and(|end| end <= now) {
            return Err(Error::Invalid("the key would have ended already".into()));
        }
        let row = KeyRow {
            id: format!("key_{}", random_hex::<12>()?),
            prefix: key.prefix().to_owned(),
            role,
            label: label.to_owned(),
            created_at: now,
            revoked_at: None,
            expires_at,
            last_used_at: None,
        };
        let mut transaction = self.inner.store.begin().await?;
        transaction.add_key(actor.organization, &row, &key.hash()).await?;
        let detail = json!({ "prefix": row.prefix, "role": role, "name": label, "expires_at": expires_at });
        transaction.audit(actor.record(now, Action::KeyCreate, &row.id, Outcome::Done, detail)).await?;
        transaction.commit().await?;
        Ok(NewKey { row, key })
    }

    pub(super) async fn end_key(&self, actor: &Actor<'_>, id: &str) -> Result<KeyRow, Error> {
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        let (row, changed) =
            transaction.revoke_key(actor.organization, id, now).await?.ok_or(Error::NotFound("key"))?;
        let outcome = if changed { Outcome::Done } else { Outcome::Unchanged };
        let detail = json!({ "prefix": row.prefix });
        transaction.audit(actor.record(now, Action::KeyRevoke, &row.id, outcome, detail)).await?;
        transaction.commit().await?;
        Ok(row)
    }
}
