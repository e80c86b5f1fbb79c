//! Accepts bundles, and verifies stored ones again.
//!
//! The order makes it safe: spool, digest, verify, claim, store the blob complete and synced, then one transaction that
//! makes the bundle visible. Only then is success reported.

use std::collections::BTreeMap;
use std::fs::File;
use std::io;

use bytes::Bytes;
use evidence_bundle::{Limits, NewerBundle, Reason, Status};
use evidence_view::Overview;
use futures_util::{Stream, StreamExt as _};
use object_store::{GetResult, GetResultPayload};
use serde_json::json;

use super::settings::RETENTION_DAYS;
use super::shares::Share;
use super::{RequestId, Service, webhooks};
use crate::cancel::{self, CancelToken};
use crate::error::Error;
use crate::event::Event;
use crate::id::BlobDigest;
use crate::principal::Principal;
use crate::readings::Transcript;
use crate::role::Capability;
use crate::spool::{Spooled, UploadLimits};
use crate::store::{Action, BundleRow, NewAudit, Outcome};
use crate::time::Time;
use crate::verify::{self, Terms};

/// The uploader's parameters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewUpload {
    /// The SHA-256 that the bytes must have.
    pub digest: BlobDigest,
    /// The tags to attach.
    pub tags: BTreeMap<String, String>,
    /// How many days to keep it; the platform's default if `None`.
    pub retention_days: Option<u32>,
}

/// A stored bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stored {
    /// The bundle.
    pub bundle: BundleRow,
    /// Whether it is new; otherwise the same bytes were stored already, and nothing changed.
    pub created: bool,
}

/// The result of verifying a stored bundle again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verification {
    /// Whether a currently trusted key signed the stored bytes.
    pub verified: bool,
    /// The signing key, if the bundle is verified.
    pub key_id: Option<String>,
    /// Why it is not verified: a code of the bundle format, `digest-mismatch`, `blob-missing` or `no-trusted-key`.
    pub reason: Option<String>,
    /// A description of the reason.
    pub detail: Option<String>,
}

/// Whether a verification writes the rows that it finds, for its caller to keep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Rows {
    Write,
    Drop,
}

/// A verdict with the rows that were written, and the digest of the bytes.
pub(super) type Judged = (verify::Verdict<Transcript>, Option<BlobDigest>);

/// The most tags of one bundle.
const TAGS: usize = 32;

/// After this time a removal without an outcome belongs to a process that no longer runs.
const REMOVAL_SECONDS: u64 = 300;

/// Checks the tags of an upload.
///
/// # Errors
/// Fails with [`Error::Invalid`].
pub fn check_tags(tags: &BTreeMap<String, String>) -> Result<(), Error> {
    if tags.len() > TAGS {
        return Err(Error::Invalid(format!("a bundle can have at most {TAGS} tags")));
    }
    for (key, value) in tags {
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-' | b'/');
        if key.is_empty() || key.len() > 64 || !key.bytes().all(plain) {
            return Err(Error::Invalid(
                "a tag's name must have 1 to 64 of the characters A-Z a-z 0-9 . _ - /".into(),
            ));
        }
        if value.len() > 256 || value.chars().any(char::is_control) {
            return Err(Error::Invalid(
                "a tag's value must have at most 256 bytes and no control characters".into(),
            ));
        }
    }
    Ok(())
}

impl Service {
    /// Accepts a bundle.
    ///
    /// # Errors
    /// Fails with [`Error::Busy`] if too many uploads are active, [`Error::NoTrustedKey`], the errors of receiving,
    /// [`Error::Refused`] if a trusted key did not sign it, [`Error::NewerVersion`], and [`Error::BundleIdTaken`]. Key
    /// and trust are checked on arrival and again before storing.
    pub async fn upload<S, E>(
        &self,
        principal: &Principal,
        request: &RequestId,
        upload: NewUpload,
        body: S,
    ) -> Result<Stored, Error>
    where
        S: Stream<Item = Result<Bytes, E>>,
    {
        principal.require(Capability::Upload)?;
        check_tags(&upload.tags)?;
        if upload.retention_days.is_some_and(|days| days > RETENTION_DAYS) {
            return Err(Error::Invalid(format!("retention_days must be at most {RETENTION_DAYS}")));
        }
        let least = self.inner.settings.least_retention_days();
        if upload.retention_days.is_some_and(|days| days < least) {
            return Err(Error::Invalid(format!(
                "retention_days must be at least {least}, the minimum of this platform"
            )));
        }
        let place = self.inner.uploads.take(principal.organization())?;
        let spooled = self.inner.spool.receive(body, self.inner.settings.patience).await?;
        if spooled.digest != upload.digest {
            return Err(Error::DigestMismatch);
        }
        // A client that disconnects cancels the verification. A bundle that is already verified is stored
        // nevertheless.
        let (_guard, cancel) = cancel::pair();
        let (service, principal, request) = (self.clone(), principal.clone(), request.clone());
        let rest = async move {
            let _place = place;
            service.admit(&principal, &request, upload, spooled, &cancel).await
        };
        tokio::spawn(rest).await.map_err(Error::join)?
    }

