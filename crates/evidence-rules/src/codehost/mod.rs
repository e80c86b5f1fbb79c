//! The code host's rules, and the pure functions that judge by them.
//!
//! Each rule has its own file and its own heading in the documentation. Nothing here sends a request.

pub mod branch_protection;
pub mod changes;
pub mod changes_approved;
pub mod codeowners;
pub mod default_owners;
pub mod default_permission;
pub mod members_two_factor;
pub mod no_direct_push;
pub mod owners_count;
pub mod people;
pub mod push_protection;
pub mod reason;
pub mod record;
pub mod secret_scanning;
pub mod security;
pub mod two_factor;
pub mod vulnerabilities_in_time;
pub mod vulnerability_alerts;

pub use self::branch_protection::BRANCH_PROTECTION;
pub use self::branch_protection::history::HISTORY_PROTECTED;
pub use self::branch_protection::stale_approvals::STALE_APPROVALS_DISMISSED;
pub use self::changes_approved::CHANGES_APPROVED;
pub use self::default_owners::CODEOWNERS_DEFAULT_RULE;
pub use self::default_permission::DEFAULT_PERMISSION;
pub use self::members_two_factor::MEMBERS_TWO_FACTOR;
pub use self::no_direct_push::NO_DIRECT_PUSH;
pub use self::owners_count::OWNERS_COUNT;
pub use self::push_protection::PUSH_PROTECTION;
pub use self::secret_scanning::SECRET_SCANNING;
pub use self::two_factor::TWO_FACTOR_REQUIRED;
pub use self::vulnerabilities_in_time::VULNERABILITIES_IN_TIME;
pub use self::vulnerability_alerts::VULNERABILITY_ALERTS;

use self::branch_protection::BranchFacts;
use self::changes::ChangesFacts;
use self::codeowners::OwnersFacts;
use self::people::People;
use self::record::OrganizationSettings;
use self::security::SecurityFacts;
use crate::rule::Judge;
use crate::source_rules::SourceRules;

/// The rules and reasons of this source.
pub static RULES: SourceRules = SourceRules {
    source: "codehost",
    kinds: artifact::ALL,
    rules: &[
        &TWO_FACTOR_REQUIRED,
        &CODEOWNERS_DEFAULT_RULE,
        &BRANCH_PROTECTION,
        &DEFAULT_PERMISSION,
        &SECRET_SCANNING,
        &PUSH_PROTECTION,
        &VULNERABILITY_ALERTS,
        &HISTORY_PROTECTED,
        &STALE_APPROVALS_DISMISSED,
        &MEMBERS_TWO_FACTOR,
        &OWNERS_COUNT,
        &CHANGES_APPROVED,
        &NO_DIRECT_PUSH,
        &VULNERABILITIES_IN_TIME,
    ],
    reasons: reason::ALL,
};

/// The rules over the settings of an organization.
pub static OF_ORGANIZATION: &[&Judge<OrganizationSettings>] =
    &[&two_factor::JUDGE, &default_permission::JUDGE];

/// The rules over the people of an organization.
pub static OF_PEOPLE: &[&Judge<People>] = &[&members_two_factor::JUDGE, &owners_count::JUDGE];

/// The rules over the security settings of a repository.
pub static OF_SECURITY: &[&Judge<SecurityFacts>] = &[
    &secret_scanning::JUDGE,
    &push_protection::JUDGE,
    &vulnerability_alerts::JUDGE,
    &vulnerabilities_in_time::JUDGE,
];

/// The rules over the protection of a branch.
pub static OF_BRANCH: &[&Judge<BranchFacts>] = &[
    &branch_protection::JUDGE,
    &branch_protection::history::JUDGE,
    &branch_protection::stale_approvals::JUDGE,
];

/// The rules over the changes to a branch.
pub static OF_CHANGES: &[&Judge<ChangesFacts>] = &[&changes_approved::JUDGE, &no_direct_push::JUDGE];

/// The rules over the CODEOWNERS file of a repository.
pub static OF_OWNERS: &[&Judge<OwnersFacts>] = &[&default_owners::JUDGE];

/// The kinds of artifacts, and the rules that use each.
pub mod artifact {
    use crate::inspection::ArtifactKind;

    /// `org_settings.json`
    pub static ORGANIZATION_SETTINGS: ArtifactKind = ArtifactKind {
        name: "org_settings",
        rules: &[&super::TWO_FACTOR_REQUIRED, &super::DEFAULT_PERMISSION],
    };

