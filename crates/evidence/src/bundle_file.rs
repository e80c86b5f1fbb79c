//! Bundles as files to read.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use evidence_bundle::read::Failure;
use evidence_os::input;

/// How many bytes of a file to read or write at a time.
pub(crate) const BUFFER: usize = 64 * 1024;

/// Opens a bundle to read it.
///
/// # Errors
/// Fails if the file cannot be opened.
pub(crate) fn open(path: &Path) -> Result<BufReader<File>, Failure> {
    let file = input::open(path).map_err(Failure::CannotJudge)?;
    Ok(BufReader::with_capacity(BUFFER, file))
}
