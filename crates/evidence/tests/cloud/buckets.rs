//! Public storage: the block of the account, and the settings of each bucket.

use evidence_rules::rule::Status::{self, Fail, NotApplicable, NotVerifiable, Pass};
use sandbox::cloud::{AccessBlock, Body, Bucket, Cloud, Fault, FaultKind, Principal};
use serde_json::json;

use crate::identities::{CRITERIA, account, collect, is};
use crate::{EVERY_RULE, KEY, PERMISSIONS, SECRET, Setup, TWO_REGIONS, USER, asked, collect_from};

const RULE: &str = "storage-not-public";
const HOME: &str = "eu-central-1";

fn open(name: &str) -> Bucket {
    Bucket::new(name, HOME).block(None)
}

#[track_caller]
fn judged(cloud: Cloud, status: Status, reason: &str) -> crate::Collected {
    let server = cloud.serve().unwrap();
    let collected = collect(&server);
    is(&collected, RULE, status, reason);
    assert_eq!(server.violations().len(), 0);
    collected
}

/// How often each call about storage was made.
fn calls(cloud: Cloud) -> [usize; 5] {
    let server = cloud.serve().unwrap();
    let setup = Setup { head: EVERY_RULE, ..Setup::new(TWO_REGIONS) };
    let plan = collect_from(&server.url(), &setup, true).unwrap().plan;
    server.clear_log();
    collect_from(&server.url(), &setup, false).unwrap();
    let sent = server.request_count();
    assert!((plan.requests_minimum..=plan.requests_maximum).contains(&sent), "{sent} {plan:?}");
    let asked = asked(&server);
    CRITERIA
        .iter()
        .filter(|action| action.starts_with("s3:"))
        .map(|action| asked.get(*action).copied().unwrap_or(0))
        .collect::<Vec<_>>()
        .try_into()
        .unwrap()
}

/// Drata does not know the account's block, and fails accounts that have it.
#[test]
fn the_account_blocks_everything() {
    let public = || open("public").policy(true).grant("AllUsers");
    let collected = judged(account().account_block(AccessBlock::ALL).bucket(public()), Pass, "ok");
    assert_eq!(
        collected.artifacts["public_access.json"],
        json!({"PublicAccessBlockConfiguration": {"BlockPublicAcls": true, "IgnorePublicAcls": true,
            "BlockPublicPolicy": true, "RestrictPublicBuckets": true}})
    );
    assert_eq!(calls(account().account_block(AccessBlock::ALL).bucket(public())), [1, 0, 0, 0, 0]);
    // What exists is closed by two of the four, and the buckets are listed only.
    let two = || account().account_block(AccessBlock([false, true, false, true])).bucket(public());
    judged(two(), Pass, "ok");
    assert_eq!(calls(two()), [1, 1, 0, 0, 0]);
}

#[test]
fn buckets_by_their_own_settings() {
    judged(account(), NotApplicable, "nothing_in_scope");
    judged(account().bucket(Bucket::new("closed", HOME)), Pass, "ok");
    judged(account().bucket(open("private")), Pass, "ok");
    judged(account().bucket(open("shared").policy(false)), Pass, "ok");
    judged(account().bucket(open("policy").policy(true)), Fail, "storage_public");
    judged(account().bucket(open("list").grant("AllUsers")), Fail, "storage_public");
    judged(account().bucket(open("list").grant("AuthenticatedUsers")), Fail, "storage_public");
    // A block closes what its settings are about, on the bucket or the account.
    let lists_only = AccessBlock([true, true, false, false]);
    judged(account().bucket(open("list").grant("AllUsers").block(Some(lists_only))), Pass, "ok");
    judged(account().bucket(open("policy").policy(true).block(Some(lists_only))), Fail, "storage_public");
    judged(account().account_block(lists_only).bucket(open("list").grant("AllUsers")), Pass, "ok");
    judged(
        account().account_block(AccessBlock::NONE).bucket(open("policy").policy(true)),
        Fail,
        "storage_public",
    );
    let cloud = account().bucket(Bucket::new("closed", HOME)).bucket(open("policy").policy(true));
    let collected = judged(cloud, Fail, "storage_public");
    assert_eq!(
        collected.artifacts["public_access.json"],
        json!({
            "PublicAccessBlockConfiguration": null,
            "Buckets": [
                {"Name": "closed", "BucketRegion": HOME, "PublicAccessBlockConfiguration": {"BlockPublicAcls": true,
                    "IgnorePublicAcls": true, "BlockPublicPolicy": true, "RestrictPublicBuckets": true}},
                {"Name": "policy", "BucketRegion": HOME, "PublicAccessBlockConfiguration": null,
                    "PolicyStatus": {"IsPublic": true}, "Grants": []},
            ],
        })
    );
}

/// One to three requests for each bucket, and none in vain where the list has the region.
#[test]
fn what_buckets_cost() {
    let three = account()
        .bucket(Bucket::new("closed", HOME))
        .bucket(open("open"))
        .bucket(open("lists").block(Some(AccessBlock([true, true, false, false]))));
    assert_eq!(calls(three), [1, 1, 3, 2, 1]);
    let mut cloud = account().page_size(2);
    for number in 0..5 {
        cloud = cloud.bucket(Bucket::new(format!("bucket-{number}"), "ap-south-1"));
    }
    assert_eq!(calls(cloud.clone()), [1, 3, 5, 0, 0]);
    // Without the regions, each bucket is asked once more, in its own.
    assert_eq!(calls(cloud.without_bucket_regions()), [1, 3, 10, 0, 0]);
}

