//! Long runs of letters and digits behind a prefix: `acme_7Kq2...`.
//!
//! Finds the separators only, and judges nothing.

use memchr::memchr2_iter;

/// The least length of a run.
const LONG: usize = 32;

/// The places of the separators between a prefix and a long run.
pub(super) fn separators(text: &[u8]) -> impl Iterator<Item = usize> {
    memchr2_iter(b'_', b'-', text).filter(|at| {
        can_separate(text.get(..*at).unwrap_or_default())
            && text
                .get(at + 1..)
                .and_then(|behind| behind.first_chunk::<LONG>())
                .is_some_and(|run| run.iter().all(u8::is_ascii_alphanumeric))
    })
}

/// Whether the text ends with a prefix.
fn can_separate(before: &[u8]) -> bool {
    matches!(before, [.., a, b] if a.is_ascii_alphanumeric() && b.is_ascii_alphanumeric())
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
