//! What verified readings found, kept on this machine: the rows of each bundle, by the digest of its bytes and the version
//! of the verifier. A page that follows from rows costs what its rows cost, whatever the size of the bundle.
//!
//! It is a cache: a file that is missing, or of another version, is made again by verifying the bundle.

use std::fs::{self, DirBuilder, File};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use tempfile::NamedTempFile;

use crate::error::Error;
use crate::id::BlobDigest;
use crate::time::Time;

/// The version of the verifier, and of the form of a transcript.
const VERSION: &str = concat!(env!("CARGO_PKG_VERSION"), ".2");
/// The most bytes of the rows of one bundle, before compression.
pub(crate) const ROWS_BYTES: u64 = 256 << 20;
/// The most bytes of all files together; the oldest make room.
pub(crate) const ALL_BYTES: u64 = 2 << 30;
/// The longest first line.
const HEAD_BYTES: u64 = 64;

/// The folder.
#[derive(Debug, Clone)]
pub(crate) struct Readings {
    folder: PathBuf,
}

impl Readings {
    /// Opens the folder, and creates it if necessary.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub(crate) fn open(folder: &Path) -> Result<Readings, Error> {
        DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        Ok(Readings { folder: folder.to_owned() })
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
        if let Err(error) = kept {
            tracing::warn!(%error, "a report is not kept");
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
    pub(crate) fn begin(&self, now: Time) -> Option<NamedTempFile> {
        let mut file = NamedTempFile::new_in(&self.folder).ok()?;
        writeln!(file, "{}", now.0).ok()?;
        Some(file)
    }

    /// Keeps a complete transcript.
    pub(crate) fn keep(&self, digest: &BlobDigest, file: NamedTempFile) {
        if let Err(error) = file.persist(self.path(digest)) {
            tracing::warn!(error = %error.error, "what a reading found is not kept");
        }
    }

    /// Drops what is kept of these bytes.
    pub(crate) fn forget(&self, digest: &BlobDigest) {
        // They may not exist.
        let _ = fs::remove_file(self.path(digest));
        let _ = fs::remove_file(self.report_path(digest));
    }

    /// Removes the oldest files until the rest has at most this many bytes.
    ///
    /// # Errors
    /// Fails with [`Error::Unavailable`].
    pub(crate) fn sweep(&self, most: u64) -> Result<(), Error> {
        let mut files: Vec<(SystemTime, u64, PathBuf)> = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let entry = entry?;
            if let Ok(found) = entry.metadata() {
                let modified = found.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                files.push((modified, found.len(), entry.path()));
            }
        }
        files.sort();
        let mut all =
            files.iter().map(|(_, size, _)| size).fold(0, |sum: u64, size| sum.saturating_add(*size));
        for (_, size, path) in files {
            if all <= most {
                break;
            }
            if fs::remove_file(path).is_ok() {
                all = all.saturating_sub(size);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_make_room() {
        let folder = tempfile::tempdir().unwrap();
        let readings = Readings::open(&folder.path().join("rows")).unwrap();
        let digest = |byte| BlobDigest([byte; 32]);
        for byte in 0..4_u8 {
            let mut file = readings.begin(Time(7)).unwrap();
            file.write_all(&[b'x'; 1_000]).unwrap();
            let age = SystemTime::now() - std::time::Duration::from_secs(100 - u64::from(byte));
            file.as_file().set_modified(age).unwrap();
            readings.keep(&digest(byte), file);
        }
        let (_, verified) = readings.find(&digest(0)).unwrap();
        assert_eq!(verified, Time(7));
        readings.sweep(2_100).unwrap();
        let kept: Vec<bool> = (0..4).map(|byte| readings.find(&digest(byte)).is_some()).collect();
        assert_eq!(kept, [false, false, true, true]);
        readings.keep_report(&digest(3), b"report");
        assert_eq!(readings.report(&digest(3)).as_deref(), Some(&b"report"[..]));
        readings.forget(&digest(3));
        assert!(readings.report(&digest(3)).is_none());
        assert!(readings.find(&digest(3)).is_none());
    }
}
