//! Settings of which each region has its own, judged together: a record per region, or why it was not read.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};
use serde::Serialize;

use super::alone::{ACCOUNT, REGION};
use crate::observation::{ArtifactKind, Inspection, Observation, Seen};
use crate::source::CollectionItem;
use crate::source::aws::account::Account;
use crate::source::aws::host::endpoint::Region;
use crate::source::aws::host::refusal::{ReadResult, Recorded, failure, with_requests_of};
use crate::source::aws::names::NAME;
use crate::source::aws::observe::{denied, observation, unread_reason};
use crate::source::aws::topic::{AccountPlan, Answers, Reading};
use evidence_bundle::document::Warning;
use evidence_http::Meta;
use evidence_rules::cloud::regional::Regions;
use evidence_rules::rule::{Judge, Settings};
use evidence_text::saturating_u64;

/// What is read of each region.
pub(super) struct Regional<R: 'static> {
    pub(super) kind: &'static ArtifactKind,
    /// The display name.
    pub(super) name: &'static str,
    /// The consequence of a refusal.
    pub(super) lost: &'static str,
    pub(super) judges: &'static [&'static Judge<Regions<R>>],
    /// The permissions of its calls.
    pub(super) permissions: &'static [&'static str],
    /// Reads everything of a region.
    pub(super) read: for<'a> fn(&'a Account, &'a Region) -> BoxFuture<'a, ReadResult<R>>,
}

impl<R: Serialize + Clone + Send + Sync> Regional<R> {
    pub(super) async fn open(&'static self, account: &Account) -> Box<dyn Answers> {
        let regions = account.regions().iter().map(|region| async move {
            let reading = (self.read)(account, region);
            (region.clone(), with_requests_of(self.permissions, reading).await)
        });
        Box::new(OfRegions { of: self, regions: join_all(regions).await })
    }

    fn filename(&self, region: &str) -> String {
        format!("{}_{region}.json", self.kind.name)
    }

    /// Judges all regions of an account together.
    fn inspect(
        &self,
        number: &str,
        observations: Vec<Observation>,
        regions: &Regions<R>,
        settings: &Settings,
    ) -> CollectionItem {
        let inspection = Inspection::of(observations);
        CollectionItem::Inspected(inspection.concluded_by(self.judges, &number.into(), regions, settings))
    }

    /// What the record of one region means on its own.
    pub(super) fn offline(&self, record: R) -> Vec<CollectionItem> {
        let seen = Seen::artifact(NAME, &self.filename(REGION), &record, None, &Meta::default());
        let observed = observation(self.kind, &format!("{ACCOUNT}/{REGION}"), seen);
        let regions = Regions(vec![(REGION.to_string(), Ok(record))]);
        vec![self.inspect(ACCOUNT, vec![observed], &regions, &Settings::default())]
    }
}

/// The records of all regions.
struct OfRegions<R: 'static> {
    of: &'static Regional<R>,
    regions: Vec<(Region, Recorded<R>)>,
}

impl<R: Serialize + Clone + Send + Sync> Answers for OfRegions<R> {
    fn warnings(&self, account: &Account, region: Option<&Region>) -> Vec<Warning> {
        let of_region = self.regions.iter().filter(|(of, _)| Some(of) == region);
        let warning = |(region, (read, _)): &(Region, Recorded<R>)| {
            denied(read, self.of.lost, &account.subject_in(region))
        };
        of_region.filter_map(warning).collect()
    }

    fn plan<'a>(&'a self, _account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        let read = self.regions.iter().filter(|(_, (read, _))| read.is_ok()).count();
        plan.requests +=
            self.regions.iter().map(|(_, (_, requests))| saturating_u64(requests.len())).sum::<u64>();
        plan.artifacts.push((self.of.name, saturating_u64(read)));
        plan.failed.extend(self.regions.iter().filter_map(|(_, (read, _))| failure(read)));
        std::future::ready(()).boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        let mut regions = Regions::default();
        let mut observations = Vec::new();
        for (region, (read, requests)) in &self.regions {
            let seen = match read {
                Ok((record, meta)) => account.artifact(&self.of.filename(region.as_str()), record, meta),
                Err(unread) => unread.seen(),
            };
            let record = match (read, unread_reason(&seen)) {
                (_, Some(reason)) => Err(reason),
                (Ok((record, _)), None) => Ok(record.clone()),
                (Err(unread), None) => Err(unread.reason()),
            };
            regions.0.push((region.to_string(), record));
            let observed = observation(self.of.kind, &account.subject_in(region), seen);
            observations.push(Observation { requests: requests.clone(), ..observed });
        }
        let item = self.of.inspect(&account.number, observations, &regions, &account.config.rule_settings);
        std::future::ready(Reading::of(vec![item])).boxed()
    }
}
