//! Turns listings into artifacts and judgements. Parts that are missing become observations of their own.
//!
//! Nothing here sends a request or judges. Whatever was read is kept, even if other parts are missing.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use super::answer::says_disabled;
use super::config::NAME;
use super::listing::{Listing, ListingError, Period, Whose};
use super::wire::Activity;
use crate::observation::{ArtifactKind, Failed, Inspection, Observation, Seen};
use crate::source::{CollectionItem, Plan};
use evidence_http::retry::{Class, RefusalCause};
use evidence_http::{Asked, Refused};
use evidence_rules::altcloud::artifact::{ADMIN_ROLES, TWO_STEP, USER_LIFECYCLE};
use evidence_rules::altcloud::lifecycle as lifecycle_log;
use evidence_rules::altcloud::record::{
    AdminEvent, AdminRoles, Administrator, Assignment, AssignmentRecord, EventListing, Parameters, Role,
    TwoStepVerification, User, UserLifecycle, UserListing,
};
use evidence_rules::altcloud::{
    ADMINISTRATORS, TWO_STEP_VERIFICATION, USER_LIFECYCLE_LOG, administrators, two_step,
};
use evidence_rules::rule::reason;
use evidence_text::saturating_u64;

/// The display name of the listing of roles.
pub(super) const ROLES: &str = "administrator roles";

/// The display name of the listing of role assignments.
pub(super) const ASSIGNMENTS: &str = "role assignments";

/// The maximum number of names shown.
const NAMED: usize = 3;

/// A gap in a listing: its name, the problem, and the requests for it.
pub(super) type Gap<'a> = (String, &'a ListingError, &'a [Asked]);

/// The gap in `listing`, whose display name is `what`.
pub(super) fn gap<'a, T>(what: &str, listing: &'a Listing<T>) -> Option<Gap<'a>> {
    let what = match listing.pages {
        0 => what.to_string(),
        pages => format!("{what}, after page {pages}"),
    };
    Some((what, listing.problem.as_ref()?, &listing.requests))
}

/// Adds the failures and the refusals that would leave a collection incomplete to a plan, one line each. Unknown domains
/// are warnings of the connection test instead.
pub(super) fn plan_gaps<'a>(plan: &mut Plan, gaps: impl IntoIterator<Item = Gap<'a>>) {
    for (what, problem, _) in gaps {
        match (unread(problem), problem) {
            (_, ListingError::Refused(refused)) if refused.class == Class::NotFound => {}
            (Seen::Failed(failed), _) => plan.missing.push(format!("{what}: {}", failed.message)),
            (Seen::Denied { detail, .. }, _) => plan.lacking.push(format!("{what}: {detail}")),
            (Seen::Artifact { .. } | Seen::Nothing { .. } | Seen::Withheld { .. }, _) => {}
        }
    }
}

/// Gaps for the same reason are reported together: one missing privilege is one warning.
fn seen(gaps: Vec<Gap<'_>>) -> Vec<(Seen, Vec<Asked>)> {
    let mut merged: Vec<(Vec<String>, Seen, Vec<Asked>)> = Vec::new();
    for (what, problem, asked) in gaps {
        let seen = unread(problem);
        match merged.iter_mut().find(|(_, other, _)| words(other) == words(&seen)) {
            Some((names, _, requests)) => {
                names.push(what);
                requests.extend_from_slice(asked);
            }
            None => merged.push((vec![what], seen, asked.to_vec())),
        }
    }
    merged.into_iter().map(|(names, seen, requests)| (about(&named(&names), seen), requests)).collect()
}

