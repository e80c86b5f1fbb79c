//! Rows of `bundle_checks`, `stray_blobs` and `check_run`: what the check of the stored bytes found, and how far it is.

use sqlx::any::AnyRow;

use super::columns::{corrupt, integer, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::{BlobDigest, OrganizationId};
use crate::time::Time;

/// A stored bundle to read.
#[derive(Debug, Clone)]
pub(crate) struct StoredBytes {
    pub(crate) organization: OrganizationId,
    pub(crate) slug: String,
    pub(crate) id: String,
    pub(crate) uploaded_at: Time,
    pub(crate) digest: BlobDigest,
    pub(crate) size_bytes: u64,
    pub(crate) key_id: String,
}

/// A bundle whose stored bytes are not what was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damage {
    /// The short name of its organization.
    pub slug: String,
    /// Its id.
    pub bundle_id: String,
    /// When that was found.
    pub found_at: Time,
    /// `blob-missing`, `digest-mismatch`, or a code of the bundle format.
    pub reason: String,
    /// What was found.
    pub detail: String,
}

/// A blob without a bundle.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StrayBlob {
    /// The id of its organization, which is its folder.
    pub organization: OrganizationId,
    /// Its name.
    pub digest: BlobDigest,
    /// Its size.
    pub size_bytes: u64,
}

/// The last check of everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CheckRun {
    /// When it began; 0 before the first.
    pub started_at: Time,
    /// When it was complete; `None` while it is not.
    pub finished_at: Option<Time>,
}

/// What the check found in one organization.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The last check of everything.
    pub run: CheckRun,
    /// How many bundles the organization has.
    pub bundles: u64,
    /// How many of them were ever checked.
    pub checked: u64,
    /// The oldest check of them.
    pub oldest: Option<Time>,
    /// What is damaged.
    pub damaged: Vec<Damage>,
    /// Blobs without a bundle: their number.
    pub strays: u64,
}

impl Transaction {
    /// Takes the check for this holder until then. `None` if another process has it.
    pub(crate) async fn hold_check(
        &mut self,
        holder: &str,
        now: Time,
        until: Time,
    ) -> Result<Option<CheckRun>, Error> {
        let row = sqlx::query(
            "UPDATE check_run SET holder = $1, held_until = $2 WHERE holder = '' OR holder = $3 OR held_until < $4 \
             RETURNING started_at, finished_at",
        )
        .bind(holder)
        .bind(until.0)
        .bind(holder)
        .bind(now.0)
        .fetch_optional(self.connection())
        .await?;
        row.map(|row| run(&row)).transpose()
    }

    /// Begins a new run.
    pub(crate) async fn begin_check(&mut self, now: Time) -> Result<(), Error> {
        let sql = "UPDATE check_run SET started_at = $1, finished_at = 0";
        sqlx::query(sql).bind(now.0).execute(self.connection()).await?;
        Ok(())
    }

    /// Releases the check. With a time, it is complete.
    pub(crate) async fn release_check(&mut self, holder: &str, finished: Option<Time>) -> Result<(), Error> {
        if let Some(finished) = finished {
            let sql = "UPDATE check_run SET finished_at = $1 WHERE holder = $2";
            sqlx::query(sql).bind(finished.0).bind(holder).execute(self.connection()).await?;
            // Bundles that were deleted since.
            sqlx::query(
                "DELETE FROM bundle_checks WHERE NOT EXISTS (SELECT 1 FROM bundles b WHERE \
                 b.organization_id = bundle_checks.organization_id AND b.id = bundle_checks.bundle_id)",
            )
            .execute(self.connection())
            .await?;
        }
        let sql = "UPDATE check_run SET holder = '', held_until = 0 WHERE holder = $1";
        sqlx::query(sql).bind(holder).execute(self.connection()).await?;
        Ok(())
    }

