//! Databases as earlier programs left them.

use sqlx::SqlSafeStr as _;
use sqlx::migrate::{Migration, MigrationType, Migrator};

/// The migrations up to this one, which is the sixth at most.
pub fn up_to(postgres: bool, version: usize) -> Migrator {
    let (triggers, bundle_ids) = if postgres {
        (
            include_str!("../../migrations/0002_append_only.postgres.sql"),
            include_str!("../../migrations/0005_bundle_ids.postgres.sql"),
        )
    } else {
        (
            include_str!("../../migrations/0002_append_only.sqlite.sql"),
            include_str!("../../migrations/0005_bundle_ids.sqlite.sql"),
        )
    };
    let step = |version, description: &'static str, sql: &'static str| {
        Migration::new(version, description.into(), MigrationType::Simple, sql.into_sql_str(), false)
    };
    let mut steps = vec![
        step(1, "tables", include_str!("../../migrations/0001_tables.sql")),
        step(2, "append only", triggers),
        step(3, "sessions", include_str!("../../migrations/0003_sessions.sql")),
        step(4, "readiness", include_str!("../../migrations/0004_readiness.sql")),
        step(5, "bundle ids", bundle_ids),
        step(6, "clock", include_str!("../../migrations/0006_clock.sql")),
    ];
    steps.truncate(version);
    Migrator::with_migrations(steps)
}
