//! The protection of a branch as the stored query shows it.

use serde::{Deserialize, Serialize};

/// A repository. A field that is missing was not asked for, or its parent was not shown.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ProtectionNode {
    pub(crate) id: Option<String>,
    pub(crate) name_with_owner: Option<String>,
    pub(crate) plan_features: Option<PlanFeatures>,
    pub(crate) named: Option<BranchNode>,
    pub(crate) default: Option<BranchNode>,
}

/// What the plan includes for this repository.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct PlanFeatures {
    /// Code owners, which a plan includes exactly for the repositories for which it includes branch protection.
    pub(crate) codeowners: Option<bool>,
}

/// A branch.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct BranchNode {
    pub(crate) name: Option<String>,
    pub(crate) prefix: Option<String>,
    pub(crate) branch_protection_rule: Option<ClassicNode>,
}

/// A list that the host may cut.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Several<T> {
    total_count: Option<u64>,
    nodes: Option<Vec<Option<T>>>,
}

impl<T> Several<T> {
    /// All of it; `None` if anything is missing.
    pub(crate) fn all(&self) -> Option<Vec<&T>> {
        let nodes: Vec<&T> = self.nodes.as_ref()?.iter().map(Option::as_ref).collect::<Option<_>>()?;
        (usize::try_from(self.total_count?) == Ok(nodes.len())).then_some(nodes)
    }
}

/// A classic rule.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(rename_all = "camelCase", default)]
pub(crate) struct ClassicNode {
    pub(crate) requires_approving_reviews: Option<bool>,
    pub(crate) required_approving_review_count: Option<u64>,
    pub(crate) dismisses_stale_reviews: Option<bool>,
    pub(crate) requires_code_owner_reviews: Option<bool>,
    pub(crate) restricts_review_dismissals: Option<bool>,
    pub(crate) review_dismissal_allowances: Option<Several<AllowanceNode>>,
    pub(crate) bypass_pull_request_allowances: Option<Several<AllowanceNode>>,
    pub(crate) requires_status_checks: Option<bool>,
    pub(crate) requires_strict_status_checks: Option<bool>,
    pub(crate) required_status_check_contexts: Option<Vec<Option<String>>>,
    pub(crate) required_status_checks: Option<Vec<CheckNode>>,
    pub(crate) is_admin_enforced: Option<bool>,
    pub(crate) require_last_push_approval: Option<bool>,
    pub(crate) allows_force_pushes: Option<bool>,
    pub(crate) allows_deletions: Option<bool>,
}

/// One that a rule makes an exception for.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct AllowanceNode {
    pub(crate) actor: Option<ActorNode>,
}

/// A user, a team or an app: one of the three is set.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct ActorNode {
    pub(crate) login: Option<String>,
    pub(crate) team: Option<String>,
    pub(crate) app: Option<String>,
}

/// A status check.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(default)]
pub(crate) struct CheckNode {
    pub(crate) context: Option<String>,
}