    /// Records what the check of a bundle found. `true` if it is damaged and was not known to be.
    pub(crate) async fn record_check(
        &mut self,
        bundle: &StoredBytes,
        at: Time,
        result: &str,
        detail: &str,
    ) -> Result<bool, Error> {
        let before =
            sqlx::query("SELECT result FROM bundle_checks WHERE organization_id = $1 AND bundle_id = $2")
                .bind(bundle.organization.as_str())
                .bind(&bundle.id)
                .fetch_optional(self.connection())
                .await?;
        let before = before.map(|row| text(&row, "result")).transpose()?.unwrap_or_default();
        sqlx::query(
            "INSERT INTO bundle_checks (organization_id, bundle_id, checked_at, result, detail) \
             VALUES ($1, $2, $3, $4, $5) ON CONFLICT (organization_id, bundle_id) DO UPDATE SET \
             checked_at = excluded.checked_at, result = excluded.result, detail = excluded.detail",
        )
        .bind(bundle.organization.as_str())
        .bind(&bundle.id)
        .bind(at.0)
        .bind(result)
        .bind(detail)
        .execute(self.connection())
        .await?;
        Ok(!result.is_empty() && before.is_empty())
    }

    /// Replaces the list of blobs without a bundle.
    pub(crate) async fn set_stray_blobs(&mut self, strays: &[StrayBlob], now: Time) -> Result<(), Error> {
        sqlx::query("DELETE FROM stray_blobs").execute(self.connection()).await?;
        for stray in strays {
            sqlx::query(
                "INSERT INTO stray_blobs (organization_id, sha256, size_bytes, found_at) VALUES ($1, $2, $3, $4)",
            )
            .bind(stray.organization.as_str())
            .bind(stray.digest.to_string())
            .bind(i64::try_from(stray.size_bytes).unwrap_or(i64::MAX))
            .bind(now.0)
            .execute(self.connection())
            .await?;
        }
        Ok(())
    }
}

impl Store {
    /// The bundles that arrived since then, of all organizations, and before this position: the newest first.
    pub(crate) async fn arrived(
        &self,
        since: Time,
        before: Option<&(Time, String, String)>,
        limit: i64,
    ) -> Result<Vec<StoredBytes>, Error> {
        let (at, organization, id) = match before {
            Some((at, organization, id)) => (*at, organization.as_str(), id.as_str()),
            None => (Time(i64::MAX), "", ""),
        };
        let rows = sqlx::query(
            "SELECT b.organization_id, o.slug, b.id, b.uploaded_at, b.sha256, b.size_bytes, b.key_id FROM bundles b \
             JOIN organizations o ON o.id = b.organization_id \
             WHERE b.uploaded_at >= $1 AND (b.uploaded_at, b.organization_id, b.id) < ($2, $3, $4) \
             ORDER BY b.uploaded_at DESC, b.organization_id DESC, b.id DESC LIMIT $5",
        )
        .bind(since.0)
        .bind(at.0)
        .bind(organization)
        .bind(id)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(stored_bytes).collect()
    }

    /// The next bundles after this position that were not checked since then, of all organizations.
    pub(crate) async fn unchecked(
        &self,
        since: Time,
        after: (&str, &str),
        limit: i64,
    ) -> Result<Vec<StoredBytes>, Error> {
        let rows = sqlx::query(
            "SELECT b.organization_id, o.slug, b.id, b.uploaded_at, b.sha256, b.size_bytes, b.key_id FROM bundles b \
             JOIN organizations o ON o.id = b.organization_id \
             LEFT JOIN bundle_checks c ON c.organization_id = b.organization_id AND c.bundle_id = b.id \
             WHERE (b.organization_id, b.id) > ($1, $2) AND (c.checked_at IS NULL OR c.checked_at < $3) \
             ORDER BY b.organization_id, b.id LIMIT $4",
        )
        .bind(after.0)
        .bind(after.1)
        .bind(since.0)
        .bind(limit)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(stored_bytes).collect()
    }

    /// Whether a bundle or a claim names this blob.
    pub(crate) async fn names_blob(
        &self,
        organization: &OrganizationId,
        digest: &BlobDigest,
    ) -> Result<bool, Error> {
        // One statement: an upload replaces its claim by its bundle in one transaction.
        let row = sqlx::query(
            "SELECT (SELECT COUNT(*) FROM bundles WHERE organization_id = $1 AND sha256 = $2) + \
             (SELECT COUNT(*) FROM claims WHERE organization_id = $3 AND sha256 = $4) AS n",
        )
        .bind(organization.as_str())
        .bind(digest.to_string())
        .bind(organization.as_str())
        .bind(digest.to_string())
        .fetch_one(&self.pool)
        .await?;
        Ok(integer(&row, "n")? > 0)
    }

