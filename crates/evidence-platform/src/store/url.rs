//! The address of the database.

use std::fmt;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use crate::error::Error;

/// The file of a SQLite database.
const FILE: &str = "platform.sqlite";

/// The kind of the database. The SQL is the same, except for the start of transactions and the triggers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// One file on this machine.
    Sqlite,
    /// A server, for several instances side by side.
    Postgres,
}

/// The address of the database. Never printed: it may hold a password.
#[derive(Clone)]
pub struct DatabaseUrl {
    pub(super) dialect: Dialect,
    pub(super) url: String,
    /// A lock file, so that two processes do not migrate one SQLite file at once.
    pub(super) lock: Option<PathBuf>,
    /// Whether the platform must exist.
    pub(super) existing: bool,
}

impl fmt::Debug for DatabaseUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DatabaseUrl({:?}, ...)", self.dialect)
    }
}

impl DatabaseUrl {
    /// The SQLite database in this directory.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if the path is not UTF-8.
    pub fn sqlite(directory: &Path) -> Result<DatabaseUrl, Error> {
        let directory = std::path::absolute(directory)?;
        let path = directory.join(FILE);
        let path =
            path.to_str().ok_or_else(|| Error::Invalid("the data directory's path is not UTF-8".into()))?;
        let mut escaped = String::with_capacity(path.len());
        for byte in path.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                    escaped.push(char::from(byte))
                }
                _ => escaped.push_str(&format!("%{byte:02X}")),
            }
        }
        Ok(DatabaseUrl {
            dialect: Dialect::Sqlite,
            url: format!("sqlite://{escaped}?mode=rwc"),
            lock: Some(directory.join("platform.sqlite.migrating")),
            existing: false,
        })
    }

    /// The same, but only for a platform that exists, with its files in this folder.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if there is none, or with [`Error::Unusable`] if the folder cannot be read.
    pub fn existing(self, folder: &Path) -> Result<DatabaseUrl, Error> {
        let folder = std::path::absolute(folder)?;
        let file = match self.dialect {
            Dialect::Sqlite => folder.join(FILE),
            Dialect::Postgres => folder.clone(),
        };
        let folder = folder.display();
        match std::fs::metadata(file) {
            Ok(_) => Ok(DatabaseUrl { existing: true, ..self }),
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
                Err(Error::Invalid(format!(
                    "there is no platform in {folder}: name its folder with --data, or create a platform with \
                     `evidence-platform init`"
                )))
            }
            Err(error) => Err(Error::unusable(format!("cannot look into {folder}"), error)),
        }
    }

    /// The address itself, for tests that bypass the service.
    #[doc(hidden)]
    pub fn reveal_for_tests(&self) -> String {
        self.url.clone()
    }

    /// A PostgreSQL server.
    ///
    /// # Errors
    /// Fails with [`Error::Invalid`] if the address does not begin with `postgres://` or `postgresql://`.
    pub fn postgres(url: &str) -> Result<DatabaseUrl, Error> {
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            Ok(DatabaseUrl { dialect: Dialect::Postgres, url: url.to_owned(), lock: None, existing: false })
        } else {
            Err(Error::Invalid("the database must be postgres://..., or unset for SQLite".into()))
        }
    }
}
