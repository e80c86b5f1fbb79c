//! Files that the caller or the configuration names. Only regular files count: a FIFO would wait for a writer, a device
//! may never end. What is judged is the open file, never its name, which could mean something else a moment later.

use std::fs::{File, Metadata};
use std::io::{self, Read as _};
use std::os::unix::fs::FileTypeExt as _;
use std::path::Path;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use zeroize::Zeroizing;

/// Opens a regular file, without waiting for anything.
///
/// # Errors
///
/// If it cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    // NONBLOCK: a FIFO opens without a writer. NOCTTY: a terminal does not become this process's own.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file = match rustix::fs::open(path, flags, Mode::empty()) {
        Ok(descriptor) => File::from(descriptor),
        // What a socket answers, and a device without a driver.
        Err(Errno::NXIO) => return Err(not_a_file(io::ErrorKind::InvalidInput, "a socket or a device")),
        Err(error) => return Err(error.into()),
    };
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(not_a_file(io::ErrorKind::IsADirectory, "a directory"))
    } else if kind.is_fifo() {
        Err(not_a_file(io::ErrorKind::InvalidInput, "a FIFO"))
    } else {
        Err(not_a_file(io::ErrorKind::InvalidInput, "a device"))
    }
}

/// The bytes of a regular file of at most `limit` bytes, and what is known of the file they came from.
///
/// # Errors
///
/// As for [`open`]; `FileTooLarge` for a larger one.
pub fn read(path: &Path, limit: u64) -> io::Result<(Zeroizing<Vec<u8>>, Metadata)> {
    let file = open(path)?;
    let metadata = file.metadata()?;
    // In one piece: a buffer that grows would leave copies of a key behind.
    let capacity = metadata.len().min(limit).saturating_add(1);
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(capacity).unwrap_or_default()));
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        let text = format!("it is larger than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok((bytes, metadata))
}

fn not_a_file(kind: io::ErrorKind, what: &str) -> io::Error {
    io::Error::new(kind, format!("it is {what}, not a file"))
}
