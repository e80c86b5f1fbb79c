//! Reasons shared by all checks of this source; those of one rule are next to it.

use evidence_bundle::document::Category::Partial;
use evidence_bundle::document::Severity::Medium;

use crate::rule::Reason;

/// All reasons, in the order of the documentation.
pub static ALL: &[&Reason] = &[&REGION_NOT_ENABLED, &ROLE_NOT_ASSUMED];

/// The account's home region knows the credentials, but this region does not.
pub static REGION_NOT_ENABLED: Reason =
    Reason::new("region_not_enabled", "Region not enabled for these credentials").advice(
        Medium,
        Partial,
        "Enable the region for the account, or remove it from `regions`. If it was enabled minutes \
                      ago, collect again later.",
    );

/// The provider refuses the role of a configured account.
pub static ROLE_NOT_ASSUMED: Reason = Reason::new("role_not_assumed", "Role in the account not assumed")
    .advice(
        Medium,
        Partial,
        "Check `role_arn` and `external_id` of the account: the role's trust policy must name the user or \
                      role of the credentials, which needs `sts:AssumeRole` on the role.",
    );
