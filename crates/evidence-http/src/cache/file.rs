//! The files of the cache: where they are, who may read them, and when they are removed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use evidence_os::{file, place};
use jiff::Timestamp;

use crate::proxy::Variables;

/// How long the cache keeps an answer that no run asks for, and a file that no run opens.
pub(super) const KEPT_SECONDS: i64 = 90 * 24 * 3600;

/// The suffix of every cache file.
pub(super) const SUFFIX: &str = ".records";

/// Where caches are: see [`place::caches`].
///
/// # Errors
///
/// Fails if no variable names the directory.
pub fn directory(env: &impl Variables) -> Result<PathBuf, &'static str> {
    let caches = place::caches(|name| env.raw(name).map(OsStr::to_os_string))?;
    Ok(caches.join("evidence"))
}

/// Opens the file for its owner and this process alone. A reader gets an empty temporary file if there is
/// none.
pub(super) fn open_private(path: &Path, writes: bool) -> io::Result<File> {
    let found = fs::symlink_metadata(path);
    // Another user could plant a link to a file of their choice.
    let foreign = || io::Error::other("it is a link or not a regular file");
    if found.as_ref().is_ok_and(|found| !found.is_file()) {
        return Err(foreign());
    }
    if !writes && found.is_err() {
        return tempfile::tempfile();
    }
    let file = if writes { file::open_or_create(path) } else { File::open(path) }?;
    if file::names(&file)? > 1 {
        return Err(foreign());
    }
    file.try_lock().map_err(|error| match error {
        fs::TryLockError::WouldBlock => io::Error::other("another run is using it"),
        fs::TryLockError::Error(error) => error,
    })?;
    if !file::is_named(&file, path)? {
        return Err(io::Error::other("another run is using it"));
    }
    if writes {
        // Fails if the file belongs to another user.
        file::make_private(&file)?;
    }
    Ok(file)
}

/// Removes the files of tokens and tenants that no run has used for a long time.
pub(super) fn sweep(directory: &Path, except: &Path, now: Timestamp) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let oldest = u64::try_from(now.as_second().saturating_sub(KEPT_SECONDS)).unwrap_or(0);
    let oldest = SystemTime::UNIX_EPOCH + Duration::from_secs(oldest);
    for entry in entries.flatten() {
        let path = entry.path();
        let is_ours = path.to_string_lossy().ends_with(SUFFIX) && path != except;
        let found = entry.metadata().ok().filter(fs::Metadata::is_file);
        if is_ours && found.is_some_and(|found| found.modified().is_ok_and(|time| time < oldest)) {
            let _ = fs::remove_file(path);
        }
    }
}
