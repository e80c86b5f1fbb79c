//! Trust in signing keys, with dates. What counts is when this platform received a bundle, never when its signer claims to
//! have made it: rotating a key leaves its history verified, and a thief cannot date back.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use evidence_bundle::{PublicKey, TrustRoot};
use serde_json::json;

use super::admin::{Actor, check_label};
use super::operator::actor;
use super::window::Window;
use super::{Operator, RequestId, Service};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::{Action, BundleRow, Outcome, TrustedKeyRow};
use crate::time::Time;

/// A key whose dates changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Changed {
    /// The key.
    pub row: TrustedKeyRow,
    /// How many stored bundles by this key were received too late to count any longer.
    pub outside: u64,
}

impl Service {
    /// Trusts a public key (PEM or OpenSSH); `false` if it was trusted already.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if it is not an Ed25519 public key.
    pub async fn add_trusted_key(
        &self,
        principal: &Principal,
        request: &RequestId,
        public_key: &str,
        label: &str,
    ) -> Result<(TrustedKeyRow, bool), Error> {
        self.add_trusted_key_within(principal, request, public_key, label, Window::default()).await
    }

    /// Trusts a public key between these times; `false` if it was trusted already.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if it is not an Ed25519 public key.
    pub async fn add_trusted_key_within(
        &self,
        principal: &Principal,
        request: &RequestId,
        public_key: &str,
        label: &str,
        window: Window,
    ) -> Result<(TrustedKeyRow, bool), Error> {
        self.add_trust(&Actor::of(principal, request)?, public_key, label, window).await
    }

    /// The keys that the organization trusts.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`].
    pub async fn trusted_keys(&self, principal: &Principal) -> Result<Vec<TrustedKeyRow>, Error> {
        principal.require(Capability::Administer)?;
        self.inner.store.trusted_keys(principal.organization()).await
    }

