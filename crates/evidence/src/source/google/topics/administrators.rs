//! The administrator roles and who has them.

use std::collections::HashMap;

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join};

use super::alone::{ORGANIZATION, listing};
use super::groups::{self, Groups};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::google::host::api::Host;
use crate::source::google::host::listing::{JSON, Listing, MIB, Page, Paged, Recorded, items};
use crate::source::google::host::scopes::OAuthScope;
use crate::source::google::names::NAME;
use crate::source::google::observe::{cloned, distinct, gap, merged, observation, plan_gaps, unread};
use crate::source::google::topic::{Answers, FirstPart, Inspect, Topic, TopicPlan};
use crate::source::google::users::Users;
use crate::source::{CollectionItem, Source as _};
use evidence_http::{Call, ParseError};
use evidence_rules::altcloud::OF_ADMIN_ROLES;
use evidence_rules::altcloud::artifact::{ADMIN_ROLES, ADMINISTRATORS_EFFECTIVE};
use evidence_rules::altcloud::record::{AdminRoles, Administrator, Assignment, AssignmentRecord, Role, User};
use evidence_rules::rule::Settings;

/// The display name of the listing of roles.
const OF_ROLES: &str = "administrator roles";

/// The display name of the listing of role assignments.
const OF_ASSIGNMENTS: &str = "role assignments";

/// The administrators.
pub(crate) static TOPIC: Topic = Topic {
    name: "administrator roles",
    kind: &ADMIN_ROLES,
    also: Some(&ADMINISTRATORS_EFFECTIVE),
    open: |host| open(host).boxed(),
};

