//! Rows of `bundles`. A row exists only once its blob is complete in the storage.

use std::collections::BTreeMap;

use evidence_bundle::text::saturating_i64;
use evidence_view::Overview;
use futures_util::TryStreamExt as _;
use sqlx::any::AnyRow;

use super::columns::{corrupt, integer, text};
use super::database::{Store, Transaction};
use super::retention::HELD_BY_TAG;
use crate::error::Error;
use crate::id::{BlobDigest, OrganizationId};
use crate::time::Time;

/// A stored bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleRow {
    /// The id from its manifest, unique within an organization.
    pub id: String,
    /// The SHA-256 of its bytes.
    pub digest: BlobDigest,
    /// How many bytes it has.
    pub size_bytes: u64,
    /// A summary of the signed documents: the identity, the controls, the counts.
    pub overview: Overview,
    /// When it was collected, as the signer claims.
    pub collected_at: Time,
    /// When it was stored here.
    pub uploaded_at: Time,
    /// The prefix of the key that uploaded it.
    pub uploaded_by: String,
    /// The uploader's tags.
    pub tags: BTreeMap<String, String>,
    /// Until when it must be kept.
    pub retention_until: Time,
    /// Whether it must be kept regardless of the retention.
    pub legal_hold: bool,
}

impl AsRef<Overview> for BundleRow {
    fn as_ref(&self) -> &Overview {
        &self.overview
    }
}

/// A position in a list ordered by time and id, newest first.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Position {
    /// The time of the last item seen.
    pub time: Time,
    /// Its id.
    pub id: String,
}

impl Position {
    /// The position before all items.
    pub fn start() -> Position {
        Position { time: Time(i64::MAX), id: String::new() }
    }
}

pub(super) const COLUMNS: &str = "id, sha256, size_bytes, collected_at, uploaded_at, uploaded_by, facts, tags, \
                       retention_until, legal_hold";

impl Store {
    /// The bundle with this id, if the organization has it.
    pub(crate) async fn bundle(
        &self,
        organization: &OrganizationId,
        id: &str,
    ) -> Result<Option<BundleRow>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM bundles WHERE organization_id = $1 AND id = $2");
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(organization.as_str()).bind(id);
        query.fetch_optional(&self.pool).await?.map(|row| read(&row)).transpose()
    }

    /// The bundle with these bytes, if the organization has it.
    pub(crate) async fn bundle_of(
        &self,
        organization: &OrganizationId,
        digest: &BlobDigest,
    ) -> Result<Option<BundleRow>, Error> {
        let sql = format!("SELECT {COLUMNS} FROM bundles WHERE organization_id = $1 AND sha256 = $2");
        let query =
            sqlx::query(sqlx::AssertSqlSafe(sql)).bind(organization.as_str()).bind(digest.to_string());
        query.fetch_optional(&self.pool).await?.map(|row| read(&row)).transpose()
    }

    /// Bundles of an organization after this position, the latest collected first.
    pub(crate) async fn bundles(
        &self,
        organization: &OrganizationId,
        after: &Position,
        limit: i64,
    ) -> Result<Vec<BundleRow>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM bundles WHERE organization_id = $1 AND \
             (collected_at, id) < ($2, $3) ORDER BY collected_at DESC, id DESC LIMIT $4"
        );
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(organization.as_str())
            .bind(after.time.0)
            .bind(&after.id)
            .bind(limit)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(read).collect()
    }
}

impl Store {
    /// The latest bundles of an organization that were collected since this time, the latest first. Passes each to
    /// `take`, so that only its results are in memory.
    pub(crate) async fn bundles_since<T>(
        &self,
        organization: &OrganizationId,
        since: Time,
        limit: i64,
        take: impl Fn(BundleRow) -> T,
    ) -> Result<Vec<T>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM bundles WHERE organization_id = $1 AND collected_at >= $2 \
             ORDER BY collected_at DESC, id DESC LIMIT $3"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql));
        let mut rows = query.bind(organization.as_str()).bind(since.0).bind(limit).fetch(&self.pool);
        let mut taken = Vec::new();
        while let Some(row) = rows.try_next().await? {
            taken.push(take(read(&row)?));
        }
        Ok(taken)
    }

    /// The previously collected bundle of the same subject and framework.
    pub(crate) async fn bundle_before(
        &self,
        organization: &OrganizationId,
        bundle: &BundleRow,
    ) -> Result<Option<BundleRow>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM bundles WHERE organization_id = $1 AND subject = $2 AND framework = $3 AND \
             (collected_at, id) < ($4, $5) ORDER BY collected_at DESC, id DESC LIMIT 1"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(organization.as_str())
            .bind(&bundle.overview.organization)
            .bind(&bundle.overview.framework)
            .bind(bundle.collected_at.0)
            .bind(&bundle.id);
        query.fetch_optional(&self.pool).await?.map(|row| read(&row)).transpose()
    }
}

