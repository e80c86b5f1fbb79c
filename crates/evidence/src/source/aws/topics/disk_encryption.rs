//! Whether each region encrypts new disks by default.

use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, join_all};

use super::alone::{ACCOUNT, REGION};
use crate::observation::{Inspection, Observation, Seen};
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, SMALL_LIMIT};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, Recorded, failure, with_requests};
use crate::source::aws::host::xml::{self, field};
use crate::source::aws::names::NAME;
use crate::source::aws::observe::{denied, observation, unread_reason};
use crate::source::aws::topic::{AccountPlan, Answers, Reading, Topic};
use crate::source::{CollectionItem, Source as _};
use evidence_bundle::document::Warning;
use evidence_http::{Call, Meta, ParseError};
use evidence_rules::cloud::OF_DISK_ENCRYPTION;
use evidence_rules::cloud::artifact::DISK_ENCRYPTION;
use evidence_rules::cloud::disk_encryption::{DiskEncryption, DiskRegions};
use evidence_rules::rule::Settings;
use evidence_text::saturating_u64;

/// Disk encryption by default.
pub(crate) static TOPIC: Topic = Topic {
    name: "disk encryption",
    kind: Some(&DISK_ENCRYPTION),
    required: |config| config.collects(&DISK_ENCRYPTION),
    counted: None,
    open: |account| open(account).boxed(),
};

pub(crate) static GET_EBS_ENCRYPTION_BY_DEFAULT: Action<DiskEncryption> = Action {
    service: Service::Ec2,
    call: Call {
        name: "ec2:GetEbsEncryptionByDefault",
        purpose: "`disk-encryption-default`",
        times: "once per region",
        kind: Some("GetEbsEncryptionByDefault"),
        media_type: Protocol::FORM,
        limit: SMALL_LIMIT,
        parse,
        subject: None,
        keep: None,
    },
};

/// `GetEbsEncryptionByDefault`
pub(super) fn parse(bytes: &[u8]) -> Result<DiskEncryption, ParseError> {
    let root = xml::root(bytes, "GetEbsEncryptionByDefaultResponse")?;
    Ok(DiskEncryption { ebs_encryption_by_default: field(&root, "ebsEncryptionByDefault")? })
}

/// The answer of each region.
struct OfRegions(Vec<(Region, Recorded<DiskEncryption>)>);

async fn open(account: &Account) -> Box<dyn Answers> {
    let action = &GET_EBS_ENCRYPTION_BY_DEFAULT;
    let regions = account.regions().iter().map(|region| async move {
        let read = async {
            let host = account.host(action, region)?;
            refusal::of(action, Some(region), host.ask(action, &[], None).await)
        };
        (region.clone(), with_requests(action, read).await)
    });
    Box::new(OfRegions(join_all(regions).await))
}

impl Answers for OfRegions {
    fn warnings(&self, account: &Account, region: Option<&Region>) -> Vec<Warning> {
        let of_region = self.0.iter().filter(|(of, _)| Some(of) == region);
        let lost = "the disks of this region are not known";
        of_region.filter_map(|(region, (read, _))| denied(read, lost, &account.subject_in(region))).collect()
    }

    fn plan<'a>(&'a self, _account: &'a Account, plan: &'a mut AccountPlan) -> BoxFuture<'a, ()> {
        let read = self.0.iter().filter(|(_, (read, _))| read.is_ok()).count();
        plan.requests += saturating_u64(self.0.len());
        plan.artifacts.push((TOPIC.name, saturating_u64(read)));
        plan.failed.extend(self.0.iter().filter_map(|(_, (read, _))| failure(read)));
        std::future::ready(()).boxed()
    }

    fn read<'a>(&'a self, account: &'a Account) -> BoxFuture<'a, Reading<'a>> {
        let mut regions = DiskRegions::default();
        let mut observations = Vec::new();
        for (region, (read, requests)) in &self.0 {
            let seen = match read {
                Ok((settings, meta)) => {
                    account.artifact(&format!("disk_encryption_{region}.json"), settings, meta)
                }
                Err(unread) => unread.seen(),
            };
            let settings = match (read, unread_reason(&seen)) {
                (_, Some(reason)) => Err(reason),
                (Ok((settings, _)), None) => Ok(settings.clone()),
                (Err(unread), None) => Err(unread.reason()),
            };
            regions.0.push((region.to_string(), settings));
            let observed = observation(&DISK_ENCRYPTION, &account.subject_in(region), seen);
            observations.push(Observation { requests: requests.clone(), ..observed });
        }
        let inspection = inspect(&account.number, observations, &regions, &account.config.rule_settings);
        std::future::ready(Reading::of(vec![CollectionItem::Inspected(inspection)])).boxed()
    }
}

/// Judges all regions of an account together.
fn inspect(
    number: &str,
    observations: Vec<Observation>,
    regions: &DiskRegions,
    settings: &Settings,
) -> Inspection {
    Inspection::of(observations).concluded_by(OF_DISK_ENCRYPTION, &number.into(), regions, settings)
}

/// What the answer of one region means on its own.
pub(super) fn offline(read: DiskEncryption) -> Vec<CollectionItem> {
    let seen = Seen::artifact(NAME, "disk_encryption_eu-central-1.json", &read, None, &Meta::default());
    let observed = observation(&DISK_ENCRYPTION, &format!("{ACCOUNT}/{REGION}"), seen);
    let regions = DiskRegions(vec![(REGION.to_string(), Ok(read))]);
    vec![CollectionItem::Inspected(inspect(ACCOUNT, vec![observed], &regions, &Settings::default()))]
}
