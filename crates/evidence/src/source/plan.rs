//! What a source is about, and what its collection would take: known before anything is collected.

use evidence_bundle::document::RateLimitRecord;

use crate::observation::SourceName;
use crate::rule::Rule;

/// What a collection would take.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// Artifacts at most, by kind: a name for people and a number.
    pub artifacts: Vec<(&'static str, u64)>,
    /// What could not be asked for, in words: a collection would lack it if that does not change. What is refused is no
    /// part of it, since that is a warning of the connection test.
    pub missing: Vec<String>,
    /// What the connection test could not read, in words: a collection will not have it either, and is incomplete.
    pub lacking: Vec<String>,
    /// What the host says exists and did not list, in words: a collection will not have it and is incomplete.
    pub unlisted: Vec<String>,
    /// Requests at least: each artifact is there at the first place it is looked for.
    pub requests_minimum: u64,
    /// Requests at most, retries not counted.
    pub requests_maximum: u64,
    /// Requests among these that cost nothing of the limit if what they ask for has not changed since it was kept.
    pub requests_free: u64,
    /// Answers that are taken over from a killed run, and not asked for.
    pub taken_over: u64,
    /// Estimated bytes of the source's part of the archive.
    pub estimated_bytes: u64,
    /// The host's limit, if it has one.
    pub rate_limit: Option<RateLimitRecord>,
    /// The pace that the configuration sets; 0 means none.
    pub requests_per_minute: u32,
}

impl Plan {
    /// All artifacts.
    pub fn artifact_count(&self) -> u64 {
        self.artifacts.iter().map(|(_, count)| count).sum()
    }
}

/// What a source is about, as far as its configuration shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// Which source.
    pub source: SourceName,
    /// The organization, if the configuration names one.
    pub organization: Option<String>,
    /// What its checks are about as long as nothing more is known: the organization, or what stands for it.
    pub subject: String,
    /// Base of the API.
    pub api_url: String,
    /// The rules that would be applied.
    pub rules: Vec<&'static Rule>,
}
