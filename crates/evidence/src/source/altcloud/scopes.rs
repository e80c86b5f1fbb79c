//! What is asked of the provider, in its own words: the scopes of domain-wide delegation, and the privileges of the
//! administrator behind them.
//!
//! All of them end in `readonly`; there is no other here.

use super::rules::{ADMINISTRATORS, TWO_STEP_VERIFICATION, USER_LIFECYCLE_LOG};
use crate::rule::Rule;

/// A permission that is delegated to the service account.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Scope {
    /// The users.
    Users,
    /// The administrator roles and who has them.
    Roles,
    /// The log of administrators' actions.
    Reports,
}

impl Scope {
    /// Every scope, in the order of messages and documents.
    pub(super) const ALL: &'static [Scope] = &[Scope::Users, Scope::Roles, Scope::Reports];

    /// Its address: what is asked for and what is pasted into the admin console.
    pub(super) fn url(self) -> &'static str {
        match self {
            Scope::Users => "https://www.googleapis.com/auth/admin.directory.user.readonly",
            Scope::Roles => "https://www.googleapis.com/auth/admin.directory.rolemanagement.readonly",
            Scope::Reports => "https://www.googleapis.com/auth/admin.reports.audit.readonly",
        }
    }

    /// Its last part, for people.
    pub(super) fn name(self) -> &'static str {
        match self {
            Scope::Users => "admin.directory.user.readonly",
            Scope::Roles => "admin.directory.rolemanagement.readonly",
            Scope::Reports => "admin.reports.audit.readonly",
        }
    }

    /// The same without what all of them have in common.
    pub(super) fn short(self) -> &'static str {
        match self {
            Scope::Users => "directory.user",
            Scope::Roles => "directory.rolemanagement",
            Scope::Reports => "reports.audit",
        }
    }

    /// What it shows.
    pub(super) fn shows(self) -> &'static str {
        match self {
            Scope::Users => "users",
            Scope::Roles => "administrator roles",
            Scope::Reports => "administrators' activities",
        }
    }

    /// What the administrator needs for it.
    pub(super) fn privilege(self) -> &'static str {
        match self {
            Scope::Users => "Admin API, Users: Read",
            Scope::Roles => "reading administrator roles, as a super administrator may",
            Scope::Reports => "Reports",
        }
    }

    /// Whether `rule` needs it.
    fn serves(self, rule: &Rule) -> bool {
        match self {
            Scope::Users => *rule == TWO_STEP_VERIFICATION || *rule == ADMINISTRATORS,
            Scope::Roles => *rule == ADMINISTRATORS,
            Scope::Reports => *rule == USER_LIFECYCLE_LOG,
        }
    }

    /// The scopes that `rules` need: no other is asked for.
    pub(super) fn needed(rules: &[&'static Rule]) -> Vec<Scope> {
        let needed = |scope: &Scope| rules.iter().any(|rule| scope.serves(rule));
        Scope::ALL.iter().copied().filter(needed).collect()
    }
}

/// Scopes as an assertion has them.
pub(super) fn joined(scopes: &[Scope], separator: &str) -> String {
    scopes.iter().map(|scope| scope.url()).collect::<Vec<_>>().join(separator)
}

/// Scopes for documents.
pub(super) fn names(scopes: &[Scope]) -> String {
    scopes.iter().map(|scope| scope.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_rules_need_is_asked_for_and_nothing_that_writes() {
        let table: [(&[&Rule], &[Scope]); 5] = [
            (&[], &[]),
            (&[&TWO_STEP_VERIFICATION], &[Scope::Users]),
            (&[&ADMINISTRATORS], &[Scope::Users, Scope::Roles]),
            (&[&USER_LIFECYCLE_LOG], &[Scope::Reports]),
            (&[&ADMINISTRATORS, &USER_LIFECYCLE_LOG, &TWO_STEP_VERIFICATION], Scope::ALL),
        ];
        for (rules, scopes) in table {
            assert_eq!(Scope::needed(rules), scopes, "{rules:?}");
        }
        for scope in Scope::ALL {
            assert!(scope.url().ends_with(".readonly"));
            assert!(scope.url().ends_with(scope.name()));
            assert_eq!(scope.name(), format!("admin.{}.readonly", scope.short()));
        }
    }
}