    /// The last check of everything.
    pub(crate) async fn check_run(&self) -> Result<CheckRun, Error> {
        let query = sqlx::query("SELECT started_at, finished_at FROM check_run");
        run(&query.fetch_one(&self.pool).await?)
    }

    /// What is damaged, of one organization or of all.
    pub(crate) async fn damage(&self, of: Option<&OrganizationId>) -> Result<Vec<Damage>, Error> {
        let rows = sqlx::query(
            "SELECT o.slug, c.bundle_id, c.checked_at, c.result, c.detail FROM bundle_checks c \
             JOIN bundles b ON b.organization_id = c.organization_id AND b.id = c.bundle_id \
             JOIN organizations o ON o.id = c.organization_id \
             WHERE c.result <> '' AND ($1 = '' OR c.organization_id = $2) ORDER BY o.slug, c.bundle_id",
        )
        .bind(of.map_or("", OrganizationId::as_str))
        .bind(of.map_or("", OrganizationId::as_str))
        .fetch_all(&self.pool)
        .await?;
        let read = |row| {
            Ok(Damage {
                slug: text(row, "slug")?,
                bundle_id: text(row, "bundle_id")?,
                found_at: Time(integer(row, "checked_at")?),
                reason: text(row, "result")?,
                detail: text(row, "detail")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// How many blobs have no bundle.
    pub(crate) async fn count_strays(&self, of: Option<&OrganizationId>) -> Result<u64, Error> {
        let row = sqlx::query("SELECT COUNT(*) AS n FROM stray_blobs WHERE $1 = '' OR organization_id = $2")
            .bind(of.map_or("", OrganizationId::as_str))
            .bind(of.map_or("", OrganizationId::as_str))
            .fetch_one(&self.pool)
            .await?;
        Ok(u64::try_from(integer(&row, "n")?).unwrap_or_default())
    }

    /// What the check found in an organization.
    pub(crate) async fn checked(&self, organization: &OrganizationId) -> Result<Checked, Error> {
        let row = sqlx::query(
            "SELECT COUNT(*) AS bundles, COUNT(c.checked_at) AS checked, MIN(c.checked_at) AS oldest FROM bundles b \
             LEFT JOIN bundle_checks c ON c.organization_id = b.organization_id AND c.bundle_id = b.id \
             WHERE b.organization_id = $1",
        )
        .bind(organization.as_str())
        .fetch_one(&self.pool)
        .await?;
        let count = |column| integer(&row, column).map(|n| u64::try_from(n).unwrap_or_default());
        Ok(Checked {
            run: self.check_run().await?,
            bundles: count("bundles")?,
            checked: count("checked")?,
            oldest: super::columns::optional(&row, "oldest")?.map(Time),
            damaged: self.damage(Some(organization)).await?,
            strays: self.count_strays(Some(organization)).await?,
        })
    }
}

fn run(row: &AnyRow) -> Result<CheckRun, Error> {
    let finished = integer(row, "finished_at")?;
    Ok(CheckRun {
        started_at: Time(integer(row, "started_at")?),
        finished_at: (finished > 0).then_some(Time(finished)),
    })
}

fn stored_bytes(row: &AnyRow) -> Result<StoredBytes, Error> {
    let digest = BlobDigest::parse(&text(row, "sha256")?);
    Ok(StoredBytes {
        organization: OrganizationId::stored(text(row, "organization_id")?),
        slug: text(row, "slug")?,
        id: text(row, "id")?,
        uploaded_at: Time(integer(row, "uploaded_at")?),
        digest: digest.ok_or_else(|| corrupt("a bundle's digest is damaged"))?,
        size_bytes: u64::try_from(integer(row, "size_bytes")?).unwrap_or_default(),
        key_id: text(row, "key_id")?,
    })
}
