//! Rows of `claims`: which blobs are being put or deleted.
//!
//! A blob without a bundle has a claim from before its first byte until after its last. So the leftovers of a crash
//! can always be found, and a blob is never deleted while it is being put.

use super::columns::text;
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::{BlobDigest, OrganizationId, random_hex};
use crate::time::Time;

/// The purpose of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClaimKind {
    /// Puts the blob; a bundle will name it.
    Put,
    /// Deletes the blob, which no bundle names any more.
    Delete,
    /// Deleting the blob failed and is not being retried. The next upload may take the blob over.
    Left,
}

impl ClaimKind {
    fn as_str(self) -> &'static str {
        match self {
            ClaimKind::Put => "put",
            ClaimKind::Delete => "delete",
            ClaimKind::Left => "left",
        }
    }
}

/// The right to put or delete a blob.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// Whose blob it is.
    pub organization: OrganizationId,
    /// Which blob it is.
    pub digest: BlobDigest,
    /// The id of this claim.
    pub id: String,
}

impl Transaction {
    /// Claims a blob for putting, together with other uploads of the same bytes. `None` while it is being deleted.
    /// Takes over a failed removal, and one from before `abandoned`, whose process has ended.
    pub(crate) async fn claim_put(
        &mut self,
        organization: &OrganizationId,
        digest: &BlobDigest,
        now: Time,
        abandoned: Time,
    ) -> Result<Option<Claim>, Error> {
        let row = sqlx::query(
            "INSERT INTO claims (organization_id, sha256, kind, claim_id, claimed_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (organization_id, sha256) DO UPDATE SET claimed_at = excluded.claimed_at, kind = excluded.kind, \
             claim_id = CASE WHEN claims.kind = excluded.kind THEN claims.claim_id ELSE excluded.claim_id END \
             WHERE claims.kind <> $6 OR claims.claimed_at < $7 RETURNING claim_id",
        )
        .bind(organization.as_str())
        .bind(digest.to_string())
        .bind(ClaimKind::Put.as_str())
        .bind(random_hex::<16>()?)
        .bind(now.0)
        .bind(ClaimKind::Delete.as_str())
        .bind(abandoned.0)
        .fetch_optional(self.connection())
        .await?;
        let claim = |row| {
            let id = text(&row, "claim_id")?;
            Ok(Claim { organization: organization.clone(), digest: *digest, id })
        };
        row.map(claim).transpose()
    }

    /// Claims a blob for deletion. `None` while an upload puts the same bytes: the blob then belongs to that
    /// upload.
    pub(crate) async fn claim_delete(
        &mut self,
        organization: &OrganizationId,
        digest: &BlobDigest,
        now: Time,
    ) -> Result<Option<Claim>, Error> {
        let id = random_hex::<16>()?;
        let done = sqlx::query(
            "INSERT INTO claims (organization_id, sha256, kind, claim_id, claimed_at) VALUES ($1, $2, $3, $4, $5) \
             ON CONFLICT (organization_id, sha256) DO NOTHING",
        )
        .bind(organization.as_str())
        .bind(digest.to_string())
        .bind(ClaimKind::Delete.as_str())
        .bind(&id)
        .bind(now.0)
        .execute(self.connection())
        .await?;
        let claim = Claim { organization: organization.clone(), digest: *digest, id };
        Ok((done.rows_affected() == 1).then_some(claim))
    }

    /// Ends a claim. `false` if it had already ended: the work under it must then be discarded.
    pub(crate) async fn end_claim(&mut self, claim: &Claim) -> Result<bool, Error> {
        let done =
            sqlx::query("DELETE FROM claims WHERE organization_id = $1 AND sha256 = $2 AND claim_id = $3")
                .bind(claim.organization.as_str())
                .bind(claim.digest.to_string())
                .bind(&claim.id)
                .execute(self.connection())
                .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Records that a removal is still in progress. `false` if the claim was taken over: the removal must then
    /// stop.
    pub(crate) async fn renew_claim(&mut self, claim: &Claim, now: Time) -> Result<bool, Error> {
        let done = sqlx::query(
            "UPDATE claims SET claimed_at = $1 WHERE organization_id = $2 AND sha256 = $3 AND claim_id = $4",
        )
        .bind(now.0)
        .bind(claim.organization.as_str())
        .bind(claim.digest.to_string())
        .bind(&claim.id)
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Leaves a blob that could not be deleted to the next sweep or upload.
    pub(crate) async fn leave_claim(&mut self, claim: &Claim) -> Result<(), Error> {
        sqlx::query(
            "UPDATE claims SET kind = $1 WHERE organization_id = $2 AND sha256 = $3 AND claim_id = $4",
        )
        .bind(ClaimKind::Left.as_str())
        .bind(claim.organization.as_str())
        .bind(claim.digest.to_string())
        .bind(&claim.id)
        .execute(self.connection())
        .await?;
        Ok(())
    }

    /// Takes over claims from before this time, and abandoned ones, for deletion. Concurrent callers get different
    /// claims.
    ///
    /// No upload can then finish under them. A claim whose blob a bundle names, which remains after a second upload of
    /// the same bytes, is ended and not returned.
    pub(crate) async fn take_over_claims(&mut self, before: Time, now: Time) -> Result<Vec<Claim>, Error> {
        let sweep = random_hex::<16>()?;
        let rows = sqlx::query(
            "UPDATE claims SET kind = $1, claim_id = $2, claimed_at = $3 WHERE claimed_at < $4 OR kind = $5 \
             RETURNING organization_id, sha256",
        )
        .bind(ClaimKind::Delete.as_str())
        .bind(&sweep)
        .bind(now.0)
        .bind(before.0)
        .bind(ClaimKind::Left.as_str())
        .fetch_all(self.connection())
        .await?;
        let mut claims = Vec::with_capacity(rows.len());
        for row in &rows {
            let digest = text(row, "sha256")?;
            let Some(digest) = BlobDigest::parse(&digest) else {
                tracing::error!(digest, "a claim is damaged; its blob is not removed");
                continue;
            };
            let organization = OrganizationId::stored(text(row, "organization_id")?);
            let claim = Claim { organization, digest, id: sweep.clone() };
            let named = sqlx::query("SELECT id FROM bundles WHERE organization_id = $1 AND sha256 = $2")
                .bind(claim.organization.as_str())
                .bind(claim.digest.to_string())
                .fetch_optional(self.connection())
                .await?;
            if named.is_some() {
                self.end_claim(&claim).await?;
            } else {
                claims.push(claim);
            }
        }
        Ok(claims)
    }
}

impl Store {
    /// The number of claims.
    pub(crate) async fn count_claims(&self) -> Result<i64, Error> {
        let row = sqlx::query("SELECT COUNT(*) AS n FROM claims").fetch_one(&self.pool).await?;
        super::columns::integer(&row, "n")
    }
}
