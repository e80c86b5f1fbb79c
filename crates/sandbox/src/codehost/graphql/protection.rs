//! A branch: its classic rule, and the rules of rulesets.

use super::super::organization::lacks_plan;
use super::super::parts::branch_rules;
use super::super::reply::docs;
use super::super::{Actors, Endpoint, Protection};
use super::subject::{Problem, Subject, kind, text};
use serde_json::{Map, Value, json};

/// How much of a list a page shows.
const SHOWN: usize = 50;

/// The branch, or null if there is none of this name.
pub(super) fn branch(
    subject: &Subject<'_>,
    name: Option<&str>,
    alias: &str,
    problems: &mut Vec<Problem>,
) -> Value {
    let Some(name) = name else { return Value::Null };
    json!({
        "name": name,
        "prefix": "refs/heads/",
        "branchProtectionRule": classic(subject, name, alias, problems),
        "rules": rules(subject, name, alias, problems),
    })
}

/// The classic rule. Null says nothing: there is none, or the caller does not see it.
fn classic(subject: &Subject<'_>, name: &str, alias: &str, problems: &mut Vec<Problem>) -> Value {
    let Subject { who, organization, repository, .. } = subject;
    let place = [alias, "branchProtectionRule"];
    if let Err(refused) = who.permitted(repository, "administration", docs::REST) {
        problems.push(subject.problem("FORBIDDEN", &text(&refused), &place));
        return Value::Null;
    }
    if let Some((status, message)) = repository.refusals.get(&Endpoint::Protection) {
        problems.push(subject.problem(kind(*status), message, &place));
        return Value::Null;
    }
    // Whether this interface shows a rule without effect is not known; here it does not.
    if !who.administers(*organization, repository)
        || lacks_plan(*organization, repository)
        || repository.protection_disabled
    {
        return Value::Null;
    }
    // A body of its own has a form that this interface does not have.
    let rule = repository.protections.get(name).filter(|rule| rule.body.is_none());
    rule.map_or(Value::Null, shown)
}

fn shown(rule: &Protection) -> Value {
    let reviews = rule.reviews.as_ref();
    let checks = rule.status_checks.as_ref();
    let contexts: Vec<&String> = checks.into_iter().flat_map(|checks| &checks.contexts).collect();
    json!({
        "requiresApprovingReviews": reviews.is_some(),
        "requiredApprovingReviewCount": reviews.and_then(|reviews| reviews.count),
        "dismissesStaleReviews": reviews.is_some_and(|reviews| reviews.dismiss_stale),
        "requiresCodeOwnerReviews": reviews.is_some_and(|reviews| reviews.code_owners),
        "restrictsReviewDismissals": reviews.is_some_and(|reviews| reviews.dismissal_restrictions.is_some()),
        "reviewDismissalAllowances": allowances(reviews.and_then(|reviews| reviews.dismissal_restrictions.as_ref())),
        "bypassPullRequestAllowances": allowances(reviews.and_then(|reviews| reviews.bypass_allowances.as_ref())),
        "requiresStatusChecks": checks.is_some(),
        "requiresStrictStatusChecks": checks.is_some_and(|checks| checks.strict),
        "requiredStatusCheckContexts": contexts,
        "requiredStatusChecks": contexts.iter().map(|context| json!({"context": context})).collect::<Vec<_>>(),
        "isAdminEnforced": rule.enforce_admins,
        "requireLastPushApproval": reviews.is_some_and(|reviews| reviews.last_push_approval),
        "allowsForcePushes": rule.force_pushes,
        "allowsDeletions": rule.deletions,
    })
}

fn allowances(actors: Option<&Actors>) -> Value {
    let none = Actors::default();
    let Actors { users, teams, apps } = actors.unwrap_or(&none);
    let of = |field: &'static str, names: &[String]| -> Vec<Value> {
        let actor = |name: &String| {
            let mut actor = Map::new();
            actor.insert(field.to_owned(), json!(name));
            json!({ "actor": actor })
        };
        names.iter().map(actor).collect()
    };
    let all = [of("login", users), of("team", teams), of("app", apps)].concat();
    json!({"totalCount": all.len(), "nodes": all.iter().take(SHOWN).collect::<Vec<_>>()})
}

fn rules(subject: &Subject<'_>, name: &str, alias: &str, problems: &mut Vec<Problem>) -> Value {
    let Subject { world, organization, repository, .. } = subject;
    if let Some((status, message)) = repository.refusals.get(&Endpoint::Rules) {
        problems.push(subject.problem(kind(*status), message, &[alias, "rules"]));
        return Value::Null;
    }
    if lacks_plan(*organization, repository) {
        return Value::Null;
    }
    let all = branch_rules(world, *organization, repository, name);
    let nodes: Vec<Value> = all.iter().take(SHOWN).map(rule).collect();
    json!({"totalCount": all.len(), "nodes": nodes})
}

fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

/// A rule of the other interface as this one shows it. Null for a form that it cannot have.
fn rule(rule: &Value) -> Value {
    let (Some(kind), Some(source)) = (text_of(rule, "type"), text_of(rule, "ruleset_source")) else {
        return Value::Null;
    };
    let source = match text_of(rule, "ruleset_source_type") {
        Some("Repository") => json!({"__typename": "Repository", "nameWithOwner": source}),
        Some("Organization") => json!({"__typename": "Organization", "login": source}),
        Some("Enterprise") => json!({"__typename": "Enterprise", "slug": source}),
        _ => return Value::Null,
    };
    let parameters = rule.get("parameters").unwrap_or(&Value::Null);
    let parameters = match kind {
        "required_status_checks" => status_checks(parameters),
        "workflows" => workflows(parameters),
        "pull_request" => Some(json!({"__typename": "PullRequestParameters"})),
        _ => None,
    };
    json!({
        "type": kind.to_ascii_uppercase(),
        "parameters": parameters,
        "repositoryRuleset": {"databaseId": rule.get("ruleset_id"), "source": source},
    })
}

fn status_checks(parameters: &Value) -> Option<Value> {
    let checks = parameters.get("required_status_checks")?.as_array()?.iter().map(|check| {
        Some(
            json!({"context": text_of(check, "context")?, "integrationId": check.get("integration_id").and_then(Value::as_u64)}),
        )
    });
    Some(json!({
        "__typename": "RequiredStatusChecksParameters",
        "strictRequiredStatusChecksPolicy": parameters.get("strict_required_status_checks_policy")?.as_bool()?,
        "requiredStatusChecks": checks.collect::<Option<Vec<_>>>()?,
    }))
}

fn workflows(parameters: &Value) -> Option<Value> {
    let workflows = parameters
        .get("workflows")?
        .as_array()?
        .iter()
        .map(|file| Some(json!({"path": text_of(file, "path")?})));
    Some(json!({"__typename": "WorkflowsParameters", "workflows": workflows.collect::<Option<Vec<_>>>()?}))
}
