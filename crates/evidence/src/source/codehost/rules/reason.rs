//! Reasons shared by all checks of this source; those of one rule are next to it.

use evidence_bundle::document::Category::Partial;
use evidence_bundle::document::Severity::{High, Low, Medium};

use crate::rule::{Advice, Reason};

/// All reasons, in the order of the documentation.
pub static ALL: &[&Reason] = &[
    &PLAN_LIMIT,
    &SSO_REQUIRED,
    &POPULATION_INCOMPLETE,
    &BLOCKED,
    &ARCHIVED,
    &REPOSITORY_DISABLED,
    &EMPTY_REPOSITORY,
];

/// The organization's plan does not include the feature.
pub static PLAN_LIMIT: Reason = Reason {
    code: "plan_limit",
    advice: Some(Advice {
        severity: Medium,
        category: Partial,
        title: "the organization's plan does not offer branch protection here",
        remediation: "Upgrade the plan or make the repository public; until then the branch is unprotected.",
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

/// The organization has repositories that the host did not list.
pub static POPULATION_INCOMPLETE: Reason = Reason {
    code: "population_incomplete",
    advice: Some(Advice {
        severity: High,
        category: Partial,
        title: "the list of repositories is incomplete",
        remediation: "Give the token access to all repositories of the organization and authorize it for single \
                      sign-on, or name the repositories in `repos`.",
    }),
};

/// The repository is blocked.
pub static BLOCKED: Reason = Reason {
    code: "blocked",
    advice: Some(Advice {
        severity: Low,
        category: Partial,
        title: "the host has blocked the repository",
        remediation: "Ask the host's support why the repository is blocked, or add it to `exclude`.",
    }),
};

/// The repository is archived: nothing can change in it.
pub static ARCHIVED: Reason = Reason { code: "archived", advice: None };

/// The host has disabled the repository: its settings cannot be read, and no one can change it.
pub static REPOSITORY_DISABLED: Reason = Reason { code: "repository_disabled", advice: None };

/// The repository is empty: there is nothing to protect or to own.
pub static EMPTY_REPOSITORY: Reason = Reason { code: "empty_repository", advice: None };
