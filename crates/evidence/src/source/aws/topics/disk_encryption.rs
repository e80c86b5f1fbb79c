//! Whether each region encrypts new disks by default.

use futures_util::FutureExt as _;

use super::regional::Regional;
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, SMALL_LIMIT};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, ReadResult};
use crate::source::aws::host::xml::{self, field};
use crate::source::aws::topic::Topic;
use crate::source::{CollectionItem, Source as _};
use evidence_http::{Call, ParseError};
use evidence_rules::cloud::OF_DISK_ENCRYPTION;
use evidence_rules::cloud::artifact::DISK_ENCRYPTION;
use evidence_rules::cloud::disk_encryption::DiskEncryption;

/// Disk encryption by default.
pub(crate) static TOPIC: Topic = Topic {
    name: REGIONS.name,
    kind: Some(&DISK_ENCRYPTION),
    required: |config| config.collects(&DISK_ENCRYPTION),
    counted: None,
    open: |account| REGIONS.open(account).boxed(),
};

static REGIONS: Regional<DiskEncryption> = Regional {
    kind: &DISK_ENCRYPTION,
    name: "disk encryption",
    lost: "the disks of this region are not known",
    judges: OF_DISK_ENCRYPTION,
    permissions: &[GET_EBS_ENCRYPTION_BY_DEFAULT.call.name],
    read: |account, region| read(account, region).boxed(),
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

async fn read(account: &Account, region: &Region) -> ReadResult<DiskEncryption> {
    let action = &GET_EBS_ENCRYPTION_BY_DEFAULT;
    let host = account.host(action, region)?;
    refusal::of(action, Some(region), host.ask(action, &[], None).await)
}

/// What the answer of one region means on its own.
pub(super) fn offline(read: DiskEncryption) -> Vec<CollectionItem> {
    REGIONS.offline(read)
}
