//! The files of the cache: where they are, who may read them, and when they go.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::KEPT_SECONDS;
use crate::proxy::Variables;

/// What ends the name of a file.
pub(super) const SUFFIX: &str = ".records";

/// Where caches are: `$XDG_CACHE_HOME/evidence`, else `~/.cache/evidence` (XDG Base Directory Specification).
pub fn directory(env: &impl Variables) -> Option<PathBuf> {
    let path = |name| env.raw(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let set = path("XDG_CACHE_HOME").filter(|path| path.is_absolute());
    let home = || path("HOME").map(|home| home.join(".cache"));
    Some(set.or_else(home)?.join("evidence"))
}

/// The file for its owner alone, and for this process alone. Whoever only reads has none where there is none.
pub(super) fn open_private(path: &Path, writes: bool) -> io::Result<File> {
    let found = fs::symlink_metadata(path);
    // A link that somebody put there would lead into a file of their choice.
    if found.as_ref().is_ok_and(|found| !found.is_file() || found.nlink() != 1) {
        return Err(io::Error::other("it is a link or not a regular file"));
    }
    if !writes && found.is_err() {
        return tempfile::tempfile();
    }
    let mut options = OpenOptions::new();
    options.read(true).write(writes).create(writes).truncate(false).mode(0o600);
    let file = options.open(path)?;
    file.try_lock().map_err(|error| match error {
        fs::TryLockError::WouldBlock => io::Error::other("another run is using it"),
        fs::TryLockError::Error(error) => error,
    })?;
    let (found, opened) = (fs::symlink_metadata(path)?, file.metadata()?);
    if (found.dev(), found.ino()) != (opened.dev(), opened.ino()) {
        return Err(io::Error::other("another run is using it"));
    }
    if writes {
        // Fails on somebody else's file.
        file.set_permissions(fs::Permissions::from_mode(0o600))?;
    }
    Ok(file)
}

/// Removes the files of tokens and organizations that no run asks with any more.
pub(super) fn sweep(directory: &Path, except: &Path, now: Timestamp) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    let oldest = now.as_second().saturating_sub(KEPT_SECONDS);
    for entry in entries.flatten() {
        let path = entry.path();
        let is_ours = path.to_string_lossy().ends_with(SUFFIX) && path != except;
        let found = entry.metadata().ok().filter(fs::Metadata::is_file);
        if is_ours && found.is_some_and(|found| found.mtime() < oldest) {
            let _ = fs::remove_file(path);
        }
    }
}
