//! The tables: created, migrated, and left unchanged if a newer program has migrated them further.

use std::borrow::Cow;

use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AnyPool, SqlSafeStr as _};

use super::columns::integer;
use super::url::Dialect;
use crate::error::Error;

/// Migrates the tables.
pub(super) async fn migrate(pool: &AnyPool, dialect: Dialect) -> Result<(), Error> {
    let mut migrator = migrator(dialect);
    let known = migrator.iter().map(|migration| migration.version).max().unwrap_or_default();
    // Before the migrator runs, since a failed migrator keeps PostgreSQL's lock.
    if let Some(found) = newest(pool).await
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
    let outcome = migrator.run(pool).await;
    outcome.map_err(|error| Error::internal("the database could not be brought up to date", error))
}

/// The newest migration in the database; `None` without tables.
async fn newest(pool: &AnyPool) -> Option<i64> {
    // The migrator reports any other problem with the database.
    let row =
        sqlx::query("SELECT MAX(version) AS newest FROM _sqlx_migrations").fetch_one(pool).await.ok()?;
    integer(&row, "newest").ok()
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
    ])
}
