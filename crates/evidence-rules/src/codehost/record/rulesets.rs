//! What rulesets require, where they apply, and who can bypass them.

use serde::{Deserialize, Serialize};

use crate::field::Field;
use crate::shape::{section, sections};

/// `repo_{owner}_{repo}_branch_rules.json`: what rulesets of every level require for the branch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BranchRules {
    /// The active rules, as the host lists them.
    pub rules: Vec<BranchRule>,
}

/// A rule of a ruleset, reduced to the judged fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BranchRule {
    /// The requirement, such as `pull_request`.
    #[serde(default, rename = "type", skip_serializing_if = "Field::is_absent")]
    pub kind: Field<String>,
    /// The judged parameters; absent for a rule of another type.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub parameters: Field<RuleParameters>,
    /// `Repository`, `Organization` or `Enterprise`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub ruleset_source_type: Field<String>,
    /// The owner of the ruleset.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub ruleset_source: Field<String>,
    /// The id of the ruleset.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub ruleset_id: Field<u64>,
}

/// `parameters` of a rule of a ruleset.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RuleParameters {
    /// The number of required approving reviews.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub required_approving_review_count: Field<u64>,
    /// Whether a new commit dismisses approvals.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub dismiss_stale_reviews_on_push: Field<bool>,
    /// Whether a code owner must review.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub require_code_owner_review: Field<bool>,
    /// Whether someone other than the last pusher must approve.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub require_last_push_approval: Field<bool>,
    /// The reviewers who must approve changes to some files.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub required_reviewers: Field<Vec<RequiredReviewer>>,
    /// Whether the branch must be up to date before merging.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub strict_required_status_checks_policy: Field<bool>,
    /// The required status checks.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub required_status_checks: Field<Vec<RulesetCheck>>,
    /// The required workflows.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub workflows: Field<Vec<Workflow>>,
}

/// One of `required_reviewers`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RequiredReviewer {
    /// The files, as patterns; `!` negates one.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub file_patterns: Field<Vec<String>>,
    /// The number of approvals; with 0 the reviewer is only asked.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub minimum_approvals: Field<u64>,
    /// The reviewer.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub reviewer: Field<Reviewer>,
}

/// `reviewer`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Reviewer {
    /// The id of the team.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub id: Field<u64>,
    /// `Team`.
    #[serde(default, rename = "type", skip_serializing_if = "Field::is_absent")]
    pub kind: Field<String>,
}

/// A status check that a ruleset requires.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RulesetCheck {
    /// The check's name.
    pub context: String,
    /// The app that must report it; absent for any.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub integration_id: Field<u64>,
}

/// A required workflow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Workflow {
    /// The path of the workflow file.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub path: Field<String>,
}

/// `repo_{owner}_{repo}_ruleset_{id}.json`: a ruleset, where it applies, and who can bypass it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ruleset {
    /// The ruleset's id.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub id: Field<u64>,
    /// Its name.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub name: Field<String>,
    /// What it applies to, such as `branch`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub target: Field<String>,
    /// `Repository`, `Organization` or `Enterprise`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub source_type: Field<String>,
    /// The owner of the ruleset.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub source: Field<String>,
    /// `active`, `evaluate` or `disabled`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub enforcement: Field<String>,
    /// Where it applies.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub conditions: Field<Conditions>,
    /// When it was created.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub created_at: Field<String>,
    /// When it was last changed.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub updated_at: Field<String>,
    /// Who can bypass it. The host omits this for users who cannot change the ruleset, which is not the same as an
    /// empty list.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub bypass_actors: Field<Vec<BypassActor>>,
    /// Whether the token's own user can bypass it: `always`, `pull_requests_only`, `never` or `exempt`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub current_user_can_bypass: Field<String>,
}

/// `conditions` of a ruleset.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Conditions {
    /// The branches.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub ref_name: Field<Patterns>,
    /// The repositories by name.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub repository_name: Field<Patterns>,
    /// The repositories by id.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub repository_id: Field<RepositoryIds>,
    /// The repositories by property.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub repository_property: Field<Properties>,
}

/// Names that are included unless they are excluded.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Patterns {
    /// The included names.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub include: Field<Vec<String>>,
    /// The excluded names.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub exclude: Field<Vec<String>>,
}

/// `repository_id`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RepositoryIds {
    /// The ids.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub repository_ids: Field<Vec<u64>>,
}

/// `repository_property`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Properties {
    /// The included properties.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub include: Field<Vec<Property>>,
    /// The excluded properties.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub exclude: Field<Vec<Property>>,
}

/// A property and its values.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Property {
    /// The property.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub name: Field<String>,
    /// The values.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub property_values: Field<Vec<String>>,
}

/// One of `bypass_actors`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BypassActor {
    /// The id of the team, app, user or role.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub actor_id: Field<i64>,
    /// `RepositoryRole`, `OrganizationAdmin`, `Team`, `Integration`, `DeployKey`, `User` or `EnterpriseOwner`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub actor_type: Field<String>,
    /// `always`, `pull_request` or `exempt`; absent means `always`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub bypass_mode: Field<String>,
}
