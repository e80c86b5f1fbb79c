//! What verification may read, and what the caller requires.

use std::time::Duration;

use super::reason::{Reason, VerifyError};

/// Upper bounds on what verification reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Files that the list may name. Default 500,000.
    pub files: usize,
    /// Bytes that the bundle may inflate to. Default 16 GiB.
    pub inflated_bytes: u64,
    /// Bytes of the list of checksums, which is held in memory. Default 64 MiB.
    pub checksums_bytes: u64,
    /// Bytes of the manifest. Default 512 MiB.
    pub manifest_bytes: u64,
    /// Bytes of `run.json`, which is held in memory until it is judged. Default 16 MiB.
    pub run_bytes: u64,
    /// Bytes of `derived/hints.json` and of `derived/normalized.json`, each. Default 512 MiB.
    pub derived_bytes: u64,
}

impl Limits {
    /// The limits of the format's specification.
    pub const DEFAULT: Limits = Limits {
        files: 500_000,
        inflated_bytes: 16 << 30,
        checksums_bytes: 64 << 20,
        manifest_bytes: 512 << 20,
        run_bytes: 16 << 20,
        derived_bytes: 512 << 20,
    };
}

impl Default for Limits {
    fn default() -> Limits {
        Limits::DEFAULT
    }
}

/// What the caller requires of the bundle beyond a good signature.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Expectations {
    /// The organization that the evidence must be about; ASCII case is ignored.
    pub organization: Option<String>,
    /// The maximum age; a bundle with fixed times never satisfies it. Needs `now`.
    pub max_age: Option<Duration>,
    /// The current time in Unix seconds: this crate reads no clock.
    pub now: Option<i64>,
    /// Whether every check must be judged again. This crate knows no rule: whoever sets the
    /// [`judgement`](VerifiedBundle::judgement) refuses a bundle without a complete one.
    pub judgement: bool,
}

/// Refuses a file that is larger than its limit.
pub(super) fn within(size: u64, limit: u64, path: &str) -> Result<(), VerifyError> {
    if size <= limit {
        return Ok(());
    }
    let detail = format!("{path} has {size} bytes, more than the limit of {limit} bytes");
    Err(VerifyError::at(Reason::Limit, path, detail))
}
