//! The bar of checks by status.

use evidence_bundle::Status;
use evidence_bundle::document::Counts;

/// The width of the bar, in tenths of a percent.
const WHOLE: u64 = 1_000;
/// The narrowest part that is visible, in the same unit.
const VISIBLE: u64 = 15;

/// Parts side by side, the most urgent first. Statuses without a check have no part.
pub(super) struct Bar {
    pub(super) parts: Vec<Part>,
}

/// A part of the bar.
pub(super) struct Part {
    /// The status as documents write it.
    pub(super) code: &'static str,
    /// Its offset, as in `12.5%`.
    pub(super) start: String,
    pub(super) width: String,
}

impl Bar {
    pub(super) fn new(counts: Counts) -> Bar {
        let statuses = [
            (Status::Fail, counts.fail),
            (Status::NotVerifiable, counts.not_verifiable),
            (Status::Pass, counts.pass),
            (Status::NotApplicable, counts.not_applicable),
        ];
        let present = || statuses.iter().filter(|(_, count)| *count > 0);
        let all: u64 = present().map(|(_, count)| *count).fold(0, u64::saturating_add);
        let widths: Vec<u64> = present().map(|(_, count)| share(*count, all).max(VISIBLE)).collect();
        // The widest part makes room for the widened small ones.
        let over = widths.iter().sum::<u64>().saturating_sub(WHOLE);
        let widest = widths.iter().copied().max().unwrap_or_default();
        let mut given = false;
        let mut start = 0;
        let mut parts = Vec::new();
        let last = widths.len().saturating_sub(1);
        for (index, ((status, _), width)) in present().zip(widths).enumerate() {
            let gives = width == widest && !given;
            given |= gives;
            let width = if gives { width.saturating_sub(over) } else { width };
            // Rounding must not leave a gap at the end.
            let width = if index == last { WHOLE.saturating_sub(start) } else { width };
            parts.push(Part { code: status.as_str(), start: percent(start), width: percent(width) });
            start += width;
        }
        Bar { parts }
    }
}

fn share(count: u64, all: u64) -> u64 {
    let share = u128::from(count) * u128::from(WHOLE) / u128::from(all.max(1));
    u64::try_from(share).unwrap_or(WHOLE)
}

fn percent(tenths: u64) -> String {
    format!("{}.{}%", tenths / 10, tenths % 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bar(
        fail: u64,
        not_verifiable: u64,
        pass: u64,
        not_applicable: u64,
    ) -> Vec<(&'static str, String, String)> {
        let bar = Bar::new(Counts { pass, fail, not_verifiable, not_applicable });
        bar.parts.into_iter().map(|part| (part.code, part.start, part.width)).collect()
    }

    #[test]
    fn parts_fill_the_bar_and_none_disappears() {
        assert_eq!(bar(0, 0, 0, 0), []);
        assert_eq!(bar(0, 0, 7, 0), [("pass", "0.0%".into(), "100.0%".into())]);
        let two = [("fail", "0.0%".into(), "25.0%".into()), ("pass", "25.0%".into(), "75.0%".into())];
        assert_eq!(bar(1, 0, 3, 0), two);
        // 1 of 20,000 is visible.
        let small = [("fail", "0.0%".into(), "1.5%".into()), ("pass", "1.5%".into(), "98.5%".into())];
        assert_eq!(bar(1, 0, 19_999, 0), small);
        let huge = bar(u64::MAX, 1, u64::MAX, 1);
        assert_eq!(huge.len(), 4);
        // Thirds: the last part gets the rounding remainder.
        assert_eq!(bar(1, 1, 1, 0).last(), Some(&("pass", "66.6%".into(), "33.4%".into())));
    }
}
