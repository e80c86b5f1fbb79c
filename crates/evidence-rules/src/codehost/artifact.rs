//! The kinds of artifacts, and the rules that use each.

use crate::codehost::branch_protection::BRANCH_PROTECTION;
use crate::codehost::default_owners::CODEOWNERS_DEFAULT_RULE;
use crate::codehost::two_factor::TWO_FACTOR_REQUIRED;
use crate::inspection::ArtifactKind;

/// `org_settings.json`
pub static ORGANIZATION_SETTINGS: ArtifactKind =
    ArtifactKind { name: "org_settings", rules: &[&TWO_FACTOR_REQUIRED] };

/// `repo_{owner}_{repo}_branch_protection.json`
pub static PROTECTION: ArtifactKind =
    ArtifactKind { name: "branch_protection", rules: &[&BRANCH_PROTECTION] };

/// `repo_{owner}_{repo}_branch_rules.json`
pub static BRANCH_RULES: ArtifactKind = ArtifactKind { name: "branch_rules", rules: &[&BRANCH_PROTECTION] };

/// `repo_{owner}_{repo}_branch.json`
pub static BRANCH: ArtifactKind = ArtifactKind { name: "branch", rules: &[&BRANCH_PROTECTION] };

/// `repo_{owner}_{repo}_ruleset_{id}.json`
pub static RULESET: ArtifactKind = ArtifactKind { name: "ruleset", rules: &[&BRANCH_PROTECTION] };

/// `repo_{owner}_{repo}_codeowners_errors.json`
pub static CODEOWNERS_ERRORS: ArtifactKind =
    ArtifactKind { name: "codeowners_errors", rules: &[&CODEOWNERS_DEFAULT_RULE] };

/// `repo_{owner}_{repo}_codeowners.json`
pub static CODEOWNERS: ArtifactKind = ArtifactKind { name: "codeowners", rules: &[&CODEOWNERS_DEFAULT_RULE] };

/// Every kind.
pub static ALL: &[&ArtifactKind] =
    &[&ORGANIZATION_SETTINGS, &PROTECTION, &BRANCH_RULES, &BRANCH, &RULESET, &CODEOWNERS_ERRORS, &CODEOWNERS];
