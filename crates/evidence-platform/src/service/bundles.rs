//! Reads bundles: lists, one bundle, its bytes, its files.

use bytes::Bytes;
use futures_util::TryStreamExt as _;
use futures_util::stream::BoxStream;
use object_store::GetResult;
use serde_json::json;

use super::{Page, PageRequest, RequestId, Service};
use crate::error::Error;
use crate::principal::Principal;
use crate::role::Capability;
use crate::store::{Action, BundleFilter, BundleRow, Outcome, Position, Standing, TrustedKeyRow};
use crate::time::Time;

/// The bytes of a bundle.
pub struct Download {
    /// The bundle.
    pub bundle: BundleRow,
    /// Its bytes, as they were uploaded.
    pub bytes: BoxStream<'static, Result<Bytes, std::io::Error>>,
}

impl std::fmt::Debug for Download {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Download").field("bundle", &self.bundle.id).finish_non_exhaustive()
    }
}

impl Service {
    /// Bundles, the latest collected first.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn bundles(&self, principal: &Principal, page: &PageRequest) -> Result<Page<BundleRow>, Error> {
        principal.require(Capability::Read)?;
        let rows = self.inner.store.bundles(principal.organization(), &page.after, page.rows()).await?;
        Ok(Page::of(rows, page, |row| Position { time: row.collected_at, id: row.id.clone() }))
    }

    /// Bundles that match, the latest collected first.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn find_bundles(
        &self,
        principal: &Principal,
        filter: &BundleFilter,
        page: &PageRequest,
    ) -> Result<Page<BundleRow>, Error> {
        principal.require(Capability::Read)?;
        let store = &self.inner.store;
        let rows = store.find_bundles(principal.organization(), filter, &page.after, page.rows()).await?;
        Ok(Page::of(rows, page, |row| Position { time: row.collected_at, id: row.id.clone() }))
    }

    /// The controls of the newest bundle.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn known_controls(&self, principal: &Principal) -> Result<Vec<String>, Error> {
        principal.require(Capability::Read)?;
        self.inner.store.known_controls(principal.organization()).await
    }

    /// The latest bundles since this time, at most this many, the latest first; `take` extracts what the caller
    /// needs of each.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn bundles_since<T>(
        &self,
        principal: &Principal,
        since: Time,
        limit: u32,
        take: impl Fn(BundleRow) -> T,
    ) -> Result<Vec<T>, Error> {
        principal.require(Capability::Read)?;
        self.inner.store.bundles_since(principal.organization(), since, i64::from(limit), take).await
    }

    /// One bundle.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], even if another organization has it.
    pub async fn bundle(&self, principal: &Principal, id: &str) -> Result<BundleRow, Error> {
        principal.require(Capability::Read)?;
        self.find(principal, id).await
    }

    /// The bytes of a bundle. The download is recorded.
    ///
    /// # Errors
    /// Fails with [`Error::NotFound`], or with [`Error::Damaged`] if the bytes are missing.
    pub async fn download(
        &self,
        principal: &Principal,
        request: &RequestId,
        id: &str,
    ) -> Result<Download, Error> {
        principal.require(Capability::Read)?;
        let bundle = self.find(principal, id).await?;
        let blob = self.stored(principal, &bundle).await?;
        if blob.meta.size != bundle.size_bytes {
            return Err(Error::digest_mismatch());
        }
        self.note(self.record(principal, request, Action::BundleDownload, id, Outcome::Done, json!({})))
            .await?;
        Ok(Download { bundle, bytes: Box::pin(blob.into_stream().map_err(std::io::Error::other)) })
    }

    /// The previously collected bundle of the same subject and framework.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn bundle_before(
        &self,
        principal: &Principal,
        bundle: &BundleRow,
    ) -> Result<Option<BundleRow>, Error> {
        principal.require(Capability::Read)?;
        self.inner.store.bundle_before(principal.organization(), bundle).await
    }

    /// The trusted signing keys, with the times in which they count.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn signers(&self, principal: &Principal) -> Result<Vec<TrustedKeyRow>, Error> {
        principal.require(Capability::Read)?;
        self.inner.store.trusted_keys(principal.organization()).await
    }

    /// The ids of those that count now. They are not secret: an uploader may ask whether its bundles will be accepted.
    ///
    /// # Errors
    /// Fails with [`Error::Forbidden`] or [`Error::Unavailable`].
    pub async fn trusted_key_ids(&self, principal: &Principal) -> Result<Vec<String>, Error> {
        principal.require(Capability::Identify)?;
        let (keys, now) =
            (self.inner.store.trusted_keys(principal.organization()).await?, self.inner.clock.now());
        let counting = keys.into_iter().filter(|key| key.standing(now) == Standing::Counts);
        Ok(counting.map(|key| key.key_id).collect())
    }

    /// Finds the bundle. Callers have checked the capability.
    pub(super) async fn find(&self, principal: &Principal, id: &str) -> Result<BundleRow, Error> {
        let found = self.inner.store.bundle(principal.organization(), id).await?;
        found.ok_or(Error::NotFound("bundle"))
    }

    /// The stored bytes of a bundle that was just found.
    pub(super) async fn stored(&self, principal: &Principal, bundle: &BundleRow) -> Result<GetResult, Error> {
        let get = || self.inner.blobs.get(principal.organization(), &bundle.digest);
        if let Some(blob) = get().await? {
            return Ok(blob);
        }
        // A deletion removes the bytes last: nothing is damaged if the bundle is deleted, or has been uploaded again
        // since.
        self.find(principal, &bundle.id).await?;
        get().await?.ok_or_else(Error::blob_missing)
    }
}
