//! The provider's calls, one row each. A row defines the call's address, bounds and parser, and its entry in the
//! documents. There are four listings by GET, and the exchange of an assertion for a token.

use jiff::Timestamp;

use super::interpret::{self, Users};
use super::listing::{Listing, Period, Whose};
use super::scopes::OAuthScope;
use super::subject;
use super::wire::{self, Activity, Page, TokenAnswer};
use crate::source::CollectionItem;
use crate::source::endpoint::{Endpoint, endpoint};
use evidence_http::{Call, Meta};
use evidence_rules::altcloud::record::{Assignment, Role, User};

/// A paginated listing.
pub(super) struct Paged<T: 'static> {
    pub(super) call: Call<Page<T>>,
    /// The required scope.
    pub(super) scope: OAuthScope,
    /// The requested fields: those of the artifacts, and those that identify a listing.
    pub(super) fields: &'static str,
    /// The maximum number of pages.
    pub(super) pages: u64,
    /// The maximum weight of all pages: the bytes on the wire plus the memory of each item. All items stay in memory
    /// until they are judged, so an endless listing must not fill it.
    pub(super) budget: usize,
}

pub(super) const MIB: usize = 1024 * 1024;
const JSON: &str = "application/json";

/// Every call, in the order of the documents.
pub(super) static CALLS: &[Endpoint] = &[
    endpoint!(TOKEN, |_| Vec::new()),
    endpoint!(USERS.call, users_offline),
    endpoint!(USERS_OF_DOMAIN.call, users_offline),
    endpoint!(ROLES.call, roles_offline),
    endpoint!(ASSIGNMENTS.call, assignments_offline),
    endpoint!(ACTIVITIES.call, activities_offline),
];

/// The exchange of an assertion.
pub(super) static TOKEN: Call<TokenAnswer> = Call {
    name: "POST {token_uri}",
    purpose: "an access token",
    times: "once, and again before it expires",
    kind: None,
    media_type: "application/x-www-form-urlencoded",
    // A token is about 1 kB, and the answer contains little else.
    limit: 64 * 1024,
    parse: wire::token,
    subject: None,
    keep: None,
};

/// The customer's users.
pub(super) static USERS: Paged<User> = users(
    "/admin/directory/v1/users?customer={customer}&maxResults=500&orderBy=email&projection=basic",
    "`two-step-verification` and `administrators`, without `domains`; its first page is part of the connection test",
    "once per 500 users",
);

/// The users of one domain.
pub(super) static USERS_OF_DOMAIN: Paged<User> = users(
    "/admin/directory/v1/users?domain={domain}&maxResults=500&orderBy=email&projection=basic",
    "the same with `domains`",
    "once per 500 users of each domain",
);

const fn users(name: &'static str, purpose: &'static str, times: &'static str) -> Paged<User> {
    Paged {
        call: Call {
            name,
            purpose,
            times,
            kind: Some("users"),
            media_type: JSON,
            // A page of 500 users with ten fields each is about 190 kB.
            limit: 8 * MIB,
            parse: wire::users,
            subject: Some(subject::USERS),
            keep: None,
        },
        scope: OAuthScope::Users,
        fields: "kind,nextPageToken,users(id,customerId,primaryEmail,suspended,archived,isEnrolledIn2Sv,isEnforcedIn2Sv,isAdmin,\
                 isDelegatedAdmin,lastLoginTime,creationTime)",
        // Enough for 600,000 users, which the budget is sized for.
        pages: 1_200,
        // About 500 bytes each: more than half a million users.
        budget: 256 * MIB,
    }
}

/// The administrator roles.
pub(super) static ROLES: Paged<Role> = Paged {
    call: Call {
        name: "/admin/directory/v1/customer/{customer}/roles?maxResults=100",
        purpose: "`administrators`; its first page is part of the connection test",
        times: "once per 100 roles",
        kind: Some("roles"),
        media_type: JSON,
        // A page of 100 roles with four fields each is about 20 kB.
        limit: MIB,
        parse: wire::roles,
        subject: None,
        keep: None,
    },
    scope: OAuthScope::Roles,
    fields: "kind,nextPageToken,items(roleId,roleName,isSuperAdminRole,isSystemRole)",
    // The provider allows 750 roles, which are 8 pages and 200 kB.
    pages: 50,
    budget: 16 * MIB,
};

