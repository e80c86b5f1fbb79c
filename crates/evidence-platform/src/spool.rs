//! Holds uploads until they are verified, as files that the storage does not know.
//!
//! Memory use does not grow with uploads. The next start removes leftovers of a crash, once they are too old to belong
//! to another instance.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use bytes::Bytes;
use evidence_bundle::text::saturating_u64;
use futures_util::{Stream, StreamExt as _};
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;
use tokio::io::AsyncWriteExt as _;
use tokio::time::timeout;

use crate::error::Error;
use crate::id::BlobDigest;

const PREFIX: &str = "upload-";

/// How large and how slow an upload may be.
#[derive(Debug, Clone, Copy)]
pub struct UploadLimits {
    /// The most bytes.
    pub bytes: u64,
    /// The longest time without data.
    pub idle: Duration,
    /// The longest time for the whole body.
    pub total: Duration,
}

/// The directory of unverified uploads.
#[derive(Debug, Clone)]
pub struct Spool {
    directory: PathBuf,
}

/// A received upload, removed on drop.
#[derive(Debug)]
pub struct Spooled {
    /// The file, synced to the disk.
    pub file: NamedTempFile,
    /// Its size.
    pub size: u64,
    /// Its SHA-256.
    pub digest: BlobDigest,
}

impl Spool {
    /// Opens the spool in this directory, and creates it if necessary.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub fn open(directory: &Path) -> Result<Spool, Error> {
        fs::create_dir_all(directory)?;
        Ok(Spool { directory: directory.to_owned() })
    }

    /// Writes the whole body into a new file.
    ///
    /// # Errors
    /// Fails with [`Error::TooLarge`], [`Error::TooSlow`], [`Error::BodyIncomplete`], or with
    /// [`Error::Unavailable`] if the disk fails.
    pub async fn receive<S, E>(&self, body: S, patience: UploadLimits) -> Result<Spooled, Error>
    where
        S: Stream<Item = Result<Bytes, E>>,
    {
        let directory = self.directory.clone();
        let create = move || tempfile::Builder::new().prefix(PREFIX).tempfile_in(directory);
        let file = tokio::task::spawn_blocking(create).await.map_err(Error::join)??;
        match timeout(patience.total, write(file.reopen()?, body, patience)).await {
            Ok(written) => written.map(|(size, digest)| Spooled { file, size, digest }),
            Err(_) => Err(Error::TooSlow),
        }
    }

    /// An unnamed new file, removed when it is closed.
    ///
    /// # Errors
    /// Fails if the file system does.
    pub fn scratch(&self) -> io::Result<File> {
        tempfile::tempfile_in(&self.directory)
    }

    /// Removes files last written before this time; returns their number.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub fn sweep(&self, before: SystemTime) -> Result<usize, Error> {
        let mut removed = 0_usize;
        for entry in fs::read_dir(&self.directory)? {
            let entry = entry?;
            let ours = entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX));
            // Another instance may remove it first.
            let old =
                entry.metadata().and_then(|metadata| metadata.modified()).is_ok_and(|time| time < before);
            if ours && old && ignore_missing(fs::remove_file(entry.path()))? {
                removed = removed.saturating_add(1);
            }
        }
        Ok(removed)
    }
}

fn ignore_missing(outcome: io::Result<()>) -> io::Result<bool> {
    match outcome {
        Ok(()) => Ok(true),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

async fn write<S, E>(file: File, body: S, patience: UploadLimits) -> Result<(u64, BlobDigest), Error>
where
    S: Stream<Item = Result<Bytes, E>>,
{
    let mut file = tokio::fs::File::from_std(file);
    // How much of each upload is in memory on its way to the disk.
    file.set_max_buf_size(256 << 10);
    let mut body = std::pin::pin!(body);
    let mut hasher = Sha256::new();
    let mut size = 0_u64;
    loop {
        let chunk = match timeout(patience.idle, body.next()).await {
            Err(_) => return Err(Error::TooSlow),
            Ok(None) => break,
            Ok(Some(Err(_))) => return Err(Error::BodyIncomplete),
            Ok(Some(Ok(chunk))) => chunk,
        };
        size = size.saturating_add(saturating_u64(chunk.len()));
        if size > patience.bytes {
            return Err(Error::TooLarge(patience.bytes));
        }
        hasher.update(&chunk);
        file.write_all(&chunk).await?;
    }
    file.flush().await?;
    file.sync_all().await?;
    Ok((size, BlobDigest(hasher.finalize().into())))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PATIENCE: UploadLimits =
        UploadLimits { bytes: 10, idle: Duration::from_millis(50), total: Duration::from_secs(5) };

    fn chunks(parts: &[&'static [u8]]) -> impl Stream<Item = Result<Bytes, io::Error>> {
        futures_util::stream::iter(parts.iter().map(|part| Ok(Bytes::from_static(part))).collect::<Vec<_>>())
    }

    #[tokio::test]
    async fn what_arrives_is_measured_and_removed() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::open(directory.path()).unwrap();
        let spooled = spool.receive(chunks(&[b"abc", b"", b"def"]), PATIENCE).await.unwrap();
        assert_eq!(spooled.size, 6);
        assert_eq!(spooled.digest, BlobDigest(Sha256::digest(b"abcdef").into()));
        assert_eq!(fs::read(spooled.file.path()).unwrap(), b"abcdef");
        drop(spooled);
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[tokio::test]
    async fn too_much_too_slow_and_too_little_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::open(directory.path()).unwrap();
        let outcome = spool.receive(chunks(&[b"0123456789", b"0"]), PATIENCE).await;
        assert!(matches!(outcome, Err(Error::TooLarge(10))), "{outcome:?}");
        let outcome =
            spool.receive(futures_util::stream::pending::<Result<Bytes, io::Error>>(), PATIENCE).await;
        assert!(matches!(outcome, Err(Error::TooSlow)), "{outcome:?}");
        let broken = futures_util::stream::iter([Ok(Bytes::from_static(b"a")), Err(io::Error::other("cut"))]);
        let outcome = spool.receive(broken, PATIENCE).await;
        assert!(matches!(outcome, Err(Error::BodyIncomplete)), "{outcome:?}");
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn only_old_leftovers_are_swept() {
        let directory = tempfile::tempdir().unwrap();
        let spool = Spool::open(directory.path()).unwrap();
        fs::write(directory.path().join("upload-left"), b"half").unwrap();
        fs::write(directory.path().join("notes.txt"), b"kept").unwrap();
        assert_eq!(spool.sweep(SystemTime::now() - Duration::from_secs(60)).unwrap(), 0);
        assert_eq!(spool.sweep(SystemTime::now() + Duration::from_secs(60)).unwrap(), 1);
        assert!(directory.path().join("notes.txt").exists());
    }
}
