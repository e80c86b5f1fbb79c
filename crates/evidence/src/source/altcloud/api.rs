//! The provider's calls: four listings, page after page, all GET.
//!
//! This file knows addresses, bounds of bodies and where the next page is. What an answer means for a control is
//! decided in `look`.

use std::collections::HashSet;

use jiff::Timestamp;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use url::Url;

use super::access::{Access, Problem};
use super::record::{Assignment, Extent, Role, User};
use super::scope::Scope;
use super::wire::{self, Activity, Page};
use crate::http::client::Parse;
use crate::http::{Answered, Failure, FailureKind, Meta, Reply, Request};

/// A page of 500 users with ten fields each is about 190 kB.
const USERS_LIMIT: usize = 8 * MIB;
/// A page of 100 roles with four fields each is about 20 kB.
const ROLES_LIMIT: usize = MIB;
/// A page of 200 assignments is about 50 kB.
const ASSIGNMENTS_LIMIT: usize = 2 * MIB;
/// A page of 1,000 activities is about 500 kB; an activity of many events is longer.
const ACTIVITIES_LIMIT: usize = 16 * MIB;

/// What the pages of a listing may weigh together: what came over the wire, and the room of each item beside its text.
/// Everything that is read stays in memory until it is judged, so a host that never tires must not fill it.
/// Users: about 500 bytes each, so more than half a million of them.
const USERS_BUDGET: usize = 256 * MIB;
/// Roles: the provider allows 750, which are 200 kB.
const ROLES_BUDGET: usize = 16 * MIB;
/// Assignments: about 400 bytes each, so 160,000 of them.
const ASSIGNMENTS_BUDGET: usize = 64 * MIB;
/// Activities of one event: about 600 bytes each, so 100,000 of them.
const ACTIVITIES_BUDGET: usize = 64 * MIB;

const MIB: usize = 1024 * 1024;

/// Pages of users at most: 600,000 users, for which the budget is made.
const USER_PAGES: u64 = 1_200;
/// Pages of roles at most: the provider allows 750 roles, which are 8 pages.
pub(super) const ROLE_PAGES: u64 = 50;
/// Pages of assignments at most: 100,000 assignments.
pub(super) const ASSIGNMENT_PAGES: u64 = 500;
/// Pages of one event at most: 100,000 of them in half a year.
pub(super) const EVENT_PAGES: u64 = 100;
/// Pages in a row with nothing on them, after which a listing that still points on is going in circles. Logs have some.
const EMPTY_PAGES: u64 = 25;

/// The fields that are asked for: what the artifacts have room for, and what a listing is known by.
const USER_FIELDS: &str = "kind,nextPageToken,users(id,primaryEmail,suspended,archived,isEnrolledIn2Sv,isEnforcedIn2Sv,\
                           isAdmin,isDelegatedAdmin,lastLoginTime,creationTime)";
const ROLE_FIELDS: &str = "kind,nextPageToken,items(roleId,roleName,isSuperAdminRole,isSystemRole)";
const ASSIGNMENT_FIELDS: &str =
    "kind,nextPageToken,items(roleAssignmentId,roleId,assignedTo,assigneeType,scopeType,orgUnitId)";
const ACTIVITY_FIELDS: &str = "kind,nextPageToken,items(id(time,uniqueQualifier),actor(email,callerType),\
                               events(name,parameters(name,value)))";

/// What stays as it is in a query.
const PLAIN: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b':');

/// What an administrator did with an account: the events that are asked for, in the order of the artifact.
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

/// Whose users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Whose {
    /// All of the customer's.
    Customer {
        /// What is asked for: its id or the alias.
        id: String,
        /// Who it is.
        name: String,
    },
    /// Those of one domain.
    Domain(String),
}

impl Whose {
    /// The name of the customer or domain, for checks and people.
    pub(super) fn name(&self) -> &str {
        match self {
            Whose::Customer { name, .. } | Whose::Domain(name) => name,
        }
    }
}

/// From when to when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Period {
    /// The first second.
    pub(super) start: Timestamp,
    /// The last second.
    pub(super) end: Timestamp,
}

