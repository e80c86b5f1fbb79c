//! The trails that each region shows.

use serde::Deserialize;
use serde_json::Value;

use super::known;
use super::verdict::good_trail;
use crate::json::{Object, object};
use crate::source::CollectionItem;
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, MIB};
use crate::source::aws::host::compare::differs;
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, Recorded, with_requests};
use crate::source::aws::names::Arn;
use crate::source::aws::topics::alone::{self, inspected};
use evidence_http::{Call, ParseError, Subject};
use evidence_rules::cloud::artifact::AUDIT_TRAILS;
use evidence_rules::cloud::record::{AuditTrailsRecord, Trail};
use evidence_rules::cloud::trail::{AuditTrail, Criterion, TrailFacts};
use evidence_rules::rule::reason;

pub(crate) static DESCRIBE_TRAILS: Action<Vec<Trail>> = Action {
    service: Service::CloudTrail,
    call: Call {
        name: "cloudtrail:DescribeTrails",
        purpose: "`audit-trail`, `trail-integrity`",
        times: "once per region; also lists trails of other regions that cover this one",
        kind: Some("DescribeTrails"),
        media_type: Protocol::JSON,
        // A region shows at most a few dozen trails of about 1 kB, its own and other regions'.
        limit: MIB,
        parse: trails,
        subject: Some(Subject {
            // Asked about: account and region.
            fields: "`TrailARN`: the account, except of an organization's trail",
            other: |trails, about| {
                let (account, _) = about.subject.split_once('/')?;
                trails.iter().find_map(|trail| {
                    let arn = Arn::new(trail.trail_arn.value()?)?;
                    let is_it = arn.account == account || trail.is_organization_trail.value() == Some(&true);
                    differs(is_it, trail.trail_arn.value()?, account)
                })
            },
        }),
        keep: None,
    },
};

/// `DescribeTrails`
pub(crate) fn trails(bytes: &[u8]) -> Result<Vec<Trail>, ParseError> {
    #[derive(Deserialize)]
    struct TrailList {
        #[serde(rename = "trailList")]
        trail_list: Vec<Object<Trail>>,
    }
    Ok(Object::all(object::<TrailList>(bytes)?.trail_list))
}

/// The trails that a region shows.
pub(super) struct RegionTrails {
    pub(super) region: Region,
    pub(super) trails: Recorded<Vec<Trail>>,
}

/// Asks a region for its trails, including those of other home regions. Otherwise an account whose only trail is at home
/// in an unconfigured region would seem to have none.
pub(super) async fn of_region(account: &Account, region: &Region) -> RegionTrails {
    let reading = async {
        let host = account.host(&DESCRIBE_TRAILS, region)?;
        let question = [("includeShadowTrails", Value::Bool(true))];
        refusal::of(&DESCRIBE_TRAILS, Some(region), host.ask(&DESCRIBE_TRAILS, &question, None).await)
    };
    RegionTrails { region: region.clone(), trails: with_requests(&DESCRIBE_TRAILS, reading).await }
}

/// The trails of a region, whose status has not been requested.
pub(crate) fn offline(trails: Vec<Trail>) -> Vec<CollectionItem> {
    let Some(region) = Region::new(alone::REGION) else { return Vec::new() };
    let known = known::merge([(&region, trails.as_slice())]);
    let record = AuditTrailsRecord {
        trail_list: known.iter().map(|known| known.trail.clone()).collect(),
        scope: Vec::new(),
        regions_read: vec![region.to_string()],
        regions_not_read: Vec::new(),
    };
    let facts = known.iter().map(|known| TrailFacts {
        name: known.name().to_string(),
        covers_all_regions: Criterion::all_regions(&known.trail.is_multi_region_trail),
        logs: Criterion::Open(&reason::NO_EVIDENCE, "status not read".to_string()),
        ..good_trail()
    });
    let facts = AuditTrail { trails: facts.collect(), unread: Vec::new() };
    inspected(&AUDIT_TRAILS, "audit_trails.json", &record, facts.judge())
}
