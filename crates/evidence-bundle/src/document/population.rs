//! `derived/population.json`: everything that was found, whether it was observed, and why not.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The population that an auditor samples from. Its list is a parameter so that a writer can stream it and a reader can
/// skip it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Population")]
#[serde(deny_unknown_fields)]
pub struct Population<M = Vec<Member>> {
    /// The version of this document's form, `1.0`.
    pub schema_version: String,
    /// The counts of each source, in the order of the manifest.
    #[serde(deserialize_with = "crate::json::objects")]
    pub sources: Vec<SourcePopulation>,
    /// Everything that was found, source by source.
    pub members: M,
}

/// What a source counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourcePopulation {
    /// The name of the source.
    pub source: String,
    /// How many members of this source follow.
    pub members: u64,
    /// How many of them are in scope.
    pub in_scope: u64,
    /// What the host itself counts, by the name that it gives the number, such as `public_repos`.
    pub host_totals: BTreeMap<String, u64>,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The name of the source.
    pub source: String,
    /// What it is: `repository`, `account`, `region`, `trail`, `log_group` or `user`.
    pub kind: String,
    /// What it is called, as subjects name it.
    pub name: String,
    /// The source's own identifier, if the source reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The default branch of a repository, if the source reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
    /// Whether it is archived, if the source reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The visibility of a repository, such as `private`, if the source reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    /// Whether it was observed.
    pub in_scope: bool,
    /// Why it was not, as a stable code; absent if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
