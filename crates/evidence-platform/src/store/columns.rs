//! Reading the columns of a row.

use sqlx::Row as _;
use sqlx::any::AnyRow;

use crate::error::Error;

/// Reads a column that holds text.
pub(super) fn text(row: &AnyRow, column: &str) -> Result<String, Error> {
    Ok(row.try_get::<String, _>(column)?)
}

/// Reads a column that holds a number.
pub(super) fn integer(row: &AnyRow, column: &str) -> Result<i64, Error> {
    Ok(row.try_get::<i64, _>(column)?)
}

/// What is in the database does not make sense.
pub(super) fn corrupt(what: &'static str) -> Error {
    Error::Internal(what, None)
}
