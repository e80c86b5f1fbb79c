//! Cancels work: reading a bundle stops soon after the client that asked for it disconnects.

use std::future::Future;
use std::io::{self, Read};

use tokio::sync::watch;

use crate::error::Error;

/// How many bytes to read between two checks of the client. They can inflate to a thousand times as many.
const BYTES: usize = 8 << 10;

/// Held by the request that waits for the work. Dropping it cancels the work.
#[derive(Debug)]
pub(crate) struct CancelGuard(#[expect(dead_code, reason = "only its end counts")] watch::Sender<()>);

/// Held by the work.
#[derive(Debug, Clone)]
pub(crate) struct CancelToken(watch::Receiver<()>);

/// Creates both ends.
pub(crate) fn pair() -> (CancelGuard, CancelToken) {
    let (sender, receiver) = watch::channel(());
    (CancelGuard(sender), CancelToken(receiver))
}

impl CancelToken {
    /// Waits for `work`, until the client disconnects.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`] after a disconnect, when no one reads it.
    pub(crate) async fn or_gone<T>(&self, work: impl Future<Output = T>) -> Result<T, Error> {
        let mut client = self.0.clone();
        tokio::select! {
            done = work => Ok(done),
            _ = client.changed() => Err(gone().into()),
        }
    }

    /// A reader over `inner` that fails once the client has disconnected.
    pub(crate) fn reader<R: Read>(&self, inner: R) -> impl Read + use<R> {
        Cancellable { inner, cancel: self.clone() }
    }
}

fn gone() -> io::Error {
    io::Error::other("the client has gone away")
}

struct Cancellable<R> {
    inner: R,
    cancel: CancelToken,
}

impl<R: Read> Read for Cancellable<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cancel.0.has_changed().is_err() {
            return Err(gone());
        }
        let most = buffer.len().min(BYTES);
        self.inner.read(buffer.get_mut(..most).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn work_ends_with_its_client() {
        let (client, cancel) = pair();
        let mut endless = cancel.reader(io::repeat(7));
        let mut buffer = vec![0; 3 * BYTES];
        assert_eq!(endless.read(&mut buffer).unwrap(), BYTES);
        assert_eq!(cancel.or_gone(async { 1 }).await.unwrap(), 1);
        drop(client);
        let error = endless.read(&mut buffer).unwrap_err();
        // `Interrupted` would be retried.
        assert_ne!(error.kind(), io::ErrorKind::Interrupted);
        assert!(cancel.or_gone(std::future::pending::<()>()).await.is_err());
    }
}
