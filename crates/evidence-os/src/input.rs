//! Files that the caller or the configuration names. Only regular files count: a FIFO would wait for a writer, a device
//! may never end. What is judged is the open file, never its name, which could mean something else a moment later.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use zeroize::Zeroizing;

use crate::system;

/// Opens a regular file, without waiting for anything.
///
/// # Errors
///
/// If it cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    system::open_input(path)
}

/// The bytes of a regular file of at most `limit` bytes, and the open file they came from.
///
/// # Errors
///
/// As for [`open`]; `FileTooLarge` for a larger one.
pub fn read(path: &Path, limit: u64) -> io::Result<(Zeroizing<Vec<u8>>, File)> {
    let file = open(path)?;
    // In one piece: a buffer that grows would leave copies of a key behind.
    let capacity = file.metadata()?.len().min(limit).saturating_add(1);
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(capacity).unwrap_or_default()));
    (&file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        let text = format!("it is larger than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok((bytes, file))
}
