//! The tables: created, migrated, and left unchanged if a newer program has migrated them further.

use std::borrow::Cow;

use sqlx::migrate::{MigrateError, Migration, MigrationType, Migrator};
use sqlx::{AnyPool, SqlSafeStr as _};

use super::columns::integer;
use super::url::Dialect;
use crate::error::Error;

/// SHA-384 of earlier texts of migrations that left the same tables. sqlx compares the text of each applied migration.
const SAME_RESULT: [(i64, &str); 2] = [
    (5, "150dc71f5ebf23ce371ceac171284a796e0adc475e44787c754e7a005c1ff6d89d7d77be404c3e15274c6faa11e84773"),
    (5, "db7deea11498e0a972ca94ed3c0ab595dbf5f31c263e801665e20509e1e3c2c5d0551f06fe6e48cab4a03de9c839eeac"),
];

/// Migrates the tables over connections that the caller closes: a failed migrator keeps PostgreSQL's lock.
pub(super) async fn migrate(pool: &AnyPool, dialect: Dialect) -> Result<(), Error> {
    let mut migrator = migrator(dialect);
    let known = migrator.iter().map(|migration| migration.version).max().unwrap_or_default();
    let found = newest(pool).await;
    if let Some(found) = found
        && found > known
    {
        let row = sqlx::query("SELECT oldest FROM schema_compatibility").fetch_one(pool).await?;
        let oldest = integer(&row, "oldest")?;
        if oldest > known {
            return Err(Error::Invalid(format!(
                "the database has schema {found}, made by a newer evidence-platform; this program knows schema \
                 {known}: install a version that knows schema {oldest} or later"
            )));
        }
        tracing::info!(found, known, "the database has a newer schema that this program can work with");
        migrator.set_ignore_missing(true);
    }
    if found.is_some() {
        adopt(pool, &migrator).await?;
    }
    migrator.run(pool).await.map_err(|error| match error {
        MigrateError::VersionMismatch(version) => Error::Invalid(format!(
            "migration {version} of the database has another text than that of this program: use the \
             evidence-platform that made the database"
        )),
        error => Error::internal("the database could not be brought up to date", error),
    })
}

/// The newest migration in the database; `None` without tables.
pub(super) async fn newest(pool: &AnyPool) -> Option<i64> {
    // The migrator reports any other problem with the database.
    let query = sqlx::query("SELECT MAX(version) AS newest FROM _sqlx_migrations");
    integer(&query.fetch_one(pool).await.ok()?, "newest").ok()
}

/// Records today's text for migrations that an earlier text with the same result has applied.
async fn adopt(pool: &AnyPool, migrator: &Migrator) -> Result<(), Error> {
    for (version, earlier) in SAME_RESULT {
        let Some(today) = migrator.iter().find(|migration| migration.version == version) else { continue };
        let earlier = hex::decode(earlier).map_err(|error| Error::internal("a checksum", error))?;
        sqlx::query("UPDATE _sqlx_migrations SET checksum = $1 WHERE version = $2 AND checksum = $3")
            .bind(today.checksum.to_vec())
            .bind(version)
            .bind(earlier)
            .execute(pool)
            .await?;
    }
    Ok(())
}

fn migrator(dialect: Dialect) -> Migrator {
    let (triggers, bundle_ids) = match dialect {
        Dialect::Sqlite => (
            include_str!("../../migrations/0002_append_only.sqlite.sql"),
            include_str!("../../migrations/0005_bundle_ids.sqlite.sql"),
        ),
        Dialect::Postgres => (
            include_str!("../../migrations/0002_append_only.postgres.sql"),
            include_str!("../../migrations/0005_bundle_ids.postgres.sql"),
        ),
    };
    let step = |version, description: &'static str, sql: &'static str| {
        let sql = sql.into_sql_str();
        Migration::new(version, Cow::Borrowed(description), MigrationType::Simple, sql, false)
    };
    Migrator::with_migrations(vec![
        step(1, "tables", include_str!("../../migrations/0001_tables.sql")),
        step(2, "append only", triggers),
        step(3, "sessions", include_str!("../../migrations/0003_sessions.sql")),
        step(4, "readiness", include_str!("../../migrations/0004_readiness.sql")),
        step(5, "bundle ids", bundle_ids),
        step(6, "clock", include_str!("../../migrations/0006_clock.sql")),
        step(7, "freshness", include_str!("../../migrations/0007_freshness.sql")),
        step(8, "dates", include_str!("../../migrations/0008_dates.sql")),
        step(9, "checks", include_str!("../../migrations/0009_checks.sql")),
        step(10, "search", include_str!("../../migrations/0010_search.sql")),
        step(11, "webhooks", include_str!("../../migrations/0011_webhooks.sql")),
        step(12, "groups", include_str!("../../migrations/0012_groups.sql")),
        step(13, "holds", include_str!("../../migrations/0013_holds.sql")),
        step(14, "arrivals", include_str!("../../migrations/0014_arrivals.sql")),
    ])
}