/// The first page of a listing, or why it could not be read.
pub(super) type First<T> = Result<Answered<Page<T>>, Problem>;

/// What was read of a listing.
#[derive(Debug)]
pub(super) struct Listing<T> {
    /// What was on the pages.
    pub(super) items: Vec<T>,
    /// How many pages were read.
    pub(super) pages: u64,
    /// The call that brought the first page.
    pub(super) meta: Option<Meta>,
    /// Why the page behind them could not be read.
    pub(super) problem: Option<Problem>,
}

impl<T> Listing<T> {
    /// Nothing, because of `problem`.
    pub(super) fn not_read(problem: Problem) -> Listing<T> {
        Listing { items: Vec::new(), pages: 0, meta: None, problem: Some(problem) }
    }

    /// How much was read.
    pub(super) fn extent(&self) -> Extent {
        match (&self.problem, self.pages) {
            (None, _) => Extent::Complete,
            (Some(_), 0) => Extent::NotRead,
            (Some(_), _) => Extent::Partial,
        }
    }
}

/// A listing's address without its page, and its bounds.
struct Call<'a, T> {
    /// What people call it.
    kind: &'static str,
    scope: Scope,
    path: Vec<&'a str>,
    query: String,
    fields: &'static str,
    limit: usize,
    budget: usize,
    pages: u64,
    parse: Parse<'a, Page<T>>,
}

/// Makes the calls.
pub(super) struct Api<'a> {
    /// With whose rights.
    pub(super) access: &'a Access,
    /// Base of the API.
    pub(super) base: &'a Url,
    /// The customer.
    pub(super) customer: &'a str,
}

impl Api<'_> {
    /// The first page of `users.list`.
    pub(super) async fn first_users(&self, whose: &Whose) -> First<User> {
        self.page(&self.users_call(whose), None).await
    }

    /// The rest of `users.list`.
    pub(super) async fn users(&self, whose: &Whose, first: First<User>) -> Listing<User> {
        self.listing(&self.users_call(whose), first).await
    }

    /// The first page of `roles.list`.
    pub(super) async fn first_roles(&self) -> First<Role> {
        self.page(&self.roles_call(), None).await
    }

    /// The rest of `roles.list`.
    pub(super) async fn roles(&self, first: First<Role>) -> Listing<Role> {
        self.listing(&self.roles_call(), first).await
    }

    /// `roleAssignments.list`
    pub(super) async fn assignments(&self) -> Listing<Assignment> {
        let call = Call {
            kind: "role assignments",
            scope: Scope::Roles,
            path: vec!["admin", "directory", "v1", "customer", self.customer, "roleassignments"],
            query: "maxResults=200".to_string(),
            fields: ASSIGNMENT_FIELDS,
            limit: ASSIGNMENTS_LIMIT,
            budget: ASSIGNMENTS_BUDGET,
            pages: ASSIGNMENT_PAGES,
            parse: &wire::assignments,
        };
        self.listing(&call, self.page(&call, None).await).await
    }

    /// The first page of `activities.list` for one event.
    pub(super) async fn first_events(&self, event: &str, period: Period) -> First<Activity> {
        self.page(&self.events_call(event, period), None).await
    }

    /// The rest of `activities.list` for one event.
    pub(super) async fn events(
        &self,
        event: &str,
        period: Period,
        first: First<Activity>,
    ) -> Listing<Activity> {
        self.listing(&self.events_call(event, period), first).await
    }

    fn users_call(&self, whose: &Whose) -> Call<'_, User> {
        let whose = match whose {
            Whose::Customer { id, .. } => format!("customer={}", encoded(id)),
            Whose::Domain(domain) => format!("domain={}", encoded(domain)),
        };
        Call {
            kind: "users",
            scope: Scope::Users,
            path: vec!["admin", "directory", "v1", "users"],
            query: format!("{whose}&maxResults=500&orderBy=email&projection=basic"),
            fields: USER_FIELDS,
            limit: USERS_LIMIT,
            budget: USERS_BUDGET,
            pages: USER_PAGES,
            parse: &wire::users,
        }
    }

    fn roles_call(&self) -> Call<'_, Role> {
        Call {
            kind: "roles",
            scope: Scope::Roles,
            path: vec!["admin", "directory", "v1", "customer", self.customer, "roles"],
            query: "maxResults=100".to_string(),
            fields: ROLE_FIELDS,
            limit: ROLES_LIMIT,
            budget: ROLES_BUDGET,
            pages: ROLE_PAGES,
            parse: &wire::roles,
        }
    }

    fn events_call(&self, event: &str, period: Period) -> Call<'_, Activity> {
        let (customer, start, end) = (encoded(self.customer), period.start, period.end);
        Call {
            kind: "events",
            scope: Scope::Reports,
            path: vec!["admin", "reports", "v1", "activity", "users", "all", "applications", "admin"],
            query: format!(
                "customerId={customer}&eventName={event}&startTime={start}&endTime={end}&maxResults=1000"
            ),
            fields: ACTIVITY_FIELDS,
            limit: ACTIVITIES_LIMIT,
            budget: ACTIVITIES_BUDGET,
            pages: EVENT_PAGES,
            parse: &wire::activities,
        }
    }

    async fn page<T>(&self, call: &Call<'_, T>, token: Option<&str>) -> First<T> {
        let request = call.request(self.base, token);
        match self.access.send(call.scope, &request, call.limit, call.parse).await {
            Ok(Reply::Good(answered)) => Ok(answered),
            Ok(Reply::Refused(refused)) => Err(Problem::Refused(refused)),
            Err(failure) => Err(Problem::Failed(failure)),
        }
    }

    /// Every page after `first`, one by one: each says where the next is. One that fails ends it; what was read stays.
    async fn listing<T>(&self, call: &Call<'_, T>, first: First<T>) -> Listing<T> {
        let mut listing = Listing { items: Vec::new(), pages: 0, meta: None, problem: None };
        let mut page = first;
        let mut progress = Progress::default();
        loop {
            let page_read = match page {
                Ok(answered) => {
                    listing.meta.get_or_insert(answered.meta);
                    answered.value
                }
                Err(problem) => {
                    listing.problem = Some(problem);
                    return listing;
                }
            };
            listing.pages += 1;
            let goes_on = progress.goes_on(&page_read, call.pages, call.budget);
            listing.items.extend(page_read.items);
            let Some(token) = page_read.next else { return listing };
            if let Err(text) = goes_on {
                listing.problem = Some(Problem::Failed(Failure::local(FailureKind::UnexpectedShape(text))));
                return listing;
            }
            page = self.page(call, Some(&token)).await;
        }
    }
}

