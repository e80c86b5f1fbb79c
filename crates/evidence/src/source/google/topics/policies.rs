//! The customer's policies, and whom they concern: the units, the members of the groups that they name, and the users.

use std::collections::{BTreeMap, BTreeSet};

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join};
use jiff::Timestamp;
use serde::Deserialize;

use super::alone::{self, ORGANIZATION};
use super::groups::MEMBERS;
use crate::json::{Object, object};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::CollectionItem;
use crate::source::google::host::api::{Host, ListingRequest};
use crate::source::google::host::compare::of_customer;
use crate::source::google::host::listing::{JSON, Listing, MIB, Page, Paged, Recorded, page};
use crate::source::google::host::scopes::OAuthScope;
use crate::source::google::names::{MY_CUSTOMER, NAME};
use crate::source::google::observe::{Gap, cloned, distinct, gap, merged, observation, plan_gaps};
use crate::source::google::topic::{Answers, FirstPart, Inspect, Topic, TopicPlan};
use crate::source::google::users::Users;
use evidence_http::{AskedAbout, Call, ParseError, Subject};
use evidence_rules::age::judged_at;
use evidence_rules::altcloud::OF_POLICIES;
use evidence_rules::altcloud::artifact::POLICIES as KIND;
use evidence_rules::altcloud::effective::Member;
use evidence_rules::altcloud::policies::{OrgUnit, Policies, Policy, PolicyFacts, PolicyGroup, PolicyUsers};
use evidence_rules::altcloud::record::User;
use evidence_rules::field::Field;
use evidence_rules::rule::Settings;

/// The most groups whose members are read: whom a policy for another group concerns is not known.
const MAXIMUM_GROUPS: usize = 200;

/// The display names of the listings.
const OF_POLICY: &str = "policies";
const OF_UNITS: &str = "organizational units";

/// The policies.
pub(crate) static TOPIC: Topic =
    Topic { name: "policies", kind: &KIND, also: None, open: |host| open(host).boxed() };

/// The policies of the settings for sign-in.
pub(crate) static POLICIES: Paged<Policy> = Paged {
    call: Call {
        name: "/v1/policies?pageSize=100&filter={filter}",
        purpose: "`two-step-policy`, `two-step-strength`, `workspace-password-policy`, `session-length` and `recovery-off`, at \
                  `cloud_identity_url`; its first page is part of the connection test",
        times: "once per 100 policies of `settings/security.*`",
        kind: Some("policies"),
        media_type: JSON,
        // A page of 100 policies is about 60 kB.
        limit: 2 * MIB,
        parse: page_of_policies,
        subject: Some(Subject {
            fields: "`customer`, the same of every policy of a page",
            other: |page, about| {
                let id = |policy: &Policy| policy.customer.clone().map(|name| last(&name).to_string());
                let customers: Vec<Field<String>> = page.items.iter().map(id).collect();
                // The filter names the customer, if it is not the administrator's own.
                let asked =
                    about.subject.split_once("customers%2F").and_then(|(_, rest)| rest.split('%').next());
                let subject = format!("?customer={}", asked.unwrap_or(MY_CUSTOMER));
                of_customer(customers.iter(), &AskedAbout { subject: &subject, ..*about })
            },
        }),
        keep: None,
    },
    scope: OAuthScope::Policies,
    fields: "nextPageToken,policies(name,customer,type,policyQuery,setting)",
    // 20,000 policies.
    pages: 200,
    budget: 32 * MIB,
};

/// The organizational units.
pub(crate) static UNITS: Paged<OrgUnit> = Paged {
    call: Call {
        name: "/admin/directory/v1/customer/{customer}/orgunits?type=allIncludingParent",
        purpose: "the same: the units that the policies name",
        times: "once",
        kind: Some("organizational units"),
        media_type: JSON,
        // A customer may have many thousands, of about 150 bytes each.
        limit: 8 * MIB,
        parse: page_of_units,
        subject: None,
        keep: None,
    },
    scope: OAuthScope::Units,
    fields: "kind,organizationUnits(orgUnitId,orgUnitPath)",
    pages: 1,
    budget: 32 * MIB,
};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PolicyPage {
    next_page_token: Option<String>,
    policies: Option<Vec<Object<Policy>>>,
}

