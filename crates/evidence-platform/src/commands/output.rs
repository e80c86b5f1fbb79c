//! Standard output.

use std::io::{self, Write as _};

use evidence_bundle::text::Printable;

use crate::error::Error;

/// Prints a text.
pub(super) fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

/// Prints, unless the reader has read enough.
pub(super) fn put(text: &str) -> Result<(), Error> {
    match print(text) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(Error::unusable("cannot write to standard output", error))
        }
        _ => Ok(()),
    }
}

/// Prints a line. Names and labels in it cannot deceive.
pub(super) fn say(line: &str) -> Result<(), Error> {
    put(&format!("{}\n", Printable(line)))
}
