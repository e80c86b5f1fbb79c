//! What verified readings found, kept on this machine: the rows of each bundle, by the digest of its bytes and the version
//! of the verifier. A page that follows from rows costs what its rows cost, whatever the size of the bundle.
//!
//! An upload keeps the rows that its verification found, once the bundle is stored; what is missing, because a bundle came to
//! another instance or before an update, is read in the background. It is a cache: a file that is missing, or of another
//! version, is made again by verifying the bundle.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead as _, BufReader, Seek as _, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, SystemTime};

use flate2::Compression;
use flate2::write::GzEncoder;
use tempfile::NamedTempFile;
use tokio::sync::Semaphore;

use crate::error::Error;
use crate::id::BlobDigest;
use crate::time::Time;

/// The version of the verifier, and of the form of a transcript.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), ".2");
/// The most bytes of the rows of one bundle, before compression.
pub(crate) const ROWS_BYTES: u64 = 256 << 20;
/// The longest first line.
const HEAD_BYTES: u64 = 64;
/// After this time, a file that is being written belongs to a process that was killed, and a file of another version to a
/// program that no longer runs.
const LEFT_BEHIND: Duration = Duration::from_secs(24 * 60 * 60);

/// How many transcripts of uploads may wait to be kept; of others, the bundles are read again later.
const WAITING: usize = 64;
/// How many of them are compressed at once.
const AT_ONCE: usize = 2;

/// A transcript that is being written, as it is: an upload waits for no compression.
#[derive(Debug)]
pub(crate) struct Transcript {
    file: NamedTempFile,
    verified: Time,
}

impl io::Write for Transcript {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// The folder.
#[derive(Debug, Clone)]
pub(crate) struct Readings {
    folder: PathBuf,
    /// The most bytes of all files together; the oldest make room.
    most: u64,
    /// About how many bytes there are.
    bytes: Arc<AtomicU64>,
    waiting: Arc<Semaphore>,
    at_once: Arc<Semaphore>,
}

impl Readings {
    /// Opens the folder, and creates it if necessary.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub(crate) fn open(folder: &Path, most: u64) -> Result<Readings, Error> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        let [waiting, at_once] = [WAITING, AT_ONCE].map(|most| Arc::new(Semaphore::new(most)));
        Ok(Readings { folder: folder.to_owned(), most, bytes: Arc::default(), waiting, at_once })
    }

    /// Whether the rows of the bundle with this digest are kept.
    pub(crate) fn has(&self, digest: &BlobDigest) -> bool {
        self.path(digest).exists()
    }

    /// Whether rows can be added without removing others soon.
    pub(crate) fn has_room(&self) -> bool {
        self.bytes.load(Ordering::Relaxed) < self.most.saturating_sub(self.most / 10)
    }

    /// Counts a file that was added, and makes room if there are too many.
    fn added(&self, bytes: u64) {
        let before = self.bytes.fetch_add(bytes, Ordering::Relaxed);
        if before.saturating_add(bytes) > self.most
            && let Err(error) = self.sweep()
        {
            tracing::warn!(%error, "old rows are not removed");
        }
    }

    fn path(&self, digest: &BlobDigest) -> PathBuf {
        self.folder.join(format!("{digest}.{VERSION}"))
    }

    fn report_path(&self, digest: &BlobDigest) -> PathBuf {
        self.folder.join(format!("{digest}.{VERSION}.report"))
    }

    /// The report that was made of the bundle with this digest.
    pub(crate) fn report(&self, digest: &BlobDigest) -> Option<Vec<u8>> {
        fs::read(self.report_path(digest)).ok()
    }

    /// Keeps a report. If the disk is full, it is not kept.
    pub(crate) fn keep_report(&self, digest: &BlobDigest, report: &[u8]) {
        let kept = NamedTempFile::new_in(&self.folder).and_then(|mut file| {
            file.write_all(report)?;
            file.persist(self.report_path(digest)).map_err(|error| error.error)
        });
        match kept {
            Ok(_) => self.added(u64::try_from(report.len()).unwrap_or(u64::MAX)),
            Err(error) => tracing::warn!(%error, "a report is not kept"),
        }
    }

    /// The transcript of the bundle with this digest, and when the bundle was verified.
    pub(crate) fn find(&self, digest: &BlobDigest) -> Option<(BufReader<File>, Time)> {
        let mut file = BufReader::new(File::open(self.path(digest)).ok()?);
        let mut head = String::new();
        io::Read::take(&mut file, HEAD_BYTES).read_line(&mut head).ok()?;
        let verified = head.strip_suffix('\n')?.parse().ok()?;
        Some((file, Time(verified)))
    }

    /// Creates the file for the transcript of a bundle during its verification. `None` if the disk is full: the transcript is then not
    /// kept.
    pub(crate) fn begin(&self, now: Time) -> Option<Transcript> {
        Some(Transcript { file: NamedTempFile::new_in(&self.folder).ok()?, verified: now })
    }

    /// Keeps a complete transcript.
    pub(crate) fn keep(&self, digest: &BlobDigest, transcript: Transcript) {
        match self.compress(digest, transcript) {
            Ok(size) => self.added(size),
            Err(error) => tracing::warn!(%error, "what a reading found is not kept"),
        }
    }

