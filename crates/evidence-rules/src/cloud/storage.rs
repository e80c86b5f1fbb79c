//! No bucket is public: by the account's block of public access, or each bucket by its own settings.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{Critical, Medium};
use serde::{Deserialize, Serialize};

use super::reason::REGION_NOT_ENABLED;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict, reason};
use crate::several::{One, Several, Words};

/// What is stored in buckets is not for everyone.
pub static STORAGE_NOT_PUBLIC: Rule = Rule {
    code: "storage-not-public",
    title: "No public buckets",
    version: 1,
    kind: "account",
    expected: "the account blocks public access to all its buckets, or no bucket is public by its policy or its access control list",
    reads: "the account's block of public access; unless all four of its settings are on, of every bucket in every region: its own \
            block, whether its policy is public, and whether its access control list names everyone",
    not_checked: "access control lists of single objects; access points; other accounts and users that a policy names; other \
                  services that store data",
    permission: "Allow `s3:GetAccountPublicAccessBlock`, `s3:ListAllMyBuckets`, `s3:GetBucketPublicAccessBlock`, \
                 `s3:GetBucketPolicyStatus` and `s3:GetBucketAcl` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[
        &STORAGE_PUBLIC,
        &IGNORE_PUBLIC_ACLS_NOT_VISIBLE,
        &RESTRICT_PUBLIC_BUCKETS_NOT_VISIBLE,
        &IS_PUBLIC_NOT_VISIBLE,
    ],
};

/// A bucket is public.
pub static STORAGE_PUBLIC: Reason = Reason::new("storage_public", "Public buckets").advice(
    Critical,
    Misconfigured,
    "Turn on all four settings of the account's block of public access. If a bucket must be public, serve it through CloudFront, \
     or turn the settings on for every other bucket.",
);

macro_rules! not_visible {
    ($($name:ident, $code:literal, $field:literal;)+) => {
        $(
            #[doc = concat!("An answer does not show `", $field, "`.")]
            pub static $name: Reason = Reason::new($code, concat!("`", $field, "` of a bucket or the account not reported"))
                .advice(
                    Medium,
                    Partial,
                    concat!("Check the buckets that this result names by hand: `", $field, "` is missing in the answer."),
                );
        )+
    };
}

not_visible! {
    IGNORE_PUBLIC_ACLS_NOT_VISIBLE, "ignore_public_acls_not_visible", "IgnorePublicAcls";
    RESTRICT_PUBLIC_BUCKETS_NOT_VISIBLE, "restrict_public_buckets_not_visible", "RestrictPublicBuckets";
    IS_PUBLIC_NOT_VISIBLE, "is_public_not_visible", "IsPublic";
}

/// `public_access.json`. What the provider says does not exist is `null`; what was not read is absent, with an entry in
/// `not_read`, or was not needed.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PublicAccess {
    /// The account's block.
    #[serde(rename = "PublicAccessBlockConfiguration", skip_serializing_if = "Field::is_absent")]
    pub account: Field<Block>,
    /// The buckets, unless the account blocks everything.
    #[serde(rename = "Buckets", skip_serializing_if = "Field::is_absent")]
    pub buckets: Field<Vec<Bucket>>,
    /// What was not read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_read: Vec<PartNotRead>,
}

/// A part that was not read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PartNotRead {
    /// The name of the field.
    pub part: String,
    /// Why.
    pub reason: String,
}

/// A block of public access.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Block {
    /// Refuses new public lists.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub block_public_acls: Field<bool>,
    /// Ignores public lists.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub ignore_public_acls: Field<bool>,
    /// Refuses new public policies.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub block_public_policy: Field<bool>,
    /// Restricts what public policies allow to the account.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub restrict_public_buckets: Field<bool>,
}

impl Block {
    /// Whether all four settings are on.
    pub fn blocks_everything(&self) -> bool {
        let all = [
            &self.block_public_acls,
            &self.ignore_public_acls,
            &self.block_public_policy,
            &self.restrict_public_buckets,
        ];
        all.into_iter().all(|field| field.value() == Some(&true))
    }

    /// Whether neither lists nor policies make anything public.
    pub fn closes(&self) -> bool {
        self.ignore_public_acls.value() == Some(&true) && self.restrict_public_buckets.value() == Some(&true)
    }
}

/// A bucket.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Bucket {
    /// Its name.
    #[serde(rename = "Name")]
    pub name: String,
    /// Its region.
    #[serde(rename = "BucketRegion", skip_serializing_if = "Field::is_absent")]
    pub region: Field<String>,
    /// Its own block.
    #[serde(rename = "PublicAccessBlockConfiguration", skip_serializing_if = "Field::is_absent")]
    pub block: Field<Block>,
    /// What the provider says of its policy.
    #[serde(rename = "PolicyStatus", skip_serializing_if = "Field::is_absent")]
    pub policy: Field<PolicyStatus>,
    /// What its access control list grants to everyone.
    #[serde(rename = "Grants", skip_serializing_if = "Field::is_absent")]
    pub grants: Field<Vec<PublicGrant>>,
    /// What was not read, and why.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_read: Vec<PartNotRead>,
}

