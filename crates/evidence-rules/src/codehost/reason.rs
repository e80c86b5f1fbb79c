//! Reasons shared by all checks of this source; those of one rule are next to it.

use evidence_bundle::document::Category::Partial;
use evidence_bundle::document::Severity::{High, Low, Medium};

use crate::rule::Reason;

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
pub static PLAN_LIMIT: Reason = Reason::new("plan_limit", "Not available on the organization's plan").advice(
    Medium,
    Partial,
    "Upgrade the plan or make the repository public; until then the branch is unprotected.",
);

/// The token is not authorized for the organization's single sign-on.
pub static SSO_REQUIRED: Reason = Reason::new("sso_required", "Token not authorized for single sign-on")
    .advice(
        Medium,
        Partial,
        "Authorize the token for the organization's single sign-on, then collect again.",
    );

/// The organization has repositories that the host did not list.
pub static POPULATION_INCOMPLETE: Reason = Reason::new("population_incomplete", "List incomplete").advice(
    High,
    Partial,
    "Give the token access to all repositories and members of the organization and authorize it for single \
                      sign-on, or name the repositories in `repos`.",
);

/// The repository is blocked.
pub static BLOCKED: Reason = Reason::new("blocked", "Repository blocked by the host").advice(
    Low,
    Partial,
    "Ask the host's support why the repository is blocked, or add it to `exclude`.",
);

/// The repository is archived: nothing can change in it.
pub static ARCHIVED: Reason = Reason::new("archived", "Repository archived");

/// The host has disabled the repository: its settings cannot be read, and no one can change it.
pub static REPOSITORY_DISABLED: Reason =
    Reason::new("repository_disabled", "Repository disabled by the host");

/// The repository is empty: there is nothing to protect or to own.
pub static EMPTY_REPOSITORY: Reason = Reason::new("empty_repository", "Repository empty");
