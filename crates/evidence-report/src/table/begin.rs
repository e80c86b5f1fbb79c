//! What every table has: the mark of its encoding, and the columns that name its origin.

use std::io::{self, Write};

use evidence_view::csv::BYTE_ORDER_MARK;

use crate::documents::{Documents, head};

/// The columns that every table ends with.
pub(super) const ORIGIN: [&str; 2] = ["organization", "bundle_id"];

/// The cells of [`ORIGIN`].
pub(super) struct Origin(String, String);

impl Origin {
    pub(super) fn of(documents: &dyn Documents) -> io::Result<Origin> {
        head(documents).map(|manifest| Origin(manifest.organization, manifest.bundle_id))
    }

    pub(super) fn cells(&self) -> [&str; 2] {
        [&self.0, &self.1]
    }
}

/// Begins a table with a UTF-8 byte-order mark if one of its documents has a character outside ASCII.
pub(super) fn mark(documents: &dyn Documents, paths: &[&str], out: &mut dyn Write) -> io::Result<()> {
    for path in paths {
        if !is_ascii(documents, path)? {
            return out.write_all(BYTE_ORDER_MARK.as_bytes());
        }
    }
    Ok(())
}

fn is_ascii(documents: &dyn Documents, path: &str) -> io::Result<bool> {
    let mut is_ascii = true;
    documents.open(path, &mut |contents| {
        let mut buffer = [0; 8 << 10];
        loop {
            let bytes = match contents.read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) => buffer.get(..read).unwrap_or_default(),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            is_ascii &= bytes.is_ascii();
        }
    })?;
    Ok(is_ascii)
}