/// Whether a policy is public.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PolicyStatus {
    /// The provider's verdict.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub is_public: Field<bool>,
}

/// A grant to everyone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct PublicGrant {
    /// The group.
    #[serde(rename = "URI")]
    pub group: String,
    /// Such as `READ`.
    #[serde(rename = "Permission", skip_serializing_if = "Field::is_absent")]
    pub permission: Field<String>,
}

/// The groups that anyone belongs to: the second, anyone with an account at the provider.
pub const EVERYONE: [&str; 2] = [
    "http://acs.amazonaws.com/groups/global/AllUsers",
    "http://acs.amazonaws.com/groups/global/AuthenticatedUsers",
];

/// The parts, by the names of their fields.
pub mod part {
    /// A block of public access.
    pub const BLOCK: &str = "PublicAccessBlockConfiguration";
    /// The list of buckets.
    pub const BUCKETS: &str = "Buckets";
    /// Whether the policy is public.
    pub const POLICY: &str = "PolicyStatus";
    /// The access control list.
    pub const GRANTS: &str = "Grants";
}

/// The judgement.
pub static JUDGE: Judge<PublicAccess> =
    Judge { rule: &STORAGE_NOT_PUBLIC, judge: |access, _| Some(judge(access)) };

static WORDS: Words = Words {
    fails: &STORAGE_PUBLIC,
    failed: "buckets are public",
    open: "buckets may be public",
    good: "buckets, none public",
    none: "the account has no bucket",
};

/// A fact, or why it is not known.
type Known = Result<bool, &'static Reason>;

fn either(one: Known, other: Known) -> Known {
    match (one, other) {
        (Ok(true), _) | (_, Ok(true)) => Ok(true),
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
        (Ok(false), Ok(false)) => Ok(false),
    }
}

/// Whether something is there and nothing closes it.
fn unless(open: Known, closed: Known) -> Known {
    match (open, closed) {
        (Ok(false), _) | (_, Ok(true)) => Ok(false),
        (Err(reason), _) | (_, Err(reason)) => Err(reason),
        (Ok(true), Ok(false)) => Ok(true),
    }
}

/// Why a part was not read.
fn why(not_read: &[PartNotRead], part: &str) -> &'static Reason {
    let known = [&reason::PERMISSION_DENIED, &reason::NOT_FOUND, &reason::HOST_ERROR, &REGION_NOT_ENABLED];
    let entry = not_read.iter().find(|entry| entry.part == part);
    let of = |entry: &PartNotRead| known.into_iter().find(|reason| reason.code == entry.reason);
    entry.and_then(of).unwrap_or(&reason::NO_EVIDENCE)
}

/// A setting of a block: one that does not exist blocks nothing.
fn setting(
    block: &Field<Block>,
    not_read: &[PartNotRead],
    of: fn(&Block) -> &Field<bool>,
    hidden: &'static Reason,
) -> Known {
    match block {
        Field::Value(block) => of(block).value().copied().ok_or(hidden),
        Field::Null => Ok(false),
        Field::Absent => Err(why(not_read, part::BLOCK)),
    }
}

/// Passes if the account blocks all public access, or if no bucket is public.
pub fn judge(access: &PublicAccess) -> Verdict {
    if access.account.value().is_some_and(Block::blocks_everything) {
        return Verdict::pass("the account blocks public access to all its buckets");
    }
    let Some(buckets) = access.buckets.value() else {
        let reason = why(&access.not_read, part::BUCKETS);
        return Verdict::unknown(
            reason,
            "the account does not block all public access, and its buckets are not known",
        );
    };
    let mut all = Several::default();
    for bucket in buckets {
        let one = match is_public(access, bucket) {
            Ok(true) => One::Failed,
            Ok(false) => One::Good,
            Err(reason) => One::Open(reason),
        };
        all.add(&bucket.name, one);
    }
    all.judge(&WORDS)
}

fn is_public(access: &PublicAccess, bucket: &Bucket) -> Known {
    let closed = |of: fn(&Block) -> &Field<bool>, hidden| {
        either(
            setting(&bucket.block, &bucket.not_read, of, hidden),
            setting(&access.account, &access.not_read, of, hidden),
        )
    };
    let by_policy = match &bucket.policy {
        Field::Value(status) => status.is_public.value().copied().ok_or(&IS_PUBLIC_NOT_VISIBLE),
        Field::Null => Ok(false),
        Field::Absent => Err(why(&bucket.not_read, part::POLICY)),
    };
    let by_list = match &bucket.grants {
        Field::Value(grants) => Ok(grants.iter().any(|grant| EVERYONE.contains(&grant.group.as_str()))),
        Field::Null => Ok(false),
        Field::Absent => Err(why(&bucket.not_read, part::GRANTS)),
    };
    either(
        unless(
            by_policy,
            closed(|block| &block.restrict_public_buckets, &RESTRICT_PUBLIC_BUCKETS_NOT_VISIBLE),
        ),
        unless(by_list, closed(|block| &block.ignore_public_acls, &IGNORE_PUBLIC_ACLS_NOT_VISIBLE)),
    )
}

#[cfg(test)]
mod tests;
