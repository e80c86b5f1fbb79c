//! The enabled regions of an account: what the configuration leaves out.

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;

use crate::source::aws::account::Account;
use crate::source::aws::config::CloudConfig;
use crate::source::aws::host::action::{Action, SMALL_LIMIT};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, Recorded, with_requests};
use crate::source::aws::host::xml::{self, Element, required, required_text};
use crate::source::aws::names::{NOT_CONFIGURED, REGION};
use crate::source::aws::topic::{AccountPlan, Answers, EnabledRegions, Reading, Topic};
use crate::source::{CollectionItem, Member};
use evidence_http::{Call, ParseError};
use evidence_text::saturating_u64;

/// The name of the list of enabled regions in documents.
const REGION_LISTING: &str = "region_listing";

/// The enabled regions.
pub(crate) static TOPIC: Topic = Topic {
    name: "regions",
    kind: None,
    required: CloudConfig::wants_regions,
    counted: None,
    open: |account| open(account).boxed(),
};

pub(crate) static DESCRIBE_REGIONS: Action<Vec<Region>> = Action {
    service: Service::Ec2,
    call: Call {
        name: "ec2:DescribeRegions",
        purpose: "the scope: which regions of the account are enabled",
        times: "once per account, if regions are read",
        kind: Some("DescribeRegions"),
        media_type: Protocol::FORM,
        // A region takes 200 bytes; there are under 40.
        limit: SMALL_LIMIT,
        parse: enabled,
        subject: None,
        keep: None,
    },
};

/// `DescribeRegions`: the enabled regions of the account, unless others are requested too.
pub(super) fn enabled(bytes: &[u8]) -> Result<Vec<Region>, ParseError> {
    let root = xml::root(bytes, "DescribeRegionsResponse")?;
    let mut regions = Vec::new();
    for item in &required(&root, "regionInfo")?.children {
        // A server that ignores the default lists those that are not enabled too.
        let status = item.child("optInStatus")?.and_then(Element::text);
        if status == Some("not-opted-in") {
            continue;
        }
        let name = required_text(item, "regionName")?;
        let shown = || ParseError::Shape(format!("not a region: {}", evidence_http::single_line(name)));
        let region = Region::new(name).ok_or_else(shown)?;
        if regions.contains(&region) {
            return Err(ParseError::Shape(format!("{region} is reported twice")));
        }
        regions.push(region);
    }
    if regions.is_empty() {
        return Err(ParseError::Shape("no region in regionInfo".to_string()));
    }
    regions.sort_unstable();
    Ok(regions)
}

/// The enabled regions, or why they are not known.
struct Regions(Recorded<Vec<Region>>);

async fn open(account: &Account) -> Box<dyn Answers> {
    let reading = async {
        let host = account.host(&DESCRIBE_REGIONS, &account.home)?;
        refusal::of(&DESCRIBE_REGIONS, None, host.ask(&DESCRIBE_REGIONS, &[], None).await)
    };
    Box::new(Regions(with_requests(&DESCRIBE_REGIONS, reading).await))
}

impl Answers for Regions {
    fn plan<'a>(&'a self, _account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        // A refusal leaves only the scope open, so it is not missing.
        plan.requests += 1;
        std::future::ready(()).boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        std::future::ready(self.found(account)).boxed()
    }
}

impl Regions {
    fn found<'a>(&self, account: &Account) -> Reading<'a> {
        let Regions((enabled, requests)) = self;
        let listing = CollectionItem::Listed {
            kind: REGION_LISTING,
            subject: account.number.as_str().into(),
            requests: requests.clone(),
        };
        let enabled = enabled.as_ref().ok().map(|(regions, _)| regions.as_slice());
        let is_read = |region: &&Region| account.regions().contains(region);
        let mut members: Vec<Member> =
            account.regions().iter().map(|region| Member::new(REGION, account.subject_in(region))).collect();
        let others = enabled.unwrap_or_default().iter().filter(|region| !is_read(region));
        members.extend(others.map(|region| Member {
            out_of_scope: Some(NOT_CONFIGURED),
            ..Member::new(REGION, account.subject_in(region))
        }));
        let enabled = enabled.map(|enabled| EnabledRegions {
            total: saturating_u64(enabled.len()),
            in_scope: saturating_u64(
                account.regions().iter().filter(|region| enabled.contains(region)).count(),
            ),
        });
        Reading { members, enabled, ..Reading::of(vec![listing]) }
    }
}
