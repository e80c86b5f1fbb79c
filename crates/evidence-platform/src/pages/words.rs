//! How pages write things: times, sizes, numbers, statuses. Nothing here is read back.

use std::collections::BTreeMap;

use evidence_bundle::Status;
use evidence_bundle::document::{Category, Severity};
use evidence_bundle::text::Printable;

use crate::time::Time;

/// A moment for people and for machines.
pub(super) struct Moment {
    /// RFC 3339.
    pub(super) machine: String,
    /// The day: `2026-11-20`.
    pub(super) day: String,
    /// The time of day, in UTC: `02:00:05`.
    pub(super) clock: String,
}

impl Moment {
    /// This moment, in UTC.
    pub(super) fn of(time: Time) -> Moment {
        let seconds = time.0.div_euclid(1_000);
        let machine = evidence_bundle::time::format(seconds).unwrap_or_else(|| time.to_string());
        let (day, clock) = machine.split_once('T').unwrap_or((&machine, ""));
        let (day, clock) = (day.to_owned(), clock.trim_end_matches('Z').to_owned());
        Moment { machine, day, clock }
    }
}

/// A size in the largest unit that leaves a number above one.
pub(super) fn size(bytes: u64) -> String {
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

/// A number with thin separators, as in `12,345`.
pub(super) fn number(number: u64) -> String {
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
pub(super) fn counted(count: u64, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", number(count))
}

/// A status as it is shown: a sign that needs no colour, a word, and the class of its colour.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub(super) sign: &'static str,
    pub(super) word: &'static str,
    pub(super) class: &'static str,
}

/// How a status is shown.
pub(super) fn shown(status: Status) -> Shown {
    let (sign, word) = match status {
        Status::Pass => ("✓", "pass"),
        Status::Fail => ("✕", "fail"),
        Status::NotVerifiable => ("?", "not verifiable"),
        Status::NotApplicable => ("–", "not applicable"),
    };
    Shown { sign, word, class: status.as_str() }
}

/// How a severity is called, and the class of its colour.
pub(super) fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "critical",
        Severity::High => "high",
        Severity::Medium => "medium",
        Severity::Low => "low",
        Severity::Info => "info",
    }
}

/// How a category is called.
pub(super) fn category(category: Category) -> &'static str {
    match category {
        Category::Missing => "missing",
        Category::Misconfigured => "misconfigured",
        Category::Partial => "partial",
        Category::Improvement => "improvement",
    }
}

/// A stable code as words: `branch_missing` is `branch missing`.
pub(super) fn plain(code: &str) -> String {
    code.replace('_', " ")
}

/// Characters that a page prints of one text.
const TEXT: usize = 2_000;

/// Cuts a text that is long, and writes out the characters that would make it read as something else.
pub(super) fn neat(text: &mut String) {
    let end = text.char_indices().nth(TEXT).map(|(index, _)| index);
    let cut = end.and_then(|end| text.get(..end));
    match cut {
        Some(cut) => *text = format!("{} … (cut)", Printable(cut)),
        None => *text = Printable(text).to_string(),
    }
}

/// As [`neat`], of a text that stays.
pub(super) fn neatened(text: &str) -> String {
    let mut text = text.to_owned();
    neat(&mut text);
    text
}

/// The tags of a bundle, to be printed.
pub(super) fn tags(tags: BTreeMap<String, String>) -> Vec<(String, String)> {
    tags.iter().map(|(name, value)| (neatened(name), neatened(value))).collect()
}

/// A document as it is, but for the characters that would make it read as something else.
pub(super) fn neat_lines(text: &str) -> String {
    let lines: Vec<String> = text
        .split('\n')
        .map(|line| line.split('\t').map(|part| Printable(part).to_string()).collect::<Vec<_>>().join("\t"))
        .collect();
    lines.join("\n")
}

/// A path for an address: what is no letter, digit or mark of a bundle's path is escaped (RFC 3986, section 3.3).
pub(super) fn path(path: &str) -> String {
    let mut text = String::with_capacity(path.len());
    for byte in path.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'_' | b'-' => {
                text.push(char::from(byte))
            }
            _ => text.push_str(&format!("%{byte:02X}")),
        }
    }
    text
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
        for (n, text) in [(0, "0"), (999, "999"), (1_000, "1,000"), (1_234_567, "1,234,567")] {
            assert_eq!(number(n), text);
        }
        assert_eq!((counted(1, "check"), counted(2_000, "check")), ("1 check".into(), "2,000 checks".into()));
    }

    #[test]
    fn a_moment_is_utc() {
        let moment = Moment::of(Time(1_767_323_045_999));
        assert_eq!((moment.day.as_str(), moment.clock.as_str()), ("2026-01-02", "03:04:05"));
        assert_eq!(moment.machine, "2026-01-02T03:04:05Z");
        assert!(!Moment::of(Time(i64::MAX)).machine.is_empty());
    }

    #[test]
    fn a_text_is_short_and_says_what_it_says() {
        assert_eq!(neatened("caf\u{e9}\n\u{202e}x"), "caf\u{e9}\\u{a}\\u{202e}x");
        assert_eq!(neatened(&"\u{e9}".repeat(TEXT)), "\u{e9}".repeat(TEXT));
        assert_eq!(neatened(&"\u{e9}".repeat(TEXT + 1)), format!("{} … (cut)", "\u{e9}".repeat(TEXT)));
        assert_eq!(neat_lines("{\n\t\"a\": \"\u{202e}\"\r\n}\n"), "{\n\t\"a\": \"\\u{202e}\"\\u{d}\n}\n");
    }

    #[test]
    fn a_path_is_one_of_an_address() {
        assert_eq!(path("sources/a/b%20c?.json"), "sources/a/b%2520c%3F.json");
    }
}
