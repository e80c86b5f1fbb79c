//! Two-step verification of every user.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::observation::{Inspection, Observation, Seen};
use crate::source::CollectionItem;
use crate::source::google::host::api::Host;
use crate::source::google::names::NAME;
use crate::source::google::observe::{cloned, gap, merged, observation, unread};
use crate::source::google::topic::{Answers, Inspect, Topic};
use crate::source::google::users::{Users, users_of};
use evidence_rules::altcloud::OF_USERS;
use evidence_rules::altcloud::artifact::TWO_STEP;
use evidence_rules::altcloud::record::TwoStepVerification;
use evidence_rules::rule::Settings;

/// Two-step verification: the users answer it.
pub(crate) static TOPIC: Topic = Topic {
    name: "two-step verification",
    kind: &TWO_STEP,
    also: None,
    open: |_| async { Box::new(OfUsers) as Box<dyn Answers> }.boxed(),
};

struct OfUsers;

impl Answers for OfUsers {
    fn read<'a>(&'a self, host: &'a Host) -> BoxFuture<'a, Inspect> {
        let organization = host.config.organization().to_string();
        let settings = host.config.rule_settings.clone();
        let inspect: Inspect = Box::new(move |users| found(&organization, users, &settings));
        std::future::ready(inspect).boxed()
    }
}

/// The users, the verdict on each listing, and the gaps.
pub(super) fn found(organization: &str, users: &Users, settings: &Settings) -> Vec<CollectionItem> {
    let meta = users.parts.iter().find_map(|(_, listing)| listing.meta.as_ref());
    let inspection = meta.map(|meta| {
        let record = TwoStepVerification { listings: users.listings(), users: cloned(users.all()) };
        let seen = Seen::artifact(NAME, "two_step_verification.json", &record, None, meta);
        let requests = users.requests();
        let read = Inspection::from(Observation { requests, ..observation(&TWO_STEP, organization, seen) });
        let judged = users.parts.iter().zip(&record.listings);
        judged.fold(read, |read, ((whose, _), listing)| {
            OF_USERS.iter().fold(read, |read, judge| match (judge.judge)(&record, listing, settings) {
                Some(verdict) => read.judged(judge.rule, whose.name(), verdict),
                None => read,
            })
        })
    });
    let missing = users.parts.iter().flat_map(|(whose, listing)| {
        let gaps = merged(gap(&users_of(whose), listing).into_iter().collect());
        gaps.into_iter().map(|gap| unread(&TWO_STEP, whose.name(), gap))
    });
    inspection.map(CollectionItem::Inspected).into_iter().chain(missing).collect()
}
