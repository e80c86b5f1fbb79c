//! `exclude`: the repositories to leave out.

use super::config::Excluded;
use evidence_view::glob_matches as matches;

/// The configured patterns, and which of them have matched.
pub(super) struct Exclusion<'a> {
    patterns: Vec<(&'a str, bool)>,
}

impl<'a> Exclusion<'a> {
    pub(super) fn new(excluded: &'a [Excluded]) -> Exclusion<'a> {
        Exclusion { patterns: excluded.iter().map(|excluded| (excluded.pattern.as_str(), false)).collect() }
    }

    /// Whether to leave out a repository, given its name without the organization.
    pub(super) fn excludes(&mut self, name: &str) -> bool {
        let mut excluded = false;
        for (pattern, used) in &mut self.patterns {
            if matches(pattern, name) {
                (excluded, *used) = (true, true);
            }
        }
        excluded
    }

    /// The patterns that have not matched anything.
    pub(super) fn unused(&self) -> impl Iterator<Item = &'a str> + '_ {
        self.patterns.iter().filter(|(_, used)| !used).map(|(pattern, _)| *pattern)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_matched_nothing_is_known() {
        let patterns = ["web", "w*", "gone"].map(|pattern| Excluded {
            pattern: pattern.to_string(),
            reason: None,
            approved_by: None,
            approved_at: None,
            review_by: None,
        });
        let mut exclusion = Exclusion::new(&patterns);
        assert!(!exclusion.excludes("api"));
        assert_eq!(exclusion.unused().collect::<Vec<_>>(), ["web", "w*", "gone"]);
        assert!(exclusion.excludes("web"));
        assert_eq!(exclusion.unused().collect::<Vec<_>>(), ["gone"]);
    }
}