    /// Verifies what has arrived and stores it.
    async fn admit(
        &self,
        principal: &Principal,
        request: &RequestId,
        upload: NewUpload,
        spooled: Spooled,
        cancel: &CancelToken,
    ) -> Result<Stored, Error> {
        let organization = principal.organization();
        let known = self.inner.store.bundle_of(organization, &upload.digest).await?;
        if let Some(bundle) = known {
            self.refuse_revoked(principal, &bundle).await?;
            let (action, outcome) = (Action::BundleUpload, Outcome::Unchanged);
            let record = self.record(principal, request, action, &bundle.id, outcome, json!({}));
            self.note(record).await?;
            return Ok(Stored { bundle, created: false });
        }
        let trust = self.trust(principal, self.inner.clock.now()).await?;
        let file = spooled.file.reopen()?;
        let share = cancel.or_gone(self.inner.readers.wait(principal.organization())).await??;
        let limits = Limits { inflated_bytes: self.inner.settings.inflated_bytes, ..verify::LIMITS };
        let terms = Terms { trust, limits, judgement: self.inner.settings.require_judgement };
        let (verdict, _) = self.judge(share, cancel, file, terms, Rows::Write).await?;
        let (overview, rows) = match verdict {
            Ok(found) => found,
            Err(error) => {
                let reason = match &error {
                    Error::Refused { reason, .. } => Some(reason.code()),
                    Error::NewerVersion(_) => Some(NewerBundle::CODE),
                    _ => None,
                };
                if let Some(reason) = reason {
                    // A bundle that does not verify has no id, so use its digest.
                    let target = upload.digest.to_string();
                    let detail = json!({ "reason": reason, "sha256": target });
                    let (action, outcome) = (Action::BundleUpload, Outcome::Refused);
                    let record = self.record(principal, request, action, &target, outcome, detail);
                    self.note_refused(record, reason, &error.to_string()).await?;
                }
                return Err(error);
            }
        };
        if let Some(other) = self.inner.store.bundle(organization, &overview.bundle_id).await?
            && other.digest != spooled.digest
        {
            let record = self.conflict(principal, request, &other.id, &spooled.digest);
            self.note(record).await?;
            return Err(Error::BundleIdTaken(other.id));
        }
        let stored = self.store_bundle(principal, request, upload, spooled, overview).await?;
        if let Some(rows) = rows {
            // The acknowledgement does not wait for it: whatever is missing is read again.
            self.inner.readings.keep_soon(stored.bundle.digest, rows);
        }
        Ok(stored)
    }

