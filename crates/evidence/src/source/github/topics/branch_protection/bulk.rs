//! What a page of the stored query proves about the protection of a branch, in the form of the other interface's answers.

use crate::source::github::host::bulk::FromPage;
use crate::source::github::host::bulk::protection::{
    AllowanceNode, BranchNode, ClassicNode, ProtectionNode, Several,
};
use crate::source::github::subject::RepositoryName;
use evidence_http::{Asked, Meta};
use evidence_rules::codehost::record::{
    Actors, BranchProtection, EnforceAdmins, RequiredReviews, RequiredStatusChecks, SlugName, StatusCheck,
    Switch, UserName,
};
use evidence_rules::field::Field;
use std::sync::Arc;

/// A classic rule that exists, and the answer that shows it. Everything else is unknown.
pub(super) struct Proved {
    pub(super) classic: BranchProtection,
    pub(super) meta: Arc<Meta>,
    pub(super) asked: Arc<[Asked]>,
}

/// What `page` proves about `branch` of the repository, whose record at the other interface has the address `url`.
pub(super) fn proved(
    page: FromPage<ProtectionNode>,
    target: RepositoryName<'_>,
    branch: &str,
    url: &str,
) -> Option<Proved> {
    let FromPage { node, errors, meta, asked } = page;
    let full_name = format!("{}/{}", target.owner, target.name);
    if !node.name_with_owner.is_some_and(|name| name.eq_ignore_ascii_case(&full_name)) {
        return None;
    }
    let (alias, shown) = match (node.named, node.default) {
        (Some(shown), None) => ("named", shown),
        (None, Some(shown)) => ("default", shown),
        (Some(_), Some(_)) | (None, None) => return None,
    };
    let BranchNode { name, prefix, branch_protection_rule } = shown;
    let is_it = name.as_deref() == Some(branch) && prefix.as_deref() == Some("refs/heads/");
    if !is_it || errors.touch(&["nameWithOwner"]) || errors.touch(&[alias, "name"]) {
        return None;
    }
    // Without the feature, the host may keep rules that protect nothing.
    let in_plan = node.plan_features.and_then(|plan| plan.codeowners) == Some(true);
    if !in_plan {
        return None;
    }
    let classic = branch_protection_rule.filter(|_| !errors.touch(&[alias, "branchProtectionRule"]))?;
    Some(Proved { classic: classic_rule(classic, url)?, meta, asked })
}

/// The classic rule; `None` if anything of it is unknown.
fn classic_rule(classic: ClassicNode, url: &str) -> Option<BranchProtection> {
    let reviews = if classic.requires_approving_reviews? {
        let dismissals = match classic.restricts_review_dismissals? {
            true => Field::Value(actors(classic.review_dismissal_allowances.as_ref()?)?),
            false => Field::Absent,
        };
        let bypass = actors(classic.bypass_pull_request_allowances.as_ref()?)?;
        Field::Value(RequiredReviews {
            dismissal_restrictions: dismissals,
            dismiss_stale_reviews: Field::Value(classic.dismisses_stale_reviews?),
            require_code_owner_reviews: Field::Value(classic.requires_code_owner_reviews?),
            required_approving_review_count: Field::Value(classic.required_approving_review_count?),
            require_last_push_approval: Field::Value(classic.require_last_push_approval?),
            bypass_pull_request_allowances: if is_empty(&bypass) {
                Field::Absent
            } else {
                Field::Value(bypass)
            },
        })
    } else {
        Field::Absent
    };
    let checks = if classic.requires_status_checks? {
        let contexts: Option<Vec<String>> = classic.required_status_check_contexts?.into_iter().collect();
        let checks = classic.required_status_checks?.into_iter();
        let checks: Option<Vec<StatusCheck>> =
            checks.map(|check| Some(StatusCheck { context: check.context? })).collect();
        Field::Value(RequiredStatusChecks {
            strict: Field::Value(classic.requires_strict_status_checks?),
            contexts: Field::Value(contexts?),
            checks: Field::Value(checks?),
        })
    } else {
        Field::Absent
    };
    Some(BranchProtection {
        url: Field::Value(url.to_string()),
        required_pull_request_reviews: reviews,
        required_status_checks: checks,
        enforce_admins: Field::Value(EnforceAdmins {
            url: Field::Value(format!("{url}/enforce_admins")),
            enabled: Field::Value(classic.is_admin_enforced?),
        }),
        allow_force_pushes: Field::Value(Switch { enabled: Field::Value(classic.allows_force_pushes?) }),
        allow_deletions: Field::Value(Switch { enabled: Field::Value(classic.allows_deletions?) }),
    })
}

/// All of a list of exceptions.
fn actors(allowances: &Several<AllowanceNode>) -> Option<Actors> {
    let (mut users, mut teams, mut apps) = (Vec::new(), Vec::new(), Vec::new());
    for allowance in allowances.all()? {
        let actor = allowance.actor.as_ref()?;
        match (&actor.login, &actor.team, &actor.app) {
            (Some(login), None, None) => users.push(UserName { login: login.clone() }),
            (None, Some(slug), None) => teams.push(SlugName { slug: slug.clone() }),
            (None, None, Some(slug)) => apps.push(SlugName { slug: slug.clone() }),
            _ => return None,
        }
    }
    Some(Actors { users: Field::Value(users), teams: Field::Value(teams), apps: Field::Value(apps) })
}

fn is_empty(actors: &Actors) -> bool {
    let none = |count: Option<usize>| count.is_none_or(|count| count == 0);
    none(actors.users.value().map(Vec::len))
        && none(actors.teams.value().map(Vec::len))
        && none(actors.apps.value().map(Vec::len))
}
