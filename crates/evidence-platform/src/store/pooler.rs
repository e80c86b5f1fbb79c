//! Poolers between the platform and PostgreSQL. One that assigns every transaction a different session (PgBouncer with
//! `pool_mode = transaction`) breaks prepared statements, time limits and the migrator's lock. The platform detects it
//! at the start and refuses it with advice.

use sqlx::{AnyConnection, AnyPool, Connection as _, Row as _};

use super::url::DatabaseUrl;
use crate::error::Error;

/// Refuses a pooler that does not keep sessions.
pub(super) async fn require_sessions(pool: &AnyPool, url: &DatabaseUrl) -> Result<(), Error> {
    let mut one = pool.acquire().await?;
    let mut other = AnyConnection::connect(&url.url).await.map_err(refused)?;
    // Whether the pooler reuses its sessions as a stack or in turn, one of these checks fails.
    let first = session(&mut one).await?;
    let shared = session(&mut other).await? == first;
    let kept = session(&mut one).await? == first && session(&mut one).await? == first;
    let _ = other.close().await;
    if shared || !kept {
        return Err(Error::Invalid(
            "a pooler in front of the database does not keep sessions (PgBouncer: pool_mode = transaction or \
             statement): set pool_mode = session for this database, or connect to PostgreSQL directly"
                .into(),
        ));
    }
    Ok(())
}

/// The PostgreSQL process that answers. Asks without a prepared statement, which the pooler may not support.
async fn session(connection: &mut AnyConnection) -> Result<i32, Error> {
    let row = sqlx::raw_sql("SELECT pg_backend_pid() AS pid").fetch_one(connection).await?;
    Ok(row.try_get("pid")?)
}

/// The error for a failed connection. PgBouncer refuses unknown parameters in the first message.
pub(super) fn refused(error: sqlx::Error) -> Error {
    match error.as_database_error().map(|error| error.message()) {
        Some(message) if message.contains("unsupported startup parameter") => Error::Invalid(format!(
            "the pooler in front of the database refuses the connection ({message}): set \
             ignore_startup_parameters = extra_float_digits in pgbouncer.ini, and pool_mode = session"
        )),
        _ => error.into(),
    }
}
