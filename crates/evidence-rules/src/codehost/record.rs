//! The code host's artifacts: exactly the specification's fields.
//!
//! The host sends much more, but there is no field for it.

mod rulesets;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::field::Field;
use crate::shape::{section, sections};

pub use self::rulesets::{
    BranchRule, BranchRules, BypassActor, Conditions, Patterns, Properties, Property, RepositoryIds,
    RequiredReviewer, Reviewer, RuleParameters, Ruleset, RulesetCheck, Workflow,
};

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
    /// Whether force pushes are allowed. Not a field of the artifact, as the following one: see [`BranchHistory`].
    #[serde(default, deserialize_with = "section", skip_serializing)]
    pub allow_force_pushes: Field<Switch>,
    /// Whether the branch may be deleted.
    #[serde(default, deserialize_with = "section", skip_serializing)]
    pub allow_deletions: Field<Switch>,
}

/// `repo_{owner}_{repo}_branch_history.json`: what a classic rule says of the branch's history.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct BranchHistory {
    /// Whether force pushes are allowed.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub allow_force_pushes: Field<Switch>,
    /// Whether the branch may be deleted.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub allow_deletions: Field<Switch>,
    /// The review rule, as far as it is about pushes.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub required_pull_request_reviews: Field<LastPush>,
}

/// `required_pull_request_reviews`
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct LastPush {
    /// Whether someone other than the last pusher must approve.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub require_last_push_approval: Field<bool>,
}

/// A setting that is on or off.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Switch {
    /// Whether it is on.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub enabled: Field<bool>,
}

impl BranchHistory {
    /// What a classic rule says.
    pub fn of(protection: &BranchProtection) -> BranchHistory {
        let last = |reviews: RequiredReviews| LastPush {
            require_last_push_approval: reviews.require_last_push_approval,
        };
        BranchHistory {
            allow_force_pushes: protection.allow_force_pushes.clone(),
            allow_deletions: protection.allow_deletions.clone(),
            required_pull_request_reviews: protection.required_pull_request_reviews.clone().map(last),
        }
    }
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
    /// Whether someone other than the last pusher must approve. Not a field of the artifact: see [`BranchHistory`].
    #[serde(default, skip_serializing)]
    pub require_last_push_approval: Field<bool>,
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

/// `repo_{owner}_{repo}_branch.json`: whether a classic rule protects the branch, for those who may not see the rule.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BranchState {
    /// The branch.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub name: Field<String>,
    /// Whether a classic rule or a ruleset of any kind applies.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub protected: Field<bool>,
    /// The classic rule alone; older servers omit it.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub protection: Field<ClassicState>,
    /// Its addresses, which show what the answer is about. Not a field of the artifact.
    #[serde(default, rename = "_links", skip_serializing)]
    pub links: Option<Links>,
}

/// `_links` of a branch.
#[derive(Debug, Clone, Default, Deserialize)]
pub struct Links {
    /// The address of the branch itself.
    #[serde(default, rename = "self")]
    pub itself: Option<String>,
}

/// `protection` of a branch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ClassicState {
    /// Whether there is a classic rule.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub enabled: Field<bool>,
    /// The status checks of the classic rule.
    #[serde(default, deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub required_status_checks: Field<ClassicChecks>,
}

/// `required_status_checks` of a branch.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct ClassicChecks {
    /// The names of the required checks.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub contexts: Field<Vec<String>>,
}

impl BranchState {
    /// Whether a classic rule protects the branch; `None` if the host does not report it. A ruleset also sets
    /// `protected`, while `protection` covers only the classic rule.
    pub fn has_classic_rule(&self) -> Option<bool> {
        match self.protection.value().and_then(|classic| classic.enabled.value()) {
            Some(enabled) => Some(*enabled),
            None => self.protected.value().is_some_and(|protected| !protected).then_some(false),
        }
    }

    /// The branch's own address.
    pub fn address(&self) -> Option<&str> {
        self.links.as_ref()?.itself.as_deref()
    }

    /// The names of the classic rule's status checks, as far as they are shown.
    pub fn contexts(&self) -> Vec<&str> {
        let checks = self.protection.value().and_then(|classic| classic.required_status_checks.value());
        let names = checks.and_then(|checks| checks.contexts.value());
        names.into_iter().flatten().map(String::as_str).collect()
    }
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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct CodeownersFile {
    /// File name.
    pub name: String,
    /// Path in the repository.
    pub path: String,
    /// The file, base64 without line breaks.
    pub content: String,
    /// Always `base64`.
    pub encoding: Cow<'static, str>,
    /// Size of the file in bytes.
    pub size: u64,
}
