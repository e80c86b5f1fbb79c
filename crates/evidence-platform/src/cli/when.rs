//! A day or a time on the command line.

use crate::time::{Time, day_or_time};

/// A day or a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct When {
    /// Its first millisecond.
    pub first: Time,
    /// Its last second: that of a day is before midnight.
    pub last: Time,
}

/// A day, a time, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End(pub Option<When>);

/// Parses a day or a time.
pub(super) fn when(text: &str) -> Result<When, String> {
    day_or_time(text)
        .map(|(first, last)| When { first, last })
        .ok_or_else(|| "write a day as 2026-11-20, or a time as 2026-11-20T02:00:00Z".to_owned())
}

/// Parses a day, a time or `none`.
pub(super) fn end(text: &str) -> Result<End, String> {
    if text == "none" { Ok(End(None)) } else { when(text).map(|when| End(Some(when))) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_whole() {
        let day = when("2026-11-20").unwrap();
        assert_eq!(day.first.to_string(), "2026-11-20T00:00:00Z");
        assert_eq!(day.last.to_string(), "2026-11-20T23:59:59Z");
        let time = when("2026-11-20T02:00:00+01:00").unwrap();
        assert_eq!((time.first, time.last.to_string()), (time.last, "2026-11-20T01:00:00Z".to_owned()));
        for text in ["", "20.11.2026", "2026-11", "2026-11-31", "2026-11-20 02:00", "yesterday"] {
            assert!(when(text).is_err(), "{text}");
        }
        assert_eq!(end("none"), Ok(End(None)));
    }
}