/// The first names of a list.
fn named(names: &[String]) -> String {
    let shown = names.iter().take(NAMED).map(String::as_str).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(NAMED) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

/// The key by which gaps are grouped: whether the provider answered, and its message.
fn words(seen: &Seen) -> (bool, &str) {
    match seen {
        Seen::Failed(failed) => (false, &failed.message),
        Seen::Denied { detail, .. } | Seen::Nothing { detail, .. } => (true, detail),
        Seen::Artifact { .. } | Seen::Withheld { .. } => (true, ""),
    }
}

fn about(what: &str, seen: Seen) -> Seen {
    match seen {
        Seen::Denied { reason, detail } => Seen::Denied { reason, detail: format!("{what}: {detail}") },
        Seen::Failed(failed) => {
            Seen::Failed(Failed { message: format!("{what}: {}", failed.message), ..failed })
        }
        other => other,
    }
}

/// The users of the customer or of each domain.
pub(super) struct Users {
    /// The listings.
    pub(super) parts: Vec<(Whose, Listing<User>)>,
}

/// Removes duplicates. Identical items come from pages that shifted while they were read. Items that differ under the
/// same key are all kept and judged.
fn distinct<'a, T: Eq + Hash>(
    items: impl IntoIterator<Item = &'a T>,
    key: fn(&T) -> Option<&str>,
) -> Vec<&'a T> {
    let mut known = HashSet::new();
    items.into_iter().filter(|item| key(item).is_none() || known.insert(*item)).collect()
}

fn distinct_users<'a>(users: impl IntoIterator<Item = &'a User>) -> Vec<&'a User> {
    distinct(users, |user| user.id.value().or(user.primary_email.value()).map(String::as_str))
}

fn cloned<T: Clone>(items: Vec<&T>) -> Vec<T> {
    items.into_iter().cloned().collect()
}

impl Users {
    /// Every user, without duplicates.
    pub(super) fn all(&self) -> Vec<&User> {
        distinct_users(self.parts.iter().flat_map(|(_, listing)| &listing.items))
    }

    /// All requests for users.
    fn requests(&self) -> Vec<Asked> {
        self.parts.iter().flat_map(|(_, listing)| listing.requests.iter().cloned()).collect()
    }

    fn listings(&self) -> Vec<UserListing> {
        let listing = |(whose, listing): &(Whose, Listing<User>)| {
            let (customer, domain) = match whose {
                Whose::Customer { id, .. } => (Some(id.clone()), None),
                Whose::Domain(name) => (None, Some(name.clone())),
            };
            let users = saturating_u64(distinct_users(&listing.items).len());
            UserListing { customer, domain, read: listing.extent(), users }
        };
        self.parts.iter().map(listing).collect()
    }

    /// The gaps in the listings.
    pub(super) fn gaps(&self) -> impl Iterator<Item = Gap<'_>> {
        self.parts.iter().filter_map(|(whose, listing)| gap(&users_of(whose), listing))
    }
}

/// The display name of the listing of events called `name`.
pub(super) fn events_of(name: &str) -> String {
    format!("events {name}")
}

fn users_of(whose: &Whose) -> String {
    format!("users of {}", whose.name())
}

/// The users, the verdict on each listing, and the gaps.
pub(super) fn two_step(organization: &str, users: &Users) -> Vec<CollectionItem> {
    let meta = users.parts.iter().find_map(|(_, listing)| listing.meta.as_ref());
    let inspection = meta.map(|meta| {
        let record = TwoStepVerification { listings: users.listings(), users: cloned(users.all()) };
        let seen = Seen::artifact(NAME, "two_step_verification.json", &record, None, meta);
        let requests = users.requests();
        let read = Inspection::from(Observation { requests, ..observation(&TWO_STEP, organization, seen) });
        let judged = users.parts.iter().zip(&record.listings);
        judged.fold(read, |read, ((whose, _), listing)| match two_step::judge(&record, listing) {
            Some(verdict) => read.judged(&TWO_STEP_VERIFICATION, whose.name(), verdict),
            None => read,
        })
    });
    let missing = users.parts.iter().flat_map(|(whose, listing)| {
        let unread = seen(gap(&users_of(whose), listing).into_iter().collect());
        unread.into_iter().map(|unread| found(&TWO_STEP, whose.name(), unread))
    });
    inspection.map(CollectionItem::Inspected).into_iter().chain(missing).collect()
}

