//! The reports: the administrators' log, newest first.

use super::Workspace;
use super::activity::Activity;
use super::directory::{ITEMS, Query, listing, reduce};
use super::paging::Page;
use super::person::Person;
use super::refusal::Refusal;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// How long the provider keeps its log: six months.
const KEPT_DAYS: i64 = 180;

/// `activities.list` for one person or all, and one application.
pub(super) fn activities(
    workspace: &Workspace,
    start: Timestamp,
    now: Timestamp,
    (user, application): (&str, &str),
    query: &Query,
) -> Result<Value, Refusal> {
    // The real provider has the others too; here only this one has entries.
    const APPLICATIONS: &[&str] = &[
        "admin",
        "login",
        "token",
        "drive",
        "user_accounts",
        "groups",
        "mobile",
        "saml",
        "calendar",
        "chat",
        "meet",
    ];
    if !APPLICATIONS.contains(&application) {
        let message = format!("Invalid value '{application}' for application name.");
        return Err(Refusal::parameter("applicationName", &message));
    }
    if query.get("customerId").is_some_and(|customer| !workspace.is_customer(customer)) {
        return Err(Refusal::not_authorized());
    }
    let actor = match user {
        "all" => None,
        user => Some(workspace.find_person(user).ok_or_else(Refusal::bad_request)?.email.clone()),
    };
    let from = time(query, "startTime")?;
    let until = time(query, "endTime")?;
    if from.is_some_and(|from| from > until.unwrap_or(now)) {
        return Err(Refusal::parameter("startTime", "Start time must be before end time."));
    }
    let event = query.get("eventName");
    let kept = now.checked_sub(SignedDuration::from_hours(24 * KEPT_DAYS)).unwrap_or(now);
    let mut found: Vec<&Activity> = workspace
        .activities
        .iter()
        .filter(|_| application == "admin")
        .filter(|activity| actor.as_ref().is_none_or(|actor| *actor == activity.actor))
        .filter(|activity| {
            let at = activity.at(start);
            at >= from.unwrap_or(kept).max(kept) && at <= until.unwrap_or(now)
        })
        .filter(|activity| event.is_none_or(|event| activity.events.iter().any(|one| one.name == *event)))
        .collect();
    found.sort_by_key(|activity| activity.seconds_ago);
    let name = format!("activities {user} {application} {event:?} {from:?} {until:?}");
    let (rows, next) = Page::of(query, name, (1000, 1000), workspace.page_size)?.cut(&found);
    let body = |activity: &&Activity| {
        let profile = workspace.find_person(&activity.actor).map(Person::id);
        activity.body(&workspace.customer, profile, start)
    };
    let rows = rows.iter().map(body).collect();
    const ROW: &[&str] = &[
        "actor",
        "etag",
        "events",
        "id",
        "ipAddress",
        "kind",
        "networkInfo",
        "ownerDomain",
        "resourceDetails",
    ];
    reduce(query, &[ITEMS, ROW], listing("admin#reports#activities", ("items", rows), next))
}

fn time(query: &Query, name: &str) -> Result<Option<Timestamp>, Refusal> {
    let Some(text) = query.get(name) else { return Ok(None) };
    let wrong = || Refusal::parameter(name, &format!("Invalid value for {name}: {text}"));
    // A time without a zone is refused, as the interface's documentation says.
    text.parse::<Timestamp>().map(Some).map_err(|_| wrong())
}
