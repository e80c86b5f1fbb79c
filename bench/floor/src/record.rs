//! The stored fields of each answer: the same as in `evidence`.

use serde::{Deserialize, Serialize};

use crate::Outcome;

#[derive(Serialize, Deserialize)]
struct Organization {
    login: Option<String>,
    id: Option<u64>,
    two_factor_requirement_enabled: Option<bool>,
    default_repository_permission: Option<String>,
    members_can_create_repositories: Option<bool>,
    members_can_create_public_repositories: Option<bool>,
}

#[derive(Deserialize)]
struct Repository {
    name: Box<str>,
}

#[derive(Serialize, Deserialize)]
struct Protection {
    url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    required_pull_request_reviews: Option<Reviews>,
    #[serde(skip_serializing_if = "Option::is_none")]
    required_status_checks: Option<StatusChecks>,
    #[serde(skip_serializing_if = "Option::is_none")]
    enforce_admins: Option<EnforceAdmins>,
}

#[derive(Serialize, Deserialize)]
struct Reviews {
    #[serde(skip_serializing_if = "Option::is_none")]
    dismissal_restrictions: Option<Dismissal>,
    dismiss_stale_reviews: Option<bool>,
    require_code_owner_reviews: Option<bool>,
    required_approving_review_count: Option<u64>,
}

#[derive(Serialize, Deserialize)]
struct Dismissal {
    users: Vec<User>,
    teams: Vec<Slug>,
    apps: Vec<Slug>,
}

#[derive(Serialize, Deserialize)]
struct User {
    login: String,
}

#[derive(Serialize, Deserialize)]
struct Slug {
    slug: String,
}

#[derive(Serialize, Deserialize)]
struct StatusChecks {
    strict: Option<bool>,
    contexts: Option<Vec<String>>,
}

#[derive(Serialize, Deserialize)]
struct EnforceAdmins {
    url: Option<String>,
    enabled: Option<bool>,
}

#[derive(Serialize, Deserialize)]
struct Rule {
    #[serde(rename = "type")]
    kind: String,
    ruleset_id: u64,
    ruleset_source_type: Option<String>,
    ruleset_source: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<serde_json::Value>,
}

#[derive(Serialize, Deserialize)]
struct Ruleset {
    id: u64,
    bypass_actors: Option<Vec<serde_json::Value>>,
    current_user_can_bypass: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Codeowners {
    name: String,
    path: String,
    content: String,
    encoding: String,
    size: u64,
}

pub(crate) fn organization(body: &[u8]) -> Outcome<Vec<u8>> {
    Ok(serde_json::to_vec_pretty(&serde_json::from_slice::<Organization>(body)?)?)
}

/// The names on a page of the listing.
pub(crate) fn names(body: &[u8]) -> Outcome<Vec<Box<str>>> {
    let page: Vec<Repository> = serde_json::from_slice(body)?;
    Ok(page.into_iter().map(|repository| repository.name).collect())
}

/// The classic rule, and whether it requires both a review and a check, for administrators too.
pub(crate) fn protection(body: &[u8]) -> Outcome<(Vec<u8>, bool)> {
    let rule: Protection = serde_json::from_slice(body)?;
    let reviews = rule.required_pull_request_reviews.as_ref();
    let checks = rule.required_status_checks.as_ref().and_then(|checks| checks.contexts.as_ref());
    let enough = reviews.is_some_and(|reviews| reviews.required_approving_review_count > Some(0))
        && checks.is_some_and(|contexts| !contexts.is_empty())
        && rule.enforce_admins.as_ref().is_some_and(|enforced| enforced.enabled == Some(true));
    Ok((serde_json::to_vec_pretty(&rule)?, enough))
}

/// The rules of a branch, and the rulesets that they belong to.
pub(crate) fn rules(body: &[u8]) -> Outcome<(Vec<u8>, Vec<u64>)> {
    let rules: Vec<Rule> = serde_json::from_slice(body)?;
    let mut rulesets: Vec<u64> = rules.iter().map(|rule| rule.ruleset_id).collect();
    rulesets.sort_unstable();
    rulesets.dedup();
    Ok((serde_json::to_vec_pretty(&rules)?, rulesets))
}

pub(crate) fn ruleset(body: &[u8]) -> Outcome<Vec<u8>> {
    Ok(serde_json::to_vec_pretty(&serde_json::from_slice::<Ruleset>(body)?)?)
}

pub(crate) fn codeowners(body: &[u8]) -> Outcome<Vec<u8>> {
    let mut file: Codeowners = serde_json::from_slice(body)?;
    file.content.retain(|character| !character.is_ascii_whitespace());
    Ok(serde_json::to_vec_pretty(&file)?)
}