/// The roles and their assignments, and the gaps in them and in the users.
pub(super) fn admin_roles(
    organization: &str,
    users: &Users,
    roles: &Listing<Role>,
    assignments: &Listing<Assignment>,
) -> Vec<CollectionItem> {
    let read = roles.meta.as_ref().or(assignments.meta.as_ref()).map(|meta| {
        let record = admin_record(users, roles, assignments);
        let seen = Seen::artifact(NAME, "admin_roles.json", &record, None, meta);
        let requests = [roles.requests.as_slice(), &assignments.requests, &users.requests()].concat();
        let observation = Observation { requests, ..observation(&ADMIN_ROLES, organization, seen) };
        let inspection = Inspection::from(observation);
        CollectionItem::Inspected(match administrators::judge(&record) {
            Some(verdict) => inspection.judged(&ADMINISTRATORS, organization, verdict),
            None => inspection,
        })
    });
    let of_roles = [gap(ROLES, roles), gap(ASSIGNMENTS, assignments)];
    let gaps = of_roles.into_iter().flatten().chain(users.gaps()).collect();
    let missing = seen(gaps).into_iter().map(|unread| found(&ADMIN_ROLES, organization, unread));
    read.into_iter().chain(missing).collect()
}

fn admin_record(users: &Users, roles: &Listing<Role>, assignments: &Listing<Assignment>) -> AdminRoles {
    let all = users.all();
    let mut by_id: HashMap<&str, &User> = HashMap::new();
    for user in &all {
        let Some(id) = user.id.value() else { continue };
        let kept = by_id.entry(id).or_insert(user);
        // If two records differ, keep the one that fails.
        if user.is_inactive() {
            *kept = user;
        }
    }
    let is_administrator = |user: &&&User| {
        user.is_admin.value() == Some(&true) || user.is_delegated_admin.value() == Some(&true)
    };
    let administrators_from_users_list =
        all.iter().filter(is_administrator).map(|user| Administrator::of(user)).collect();
    let role_assignments =
        distinct(&assignments.items, |item| item.role_assignment_id.value().map(String::as_str))
            .into_iter()
            .cloned()
            .map(|assignment| {
                let user = assignment.assigned_to.value().and_then(|id| by_id.get(id.as_str()));
                AssignmentRecord {
                    assignee_from_users_list: user.map(|user| Administrator::of(user)),
                    assignment,
                }
            })
            .collect();
    AdminRoles {
        roles_read: roles.extent(),
        role_assignments_read: assignments.extent(),
        user_listings: users.listings(),
        roles: cloned(distinct(&roles.items, |role| role.role_id.value().map(String::as_str))),
        role_assignments,
        administrators_from_users_list,
    }
}

