//! Which branch of a repository is judged, if the configuration names one for each pattern.

use evidence_text::glob_matches;

/// What is chosen for this subject (`owner/name`): that of the pattern that matches with the most characters beside `*`. Of
/// two with as many, the first in the order of the alphabet counts.
pub fn branch_of<'a, T>(patterns: impl IntoIterator<Item = (&'a str, T)>, subject: &str) -> Option<T> {
    let matching = patterns.into_iter().filter(|(pattern, _)| glob_matches(pattern, subject));
    let key = |pattern: &str| {
        let characters = pattern.bytes().filter(|byte| *byte != b'*').count();
        (usize::MAX - characters, pattern.to_ascii_lowercase())
    };
    matching.min_by_key(|(pattern, _)| key(pattern)).map(|(_, branch)| branch)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_pattern_wins() {
        let patterns = [
            ("*", 1),
            ("acme/service-*", 2),
            ("acme/service-api", 3),
            ("acme/*-api", 4),
            ("acme/*b-*", 5),
            ("acme/a*-x", 6),
            ("acme/*a-x", 7),
            ("acme/Service-B", 8),
        ];
        for (subject, expected) in [
            ("acme/web", Some(1)),
            ("ACME/Service-Web", Some(2)),
            ("acme/service-api", Some(3)),
            ("acme/service-api2", Some(2)),
            ("acme/service-b", Some(8)),
            ("acme/web-api", Some(4)),
            ("acme/a-a-x", Some(7)),
        ] {
            assert_eq!(branch_of(patterns, subject), expected, "{subject}");
            assert_eq!(
                branch_of(patterns.into_iter().rev(), subject),
                expected,
                "{subject}, in another order"
            );
        }
        assert_eq!(branch_of([("acme/a*", 1)], "acme/web"), None);
    }
}
