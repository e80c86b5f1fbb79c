//! How statuses, reasons, severities, numbers and sizes are written for people. Nothing parses these.

use std::borrow::Cow;

use evidence_bundle::Status;
use evidence_bundle::document::{Category, Counts, Severity};

pub use crate::reasons::{reason, rule};

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

/// A number with its thousands separated, as in `12,345`.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3 + 1);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A number and its noun, as in `1 check` and `2 checks`.
pub fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", grouped(count))
}

/// A number and its noun, whose plural is not formed with an `s`, as in `2 repositories`.
pub fn counted_as(count: u64, singular: &str, plural: &str) -> String {
    format!("{} {}", grouped(count), if count == 1 { singular } else { plural })
}

/// The counts of checks by status, the most urgent first, as in `1 failed, 12 passed`.
pub fn checks(counts: Counts) -> Cow<'static, str> {
    let parts = [
        (counts.fail, "failed"),
        (counts.not_verifiable, "not verifiable"),
        (counts.pass, "passed"),
        (counts.not_applicable, "not applicable"),
    ];
    let parts = parts.iter().filter(|(count, _)| *count > 0);
    let parts: Vec<String> = parts.map(|(count, word)| format!("{} {word}", grouped(*count))).collect();
    if parts.is_empty() { "no checks".into() } else { parts.join(", ").into() }
}

/// The most urgent status of these checks; without any, not applicable.
pub fn worst(counts: Counts) -> Status {
    match counts {
        Counts { fail: 1.., .. } => Status::Fail,
        Counts { not_verifiable: 1.., .. } => Status::NotVerifiable,
        Counts { pass: 1.., .. } => Status::Pass,
        Counts { .. } => Status::NotApplicable,
    }
}

/// A size in the largest unit that leaves a number above one.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["kB", "MB", "GB", "TB"];
    if bytes < 1_000 {
        return format!("{bytes} B");
    }
    let mut tenths = u128::from(bytes) * 10;
    let mut unit = "B";
    for next in UNITS {
        if tenths < 10_000 {
            break;
        }
        tenths = (tenths + 500) / 1_000;
        unit = next;
    }
    format!("{}.{} {unit}", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_and_numbers_are_short() {
        let sizes = [
            (0, "0 B"),
            (999, "999 B"),
            (1_000, "1.0 kB"),
            (1_549, "1.5 kB"),
            (999_999, "1.0 MB"),
            (1_000_000, "1.0 MB"),
            (95_400_000, "95.4 MB"),
            (u64::MAX, "18446744.1 TB"),
        ];
        for (bytes, text) in sizes {
            assert_eq!(size(bytes), text);
        }
        for (number, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(grouped(number), text);
        }
        assert_eq!((counted(1, "check"), counted(2_000, "check")), ("1 check".into(), "2,000 checks".into()));
    }

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
