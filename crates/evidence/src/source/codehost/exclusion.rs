//! `exclude`: which repositories are left out on purpose.

/// The patterns of a configuration, and which of them have matched something.
pub(super) struct Exclusion<'a> {
    patterns: Vec<(&'a str, bool)>,
}

impl<'a> Exclusion<'a> {
    pub(super) fn new(patterns: &'a [String]) -> Exclusion<'a> {
        Exclusion { patterns: patterns.iter().map(|pattern| (pattern.as_str(), false)).collect() }
    }

    /// Whether a repository, named without its organization, is left out.
    pub(super) fn excludes(&mut self, name: &str) -> bool {
        let mut excluded = false;
        for (pattern, used) in &mut self.patterns {
            if matches(pattern, name) {
                (excluded, *used) = (true, true);
            }
        }
        excluded
    }

    /// The patterns that have matched nothing.
    pub(super) fn unused(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.patterns.iter().filter(|(_, used)| !used).map(|(pattern, _)| *pattern)
    }
}

/// `*` stands for any characters, none included; case does not count.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.to_ascii_lowercase(), name.to_ascii_lowercase());
    let mut parts = pattern.split('*');
    let Some(mut rest) = name.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some((_, after)) = rest.split_once(part) else { return false };
        rest = after;
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (pattern, name, expected) in [
            ("web", "web", true),
            ("web", "WEB", true),
            ("Web", "web", true),
            ("web", "web-old", false),
            ("web", "old-web", false),
            ("*", "anything", true),
            ("web*", "web", true),
            ("web*", "web-old", true),
            ("*web", "old-WEB", true),
            ("*web", "web-old", false),
            ("a*b*c", "a-b-b-c", true),
            ("a*b*c", "a-c-b", false),
            ("a**c", "abc", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("archive.*", "archive-x", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }

    #[test]
    fn what_matched_nothing_is_known() {
        let patterns = ["web".to_string(), "w*".to_string(), "gone".to_string()];
        let mut exclusion = Exclusion::new(&patterns);
        assert!(!exclusion.excludes("api"));
        assert_eq!(exclusion.unused().collect::<Vec<_>>(), ["web", "w*", "gone"]);
        assert!(exclusion.excludes("web"));
        assert_eq!(exclusion.unused().collect::<Vec<_>>(), ["gone"]);
    }
}
