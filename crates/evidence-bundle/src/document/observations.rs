//! `derived/observations.json`: everything that was looked at, what came of it, and the requests behind it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EvidenceReference;

/// Every look of every source. Its list is a parameter so that a writer can stream it and a reader can skip it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Observations")]
#[serde(deny_unknown_fields)]
pub struct Observations<O = Vec<ObservationRecord>> {
    /// The version of this document's form, `1.0`.
    pub schema_version: String,
    /// The looks, source by source in the order of the manifest, each source's in the order of the run.
    pub observations: O,
}

/// One look.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObservationRecord {
    /// By which checks refer to it: the name of the source, a colon, and a number that counts from 1 within the source.
    pub id: String,
    /// The name of the source, such as `codehost`.
    pub source: String,
    /// What was looked at, such as `acme/payments`.
    pub subject: String,
    /// What kind of thing was looked for: the `artifact_type` it has in the manifest, or the name of a listing.
    pub kind: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Why there is no artifact, as a stable code.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The same in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The artifact, if there is one.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "crate::json::optional")]
    pub artifact: Option<EvidenceReference>,
    /// The requests that were made for it, in the order in which they ended; none if an earlier look brought it.
    #[serde(deserialize_with = "crate::json::objects")]
    pub requests: Vec<AskedRecord>,
}

/// What came of a look.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was read, and its record is a file of the bundle.
    Artifact,
    /// The source says that there is none.
    Nothing,
    /// The source does not show it.
    Denied,
    /// It could not be obtained.
    Failed,
    /// It was read and left out, because it held forbidden data.
    Excluded,
    /// It was not asked for, because nothing like it could be obtained.
    NotAsked,
    /// It is a part of a listing: what it brought is in `derived/population.json`.
    Listed,
}

/// A request and how it ended. Repeated attempts and redirects are part of the one request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AskedRecord {
    /// `GET` or `POST`.
    pub method: String,
    /// Path and query below the base of the API, or the name of the action.
    pub path: String,
    /// The HTTP status of the last answer; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// What the source said, or why there was no answer; absent for a good answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The source's own name for the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// When it ended, RFC 3339 UTC.
    pub at: String,
    /// The permission that the source says the request needs, if it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
}
