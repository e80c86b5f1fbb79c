//! The scopes of domain-wide delegation, and the administrator privileges they require, under the provider's names.
//!
//! Every scope ends in `readonly`.

use evidence_rules::altcloud::artifact::{
    ADMIN_ROLES, ADMINISTRATORS_EFFECTIVE, POLICIES, TWO_STEP, USER_ACTIVITY, USER_LIFECYCLE,
};
use evidence_rules::rule::Rule;

/// A scope delegated to the service account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum OAuthScope {
    /// The users.
    Users,
    /// The administrator roles and their assignments.
    Roles,
    /// The log of administrators' actions.
    Reports,
    /// The members of groups.
    Members,
    /// The organizational units.
    Units,
    /// The policies.
    Policies,
}

impl OAuthScope {
    /// Every scope, in the order of messages and documents.
    pub(crate) const ALL: &'static [OAuthScope] = &[
        OAuthScope::Users,
        OAuthScope::Roles,
        OAuthScope::Reports,
        OAuthScope::Members,
        OAuthScope::Units,
        OAuthScope::Policies,
    ];

    /// The scope's URL, for requests and for the admin console.
    pub(crate) fn url(self) -> &'static str {
        match self {
            OAuthScope::Users => "https://www.googleapis.com/auth/admin.directory.user.readonly",
            OAuthScope::Roles => "https://www.googleapis.com/auth/admin.directory.rolemanagement.readonly",
            OAuthScope::Reports => "https://www.googleapis.com/auth/admin.reports.audit.readonly",
            OAuthScope::Members => "https://www.googleapis.com/auth/admin.directory.group.member.readonly",
            OAuthScope::Units => "https://www.googleapis.com/auth/admin.directory.orgunit.readonly",
            OAuthScope::Policies => "https://www.googleapis.com/auth/cloud-identity.policies.readonly",
        }
    }

    /// The last part of the URL, for people.
    pub(crate) fn name(self) -> &'static str {
        match self {
            OAuthScope::Users => "admin.directory.user.readonly",
            OAuthScope::Roles => "admin.directory.rolemanagement.readonly",
            OAuthScope::Reports => "admin.reports.audit.readonly",
            OAuthScope::Members => "admin.directory.group.member.readonly",
            OAuthScope::Units => "admin.directory.orgunit.readonly",
            OAuthScope::Policies => "cloud-identity.policies.readonly",
        }
    }

    /// The name without the parts that all scopes share.
    pub(crate) fn short(self) -> &'static str {
        match self {
            OAuthScope::Users => "directory.user",
            OAuthScope::Roles => "directory.rolemanagement",
            OAuthScope::Reports => "reports.audit",
            OAuthScope::Members => "directory.group.member",
            OAuthScope::Units => "directory.orgunit",
            OAuthScope::Policies => "cloud-identity.policies",
        }
    }

    /// What the scope shows.
    pub(crate) fn shows(self) -> &'static str {
        match self {
            OAuthScope::Users => "users",
            OAuthScope::Roles => "administrator roles",
            OAuthScope::Reports => "administrators' activities",
            OAuthScope::Members => "members of groups",
            OAuthScope::Units => "organizational units",
            OAuthScope::Policies => "policies",
        }
    }

    /// The privilege that the administrator needs.
    pub(crate) fn privilege(self) -> &'static str {
        match self {
            OAuthScope::Users => "Admin API, Users: Read",
            OAuthScope::Roles => "permission to read administrator roles, which super administrators have",
            OAuthScope::Reports => "Reports",
            OAuthScope::Members => "Admin API, Groups: Read",
            OAuthScope::Units => "Admin API, Organization units: Read",
            OAuthScope::Policies => "the super administrator role",
        }
    }

    /// Whether `rule` needs the scope.
    fn serves(self, rule: &Rule) -> bool {
        match self {
            OAuthScope::Users => {
                let kinds = [&TWO_STEP, &ADMIN_ROLES, &USER_ACTIVITY, &ADMINISTRATORS_EFFECTIVE, &POLICIES];
                kinds.iter().any(|kind| kind.serves(rule.code))
            }
            OAuthScope::Roles => {
                [&ADMIN_ROLES, &ADMINISTRATORS_EFFECTIVE].iter().any(|kind| kind.serves(rule.code))
            }
            OAuthScope::Members => {
                [&ADMINISTRATORS_EFFECTIVE, &POLICIES].iter().any(|kind| kind.serves(rule.code))
            }
            OAuthScope::Units | OAuthScope::Policies => POLICIES.serves(rule.code),
            OAuthScope::Reports => USER_LIFECYCLE.serves(rule.code),
        }
    }

    /// The scopes that `rules` need; no other is requested.
    pub(crate) fn needed(rules: &[&'static Rule]) -> Vec<OAuthScope> {
        let needed = |scope: &OAuthScope| rules.iter().any(|rule| scope.serves(rule));
        OAuthScope::ALL.iter().copied().filter(needed).collect()
    }
}

/// The scopes, formatted for an assertion.
pub(crate) fn joined(scopes: &[OAuthScope], separator: &str) -> String {
    scopes.iter().map(|scope| scope.url()).collect::<Vec<_>>().join(separator)
}

/// The scopes, formatted for documents.
pub(crate) fn names(scopes: &[OAuthScope]) -> String {
    scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use evidence_rules::altcloud::{
        ADMINISTRATORS, ADMINISTRATORS_BY_GROUP, INACTIVE_USERS, RECOVERY_OFF, TWO_STEP_VERIFICATION,
        USER_LIFECYCLE_LOG,
    };

    use super::*;

    #[test]
    fn only_what_the_rules_need_is_asked_for_and_nothing_that_writes() {
        let first = [OAuthScope::Users, OAuthScope::Roles, OAuthScope::Reports];
        let by_group = [OAuthScope::Users, OAuthScope::Roles, OAuthScope::Members];
        let policies = [OAuthScope::Users, OAuthScope::Members, OAuthScope::Units, OAuthScope::Policies];
        let table: [(&[&Rule], &[OAuthScope]); 8] = [
            (&[&RECOVERY_OFF], &policies),
            (&[], &[]),
            (&[&TWO_STEP_VERIFICATION], &[OAuthScope::Users]),
            (&[&INACTIVE_USERS], &[OAuthScope::Users]),
            (&[&ADMINISTRATORS], &[OAuthScope::Users, OAuthScope::Roles]),
            (&[&USER_LIFECYCLE_LOG], &[OAuthScope::Reports]),
            (&[&ADMINISTRATORS, &USER_LIFECYCLE_LOG, &TWO_STEP_VERIFICATION], &first),
            (&[&ADMINISTRATORS_BY_GROUP], &by_group),
        ];
        for (rules, scopes) in table {
            assert_eq!(OAuthScope::needed(rules), scopes, "{rules:?}");
        }
        for scope in OAuthScope::ALL {
            assert!(scope.url().ends_with(".readonly"));
            assert!(scope.url().ends_with(scope.name()));
            assert!(scope.name().ends_with(&format!("{}.readonly", scope.short())));
        }
    }
}
