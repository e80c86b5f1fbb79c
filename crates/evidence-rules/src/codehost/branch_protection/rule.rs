//! The rule, and the reasons that only its checks have.

use evidence_bundle::document::Category::{Improvement, Misconfigured, Missing, Partial};
use evidence_bundle::document::Severity::{High, Low, Medium};

use crate::rule::setting::Setting;
use crate::rule::{Reason, Recommendation, Rule};

/// Changes to the branch require a review and status checks, also from administrators.
pub static BRANCH_PROTECTION: Rule = Rule {
    code: "branch-protection",
    title: "Branch protection",
    version: 1,
    kind: "repository",
    expected: "at least {approvals 1 approving review|# approving reviews}, at least one required status check, enforced for administrators",
    reads: "the classic protection of the branch in `branch`, and the rules of the rulesets that apply to it",
    not_checked: "people and apps that may skip the review of a classic rule; who may push, force pushes, deletions, signed commits; what the status checks do, and whether they can fail; any other branch",
    permission: "Give a fine-grained token \
                 `Administration: read` and `Metadata: read` on this repository, and make its user an \
                 administrator of it: the host shows branch protection only to administrators.",
    improvement: Some(Recommendation::new(
        "One approving review is the minimum",
        "Require 2 approving reviews in the branch protection rule or the ruleset.",
    )),
    settings: &[&APPROVALS],
    hints: &[&PULL_REQUEST_BYPASS_ALLOWED],
    reasons: &[
        &BRANCH_UNPROTECTED,
        &BRANCH_MISSING,
        &DEFAULT_BRANCH_DIFFERS,
        &REVIEWS_NOT_REQUIRED,
        &STATUS_CHECKS_NOT_CONFIGURED,
        &ADMINS_NOT_ENFORCED,
        &BYPASS_NOT_VISIBLE,
        &BYPASS_CONTRADICTION,
    ],
};

/// The number of approving reviews to pass. The host allows rules that require up to 10.
pub static APPROVALS: Setting = Setting {
    rule: "branch-protection",
    name: "approvals",
    default: 1,
    minimum: 1,
    maximum: 10,
    recommended: Some(2),
};

/// Nothing protects the branch.
pub static BRANCH_UNPROTECTED: Reason = Reason::new("branch_unprotected", "Branch not protected").advice(
    High,
    Missing,
    "Add a branch protection rule or a ruleset that requires a pull request with at least \
                      {approvals one approving review|# approving reviews} and required status checks, without a bypass for administrators.",
);

/// The repository has no branch of this name.
pub static BRANCH_MISSING: Reason = Reason::new("branch_missing", "Branch does not exist").advice(
    Medium,
    Misconfigured,
    "Set `branch: ~DEFAULT_BRANCH` to check each repository's default branch, or collect this \
                      repository with a separate configuration.",
);

/// No branch is configured, and the repository's default branch differs from the one that is then checked.
pub static DEFAULT_BRANCH_DIFFERS: Reason = Reason::new("default_branch_differs", "Another default branch")
    .advice(
        Medium,
        Misconfigured,
        "Set `branch: ~DEFAULT_BRANCH` to check each repository's default branch, or `branch: main` if \
                      main is the branch to check.",
    );

/// No approving review is required.
pub static REVIEWS_NOT_REQUIRED: Reason =
    Reason::new("reviews_not_required", "Approving reviews not required").advice(
        High,
        Misconfigured,
        "In the branch protection rule or the ruleset, require a pull request with at least {approvals 1 approval|# approvals}{approvals recommended}.",
    );

/// No status check is required.
pub static STATUS_CHECKS_NOT_CONFIGURED: Reason =
    Reason::new("status_checks_not_configured", "Status checks not required").advice(
        Medium,
        Misconfigured,
        "In the branch protection rule or the ruleset, require status checks to pass and name at least \
                      one.",
    );

/// Administrators can bypass the rule.
pub static ADMINS_NOT_ENFORCED: Reason =
    Reason::new("admins_not_enforced", "Administrators can bypass branch protection").advice(
        Medium,
        Misconfigured,
        "In the branch protection rule, turn on \"Do not allow bypassing the above settings\"; in a \
                      ruleset, remove administrators and roles from the bypass list.",
    );

/// The host does not show whether administrators can bypass a ruleset that decides the verdict.
pub static BYPASS_NOT_VISIBLE: Reason =
    Reason::new("bypass_not_visible", "Bypass list of the ruleset not visible").advice(
        Medium,
        Partial,
        "Use a token whose user is an organization owner and administers the repository, or require the \
                      same in a branch protection rule that is enforced for administrators.",
    );

/// The host's answer about who can bypass a ruleset contradicts itself.
pub static BYPASS_CONTRADICTION: Reason =
    Reason::new("bypass_contradiction", "Host contradicts itself about the bypass list").advice(
        Medium,
        Partial,
        "Open the ruleset on the host and check its bypass list by hand: the list in the answer is empty, \
                      but the token's user can bypass the ruleset.",
    );

/// Some users, teams or apps may merge without the review that a classic rule requires.
pub static PULL_REQUEST_BYPASS_ALLOWED: Reason =
    Reason::new("pull_request_bypass_allowed", "Accounts that may merge without a review").advice(
        Low,
        Improvement,
        "In the branch protection rule, empty the list \"Allow specified actors to bypass required pull \
                      requests\".",
    );
