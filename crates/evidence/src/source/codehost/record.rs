//! The code host's artifacts: exactly the specification's fields.
//!
//! The host sends much more, but there is no field for it.

use serde::{Deserialize, Serialize};

use crate::json::{section, sections};
use crate::observation::Field;

/// `org_settings.json`: exactly the specification's fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OrganizationSettings {
    /// The organization's name.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub login: Field<String>,
    /// The organization's id.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub id: Field<u64>,
    /// Whether every member must use two factors.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub two_factor_requirement_enabled: Field<bool>,
    /// The base permission of members for every repository.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub default_repository_permission: Field<String>,
    /// Whether members may create repositories.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub members_can_create_repositories: Field<bool>,
    /// Whether members may create public repositories.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub members_can_create_public_repositories: Field<bool>,
}

/// `repo_{owner}_{repo}_branch_protection.json`: exactly the specification's fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BranchProtection {
    /// The URL of the call.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub url: Field<String>,
    /// The review rule; absent if no review is required.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub required_pull_request_reviews: Field<RequiredReviews>,
    /// The status-check rule; absent if no check is required.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub required_status_checks: Field<RequiredStatusChecks>,
    /// Whether the rule applies to administrators.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub enforce_admins: Field<EnforceAdmins>,
}

/// `required_pull_request_reviews`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RequiredReviews {
    /// Who may dismiss reviews.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub dismissal_restrictions: Field<Actors>,
    /// Whether a new commit dismisses reviews.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub dismiss_stale_reviews: Field<bool>,
    /// Whether a code owner must review.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub require_code_owner_reviews: Field<bool>,
    /// The number of required approving reviews.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub required_approving_review_count: Field<u64>,
    /// Who may merge without the required review.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub bypass_pull_request_allowances: Field<Actors>,
}

/// Users, teams and apps, reduced to names: the host sends whole profiles, which are not evidence.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Actors {
    /// Users.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub users: Field<Vec<UserName>>,
    /// Teams.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub teams: Field<Vec<SlugName>>,
    /// Apps.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub apps: Field<Vec<SlugName>>,
}

/// A user by login.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UserName {
    /// The login.
    pub login: String,
}

/// A team or app by slug.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SlugName {
    /// The slug.
    pub slug: String,
}

/// `required_status_checks`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RequiredStatusChecks {
    /// Whether the branch must be up to date before merging.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub strict: Field<bool>,
    /// The names of the required checks.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub contexts: Field<Vec<String>>,
    /// The newer form of the same list. Not a field of the artifact. A rule with checks only in this list still counts
    /// as configured, and the check's `actual` names them.
    #[serde(default, deserialize_with = "sections", skip_serializing)]
    pub checks: Field<Vec<StatusCheck>>,
}

/// A required status check.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct StatusCheck {
    /// The check's name.
    pub context: String,
}

/// `enforce_admins`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EnforceAdmins {
    /// The URL of the setting.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub url: Field<String>,
    /// Whether the rule applies to administrators.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub enabled: Field<bool>,
}

/// `repo_{owner}_{repo}_branch_rules.json`: what rulesets of every level require for the branch.
#[derive(Debug, Clone, Default, Serialize)]
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
    /// The required status checks.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub required_status_checks: Field<Vec<StatusCheck>>,
    /// The required workflows.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub workflows: Field<Vec<Workflow>>,
}

/// A required workflow.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Workflow {
    /// The path of the workflow file.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub path: Field<String>,
}

/// `repo_{owner}_{repo}_ruleset_{id}.json`: who can bypass a ruleset.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Ruleset {
    /// The ruleset's id.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub id: Field<u64>,
    /// Who can bypass it. The host omits this for users who cannot change the ruleset, which is not the same as an
    /// empty list.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub bypass_actors: Field<Vec<BypassActor>>,
    /// Whether the token's own user can bypass it: `always`, `pull_requests_only`, `never` or `exempt`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub current_user_can_bypass: Field<String>,
    /// `Repository`, `Organization` or `Enterprise`. Not a field of the artifact.
    #[serde(default, skip_serializing)]
    pub source_type: Field<String>,
    /// The owner of the ruleset. Not a field of the artifact.
    #[serde(default, skip_serializing)]
    pub source: Field<String>,
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

/// `repo_{owner}_{repo}_codeowners_errors.json`: the problems that the host finds in the CODEOWNERS file.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CodeownersErrors {
    /// The problems.
    #[serde(default, deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub errors: Field<Vec<CodeownersError>>,
}

/// One of `errors`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct CodeownersError {
    /// The line, from 1.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub line: Field<u64>,
    /// The column, from 1.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub column: Field<u64>,
    /// The kind of problem, such as `Unknown owner`.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub kind: Field<String>,
    /// The line's text, verbatim.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub source: Field<String>,
    /// The file.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub path: Field<String>,
}

/// `repo_{owner}_{repo}_codeowners.json`: exactly the specification's fields.
#[derive(Debug, Clone, Serialize)]
pub struct CodeownersFile {
    /// File name.
    pub name: String,
    /// Path in the repository.
    pub path: String,
    /// The file, base64 without line breaks.
    pub content: String,
    /// Always `base64`.
    pub encoding: &'static str,
    /// Size of the file in bytes.
    pub size: u64,
}