    fn compress(&self, digest: &BlobDigest, transcript: Transcript) -> io::Result<u64> {
        let Transcript { mut file, verified } = transcript;
        file.as_file_mut().rewind()?;
        let mut kept = NamedTempFile::new_in(&self.folder)?;
        writeln!(kept, "{}", verified.0)?;
        let mut out = GzEncoder::new(kept, Compression::fast());
        io::copy(&mut file, &mut out)?;
        let kept = out.finish()?;
        let size = kept.as_file().metadata()?.len();
        kept.persist(self.path(digest)).map_err(|error| error.error)?;
        Ok(size)
    }

    /// Keeps a complete transcript soon. If too many wait, it is dropped.
    pub(crate) fn keep_soon(&self, digest: BlobDigest, transcript: Transcript) {
        let Ok(place) = Arc::clone(&self.waiting).try_acquire_owned() else { return };
        let readings = self.clone();
        tokio::spawn(async move {
            let _place = place;
            let Ok(_turn) = Arc::clone(&readings.at_once).acquire_owned().await else { return };
            let keep = move || readings.keep(&digest, transcript);
            if let Err(error) = tokio::task::spawn_blocking(keep).await {
                tracing::warn!(%error, "what a reading found is not kept");
            }
        });
    }

    /// Drops what is kept of these bytes.
    pub(crate) fn forget(&self, digest: &BlobDigest) {
        // They may not exist.
        let _ = fs::remove_file(self.path(digest));
        let _ = fs::remove_file(self.report_path(digest));
    }

    /// Removes what killed processes and other versions left, and then the oldest files until nine tenths of the allowed bytes
    /// are left, if there are more than allowed.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub(crate) fn sweep(&self) -> Result<(), Error> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        let before = SystemTime::now().checked_sub(LEFT_BEHIND).unwrap_or(SystemTime::UNIX_EPOCH);
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            let Ok(found) = entry.metadata() else { continue };
            let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let is_ours = entry.file_name().to_str().is_some_and(is_of_this_version);
            if is_ours || modified >= before || fs::remove_file(entry.path()).is_err() {
                files.push((modified, found.len(), entry.path()));
            }
        }
        files.sort();
        let mut all =
            files.iter().map(|(_, size, _)| size).fold(0, |sum: u64, size| sum.saturating_add(*size));
        if all > self.most {
            let enough = self.most.saturating_sub(self.most / 10);
            for (_, size, path) in files {
                if all <= enough {
                    break;
                }
                if fs::remove_file(path).is_ok() {
                    all = all.saturating_sub(size);
                }
            }
        }
        self.bytes.store(all, Ordering::Relaxed);
        Ok(())
    }
}

/// Whether a file has rows or a report of this version.
fn is_of_this_version(name: &str) -> bool {
    let name = name.strip_suffix(".report").unwrap_or(name);
    name.strip_suffix(VERSION).is_some_and(|digest| digest.ends_with('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digest(byte: u8) -> BlobDigest {
        BlobDigest([byte; 32])
    }

    fn age(path: &Path, seconds: u64) {
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(seconds)).unwrap();
    }

    #[test]
    fn the_oldest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let readings = Readings::open(&folder.path().join("rows"), 400).unwrap();
        let kept = || -> Vec<bool> { (0..4).map(|byte| readings.has(&digest(byte))).collect() };
        for byte in 0..4_u8 {
            // What does not compress.
            let mut file = readings.begin(Time(7)).unwrap();
            file.write_all(&[byte; 90]).unwrap();
            readings.keep(&digest(byte), file);
            age(&readings.path(&digest(byte)), 100 - u64::from(byte));
        }
        assert_eq!(kept(), [true; 4]);
        let (_, verified) = readings.find(&digest(0)).unwrap();
        assert_eq!(verified, Time(7));
        assert!(readings.has_room());
        // A report of 350 bytes is one too many: the oldest go at once, until nine tenths are left.
        readings.keep_report(&digest(3), &[b'r'; 350]);
        assert_eq!(readings.report(&digest(3)).unwrap().len(), 350);
        assert!(!readings.has(&digest(0)) && !readings.has(&digest(1)), "{:?}", kept());
        readings.forget(&digest(3));
        assert!(readings.report(&digest(3)).is_none());
        assert!(readings.find(&digest(3)).is_none());
    }

    #[test]
    fn what_nobody_needs_any_longer_is_removed_after_a_day() {
        let folder = tempfile::tempdir().unwrap();
        let readings = Readings::open(folder.path(), 1 << 20).unwrap();
        for name in [".tmpAbCdEf", "00.9.9.9.1", "00.9.9.9.1.report"] {
            for (old, suffix) in [(true, "old"), (false, "new")] {
                let path = folder.path().join(format!("{suffix}{name}"));
                fs::write(&path, "x").unwrap();
                age(&path, if old { 90_000 } else { 80_000 });
            }
        }
        readings.keep(&digest(1), readings.begin(Time(7)).unwrap());
        age(&readings.path(&digest(1)), 900_000);
        readings.sweep().unwrap();
        let left = fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<String> =
            left.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        left.sort();
        assert!(readings.has(&digest(1)));
        assert_eq!(left.len(), 4, "{left:?}");
        assert!(left.iter().all(|name| !name.starts_with("old")), "{left:?}");
    }
}
