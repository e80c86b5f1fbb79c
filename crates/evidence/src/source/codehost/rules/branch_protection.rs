//! Changes to the branch need a review and status checks, from administrators too.

use evidence_bundle::document::Category::{Improvement, Misconfigured, Missing};
use evidence_bundle::document::Severity::{High, Info, Medium};

use crate::observation::Field;
use crate::rule::{Advice, Reason, Rule, Verdict, reason as shared};
use crate::source::codehost::record::BranchProtection;

/// Changes to the branch need a review and status checks, from administrators too.
pub static BRANCH_PROTECTION: Rule = Rule {
    code: "branch-protection",
    expected: "at least 1 approving review, at least one required status check, enforced for administrators",
    permission: "Give a fine-grained token \
                 `Administration: read` on this repository, and make its user an administrator of it: the host \
                 shows branch protection only to administrators.",
    improvement: Some(Advice {
        severity: Info,
        category: Improvement,
        title: "one approving review is the minimum",
        remediation: "Require 2 approving reviews in the branch protection rule.",
    }),
    reasons: &[
        &BRANCH_UNPROTECTED,
        &BRANCH_MISSING,
        &REVIEWS_NOT_REQUIRED,
        &STATUS_CHECKS_NOT_CONFIGURED,
        &ADMINS_NOT_ENFORCED,
    ],
};

/// The branch has no protection rule.
pub static BRANCH_UNPROTECTED: Reason = Reason {
    code: "branch_unprotected",
    advice: Some(Advice {
        severity: High,
        category: Missing,
        title: "the branch has no protection rule",
        remediation: "Add a branch protection rule that requires a pull request with at least one approving review, \
                      required \
             status checks, and no bypass for administrators. This version does not read rulesets: a branch that \
             only a ruleset protects is also reported here.",
    }),
};

/// The repository has no branch of this name.
pub static BRANCH_MISSING: Reason = Reason {
    code: "branch_missing",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "the branch does not exist",
        remediation: "Set `branch` in the configuration to the release branch, or collect this repository with a \
                      separate configuration.",
    }),
};

/// No approving review is required.
pub static REVIEWS_NOT_REQUIRED: Reason = Reason {
    code: "reviews_not_required",
    advice: Some(Advice {
        severity: High,
        category: Misconfigured,
        title: "no approving review is required",
        remediation: "In the branch protection rule, require a pull request with at least 1 approval (2 recommended).",
    }),
};

/// No status check is required.
pub static STATUS_CHECKS_NOT_CONFIGURED: Reason = Reason {
    code: "status_checks_not_configured",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "no status check is required",
        remediation: "In the branch protection rule, require status checks to pass and name at least one.",
    }),
};

/// Administrators may pass the rule by.
pub static ADMINS_NOT_ENFORCED: Reason = Reason {
    code: "admins_not_enforced",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "administrators can bypass the branch protection rule",
        remediation: "In the branch protection rule, turn on \"Do not allow bypassing the above settings\".",
    }),
};

/// How many approving reviews are recommended; one is enough to pass.
const RECOMMENDED_REVIEWS: u64 = 2;

/// A requirement: does it hold, and how is that said?
struct Requirement {
    /// `None`: the host did not say.
    holds: Option<bool>,
    reason: &'static Reason,
    words: String,
}

/// Passes when at least one approving review is required, at least one status check is, and administrators are held
/// to both.
///
/// The host leaves out a section that is not configured, so an absent section is a setting that was read. A section
/// that is there without its number or switch is not.
pub fn judge(protection: &BranchProtection) -> Verdict {
    let (reviews, count) = reviews(protection);
    let requirements = [reviews, status_checks(protection), administrators(protection)];
    let actual =
        requirements.iter().map(|requirement| requirement.words.as_str()).collect::<Vec<_>>().join(", ");
    if let Some(missing) = requirements.iter().find(|requirement| requirement.holds == Some(false)) {
        return Verdict::fail(missing.reason, actual);
    }
    if requirements.iter().any(|requirement| requirement.holds.is_none()) {
        return Verdict::unknown(&shared::NO_EVIDENCE, actual);
    }
    Verdict { improvable: count.is_some_and(|count| count < RECOMMENDED_REVIEWS), ..Verdict::pass(actual) }
}

fn reviews(protection: &BranchProtection) -> (Requirement, Option<u64>) {
    let count = match &protection.required_pull_request_reviews {
        Field::Value(reviews) => reviews.required_approving_review_count.value().copied(),
        Field::Absent | Field::Null => Some(0),
    };
    let words = match count {
        None => "number of approving reviews not reported".to_string(),
        Some(0) => "no approving review".to_string(),
        Some(1) => "1 approving review".to_string(),
        Some(count) => format!("{count} approving reviews"),
    };
    (Requirement { holds: count.map(|count| count >= 1), reason: &REVIEWS_NOT_REQUIRED, words }, count)
}

