//! Hints: what to do about each check that did not pass, most severe first.
//!
//! A hint follows from its check's rule and reason alone; two runs over the same settings give the same hints. Hints
//! advise. They never change a status.

use evidence_bundle::document::{Category, Severity, Status};

use crate::evaluate::{Check, Rule};
use crate::observation::Reason;

/// The advice for one check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Advice {
    /// How urgent it is.
    pub severity: Severity,
    /// What kind of gap it is.
    pub category: Category,
    /// The gap in a few words.
    pub title: &'static str,
    /// What to do.
    pub remediation: &'static str,
}

/// The advice for `check`, if there is anything to advise.
pub fn advice(check: &Check) -> Option<Advice> {
    let verdict = &check.verdict;
    match verdict.status {
        Status::NotApplicable => None,
        Status::Pass if verdict.improvable => Some(Advice {
            severity: Severity::Info,
            category: Category::Improvement,
            title: "one approving review is the minimum",
            remediation: "Require 2 approving reviews in the branch protection rule.",
        }),
        Status::Pass => None,
        Status::Fail | Status::NotVerifiable => for_reason(check.rule, verdict.reason),
    }
}

fn for_reason(rule: Rule, reason: Reason) -> Option<Advice> {
    use Category::{Misconfigured, Missing, Partial};
    use Severity::{Critical, High, Low, Medium};
    let (severity, category, title, remediation) = match reason {
        Reason::Ok | Reason::Archived => return None,
        Reason::TwoFactorDisabled => (
            Critical,
            Misconfigured,
            "two-factor authentication is not required",
            "In the organization's settings, under Authentication security, require two-factor authentication for \
             everyone in the organization.",
        ),
        Reason::TwoFactorNotVisible => (
            High,
            Partial,
            "the two-factor setting is not visible to this token",
            "The host shows it to organization owners only: collect with a token whose user is an organization owner \
             and, for a fine-grained token, whose resource owner is this organization.",
        ),
        Reason::BranchUnprotected => (
            High,
            Missing,
            "the branch has no protection rule",
            "Add a branch protection rule that requires a pull request with at least one approving review, required \
             status checks, and no bypass for administrators. Rulesets are not read by this version: a branch that \
             only a ruleset protects is reported here too.",
        ),
        Reason::BranchMissing => (
            Medium,
            Misconfigured,
            "the branch does not exist",
            "Set `branch` in the configuration to the branch that is released from, or collect this repository with a \
             configuration of its own.",
        ),
        Reason::ReviewsNotRequired => (
            High,
            Misconfigured,
            "no approving review is required",
            "In the branch protection rule, require a pull request with at least 1 approval (2 recommended).",
        ),
        Reason::StatusChecksNotConfigured => (
            Medium,
            Misconfigured,
            "no status check is required",
            "In the branch protection rule, require status checks to pass and name at least one.",
        ),
        Reason::AdminsNotEnforced => (
            Medium,
            Misconfigured,
            "administrators may bypass the branch protection rule",
            "In the branch protection rule, turn on \"Do not allow bypassing the above settings\".",
        ),
        Reason::CodeownersMissing => (
            Medium,
            Missing,
            "there is no CODEOWNERS file",
            "Add .github/CODEOWNERS with a line `* @organization/team`. A file in docs/ is not counted.",
        ),
        Reason::CodeownersNoOwner => (
            Medium,
            Misconfigured,
            "the CODEOWNERS file assigns nobody",
            "Add at least one line with a user or team, beginning with a default rule: `* @organization/team`.",
        ),
        Reason::CodeownersNoDefaultRule => (
            Medium,
            Partial,
            "the CODEOWNERS file does not cover all files",
            "Add a default rule as the first line: `* @organization/team`.",
        ),
        Reason::CodeownersNotAFile => (
            Medium,
            Misconfigured,
            "CODEOWNERS is not a file",
            "Replace it with a plain file, at .github/CODEOWNERS.",
        ),
        Reason::CodeownersTooLarge => (
            Medium,
            Misconfigured,
            "the CODEOWNERS file is too large for the host to load",
            "Keep the file under 3 MB: the host ignores a larger one.",
        ),
        Reason::PermissionDenied => (
            Medium,
            Partial,
            "the token may not read this setting",
            match rule {
                Rule::TwoFactorRequired => "Collect with a token whose user is an organization owner.",
                Rule::CodeownersDefaultRule => {
                    "Give a fine-grained token `Contents: read` on this repository."
                }
                Rule::BranchProtection => {
                    "Branch protection is shown to repository administrators only: give a fine-grained token \
                     `Administration: read` on this repository, and let its user be an administrator of it."
                }
            },
        ),
        Reason::PlanLimit => (
            Medium,
            Partial,
            "the organization's plan does not offer branch protection here",
            "Upgrade the plan or make the repository public; until then nothing protects the branch.",
        ),
        Reason::SsoRequired => (
            Medium,
            Partial,
            "the token is not authorized for single sign-on",
            "Authorize the token for the organization's single sign-on, then collect again.",
        ),
        Reason::Blocked => (
            Low,
            Partial,
            "the host has blocked the repository",
            "Ask the host's support why the repository is blocked, or leave it out of `repos`.",
        ),
        Reason::NotFound => (
            Medium,
            Partial,
            "the repository was not found",
            "Check the name in `repos`, and that the token may see the repository.",
        ),
        Reason::HostError => (
            Medium,
            Partial,
            "the setting could not be read",
            "Collect again; the bundle's errors say what the host answered.",
        ),
        Reason::ExcludedByPolicy => (
            High,
            Partial,
            "the artifact held forbidden data and was left out",
            "Remove the secret from the place it was found in, revoke it, and collect again.",
        ),
        Reason::NoEvidence => (
            Medium,
            Partial,
            "the host did not tell the setting",
            "Look the setting up by hand; the host's answer left it out.",
        ),
    };
    Some(Advice { severity, category, title, remediation })
}

/// The checks that have a hint, most severe first, otherwise in the order of the checks.
pub fn ordered(checks: &[Check]) -> Vec<(&Check, Advice)> {
    let mut hints: Vec<(&Check, Advice)> =
        checks.iter().filter_map(|check| Some((check, advice(check)?))).collect();
    // Stable: equal severities keep the checks' own order, which is the specification's.
    hints.sort_by_key(|(_, advice)| rank(advice.severity));
    hints
}

fn rank(severity: Severity) -> u8 {
    match severity {
        Severity::Critical => 0,
        Severity::High => 1,
        Severity::Medium => 2,
        Severity::Low => 3,
        Severity::Info => 4,
    }
}