/// The administrator roles.
pub(crate) static ROLES: Paged<Role> = Paged {
    call: Call {
        name: "/admin/directory/v1/customer/{customer}/roles?maxResults=100",
        purpose: "`administrators`, `administrators-by-group`; its first page is part of the connection test",
        times: "once per 100 roles",
        kind: Some("roles"),
        media_type: JSON,
        // A page of 100 roles with four fields each is about 20 kB.
        limit: MIB,
        parse: page_of_roles,
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
pub(crate) static ASSIGNMENTS: Paged<Assignment> = Paged {
    call: Call {
        name: "/admin/directory/v1/customer/{customer}/roleassignments?maxResults=200",
        purpose: "`administrators`, `administrators-by-group`",
        times: "once per 200 assignments",
        kind: Some("role assignments"),
        media_type: JSON,
        // A page of 200 assignments is about 50 kB.
        limit: 2 * MIB,
        parse: page_of_assignments,
        subject: None,
        keep: None,
    },
    scope: OAuthScope::Roles,
    fields: "kind,nextPageToken,items(roleAssignmentId,roleId,assignedTo,assigneeType,scopeType,orgUnitId)",
    // 100,000 assignments; the budget has room for 160,000 of about 400 bytes.
    pages: 500,
    budget: 64 * MIB,
};

/// `roles.list`
pub(super) fn page_of_roles(bytes: &[u8]) -> Result<Page<Role>, ParseError> {
    items("admin#directory#roles", bytes)
}

/// `roleAssignments.list`
pub(super) fn page_of_assignments(bytes: &[u8]) -> Result<Page<Assignment>, ParseError> {
    items("admin#directory#roleAssignments", bytes)
}

/// The first page of the roles, if their scope is delegated.
struct FirstRoles(Option<Recorded<Role>>);

async fn open(host: &Host) -> Box<dyn Answers> {
    let first = match host.has(OAuthScope::Roles) {
        true => Some(host.first(&host.of_customer(&ROLES)).await),
        false => None,
    };
    Box::new(FirstRoles(first))
}

impl Answers for FirstRoles {
    fn first(&self) -> Option<FirstPart<'_>> {
        let scope = OAuthScope::Roles;
        let page = self.0.as_ref()?.0.as_ref().map(|answered| &answered.meta);
        Some(FirstPart { scope, what: scope.shows().to_string(), page })
    }

    fn plan<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, TopicPlan> {
        async move {
            let (roles, assignments) = self.all(host).await;
            let groups = members(host, &roles, &assignments).await;
            let gaps = [gap(OF_ROLES, &roles), gap(OF_ASSIGNMENTS, &assignments)];
            let mut plan = TopicPlan::default();
            let of_groups = groups.iter().flat_map(Groups::gaps);
            plan_gaps(&mut plan.gaps, gaps.into_iter().flatten().chain(of_groups));
            plan
        }
        .boxed()
    }

    fn read<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, Inspect> {
        async move {
            let organization = host.config.organization().to_string();
            let (roles, assignments) = self.all(host).await;
            let groups = members(host, &roles, &assignments).await;
            let settings = host.config.rule_settings.clone();
            let direct = host.config.collects(&ADMIN_ROLES);
            let inspect: Inspect = Box::new(move |users| {
                let mut items = Vec::new();
                if direct {
                    items.extend(found(&organization, users, &roles, &assignments, &settings));
                }
                if let Some(groups) = &groups {
                    let asked = (&roles, &assignments, groups);
                    items.push(with_groups(&organization, users, asked, &settings));
                }
                items
            });
            inspect
        }
        .boxed()
    }
}

impl FirstRoles {
    /// The roles and their assignments.
    async fn all(&self, host: &Host) -> (Listing<Role>, Listing<Assignment>) {
        join(self.roles(host), assignments(host)).await
    }

    async fn roles(&self, host: &Host) -> Listing<Role> {
        if let Some(refused) = host.not_delegated(OAuthScope::Roles) {
            return refused;
        }
        let question = host.of_customer(&ROLES);
        match &self.0 {
            Some(first) => host.listing(&question, first.clone()).await,
            None => host.whole(&question).await,
        }
    }
}

async fn assignments(host: &Host) -> Listing<Assignment> {
    match host.not_delegated(OAuthScope::Roles) {
        Some(refused) => refused,
        None => host.whole(&host.of_customer(&ASSIGNMENTS)).await,
    }
}

/// The members of groups with the role, if a rule needs them.
async fn members(host: &Host, roles: &Listing<Role>, assignments: &Listing<Assignment>) -> Option<Groups> {
    if !host.config.collects(&ADMINISTRATORS_EFFECTIVE) {
        return None;
    }
    let nobody = Users { parts: Vec::new() };
    Some(Groups::read(host, &admin_record(&nobody, roles, assignments)).await)
}

/// The administrators with those of groups, and the gaps.
fn with_groups(
    organization: &str,
    users: &Users,
    (roles, assignments, groups): (&Listing<Role>, &Listing<Assignment>, &Groups),
    settings: &Settings,
) -> CollectionItem {
    let record = admin_record(users, roles, assignments);
    let meta = roles.meta.as_ref().or(assignments.meta.as_ref());
    let requests =
        [roles.requests.as_slice(), &assignments.requests, &users.requests(), &groups.requests()].concat();
    let of_roles = [gap(OF_ROLES, roles), gap(OF_ASSIGNMENTS, assignments)];
    let gaps = of_roles.into_iter().flatten().chain(users.gaps()).chain(groups.gaps()).collect();
    groups::found(organization, users, &record, groups, (meta, requests, gaps), settings)
}

/// The roles and their assignments, and the gaps in them and in the users.
pub(super) fn found(
    organization: &str,
    users: &Users,
    roles: &Listing<Role>,
    assignments: &Listing<Assignment>,
    settings: &Settings,
) -> Vec<CollectionItem> {
    let read = roles.meta.as_ref().or(assignments.meta.as_ref()).map(|meta| {
        let record = admin_record(users, roles, assignments);
        let seen = Seen::artifact(NAME, "admin_roles.json", &record, None, meta);
        let requests = [roles.requests.as_slice(), &assignments.requests, &users.requests()].concat();
        let observation = Observation { requests, ..observation(&ADMIN_ROLES, organization, seen) };
        let inspection = Inspection::from(observation);
        CollectionItem::Inspected(inspection.judged_by(
            OF_ADMIN_ROLES,
            &organization.into(),
            &record,
            settings,
        ))
    });
    let of_roles = [gap(OF_ROLES, roles), gap(OF_ASSIGNMENTS, assignments)];
    let gaps = of_roles.into_iter().flatten().chain(users.gaps()).collect();
    let missing = merged(gaps).into_iter().map(|gap| unread(&ADMIN_ROLES, organization, gap));
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

/// Users alone.
pub(super) fn users_offline(users: &Users) -> Vec<CollectionItem> {
    found(ORGANIZATION, users, &listing(Vec::new()), &listing(Vec::new()), &Settings::default())
}

pub(super) fn roles_offline(page: Page<Role>) -> Vec<CollectionItem> {
    let nobody = Users { parts: Vec::new() };
    found(ORGANIZATION, &nobody, &listing(page.items), &listing(Vec::new()), &Settings::default())
}

pub(super) fn assignments_offline(page: Page<Assignment>) -> Vec<CollectionItem> {
    let nobody = Users { parts: Vec::new() };
    found(ORGANIZATION, &nobody, &listing(Vec::new()), &listing(page.items), &Settings::default())
}
