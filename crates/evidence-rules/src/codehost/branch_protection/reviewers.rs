//! Required reviewers of a ruleset: teams that must approve changes to files that match patterns.

use crate::codehost::record::{RequiredReviewer, RuleParameters};

/// Patterns that match every file.
const EVERY_FILE: [&str; 3] = ["*", "**", "**/*"];

/// What the required reviewers of a rule add to its approvals.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct RequiredReviews {
    /// The number of approvals that every change needs; `None` if no reviewer is required for every file.
    pub(super) every_file: Option<u64>,
    /// The patterns of the other files that need an approval, as written.
    pub(super) narrow: Vec<String>,
}

/// The approvals of the required reviewers in `parameters`. A reviewer with 0 approvals is asked, not required; one
/// without a number or without patterns demands nothing that is known.
pub(super) fn required_reviews(parameters: Option<&RuleParameters>) -> RequiredReviews {
    let mut found = RequiredReviews::default();
    let reviewers = parameters.and_then(|parameters| parameters.required_reviewers.value());
    for RequiredReviewer { file_patterns, minimum_approvals, .. } in reviewers.into_iter().flatten() {
        let approvals = minimum_approvals.value().copied().unwrap_or(0);
        let Some(patterns) = file_patterns.value().filter(|_| approvals > 0) else { continue };
        if is_every_file(patterns) {
            found.every_file = found.every_file.max(Some(approvals));
        } else if !patterns.is_empty() {
            found.narrow.push(patterns.join(" "));
        }
    }
    found
}

fn is_every_file(patterns: &[String]) -> bool {
    patterns.iter().any(|pattern| EVERY_FILE.contains(&pattern.as_str()))
        && !patterns.iter().any(|pattern| pattern.starts_with('!'))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn which_patterns_match_every_file() {
        for (patterns, every) in [
            (vec!["*"], true),
            (vec!["**"], true),
            (vec!["**/*"], true),
            (vec!["docs/**", "**"], true),
            (vec!["**", "!docs/**"], false),
            (vec!["!docs/**"], false),
            (vec!["/*"], false),
            (vec!["*.*"], false),
            (vec!["*/**"], false),
            (vec!["**/*.rs"], false),
            (vec!["docs/**"], false),
            (vec![" *"], false),
            (vec![""], false),
            (vec![], false),
        ] {
            for approvals in [json!(null), json!(0), json!(1), json!(10)] {
                let parameters: RuleParameters = serde_json::from_value(json!({"required_reviewers": [
                    {"file_patterns": patterns, "minimum_approvals": approvals, "reviewer": {"id": 7, "type": "Team"}}
                ]}))
                .unwrap();
                let found = required_reviews(Some(&parameters));
                let counts = approvals.as_u64().filter(|approvals| *approvals > 0);
                assert_eq!(found.every_file, counts.filter(|_| every), "{patterns:?} {approvals}");
                let named = counts.is_some() && !every && !patterns.is_empty();
                assert_eq!(!found.narrow.is_empty(), named, "{patterns:?} {approvals}");
            }
        }
    }

    #[test]
    fn what_is_not_reported_demands_nothing() {
        for text in [
            json!({}),
            json!({"required_reviewers": null}),
            json!({"required_reviewers": []}),
            json!({"required_reviewers": [{}]}),
            json!({"required_reviewers": [{"file_patterns": ["*"]}]}),
            json!({"required_reviewers": [{"minimum_approvals": 1}]}),
            json!({"required_reviewers": [{"file_patterns": null, "minimum_approvals": 1}]}),
        ] {
            let parameters: RuleParameters = serde_json::from_value(text).unwrap();
            assert_eq!(required_reviews(Some(&parameters)), RequiredReviews::default());
        }
        assert_eq!(required_reviews(None), RequiredReviews::default());
    }
}
