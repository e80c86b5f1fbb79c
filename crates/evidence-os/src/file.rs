//! Files that the programs write: positioned access, private permissions, and identity.

use std::fs::File;
use std::io;
use std::path::Path;

use tempfile::NamedTempFile;

use crate::system;

pub use crate::terms::Readers;

/// Reads some bytes from this position. May move the file's own position.
///
/// # Errors
///
/// Fails if the disk cannot be read.
pub fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    system::read_at(file, buffer, offset)
}

/// Writes some of the bytes at this position. May move the file's own position.
///
/// # Errors
///
/// Fails if the disk is full or cannot be written.
pub fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
    system::write_at(file, bytes, offset)
}

/// Fills the buffer from this position.
///
/// # Errors
///
/// Fails if the disk cannot be read, or with `UnexpectedEof` if the file ends too early.
pub fn read_exact_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<()> {
    system::read_exact_at(file, buffer, offset)
}

/// Writes all bytes at this position.
///
/// # Errors
///
/// Fails if the disk is full or cannot be written.
pub fn write_all_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<()> {
    system::write_all_at(file, bytes, offset)
}

/// Creates a file that does not exist yet, open for writing.
///
/// # Errors
///
/// Fails if the file exists or cannot be created.
pub fn create_new(path: &Path, readers: Readers) -> io::Result<File> {
    system::mode(File::options().write(true).create_new(true), readers).open(path)
}

/// Opens a file for reading and writing. Creates it for its owner alone if it does not exist.
///
/// # Errors
///
/// Fails if the file cannot be opened or created.
pub fn open_or_create(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.read(true).write(true).create(true).truncate(false);
    system::mode(&mut options, Readers::Owner).open(path)
}

/// Restricts an open file to its owner. Does nothing on Windows.
///
/// # Errors
///
/// Fails if the file belongs to another user.
pub fn make_private(file: &File) -> io::Result<()> {
    system::make_private(file)
}

/// Creates a directory and its missing parents for their owner alone.
///
/// # Errors
///
/// Fails if the directory cannot be created.
pub fn create_directory(path: &Path) -> io::Result<()> {
    system::create_directory(path)
}

/// Whether this name refers to the open file. Does not follow a link.
///
/// # Errors
///
/// Fails if nothing has that name, or it cannot be inspected.
pub fn is_named(file: &File, path: &Path) -> io::Result<bool> {
    Ok(system::identity(file)? == system::identity_of_name(path)?)
}

/// How many names (hard links) the open file has.
///
/// # Errors
///
/// Fails if the disk cannot be read.
pub fn names(file: &File) -> io::Result<u64> {
    system::names(file)
}

/// Renames a temporary file to `path`, over an existing file. `replaced` keeps the old file open during the rename, so
/// that a lock on it holds until the new file has its name. Windows cannot replace an open file, so there `replaced` is
/// closed just before.
///
/// # Errors
///
/// Fails if the file cannot be renamed; the old file is then unchanged.
pub fn replace<T>(new: NamedTempFile, path: &Path, replaced: T) -> io::Result<File> {
    system::replace(new, path, replaced)
}

/// Flushes the names in a directory to the disk. Windows does that by itself.
///
/// # Errors
///
/// Fails if the directory cannot be opened or flushed.
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
