//! `derived/scope.json`: what decided what was collected and how it was judged.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::run::ToolRecord;

/// The settings in effect, defaults included, without any secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Scope")]
#[serde(deny_unknown_fields)]
pub struct ScopeRecord {
    /// The version of this document's form, `1.0`.
    pub schema_version: String,
    /// The compliance framework, such as `soc2_type1`.
    pub framework: String,
    /// The organization that the evidence is about.
    pub organization: String,
    /// How often a bundle is expected, if the configuration says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cadence: Option<Cadence>,
    /// The program that collected and judged.
    #[serde(deserialize_with = "crate::json::object")]
    pub tool: ToolRecord,
    /// Each source, in the order of the manifest.
    #[serde(deserialize_with = "crate::json::objects")]
    pub sources: Vec<SourceScope>,
    /// Each rule that was applied.
    #[serde(deserialize_with = "crate::json::objects")]
    pub rules: Vec<RuleRecord>,
    /// The codes of rules that the configuration takes in although they are optional.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules_included: Vec<String>,
    /// The codes of rules that the configuration leaves out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules_excluded: Vec<String>,
    /// The framework's own criteria that no applied rule has evidence for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub criteria_without_evidence: Vec<String>,
}

/// How often a bundle is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Cadence {
    /// On every day, in UTC.
    Daily,
    /// In every seven days.
    Weekly,
    /// In every so many hours.
    Hours(u32),
}

impl Cadence {
    /// In words, as in "expected daily".
    pub fn words(self) -> String {
        match self {
            Cadence::Daily => "daily".to_owned(),
            Cadence::Weekly => "weekly".to_owned(),
            Cadence::Hours(1) => "every hour".to_owned(),
            Cadence::Hours(hours) => format!("every {hours} hours"),
        }
    }
}

impl fmt::Display for Cadence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words())
    }
}

/// What decided what a source was asked for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceScope {
    /// The name of the source.
    pub source: String,
    /// The controls that it was collected for.
    pub controls: Vec<String>,
    /// Its settings by the names of the configuration, such as `branch`.
    pub settings: BTreeMap<String, Value>,
}

/// A rule that was applied.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RuleRecord {
    /// Its published code.
    pub code: String,
    /// The version of its judgement: it rises when the same evidence can be judged otherwise than before.
    pub version: u32,
    /// The source whose evidence it judges.
    pub source: String,
    /// What its checks are about: a kind of member of the population, the `organization`, or the `directory` of users.
    pub kind: String,
    /// The control that it belongs to.
    pub control: String,
    /// The numbers it judges by that are not the default, by their names in the configuration.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub settings: BTreeMap<String, u64>,
    /// What it expects, in words.
    pub expected: String,
    /// What it reads, in words.
    pub reads: String,
    /// What it does not check, in words.
    pub not_checked: String,
}
