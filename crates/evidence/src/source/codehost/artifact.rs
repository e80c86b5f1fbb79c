//! The kinds of artifacts, and the rules that use each.

use crate::observation::ArtifactKind;
use evidence_rules::codehost::{BRANCH_PROTECTION, CODEOWNERS_DEFAULT_RULE, TWO_FACTOR_REQUIRED};

/// `org_settings.json`
pub(super) static ORGANIZATION_SETTINGS: ArtifactKind =
    ArtifactKind { name: "org_settings", rules: &[&TWO_FACTOR_REQUIRED] };

/// `repo_{owner}_{repo}_branch_protection.json`
pub(super) static PROTECTION: ArtifactKind =
    ArtifactKind { name: "branch_protection", rules: &[&BRANCH_PROTECTION] };

/// `repo_{owner}_{repo}_branch_rules.json`
pub(super) static BRANCH_RULES: ArtifactKind =
    ArtifactKind { name: "branch_rules", rules: &[&BRANCH_PROTECTION] };

/// `repo_{owner}_{repo}_branch.json`
pub(super) static BRANCH: ArtifactKind = ArtifactKind { name: "branch", rules: &[&BRANCH_PROTECTION] };

/// `repo_{owner}_{repo}_ruleset_{id}.json`
pub(super) static RULESET: ArtifactKind = ArtifactKind { name: "ruleset", rules: &[&BRANCH_PROTECTION] };

/// `repo_{owner}_{repo}_codeowners_errors.json`
pub(super) static CODEOWNERS_ERRORS: ArtifactKind =
    ArtifactKind { name: "codeowners_errors", rules: &[&CODEOWNERS_DEFAULT_RULE] };

/// `repo_{owner}_{repo}_codeowners.json`
pub(super) static CODEOWNERS: ArtifactKind =
    ArtifactKind { name: "codeowners", rules: &[&CODEOWNERS_DEFAULT_RULE] };
