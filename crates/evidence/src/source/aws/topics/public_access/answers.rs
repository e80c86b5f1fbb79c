//! The calls about public access to buckets, and their answers.
//!
//! Owners, grants to accounts and dates are dropped while the answers are read.

use crate::source::aws::host::action::{Action, MIB, SMALL_LIMIT};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::xml::{self, Element, field, required, required_text};
use evidence_http::{Call, ParseError};
use evidence_rules::cloud::storage::{Block, EVERYONE, PolicyStatus, PublicGrant};

const PURPOSE: &str = "`storage-not-public`";

const fn call<T>(
    name: &'static str,
    times: &'static str,
    kind: &'static str,
    parse: fn(&[u8]) -> Result<T, ParseError>,
) -> Call<T> {
    Call {
        name,
        purpose: PURPOSE,
        times,
        kind: Some(kind),
        media_type: Protocol::REST_XML,
        limit: SMALL_LIMIT,
        parse,
        subject: None,
        keep: None,
    }
}

pub(crate) static GET_ACCOUNT_PUBLIC_ACCESS_BLOCK: Action<Block> = Action {
    service: Service::S3Control,
    call: call("s3:GetAccountPublicAccessBlock", "once per account", "GetAccountPublicAccessBlock", block),
};

pub(crate) static LIST_BUCKETS: Action<BucketPage> = Action {
    service: Service::S3,
    call: Call {
        // Each bucket takes about 150 bytes.
        limit: MIB,
        ..call(
            "s3:ListAllMyBuckets",
            "once per account and 1,000 buckets, unless the account blocks all public access",
            "ListBuckets",
            buckets,
        )
    },
};

pub(crate) static GET_BUCKET_PUBLIC_ACCESS_BLOCK: Action<Block> = Action {
    service: Service::S3,
    call: call(
        "s3:GetBucketPublicAccessBlock",
        "once per bucket, unless the account blocks public access by lists and policies",
        "GetBucketPublicAccessBlock",
        block,
    ),
};

pub(crate) static GET_BUCKET_POLICY_STATUS: Action<PolicyStatus> = Action {
    service: Service::S3,
    call: call(
        "s3:GetBucketPolicyStatus",
        "once per bucket, unless account or bucket restrict public policies",
        "GetBucketPolicyStatus",
        policy_status,
    ),
};

pub(crate) static GET_BUCKET_ACL: Action<Vec<PublicGrant>> = Action {
    service: Service::S3,
    call: call(
        "s3:GetBucketAcl",
        "once per bucket, unless account or bucket ignore public lists",
        "GetBucketAcl",
        grants,
    ),
};

/// `GetPublicAccessBlock`
pub(in crate::source::aws::topics) fn block(bytes: &[u8]) -> Result<Block, ParseError> {
    let root = xml::root(bytes, "PublicAccessBlockConfiguration")?;
    Ok(Block {
        block_public_acls: field(&root, "BlockPublicAcls")?,
        ignore_public_acls: field(&root, "IgnorePublicAcls")?,
        block_public_policy: field(&root, "BlockPublicPolicy")?,
        restrict_public_buckets: field(&root, "RestrictPublicBuckets")?,
    })
}

/// A bucket of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(super) name: String,
    /// Its region, if the list has it.
    pub(super) region: Option<Region>,
}

/// A page of `ListBuckets`
#[derive(Debug, Clone)]
pub(crate) struct BucketPage {
    pub(super) buckets: Vec<Listed>,
    pub(super) next: Option<String>,
}

/// `ListBuckets`
pub(in crate::source::aws::topics) fn buckets(bytes: &[u8]) -> Result<BucketPage, ParseError> {
    let root = xml::list(bytes, "ListAllMyBucketsResult", &["Owner", "CreationDate"])?;
    let bucket = |item: &Element| {
        let name = required_text(item, "Name")?;
        if !is_bucket(name) {
            let shown = evidence_http::single_line(name);
            return Err(ParseError::Shape(format!("not the name of a bucket: {shown}")));
        }
        let region = item.child("BucketRegion")?.and_then(Element::text).and_then(Region::new);
        Ok(Listed { name: name.to_string(), region })
    };
    Ok(BucketPage {
        buckets: required(&root, "Buckets")?.children.iter().map(bucket).collect::<Result<_, _>>()?,
        next: root.child("ContinuationToken")?.and_then(Element::text).map(str::to_string),
    })
}

/// Whether a name can be a bucket's, also by the rules of before 2018, and is safe in an address.
fn is_bucket(name: &str) -> bool {
    let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    (3..=255).contains(&name.len()) && name.bytes().all(good) && name.bytes().any(|byte| byte != b'.')
}

/// `GetBucketPolicyStatus`
pub(in crate::source::aws::topics) fn policy_status(bytes: &[u8]) -> Result<PolicyStatus, ParseError> {
    let root = xml::root(bytes, "PolicyStatus")?;
    // Some write the value in capitals.
    Ok(PolicyStatus { is_public: field::<Flag>(&root, "IsPublic")?.map(|Flag(value)| value) })
}

/// A truth value in any case.
struct Flag(bool);

impl std::str::FromStr for Flag {
    type Err = ();

    fn from_str(text: &str) -> Result<Flag, ()> {
        text.to_ascii_lowercase().parse().map(Flag).map_err(drop)
    }
}

/// `GetBucketAcl`: the grants to everyone.
pub(in crate::source::aws::topics) fn grants(bytes: &[u8]) -> Result<Vec<PublicGrant>, ParseError> {
    let root = xml::root(bytes, "AccessControlPolicy")?;
    let mut grants = Vec::new();
    for item in &required(&root, "AccessControlList")?.children {
        let group = required(item, "Grantee")?.child("URI")?.and_then(Element::text);
        if let Some(group) = group.filter(|group| EVERYONE.contains(group)) {
            grants.push(PublicGrant { group: group.to_string(), permission: field(item, "Permission")? });
        }
    }
    Ok(grants)
}
