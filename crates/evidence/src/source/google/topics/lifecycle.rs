//! The log of account changes: what administrators did.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use jiff::Timestamp;
use serde::Deserialize;

use super::alone::{self, ORGANIZATION};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::CollectionItem;
use crate::source::google::host::api::{Host, ListingRequest};
use crate::source::google::host::compare::of_customer;
use crate::source::google::host::listing::{
    JSON, Listing, ListingError, MIB, Page, Paged, Period, Recorded, items,
};
use crate::source::google::host::scopes::OAuthScope;
use crate::source::google::names::NAME;
use crate::source::google::observe::{distinct, gap, merged, observation, plan_gaps, unread};
use crate::source::google::topic::{Answers, FirstPart, Inspect, Topic, TopicPlan};
use evidence_http::{Call, ParseError, Subject};
use evidence_rules::altcloud::OF_USER_LIFECYCLE;
use evidence_rules::altcloud::artifact::USER_LIFECYCLE;
use evidence_rules::altcloud::record::{Actor, AdminEvent, EventListing, Parameters, UserLifecycle};
use evidence_rules::field::Field;
use evidence_rules::rule::Settings;
use evidence_rules::shape::{section, sections};
use evidence_text::saturating_u64;

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

/// The log of account changes.
pub(crate) static TOPIC: Topic =
    Topic { name: "user lifecycle", kind: &USER_LIFECYCLE, also: None, open: |host| open(host).boxed() };

/// The log of administrators' actions, for one event.
pub(crate) static ACTIVITIES: Paged<Activity> = Paged {
    call: Call {
        name: "/admin/reports/v1/activity/users/all/applications/admin?customerId={customer}&eventName={event}\
               &startTime={start}&endTime={end}&maxResults=1000",
        purpose: "`user-lifecycle-log`; its first page for the first event is part of the connection test",
        times: "once per event, and once more per 1,000 of them",
        kind: Some("events"),
        media_type: JSON,
        // A page of 1,000 activities is about 500 kB; an activity with many events is longer.
        limit: 16 * MIB,
        parse: page_of_activities,
        subject: Some(Subject {
            fields: "`id.customerId`, the same of every event of a page",
            other: |page, about| {
                let ids = page.items.iter().filter_map(|activity| activity.id.value());
                of_customer(ids.map(|id: &ActivityId| &id.customer_id), about)
            },
        }),
        keep: None,
    },
    scope: OAuthScope::Reports,
    fields: "kind,nextPageToken,items(id(time,uniqueQualifier,customerId),actor(email,callerType),\
             events(name,parameters(name,value)))",
    // 100,000 activities of one event in half a year, of about 600 bytes each.
    pages: 100,
    budget: 64 * MIB,
};

/// `activities.list`
pub(super) fn page_of_activities(bytes: &[u8]) -> Result<Page<Activity>, ParseError> {
    items("admin#reports#activities", bytes)
}

/// One item of `activities.list`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
pub(crate) struct Activity {
    #[serde(default, deserialize_with = "section")]
    pub(crate) id: Field<ActivityId>,
    #[serde(default, deserialize_with = "section")]
    pub(crate) actor: Field<Actor>,
    #[serde(default, deserialize_with = "sections")]
    pub(crate) events: Field<Vec<ActivityEvent>>,
}

/// The identity of an activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ActivityId {
    #[serde(default)]
    pub(crate) time: Field<String>,
    #[serde(default)]
    pub(crate) unique_qualifier: Field<String>,
    #[serde(default)]
    pub(crate) customer_id: Field<String>,
}

/// One event of an activity.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
pub(crate) struct ActivityEvent {
    pub(crate) name: Option<String>,
    #[serde(default, deserialize_with = "sections")]
    pub(crate) parameters: Field<Vec<Parameter>>,
}

/// One parameter of an event. Only text values are kept.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
pub(crate) struct Parameter {
    pub(crate) name: Option<String>,
    pub(crate) value: Option<String>,
}

impl ActivityEvent {
    /// The value of the parameter with this name.
    pub(crate) fn parameter(&self, name: &str) -> Option<&str> {
        let mut all = self.parameters.value().into_iter().flatten();
        all.find(|parameter| parameter.name.as_deref() == Some(name))?.value.as_deref()
    }
}

fn question(host: &Host, event: &str) -> ListingRequest<Activity> {
    let (start, end) = (host.period.start.to_string(), host.period.end.to_string());
    let customer = host.config.customer_id.as_str();
    let parameters = [("customer", customer), ("event", event), ("start", &*start), ("end", &*end)];
    host.question(&ACTIVITIES, &parameters)
}

/// The first page of the log for the first event, if the scope is delegated.
struct FirstEvents(Option<Recorded<Activity>>);

async fn open(host: &Host) -> Box<dyn Answers> {
    let first = match EVENTS.first().filter(|_| host.has(OAuthScope::Reports)) {
        Some(event) => Some(host.first(&question(host, event)).await),
        None => None,
    };
    Box::new(FirstEvents(first))
}