    /// Sets the times between which a key counts.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn set_trust_window(
        &self,
        principal: &Principal,
        request: &RequestId,
        key_id: &str,
        window: Window,
    ) -> Result<Changed, Error> {
        self.change_window(&Actor::of(principal, request)?, key_id, window).await
    }

    /// Revokes a key: bundles that were received since this time do not count.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn revoke_trusted_key(
        &self,
        principal: &Principal,
        request: &RequestId,
        key_id: &str,
        since: Time,
        reason: &str,
    ) -> Result<Changed, Error> {
        self.revoke_trust(&Actor::of(principal, request)?, key_id, since, reason).await
    }

    /// Removes a key that was added by mistake. Bundles that it signed stay stored, but no longer verify.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn remove_trusted_key(
        &self,
        principal: &Principal,
        request: &RequestId,
        key_id: &str,
    ) -> Result<(), Error> {
        self.end_trust(&Actor::of(principal, request)?, key_id).await
    }

    /// The keys that the organization or the operator revoked, for a bundle that the platform received at this time.
    /// Nothing is trusted yet.
    pub(super) async fn revoked(&self, principal: &Principal, received: Time) -> Result<TrustRoot, Error> {
        let rows = self.inner.store.trusted_keys(principal.organization()).await?;
        self.revoked_of(&rows, received)
    }

    /// Whether the key of this bundle may have been revoked when the platform received it: only a reading can tell, or it
    /// was.
    pub(super) async fn may_be_revoked(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
    ) -> Result<bool, Error> {
        let rows = self.inner.store.trusted_keys(principal.organization()).await?;
        let revoked = self.revoked_of(&rows, bundle.uploaded_at)?;
        if revoked.revoked_keys().is_none() {
            return Ok(false);
        }
        match rows.iter().find(|row| row.key_id == bundle.overview.key_id) {
            Some(row) => Ok(revoked.revocation(&public_key(row)?).is_some()),
            None => Ok(true),
        }
    }

    fn revoked_of(&self, rows: &[TrustedKeyRow], received: Time) -> Result<TrustRoot, Error> {
        let mut trust = self.inner.settings.revoked.clone().received_at(received.0.div_euclid(1_000));
        for row in rows {
            if let Some((since, reason)) = &row.revoked {
                trust.revoke_key(&row.label, &public_key(row)?, since.0.div_euclid(1_000), reason);
            }
        }
        Ok(trust)
    }

    /// The keys that the organization trusts, for a bundle that the platform received at this time.
    pub(super) async fn trust(&self, principal: &Principal, received: Time) -> Result<TrustRoot, Error> {
        let rows = self.inner.store.trusted_keys(principal.organization()).await?;
        let mut trust = self.revoked_of(&rows, received)?;
        let seconds = |time: Time| time.0.div_euclid(1_000);
        for row in &rows {
            let (from, until) = (row.valid_from.map(seconds), row.valid_until.map(seconds));
            trust.add_key_within(&row.label, public_key(row)?, from, until);
        }
        if trust.is_empty() { Err(Error::NoTrustedKey) } else { Ok(trust) }
    }

    pub(super) async fn add_trust(
        &self,
        actor: &Actor<'_>,
        public_key: &str,
        label: &str,
        window: Window,
    ) -> Result<(TrustedKeyRow, bool), Error> {
        check_label(label)?;
        check_window(window)?;
        let key = PublicKey::parse(public_key.as_bytes())
            .map_err(|error| Error::unusable("the public key cannot be used", error))?;
        let now = self.inner.clock.now();
        let row = TrustedKeyRow {
            key_id: key.key_id().to_string(),
            public_key: key.to_spki_base64(),
            fingerprint: key.ssh_fingerprint(),
            label: label.to_owned(),
            created_at: now,
            valid_from: window.from,
            valid_until: window.until,
            revoked: None,
        };
        let mut transaction = self.inner.store.begin().await?;
        let added = transaction.add_trusted_key(actor.organization, &row).await?;
        let outcome = if added { Outcome::Done } else { Outcome::Unchanged };
        let detail = json!({
            "fingerprint": row.fingerprint, "name": label,
            "valid_from": window.from, "valid_until": window.until,
        });
        transaction.audit(actor.record(now, Action::TrustAdd, &row.key_id, outcome, detail)).await?;
        let known = transaction.trusted_key(actor.organization, &row.key_id).await?;
        transaction.commit().await?;
        Ok((known.ok_or(Error::Busy)?, added))
    }

    async fn change_window(&self, actor: &Actor<'_>, key_id: &str, window: Window) -> Result<Changed, Error> {
        check_window(window)?;
        let action = (Action::TrustUpdate, json!({ "valid_from": window.from, "valid_until": window.until }));
        let changed =
            |row: TrustedKeyRow| TrustedKeyRow { valid_from: window.from, valid_until: window.until, ..row };
        // Both ends are whole seconds.
        let outside = window.until.map(|until| Time(until.0.saturating_add(1_000)));
        self.change_trust(actor, key_id, action, changed, outside).await
    }

    async fn revoke_trust(
        &self,
        actor: &Actor<'_>,
        key_id: &str,
        since: Time,
        reason: &str,
    ) -> Result<Changed, Error> {
        if reason.trim().is_empty() || reason.len() > 500 || reason.chars().any(char::is_control) {
            let rule = "a reason must have 1 to 500 bytes and no control characters";
            return Err(Error::Invalid(rule.into()));
        }
        let since = whole(since);
        let action = (Action::TrustRevoke, json!({ "since": since, "reason": reason }));
        let changed = |row: TrustedKeyRow| {
            // A second revocation can only begin earlier: what was not trusted does not become trusted.
            let since = row.revoked.as_ref().map_or(since, |(before, _)| since.min(*before));
            TrustedKeyRow { revoked: Some((since, reason.to_owned())), ..row }
        };
        self.change_trust(actor, key_id, action, changed, Some(since)).await
    }

    async fn change_trust(
        &self,
        actor: &Actor<'_>,
        key_id: &str,
        (action, detail): (Action, serde_json::Value),
        change: impl FnOnce(TrustedKeyRow) -> TrustedKeyRow,
        outside: Option<Time>,
    ) -> Result<Changed, Error> {
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        let before = transaction.trusted_key(actor.organization, key_id).await?;
        let before = before.ok_or(Error::NotFound("trusted key"))?;
        let row = change(before.clone());
        transaction.update_trusted_key(actor.organization, &row).await?;
        let outcome = if row == before { Outcome::Unchanged } else { Outcome::Done };
        transaction.audit(actor.record(now, action, key_id, outcome, detail)).await?;
        transaction.commit().await?;
        let outside = match outside {
            Some(since) => self.inner.store.received_since(actor.organization, key_id, since).await?,
            None => 0,
        };
        Ok(Changed { row, outside })
    }

    async fn end_trust(&self, actor: &Actor<'_>, key_id: &str) -> Result<(), Error> {
        let now = self.inner.clock.now();
        let mut transaction = self.inner.store.begin().await?;
        if !transaction.remove_trusted_key(actor.organization, key_id).await? {
            return Err(Error::NotFound("trusted key"));
        }
        transaction.audit(actor.record(now, Action::TrustRemove, key_id, Outcome::Done, json!({}))).await?;
        transaction.commit().await
    }

    /// The id of the key with this id, OpenSSH fingerprint or name.
    async fn trusted_key_id(&self, organization: &OrganizationId, key: &str) -> Result<String, Error> {
        let rows = self.inner.store.trusted_keys(organization).await?;
        if let Some(row) = rows.iter().find(|row| row.key_id == key || row.fingerprint == key) {
            return Ok(row.key_id.clone());
        }
        let named: Vec<&str> =
            rows.iter().filter(|row| row.label == key).map(|row| row.key_id.as_str()).collect();
        match named.as_slice() {
            [] => Err(Error::NotFound("trusted key")),
            [only] => Ok((*only).to_owned()),
            several => Err(Error::Invalid(format!(
                "{} keys have this name; give the id of one: {}",
                several.len(),
                several.join(", ")
            ))),
        }
    }
}

