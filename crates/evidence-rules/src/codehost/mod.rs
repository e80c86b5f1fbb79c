//! The code host's rules, and the pure functions that judge by them.
//!
//! Each rule has its own file and its own heading in the documentation. Nothing here sends a request.

pub mod branch_protection;
pub mod codeowners;
pub mod default_owners;
pub mod default_permission;
pub mod push_protection;
pub mod reason;
pub mod record;
pub mod secret_scanning;
pub mod security;
pub mod two_factor;
pub mod vulnerability_alerts;

pub use self::branch_protection::BRANCH_PROTECTION;
pub use self::default_owners::CODEOWNERS_DEFAULT_RULE;
pub use self::default_permission::DEFAULT_PERMISSION;
pub use self::push_protection::PUSH_PROTECTION;
pub use self::secret_scanning::SECRET_SCANNING;
pub use self::two_factor::TWO_FACTOR_REQUIRED;
pub use self::vulnerability_alerts::VULNERABILITY_ALERTS;

use self::branch_protection::BranchFacts;
use self::codeowners::OwnersFacts;
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
    ],
    reasons: reason::ALL,
};

/// The rules over the settings of an organization.
pub static OF_ORGANIZATION: &[&Judge<OrganizationSettings>] =
    &[&two_factor::JUDGE, &default_permission::JUDGE];

/// The rules over the security settings of a repository.
pub static OF_SECURITY: &[&Judge<SecurityFacts>] =
    &[&secret_scanning::JUDGE, &push_protection::JUDGE, &vulnerability_alerts::JUDGE];

/// The rules over the protection of a branch.
pub static OF_BRANCH: &[&Judge<BranchFacts>] = &[&branch_protection::JUDGE];

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

    /// `repo_{owner}_{repo}_branch_protection.json`
    pub static PROTECTION: ArtifactKind =
        ArtifactKind { name: "branch_protection", rules: &[&super::BRANCH_PROTECTION] };

    /// `repo_{owner}_{repo}_branch_rules.json`
    pub static BRANCH_RULES: ArtifactKind =
        ArtifactKind { name: "branch_rules", rules: &[&super::BRANCH_PROTECTION] };

    /// `repo_{owner}_{repo}_branch.json`
    pub static BRANCH: ArtifactKind = ArtifactKind { name: "branch", rules: &[&super::BRANCH_PROTECTION] };

    /// `repo_{owner}_{repo}_ruleset_{id}.json`
    pub static RULESET: ArtifactKind = ArtifactKind { name: "ruleset", rules: &[&super::BRANCH_PROTECTION] };

    /// `repo_{owner}_{repo}_codeowners_errors.json`
    pub static CODEOWNERS_ERRORS: ArtifactKind =
        ArtifactKind { name: "codeowners_errors", rules: &[&super::CODEOWNERS_DEFAULT_RULE] };

    /// `repo_{owner}_{repo}_codeowners.json`
    pub static CODEOWNERS: ArtifactKind =
        ArtifactKind { name: "codeowners", rules: &[&super::CODEOWNERS_DEFAULT_RULE] };

    /// `repo_{owner}_{repo}_security.json`
    pub static SECURITY: ArtifactKind = ArtifactKind {
        name: "security",
        rules: &[&super::SECRET_SCANNING, &super::PUSH_PROTECTION, &super::VULNERABILITY_ALERTS],
    };

    /// The part of `repo_{owner}_{repo}_security.json` that the host is asked for: an observation only if it was not read.
    pub static ALERTS: ArtifactKind =
        ArtifactKind { name: "vulnerability_alerts", rules: &[&super::VULNERABILITY_ALERTS] };

    /// Every kind.
    pub static ALL: &[&ArtifactKind] = &[
        &ORGANIZATION_SETTINGS,
        &PROTECTION,
        &BRANCH_RULES,
        &BRANCH,
        &RULESET,
        &CODEOWNERS_ERRORS,
        &CODEOWNERS,
        &SECURITY,
        &ALERTS,
    ];
}
