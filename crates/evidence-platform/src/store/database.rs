//! The connections to the database, and transactions that write.

use std::fmt;
use std::fs::File;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use sqlx::any::AnyPoolOptions;
use sqlx::{Any, AnyConnection, AnyPool, Connection as _};
use tokio::sync::{Mutex, OwnedMutexGuard};

use super::url::{DatabaseUrl, Dialect};
use super::{pooler, private, schema};
use crate::error::Error;

/// The database.
#[derive(Clone)]
pub struct Store {
    pub(super) pool: AnyPool,
    dialect: Dialect,
    /// SQLite has one writer. Writers queue here in order instead of polling for the file's lock.
    writer: Arc<Mutex<()>>,
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Store({:?})", self.dialect)
    }
}

/// A writing transaction. Dropping it without [`commit`](Transaction::commit) rolls it back.
pub struct Transaction {
    inner: sqlx::Transaction<'static, Any>,
    _writer: Option<OwnedMutexGuard<()>>,
}

impl fmt::Debug for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Transaction")
    }
}

impl Transaction {
    /// Commits the transaction.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn commit(self) -> Result<(), Error> {
        Ok(self.inner.commit().await?)
    }

    pub(super) fn connection(&mut self) -> &mut AnyConnection {
        &mut self.inner
    }
}

impl Store {
    /// Connects and brings the tables up to date; creates them unless the address is of [`DatabaseUrl::existing`].
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`] if the database does not answer, [`Error::Invalid`] if there is no platform, a
    /// newer program has changed it or a pooler in front of it does not keep sessions, [`Error::Internal`] if the
    /// tables cannot be created.
    pub async fn open(url: &DatabaseUrl, connections: u32) -> Result<Store, Error> {
        sqlx::any::install_default_drivers();
        let dialect = url.dialect;
        // PostgreSQL's migrator takes a database lock by itself; SQLite's does not.
        let held = match &url.lock {
            Some(path) => {
                let path = path.clone();
                let prepare = move || {
                    let lock = lock_file(&path)?;
                    private::make_private(&path.with_extension(""))?;
                    Ok::<_, Error>(lock)
                };
                Some(tokio::task::spawn_blocking(prepare).await.map_err(Error::join)??)
            }
            None => None,
        };
        let pool = AnyPoolOptions::new()
            .max_connections(connections)
            .acquire_timeout(Duration::from_secs(10))
            .after_connect(move |connection, _| Box::pin(prepare(connection, dialect)))
            .after_release(|connection, _| Box::pin(certain(connection)))
            .connect(&url.url)
            .await
            .map_err(pooler::refused)?;
        match dialect {
            Dialect::Sqlite => {}
            Dialect::Postgres => pooler::require_sessions(&pool, url).await?,
        }
        let outcome = migrate(url).await;
        drop(held);
        outcome?;
        let store = Store { pool, dialect, writer: Arc::new(Mutex::new(())) };
        store.index_pending().await?;
        Ok(store)
    }

    /// The kind of the database.
    pub fn dialect(&self) -> Dialect {
        self.dialect
    }

    /// Begins a transaction that may write.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub async fn begin(&self) -> Result<Transaction, Error> {
        match self.dialect {
            Dialect::Sqlite => {
                let writer = Arc::clone(&self.writer).lock_owned().await;
                // A transaction that begins with a read cannot wait for the lock when it starts to write.
                let inner = self.pool.begin_with("BEGIN IMMEDIATE").await?;
                Ok(Transaction { inner, _writer: Some(writer) })
            }
            Dialect::Postgres => Ok(Transaction { inner: self.pool.begin().await?, _writer: None }),
        }
    }

    /// Waits for the connections and closes them.
    pub async fn close(&self) {
        self.pool.close().await;
    }
}

/// Brings the tables up to date over a connection of its own.
async fn migrate(url: &DatabaseUrl) -> Result<(), Error> {
    let dialect = url.dialect;
    let pool = AnyPoolOptions::new()
        .max_connections(1)
        .after_connect(move |connection, _| Box::pin(prepare_migration(connection, dialect)))
        .connect(&url.url)
        .await
        .map_err(pooler::refused)?;
    let outcome = match url.existing && schema::newest(&pool).await.is_none() {
        true => {
            let none = "the database has no platform: `evidence-platform init` creates one";
            Err(Error::Invalid(none.to_owned()))
        }
        false => schema::migrate(&pool, dialect).await,
    };
    pool.close().await;
    outcome
}

fn lock_file(path: &Path) -> Result<File, Error> {
    let file = File::options().create(true).truncate(false).write(true).open(path)?;
    file.lock()?;
    Ok(file)
}

async fn prepare(connection: &mut AnyConnection, dialect: Dialect) -> Result<(), sqlx::Error> {
    let statements = match dialect {
        // FULL: acknowledged writes survive a power loss, not only the end of the process.
        Dialect::Sqlite => {
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA busy_timeout = 10000"
        }
        Dialect::Postgres => "SET statement_timeout = '30s'; SET idle_in_transaction_session_timeout = '60s'",
    };
    sqlx::raw_sql(statements).execute(connection).await?;
    Ok(())
}

/// Without the limits for requests: a large table takes longer, and so does waiting for another instance that migrates.
async fn prepare_migration(connection: &mut AnyConnection, dialect: Dialect) -> Result<(), sqlx::Error> {
    prepare(connection, dialect).await?;
    let unlimited =
        "SET statement_timeout = 0; SET lock_timeout = 0; SET idle_in_transaction_session_timeout = 0";
    if dialect == Dialect::Postgres {
        sqlx::raw_sql(unlimited).execute(connection).await?;
    }
    Ok(())
}

/// Whether a returned connection is outside any transaction. If not, it is closed: after SQLITE_FULL the database has
/// ended the transaction by itself, the driver still counts it, and every later one would be refused.
async fn certain(connection: &mut AnyConnection) -> Result<bool, sqlx::Error> {
    // A rollback may still be in progress.
    connection.ping().await?;
    Ok(!connection.is_in_transaction())
}