fn status_checks(protection: &BranchProtection) -> Requirement {
    let reason = &STATUS_CHECKS_NOT_CONFIGURED;
    let Some(section) = protection.required_status_checks.value() else {
        return Requirement { holds: Some(false), reason, words: "no required status check".to_string() };
    };
    let contexts = section.contexts.value();
    let named = contexts.map_or(0, Vec::len);
    if named > 0 {
        let words = format!("{} required status {}", named, plural(named));
        return Requirement { holds: Some(true), reason, words };
    }
    // Newer hosts may name the checks in `checks` alone, which is not a field of the artifact: say what they are.
    if let Some(checks) = section.checks.value().filter(|checks| !checks.is_empty()) {
        let names = checks.iter().map(|check| check.context.as_str()).collect::<Vec<_>>().join(", ");
        let words = format!("{} required status {}: {names}", checks.len(), plural(checks.len()));
        return Requirement { holds: Some(true), reason, words };
    }
    let words = "a status-check rule that names no check".to_string();
    Requirement { holds: Some(false), reason, words }
}

fn administrators(protection: &BranchProtection) -> Requirement {
    let enabled = protection.enforce_admins.value().and_then(|section| section.enabled.value()).copied();
    let words = match enabled {
        Some(true) => "enforced for administrators",
        Some(false) => "not enforced for administrators",
        None => "enforcement for administrators not reported",
    };
    Requirement { holds: enabled, reason: &ADMINS_NOT_ENFORCED, words: words.to_string() }
}

fn plural(count: usize) -> &'static str {
    if count == 1 { "check" } else { "checks" }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::Status;

    /// Every combination of every form the three sections can have: the whole domain, compared with the
    /// specification's sentence written as a formula.
    #[test]
    fn the_whole_domain() {
        // (JSON of the section, does the requirement hold)
        let reviews = [
            ("", Some(false)),
            (r#""required_pull_request_reviews": null,"#, Some(false)),
            (r#""required_pull_request_reviews": {},"#, None),
            (r#""required_pull_request_reviews": {"required_approving_review_count": null},"#, None),
            (r#""required_pull_request_reviews": {"required_approving_review_count": 0},"#, Some(false)),
            (r#""required_pull_request_reviews": {"required_approving_review_count": 1},"#, Some(true)),
            (r#""required_pull_request_reviews": {"required_approving_review_count": 2},"#, Some(true)),
            (r#""required_pull_request_reviews": {"required_approving_review_count": 10},"#, Some(true)),
        ];
        let checks = [
            ("", Some(false)),
            (r#""required_status_checks": null,"#, Some(false)),
            (r#""required_status_checks": {"strict": true},"#, Some(false)),
            (r#""required_status_checks": {"strict": true, "contexts": []},"#, Some(false)),
            (r#""required_status_checks": {"contexts": [], "checks": []},"#, Some(false)),
            (r#""required_status_checks": {"contexts": ["build"]},"#, Some(true)),
            (
                r#""required_status_checks": {"contexts": [], "checks": [{"context": "build", "app_id": null}]},"#,
                Some(true),
            ),
            (r#""required_status_checks": {"checks": [{"context": "build"}]},"#, Some(true)),
        ];
        let admins = [
            ("", None),
            (r#""enforce_admins": null,"#, None),
            (r#""enforce_admins": {},"#, None),
            (r#""enforce_admins": {"enabled": false},"#, Some(false)),
            (r#""enforce_admins": {"enabled": true},"#, Some(true)),
        ];
        for (reviews_json, reviews_hold) in reviews {
            for (checks_json, checks_hold) in checks {
                for (admins_json, admins_hold) in admins {
                    let json = format!("{{{reviews_json}{checks_json}{admins_json}\"url\": \"u\"}}");
                    let protection: BranchProtection = serde_json::from_str(&json).unwrap();
                    let verdict = judge(&protection);
                    let expected = match (reviews_hold, checks_hold, admins_hold) {
                        (Some(false), _, _) => (Status::Fail, &REVIEWS_NOT_REQUIRED),
                        (_, Some(false), _) => (Status::Fail, &STATUS_CHECKS_NOT_CONFIGURED),
                        (_, _, Some(false)) => (Status::Fail, &ADMINS_NOT_ENFORCED),
                        (Some(true), Some(true), Some(true)) => (Status::Pass, &shared::OK),
                        _ => (Status::NotVerifiable, &shared::NO_EVIDENCE),
                    };
                    assert_eq!((verdict.status, verdict.reason), expected, "{json}");
                    let improvable = expected.0 == Status::Pass && reviews_json.contains(": 1}");
                    assert_eq!(verdict.improvable, improvable, "{json}");
                }
            }
        }
    }

    /// What was found is told in whole words.
    #[test]
    fn numbers_are_told_as_one_says_them() {
        let contexts = |names: &str| format!(r#""contexts": [{names}]"#);
        let checks = r#""contexts": [], "checks": [{"context": "build"}, {"context": "test"}]"#;
        for (count, status, said) in [
            (0, contexts(r#""build""#), "no approving review, 1 required status check"),
            (1, contexts(r#""build", "test""#), "1 approving review, 2 required status checks"),
            (2, checks.to_string(), "2 approving reviews, 2 required status checks: build, test"),
        ] {
            let json = format!(
                r#"{{"required_pull_request_reviews": {{"required_approving_review_count": {count}}},
                    "required_status_checks": {{{status}}}, "enforce_admins": {{"enabled": true}}}}"#
            );
            let protection: BranchProtection = serde_json::from_str(&json).unwrap();
            let expected = format!("{said}, enforced for administrators");
            assert_eq!(judge(&protection).actual.as_deref(), Some(expected.as_str()));
        }
    }
}
