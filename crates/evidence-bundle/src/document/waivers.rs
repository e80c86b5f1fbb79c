//! `derived/waivers.json`: failures that management accepts, whose decision it is, and until when.
//!
//! A waiver changes no result. The document exists exactly if the run had a file of waivers, and has all of its entries.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::status::Status;

/// The waivers of a run. Their list is a parameter so that a writer can stream it and a reader can skip it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Waivers")]
#[serde(deny_unknown_fields)]
pub struct Waivers<W = Vec<WaiverRecord>> {
    /// The version of this document's form, `1.0`.
    pub schema_version: String,
    /// The file that lists the waivers.
    #[serde(deserialize_with = "crate::json::object")]
    pub file: WaiversFile,
    /// How many failures there are, with a waiver and without.
    #[serde(deserialize_with = "crate::json::object")]
    pub summary: WaiversSummary,
    /// Every entry of the file, by its id.
    pub waivers: W,
}

/// The file that lists the waivers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaiversFile {
    /// Its path; absent if the run is reproducible.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The SHA-256 of its bytes, 64 lower-case hex digits.
    pub sha256: String,
}

/// How many failures there are. A failure with a waiver is still a failure.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaiversSummary {
    /// The failed checks of the bundle.
    pub failed: u64,
    /// Those that an applied waiver accepts.
    pub failed_waived: u64,
    /// The others.
    pub failed_unwaived: u64,
}

/// A decision to accept failures. Its matches are a parameter so that a writer can stream them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "WaiverRecord")]
#[serde(deny_unknown_fields)]
pub struct WaiverRecord<M = Vec<WaiverMatch>> {
    /// Its id in the file.
    pub id: String,
    /// The control, if the waiver names one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub control: Option<String>,
    /// The code of the rule.
    pub rule: String,
    /// The source of the evidence.
    pub source: String,
    /// The subjects that it names; ASCII case is ignored.
    pub subjects: Vec<String>,
    /// The patterns of subjects: `*` matches any characters but `/`.
    pub globs: Vec<String>,
    /// The reasons of failures that it accepts; empty for every reason.
    pub reasons: Vec<String>,
    /// Why management accepts the failures.
    pub reason: String,
    /// Who is responsible.
    pub owner: String,
    /// Who approved it.
    pub approved_by: String,
    /// Its first day, `YYYY-MM-DD` in UTC.
    pub approved_at: String,
    /// Its last day, `YYYY-MM-DD` in UTC.
    pub expires_at: String,
    /// A ticket.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ticket: Option<String>,
    /// What reduces the risk meanwhile, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compensating: Option<String>,
    /// The check that shows what reduces the risk meanwhile.
    #[serde(default, deserialize_with = "crate::json::optional", skip_serializing_if = "Option::is_none")]
    pub compensating_check: Option<CompensatingCheck>,
    /// Whether the owner approved it alone.
    pub self_approved: bool,
    /// Whether it applied at the start of the run.
    pub state: WaiverState,
    /// Every check that it names, in the order of `normalized.json`, whatever its result.
    pub matches: M,
}

/// A check that shows what reduces a risk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CompensatingCheck {
    /// The code of the rule.
    pub rule: String,
    /// The subject.
    pub subject: String,
    /// Its result; absent if the bundle has no such check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<Status>,
}

/// Whether a waiver applied at the start of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WaiverState {
    /// Its last day was over.
    Expired,
    /// Its first day had not begun.
    NotYetValid,
    /// It accepts at least one failure.
    Applied,
    /// No check that it names failed for a reason that it accepts.
    NotMatched,
    /// Every check that it names passed.
    NotNeeded,
    /// It names no check of the bundle.
    Unused,
}

impl WaiverState {
    /// Every state, in the order in which people read them.
    pub const ALL: [WaiverState; 6] = [
        WaiverState::Expired,
        WaiverState::NotYetValid,
        WaiverState::Applied,
        WaiverState::NotMatched,
        WaiverState::NotNeeded,
        WaiverState::Unused,
    ];

    /// The state as documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            WaiverState::Expired => "expired",
            WaiverState::NotYetValid => "not_yet_valid",
            WaiverState::Applied => "applied",
            WaiverState::NotMatched => "not_matched",
            WaiverState::NotNeeded => "not_needed",
            WaiverState::Unused => "unused",
        }
    }
}

/// A check that a waiver names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WaiverMatch {
    /// Its control.
    pub control: String,
    /// Its source.
    pub source: String,
    /// The code of its rule.
    pub rule: String,
    /// Its subject.
    pub subject: String,
    /// Its result, which the waiver does not change.
    pub status: Status,
    /// The reason of the result.
    pub reason: String,
}

impl<M> WaiverRecord<M> {
    /// The waiver with these matches.
    pub fn with<N>(self, matches: N) -> WaiverRecord<N> {
        WaiverRecord {
            matches,
            id: self.id,
            control: self.control,
            rule: self.rule,
            source: self.source,
            subjects: self.subjects,
            globs: self.globs,
            reasons: self.reasons,
            reason: self.reason,
            owner: self.owner,
            approved_by: self.approved_by,
            approved_at: self.approved_at,
            expires_at: self.expires_at,
            ticket: self.ticket,
            compensating: self.compensating,
            compensating_check: self.compensating_check,
            self_approved: self.self_approved,
            state: self.state,
        }
    }
}