    /// `people.json`
    pub static PEOPLE: ArtifactKind =
        ArtifactKind { name: "people", rules: &[&super::MEMBERS_TWO_FACTOR, &super::OWNERS_COUNT] };

    /// The rules over the protection of a branch.
    static OF_PROTECTION: &[&crate::rule::Rule] =
        &[&super::BRANCH_PROTECTION, &super::HISTORY_PROTECTED, &super::STALE_APPROVALS_DISMISSED];

    /// `repo_{owner}_{repo}_branch_protection.json`
    pub static PROTECTION: ArtifactKind = ArtifactKind { name: "branch_protection", rules: OF_PROTECTION };

    /// `repo_{owner}_{repo}_branch_history.json`
    pub static BRANCH_HISTORY: ArtifactKind = ArtifactKind {
        name: "branch_history",
        rules: &[&super::HISTORY_PROTECTED, &super::STALE_APPROVALS_DISMISSED],
    };

    /// `repo_{owner}_{repo}_branch_rules.json`
    pub static BRANCH_RULES: ArtifactKind = ArtifactKind { name: "branch_rules", rules: OF_PROTECTION };

    /// `repo_{owner}_{repo}_branch.json`
    pub static BRANCH: ArtifactKind = ArtifactKind { name: "branch", rules: OF_PROTECTION };

    /// `repo_{owner}_{repo}_ruleset_{id}.json`
    pub static RULESET: ArtifactKind = ArtifactKind { name: "ruleset", rules: OF_PROTECTION };

    /// `repo_{owner}_{repo}_codeowners_errors.json`
    pub static CODEOWNERS_ERRORS: ArtifactKind =
        ArtifactKind { name: "codeowners_errors", rules: &[&super::CODEOWNERS_DEFAULT_RULE] };

    /// `repo_{owner}_{repo}_codeowners.json`
    pub static CODEOWNERS: ArtifactKind =
        ArtifactKind { name: "codeowners", rules: &[&super::CODEOWNERS_DEFAULT_RULE] };

    /// `repo_{owner}_{repo}_security.json`
    pub static SECURITY: ArtifactKind = ArtifactKind {
        name: "security",
        rules: &[
            &super::SECRET_SCANNING,
            &super::PUSH_PROTECTION,
            &super::VULNERABILITY_ALERTS,
            &super::VULNERABILITIES_IN_TIME,
        ],
    };

    /// The part of `repo_{owner}_{repo}_security.json` that the host is asked for: an observation only if it was not read.
    pub static ALERTS: ArtifactKind = ArtifactKind {
        name: "vulnerability_alerts",
        rules: &[&super::VULNERABILITY_ALERTS, &super::VULNERABILITIES_IN_TIME],
    };

    /// `open_alerts.json`: of all repositories; those of each are judged with its security settings.
    pub static OPEN_ALERTS: ArtifactKind =
        ArtifactKind { name: "open_alerts", rules: &[&super::VULNERABILITIES_IN_TIME] };

    /// `changes_total.json`: what the host counts of all repositories, beside which each list stands.
    pub static CHANGES_TOTAL: ArtifactKind =
        ArtifactKind { name: "changes_total", rules: &[&super::CHANGES_APPROVED] };

    /// `repo_{owner}_{repo}_changes.json`
    pub static CHANGES: ArtifactKind =
        ArtifactKind { name: "changes", rules: &[&super::CHANGES_APPROVED, &super::NO_DIRECT_PUSH] };

    /// The pull requests in `repo_{owner}_{repo}_changes.json`: an observation only if they were not read.
    pub static MERGED_CHANGES: ArtifactKind =
        ArtifactKind { name: "merged_changes", rules: &[&super::CHANGES_APPROVED] };

    /// The activity in `repo_{owner}_{repo}_changes.json`: an observation only if it was not read.
    pub static BRANCH_ACTIVITY: ArtifactKind =
        ArtifactKind { name: "branch_activity", rules: &[&super::NO_DIRECT_PUSH] };

    /// Every kind.
    pub static ALL: &[&ArtifactKind] = &[
        &ORGANIZATION_SETTINGS,
        &PEOPLE,
        &PROTECTION,
        &BRANCH_HISTORY,
        &BRANCH_RULES,
        &BRANCH,
        &RULESET,
        &CODEOWNERS_ERRORS,
        &CODEOWNERS,
        &SECURITY,
        &ALERTS,
        &CHANGES_TOTAL,
        &CHANGES,
        &MERGED_CHANGES,
        &BRANCH_ACTIVITY,
        &OPEN_ALERTS,
    ];
}
