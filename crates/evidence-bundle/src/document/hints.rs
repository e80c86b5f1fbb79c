//! `derived/hints.json`: what to do about what was found, most severe first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::normalized::EvidenceReference;

/// The hints. The list is a parameter so that a writer can stream it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Hints")]
#[serde(deny_unknown_fields)]
pub struct Hints<H = Vec<Hint>> {
    /// The version of this document's form, `1.0`.
    pub schema_version: String,
    /// The hints, most severe first.
    pub hints: H,
}

/// What to do about one finding.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Hint {
    /// The identity of the hint, stable from run to run.
    pub id: String,
    /// The control it belongs to.
    pub control: String,
    /// The code of the rule.
    pub rule: String,
    /// The code of the check's reason, or of the advice beyond it.
    pub reason: String,
    /// How much it matters.
    pub severity: Severity,
    /// What kind of gap it is.
    pub category: Category,
    /// The source of the evidence.
    pub source: String,
    /// What it is about.
    pub subject: String,
    /// The finding in one line.
    pub title: String,
    /// The finding in full.
    pub detail: String,
    /// What to do.
    pub remediation: String,
    /// The files that the hint rests on.
    #[serde(deserialize_with = "crate::json::objects")]
    pub evidence: Vec<EvidenceReference>,
}

/// How much a hint matters; the most severe orders first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The control fails outright.
    Critical,
    /// The control is at serious risk.
    High,
    /// The control is weakened.
    Medium,
    /// Worth doing.
    Low,
    /// For information.
    Info,
}

/// What kind of gap a hint is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Something required is not there.
    Missing,
    /// It is there and set wrongly.
    Misconfigured,
    /// It is there in part.
    Partial,
    /// It meets the rule and could be better.
    Improvement,
}
