//! Reasons shared by all checks of this source; those of one rule are next to it.

use evidence_bundle::document::Category::Partial;
use evidence_bundle::document::Severity::{High, Medium};

use crate::rule::Reason;

/// All reasons, in the order of the documentation.
pub static ALL: &[&Reason] = &[
    &REGION_NOT_ENABLED,
    &ROLE_NOT_ASSUMED,
    &SERVICE_NOT_IN_REGION,
    &CLUSTER_NOT_LISTED,
    &ACCOUNT_ACCESS_KEYS_PRESENT_NOT_VISIBLE,
    &not_visible::PASSWORD_ENABLED,
    &not_visible::ACCESS_KEY_1_ACTIVE,
    &not_visible::ACCESS_KEY_1_LAST_ROTATED,
    &not_visible::ACCESS_KEY_1_LAST_USED_DATE,
    &not_visible::ACCESS_KEY_2_ACTIVE,
    &not_visible::ACCESS_KEY_2_LAST_ROTATED,
    &not_visible::ACCESS_KEY_2_LAST_USED_DATE,
];

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

/// A region does not know the service.
pub static SERVICE_NOT_IN_REGION: Reason =
    Reason::new("service_not_in_region", "Service not offered in this region");

/// An instance is a member of a cluster that is not in the list.
pub static CLUSTER_NOT_LISTED: Reason = Reason::new("cluster_not_listed", "Cluster of a database not listed")
    .advice(
        Medium,
        Partial,
        "Collect again: the provider's list has no cluster that the databases of this result belong to.",
    );

/// The summary does not say whether the root user has access keys.
pub static ACCOUNT_ACCESS_KEYS_PRESENT_NOT_VISIBLE: Reason = Reason::new(
    "account_access_keys_present_not_visible",
    "Access keys of the root user not reported",
)
.advice(
    High,
    Partial,
    "Check by hand whether the root user has access keys: the account's summary does not report them.",
);

/// Columns of the credential report that it does not have, or that hold a word without a known meaning.
pub mod not_visible {
    use super::{Medium, Partial, Reason};

    /// A reason for each column.
    macro_rules! columns {
        ($($name:ident = $column:literal;)+) => {
            $(
                #[doc = concat!("The report does not show `", $column, "`.")]
                pub static $name: Reason = Reason::new(
                    concat!($column, "_not_visible"),
                    concat!("`", $column, "` not in the credential report"),
                )
                .advice(
                    Medium,
                    Partial,
                    concat!("Check by hand what `", $column, "` would say: the credential report does not show it."),
                );
            )+
        };
    }

    columns! {
        PASSWORD_ENABLED = "password_enabled";
        PASSWORD_LAST_USED = "password_last_used";
        PASSWORD_LAST_CHANGED = "password_last_changed";
        MFA_ACTIVE = "mfa_active";
        ACCESS_KEY_1_ACTIVE = "access_key_1_active";
        ACCESS_KEY_1_LAST_ROTATED = "access_key_1_last_rotated";
        ACCESS_KEY_1_LAST_USED_DATE = "access_key_1_last_used_date";
        ACCESS_KEY_2_ACTIVE = "access_key_2_active";
        ACCESS_KEY_2_LAST_ROTATED = "access_key_2_last_rotated";
        ACCESS_KEY_2_LAST_USED_DATE = "access_key_2_last_used_date";
    }
}