impl Operator {
    /// The keys that an organization trusts.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`].
    pub async fn trusted_keys(&self, slug: &str) -> Result<Vec<TrustedKeyRow>, Error> {
        self.service().inner.store.trusted_keys(&self.organization(slug).await?.id).await
    }

    /// Changes one or both ends of the time in which a key counts; `Some(None)` removes an end. The key is given by its
    /// id, its OpenSSH fingerprint or its name.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn update_trust(
        &self,
        slug: &str,
        key: &str,
        from: Option<Option<Time>>,
        until: Option<Option<Time>>,
    ) -> Result<Changed, Error> {
        let (organization, service) = (self.organization(slug).await?, self.service());
        let id = service.trusted_key_id(&organization.id, key).await?;
        let rows = service.inner.store.trusted_keys(&organization.id).await?;
        let row = rows.into_iter().find(|row| row.key_id == id).ok_or(Error::NotFound("trusted key"))?;
        let window = Window { from: from.unwrap_or(row.valid_from), until: until.unwrap_or(row.valid_until) };
        service.change_window(&actor(&organization), &id, window).await
    }

    /// Revokes a key.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn revoke_trust(
        &self,
        slug: &str,
        key: &str,
        since: Time,
        reason: &str,
    ) -> Result<Changed, Error> {
        let (organization, service) = (self.organization(slug).await?, self.service());
        let id = service.trusted_key_id(&organization.id, key).await?;
        service.revoke_trust(&actor(&organization), &id, since, reason).await
    }

    /// Removes a key that was added by mistake; returns its id.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`] or [`Error::Invalid`].
    pub async fn remove_trust(&self, slug: &str, key: &str) -> Result<String, Error> {
        let (organization, service) = (self.organization(slug).await?, self.service());
        let id = service.trusted_key_id(&organization.id, key).await?;
        service.end_trust(&actor(&organization), &id).await?;
        Ok(id)
    }
}

fn public_key(row: &TrustedKeyRow) -> Result<PublicKey, Error> {
    let damaged = || Error::Internal("a trusted key is damaged", None);
    let der = STANDARD.decode(&row.public_key).map_err(|_| damaged())?;
    PublicKey::from_spki_der(&der).map_err(|_| damaged())
}

fn whole(time: Time) -> Time {
    Time(time.0.div_euclid(1_000).saturating_mul(1_000))
}

fn check_window(window: Window) -> Result<(), Error> {
    match (window.from, window.until) {
        (Some(from), Some(until)) if until < from => {
            Err(Error::Invalid("the key would end before it begins".into()))
        }
        _ => Ok(()),
    }
}
