//! Reading the columns of a row.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::error::Error;

/// Reads a text column.
pub(super) fn text(row: &AnyRow, column: &str) -> Result<String, Error> {
    Ok(row.try_get::<String, _>(column)?)
}

/// Reads a numeric column.
pub(super) fn integer(row: &AnyRow, column: &str) -> Result<i64, Error> {
    Ok(row.try_get::<i64, _>(column)?)
}

/// Reads a numeric constant, whose type is narrow in PostgreSQL and wide in SQLite.
pub(super) fn small(row: &AnyRow, column: &str) -> Result<i64, Error> {
    match row.try_get::<i64, _>(column) {
        Ok(value) => Ok(value),
        Err(_) => Ok(i64::from(row.try_get::<i32, _>(column)?)),
    }
}

/// Reads a numeric column that may be NULL.
pub(super) fn optional(row: &AnyRow, column: &str) -> Result<Option<i64>, Error> {
    Ok(row.try_get::<Option<i64>, _>(column)?)
}

/// The error for invalid database content.
pub(super) fn corrupt(what: &'static str) -> Error {
    Error::Internal(what, None)
}
