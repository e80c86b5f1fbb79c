//! The newest bundle of each organization.

use sqlx::any::AnyRow;

use super::columns::{integer, optional, text};
use super::database::Store;
use super::organizations::hours;
use crate::error::Error;
use crate::freshness::Freshness;
use crate::id::OrganizationId;
use crate::time::Time;

/// What an organization holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Its id.
    pub id: OrganizationId,
    /// Its short name.
    pub slug: String,
    /// Its name.
    pub name: String,
    /// How fresh its evidence is.
    pub freshness: Freshness,
    /// How many bundles it has.
    pub bundles: u64,
    /// Their size.
    pub bytes: u64,
}

/// The older of the two times of a bundle, in the words of the index.
const FRESH: &str = "CASE WHEN b.collected_at < b.uploaded_at THEN b.collected_at ELSE b.uploaded_at END";

fn select(counts: &str) -> String {
    format!(
        "SELECT o.id, o.slug, o.name, o.created_at, o.expect_hours, (SELECT {FRESH} FROM bundles b \
         WHERE b.organization_id = o.id ORDER BY {FRESH} DESC LIMIT 1) AS newest{counts} FROM organizations o"
    )
}

impl Store {
    /// How fresh the evidence of an organization is.
    pub(crate) async fn freshness(
        &self,
        organization: &OrganizationId,
        now: Time,
    ) -> Result<Freshness, Error> {
        let sql = format!("{} WHERE o.id = $1", select(""));
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(organization.as_str());
        freshness(&query.fetch_one(&self.pool).await?, now)
    }

    /// What every organization holds, or every one of a group, by slug.
    pub(crate) async fn held(&self, group: Option<&OrganizationId>, now: Time) -> Result<Vec<Held>, Error> {
        let counts = ", (SELECT COUNT(*) FROM bundles b WHERE b.organization_id = o.id) AS bundles, \
                      (SELECT CAST(COALESCE(SUM(b.size_bytes), 0) AS BIGINT) FROM bundles b \
                      WHERE b.organization_id = o.id) AS bytes";
        let condition = "WHERE o.is_group = 0 AND ($1 = '' OR o.group_id = $2)";
        let sql = format!("{} {condition} ORDER BY o.slug", select(counts));
        let group = group.map(OrganizationId::as_str).unwrap_or_default();
        let query = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(group).bind(group);
        let rows = query.fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| {
            Ok(Held {
                id: OrganizationId::stored(text(row, "id")?),
                slug: text(row, "slug")?,
                name: text(row, "name")?,
                freshness: freshness(row, now)?,
                bundles: count(row, "bundles")?,
                bytes: count(row, "bytes")?,
            })
        };
        rows.iter().map(read).collect()
    }

    /// How many bundles an organization has, and their size.
    pub(crate) async fn extent(&self, organization: &OrganizationId) -> Result<(u64, u64), Error> {
        let row = sqlx::query(
            "SELECT COUNT(*) AS bundles, CAST(COALESCE(SUM(size_bytes), 0) AS BIGINT) AS bytes \
             FROM bundles WHERE organization_id = $1",
        )
        .bind(organization.as_str())
        .fetch_one(&self.pool)
        .await?;
        Ok((count(&row, "bundles")?, count(&row, "bytes")?))
    }
}

fn count(row: &AnyRow, column: &str) -> Result<u64, Error> {
    Ok(u64::try_from(integer(row, column)?).unwrap_or_default())
}

fn freshness(row: &AnyRow, now: Time) -> Result<Freshness, Error> {
    Ok(Freshness {
        created_at: Time(integer(row, "created_at")?),
        newest: optional(row, "newest")?.map(Time),
        expect_hours: hours(row)?,
        now,
    })
}
