//! Times in documents: RFC 3339, UTC, whole seconds, `Z`.
//!
//! Converts between that text and Unix seconds. This module reads no clock.

use jiff::Timestamp;

/// The latest time that a bundle can have, in Unix seconds: the limit of a tar header.
pub const LATEST: i64 = 0o777_7777_7777;

/// The text of a time, such as `2026-11-21T09:05:13Z` (RFC 3339, section 5.6).
///
/// Returns `None` outside the years 1970 to 9999, which a bundle cannot hold.
pub fn format(unix_seconds: i64) -> Option<String> {
    let timestamp = Timestamp::from_second(unix_seconds).ok().filter(|_| unix_seconds >= 0)?;
    Some(timestamp.to_string())
}

/// Parses a time in exactly the form that [`format`](fn@format) writes, in Unix seconds; `None` for any other form.
pub fn parse(text: &str) -> Option<i64> {
    let seconds = text.parse::<Timestamp>().ok()?.as_second();
    (format(seconds)? == text).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_form_only() {
        assert_eq!(format(1_795_251_913).as_deref(), Some("2026-11-21T09:05:13Z"));
        assert_eq!(parse("2026-11-21T09:05:13Z"), Some(1_795_251_913));
        assert_eq!(parse("1970-01-01T00:00:00Z"), Some(0));
        for other in [
            "2026-11-21T09:05:13.5Z",
            "2026-11-21t09:05:13z",
            "2026-11-21T09:05:13+00:00",
            "2026-11-21 09:05:13Z",
            "1969-12-31T23:59:59Z",
            "2026-11-21",
            "",
        ] {
            assert_eq!(parse(other), None, "{other}");
        }
        assert_eq!(format(-1), None);
        assert_eq!(format(i64::MAX), None);
    }
}
