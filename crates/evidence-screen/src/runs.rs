//! Long runs of letters and digits behind a prefix: `acme_7Kq2...`.
//!
//! Finds the separators only, and judges nothing.

use memchr::memchr2;

/// The least length of a run.
const LONG: usize = 32;

/// The places of the separators between a prefix and a long run.
pub(super) fn separators(text: &[u8]) -> impl Iterator<Item = usize> {
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(span) = text.get(at..at + LONG) {
            let before = text.get(..at).unwrap_or_default();
            if !is_separated(before) {
                at += memchr2(b'_', b'-', text.get(at..)?)? + 1;
            } else if let Some(sign) = span.iter().rposition(|byte| !byte.is_ascii_alphanumeric()) {
                // The last sign of a stretch: most words are short.
                at += sign + 1;
            } else {
                let separator = at.checked_sub(1);
                at += LONG;
                return separator;
            }
        }
        None
    })
}

/// Whether the text ends with a prefix and a separator.
fn is_separated(before: &[u8]) -> bool {
    matches!(before, [.., a, b, b'_' | b'-'] if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric())
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
