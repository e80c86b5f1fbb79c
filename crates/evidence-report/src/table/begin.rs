//! What every table has: the mark of its encoding, and the columns that name its origin.

use std::io::{self, Write};

use evidence_view::csv::BYTE_ORDER_MARK;

use crate::documents::Documents;
use crate::shared::Shared;

/// The columns that every table ends with.
pub(super) const ORIGIN: [&str; 2] = ["organization", "bundle_id"];

/// The cells of [`ORIGIN`].
pub(super) struct Origin(String, String);

impl Origin {
    pub(super) fn of(documents: &dyn Documents, shared: &mut Shared) -> io::Result<Origin> {
        let head = shared.head(documents)?;
        Ok(Origin(head.organization.clone(), head.bundle_id.clone()))
    }

    pub(super) fn cells(&self) -> [&str; 2] {
        [&self.0, &self.1]
    }
}

/// Begins a table with a UTF-8 byte-order mark if one of its documents has a character outside ASCII.
pub(super) fn mark(
    documents: &dyn Documents,
    shared: &mut Shared,
    paths: &[&str],
    out: &mut dyn Write,
) -> io::Result<()> {
    for path in paths {
        if !shared.is_ascii(documents, path)? {
            return out.write_all(BYTE_ORDER_MARK.as_bytes());
        }
    }
    Ok(())
}