    async fn store_bundle(
        &self,
        principal: &Principal,
        request: &RequestId,
        upload: NewUpload,
        spooled: Spooled,
        overview: Overview,
    ) -> Result<Stored, Error> {
        let organization = principal.organization();
        let now = self.inner.clock.now();
        let days = upload.retention_days.unwrap_or(self.inner.settings.retention_days);
        let bundle = BundleRow {
            id: overview.bundle_id.clone(),
            digest: spooled.digest,
            size_bytes: spooled.size,
            collected_at: Time(overview.created_at.saturating_mul(1_000)),
            uploaded_at: now,
            uploaded_by: principal.key_prefix().to_owned(),
            tags: upload.tags,
            retention_until: now.plus_days(days),
            legal_hold: false,
            overview,
        };
        let mut transaction = self.inner.store.begin().await?;
        let abandoned = now.minus_seconds(REMOVAL_SECONDS);
        let claim = transaction.claim_put(organization, &bundle.digest, now, abandoned).await?;
        let claim = claim.ok_or(Error::Busy)?;
        transaction.commit().await?;

        self.inner.blobs.put(organization, spooled).await?;
        let before = self.inner.store.bundle_before(organization, &bundle).await?;

        let mut transaction = self.inner.store.begin().await?;
        // Both may have changed in the minutes since the first check. The sweep removes the bytes.
        let now = self.inner.clock.now();
        if !transaction.key_counts(organization, principal.key_id(), now).await? {
            return Err(Error::Unauthenticated);
        }
        if !transaction.trusts(organization, &bundle.overview.key_id, now).await? {
            let reason = Reason::SignatureInvalid;
            let detail = json!({ "reason": reason.code(), "sha256": bundle.digest.to_string() });
            let record =
                self.record(principal, request, Action::BundleUpload, &bundle.id, Outcome::Refused, detail);
            transaction.audit(record).await?;
            let data = json!({ "sha256": bundle.digest.to_string(), "reason": reason.code() });
            transaction.emit(organization, Event::SignerUnknown, now, data).await?;
            transaction.commit().await?;
            let detail = "the organization no longer trusts the key that signed it".to_owned();
            return Err(Error::Refused { reason, detail });
        }
        if !transaction.add_bundle(organization, &bundle).await? {
            let stored = transaction.digest_of(organization, &bundle.id).await?;
            if stored.is_some_and(|stored| stored != bundle.digest) {
                // The sweep removes the bytes.
                transaction.audit(self.conflict(principal, request, &bundle.id, &bundle.digest)).await?;
                transaction.commit().await?;
                return Err(Error::BundleIdTaken(bundle.id));
            }
            // Another upload has just stored the same bytes. An open claim would look like a leftover.
            transaction.end_claim(&claim).await?;
            let record = self.record(
                principal,
                request,
                Action::BundleUpload,
                &bundle.id,
                Outcome::Unchanged,
                json!({}),
            );
            transaction.audit(record).await?;
            transaction.commit().await?;
            let bundle = self.inner.store.bundle(organization, &bundle.id).await?.ok_or(Error::Busy)?;
            return Ok(Stored { bundle, created: false });
        }
        if !transaction.end_claim(&claim).await? {
            // The claim was taken over during the put, so the blob may be deleted. Nothing becomes visible.
            return Err(Error::Busy);
        }
        let detail = json!({
            "sha256": bundle.digest.to_string(),
            "size_bytes": bundle.size_bytes,
            "key_id": bundle.overview.key_id,
            "retention_until": bundle.retention_until,
        });
        let record = self.record(principal, request, Action::BundleUpload, &bundle.id, Outcome::Done, detail);
        transaction.audit(record).await?;
        let about = webhooks::stored(&bundle);
        transaction.emit(organization, Event::BundleStored, now, about.clone()).await?;
        for (event, to) in [(Event::ControlFailed, Status::Fail), (Event::ControlLost, Status::NotVerifiable)]
        {
            let controls = before.as_ref().map(|before| webhooks::turned(before, &bundle, to));
            if let Some(controls) = controls.filter(|controls| !controls.is_empty()) {
                let before = before.as_ref().map(|before| before.id.as_str());
                let data = json!({ "bundle": about, "previous_bundle_id": before, "controls": controls });
                transaction.emit(organization, event, now, data).await?;
            }
        }
        transaction.advance_clock(now).await?;
        transaction.commit().await?;
        Ok(Stored { bundle, created: true })
    }

    /// Records that a bundle was refused, and tells the webhooks.
    async fn note_refused(&self, record: NewAudit<'_>, reason: &str, detail: &str) -> Result<(), Error> {
        let event = match reason == Reason::SignatureInvalid.code() {
            true => Event::SignerUnknown,
            false => Event::BundleRefused,
        };
        let data = json!({ "sha256": record.target, "reason": reason, "detail": detail });
        let (organization, at) = (record.organization, record.at);
        let mut transaction = self.inner.store.begin().await?;
        transaction.audit(record).await?;
        transaction.emit(organization, event, at, data).await?;
        transaction.commit().await
    }

