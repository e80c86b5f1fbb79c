//! The temporary file of a bundle. It stays locked while its run lives, so that the next run can recognise and remove
//! the leftovers of killed runs, and nothing else.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::Path;

use evidence_os::file;
use tempfile::NamedTempFile;

/// The prefix of the name.
const PREFIX: &str = ".evidence-bundle-";
/// The suffix of the name.
const SUFFIX: &str = ".tmp";
/// How many times to create the file, because another run may take it for a leftover.
const ATTEMPTS: usize = 8;

/// Creates a locked temporary file that only its owner can access.
///
/// # Errors
///
/// Fails if no file can be created there.
pub fn create(directory: &Path) -> io::Result<NamedTempFile> {
    for _ in 0..ATTEMPTS {
        let file = tempfile::Builder::new().prefix(PREFIX).suffix(SUFFIX).tempfile_in(directory)?;
        match file.as_file().try_lock() {
            // Another run may have removed the file before it was locked.
            Ok(()) if file::is_named(file.as_file(), file.path()).unwrap_or(false) => return Ok(file),
            Ok(()) | Err(TryLockError::WouldBlock) => {}
            // On a file system without locks, no other run can sweep either.
            Err(TryLockError::Error(_)) => return Ok(file),
        }
    }
    Err(io::Error::other("other runs delete every temporary file"))
}

/// Removes the leftovers of killed runs from this directory. Ignores files that cannot be removed: the run can still
/// collect.
pub fn sweep(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let is_ours = name.to_str().is_some_and(|name| name.starts_with(PREFIX) && name.ends_with(SUFFIX));
        // Do not follow a link with such a name.
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
        // A killed run holds no lock.
        let (file, kept) = alive.keep().unwrap();
        drop(file);
        sweep(path);
        assert!(!kept.exists());
        sweep(&path.join("there is no such directory"));
    }
}