/// `policies.list`, which has no kind.
pub(super) fn page_of_policies(bytes: &[u8]) -> Result<Page<Policy>, ParseError> {
    let PolicyPage { next_page_token, policies } = object(bytes)?;
    // A customer for whom nobody set anything has an answer without members.
    let is_empty = bytes.iter().filter(|byte| !byte.is_ascii_whitespace()).eq(b"{}");
    let policies = policies.or_else(|| is_empty.then(Vec::new));
    page("policies", None, next_page_token, policies, bytes)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UnitPage {
    kind: Option<String>,
    organization_units: Option<Vec<Object<OrgUnit>>>,
}

/// `orgunits.list`, which has no pages.
pub(super) fn page_of_units(bytes: &[u8]) -> Result<Page<OrgUnit>, ParseError> {
    let UnitPage { kind, organization_units } = object(bytes)?;
    page("admin#directory#orgUnits", kind, None, organization_units, bytes)
}

/// The last part of a name.
fn last(name: &str) -> &str {
    name.rsplit('/').next().unwrap_or(name)
}

fn question(host: &Host) -> ListingRequest<Policy> {
    let filter = match host.config.customer_id.as_str() {
        // The administrator's own customer, if the filter names none.
        MY_CUSTOMER => String::new(),
        id => format!("customer == \"customers/{id}\" && "),
    };
    let filter = format!("{filter}setting.type.matches('^settings/security\\\\..*$')");
    host.question(&POLICIES, &[("filter", &filter)])
}

/// The first page of the policies, if their scope is delegated.
struct FirstPolicies(Option<Recorded<Policy>>);

async fn open(host: &Host) -> Box<dyn Answers> {
    let first = match host.has(OAuthScope::Policies) {
        true => Some(host.first(&question(host)).await),
        false => None,
    };
    Box::new(FirstPolicies(first))
}

impl Answers for FirstPolicies {
    fn first(&self) -> Option<FirstPart<'_>> {
        let scope = OAuthScope::Policies;
        let page = self.0.as_ref()?.0.as_ref().map(|answered| &answered.meta);
        Some(FirstPart { scope, what: scope.shows().to_string(), page })
    }

    fn plan<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, TopicPlan> {
        async move {
            let read = self.all(host).await;
            let mut plan = TopicPlan::default();
            plan_gaps(&mut plan.gaps, read.gaps());
            plan
        }
        .boxed()
    }

    fn read<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, Inspect> {
        async move {
            let organization = host.config.organization().to_string();
            let (at, settings) = (host.period.end, host.config.rule_settings.clone());
            let read = self.all(host).await;
            let inspect: Inspect =
                Box::new(move |users| vec![found(&organization, users, &read, at, &settings)]);
            inspect
        }
        .boxed()
    }
}

impl FirstPolicies {
    async fn all(&self, host: &Host) -> PolicyListings {
        let (policies, units) = join(self.policies(host), units(host)).await;
        let named: BTreeSet<String> =
            judged(&policies).filter_map(|policy| policy.group()).map(str::to_string).collect();
        let mut groups = Vec::new();
        for id in named.into_iter().take(MAXIMUM_GROUPS) {
            let members = match host.not_delegated(OAuthScope::Members) {
                Some(refused) => refused,
                None => host.whole(&host.question(&MEMBERS, &[("group", &id)])).await,
            };
            groups.push((id, members));
        }
        PolicyListings { policies, units, groups }
    }

    async fn policies(&self, host: &Host) -> Listing<Policy> {
        if let Some(refused) = host.not_delegated(OAuthScope::Policies) {
            return refused;
        }
        match &self.0 {
            Some(first) => host.listing(&question(host), first.clone()).await,
            None => host.whole(&question(host)).await,
        }
    }
}

async fn units(host: &Host) -> Listing<OrgUnit> {
    match host.not_delegated(OAuthScope::Units) {
        Some(refused) => refused,
        None => host.whole(&host.of_customer(&UNITS)).await,
    }
}

/// The policies that a rule judges.
fn judged(policies: &Listing<Policy>) -> impl Iterator<Item = &Policy> {
    policies.items.iter().filter(|policy| policy.setting_name().is_some())
}

/// Everything that was read beside the users.
struct PolicyListings {
    policies: Listing<Policy>,
    units: Listing<OrgUnit>,
    groups: Vec<(String, Listing<Member>)>,
}

