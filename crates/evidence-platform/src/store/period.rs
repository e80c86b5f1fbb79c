//! The bundles of a period: of one subject under one framework.

use futures_util::TryStreamExt as _;

use super::bundles::{BundleRow, COLUMNS, read};
use super::columns::text;
use super::database::Store;
use crate::error::Error;
use crate::id::OrganizationId;
use crate::time::Time;

/// The most subjects and frameworks that are listed.
const SERIES: i64 = 1_000;

/// Which bundles a period is about: a subject, whose ASCII case does not count, and a framework.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct SeriesName {
    /// The subject.
    pub subject: String,
    /// The framework.
    pub framework: String,
}

impl Store {
    /// The subjects and frameworks of an organization's bundles, by name.
    pub(crate) async fn series(&self, organization: &OrganizationId) -> Result<Vec<SeriesName>, Error> {
        let rows = sqlx::query(
            "SELECT DISTINCT subject, framework FROM bundles WHERE organization_id = $1 \
             ORDER BY subject, framework LIMIT $2",
        )
        .bind(organization.as_str())
        .bind(SERIES)
        .fetch_all(&self.pool)
        .await?;
        let name = |row| {
            Ok::<_, Error>(SeriesName { subject: text(row, "subject")?, framework: text(row, "framework")? })
        };
        rows.iter().map(name).collect()
    }

    /// The newest bundle of each subject under each framework, by name, with the one before it.
    pub(crate) async fn latest(
        &self,
        organization: &OrganizationId,
    ) -> Result<Vec<(BundleRow, Option<BundleRow>)>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM bundles WHERE organization_id = $1 AND subject = $2 AND framework = $3 \
             ORDER BY collected_at DESC, id DESC LIMIT 2"
        );
        let mut latest = Vec::new();
        for SeriesName { subject, framework } in self.series(organization).await? {
            let query = sqlx::query(sqlx::AssertSqlSafe(sql.clone()));
            let query = query.bind(organization.as_str()).bind(subject).bind(framework);
            let mut rows = query.fetch_all(&self.pool).await?.into_iter().map(|row| read(&row));
            // It may have been deleted meanwhile.
            let Some(newest) = rows.next().transpose()? else { continue };
            latest.push((newest, rows.next().transpose()?));
        }
        Ok(latest)
    }

    /// The newest bundle that was collected before this time.
    pub(crate) async fn newest_of(
        &self,
        organization: &OrganizationId,
        name: Option<&SeriesName>,
        before: Time,
    ) -> Result<Option<BundleRow>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM bundles WHERE organization_id = $1 AND collected_at < $2 AND \
             ($3 = 0 OR (lower(subject) = $4 AND framework = $5)) \
             ORDER BY collected_at DESC, id DESC LIMIT 1"
        );
        let query = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(organization.as_str())
            .bind(before.0)
            .bind(i64::from(name.is_some()))
            .bind(name.map(|name| name.subject.to_ascii_lowercase()).unwrap_or_default())
            .bind(name.map(|name| name.framework.clone()).unwrap_or_default());
        query.fetch_optional(&self.pool).await?.map(|row| read(&row)).transpose()
    }

    /// The id, the digest and the time of storing of each bundle that was collected from one time until before another, the
    /// oldest first.
    pub(crate) async fn names_between(
        &self,
        organization: &OrganizationId,
        name: &SeriesName,
        (from, until): (Time, Time),
    ) -> Result<Vec<(String, String, Time)>, Error> {
        let rows = sqlx::query(
            "SELECT id, sha256, uploaded_at FROM bundles WHERE organization_id = $1 AND collected_at >= $2 AND \
             collected_at < $3 AND lower(subject) = $4 AND framework = $5 ORDER BY collected_at, id",
        )
        .bind(organization.as_str())
        .bind(from.0)
        .bind(until.0)
        .bind(name.subject.to_ascii_lowercase())
        .bind(&name.framework)
        .fetch_all(&self.pool)
        .await?;
        let read = |row| {
            Ok((text(row, "id")?, text(row, "sha256")?, Time(super::columns::integer(row, "uploaded_at")?)))
        };
        rows.iter().map(read).collect()
    }

    /// The bundles that were collected from one time until before another, the oldest first. Passes each to `take`, so
    /// that only its results are in memory.
    pub(crate) async fn bundles_between<T>(
        &self,
        organization: &OrganizationId,
        name: &SeriesName,
        (from, until): (Time, Time),
        limit: i64,
        take: impl Fn(BundleRow) -> T,
    ) -> Result<Vec<T>, Error> {
        let sql = format!(
            "SELECT {COLUMNS} FROM bundles WHERE organization_id = $1 AND collected_at >= $2 AND \
             collected_at < $3 AND lower(subject) = $4 AND framework = $5 \
             ORDER BY collected_at, id LIMIT $6"
        );
        let mut rows = sqlx::query(sqlx::AssertSqlSafe(sql))
            .bind(organization.as_str())
            .bind(from.0)
            .bind(until.0)
            .bind(name.subject.to_ascii_lowercase())
            .bind(&name.framework)
            .bind(limit)
            .fetch(&self.pool);
        let mut taken = Vec::new();
        while let Some(row) = rows.try_next().await? {
            taken.push(take(read(&row)?));
        }
        Ok(taken)
    }
}
