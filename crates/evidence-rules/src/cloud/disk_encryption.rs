//! New disks are encrypted by default, in every region.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::Medium;
use serde::{Deserialize, Serialize};

use super::regional::Regions;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Words};

/// Whoever makes a disk cannot forget to encrypt it.
pub static DISK_ENCRYPTION_DEFAULT: Rule = Rule {
    code: "disk-encryption-default",
    title: "Disk encryption by default",
    version: 1,
    kind: "account",
    expected: "new EBS volumes and copies of snapshots are encrypted by default in every configured region",
    reads: "`ebsEncryptionByDefault` of every configured region",
    not_checked: "volumes and snapshots that exist already; the key; instance store volumes; regions that are not configured",
    permission: "Allow `ec2:GetEbsEncryptionByDefault` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&DISK_ENCRYPTION_OFF, &EBS_ENCRYPTION_BY_DEFAULT_NOT_VISIBLE],
};

/// A region makes disks without encryption.
pub static DISK_ENCRYPTION_OFF: Reason = Reason::new("disk_encryption_off", "Disks not encrypted by default")
    .advice(
        Medium,
        Misconfigured,
        "In the EC2 settings of each region that this result names, under Data protection and security, always encrypt new EBS \
         volumes. It changes no volume that exists already.",
    );

/// The answer lacks the setting.
pub static EBS_ENCRYPTION_BY_DEFAULT_NOT_VISIBLE: Reason = Reason::new(
    "ebs_encryption_by_default_not_visible",
    "Default encryption of disks not reported",
)
.advice(Medium, Partial, "Check the region's EC2 settings by hand: the answer does not contain the setting.");

/// `disk_encryption_{region}.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct DiskEncryption {
    /// Whether new disks are encrypted.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub ebs_encryption_by_default: Field<bool>,
}

/// The judgement.
pub static JUDGE: Judge<Regions<DiskEncryption>> =
    Judge { rule: &DISK_ENCRYPTION_DEFAULT, judge: |regions, _| Some(judge(regions)) };

static WORDS: Words = Words {
    fails: &DISK_ENCRYPTION_OFF,
    failed: "regions do not encrypt new disks",
    open: "regions may not encrypt new disks",
    good: "regions encrypt new disks",
    none: "no region is configured",
};

/// Passes if every region encrypts.
pub fn judge(regions: &Regions<DiskEncryption>) -> Verdict {
    regions.judge(&WORDS, |all, region, settings| {
        let one = match settings.ebs_encryption_by_default.value() {
            Some(true) => One::Good,
            Some(false) => One::Failed,
            None => One::Open(&EBS_ENCRYPTION_BY_DEFAULT_NOT_VISIBLE),
        };
        all.add(region, one);
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rule::{Status, reason};

    /// Every set of two regions in every state.
    #[test]
    fn the_whole_domain() {
        let states = || {
            [
                (Ok(Field::Value(true)), 0),
                (Ok(Field::Value(false)), 2),
                (Ok(Field::Null), 1),
                (Ok(Field::Absent), 1),
                (Err(&reason::PERMISSION_DENIED), 1),
            ]
        };
        let region = |read: Result<Field<bool>, &'static Reason>| {
            ("eu-west-1".to_string(), read.map(|value| DiskEncryption { ebs_encryption_by_default: value }))
        };
        for (one, first) in states() {
            for (other, second) in states() {
                let regions = Regions(vec![region(one.clone()), region(other)]);
                let expected = match first.max(second) {
                    0 => Status::Pass,
                    1 => Status::NotVerifiable,
                    _ => Status::Fail,
                };
                assert_eq!(judge(&regions).status, expected, "{regions:?}");
            }
        }
        assert_eq!(judge(&Regions::default()).reason.code, "nothing_in_scope");
        let refused = Regions(vec![region(Err(&reason::PERMISSION_DENIED))]);
        assert_eq!(judge(&refused).reason.code, "permission_denied");
    }
}
