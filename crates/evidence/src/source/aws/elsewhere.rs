//! Whether the trail that would pass fails to deliver in a region other than its home.
//!
//! A trail of all regions delivers from each of them, and each region reports its own status.

use evidence_bundle::document::Warning;
use futures_util::future::join_all;

use super::account::Account;
use super::calls::{DESCRIBE_TRAILS, GET_TRAIL_STATUS};
use super::connect::{no_address, warning};
use super::endpoint::{Region, Service};
use super::found::{observation, unread_reason};
use super::interpret::{self, Unread};
use super::trails::{Known, TrailHome};
use crate::observation::Observation;
use evidence_http::{recorded, single_line};
use evidence_rules::cloud::artifact::TRAIL_STATUS;
use evidence_rules::cloud::reason::REGION_NOT_ENABLED;
use evidence_rules::cloud::trail::{Criterion, TrailFacts, delivery};
use evidence_rules::inspection::Facts;

impl Account {
    /// The other regions in which a trail of all regions delivers; `None` if it cannot pass, or has no address.
    pub(super) fn elsewhere(&self, known: &Known) -> Option<Vec<(Region, String)>> {
        let TrailHome { region: home, arn } =
            known.place().ok().filter(|_| known.trail.is_multi_region_trail.value() == Some(&true))?;
        let regions = self.first.regions.iter().map(|first| first.region.clone());
        Some(regions.filter(|region| *region != home).map(|region| (region, arn.clone())).collect())
    }

    /// The refusal of a region that does not know the credentials: asking it again would only repeat that.
    fn not_enabled(&self, region: &Region) -> Option<Unread> {
        let first = self.first.regions.iter().find(|first| first.region == *region)?;
        first.trails.as_ref().err().filter(|unread| *unread.reason() == REGION_NOT_ENABLED).cloned()
    }

    /// Reads the status of a trail in the other regions, where only an error or a refusal counts.
    pub(super) async fn inspect_elsewhere(
        &self,
        known: &Known,
        stem: &str,
        facts: &mut TrailFacts,
    ) -> Vec<Observation> {
        let regions = self.elsewhere(known).unwrap_or_default();
        let read = join_all(regions.iter().map(|(region, arn)| {
            let refused = self.not_enabled(region);
            recorded(async move {
                if let Some(unread) = refused {
                    return Err(unread);
                }
                match self.hosts.host(Service::CloudTrail, region) {
                    Some(host) => {
                        interpret::of(&GET_TRAIL_STATUS, Some(region), host.trail_status(arn).await)
                    }
                    None => Err(no_address(&GET_TRAIL_STATUS, region)),
                }
            })
        }))
        .await;
        let subject = known.subject();
        let mut observations = Vec::new();
        let (mut failed, mut open) = (None, None);
        for ((region, _), (read, requests)) in regions.iter().zip(read) {
            let mut warnings = Vec::new();
            let seen = match read {
                Ok((status, meta)) => {
                    if let Some(error) = delivery::error(&status) {
                        warnings.push(not_delivering(known, &error, Some(region)));
                    }
                    failed = failed.or_else(|| delivery::elsewhere(&status, region.as_str()));
                    self.artifact(&format!("{stem}_status_{region}.json"), &status, &meta)
                }
                Err(unread) => unread.seen(),
            };
            if let Some(reason) = unread_reason(&seen) {
                open = open.or(Some(Criterion::Open(reason, format!("status in {region} not read"))));
            }
            let requests = match requests.is_empty() {
                true => self.first.asked(&DESCRIBE_TRAILS, Some(region)),
                false => requests,
            };
            observations.push(Observation {
                requests,
                warnings,
                facts: Facts::from([(delivery::REGION.into(), region.as_str().into())]),
                ..observation(&TRAIL_STATUS, &subject, seen)
            });
        }
        if let Some(delivers) = failed.or(open) {
            facts.delivers = delivers;
        }
        observations
    }
}

/// The warning of a trail whose latest delivery failed, in this region if it is not its home.
pub(super) fn not_delivering(known: &Known, error: &str, region: Option<&Region>) -> Warning {
    let place = region.map_or_else(String::new, |region| format!(" in {region}"));
    let text = format!("the trail {} does not deliver{place}: {error}", single_line(known.name()));
    warning("trail_delivery_failed", text, &known.subject())
}
