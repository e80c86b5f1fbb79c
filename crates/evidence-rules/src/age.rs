//! Ages, which count from the start of a run: it is signed, so that every verifier counts from the same time.

use std::borrow::Cow;

use jiff::Timestamp;
use serde_json::Value;

use crate::inspection::Facts;

/// The name of the fact that tells from when ages count.
const JUDGED_AT: &str = "judged_at";

/// The fact that tells from when ages count.
pub fn judged_at(at: Timestamp) -> Option<(Cow<'static, str>, Value)> {
    let at = evidence_bundle::time::format(at.as_second())?;
    Some((JUDGED_AT.into(), at.into()))
}

/// From when ages count, by the fact that tells it.
pub fn read_judged_at(facts: &Facts) -> Option<Timestamp> {
    facts.get(JUDGED_AT)?.as_str()?.parse().ok()
}

/// Whether more than this many days lie between the two.
pub fn is_older(at: Timestamp, now: Timestamp, days: u64) -> bool {
    let seconds = i64::try_from(days).unwrap_or(i64::MAX).saturating_mul(24 * 60 * 60);
    now.as_second().saturating_sub(at.as_second()) > seconds
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ages_count_whole_days_in_seconds() {
        let now: Timestamp = "2026-11-21T09:05:13Z".parse().unwrap();
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        assert!(!is_older(at("2026-08-23T09:05:13Z"), now, 90));
        assert!(is_older(at("2026-08-23T09:05:12Z"), now, 90));
        assert!(!is_older(at("2027-01-01T00:00:00Z"), now, 90));
        assert!(!is_older(at("2026-08-23T09:05:12Z"), now, u64::MAX));
    }
}
