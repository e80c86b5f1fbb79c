//! The status of each trail: at home, and for the trail that would pass, in every other region too.
//!
//! A trail of all regions delivers from each of them, and each region reports its own status.

use evidence_bundle::document::Warning;
use futures_util::future::join_all;

use super::home::{ask, ask_in};
use super::known::{KnownTrail, TrailHome};
use super::listing::RegionTrails;
use super::verdict::good_trail;
use crate::json::object;
use crate::observation::Observation;
use crate::source::CollectionItem;
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, SMALL_LIMIT};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{ReadResult, Unread};
use crate::source::aws::observe::{observation, unread_reason, warning};
use crate::source::aws::topics::alone::inspected;
use evidence_http::{Call, Meta, ParseError, recorded, single_line};
use evidence_rules::cloud::artifact::TRAIL_STATUS;
use evidence_rules::cloud::reason::REGION_NOT_ENABLED;
use evidence_rules::cloud::record::TrailStatus;
use evidence_rules::cloud::trail::{AuditTrail, Criterion, TrailFacts, delivery};
use evidence_rules::inspection::Facts;

pub(crate) static GET_TRAIL_STATUS: Action<TrailStatus> = Action {
    service: Service::CloudTrail,
    call: Call {
        name: "cloudtrail:GetTrailStatus",
        purpose: "`audit-trail`, `trail-integrity`",
        times: "once per trail, in its home region, even if that is not configured; for the trail that passes, once in \
                every other configured region",
        kind: Some("GetTrailStatus"),
        media_type: Protocol::JSON,
        limit: SMALL_LIMIT,
        parse: trail_status,
        subject: None,
        keep: None,
    },
};

/// `GetTrailStatus`
pub(crate) fn trail_status(bytes: &[u8]) -> Result<TrailStatus, ParseError> {
    let status: TrailStatus = object(bytes)?;
    if status == TrailStatus::default() {
        return Err(ParseError::Shape("no field of a trail's status".to_string()));
    }
    Ok(status)
}

/// The status of a trail at home.
pub(super) async fn read(account: &Account, known: &KnownTrail) -> ReadResult<TrailStatus> {
    ask(account, &GET_TRAIL_STATUS, "Name", known).await
}

/// The observation of a trail's status, which also fills in `facts`.
pub(super) fn inspect(
    account: &Account,
    known: &KnownTrail,
    stem: &str,
    read: ReadResult<TrailStatus>,
    facts: &mut TrailFacts,
) -> Observation {
    let subject = known.subject();
    let mut warnings = Vec::new();
    let mut beside = Facts::new();
    let seen = match read {
        Ok((status, meta)) => {
            let began = account.hosts.began();
            facts.logs = Criterion::logging(&status);
            facts.delivers = delivery::of(&status, began);
            beside.extend(delivery::judged_at(began));
            if let Some(error) = delivery::error(&status) {
                warnings.push(not_delivering(known, &error, None));
            }
            account.artifact(&format!("{stem}_status.json"), &status, &meta)
        }
        Err(unread) => unread.seen(),
    };
    if let Some(reason) = unread_reason(&seen) {
        // A status that cannot be stored counts as not read.
        facts.logs = Criterion::Open(reason, "status not read".to_string());
        facts.delivers = facts.logs.clone();
    }
    Observation { warnings, facts: beside, ..observation(&TRAIL_STATUS, &subject, seen) }
}

/// The other regions in which a trail of all regions delivers; `None` if it cannot pass, or has no address.
pub(super) fn other_regions(first: &[RegionTrails], known: &KnownTrail) -> Option<Vec<(Region, String)>> {
    let TrailHome { region: home, arn } =
        known.home().ok().filter(|_| known.trail.is_multi_region_trail.value() == Some(&true))?;
    let regions = first.iter().map(|of| of.region.clone());
    Some(regions.filter(|region| *region != home).map(|region| (region, arn.clone())).collect())
}

fn listed<'a>(first: &'a [RegionTrails], region: &Region) -> Option<&'a RegionTrails> {
    first.iter().find(|of| of.region == *region)
}

/// The refusal of a region that does not know the credentials: asking it again would only repeat that.
fn not_enabled(first: &[RegionTrails], region: &Region) -> Option<Unread> {
    let trails = &listed(first, region)?.trails.0;
    trails.as_ref().err().filter(|unread| *unread.reason() == REGION_NOT_ENABLED).cloned()
}

/// Reads the status of a trail in the other regions, where only an error or a refusal counts.
pub(super) async fn inspect_other_regions(
    account: &Account,
    first: &[RegionTrails],
    known: &KnownTrail,
    stem: &str,
    facts: &mut TrailFacts,
) -> Vec<Observation> {
    let regions = other_regions(first, known).unwrap_or_default();
    let read = join_all(regions.iter().map(|(region, arn)| {
        let refused = not_enabled(first, region);
        recorded(async move {
            if let Some(unread) = refused {
                return Err(unread);
            }
            ask_in(account, &GET_TRAIL_STATUS, "Name", region, arn).await
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
                account.artifact(&format!("{stem}_status_{region}.json"), &status, &meta)
            }
            Err(unread) => unread.seen(),
        };
        if let Some(reason) = unread_reason(&seen) {
            open = open.or(Some(Criterion::Open(reason, format!("status in {region} not read"))));
        }
        let requests = match requests.is_empty() {
            true => listed(first, region).map(|of| of.trails.1.clone()).unwrap_or_default(),
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

/// The warning of a trail whose latest delivery failed, in this region if it is not its home.
fn not_delivering(known: &KnownTrail, error: &str, region: Option<&Region>) -> Warning {
    let place = region.map_or_else(String::new, |region| format!(" in {region}"));
    let text = format!("the trail {} does not deliver{place}: {error}", single_line(known.name()));
    warning("trail_delivery_failed", text, &known.subject())
}

/// The status of an otherwise good trail, as if read at the beginning of 1970.
pub(crate) fn offline(status: TrailStatus) -> Vec<CollectionItem> {
    let delivers = delivery::of(&status, Meta::default().received_at);
    let facts = TrailFacts { logs: Criterion::logging(&status), delivers, ..good_trail() };
    let facts = AuditTrail { trails: vec![facts], unread: Vec::new() };
    inspected(&TRAIL_STATUS, "trail_audit_status.json", &status, facts.judge())
}