impl Answers for FirstEvents {
    fn first(&self) -> Option<FirstPart<'_>> {
        let scope = OAuthScope::Reports;
        let page = self.0.as_ref()?.0.as_ref().map(|answered| &answered.meta);
        Some(FirstPart { scope, what: scope.shows().to_string(), page })
    }

    /// Reads the first page of each event.
    fn plan<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, TopicPlan> {
        async move {
            let further_pages = ACTIVITIES.pages.saturating_sub(1);
            let mut plan = TopicPlan { further_pages, ..TopicPlan::default() };
            if let Some(log) = host.not_delegated::<Activity>(OAuthScope::Reports) {
                plan_gaps(&mut plan.gaps, gap("the log of account changes", &log));
                return plan;
            }
            let firsts = EVENTS.iter().map(|event| async move { (*event, self.page(host, event).await) });
            let firsts = join_all(firsts).await;
            let gaps = firsts.iter().filter_map(|(event, (first, requests))| {
                Some((events_of(event), first.as_ref().err()?, requests.as_slice()))
            });
            plan_gaps(&mut plan.gaps, gaps);
            let goes_on = |(_, (first, _)): &&(_, Recorded<Activity>)| {
                first.as_ref().is_ok_and(|page| page.value.next.is_some())
            };
            plan.longer = saturating_u64(firsts.iter().filter(goes_on).count());
            plan
        }
        .boxed()
    }

    fn read<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, Inspect> {
        async move {
            let (organization, period) = (host.config.organization().to_string(), host.period);
            let events = EVENTS.iter().map(|event| async move { (*event, self.event(host, event).await) });
            let events = join_all(events).await;
            let settings = host.config.rule_settings.clone();
            let inspect: Inspect = Box::new(move |_| found(&organization, period, events, &settings));
            inspect
        }
        .boxed()
    }
}

impl FirstEvents {
    async fn event(&self, host: &Host, event: &'static str) -> Listing<Activity> {
        if let Some(refused) = host.not_delegated(OAuthScope::Reports) {
            return refused;
        }
        let first = self.page(host, event).await;
        host.listing(&question(host, event), first).await
    }

    /// The first page of the log for `event`. The connection test has read it for the first event.
    async fn page(&self, host: &Host, event: &'static str) -> Recorded<Activity> {
        match &self.0 {
            Some(first) if EVENTS.first() == Some(&event) => first.clone(),
            // A refusal for one event applies to the whole log.
            Some((Err(ListingError::Refused(refused)), requests)) => {
                (Err(ListingError::Refused(refused.clone())), requests.clone())
            }
            _ => host.first(&question(host, event)).await,
        }
    }
}

/// The display name of the listing of events called `name`.
fn events_of(name: &str) -> String {
    format!("events {name}")
}

/// The log of account changes, and its gaps.
pub(super) fn found(
    organization: &str,
    period: Period,
    parts: Vec<(&'static str, Listing<Activity>)>,
    settings: &Settings,
) -> Vec<CollectionItem> {
    let meta = parts.iter().find_map(|(_, listing)| listing.meta.clone());
    let gaps = parts.iter().filter_map(|(name, listing)| gap(&events_of(name), listing)).collect();
    let missing = merged(gaps);
    let requests = parts.iter().flat_map(|(_, listing)| listing.requests.iter().cloned()).collect();
    let read = meta.map(|meta| {
        let record = record_of(period, parts);
        let seen = Seen::artifact(NAME, "user_lifecycle.json", &record, None, &meta);
        let observation = Observation { requests, ..observation(&USER_LIFECYCLE, organization, seen) };
        let inspection = Inspection::from(observation);
        CollectionItem::Inspected(inspection.judged_by(
            OF_USER_LIFECYCLE,
            &organization.into(),
            &record,
            settings,
        ))
    });
    let missing = missing.into_iter().map(|gap| unread(&USER_LIFECYCLE, organization, gap));
    read.into_iter().chain(missing).collect()
}

fn record_of(period: Period, parts: Vec<(&'static str, Listing<Activity>)>) -> UserLifecycle {
    let mut event_names = Vec::new();
    let mut events = Vec::new();
    for (name, listing) in parts {
        let read = listing.extent();
        // Compare whole activities: one may contain several identical events, such as a role that is assigned twice.
        let activities = distinct(&listing.items, |activity| {
            activity.id.value()?.unique_qualifier.value().map(String::as_str)
        });
        let of_name: Vec<AdminEvent> =
            activities.into_iter().flat_map(|activity| events_in(name, activity)).collect();
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
fn events_in(name: &'static str, activity: &Activity) -> Vec<AdminEvent> {
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

pub(super) fn offline(page: Page<Activity>) -> Vec<CollectionItem> {
    let period = Period { start: Timestamp::UNIX_EPOCH, end: Timestamp::UNIX_EPOCH };
    found(ORGANIZATION, period, vec![("CREATE_USER", alone::listing(page.items))], &Settings::default())
}