/// The log of account changes, and its gaps.
pub(super) fn lifecycle(
    organization: &str,
    period: Period,
    parts: Vec<(&'static str, Listing<Activity>)>,
) -> Vec<CollectionItem> {
    let meta = parts.iter().find_map(|(_, listing)| listing.meta.clone());
    let gaps = parts.iter().filter_map(|(name, listing)| gap(&events_of(name), listing)).collect();
    let missing = seen(gaps);
    let requests = parts.iter().flat_map(|(_, listing)| listing.requests.iter().cloned()).collect();
    let read = meta.map(|meta| {
        let record = lifecycle_record(period, parts);
        let seen = Seen::artifact(NAME, "user_lifecycle.json", &record, None, &meta);
        let observation = Observation { requests, ..observation(&USER_LIFECYCLE, organization, seen) };
        let inspection = Inspection::from(observation);
        CollectionItem::Inspected(match lifecycle_log::judge(&record) {
            Some(verdict) => inspection.judged(&USER_LIFECYCLE_LOG, organization, verdict),
            None => inspection,
        })
    });
    let missing = missing.into_iter().map(|unread| found(&USER_LIFECYCLE, organization, unread));
    read.into_iter().chain(missing).collect()
}

fn lifecycle_record(period: Period, parts: Vec<(&'static str, Listing<Activity>)>) -> UserLifecycle {
    let mut event_names = Vec::new();
    let mut events = Vec::new();
    for (name, listing) in parts {
        let read = listing.extent();
        // Compare whole activities: one may contain several identical events, such as a role that is assigned twice.
        let activities = distinct(&listing.items, |activity| {
            activity.id.value()?.unique_qualifier.value().map(String::as_str)
        });
        let of_name: Vec<AdminEvent> =
            activities.into_iter().flat_map(|activity| of(name, activity)).collect();
        let count = saturating_u64(of_name.len());
        event_names.push(EventListing { name: name.into(), read, events: count });
        events.extend(of_name);
    }
    events.sort_by(|a, b| {
        let key = |event: &AdminEvent| (event.time.value().cloned(), event.unique_qualifier.value().cloned());
        key(a).cmp(&key(b))
    });
    UserLifecycle {
        start_time: period.start.to_string(),
        end_time: period.end.to_string(),
        event_names,
        events,
    }
}

/// The events called `name` of an activity, which may have others.
fn of(name: &'static str, activity: &Activity) -> Vec<AdminEvent> {
    let id = activity.id.value().cloned().unwrap_or_default();
    let actor = activity.actor.value().cloned().unwrap_or_default();
    let wanted =
        activity.events.value().into_iter().flatten().filter(|event| event.name.as_deref() == Some(name));
    wanted
        .map(|event| AdminEvent {
            time: id.time.clone(),
            unique_qualifier: id.unique_qualifier.clone(),
            name: name.into(),
            actor: actor.clone(),
            parameters: Parameters {
                user_email: event.parameter("USER_EMAIL").map(str::to_string),
                role_name: event.parameter("ROLE_NAME").map(str::to_string),
            },
        })
        .collect()
}

fn observation(kind: &'static ArtifactKind, subject: &str, seen: Seen) -> Observation {
    Observation::new(NAME, kind, subject, seen)
}

fn found(kind: &'static ArtifactKind, subject: &str, (seen, requests): (Seen, Vec<Asked>)) -> CollectionItem {
    CollectionItem::Inspected(Observation { requests, ..observation(kind, subject, seen) }.into())
}

/// The observation of something that was not read: refused or failed.
fn unread(problem: &ListingError) -> Seen {
    let refused = match problem {
        ListingError::Failed(failure) => return Seen::Failed(Failed::of(failure)),
        ListingError::NotDelegated(scope, text) => {
            let detail =
                format!("the scope {} is not delegated to the service account ({text})", scope.name());
            return Seen::Denied { reason: &reason::PERMISSION_DENIED, detail };
        }
        ListingError::Refused(refused) => refused,
    };
    let reason = match refused.class {
        Class::Forbidden(RefusalCause::Permission) => {
            return Seen::Denied { reason: &reason::PERMISSION_DENIED, detail: why(refused) };
        }
        Class::NotFound => &reason::NOT_FOUND,
        Class::Unauthorized => &reason::PERMISSION_DENIED,
        _ => &reason::HOST_ERROR,
    };
    Seen::Failed(Failed {
        reason,
        message: format!("{} (HTTP {})", why(refused), refused.meta.status),
        status: Some(refused.meta.status),
        request_id: refused.meta.request_id.clone(),
    })
}

/// The provider's message, or an explanation if it has none.
pub(super) fn why(refused: &Refused) -> String {
    let text = refused.text();
    if says_disabled(refused) {
        return format!("the Admin SDK API is not enabled in the service account's project ({text})");
    }
    if refused.class == Class::Unauthorized {
        return format!("the credentials are no longer accepted, not even with a fresh token ({text})");
    }
    text
}

#[cfg(test)]
mod tests;
