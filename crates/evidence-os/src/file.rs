//! Files that the programs write: by position, for their owner alone, and recognised again.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::system;

pub use crate::terms::Readers;

/// Reads some bytes from this position on. It may move the file's own position.
///
/// # Errors
///
/// If the disk fails.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    system::read_at(file, buffer, offset)
}

/// Writes some of the bytes from this position on. It may move the file's own position.
///
/// # Errors
///
/// If the disk is full or fails.
pub fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    system::write_at(file, bytes, offset)
}

/// Fills the buffer from this position on.
///
/// # Errors
///
/// If the disk fails; `UnexpectedEof` if the file ends before.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    system::read_exact_at(file, buffer, offset)
}

/// Writes all of the bytes from this position on.
///
/// # Errors
///
/// If the disk is full or fails.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    system::write_all_at(file, bytes, offset)
}

/// Makes a file that must not be there yet, open for writing.
///
/// # Errors
///
/// If it is there or cannot be made.
pub fn create_new(path: &Path, readers: Readers) -> io::Result<File> {
    system::mode(File::options().write(true).create_new(true), readers).open(path)
}

/// Opens a file for reading and writing, and makes it for its owner alone if it is not there.
///
/// # Errors
///
/// If it cannot be opened or made.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    system::mode(&mut options, Readers::Owner).open(path)
}

/// Takes an open file away from everyone but its owner. Does nothing on Windows.
///
/// # Errors
///
/// If it belongs to another user.
pub fn make_private(file: &File) -> io::Result<()> {
    system::make_private(file)
}

/// Makes a directory, and those above it, for its owner alone, unless they are there.
///
/// # Errors
///
/// If it cannot be made.
pub fn create_directory(path: &Path) -> io::Result<()> {
    system::create_directory(path)
}

/// Whether this name, not followed if it is a link, means the open file.
///
/// # Errors
///
/// If nothing has that name, or it cannot be looked at.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    Ok(system::identity(file)? == system::identity_of_name(path)?)
}

/// How many names the open file has.
///
/// # Errors
///
/// If the disk fails.
pub fn names(file: &File) -> io::Result<u64> {
    system::names(file)
}

/// Puts a temporary file in the place of another one, which `replaced` holds open until then: a lock on the old file holds
/// until the new one has its name. On Windows a file that is open cannot be replaced, so `replaced` is closed just before.
///
/// # Errors
///
/// If it cannot be renamed; the old file is still there then.
pub fn replace<T>(new: NamedTempFile, path: &Path, replaced: T) -> io::Result<File> {
    system::replace(new, path, replaced)
}

/// Puts the names in a directory on the disk for good. Windows does that by itself.
///
/// # Errors
///
/// If the directory cannot be opened, or the disk fails.
pub fn sync_directory(path: &Path) -> io::Result<()> {
    system::sync_directory(path)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn positions_are_independent_of_each_other() {
        let file = tempfile::tempfile().unwrap();
        write_all_at(&file, b"later", 5).unwrap();
        write_all_at(&file, b"first", 0).unwrap();
        let mut bytes = [0; 10];
        read_exact_at(&file, &mut bytes, 0).unwrap();
        assert_eq!(&bytes, b"firstlater");
        assert_eq!(read_at(&file, &mut bytes, 8).unwrap(), 2);
        assert_eq!(read_at(&file, &mut bytes, 10).unwrap(), 0);
        let error = read_exact_at(&file, &mut bytes, 1).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_file_is_recognised_by_its_name() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name| directory.path().join(name);
        let file = create_new(&path("a"), Readers::Owner).unwrap();
        assert!(is_named(&file, &path("a")).unwrap());
        assert_eq!(is_named(&file, &path("b")).unwrap_err().kind(), io::ErrorKind::NotFound);
        assert_eq!(names(&file).unwrap(), 1);
        fs::hard_link(path("a"), path("b")).unwrap();
        assert!(is_named(&file, &path("b")).unwrap());
        assert_eq!(names(&file).unwrap(), 2);
        fs::rename(path("a"), path("c")).unwrap();
        fs::write(path("a"), "another").unwrap();
        assert!(!is_named(&file, &path("a")).unwrap());
    }

    #[test]
    fn an_open_file_is_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let old = open_or_create(&path).unwrap();
        old.try_lock().unwrap();
        let new = NamedTempFile::new_in(directory.path()).unwrap();
        write_all_at(new.as_file(), b"new", 0).unwrap();
        let file = replace(new, &path, old).unwrap();
        write_all_at(&file, b"N", 0).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"New");
    }
}