impl Transaction {
    /// Adds a bundle. `false` if the organization already has a bundle with this id.
    pub(crate) async fn add_bundle(
        &mut self,
        organization: &OrganizationId,
        new: &BundleRow,
    ) -> Result<bool, Error> {
        let facts = serde_json::to_string(&new.overview)
            .map_err(|error| Error::internal("an overview could not be written", error))?;
        let tags = serde_json::to_string(&new.tags).map_err(|error| Error::internal("tags", error))?;
        let done = sqlx::query(
            "INSERT INTO bundles (id, organization_id, sha256, size_bytes, subject, framework, \
             collected_at, uploaded_at, uploaded_by, key_id, facts, tags, retention_until, legal_hold) \
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14) ON CONFLICT DO NOTHING",
        )
        .bind(&new.id)
        .bind(organization.as_str())
        .bind(new.digest.to_string())
        .bind(saturating_i64(new.size_bytes))
        .bind(&new.overview.organization)
        .bind(&new.overview.framework)
        .bind(new.collected_at.0)
        .bind(new.uploaded_at.0)
        .bind(&new.uploaded_by)
        .bind(&new.overview.key_id)
        .bind(facts)
        .bind(tags)
        .bind(new.retention_until.0)
        .bind(i64::from(new.legal_hold))
        .execute(self.connection())
        .await?;
        let added = done.rows_affected() == 1;
        if added {
            self.add_terms(organization, new).await?;
        }
        Ok(added)
    }

    /// The digest of the organization's bundle with this id.
    pub(crate) async fn digest_of(
        &mut self,
        organization: &OrganizationId,
        id: &str,
    ) -> Result<Option<BlobDigest>, Error> {
        let row = sqlx::query("SELECT sha256 FROM bundles WHERE organization_id = $1 AND id = $2")
            .bind(organization.as_str())
            .bind(id)
            .fetch_optional(self.connection())
            .await?;
        row.map(|row| digest(&row)).transpose()
    }

    /// Sets or ends the legal hold. `false` if the bundle does not exist or nothing changes.
    pub(crate) async fn set_legal_hold(
        &mut self,
        organization: &OrganizationId,
        id: &str,
        hold: bool,
    ) -> Result<bool, Error> {
        let done = sqlx::query(
            "UPDATE bundles SET legal_hold = $1 WHERE organization_id = $2 AND id = $3 AND legal_hold <> $4",
        )
        .bind(i64::from(hold))
        .bind(organization.as_str())
        .bind(id)
        .bind(i64::from(hold))
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Extends the retention. `false` if the bundle does not exist or its retention would not be longer.
    pub(crate) async fn extend_retention(
        &mut self,
        organization: &OrganizationId,
        id: &str,
        until: Time,
    ) -> Result<bool, Error> {
        let done = sqlx::query(
            "UPDATE bundles SET retention_until = $1 \
             WHERE organization_id = $2 AND id = $3 AND retention_until < $4",
        )
        .bind(until.0)
        .bind(organization.as_str())
        .bind(id)
        .bind(until.0)
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Deletes a bundle whose retention has ended and that nothing holds. `false` otherwise.
    pub(crate) async fn delete_bundle(
        &mut self,
        organization: &OrganizationId,
        id: &str,
        now: Time,
    ) -> Result<bool, Error> {
        let sql = format!(
            "DELETE FROM bundles WHERE organization_id = $1 AND id = $2 AND legal_hold = 0 AND retention_until <= $3 \
             AND NOT {HELD_BY_TAG}"
        );
        let done = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(organization.as_str())
            .bind(id)
            .bind(now.0)
            .execute(self.connection())
            .await?;
        let deleted = done.rows_affected() == 1;
        if deleted {
            self.remove_terms(organization, id).await?;
        }
        Ok(deleted)
    }
}

fn digest(row: &AnyRow) -> Result<BlobDigest, Error> {
    BlobDigest::parse(&text(row, "sha256")?).ok_or_else(|| corrupt("a bundle's digest is damaged"))
}

pub(super) fn read(row: &AnyRow) -> Result<BundleRow, Error> {
    let overview = serde_json::from_str(&text(row, "facts")?);
    let tags = serde_json::from_str(&text(row, "tags")?);
    Ok(BundleRow {
        id: text(row, "id")?,
        digest: digest(row)?,
        size_bytes: u64::try_from(integer(row, "size_bytes")?).unwrap_or_default(),
        overview: overview.map_err(|error| Error::internal("a bundle's overview is damaged", error))?,
        collected_at: Time(integer(row, "collected_at")?),
        uploaded_at: Time(integer(row, "uploaded_at")?),
        uploaded_by: text(row, "uploaded_by")?,
        tags: tags.map_err(|error| Error::internal("a bundle's tags are damaged", error))?,
        retention_until: Time(integer(row, "retention_until")?),
        legal_hold: integer(row, "legal_hold")? != 0,
    })
}