/// What a listing has come to, so that one without end is ended.
#[derive(Default)]
struct Progress {
    pages: u64,
    empty: u64,
    weight: usize,
    tokens: HashSet<String>,
}

impl Progress {
    /// Whether the page behind `page` may be asked for, if it points to one.
    fn goes_on<T>(&mut self, page: &Page<T>, pages: u64, budget: usize) -> Result<(), String> {
        let room = page.items.len().saturating_mul(size_of::<T>());
        self.weight = self.weight.saturating_add(page.bytes).saturating_add(room);
        self.pages += 1;
        self.empty = if page.items.is_empty() { self.empty + 1 } else { 0 };
        let Some(token) = &page.next else { return Ok(()) };
        if self.weight > budget {
            return Err(format!("the pages of the listing are together larger than {} MiB", budget / MIB));
        }
        if self.pages >= pages || self.empty >= EMPTY_PAGES || !self.tokens.insert(token.clone()) {
            return Err("the pages of the listing do not come to an end".to_string());
        }
        Ok(())
    }
}

impl<T> Call<'_, T> {
    fn request(&self, base: &Url, token: Option<&str>) -> Request {
        let mut url = base.clone();
        // A base that cannot have path segments (mailto:) is refused by the configuration.
        if let Ok(mut path) = url.path_segments_mut() {
            path.pop_if_empty().extend(&self.path);
        }
        let mut query = format!("{}&fields={}", self.query, self.fields);
        // What the call is named by: the same for every page, without the list of fields.
        let mut label = format!("/{}?{}", self.path.join("/"), self.query);
        if let Some(token) = token {
            query.push_str(&format!("&pageToken={}", encoded(token)));
            label.push_str("&pageToken=...");
        }
        url.set_query(Some(&query));
        Request::get(url, label).header("accept", "application/json").of_kind(self.kind)
    }
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_into_a_query_cannot_leave_it() {
        assert_eq!(encoded("a&b=c#d/e?f g\n"), "a%26b%3Dc%23d%2Fe%3Ff%20g%0A");
        let call = Call {
            kind: "users",
            scope: Scope::Users,
            path: vec!["admin", "a/b", ".."],
            query: "maxResults=1".to_string(),
            fields: "kind",
            limit: 1,
            budget: 1,
            pages: 1,
            parse: &wire::users,
        };
        let base = Url::parse("https://h.example/base/").unwrap();
        let request = call.request(&base, Some("x&y"));
        assert_eq!(request.url.host_str(), Some("h.example"));
        assert_eq!(request.url.query(), Some("maxResults=1&fields=kind&pageToken=x%26y"));
        assert!(request.url.path().starts_with("/base/admin/a%2Fb"), "{}", request.url);
        assert!(!request.label.contains("x&y"), "a page's token is no name: {}", request.label);
    }

    #[test]
    fn a_listing_without_end_is_ended_by_each_of_its_bounds() {
        // How many of the same page are read, the last of which is the one behind which nothing is asked.
        let read = |items: usize, bytes: usize, same_token: bool, pages: u64, budget: usize| {
            let mut progress = Progress::default();
            let page = |number: usize| {
                let next = Some(if same_token { "again".to_string() } else { number.to_string() });
                Page { items: vec![User::default(); items], next, bytes }
            };
            (1..10_000)
                .find_map(|number| Some((number, progress.goes_on(&page(number), pages, budget).err()?)))
        };
        let (end, large) = ("do not come to an end", "larger than");
        let room = size_of::<User>();
        for (items, bytes, same_token, pages, budget, expected) in [
            (1, 10, true, 100, MIB, (2, end)),
            (1, 10, false, 100, MIB, (100, end)),
            (0, 10, false, 100, MIB, (25, end)),
            (1, MIB / 4, false, 100, MIB, (4, large)),
            (1, MIB, false, 100, MIB, (1, large)),
            // Items that are short on the wire have their room all the same.
            (1_000, 3_000, false, 10_000, MIB, (MIB / (3_000 + 1_000 * room) + 1, large)),
        ] {
            let (number, text) = read(items, bytes, same_token, pages, budget).unwrap();
            assert!(number == expected.0 && text.contains(expected.1), "{number} {text}, not {expected:?}");
        }
        // What is read to its end is not ended, however large its last page is.
        let last = Page { items: vec![User::default()], next: None, bytes: 10 * MIB };
        assert_eq!(Progress::default().goes_on(&last, 1, MIB), Ok(()));
    }

    /// A page of the largest size is within the budget, and so is every honest listing.
    #[test]
    fn bounds_fit_each_other() {
        let table = [
            (USERS_LIMIT, USERS_BUDGET, USER_PAGES, 190_000),
            (ROLES_LIMIT, ROLES_BUDGET, 8, 20_000),
            (ASSIGNMENTS_LIMIT, ASSIGNMENTS_BUDGET, ASSIGNMENT_PAGES, 50_000),
            (ACTIVITIES_LIMIT, ACTIVITIES_BUDGET, EVENT_PAGES, 500_000),
        ];
        for (limit, budget, pages, honest) in table {
            assert!(limit < budget && honest * 5 < limit, "{limit} {budget}");
            assert!(usize::try_from(pages).unwrap() * honest < budget, "{pages} {honest} {budget}");
        }
    }

    #[test]
    fn how_much_was_read() {
        let problem = || Some(Problem::Failed(Failure::local(FailureKind::SecondaryLimit)));
        let table =
            [(None, 1, Extent::Complete), (problem(), 0, Extent::NotRead), (problem(), 3, Extent::Partial)];
        for (problem, pages, extent) in table {
            let listing: Listing<User> = Listing { items: Vec::new(), pages, meta: None, problem };
            assert_eq!(listing.extent(), extent);
        }
    }
}
