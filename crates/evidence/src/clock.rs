//! This machine's clock, held against a host's.

use evidence_bundle::document::Warning;

use crate::observation::SourceName;
use evidence_http::Meta;
use evidence_http::retry::http_date;

/// A smaller difference is not worth a warning, in seconds.
const TOLERATED: u64 = 5 * 60;

/// A warning if the host's `Date` differs from this machine's time.
pub(crate) fn skewed(meta: &Meta, source: SourceName, subject: &str) -> Option<Warning> {
    let theirs = http_date(meta.header("date")?)?;
    let difference = theirs.saturating_sub(meta.received_at.as_second());
    let side = if difference > 0 { "behind" } else { "ahead of" };
    (difference.unsigned_abs() > TOLERATED).then(|| {
        let message = format!(
            "this machine's clock is {} s {side} the host's: times in this bundle are this machine's",
            difference.unsigned_abs()
        );
        source.warning("clock_skewed", message, Some(subject))
    })
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;
    use reqwest::header::{DATE, HeaderMap, HeaderValue};

    use super::*;

    #[test]
    fn a_difference_of_more_than_five_minutes_is_reported() {
        const NOW: i64 = 1_795_300_000;
        for (ahead, warned) in
            [(0, None), (300, None), (301, Some("ahead of")), (-300, None), (-301, Some("behind"))]
        {
            let text =
                jiff::fmt::strtime::format("%a, %d %b %Y %H:%M:%S GMT", Timestamp::from_second(NOW).unwrap());
            let mut headers = HeaderMap::new();
            headers.insert(DATE, HeaderValue::try_from(text.unwrap()).unwrap());
            let received_at = Timestamp::from_second(NOW + ahead).unwrap();
            let meta = Meta { headers: Box::new(headers), received_at, ..Meta::default() };
            let warning = skewed(&meta, SourceName::new("codehost"), "acme");
            assert_eq!(warning.is_some(), warned.is_some(), "{ahead}");
            assert!(warning.is_none_or(|warning| warning.message.contains(warned.unwrap())), "{ahead}");
        }
        assert!(skewed(&Meta::default(), SourceName::new("codehost"), "acme").is_none());
        let mut headers = HeaderMap::new();
        headers.insert(DATE, HeaderValue::from_static("yesterday"));
        let meta = Meta { headers: Box::new(headers), ..Meta::default() };
        assert!(skewed(&meta, SourceName::new("codehost"), "acme").is_none());
    }
}
