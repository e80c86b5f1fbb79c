//! The scope and the plan of a source: what is known before the collection.

use evidence_bundle::document::RateLimitRecord;

use super::work::{Standings, Work};
use crate::observation::SourceName;
use evidence_rules::rule::Rule;

/// The plan of a collection.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// The maximum number of artifacts, by kind: a display name and a number.
    pub artifacts: Vec<(&'static str, u64)>,
    /// Failed requests of the test, as text: a collection would lack these results unless the failure goes away.
    /// Refusals are not included, because the connection test warns of them.
    pub failed: Vec<String>,
    /// What the connection test could not read, as text: a collection will lack it too, and be incomplete.
    pub unreadable: Vec<String>,
    /// What the host reports to exist but did not list, as text: a collection will lack it and be incomplete.
    pub omitted: Vec<String>,
    /// The minimum number of requests: each artifact is found in the first place.
    pub requests_minimum: u64,
    /// The maximum number of requests, without retries.
    pub requests_maximum: u64,
    /// The requests before those of `work`.
    pub requests_before: u64,
    /// What is usually asked about each subject; empty if the minimum is usual.
    pub work: Vec<Work>,
    /// How many of these requests do not count against the limit if the answers have not changed since they were kept.
    pub requests_free: u64,
    /// Answers resumed from an interrupted run, which need no request.
    pub resumed: u64,
    /// The estimated size in bytes of the source's part of the archive.
    pub estimated_bytes: u64,
    /// The host's limit, if it has one.
    pub rate_limit: Option<RateLimitRecord>,
    /// Where the clients stand with their limits, if they have any.
    pub standings: Option<Standings>,
}

impl Plan {
    /// Whether a collection would lack nothing, as far as the plan can see.
    pub fn is_whole(&self) -> bool {
        self.failed.is_empty() && self.unreadable.is_empty() && self.omitted.is_empty()
    }

    /// The number of all artifacts.
    pub fn artifact_count(&self) -> u64 {
        self.artifacts.iter().map(|(_, count)| count).sum()
    }
}

/// The scope of a source, as far as the configuration shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Scope {
    /// The source.
    pub source: SourceName,
    /// The organization, if the configuration names one.
    pub organization: Option<String>,
    /// The kind of members that it would have examined, such as `repository`.
    pub kind: &'static str,
    /// The subject of its checks until more is known: the organization, or a substitute.
    pub subject: String,
    /// Base of the API.
    pub api_url: String,
    /// The rules to apply.
    pub rules: Vec<&'static Rule>,
}
