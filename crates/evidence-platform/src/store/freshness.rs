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
        "SELECT o.slug, o.name, o.created_at, o.expect_hours, (SELECT {FRESH} FROM bundles b \
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

    /// What every organization holds, by slug.
    pub(crate) async fn held(&self, now: Time) -> Result<Vec<Held>, Error> {
        let counts = ", (SELECT COUNT(*) FROM bundles b WHERE b.organization_id = o.id) AS bundles, \
                      (SELECT CAST(COALESCE(SUM(b.size_bytes), 0) AS BIGINT) FROM bundles b \
                      WHERE b.organization_id = o.id) AS bytes";
        let sql = format!("{} ORDER BY o.slug", select(counts));
        let rows = sqlx::query(sqlx::AssertSqlSafe(sql)).fetch_all(&self.pool).await?;
        let read = |row: &AnyRow| {
            Ok(Held {
                slug: text(row, "slug")?,
                name: text(row, "name")?,
                freshness: freshness(row, now)?,
                bundles: count(row, "bundles")?,
                bytes: count(row, "bytes")?,
            })
        };
        rows.iter().map(read).collect()
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
