//! Files that the caller or the configuration names. Only regular files are accepted: a FIFO would wait for a writer,
//! and a device may never end. All checks are on the open file, never on its name, which could mean something else a
//! moment later.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use evidence_text::saturating_u64;
use zeroize::Zeroizing;

use crate::system;

/// Opens a regular file without blocking.
///
/// # Errors
///
/// Fails if the file cannot be opened, or is not a regular file.
pub fn open(path: &Path) -> io::Result<File> {
    system::open_input(path)
}

/// Reads a regular file of at most `limit` bytes. Returns its bytes and the open file.
///
/// # Errors
///
/// Fails like [`open`], and with `FileTooLarge` if the file is larger.
pub fn read(path: &Path, limit: u64) -> io::Result<(Zeroizing<Vec<u8>>, File)> {
    let file = open(path)?;
    // Reserve the whole size: a growing buffer would leave copies of a key in memory.
    let capacity = file.metadata()?.len().min(limit).saturating_add(1);
    let mut bytes = Zeroizing::new(Vec::with_capacity(usize::try_from(capacity).unwrap_or_default()));
    (&file).take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    if saturating_u64(bytes.len()) > limit {
        let text = format!("it is larger than {limit} bytes");
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, text));
    }
    Ok((bytes, file))
}
