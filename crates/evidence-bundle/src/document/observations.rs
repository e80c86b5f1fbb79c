//! `derived/observations.json`: every setting that was requested, the outcome, and the requests behind it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Every observation of every source. Its list is a parameter so that a writer can stream it and a reader can skip it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Observations")]
#[serde(deny_unknown_fields)]
pub struct Observations<O = Vec<ObservationRecord>> {
    /// The version of this document's form, `1.0`.
    pub schema_version: String,
    /// The observations, source by source in the order of the manifest, each source's in the order of the run.
    pub observations: O,
}

/// One observation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ObservationRecord {
    /// The identifier that checks refer to: the name of the source, a colon, and a number that starts at 1 in each source.
    pub id: String,
    /// The name of the source, such as `codehost`.
    pub source: String,
    /// The subject, such as `acme/payments`.
    pub subject: String,
    /// The kind of setting: the `artifact_type` it has in the manifest, or the name of a listing.
    pub kind: String,
    /// The outcome.
    pub outcome: Outcome,
    /// The stable code of the reason for a missing artifact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The reason in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// The full path of the artifact inside the bundle, if there is one. Its checksum is in the manifest.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub artifact: Option<String>,
    /// What a judgement uses beside the artifact, by name: small values that the artifact has no field for.
    #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
    pub facts: BTreeMap<String, Value>,
    /// The requests behind it, in the order in which they ended. An answer that serves several observations can appear in each.
    #[serde(deserialize_with = "crate::json::objects")]
    pub requests: Vec<AskedRecord>,
}

impl ObservationRecord {
    /// The request that was answered: of an artifact, the last good one; else the last.
    pub fn answered(&self) -> Option<&AskedRecord> {
        let good = |request: &&AskedRecord| request.status.is_some_and(|status| status < 400);
        let artifact = self.requests.iter().rev().find(good).filter(|_| self.artifact.is_some());
        artifact.or(self.requests.last())
    }
}

/// The outcome of an observation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It was read, and its record is a file of the bundle.
    Artifact,
    /// The source answered that the thing does not exist.
    Nothing,
    /// The source does not show it.
    Denied,
    /// It could not be obtained.
    Failed,
    /// It was read and left out, because it held forbidden data.
    Excluded,
    /// It was not asked for, because nothing like it could be obtained.
    NotAsked,
    /// It is part of a listing or of the connection test; the results are in `derived/population.json` or in other rows.
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
    /// The entity tag of the answer (RFC 9110, section 8.8.3).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub etag: Option<String>,
    /// The source's own name for the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
    /// When it ended, RFC 3339 UTC.
    pub at: String,
    /// The permission that the source says the request needs, if it refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permission: Option<String>,
}
