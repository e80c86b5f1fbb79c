//! Buckets, and what the account decides for all of them.

use super::refusal::Refusal;
use super::resources::{AccessBlock, Bucket};
use super::state::Cloud;
use super::wire::{Ask, Service, Xml};

/// Answers of both services of storage.
pub(super) fn answer(cloud: &Cloud, ask: &Ask, account: Option<&str>) -> Result<String, Refusal> {
    match ask.operation.as_str() {
        "GetAccountPublicAccessBlock" => {
            // The real service wants the account in the host name, and the header.
            if account != Some(cloud.account.as_str()) {
                return Err(Refusal::denied(Service::S3, "Access Denied"));
            }
            block(cloud.account_block)
        }
        "ListAllMyBuckets" => list(cloud, ask),
        operation => of_bucket(cloud, ask, operation),
    }
}

fn block(block: Option<AccessBlock>) -> Result<String, Refusal> {
    let Some(AccessBlock(settings)) = block else {
        let message = "The public access block configuration was not found";
        return Err(Refusal::own(404, "NoSuchPublicAccessBlockConfiguration", message));
    };
    let mut xml = Xml::default();
    xml.root("PublicAccessBlockConfiguration", Service::S3);
    let names = ["BlockPublicAcls", "IgnorePublicAcls", "BlockPublicPolicy", "RestrictPublicBuckets"];
    names.iter().zip(settings).for_each(|(name, value)| xml.text(name, &value.to_string()));
    xml.close("PublicAccessBlockConfiguration");
    Ok(xml.finish())
}

fn owner(xml: &mut Xml) {
    xml.open("Owner");
    xml.text("ID", "planted-7f3c0123456789abcdef");
    xml.text("DisplayName", "planted-7f3c");
    xml.close("Owner");
}

fn list(cloud: &Cloud, ask: &Ask) -> Result<String, Refusal> {
    let number = |name: &str| ask.parameter(name).and_then(|text| text.parse::<usize>().ok());
    let first = number("continuation-token").unwrap_or_default();
    let most = number("max-buckets").unwrap_or(10_000).min(cloud.page_size as usize);
    let end = first.saturating_add(most).min(cloud.buckets.len());
    let mut xml = Xml::default();
    xml.root("ListAllMyBucketsResult", Service::S3);
    owner(&mut xml);
    xml.open("Buckets");
    for bucket in cloud.buckets.get(first..end).unwrap_or_default() {
        xml.open("Bucket");
        xml.text("Name", &bucket.name);
        xml.text("CreationDate", "2024-03-01T09:00:00.000Z");
        if cloud.lists_bucket_regions {
            xml.text("BucketRegion", &bucket.region);
        }
        xml.close("Bucket");
    }
    xml.close("Buckets");
    if end < cloud.buckets.len() {
        xml.text("ContinuationToken", &end.to_string());
    }
    xml.close("ListAllMyBucketsResult");
    Ok(xml.finish())
}

fn of_bucket(cloud: &Cloud, ask: &Ask, operation: &str) -> Result<String, Refusal> {
    let missing = || Refusal::own(404, "NoSuchBucket", "The specified bucket does not exist");
    let bucket = cloud.buckets.iter().find(|bucket| bucket.name == ask.resource).ok_or_else(missing)?;
    if bucket.region != ask.region {
        return Err(elsewhere(bucket, &ask.region));
    }
    match operation {
        "GetBucketPublicAccessBlock" => block(bucket.block),
        "GetBucketPolicyStatus" => {
            let missing = || Refusal::own(404, "NoSuchBucketPolicy", "The bucket policy does not exist");
            let is_public = bucket.policy_is_public.ok_or_else(missing)?;
            let mut xml = Xml::default();
            xml.root("PolicyStatus", Service::S3);
            xml.text("IsPublic", &is_public.to_string());
            xml.close("PolicyStatus");
            Ok(xml.finish())
        }
        _ => Ok(list_of(bucket)),
    }
}

/// The oldest region knows of every bucket and refuses the signature; the others only say where to go.
fn elsewhere(bucket: &Bucket, asked: &str) -> Refusal {
    let refusal = if asked == "us-east-1" {
        let message = format!(
            "The authorization header is malformed; the region '{asked}' is wrong; expecting '{}'",
            bucket.region
        );
        Refusal::own(400, "AuthorizationHeaderMalformed", message)
    } else {
        let message = "The bucket you are attempting to access must be addressed using the specified endpoint. Please \
                       send all future requests to this endpoint.";
        Refusal::own(301, "PermanentRedirect", message)
    };
    refusal.in_region(&bucket.region)
}

fn list_of(bucket: &Bucket) -> String {
    let mut xml = Xml::default();
    xml.root("AccessControlPolicy", Service::S3);
    owner(&mut xml);
    xml.open("AccessControlList");
    let grant = |xml: &mut Xml, kind: &str, fields: &[(&str, &str)], permission: &str| {
        xml.open("Grant");
        xml.open(&format!(
            "Grantee xmlns:xsi=\"http://www.w3.org/2001/XMLSchema-instance\" xsi:type=\"{kind}\""
        ));
        fields.iter().for_each(|(name, value)| xml.text(name, value));
        xml.close("Grantee");
        xml.text("Permission", permission);
        xml.close("Grant");
    };
    let user = [("ID", "planted-7f3c0123456789abcdef"), ("DisplayName", "planted-7f3c")];
    grant(&mut xml, "CanonicalUser", &user, "FULL_CONTROL");
    grant(&mut xml, "Group", &[("URI", "http://acs.amazonaws.com/groups/s3/LogDelivery")], "WRITE");
    for group in &bucket.groups {
        let uri = format!("http://acs.amazonaws.com/groups/global/{group}");
        grant(&mut xml, "Group", &[("URI", &uri)], "READ");
    }
    xml.close("AccessControlList");
    xml.close("AccessControlPolicy");
    xml.finish()
}
