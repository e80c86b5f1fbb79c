//! The temporary file of a bundle. It is locked as long as its run lives, so that the next run can tell what a killed
//! one left behind, and removes that and nothing else.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use evidence_os::file;
use tempfile::NamedTempFile;

/// What the name begins with.
const PREFIX: &str = ".evidence-bundle-";
/// What the name ends with.
const SUFFIX: &str = ".tmp";
/// How often a new file is made because another run took the one before for a leftover.
const ATTEMPTS: usize = 8;

/// A new temporary file for its owner alone, locked.
///
/// # Errors
///
/// If none can be made there.
pub fn create(directory: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..ATTEMPTS {
        let file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(directory)?;
        match file.as_file().try_lock() {
            // Between the making and the locking another run may have taken it away.
            Ok(()) if file::is_named(file.as_file(), file.path()).unwrap_or(false) => return Ok(file),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // A file system without locks: nobody can sweep there either.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(io::Error::other("other runs delete every temporary file"))
}

/// Removes what killed runs left in this directory. Files that cannot be removed are left; the run still collects.
pub fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        // A link that somebody gave such a name is not followed.
        if !is_ours || !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            continue;
        }
        let Ok(file) = File::options().read(true).write(true).open(entry.path()) else { continue };
        if file.try_lock().is_ok() {
            let _ = fs::remove_file(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
    }

    #[test]
    fn what_lives_stays_and_what_was_left_goes() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path();
        let alive = create(path).unwrap();
        let name = alive.path().file_name().unwrap().to_str().unwrap().to_owned();
        fs::write(path.join(".evidence-bundle-dead.tmp"), "half a bundle").unwrap();
        fs::write(path.join("evidence-bundle-20260102-030405.tar.gz"), "a bundle").unwrap();
        fs::write(path.join(".evidence-bundle-notes"), "somebody's").unwrap();
        fs::create_dir(path.join(".evidence-bundle-directory.tmp")).unwrap();
        std::os::unix::fs::symlink("nowhere", path.join(".evidence-bundle-link.tmp")).unwrap();
        sweep(path);
        let mut left = names(path);
        left.sort();
        let mut expected = vec![
            ".evidence-bundle-directory.tmp".to_owned(),
            ".evidence-bundle-link.tmp".to_owned(),
            ".evidence-bundle-notes".to_owned(),
            "evidence-bundle-20260102-030405.tar.gz".to_owned(),
            name,
        ];
        expected.sort();
        assert_eq!(left, expected);
        // A run that was killed holds no lock.
        let (file, kept) = alive.keep().unwrap();
        drop(file);
        sweep(path);
        assert!(!kept.exists());
        sweep(&path.join("there is no such directory"));
    }
}
