//! How statuses, reasons, severities, numbers and sizes are written for people. Nothing parses these.

use std::borrow::Cow;

use evidence_bundle::Status;
use evidence_bundle::document::{Category, Counts, Severity};

pub use crate::reasons::{reason, rule};
pub use evidence_text::{bytes as size, counted as counted_as, thousands as grouped};

/// A status for people.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StatusLabel {
    /// A sign that is clear without colour.
    pub sign: &'static str,
    /// The status in words.
    pub word: &'static str,
    /// The status as documents write it.
    pub code: &'static str,
}

/// The label of a status.
pub fn label(status: Status) -> StatusLabel {
    let (sign, word) = match status {
        Status::Pass => ("✓", "pass"),
        Status::Fail => ("✕", "fail"),
        Status::NotVerifiable => ("?", "not verifiable"),
        Status::NotApplicable => ("–", "not applicable"),
    };
    StatusLabel { sign, word, code: status.as_str() }
}

/// A severity in words.
pub fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
        Severity::Info => "info",
    }
}

/// A category of hints in words.
pub fn category(category: Category) -> &'static str {
    match category {
        Category::Missing => "missing",
        Category::Misconfigured => "misconfigured",
        Category::Partial => "partial",
        Category::Improvement => "improvement",
    }
}

/// A number and its noun, as in `1 check` and `2 checks`.
pub fn counted(count: u64, noun: &str) -> String {
    counted_as(count, noun, &format!("{noun}s"))
}

/// The counts of checks by status, the most urgent first, as in `1 failed, 12 passed`.
pub fn checks(counts: Counts) -> Cow<'static, str> {
    let word = |status| match status {
        Status::Fail => "failed",
        Status::NotVerifiable => "not verifiable",
        Status::Pass => "passed",
        Status::NotApplicable => "not applicable",
    };
    let parts = Status::BY_URGENCY.map(|status| (counts.of(status), word(status)));
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{} {word}", grouped(*count))).collect();
    if parts.is_empty() { "no checks".into() } else { parts.join(", ").into() }
}

/// The most urgent status of these checks; without any, not applicable.
pub fn worst(counts: Counts) -> Status {
    counts.worst().unwrap_or(Status::NotApplicable)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_are_counted_by_urgency() {
        let counts = Counts { pass: 1_000, fail: 2, not_verifiable: 0, not_applicable: 1 };
        assert_eq!(checks(counts), "2 failed, 1,000 passed, 1 not applicable");
        assert_eq!(checks(Counts::default()), "no checks");
        assert_eq!((worst(counts), worst(Counts::default())), (Status::Fail, Status::NotApplicable));
        assert_eq!(worst(Counts { fail: 0, ..counts }), Status::Pass);
        assert_eq!(worst(Counts { fail: 0, not_verifiable: 1, ..counts }), Status::NotVerifiable);
    }
}
