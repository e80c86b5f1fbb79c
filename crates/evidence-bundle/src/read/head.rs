//! What a manifest says, and the document of the waivers, without their long lists.

use serde::{Deserialize, Serialize};

use crate::document::{ErrorRecord, Excluded, Previous, WaiversFile, WaiversSummary, Warning};

/// How many warnings, excluded artifacts and errors of a manifest to keep each; the rest are counted.
pub const KEPT_RECORDS: usize = 1_000;

/// What a manifest says, without its long lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ManifestHead {
    /// When the bundle was made, in Unix seconds, as the signer claims.
    pub created_at: i64,
    /// The id of the bundle, which can be one segment of a URL.
    pub bundle_id: String,
    /// The version of the tool that wrote the bundle.
    pub tool_version: String,
    /// The organization that the evidence is about.
    pub organization: String,
    /// The compliance framework.
    pub framework: String,
    /// The requested controls.
    pub controls: Vec<String>,
    /// The requested sources.
    pub sources: Vec<String>,
    /// Whether the run collected everything that was requested.
    pub complete: bool,
    /// The first [`KEPT_RECORDS`] warnings.
    pub warnings: Vec<Warning>,
    /// The number of warnings.
    pub warnings_total: u64,
    /// The first [`KEPT_RECORDS`] excluded artifacts.
    pub excluded: Vec<Excluded>,
    /// The number of excluded artifacts.
    pub excluded_total: u64,
    /// The first [`KEPT_RECORDS`] errors.
    pub errors: Vec<ErrorRecord>,
    /// The number of errors.
    pub errors_total: u64,
    /// The bundle before this one, if the signer names one.
    pub previous: Option<Previous>,
}

/// The waivers of a bundle without their list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaiversHead {
    /// The file that lists the waivers.
    pub file: WaiversFile,
    /// How many failures there are, with a waiver and without.
    pub summary: WaiversSummary,
}
