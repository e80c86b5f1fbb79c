//! The pages of the provider's console, with the region, and the trail that records every account of an organization.

use url::Url;

use super::host::endpoint::{Partition, Region};
use crate::source::place::{Place, Remedy};
use evidence_rules::cloud::{AUDIT_TRAIL, artifact, trail};
use evidence_rules::rule::Reason;

/// The reasons that a new trail removes.
const BY_TRAIL: [&Reason; 3] =
    [&trail::AUDIT_TRAIL_MISSING, &trail::AUDIT_TRAIL_NOT_LOGGING, &trail::AUDIT_TRAIL_NOT_MULTI_REGION];

/// The page of a setting.
pub(super) fn page(place: &Place<'_>) -> Option<String> {
    let region = region(place);
    let partition = region.as_ref().map_or(Some(Partition::Public), Region::partition)?;
    let console = match partition {
        Partition::Public => "https://console.aws.amazon.com",
        Partition::China => "https://console.amazonaws.cn",
        Partition::Government => "https://console.amazonaws-us-gov.com",
    };
    let query = region.map(|region| format!("?region={region}")).unwrap_or_default();
    if artifact::PASSWORD_POLICY.serves(place.rule) {
        // The policy belongs to the account: its page has no region.
        Some(format!("{console}/iam/home#/account_settings"))
    } else if artifact::ROOT_ACCOUNT.serves(place.rule) {
        // The page that the root user itself sees.
        Some(format!("{console}/iam/home#/security_credentials"))
    } else if artifact::CREDENTIAL_REPORT.serves(place.rule) {
        Some(format!("{console}/iam/home#/users"))
    } else if artifact::AUDIT_TRAILS.serves(place.rule) {
        Some(format!("{console}/cloudtrailv2/home{query}#/trails"))
    } else if artifact::DISK_ENCRYPTION.serves(place.rule) {
        Some(format!("{console}/ec2/home{query}#Settings:tab=dataProtectionAndSecurity"))
    } else if artifact::OPEN_PORTS.serves(place.rule) {
        Some(format!("{console}/ec2/home{query}#SecurityGroups:"))
    } else if artifact::PUBLIC_ACCESS.serves(place.rule) {
        // The block belongs to the account: its page has no region.
        Some(format!("{console}/s3/settings"))
    } else if artifact::DATABASES.serves(place.rule) {
        Some(format!("{console}/rds/home{query}#databases:"))
    } else if artifact::DETECTORS.serves(place.rule) {
        Some(format!("{console}/guardduty/home{query}#/settings"))
    } else if artifact::LOG_GROUPS.serves(place.rule) {
        Some(format!("{console}/cloudwatch/home{query}#logsV2:log-groups"))
    } else {
        None
    }
}

/// The organization's trail, for accounts without one.
pub(super) fn remedy(place: &Place<'_>, reason: &str) -> Option<Remedy> {
    if place.rule != AUDIT_TRAIL.code || !BY_TRAIL.iter().any(|known| known.code == reason) {
        return None;
    }
    Some(Remedy {
        title: "One organization trail",
        note: "Run it in the management account of the organization. Replace BUCKET with a bucket whose policy lets \
               CloudTrail write for the organization.",
        page: page(place)?,
        command: "aws cloudtrail create-trail --name organization --s3-bucket-name BUCKET \
                  --is-multi-region-trail --is-organization-trail --enable-log-file-validation && aws cloudtrail \
                  start-logging --name organization"
            .to_string(),
        input: "",
    })
}

/// The region of the subject, or else that of the service that was asked first.
fn region(place: &Place<'_>) -> Option<Region> {
    if let Some(region) = place.subject.split('/').nth(1).and_then(Region::new) {
        return Some(region);
    }
    let url = Url::parse(place.api_url).ok()?;
    url.host_str()?.split('.').find_map(Region::new)
}

#[cfg(test)]
mod tests {
    use super::*;
    use evidence_rules::rule::reason;

    #[test]
    fn each_setting_has_its_page_and_region() {
        let trails = "https://console.aws.amazon.com/cloudtrailv2/home";
        for (api_url, rule, subject, expected) in [
            (
                "https://sts.us-east-1.amazonaws.com",
                "log-retention",
                "123456789012/eu-west-1",
                Some("https://console.aws.amazon.com/cloudwatch/home?region=eu-west-1#logsV2:log-groups"),
            ),
            (
                "https://sts.us-east-1.amazonaws.com",
                "audit-trail",
                "123456789012",
                Some(&*format!("{trails}?region=us-east-1#/trails")),
            ),
            ("http://127.0.0.1:8081", "audit-trail", "123456789012", Some(&*format!("{trails}#/trails"))),
            (
                "https://sts.us-east-1.amazonaws.com",
                "password-policy",
                "123456789012",
                Some("https://console.aws.amazon.com/iam/home#/account_settings"),
            ),
            (
                "https://sts.cn-north-1.amazonaws.com.cn",
                "password-policy",
                "123456789012",
                Some("https://console.amazonaws.cn/iam/home#/account_settings"),
            ),
            (
                "https://sts.us-gov-west-1.amazonaws.com",
                "audit-trail",
                "123456789012/us-gov-east-1",
                Some("https://console.amazonaws-us-gov.com/cloudtrailv2/home?region=us-gov-east-1#/trails"),
            ),
            ("https://sts.us-east-1.amazonaws.com", "audit-trail", "123456789012/us-iso-east-1", None),
            (
                "https://sts.us-east-1.amazonaws.com",
                "root-keys",
                "123456789012",
                Some("https://console.aws.amazon.com/iam/home#/security_credentials"),
            ),
            (
                "https://sts.us-east-1.amazonaws.com",
                "unused-credentials",
                "123456789012",
                Some("https://console.aws.amazon.com/iam/home#/users"),
            ),
            (
                "https://sts.us-east-1.amazonaws.com",
                "trail-integrity",
                "123456789012",
                Some(&*format!("{trails}?region=us-east-1#/trails")),
            ),
            (
                "https://sts.us-east-1.amazonaws.com",
                "storage-not-public",
                "123456789012",
                Some("https://console.aws.amazon.com/s3/settings"),
            ),
            (
                "https://sts.us-east-1.amazonaws.com",
                "database-backup",
                "123456789012",
                Some("https://console.aws.amazon.com/rds/home?region=us-east-1#databases:"),
            ),
            (
                "https://sts.us-east-1.amazonaws.com",
                "admin-ports-closed",
                "123456789012",
                Some("https://console.aws.amazon.com/ec2/home?region=us-east-1#SecurityGroups:"),
            ),
            (
                "https://sts.us-east-1.amazonaws.com",
                "threat-detection",
                "123456789012",
                Some("https://console.aws.amazon.com/guardduty/home?region=us-east-1#/settings"),
            ),
            ("https://sts.us-east-1.amazonaws.com", "made-up", "123456789012", None),
        ] {
            assert_eq!(page(&Place { api_url, rule, subject }).as_deref(), expected, "{rule} {subject}");
        }
    }

    #[test]
    fn one_trail_for_every_account() {
        let place = Place { api_url: "", rule: "audit-trail", subject: "123456789012" };
        assert!(remedy(&place, "audit_trail_missing").is_some());
        assert_eq!(remedy(&place, trail::TRAIL_NOT_DELIVERING.code), None);
        assert_eq!(remedy(&Place { rule: "password-policy", ..place }, reason::NOT_FOUND.code), None);
    }
}
