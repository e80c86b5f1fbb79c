//! Long runs of letters and digits behind a prefix: `acme_7Kq2...`.
//!
//! Finds the separators only, and judges nothing.

/// The least length of a run.
const LONG: usize = 32;

/// The places of the separators between a prefix and a long run.
pub(super) fn separators(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        // The last sign of a stretch first: most words are short.
        while let Some(stretch) = text.get(at..at + LONG) {
            if let Some(sign) = stretch.iter().rposition(|byte| !byte.is_ascii_alphanumeric()) {
                at += sign + 1;
                continue;
            }
            let start = at;
            let more = text.get(at + LONG..).unwrap_or_default();
            at += LONG + more.iter().position(|byte| !byte.is_ascii_alphanumeric()).unwrap_or(more.len());
            let separator = start.checked_sub(1);
            let is_separator = |at: &usize| {
                can_separate(text.get(..*at).unwrap_or_default(), text.get(*at..).unwrap_or_default())
            };
            if let Some(separator) = separator.filter(is_separator) {
                return Some(separator);
            }
        }
        None
    })
}

/// Whether `behind` begins with a separator, and `before` ends with a prefix.
fn can_separate(before: &[u8], behind: &[u8]) -> bool {
    matches!(before, [.., a, b] if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric())
        && matches!(behind, [b'_' | b'-', ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_before_long_runs() {
        let run = "7Kq2vM9xW4zPb81LsDfG7Kq2vM9xW4zP";
        for (text, places) in [
            (format!("acme_{run}"), vec![4]),
            (format!("x acme-live_{run}9 acme-{run}"), vec![11, 50]),
            (format!("{run}_{run}"), vec![32]),
            (format!("a_{run} _{run} acme.{run} acme_{}", &run[1..]), vec![]),
        ] {
            assert_eq!(separators(text.as_bytes()).collect::<Vec<_>>(), places, "{text}");
        }
    }
}