/// The role assignments.
pub(super) static ASSIGNMENTS: Paged<Assignment> = Paged {
    call: Call {
        name: "/admin/directory/v1/customer/{customer}/roleassignments?maxResults=200",
        purpose: "`administrators`",
        times: "once per 200 assignments",
        kind: Some("role assignments"),
        media_type: JSON,
        // A page of 200 assignments is about 50 kB.
        limit: 2 * MIB,
        parse: wire::assignments,
        subject: None,
        keep: None,
    },
    scope: OAuthScope::Roles,
    fields: "kind,nextPageToken,items(roleAssignmentId,roleId,assignedTo,assigneeType,scopeType,orgUnitId)",
    // 100,000 assignments; the budget has room for 160,000 of about 400 bytes.
    pages: 500,
    budget: 64 * MIB,
};

/// The log of administrators' actions, for one event.
pub(super) static ACTIVITIES: Paged<Activity> = Paged {
    call: Call {
        name: "/admin/reports/v1/activity/users/all/applications/admin?customerId={customer}&eventName={event}\
               &startTime={start}&endTime={end}&maxResults=1000",
        purpose: "`user-lifecycle-log`; its first page for the first event is part of the connection test",
        times: "once per event, and once more per 1,000 of them",
        kind: Some("events"),
        media_type: JSON,
        // A page of 1,000 activities is about 500 kB; an activity with many events is longer.
        limit: 16 * MIB,
        parse: wire::activities,
        subject: Some(subject::ACTIVITIES),
        keep: None,
    },
    scope: OAuthScope::Reports,
    fields: "kind,nextPageToken,items(id(time,uniqueQualifier,customerId),actor(email,callerType),\
             events(name,parameters(name,value)))",
    // 100,000 activities of one event in half a year, of about 600 bytes each.
    pages: 100,
    budget: 64 * MIB,
};

/// Administrators' actions on accounts: the requested events, in the order of the artifact.
pub(super) const EVENTS: &[&str] = &[
    "CREATE_USER",
    "DELETE_USER",
    "UNDELETE_USER",
    "SUSPEND_USER",
    "UNSUSPEND_USER",
    "ARCHIVE_USER",
    "UNARCHIVE_USER",
    "GRANT_ADMIN_PRIVILEGE",
    "REVOKE_ADMIN_PRIVILEGE",
    "ASSIGN_ROLE",
    "UNASSIGN_ROLE",
];

/// The customer for an answer that is read on its own.
const ORGANIZATION: &str = "acme.example";

fn users_offline(page: Page<User>) -> Vec<CollectionItem> {
    let customer = Whose::Customer { id: "my_customer".to_string(), name: ORGANIZATION.to_string() };
    let users = Users { parts: vec![(customer, listing(page.items))] };
    let mut found = interpret::two_step(ORGANIZATION, &users);
    found.extend(interpret::admin_roles(ORGANIZATION, &users, &listing(Vec::new()), &listing(Vec::new())));
    found
}

fn roles_offline(page: Page<Role>) -> Vec<CollectionItem> {
    let nobody = Users { parts: Vec::new() };
    interpret::admin_roles(ORGANIZATION, &nobody, &listing(page.items), &listing(Vec::new()))
}

fn assignments_offline(page: Page<Assignment>) -> Vec<CollectionItem> {
    let nobody = Users { parts: Vec::new() };
    interpret::admin_roles(ORGANIZATION, &nobody, &listing(Vec::new()), &listing(page.items))
}

fn activities_offline(page: Page<Activity>) -> Vec<CollectionItem> {
    let period = Period { start: Timestamp::UNIX_EPOCH, end: Timestamp::UNIX_EPOCH };
    interpret::lifecycle(ORGANIZATION, period, vec![("CREATE_USER", listing(page.items))])
}

/// A listing with a single page.
fn listing<T>(items: Vec<T>) -> Listing<T> {
    Listing { items, pages: 1, meta: Some(Meta::default()), problem: None, requests: Vec::new() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The budget has room for a page of the largest size, and for every realistic listing.
    #[test]
    fn bounds_fit_each_other() {
        fn check<T>(paged: &Paged<T>, pages: usize, honest: usize) {
            let (limit, budget) = (paged.call.limit, paged.budget);
            assert!(limit < budget && honest * 5 < limit, "{}: {limit} {budget}", paged.call.name);
            assert!(pages * honest < budget, "{}: {pages} {honest} {budget}", paged.call.name);
            assert!(pages <= usize::try_from(paged.pages).unwrap());
        }
        check(&USERS, 1_200, 190_000);
        check(&USERS_OF_DOMAIN, 1_200, 190_000);
        check(&ROLES, 8, 20_000);
        check(&ASSIGNMENTS, 500, 50_000);
        check(&ACTIVITIES, 100, 500_000);
    }
}
