//! Checks that writes work, with a small write to each store. Whatever the number of clients, only one check runs at a
//! time, and at most one in two seconds.

use std::time::{Duration, Instant};

use bytes::Bytes;
use tokio::time::timeout;

use super::platform::Service;
use super::probe::Probe;
use crate::error::Error;
use crate::spool::UploadLimits;

/// How long a result is reused.
const FRESH: Duration = Duration::from_secs(2);
/// How long a store may take.
const PATIENCE: Duration = Duration::from_secs(3);
/// Large enough that no file system stores it inside the inode.
const OBJECT: &[u8] = &[b'.'; 4_096];

impl Service {
    /// Checks that the database and the storage accept writes.
    ///
    /// # Errors
    /// Fails with [`Error::NotReady`].
    pub async fn ready(&self) -> Result<(), Error> {
        let service = self.clone();
        // In a separate task, so that a client that disconnects cannot cause the next one to start over.
        let found = tokio::spawn(async move {
            let mut last = service.inner.ready.lock().await;
            match &*last {
                Some((at, found)) if at.elapsed() < FRESH => found.clone(),
                _ => {
                    let found = service.probe().await;
                    *last = Some((Instant::now(), found.clone()));
                    found
                }
            }
        });
        let Probe { refused, failed } = found.await.map_err(Error::join)?;
        if failed.is_empty() { Ok(()) } else { Err(Error::NotReady { refused, detail: failed.join("; ") }) }
    }

    async fn probe(&self) -> Probe {
        let database = timeout(PATIENCE, self.inner.store.probe(self.inner.clock.now()));
        let storage = timeout(PATIENCE, self.probe_storage());
        let (database, storage) = tokio::join!(database, storage);
        let mut outcome = Probe::default();
        for (store, found) in [("the database", database), ("the storage", storage)] {
            let error = match found {
                Ok(Ok(())) => continue,
                Ok(Err(error)) => error,
                Err(elapsed) => Error::Unavailable(Box::new(elapsed)),
            };
            let refused = matches!(error, Error::StorageRefused);
            outcome.refused |= refused;
            let what = if refused { "refuses the platform" } else { "takes no writes" };
            outcome.failed.push(format!("{store} {what}"));
            let cause = error.causes();
            tracing::warn!(store, cause, "not ready");
        }
        outcome
    }

    /// Like an upload: spooled and synced, then put.
    async fn probe_storage(&self) -> Result<(), Error> {
        let patience = UploadLimits { bytes: u64::MAX, idle: PATIENCE, total: PATIENCE };
        let body = futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from_static(OBJECT))]);
        let spooled = self.inner.spool.receive(body, patience).await?;
        self.inner.blobs.probe(spooled).await
    }
}
