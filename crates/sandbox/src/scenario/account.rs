//! The cloud account of most tests, and one with many log groups.

use crate::cloud::{
    Bucket, Cloud, Database, LogGroup, PasswordPolicy, Principal, ReportRow, Role, SecurityGroup, Trail,
};

/// The account.
pub const DEMO_CLOUD_ACCOUNT: &str = "123456789012";
/// The access key of the user with all required permissions.
pub const DEMO_CLOUD_ACCESS_KEY_ID: &str = "AKIASANDBOXDEMOREAD2";
/// Its secret.
pub const DEMO_CLOUD_SECRET_ACCESS_KEY: &str = "SandboxDemoReader/NotARealSecretAccessK1";
/// The access key of a user who may not read the password policy.
pub const DEMO_CLOUD_LIMITED_ACCESS_KEY_ID: &str = "AKIASANDBOXDEMOLESS3";
/// Its secret.
pub const DEMO_CLOUD_LIMITED_SECRET_ACCESS_KEY: &str = "SandboxDemoLimited/NotARealSecretAccess2";
/// The access key of a session that has ended.
pub const DEMO_CLOUD_EXPIRED_ACCESS_KEY_ID: &str = "ASIASANDBOXDEMOPAST4";
/// Its secret.
pub const DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY: &str = "SandboxDemoExpired/NotARealSecretAccess3";
/// Its session token.
pub const DEMO_CLOUD_EXPIRED_SESSION_TOKEN: &str = "IQoJb3JpZ2luX2VjESandboxDemoExpiredSessionThisIsNotARealSessionToken/ButItLooksLikeOne0000000000000000000001==";
/// A role that the reader may take on.
pub const DEMO_CLOUD_ROLE_ARN: &str = "arn:aws:iam::123456789012:role/evidence-readonly";
/// The external id that the role requires.
pub const DEMO_CLOUD_EXTERNAL_ID: &str = "acme-evidence-2026";

/// The permissions for collecting.
const READING: [&str; 21] = [
    "ec2:DescribeSecurityGroups",
    "s3:GetAccountPublicAccessBlock",
    "s3:ListAllMyBuckets",
    "s3:GetBucketPublicAccessBlock",
    "s3:GetBucketPolicyStatus",
    "s3:GetBucketAcl",
    "rds:DescribeDBInstances",
    "rds:DescribeDBClusters",
    "guardduty:ListDetectors",
    "guardduty:GetDetector",
    "ec2:GetEbsEncryptionByDefault",
    "organizations:ListAccounts",
    "ec2:DescribeRegions",
    "iam:GetAccountPasswordPolicy",
    "iam:GetAccountSummary",
    "iam:GenerateCredentialReport",
    "iam:GetCredentialReport",
    "cloudtrail:DescribeTrails",
    "cloudtrail:GetTrailStatus",
    "cloudtrail:GetEventSelectors",
    "logs:DescribeLogGroups",
];

fn account() -> Cloud {
    let reader = "arn:aws:iam::123456789012:user/evidence-reader";
    Cloud::new(DEMO_CLOUD_ACCOUNT)
        .principal(
            Principal::user(DEMO_CLOUD_ACCESS_KEY_ID, DEMO_CLOUD_SECRET_ACCESS_KEY, reader)
                .allow(READING)
                .allow(["sts:AssumeRole"]),
        )
        .role(
            Role::new("evidence-readonly")
                .trust(reader)
                .external_id(DEMO_CLOUD_EXTERNAL_ID)
                .allow(READING)
                .max_session_seconds(14_400),
        )
}