/// The region of the bucket is in a header with 301, and in the body with 400.
#[test]
fn buckets_elsewhere() {
    for home in [HOME, "us-east-1"] {
        let cloud = account()
            .bucket(Bucket::new("away", "ap-south-1").block(None).policy(true))
            .bucket(Bucket::new("here", home))
            .without_bucket_regions();
        let server = cloud.serve().unwrap();
        let lines = [format!("region: {home}"), "regions: [eu-west-1]".to_string()];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let setup = Setup { head: EVERY_RULE, ..Setup::new(&lines) };
        let collected = collect_from(&server.url(), &setup, false).unwrap();
        is(&collected, RULE, Fail, "storage_public");
        let buckets = &collected.artifacts["public_access.json"]["Buckets"];
        assert_eq!(
            (&buckets[0]["BucketRegion"], &buckets[1]["BucketRegion"]),
            (&json!("ap-south-1"), &json!(home))
        );
    }
}

fn allowed(missing: &[&str]) -> Cloud {
    let allowed = PERMISSIONS.into_iter().chain(CRITERIA).filter(|action| !missing.contains(action));
    account().principal(Principal::user(KEY, SECRET, USER).allow(allowed))
}

#[test]
fn refusals() {
    let closed = || Bucket::new("closed", HOME);
    let public = || open("policy").policy(true);
    let block = "s3:GetAccountPublicAccessBlock";
    // Refused: what closes itself passes, what looks public is open.
    let collected = judged(allowed(&[block]).bucket(closed()), Pass, "ok");
    assert!(collected.warned().contains(&"permission_denied"), "{:?}", collected.warnings);
    assert_eq!(
        collected.artifacts["public_access.json"]["not_read"],
        json!([{"part": "PublicAccessBlockConfiguration", "reason": "permission_denied"}])
    );
    judged(allowed(&[block]).bucket(closed()).bucket(public()), NotVerifiable, "permission_denied");
    judged(allowed(&[block]), NotApplicable, "nothing_in_scope");
    judged(allowed(&["s3:ListAllMyBuckets"]).bucket(public()), NotVerifiable, "permission_denied");
    judged(allowed(&["s3:ListAllMyBuckets"]).account_block(AccessBlock::ALL), Pass, "ok");
    let collected =
        judged(allowed(&[block, "s3:ListAllMyBuckets"]).bucket(public()), NotVerifiable, "permission_denied");
    assert!(!collected.artifacts.contains_key("public_access.json"));
    // A setting of a bucket is refused: open, unless another bucket is public.
    for missing in ["s3:GetBucketPublicAccessBlock", "s3:GetBucketPolicyStatus", "s3:GetBucketAcl"] {
        let cloud = || allowed(&[missing]).bucket(open("private").policy(true));
        let expected = if missing == "s3:GetBucketAcl" { Fail } else { NotVerifiable };
        let reason = if expected == Fail { "storage_public" } else { "permission_denied" };
        judged(cloud(), expected, reason);
        // The block of the account closes it.
        judged(cloud().account_block(AccessBlock([false, true, false, true])), Pass, "ok");
    }
    let denied = "<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>";
    let fault =
        Fault::on("s3:GetBucketPolicyStatus").kind(FaultKind::Status(403, Body::Text(denied.to_string())));
    let cloud = account().bucket(open("hidden")).bucket(open("list").grant("AllUsers")).fault(fault);
    judged(cloud, Fail, "storage_public");
}

/// A bucket that is deleted meanwhile, answers of another form, an empty status: nothing of it passes.
#[test]
fn odd_answers() {
    let answer = |action: &str, status: u16, body: &str| {
        let fault = Fault::on(action).kind(FaultKind::Status(status, Body::Text(body.to_string())));
        account().bucket(open("bucket")).fault(fault)
    };
    let gone =
        "<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist</Message></Error>";
    judged(answer("s3:GetBucketPublicAccessBlock", 404, gone), NotVerifiable, "not_found");
    for (action, body) in [
        ("s3:GetAccountPublicAccessBlock", "<PublicAccess/>"),
        ("s3:ListAllMyBuckets", "<ListAllMyBucketsResult/>"),
        (
            "s3:ListAllMyBuckets",
            "<ListAllMyBucketsResult><Buckets><Bucket><Name>../x</Name></Bucket></Buckets></ListAllMyBucketsResult>",
        ),
        (
            "s3:GetBucketPublicAccessBlock",
            "<PublicAccessBlockConfiguration><IgnorePublicAcls>1</IgnorePublicAcls></PublicAccessBlockConfiguration>",
        ),
        ("s3:GetBucketAcl", "<AccessControlPolicy/>"),
    ] {
        let policy = || answer(action, 200, body).bucket(open("other").policy(false));
        match action {
            // Nothing looks public, whatever the account blocks.
            "s3:GetAccountPublicAccessBlock" | "s3:GetBucketPublicAccessBlock" => {
                judged(policy(), Pass, "ok")
            }
            _ => judged(policy(), NotVerifiable, "host_error"),
        };
    }
    // ministack: an empty status of a bucket without a policy. The real provider says that there is no policy.
    judged(
        answer("s3:GetBucketPolicyStatus", 200, "<PolicyStatus/>"),
        NotVerifiable,
        "is_public_not_visible",
    );
    let capital = "<PolicyStatus><IsPublic>TRUE</IsPublic></PolicyStatus>";
    judged(answer("s3:GetBucketPolicyStatus", 200, capital), Fail, "storage_public");
}
