//! A branch and its classic rule.

use super::super::organization::lacks_plan;
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
    match repository.protections.get(name) {
        None => Value::Null,
        Some(Protection { body: Some(body), .. }) => recorded(body).unwrap_or(Value::Null),
        Some(rule) => shown(rule),
    }
}

/// A rule of which the other interface sends this body; `None` for a form that this interface does not have.
fn recorded(body: &Value) -> Option<Value> {
    let part = |name: &str| body.get(name).filter(|part| part.is_object());
    let enabled = |name: &str| part(name)?.get("enabled")?.as_bool();
    let reviews = part("required_pull_request_reviews");
    let checks = part("required_status_checks");
    let of = |part: Option<&Value>, name: &str| match part {
        Some(part) => part.get(name).cloned(),
        None => Some(Value::Null),
    };
    let is = |part: Option<&Value>, name: &str| part.map_or(Some(false), |part| part.get(name)?.as_bool());
    let listed = |name: &str| reviews.and_then(|reviews| reviews.get(name));
    let contexts =
        checks.map_or(Some(Vec::new()), |checks| Some(checks.get("contexts")?.as_array()?.clone()))?;
    let named = |check: &Value| Some(json!({"context": check.get("context")?.as_str()?}));
    let checks_shown = checks.map_or(Some(Vec::new()), |checks| {
        checks.get("checks")?.as_array()?.iter().map(named).collect::<Option<Vec<Value>>>()
    })?;
    Some(json!({
        "requiresApprovingReviews": reviews.is_some(),
        "requiredApprovingReviewCount": of(reviews, "required_approving_review_count")?,
        "dismissesStaleReviews": is(reviews, "dismiss_stale_reviews")?,
        "requiresCodeOwnerReviews": is(reviews, "require_code_owner_reviews")?,
        "restrictsReviewDismissals": listed("dismissal_restrictions").is_some(),
        "reviewDismissalAllowances": recorded_allowances(listed("dismissal_restrictions"))?,
        "bypassPullRequestAllowances": recorded_allowances(listed("bypass_pull_request_allowances"))?,
        "requiresStatusChecks": checks.is_some(),
        "requiresStrictStatusChecks": is(checks, "strict")?,
        "requiredStatusCheckContexts": contexts,
        "requiredStatusChecks": checks_shown,
        "isAdminEnforced": enabled("enforce_admins")?,
        "requireLastPushApproval": is(reviews, "require_last_push_approval")?,
        "allowsForcePushes": enabled("allow_force_pushes")?,
        "allowsDeletions": enabled("allow_deletions")?,
    }))
}

fn recorded_allowances(listed: Option<&Value>) -> Option<Value> {
    let names = |list: &str, name: &str| -> Option<Vec<String>> {
        let Some(listed) = listed else { return Some(Vec::new()) };
        listed.get(list)?.as_array()?.iter().map(|one| Some(text_of(one, name)?.to_owned())).collect()
    };
    let (users, teams, apps) = (names("users", "login")?, names("teams", "slug")?, names("apps", "slug")?);
    Some(allowances(Some(&Actors { users, teams, apps })))
}

fn text_of<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
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
