//! The auditor's files of a bundle: the report, the tables and the README.
//!
//! They derive only from the bundle's other documents, and the table of events from its artifact: no clock, no locale, no settings. The same documents give the
//! same bytes, so anyone can recreate and compare them. Long documents are read row by row, and pages show a bounded
//! part of them.

mod documents;
mod frame;
mod kept;
mod origin;
mod page;
mod period;
mod readme;
mod requests;
mod shared;
mod table;
mod template;

use std::io::{self, Write};

use evidence_bundle::path::{
    ARTIFACTS_CSV, CHECKS_CSV, EVENTS_CSV, OBSERVATIONS_CSV, POPULATION_CSV, README, REPORT,
};

pub use documents::{Documents, Unknown};
pub use frame::{as_signed, with_inner_links, without_links};
pub use kept::{Kept, Signed};
pub use period::{Cell, ChangeRow, ControlStrips, Days, Failure, InputRow, Period, Strip, StripLine, period};
use shared::Shared;

/// The paths of the auditor's files, in the order of the archive.
pub const VIEWS: [&str; 7] =
    [README, ARTIFACTS_CSV, CHECKS_CSV, EVENTS_CSV, OBSERVATIONS_CSV, POPULATION_CSV, REPORT];

/// The auditor's files that only some bundles have: of those that name criteria without evidence, and of those whose rules
/// read merged changes or people.
pub use evidence_bundle::path::{CHANGES_CSV, CRITERIA_CSV, PEOPLE_CSV};

/// Whether the file with this path is one of the auditor's files.
pub fn is_view(path: &str) -> bool {
    VIEWS.contains(&path) || [CHANGES_CSV, CRITERIA_CSV, PEOPLE_CSV].contains(&path)
}

/// Writes the auditor's file with this path, one of [`VIEWS`] or [`CRITERIA_CSV`]. Whoever writes several of them uses [`Views`].
///
/// # Errors
/// Fails if a document cannot be read or `out` cannot be written, with [`io::ErrorKind::InvalidData`] and [`Unknown`]
/// if a document has an unknown form, and with [`io::ErrorKind::NotFound`] for another path.
pub fn write(path: &str, documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
    Views::default().write(path, documents, out)
}

/// Writes the auditor's files of one bundle, one after the other. What several of them need is read once.
#[derive(Debug, Default)]
pub struct Views(Shared);

impl Views {
    /// Writes the file with this path, one of [`VIEWS`] or [`CRITERIA_CSV`]. The documents must be the same each time.
    ///
    /// # Errors
    /// Fails like [`write()`].
    pub fn write(&mut self, path: &str, documents: &dyn Documents, out: &mut dyn Write) -> io::Result<()> {
        let Views(shared) = self;
        match path {
            README => readme::write(documents, shared, out),
            ARTIFACTS_CSV => table::artifacts(documents, shared, out),
            CHECKS_CSV => table::checks(documents, shared, out),
            CRITERIA_CSV => table::criteria(documents, shared, out),
            CHANGES_CSV => table::changes(documents, shared, out),
            PEOPLE_CSV => table::people(documents, shared, out),
            EVENTS_CSV => table::events(documents, shared, out),
            OBSERVATIONS_CSV => table::observations(documents, shared, out),
            POPULATION_CSV => table::population(documents, shared, out),
            REPORT => page::write(documents, shared, out),
            _ => Err(io::Error::from(io::ErrorKind::NotFound)),
        }
    }
}
