//! The reasons that only the code host's checks have, and what to do about each.

use evidence_bundle::document::Category::{Misconfigured, Missing, Partial};
use evidence_bundle::document::Severity::{Critical, High, Low, Medium};

use crate::rule::{Advice, Reason};

/// All of them, in the order of the documentation.
pub static ALL: &[&Reason] = &[
    &TWO_FACTOR_DISABLED,
    &TWO_FACTOR_NOT_VISIBLE,
    &BRANCH_UNPROTECTED,
    &BRANCH_MISSING,
    &REVIEWS_NOT_REQUIRED,
    &STATUS_CHECKS_NOT_CONFIGURED,
    &ADMINS_NOT_ENFORCED,
    &CODEOWNERS_MISSING,
    &CODEOWNERS_NO_OWNER,
    &CODEOWNERS_NO_DEFAULT_RULE,
    &CODEOWNERS_NOT_A_FILE,
    &CODEOWNERS_TOO_LARGE,
    &PLAN_LIMIT,
    &SSO_REQUIRED,
    &BLOCKED,
    &ARCHIVED,
];

/// The organization does not require two-factor authentication.
pub static TWO_FACTOR_DISABLED: Reason = Reason {
    code: "two_factor_disabled",
    advice: Some(Advice {
        severity: Critical,
        category: Misconfigured,
        title: "two-factor authentication is not required",
        remediation: "In the organization's settings, under Authentication security, require two-factor authentication for \
             everyone in the organization.",
    }),
};

/// The host does not show the setting to this token.
pub static TWO_FACTOR_NOT_VISIBLE: Reason = Reason {
    code: "two_factor_not_visible",
    advice: Some(Advice {
        severity: High,
        category: Partial,
        title: "the two-factor setting is not visible to this token",
        remediation: "The host shows it to organization owners only: collect with a token whose user is an organization owner \
             and, for a fine-grained token, whose resource owner is this organization.",
    }),
};

/// The branch has no protection rule.
pub static BRANCH_UNPROTECTED: Reason = Reason {
    code: "branch_unprotected",
    advice: Some(Advice {
        severity: High,
        category: Missing,
        title: "the branch has no protection rule",
        remediation: "Add a branch protection rule that requires a pull request with at least one approving review, required \
             status checks, and no bypass for administrators. Rulesets are not read by this version: a branch that \
             only a ruleset protects is reported here too.",
    }),
};

/// The repository has no branch of this name.
pub static BRANCH_MISSING: Reason = Reason {
    code: "branch_missing",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "the branch does not exist",
        remediation: "Set `branch` in the configuration to the branch that is released from, or collect this repository with a \
             configuration of its own.",
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
        title: "administrators may bypass the branch protection rule",
        remediation: "In the branch protection rule, turn on \"Do not allow bypassing the above settings\".",
    }),
};

/// There is no CODEOWNERS file.
pub static CODEOWNERS_MISSING: Reason = Reason {
    code: "codeowners_missing",
    advice: Some(Advice {
        severity: Medium,
        category: Missing,
        title: "there is no CODEOWNERS file",
        remediation: "Add .github/CODEOWNERS with a line `* @organization/team`. A file in docs/ is not counted.",
    }),
};

/// The CODEOWNERS file assigns nobody.
pub static CODEOWNERS_NO_OWNER: Reason = Reason {
    code: "codeowners_no_owner",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "the CODEOWNERS file assigns nobody",
        remediation: "Add at least one line with a user or team, beginning with a default rule: `* @organization/team`.",
    }),
};

/// The CODEOWNERS file has no default rule in force.
pub static CODEOWNERS_NO_DEFAULT_RULE: Reason = Reason {
    code: "codeowners_no_default_rule",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the CODEOWNERS file does not cover all files",
        remediation: "Add a default rule as the first line: `* @organization/team`.",
    }),
};

/// Something else than a file has the name CODEOWNERS.
pub static CODEOWNERS_NOT_A_FILE: Reason = Reason {
    code: "codeowners_not_a_file",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "CODEOWNERS is not a file",
        remediation: "Replace it with a plain file, at .github/CODEOWNERS.",
    }),
};

/// The CODEOWNERS file is so large that the host does not load it.
pub static CODEOWNERS_TOO_LARGE: Reason = Reason {
    code: "codeowners_too_large",
    advice: Some(Advice {
        severity: Medium,
        category: Misconfigured,
        title: "the CODEOWNERS file is too large for the host to load",
        remediation: "Keep the file under 3 MB: the host ignores a larger one.",
    }),
};

/// The organization's plan does not include the feature.
pub static PLAN_LIMIT: Reason = Reason {
    code: "plan_limit",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the organization's plan does not offer branch protection here",
        remediation: "Upgrade the plan or make the repository public; until then nothing protects the branch.",
    }),
};

/// The token is not authorized for the organization's single sign-on.
pub static SSO_REQUIRED: Reason = Reason {
    code: "sso_required",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the token is not authorized for single sign-on",
        remediation: "Authorize the token for the organization's single sign-on, then collect again.",
    }),
};

/// The repository is blocked.
pub static BLOCKED: Reason = Reason {
    code: "blocked",
    advice: Some(Advice {
        severity: Low,
        category: Partial,
        title: "the host has blocked the repository",
        remediation: "Ask the host's support why the repository is blocked, or leave it out of `repos`.",
    }),
};

/// The repository is archived: nothing can change in it.
pub static ARCHIVED: Reason = Reason { code: "archived", advice: None };
