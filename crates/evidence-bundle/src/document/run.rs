//! `run.json`: how the bundle came about, and the population that an auditor reconciles.
//!
//! A reproducible run leaves out what depends on the run and not on what the sources answered.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The execution context.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunRecord {
    /// When the run began, RFC 3339 UTC.
    pub started_at: String,
    /// When the last artifact was in, RFC 3339 UTC.
    pub completed_at: String,
    /// The seconds between the two.
    pub duration_seconds: u64,
    /// The value of `SOURCE_DATE_EPOCH` in Unix seconds, present if `collect --reproducible` set every time to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_date_epoch: Option<i64>,
    /// The name of the machine; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hostname: Option<String>,
    /// The operating system and architecture, such as `linux-x86_64`; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<String>,
    /// The program.
    #[serde(deserialize_with = "crate::json::object")]
    pub tool: ToolRecord,
    /// The command line, without values of secrets; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<Vec<String>>,
    /// The configuration file.
    #[serde(deserialize_with = "crate::json::object")]
    pub config: ConfigRecord,
    /// Who prepared the bundle, in the words of the configuration.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prepared_by: Option<String>,
    /// The exit code that the run was going to have when the bundle was signed.
    pub exit_code: u8,
    /// What each source was asked and what it answered.
    #[serde(deserialize_with = "crate::json::objects")]
    pub sources: Vec<SourceRun>,
}

/// The program that wrote the bundle.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ToolRecord {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// The commit it was built from, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
}

/// The configuration of the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigRecord {
    /// The path of the file as it was given; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The SHA-256 of the file, 64 lower-case hex digits; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_sha256: Option<String>,
    /// The SHA-256 of the settings that decide what is collected and judged, 64 lower-case hex digits.
    pub sha256: String,
}

/// What one source was asked and what it answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRun {
    /// The name of the source, such as `codehost`.
    pub name: String,
    /// The base of its API.
    pub api_url: String,
    /// Who the source said we are.
    #[serde(deserialize_with = "crate::json::object")]
    pub identity: Identity,
    /// The subjects that the source listed.
    pub discovered: u64,
    /// The subjects that were in scope.
    pub in_scope: u64,
    /// The artifacts that were asked for: the sum of the five numbers below.
    pub requested: u64,
    /// The artifacts that were collected: exactly those that are in the bundle.
    pub collected: u64,
    /// The artifacts that do not exist.
    pub not_found: u64,
    /// The artifacts that we were not allowed to read.
    pub denied: u64,
    /// The artifacts that could not be obtained, or were not asked for because nothing like them could be.
    pub failed: u64,
    /// The artifacts that were read and left out, because they held forbidden data.
    pub excluded: u64,
    /// The requests that were sent, retries included; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<u64>,
    /// The requests that were sent again; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retries: Option<u64>,
    /// The answers that were 304 (RFC 9110, section 15.4.5); absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revalidated: Option<u64>,
    /// The rate limit at the end, if the source says one.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "crate::json::optional")]
    pub rate_limit: Option<RateLimitRecord>,
    /// The seconds for which the run waited for a rate limit; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paused_seconds: Option<u64>,
    /// What reading in bulk took, if the run did; absent after a reproducible run.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "crate::json::optional")]
    pub bulk: Option<BulkRecord>,
}

/// What reading in bulk took.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkRecord {
    /// The queries that were sent.
    pub queries: u64,
    /// The points that the host counted for them.
    pub points: u64,
    /// The seconds that the host took to answer them.
    pub host_seconds: u64,
}

/// Who a source said we are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Identity {
    /// The name of the account, if the source says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub login: Option<String>,
    /// The source's own identifier of the account, if it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The scopes of the token separated by commas, or `none`, or `not reported`.
    pub scopes: String,
    /// The app that collected, with what it may do, if the source was read by one.
    #[serde(skip_serializing_if = "Option::is_none", default, deserialize_with = "crate::json::optional")]
    pub app: Option<AppIdentity>,
}

/// An app, the installation that it acted for, and what the host granted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AppIdentity {
    /// The number of the app.
    pub app_id: u64,
    /// The name of the app in addresses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub slug: Option<String>,
    /// The number of the installation.
    pub installation_id: u64,
    /// The permissions of the token by name, with the level that the host granted: `read`.
    pub permissions: BTreeMap<String, String>,
    /// The repositories that the installation covers: `all` or `selected`.
    pub repository_selection: String,
}

/// A rate limit as the source reported it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLimitRecord {
    /// The requests allowed per period.
    pub limit: u64,
    /// The requests left.
    pub remaining: u64,
    /// When the period ends, RFC 3339 UTC.
    pub reset: String,
}
