//! The documents of a bundle: frozen structs, one file each, and their JSON.
//!
//! The order of fields is the order in the file, and unknown fields are refused. A new field needs a new version of the
//! format, with a row of [`version::KNOWN`](crate::version::KNOWN) that names it. Nothing here decides what a document
//! says.

mod hints;
mod lines;
mod manifest;
mod normalized;
mod observations;
mod population;
mod rows;
mod run;
mod scope;
mod status;
mod waivers;

use std::io::{self, Write};

use serde::Serialize;

use self::lines::Lines;
pub use self::lines::{EachRow, RowsOf};
pub use hints::{Category, Hint, Hints, Severity};
pub use manifest::{
    ArtifactRecord, ErrorRecord, Excluded, FileRecord, Manifest, Previous, SignerRecord, SourceRecord,
    Warning, is_bundle_id,
};
pub use normalized::{Check, Counts, EvidenceReference, Normalized, NormalizedControl, Summary};
pub use observations::{AskedRecord, ObservationRecord, Observations, Outcome};
pub use population::{Member, Population, Scope, SourcePopulation};
pub use rows::{FallibleRows, Rows};
pub use run::{
    AppIdentity, BulkRecord, ConfigRecord, Identity, RateLimitRecord, RunRecord, SourceRun, ToolRecord,
};
pub use scope::{Cadence, RuleRecord, ScopeRecord, SourceScope};
pub use status::{LACKING_REASONS, Status, is_lacking};
pub use waivers::{
    CompensatingCheck, WaiverMatch, WaiverRecord, WaiverState, Waivers, WaiversFile, WaiversSummary,
};

/// The schema version of the documents under `derived/` as this crate writes them.
pub const SCHEMA_VERSION: &str = crate::version::NEWEST.schema_version;

/// A document of a bundle. Every bundle has all of them but the waivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Document {
    /// `manifest.json`.
    Manifest,
    /// `run.json`.
    Run,
    /// `derived/hints.json`.
    Hints,
    /// `derived/normalized.json`.
    Normalized,
    /// `derived/observations.json`.
    Observations,
    /// `derived/population.json`.
    Population,
    /// `derived/scope.json`.
    Scope,
    /// `derived/waivers.json`, if the run had a file of waivers.
    Waivers,
}

impl Document {
    /// Every document, in the order of the archive.
    pub const ALL: [Document; 8] = [
        Document::Manifest,
        Document::Run,
        Document::Hints,
        Document::Normalized,
        Document::Observations,
        Document::Population,
        Document::Scope,
        Document::Waivers,
    ];

    /// The path of the document in every bundle.
    pub fn path(self) -> &'static str {
        match self {
            Document::Manifest => crate::path::MANIFEST,
            Document::Run => crate::path::RUN,
            Document::Hints => crate::path::HINTS,
            Document::Normalized => crate::path::NORMALIZED,
            Document::Observations => crate::path::OBSERVATIONS,
            Document::Population => crate::path::POPULATION,
            Document::Scope => crate::path::SCOPE,
            Document::Waivers => crate::path::WAIVERS,
        }
    }
}

/// Writes a document in the canonical form: fields in order, two spaces of indent but one line for each row of a long list,
/// LF, a final LF.
///
/// # Errors
/// Fails if the writer does, or if a list cannot be produced.
pub fn write_json<W: Write, T: Serialize>(out: W, document: &T) -> io::Result<()> {
    write_json_with(out, document, &mut [])
}

/// Writes a document in the canonical form, with lists whose rows are JSON already.
///
/// # Errors
/// Fails if the writer does, or if a list cannot be produced.
pub fn write_json_with<W: Write, T: Serialize>(
    mut out: W,
    document: &T,
    ready: &mut [RowsOf<'_>],
) -> io::Result<()> {
    let mut serializer = serde_json::Serializer::with_formatter(&mut out, Lines::new(ready));
    document.serialize(&mut serializer)?;
    out.write_all(b"\n")
}

/// A row as it stands in a list of a document, on one line: see [`RowsOf`].
///
/// # Errors
/// Fails if the row cannot be serialized.
pub fn row_json<T: Serialize>(row: &T) -> io::Result<String> {
    Ok(serde_json::to_string(row)?)
}

/// The published JSON Schema (draft 2020-12) of a document.
pub fn schema(document: Document) -> serde_json::Value {
    match document {
        Document::Manifest => schemars::schema_for!(Manifest),
        Document::Run => schemars::schema_for!(RunRecord),
        Document::Hints => schemars::schema_for!(Hints),
        Document::Normalized => schemars::schema_for!(Normalized),
        Document::Observations => schemars::schema_for!(Observations),
        Document::Population => schemars::schema_for!(Population),
        Document::Scope => schemars::schema_for!(ScopeRecord),
        Document::Waivers => schemars::schema_for!(Waivers),
    }
    .to_value()
}
