//! `exclude` and `include`: the repositories to leave out, and why.

use super::config::{CodeHostConfig, Excluded, Include, has_topic};
use super::repository::Repository;
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

/// The code for a repository that the configuration excludes.
pub(super) const EXCLUDED: &str = "excluded";

/// What the configuration leaves out of the listed repositories.
pub(super) struct Selection<'a> {
    pub(super) exclusion: Exclusion<'a>,
    include: Option<&'a Include>,
}

impl<'a> Selection<'a> {
    pub(super) fn new(config: &'a CodeHostConfig) -> Selection<'a> {
        Selection { exclusion: Exclusion::new(&config.exclude), include: config.include.as_ref() }
    }

    /// Why a listed repository, with this name, is left out; `None` if it is in scope.
    pub(super) fn leaves_out(&mut self, name: &str, repository: &Repository) -> Option<&'static str> {
        if self.exclusion.excludes(name) {
            return Some(EXCLUDED);
        }
        self.include.and_then(|include| not_included(include, name, repository))
    }
}

/// The first key of `include` that does not hold. What the host does not say of a repository does not leave it out.
fn not_included(include: &Include, name: &str, repository: &Repository) -> Option<&'static str> {
    let Include { repositories, visibility, archived, forks, topics, properties } = include;
    let differs = |wanted: Option<bool>, found: Option<bool>| wanted.zip(found).is_some_and(|(a, b)| a != b);
    let is_other = |found: &str| !visibility.iter().any(|wanted| wanted.eq_ignore_ascii_case(found));
    if !repositories.is_empty() && !repositories.iter().any(|pattern| matches(pattern, name)) {
        return Some("not_included_repository");
    }
    if !visibility.is_empty() && repository.visibility.as_deref().is_some_and(is_other) {
        return Some("not_included_visibility");
    }
    if differs(*archived, repository.archived) {
        return Some("not_included_archived");
    }
    if differs(*forks, repository.fork) {
        return Some("not_included_fork");
    }
    let has_none = repository.topics.as_ref().is_some_and(|found| !has_topic(topics, found));
    if !topics.is_empty() && has_none {
        return Some("not_included_topic");
    }
    let lacks_one = repository.custom_properties.as_ref().is_some_and(|found| {
        properties.iter().any(|(name, wanted)| {
            let values = found.iter().filter(|(found, _)| found.eq_ignore_ascii_case(name));
            !values.flat_map(|(_, values)| values).any(|value| wanted.contains(&value.to_ascii_lowercase()))
        })
    });
    lacks_one.then_some("not_included_property")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_key_of_include_must_hold_and_the_first_that_does_not_is_the_reason() {
        let text = |text: &str| Some(text.to_string());
        let include = Include {
            repositories: vec!["service-*".to_string(), "web".to_string()],
            visibility: vec!["private".to_string(), "internal".to_string()],
            archived: Some(false),
            forks: Some(false),
            topics: vec!["production".to_string()],
            properties: vec![
                ("tier".to_string(), vec!["critical".to_string(), "high".to_string()]),
                ("soc2".to_string(), vec!["true".to_string()]),
            ],
        };
        let properties = |tier: &[&str], soc2: &str| {
            let tier = tier.iter().map(ToString::to_string).collect();
            let properties = [("Tier".to_string(), tier), ("soc2".to_string(), vec![soc2.to_string()])];
            Some(std::collections::BTreeMap::from(properties))
        };
        let good = || Repository {
            visibility: text("Private"),
            archived: Some(false),
            fork: Some(false),
            topics: Some(vec!["Production".to_string(), "rust".to_string()]),
            custom_properties: properties(&["web", "High"], "true"),
            ..Repository::default()
        };
        let reason = |name: &str, repository: Repository| not_included(&include, name, &repository);
        assert_eq!(reason("WEB", good()), None);
        assert_eq!(reason("service-a", Repository::default()), None, "nothing is known of it");
        let archived = || Some(true);
        for (name, repository, expected) in [
            ("api", Repository { visibility: text("public"), ..good() }, "not_included_repository"),
            (
                "web",
                Repository { visibility: text("public"), archived: archived(), ..good() },
                "not_included_visibility",
            ),
            ("web", Repository { archived: archived(), fork: Some(true), ..good() }, "not_included_archived"),
            ("web", Repository { fork: Some(true), topics: Some(Vec::new()), ..good() }, "not_included_fork"),
            (
                "web",
                Repository { topics: Some(vec!["products".to_string()]), ..good() },
                "not_included_topic",
            ),
            (
                "web",
                Repository { custom_properties: properties(&[], "true"), ..good() },
                "not_included_property",
            ),
            (
                "web",
                Repository { custom_properties: properties(&["high"], "no"), ..good() },
                "not_included_property",
            ),
            (
                "web",
                Repository { custom_properties: Some(Default::default()), ..good() },
                "not_included_property",
            ),
        ] {
            assert_eq!(reason(name, repository), Some(expected), "{name}");
        }
    }

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