/// The account 123456789012 of acme: a sufficient password policy, a trail that logs everywhere and a forgotten one
/// that does not, and log groups in two regions, one of which has too short a retention.
pub fn demo_account() -> Cloud {
    let group = |name: &str, days: u32| LogGroup::new(name).retention_days(days);
    let limited = "arn:aws:iam::123456789012:user/limited-reader";
    let past = "arn:aws:sts::123456789012:assumed-role/evidence-readonly/nightly";
    account()
        .principal(
            Principal::user(DEMO_CLOUD_LIMITED_ACCESS_KEY_ID, DEMO_CLOUD_LIMITED_SECRET_ACCESS_KEY, limited)
                .allow(["cloudtrail:*", "logs:Describe*"]),
        )
        .principal(
            Principal::user(DEMO_CLOUD_EXPIRED_ACCESS_KEY_ID, DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY, past)
                .allow(READING)
                .session(DEMO_CLOUD_EXPIRED_SESSION_TOKEN, 1_767_225_600),
        )
        .password_policy(PasswordPolicy::new(12).max_age_days(365).reuse_prevention(5))
        .encrypts_disks("eu-west-1")
        .security_group("eu-west-1", SecurityGroup::new("sg-0a11").open("tcp", (443, 443), &["0.0.0.0/0"]))
        .security_group(
            "eu-west-1",
            SecurityGroup::new("sg-0b22").open("tcp", (22, 22), &["198.51.100.0/24"]),
        )
        .security_group(
            "us-east-1",
            SecurityGroup::new("sg-0c33").open("tcp", (22, 22), &["0.0.0.0/0", "::/0"]),
        )
        .bucket(Bucket::new("acme-audit-logs-123456789012", "eu-west-1"))
        .bucket(Bucket::new("acme-website-assets", "us-east-1").block(None).policy(true))
        .database("eu-west-1", Database::cluster("orders"))
        .database("eu-west-1", Database::instance("orders-1").with("DBClusterIdentifier", "orders"))
        .database("eu-west-1", Database::instance("reporting").with("BackupRetentionPeriod", "1"))
        .detector("eu-west-1", "ENABLED")
        .reported(ReportRow::root(DEMO_CLOUD_ACCOUNT))
        .reported(
            ReportRow::user(DEMO_CLOUD_ACCOUNT, "erin")
                .password("2 days ago", "40 days ago")
                .with("mfa_active", "true"),
        )
        .reported(ReportRow::user(DEMO_CLOUD_ACCOUNT, "deploy").key(1, "1 days ago", "400 days ago"))
        .reported(ReportRow::user(DEMO_CLOUD_ACCOUNT, "backup").key(1, "3 days ago", "20 days ago"))
        .trail(
            Trail::new("acme-audit", "eu-west-1")
                .multi_region(true)
                .validation(true)
                .bucket("acme-audit-logs-123456789012")
                .kms_key("arn:aws:kms:eu-west-1:123456789012:key/5e0f0c5a-4c1b-4d0e-9a53-2f6d1f6f0c11")
                .log_group("arn:aws:logs:eu-west-1:123456789012:log-group:/aws/cloudtrail/acme-audit:*"),
        )
        .trail(Trail::new("old-virginia", "us-east-1").logging(false).latest_delivery(Some(1_735_689_540.0)))
        .log_group("eu-west-1", group("/aws/cloudtrail/acme-audit", 400))
        .log_group("eu-west-1", group("/aws/lambda/checkout", 90))
        .log_group("eu-west-1", group("/aws/lambda/thumbnails", 30).stored_bytes(0))
        .log_group("eu-west-1", LogGroup::new("/aws/rds/cluster/orders/audit"))
        .log_group("eu-west-1", group("/ecs/storefront", 400))
        .log_group("us-east-1", group("/aws/route53/acme.example", 400))
        .log_group("us-east-1", LogGroup::new("/aws/waf/storefront").infrequent_access())
}

/// The same account with a good policy, three trails and this many log groups in eu-west-1.
pub fn large_account(log_groups: u32) -> Cloud {
    let cloud = account()
        .password_policy(PasswordPolicy::new(14))
        .trail(Trail::new("acme-audit", "eu-west-1").multi_region(true).validation(true))
        .trail(
            Trail::new("acme-organization", "us-east-1").multi_region(true).organization_of("210987654321"),
        )
        .trail(Trail::new("data-events", "eu-west-1"));
    (0..log_groups).fold(cloud, |mut cloud, number| {
        let group = LogGroup::new(format!("/aws/lambda/service-{number:06}"));
        let group = if number % 3 == 0 { group } else { group.retention_days(400) };
        cloud.put_log_group("eu-west-1", group);
        cloud
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_form_of_real_ones() {
        for id in
            [DEMO_CLOUD_ACCESS_KEY_ID, DEMO_CLOUD_LIMITED_ACCESS_KEY_ID, DEMO_CLOUD_EXPIRED_ACCESS_KEY_ID]
        {
            let letters = id.chars().all(|c| c.is_ascii_uppercase() || ('2'..='7').contains(&c));
            assert!(id.len() == 20 && letters, "{id}");
        }
        for secret in [
            DEMO_CLOUD_SECRET_ACCESS_KEY,
            DEMO_CLOUD_LIMITED_SECRET_ACCESS_KEY,
            DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY,
        ] {
            assert_eq!(secret.len(), 40, "{secret}");
        }
    }
}