impl PolicyListings {
    fn gaps(&self) -> Vec<Gap<'_>> {
        let groups = self
            .groups
            .iter()
            .filter_map(|(id, members)| gap(&format!("members of the group {id}"), members));
        let first = [gap(OF_POLICY, &self.policies), gap(OF_UNITS, &self.units)];
        first.into_iter().flatten().chain(groups).collect()
    }

    fn record(&self, users: &Users) -> Policies {
        let policies = distinct(judged(&self.policies), |policy| policy.name.value().map(String::as_str));
        let units = distinct(&self.units.items, |unit| unit.org_unit_id.value().map(String::as_str));
        let group = |(id, members): &(String, Listing<Member>)| PolicyGroup {
            group_id: id.clone(),
            members_read: members.extent(),
            only_users: members.items.iter().all(Member::is_user),
        };
        Policies {
            policies_read: self.policies.extent(),
            org_units_read: self.units.extent(),
            user_listings: users.listings(),
            policies: cloned(policies),
            org_units: cloned(units),
            groups: self.groups.iter().map(group).collect(),
            users: self.counted(&users.all()),
        }
    }

    /// The users who can sign in, by what decides which policies apply to them.
    fn counted(&self, users: &[&User]) -> Vec<PolicyUsers> {
        let mut groups: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (group, members) in &self.groups {
            for id in members.items.iter().filter_map(|member| member.id.value()) {
                groups.entry(id.as_str()).or_default().insert(group.as_str());
            }
        }
        let mut found: Vec<PolicyUsers> = Vec::new();
        let mut places: BTreeMap<_, usize> = BTreeMap::new();
        for user in users.iter().filter(|user| !user.is_inactive()) {
            let own = user.id.value().and_then(|id| groups.get(id.as_str()));
            let group_ids: Vec<String> =
                own.into_iter().flatten().map(|group| (*group).to_string()).collect();
            let path = user.org_unit_path.clone();
            let key =
                (path.value().cloned(), group_ids.clone(), user.is_admin.value().copied(), user.is_active());
            let place = *places.entry(key).or_insert_with(|| {
                found.push(PolicyUsers {
                    org_unit_path: path,
                    group_ids,
                    is_admin: user.is_admin.clone(),
                    certain: user.is_active(),
                    users: 0,
                });
                found.len().saturating_sub(1)
            });
            if let Some(one) = found.get_mut(place) {
                one.users = one.users.saturating_add(1);
            }
        }
        found
    }
}

/// The policies with whom they concern, what is missing, and the verdicts, in one inspection.
fn found(
    organization: &str,
    users: &Users,
    read: &PolicyListings,
    at: Timestamp,
    settings: &Settings,
) -> CollectionItem {
    let facts = || judged_at(at).into_iter().collect();
    let mut observations = Vec::new();
    let record = read.policies.meta.as_ref().map(|meta| {
        let record = read.record(users);
        let seen = Seen::artifact(NAME, "policies.json", &record, None, meta);
        let of_groups = read.groups.iter().flat_map(|(_, members)| members.requests.iter().cloned());
        let listed = [read.policies.requests.as_slice(), &read.units.requests, &users.requests()].concat();
        let requests = listed.into_iter().chain(of_groups).collect();
        observations.push(Observation { requests, facts: facts(), ..observation(&KIND, organization, seen) });
        record
    });
    let gaps = read.gaps().into_iter().chain(users.gaps()).collect();
    let mut first = None;
    for (seen, requests) in merged(gaps) {
        first = first.or_else(|| seen.gap().map(|(reason, detail)| (reason, detail.to_string())));
        observations.push(Observation { requests, facts: facts(), ..observation(&KIND, organization, seen) });
    }
    let facts = PolicyFacts { record, at, gap: first };
    let inspection = Inspection::of(observations);
    CollectionItem::Inspected(inspection.concluded_by(OF_POLICIES, &organization.into(), &facts, settings))
}

fn offline(policies: Listing<Policy>, units: Listing<OrgUnit>) -> Vec<CollectionItem> {
    let user = User {
        suspended: Field::Value(false),
        archived: Field::Value(false),
        is_admin: Field::Value(true),
        org_unit_path: Field::Value("/".to_string()),
        ..User::default()
    };
    let users = alone::users(Page { items: vec![user], next: None, bytes: 0 });
    let read = PolicyListings { policies, units, groups: Vec::new() };
    vec![found(ORGANIZATION, &users, &read, Timestamp::UNIX_EPOCH, &Settings::default())]
}

/// Policies alone.
pub(super) fn policies_offline(page: Page<Policy>) -> Vec<CollectionItem> {
    offline(alone::listing(page.items), alone::listing(Vec::new()))
}

/// Units alone.
pub(super) fn units_offline(page: Page<OrgUnit>) -> Vec<CollectionItem> {
    offline(alone::listing(Vec::new()), alone::listing(page.items))
}