    /// The audit record of a bundle that was refused because its id belongs to other bytes.
    fn conflict<'a>(
        &'a self,
        principal: &'a Principal,
        request: &'a RequestId,
        id: &'a str,
        digest: &BlobDigest,
    ) -> NewAudit<'a> {
        let detail = json!({ "reason": Error::BUNDLE_ID_TAKEN, "sha256": digest.to_string() });
        self.record(principal, request, Action::BundleUpload, id, Outcome::Refused, detail)
    }

    /// Reads the stored bytes again and verifies them with the keys that the organization trusts now.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], [`Error::Unavailable`], or [`Error::Busy`] if the organization has too many
    /// requests.
    pub async fn verify(
        &self,
        principal: &Principal,
        request: &RequestId,
        id: &str,
    ) -> Result<Verification, Error> {
        principal.require(Capability::Verify)?;
        let _place = self.inner.verifications.take(principal.organization())?;
        let bundle = self.find(principal, id).await?;
        // What this reading finds replaces what an earlier one found.
        self.inner.readings.forget(&bundle.digest);
        let verification = self.verify_stored(principal, &bundle, Rows::Write).await?;
        let outcome = if verification.verified { Outcome::Done } else { Outcome::Refused };
        let detail = json!({ "verified": verification.verified, "reason": verification.reason });
        self.note(self.record(principal, request, Action::BundleVerify, id, outcome, detail)).await?;
        Ok(verification)
    }

    async fn verify_stored(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
        rows: Rows,
    ) -> Result<Verification, Error> {
        let failed = |reason: &str, detail: String| Verification {
            verified: false,
            key_id: None,
            reason: Some(reason.to_owned()),
            detail: Some(detail),
        };
        let trust = match self.trust(principal, bundle.uploaded_at).await {
            Ok(trust) => trust,
            Err(error @ Error::NoTrustedKey) => return Ok(failed("no-trusted-key", error.to_string())),
            Err(error) => return Err(error),
        };
        let blob = match self.stored(principal, bundle).await {
            Ok(blob) => blob,
            Err(Error::Damaged { reason, detail }) => return Ok(failed(reason, detail)),
            Err(error) => return Err(error),
        };
        // Wait before copying: waiting requests use no disk space.
        let share = self.inner.readers.wait(principal.organization()).await?;
        let (file, _spooled) = self.local(blob).await?;
        let (_guard, cancel) = cancel::pair();
        // The operator's demands are for uploads: a bundle that was accepted under others is still valid.
        let (verdict, digest) = self.judge(share, &cancel, file, Terms::stored(trust), rows).await?;
        if digest != Some(bundle.digest) {
            return Ok(failed("digest-mismatch", Error::digest_mismatch().to_string()));
        }
        match verdict {
            Ok((overview, rows)) => {
                if let Some(rows) = rows {
                    self.inner.readings.keep_soon(bundle.digest, rows);
                }
                Ok(Verification { verified: true, key_id: Some(overview.key_id), reason: None, detail: None })
            }
            Err(Error::Refused { reason, detail }) => Ok(failed(reason.code(), detail)),
            Err(error @ Error::NewerVersion(_)) => Ok(failed(NewerBundle::CODE, error.to_string())),
            Err(error) => Err(error),
        }
    }

    /// The blob as a local file: the stored one itself, or a copy that is removed with the returned guard.
    pub(super) async fn local(&self, blob: GetResult) -> Result<(File, Option<Spooled>), Error> {
        let size = blob.meta.size;
        match blob.payload {
            GetResultPayload::File(file, _) => Ok((file, None)),
            GetResultPayload::Stream(stream) => {
                let patience = UploadLimits { bytes: size, ..self.inner.settings.patience };
                let stream = stream.map(|chunk| chunk.map_err(io::Error::other));
                let spooled =
                    self.inner.spool.receive(stream, patience).await.map_err(|error| match error {
                        Error::BodyIncomplete | Error::TooSlow | Error::TooLarge(_) => {
                            Error::Unavailable("the storage ended its answer early".into())
                        }
                        error => error,
                    })?;
                Ok((spooled.file.reopen()?, Some(spooled)))
            }
        }
    }

    /// Verifies on a separate thread, and stops early if the client disconnects.
    pub(super) async fn judge(
        &self,
        share: Share,
        cancel: &CancelToken,
        file: File,
        terms: Terms,
        rows: Rows,
    ) -> Result<Judged, Error> {
        let bundle = cancel.reader(file);
        let (readings, now) = (self.inner.readings.clone(), self.inner.clock.now());
        let work = move || {
            let _share = share;
            let out = match rows {
                Rows::Write => readings.begin(now),
                Rows::Drop => None,
            };
            verify::overview(bundle, &terms, out)
        };
        tokio::task::spawn_blocking(work).await.map_err(Error::join)
    }

    /// Refuses a stored bundle whose key was revoked before the platform received it.
    async fn refuse_revoked(&self, principal: &Principal, bundle: &BundleRow) -> Result<(), Error> {
        if self.revoked(principal, bundle.uploaded_at).await?.revoked_keys().is_none() {
            return Ok(());
        }
        let reason = Reason::KeyRevoked;
        let found = self.verify_stored(principal, bundle, Rows::Drop).await?;
        if found.reason.as_deref() == Some(reason.code()) {
            return Err(Error::Refused { reason, detail: found.detail.unwrap_or_default() });
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_short_and_plain() {
        let tags = |key: &str, value: &str| BTreeMap::from([(key.to_owned(), value.to_owned())]);
        assert!(check_tags(&tags("env", "prod \u{e9}")).is_ok());
        assert!(check_tags(&tags("team/name.x_y-z", "")).is_ok());
        for (key, value) in
            [("", "v"), ("a b", "v"), ("k", "a\nb"), (&"k".repeat(65), "v"), ("k", &"v".repeat(257))]
        {
            assert!(check_tags(&tags(key, value)).is_err(), "{key}");
        }
        let many = (0..33).map(|n| (format!("k{n}"), String::new())).collect();
        assert!(check_tags(&many).is_err());
    }
}
