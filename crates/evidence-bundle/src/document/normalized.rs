//! `derived/normalized.json`: what was found, per control and per check, with its evidence.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::status::Status;

/// The judgement of every control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Normalized")]
#[serde(deny_unknown_fields)]
pub struct Normalized<C = Vec<NormalizedControl>> {
    /// The version of this document's form, `1.0`.
    pub schema_version: String,
    /// The compliance framework, such as `soc2_type1`.
    pub framework: String,
    /// How many of each status there are.
    pub summary: Summary,
    /// The controls, in the order in which they were asked for.
    pub controls: C,
}

/// How many of each status there are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Summary {
    /// Controls per status.
    #[serde(deserialize_with = "crate::json::object")]
    pub controls: Counts,
    /// Checks per status.
    #[serde(deserialize_with = "crate::json::object")]
    pub checks: Counts,
}

/// One number per status.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// How many passed.
    pub pass: u64,
    /// How many failed.
    pub fail: u64,
    /// How many could not be verified.
    pub not_verifiable: u64,
    /// How many do not apply.
    pub not_applicable: u64,
}

impl Counts {
    /// Counts one more of this status.
    pub fn add(&mut self, status: Status) {
        let count = match status {
            Status::Pass => &mut self.pass,
            Status::Fail => &mut self.fail,
            Status::NotVerifiable => &mut self.not_verifiable,
            Status::NotApplicable => &mut self.not_applicable,
        };
        *count = count.saturating_add(1);
    }

    /// The number of this status.
    pub fn of(&self, status: Status) -> u64 {
        match status {
            Status::Pass => self.pass,
            Status::Fail => self.fail,
            Status::NotVerifiable => self.not_verifiable,
            Status::NotApplicable => self.not_applicable,
        }
    }

    /// The most urgent status, if there is any.
    pub fn worst(&self) -> Option<Status> {
        Status::BY_URGENCY.into_iter().find(|status| self.of(*status) > 0)
    }

    /// The status of a control with these checks: fail if any fails, else not verifiable if any is, else pass. Checks
    /// that do not apply say nothing: with no others the control does not apply. Without a check nothing is verified.
    pub fn status(&self) -> Status {
        self.worst().unwrap_or(Status::NotVerifiable)
    }
}

/// The judgement of one control, which rests on the evidence of its checks. They are a parameter so that a writer can
/// stream them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "NormalizedControl")]
#[serde(deny_unknown_fields)]
pub struct NormalizedControl<K = Vec<Check>> {
    /// The identifier, such as `CC6.1`.
    pub id: String,
    /// The title.
    pub title: String,
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// The framework's own criteria under which such evidence is commonly filed, such as `CC8.1`, by the code of the rule.
    pub criteria: BTreeMap<String, Vec<String>>,
    /// What each rule expects, in words, by its code.
    pub expected: BTreeMap<String, String>,
    /// The checks that make up the judgement.
    pub checks: K,
}

/// One rule applied to one subject.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Check {
    /// The rule's stable code.
    pub rule: String,
    /// The source of the evidence.
    pub source: String,
    /// What the rule was applied to.
    pub subject: String,
    /// What was found.
    pub status: Status,
    /// Why, as a stable code.
    pub reason: String,
    /// What the rule expects of this subject, if it differs from what it expects of others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    /// What the evidence says, if it could be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub actual: Option<String>,
    /// The files that the check rests on.
    #[serde(deserialize_with = "crate::json::objects")]
    pub evidence: Vec<EvidenceReference>,
}

/// A file of the bundle that a judgement rests on.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct EvidenceReference {
    /// The full path inside the bundle.
    pub filename: String,
    /// The SHA-256 of the file, 64 lower-case hex digits.
    pub checksum: String,
    /// The row of `derived/observations.json`, if the file is that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}
