//! When users signed in last: the users that other topics share, judged by their times.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use jiff::Timestamp;

use crate::observation::{Inspection, Observation, Seen};
use crate::source::CollectionItem;
use crate::source::google::host::api::Host;
use crate::source::google::names::NAME;
use crate::source::google::observe::{merged, observation};
use crate::source::google::topic::{Answers, Inspect, Topic};
use crate::source::google::users::Users;
use evidence_rules::accounts::of_users;
use evidence_rules::age::judged_at;
use evidence_rules::altcloud::OF_USER_ACTIVITY;
use evidence_rules::altcloud::artifact::{PEOPLE, USER_ACTIVITY};
use evidence_rules::altcloud::inactive_users::{ActiveUser, Activity, UserActivity};
use evidence_rules::altcloud::record::UserListing;
use evidence_rules::listed::of_accounts;
use evidence_rules::rule::Settings;

/// The last sign-ins: the users answer it.
pub(crate) static TOPIC: Topic = Topic {
    name: "user activity",
    kind: &USER_ACTIVITY,
    also: None,
    open: |_| async { Box::new(OfUsers) as Box<dyn Answers> }.boxed(),
};

struct OfUsers;

impl Answers for OfUsers {
    fn read<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, Inspect> {
        let organization = host.config.organization().to_string();
        let (at, settings) = (host.period.end, host.config.rule_settings.clone());
        let inspect: Inspect = Box::new(move |users| {
            let list = people(&organization, users);
            [found(&organization, users, at, &settings)].into_iter().chain(list).collect()
        });
        std::future::ready(inspect).boxed()
    }
}

/// The users as a list for an access review, if any were read.
fn people(organization: &str, users: &Users) -> Option<CollectionItem> {
    let meta = users.parts.iter().find_map(|(_, listing)| listing.meta.as_ref())?;
    // Users of other domains than those that were read have accounts, too.
    let is_whole = |listing: &UserListing| listing.read.is_complete() && listing.domain.is_none();
    let people = of_users(users.all(), users.listings().iter().all(is_whole));
    let seen = Seen::artifact(NAME, "people.json", &people, None, meta);
    let (requests, facts) = (users.requests(), of_accounts(&people));
    Some(CollectionItem::Inspected(
        Observation { requests, facts, ..observation(&PEOPLE, organization, seen) }.into(),
    ))
}

/// The users, what is missing of them, and the verdict on the customer, in one inspection.
pub(super) fn found(organization: &str, users: &Users, at: Timestamp, settings: &Settings) -> CollectionItem {
    let meta = users.parts.iter().find_map(|(_, listing)| listing.meta.as_ref());
    let people: Vec<ActiveUser> = users.all().into_iter().map(ActiveUser::from).collect();
    let mut observations = Vec::new();
    if let Some(meta) = meta {
        let record = UserActivity { listings: users.listings(), users: people.clone() };
        let seen = Seen::artifact(NAME, "user_activity.json", &record, None, meta);
        observations.push(Observation {
            requests: users.requests(),
            facts: judged_at(at).into_iter().collect(),
            ..observation(&USER_ACTIVITY, organization, seen)
        });
    }
    let mut gap = None;
    for (seen, requests) in merged(users.gaps().collect()) {
        gap = gap.or_else(|| seen.gap().map(|(reason, detail)| (reason, detail.to_string())));
        let facts = judged_at(at).into_iter().collect();
        observations.push(Observation { requests, facts, ..observation(&USER_ACTIVITY, organization, seen) });
    }
    let subject = organization.into();
    let activity = Activity { users: people, at, gap };
    let inspection = Inspection::of(observations);
    CollectionItem::Inspected(inspection.concluded_by(OF_USER_ACTIVITY, &subject, &activity, settings))
}
