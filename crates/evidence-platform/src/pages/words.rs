//! How pages write times, tags and addresses. `evidence-view` has the words for a bundle's results.

use std::collections::BTreeMap;

pub(super) use evidence_view::words::{
    category, checks, counted, grouped, label, reason, rule, severity, size,
};
use evidence_view::{Overview, sanitized};

use crate::store::{BundleRow, TrustedKeyRow};
use crate::time::{DAY_MS, Time};

/// A time for people and for machines.
pub(super) struct Moment {
    /// RFC 3339.
    pub(super) machine: String,
    /// The day: `2026-11-20`.
    pub(super) day: String,
    /// The time of day, in UTC: `02:00:05`.
    pub(super) clock: String,
}

impl Moment {
    /// This time, in UTC.
    pub(super) fn of(time: Time) -> Moment {
        let seconds = time.0.div_euclid(1_000);
        let machine = evidence_bundle::time::format(seconds).unwrap_or_else(|| time.to_string());
        let (day, clock) = machine.split_once('T').unwrap_or((&machine, ""));
        let (day, clock) = (day.to_owned(), clock.trim_end_matches('Z').to_owned());
        Moment { machine, day, clock }
    }

    /// Parses a time in the form that documents use.
    pub(super) fn parse(text: &str) -> Option<Moment> {
        Time::parse(text).map(Moment::of)
    }
}

/// Whether everything was read: the class of the mark, its sign, and the words. Only what was read completely and is all
/// there is looks good.
pub(super) fn completeness(overview: &Overview) -> (&'static str, &'static str, &'static str) {
    match (overview.complete, overview.whole) {
        (false, _) => ("warn", "△", "incomplete"),
        (true, true) => ("pass", "✓", "complete"),
        (true, false) => ("not_applicable", "–", "complete in the chosen scope"),
    }
}

/// Reasons to doubt the time of a bundle: it was set by hand, or it is more than a day from the time at which the
/// bundle was stored.
pub(super) fn time_marks(bundle: &BundleRow) -> Vec<&'static str> {
    let late = bundle.uploaded_at.0.saturating_sub(bundle.collected_at.0);
    let fixed = bundle.overview.fixed_time.then_some("fixed time, not a clock's");
    let distant = if late > DAY_MS {
        Some("stored more than a day after its time")
    } else if late < -DAY_MS {
        Some("dated more than a day after it was stored")
    } else {
        None
    };
    fixed.into_iter().chain(distant).collect()
}

/// Whether a bundle was stored more than a day before or after the time that its signer claims.
pub(super) fn is_late(collected: Time, stored: Time) -> bool {
    stored.0.saturating_sub(collected.0).saturating_abs() > DAY_MS
}

/// What limits a trusted key in time.
pub(super) fn limits(key: &TrustedKeyRow) -> Vec<String> {
    let shown = |time: Time| {
        let moment = Moment::of(time);
        format!("{} {} UTC", moment.day, moment.clock)
    };
    let mut limits = Vec::new();
    limits.extend(key.valid_from.map(|from| format!("counts for bundles received from {}", shown(from))));
    limits.extend(key.valid_until.map(|until| format!("counts for bundles received until {}", shown(until))));
    if let Some((since, reason)) = &key.revoked {
        limits.push(format!("revoked for bundles received since {}: {}", shown(*since), sanitized(reason)));
    }
    limits
}

/// The tags of a bundle, fit to print.
pub(super) fn tags(tags: BTreeMap<String, String>) -> Vec<(String, String)> {
    tags.iter().map(|(name, value)| (sanitized(name), sanitized(value))).collect()
}

/// A path for an address: everything but letters, digits and the marks of a bundle's path is escaped (RFC 3986, section
/// 3.3).
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

/// The last part of a path.
pub(super) fn last(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_utc() {
        let moment = Moment::of(Time(1_767_323_045_999));
        assert_eq!((moment.day.as_str(), moment.clock.as_str()), ("2026-01-02", "03:04:05"));
        assert_eq!(moment.machine, "2026-01-02T03:04:05Z");
        assert!(!Moment::of(Time(i64::MAX)).machine.is_empty());
    }

    #[test]
    fn a_path_is_escaped_for_an_address() {
        assert_eq!(path("sources/a/b%20c?.json"), "sources/a/b%2520c%3F.json");
    }
}
