//! What may be deleted, and what holds it: retention, legal hold, and rows of `tag_holds`.

use evidence_bundle::text::saturating_i64;
use sqlx::any::AnyRow;

use super::columns::{integer, text};
use super::database::{Store, Transaction};
use crate::error::Error;
use crate::id::OrganizationId;
use crate::time::Time;

/// A tag that holds every bundle that has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TagHold {
    /// The tag, `name=value`.
    pub tag: String,
    /// Why.
    pub reason: String,
    /// Since when.
    pub created_at: Time,
    /// How many bundles have it now.
    pub bundles: u64,
}

/// A bundle whose retention has ended, or ends soon.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Due {
    /// The id of its organization.
    pub(crate) organization: OrganizationId,
    /// The short name of its organization.
    pub slug: String,
    /// Its id.
    pub bundle_id: String,
    /// When it was collected, as the signer claims.
    pub collected_at: Time,
    /// When its retention ends.
    pub retention_until: Time,
    /// Its size.
    pub size_bytes: u64,
    /// Whether it is under legal hold, itself or by a tag.
    pub held: bool,
}

/// Whether a tag holds the bundle of the outer statement, in the words of both databases.
pub(super) const HELD_BY_TAG: &str = "EXISTS (SELECT 1 FROM tag_holds h JOIN bundle_terms t \
     ON t.organization_id = h.organization_id AND t.term = 'tag=' || h.tag \
     WHERE h.organization_id = bundles.organization_id AND t.bundle_id = bundles.id)";

impl Store {
    /// The tags that hold bundles of an organization, by tag.
    pub(crate) async fn tag_holds(&self, organization: &OrganizationId) -> Result<Vec<TagHold>, Error> {
        let rows = sqlx::query(
            "SELECT h.tag, h.reason, h.created_at, (SELECT COUNT(*) FROM bundle_terms t \
             WHERE t.organization_id = h.organization_id AND t.term = 'tag=' || h.tag) AS bundles \
             FROM tag_holds h WHERE h.organization_id = $1 ORDER BY h.tag",
        )
        .bind(organization.as_str())
        .fetch_all(&self.pool)
        .await?;
        let read = |row: &AnyRow| {
            Ok(TagHold {
                tag: text(row, "tag")?,
                reason: text(row, "reason")?,
                created_at: Time(integer(row, "created_at")?),
                bundles: u64::try_from(integer(row, "bundles")?).unwrap_or_default(),
            })
        };
        rows.iter().map(read).collect()
    }

    /// The bundles whose retention ends until this time, the earliest first: of one organization or of all, held ones
    /// too or not.
    pub(crate) async fn due(
        &self,
        of: Option<&OrganizationId>,
        until: Time,
        held: bool,
        limit: u32,
    ) -> Result<Vec<Due>, Error> {
        let held_now = format!("(bundles.legal_hold <> 0 OR {HELD_BY_TAG})");
        let free = if held { String::new() } else { format!(" AND NOT {held_now}") };
        let sql = format!(
            "SELECT bundles.organization_id, o.slug, bundles.id, bundles.collected_at, bundles.retention_until, \
             bundles.size_bytes, CASE WHEN {held_now} THEN 1 ELSE 0 END AS held FROM bundles \
             JOIN organizations o ON o.id = bundles.organization_id \
             WHERE bundles.retention_until <= $1 AND ($2 = '' OR bundles.organization_id = $3){free} \
             ORDER BY bundles.retention_until, bundles.organization_id, bundles.id LIMIT $4"
        );
        let of = of.map_or("", OrganizationId::as_str);
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(until.0).bind(of).bind(of);
        let rows = query.bind(saturating_i64(u64::from(limit))).fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| {
            Ok(Due {
                organization: OrganizationId::stored(text(row, "organization_id")?),
                slug: text(row, "slug")?,
                bundle_id: text(row, "id")?,
                collected_at: Time(integer(row, "collected_at")?),
                retention_until: Time(integer(row, "retention_until")?),
                size_bytes: u64::try_from(integer(row, "size_bytes")?).unwrap_or_default(),
                // The type of a constant differs between the databases.
                held: super::columns::small(row, "held")? != 0,
            })
        };
        rows.iter().map(read).collect()
    }
}

impl Transaction {
    /// Holds every bundle with a tag. `false` if the tag holds them already.
    pub(crate) async fn add_tag_hold(
        &mut self,
        organization: &OrganizationId,
        tag: &str,
        reason: &str,
        now: Time,
    ) -> Result<bool, Error> {
        let done = sqlx::query(
            "INSERT INTO tag_holds (organization_id, tag, reason, created_at) VALUES ($1, $2, $3, $4) \
             ON CONFLICT DO NOTHING",
        )
        .bind(organization.as_str())
        .bind(tag)
        .bind(reason)
        .bind(now.0)
        .execute(self.connection())
        .await?;
        Ok(done.rows_affected() == 1)
    }

    /// Ends the hold of a tag. `false` if there is none.
    pub(crate) async fn end_tag_hold(
        &mut self,
        organization: &OrganizationId,
        tag: &str,
    ) -> Result<bool, Error> {
        let done = sqlx::query("DELETE FROM tag_holds WHERE organization_id = $1 AND tag = $2")
            .bind(organization.as_str())
            .bind(tag)
            .execute(self.connection())
            .await?;
        Ok(done.rows_affected() == 1)
    }
}
