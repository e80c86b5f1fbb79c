//! Documented and undocumented answers of the provider.

use super::super::account_summary::summary as account_summary;
use super::super::audit_trails::listing::trails;
use super::super::audit_trails::status::trail_status;
use super::super::log_groups::LogGroupPage;
use super::super::password_policy::policy as password_policy;
use super::super::regions::enabled as regions;
use crate::source::aws::host::sts::{Caller, RoleLogin};
use evidence_http::ParseError;
use evidence_rules::cloud::record::Moment;
use evidence_rules::cloud::record::PasswordPolicy;
use evidence_rules::field::Field;

fn shape(error: ParseError, what: &str) {
    assert!(matches!(error, ParseError::Shape(_)), "{what}: {error:?}");
}

#[test]
fn who_is_asking() {
    let text = |account: &str| {
        format!(
            "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\"><GetCallerIdentityResult>\
             <Arn>arn:aws:iam::{account}:user/auditor</Arn><UserId>AIDAEXAMPLE</UserId><Account>{account}</Account>\
             </GetCallerIdentityResult></GetCallerIdentityResponse>"
        )
    };
    let caller = Caller::parse(text("123456789012").as_bytes()).unwrap();
    assert_eq!(caller.account, "123456789012");
    assert_eq!(caller.arn, "arn:aws:iam::123456789012:user/auditor");
    for account in ["", "12345678901", "1234567890123", "12345678901a", "../../../etc", "１２３４"] {
        shape(Caller::parse(text(account).as_bytes()).unwrap_err(), account);
    }
    let with_arn = |arn: &str| {
        let usual = "arn:aws:iam::123456789012:user/auditor";
        Caller::parse(text("123456789012").replace(usual, arn).as_bytes())
    };
    let longest = format!("arn:aws:iam::123456789012:user/{}", "x".repeat(2_048 - 31));
    for good in [
        "arn:aws:iam::123456789012:root",
        "arn:aws:sts::123456789012:assumed-role/evidence/auditor@example.com",
        "arn:aws-cn:iam::123456789012:user/path/auditor",
        "arn:aws-us-gov:sts::123456789012:federated-user/auditor",
        &longest,
    ] {
        assert_eq!(with_arn(good).unwrap().arn, good);
    }
    for bad in [
        "",
        "auditor",
        "arn:aws:iam::123456789012:",
        "arn:aws:iam::999999999999:user/auditor",
        "arn:aws:iam:::user/auditor",
        "urn:aws:iam::123456789012:user/auditor",
        "arn:aws:iam::123456789012:user/a&#27;[31mb",
        "arn:aws:iam::123456789012:user/a\nb",
        "arn:aws:iam::123456789012:user/a\u{202e}b",
        &format!("{longest}x"),
    ] {
        shape(with_arn(bad).unwrap_err(), bad);
    }
    for text in ["<a/>", "<GetCallerIdentityResponse/>", "<ErrorResponse/>"] {
        shape(Caller::parse(text.as_bytes()).unwrap_err(), text);
    }
    assert!(matches!(Caller::parse(b"{}").unwrap_err(), ParseError::Broken(_)));
}

#[test]
fn temporary_credentials_are_read_and_not_shown() {
    let text = |token: &str| {
        format!(
            "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>ASIAEXAMPLE</AccessKeyId>\
             <SecretAccessKey>not-a-real-secret</SecretAccessKey>{token}<Expiration>2026-11-21T01:00:00Z</Expiration>\
             </Credentials></AssumeRoleResult></AssumeRoleResponse>"
        )
    };
    let login = RoleLogin::parse(text("<SessionToken>not-a-real-token</SessionToken>").as_bytes()).unwrap();
    let credentials = login.credentials;
    assert_eq!(credentials.secrets(), ["not-a-real-secret", "not-a-real-token"]);
    assert!(credentials.is_temporary() && credentials.has_token());
    for token in ["", "<SessionToken/>", "<SessionToken>two words</SessionToken>"] {
        let error = RoleLogin::parse(text(token).as_bytes()).unwrap_err();
        assert!(!format!("{error:?}").contains("not-a-real"), "{error:?}");
        shape(error, token);
    }
}

fn policy(inner: &str) -> Result<PasswordPolicy, ParseError> {
    let text = format!(
        "<GetAccountPasswordPolicyResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\">\
         <GetAccountPasswordPolicyResult><PasswordPolicy>{inner}</PasswordPolicy></GetAccountPasswordPolicyResult>\
         <ResponseMetadata><RequestId>7a62c49f</RequestId></ResponseMetadata></GetAccountPasswordPolicyResponse>"
    );
    password_policy(text.as_bytes())
}

#[test]
fn a_password_policy_as_it_came() {
    let read = policy(
        "<AllowUsersToChangePassword>true</AllowUsersToChangePassword><RequireUppercaseCharacters>true\
         </RequireUppercaseCharacters><RequireSymbols>false</RequireSymbols><MaxPasswordAge>90</MaxPasswordAge>\
         <MinimumPasswordLength>12</MinimumPasswordLength><HardExpiry/><Novelty>1</Novelty>",
    )
    .unwrap();
    assert_eq!(read.minimum_password_length, Field::Value(12));
    assert_eq!(read.require_uppercase_characters, Field::Value(true));
    assert_eq!(read.require_symbols, Field::Value(false));
    assert_eq!(read.require_numbers, Field::Absent);
    assert_eq!(read.hard_expiry, Field::Null);
    assert_eq!(
        serde_json::to_string(&read).unwrap(),
        r#"{"MinimumPasswordLength":12,"RequireSymbols":false,"RequireUppercaseCharacters":true,"AllowUsersToChangePassword":true,"MaxPasswordAge":90,"HardExpiry":null}"#
    );
    assert_eq!(policy("").unwrap(), PasswordPolicy::default());
    for wrong in [
        "<MinimumPasswordLength>-1</MinimumPasswordLength>",
        "<MinimumPasswordLength>99999999999999999999</MinimumPasswordLength>",
        "<MinimumPasswordLength>eight</MinimumPasswordLength>",
        "<MinimumPasswordLength><x>8</x></MinimumPasswordLength><MinimumPasswordLength>1</MinimumPasswordLength>",
        "<RequireSymbols>yes</RequireSymbols>",
        "<RequireSymbols>True</RequireSymbols>",
    ] {
        shape(policy(wrong).unwrap_err(), wrong);
    }
    shape(password_policy(b"<GetAccountPasswordPolicyResponse/>").unwrap_err(), "no result");
}

#[test]
fn no_trails_has_to_be_said() {
    assert_eq!(trails(br#"{"trailList":[]}"#).unwrap(), []);
    let read = trails(
        br#"{"trailList":[{"Name":"main","TrailARN":"arn:aws:cloudtrail:eu-central-1:123456789012:trail/main",
        "HomeRegion":"eu-central-1","IsMultiRegionTrail":true,"S3BucketName":"logs","S3KeyPrefix":"x","KmsKeyId":null}]}"#,
    )
    .unwrap();
    assert_eq!(
        serde_json::to_string(&read).unwrap(),
        r#"[{"Name":"main","TrailARN":"arn:aws:cloudtrail:eu-central-1:123456789012:trail/main","HomeRegion":"eu-central-1","IsMultiRegionTrail":true,"S3BucketName":"logs","KmsKeyId":null}]"#
    );
    for text in [
        "{}",
        r#"{"trailList":null}"#,
        r#"{"trailList":{}}"#,
        r#"{"trailList":[["main"]]}"#,
        r#"{"trailList":[null]}"#,
        r#"{"trailList":[{"IsMultiRegionTrail":"true"}]}"#,
        r#"{"trailList":[{"Name":7}]}"#,
        "[]",
        "[[]]",
        "null",
        "7",
        r#"{"trailList":[],"trailList":[]}"#,
        r#"{"trailList":[{"Name":"a","Name":"b"}]}"#,
    ] {
        shape(trails(text.as_bytes()).unwrap_err(), text);
    }
    for text in ["", "{", r#"{"trailList":[{"#, "<a/>"] {
        assert!(matches!(trails(text.as_bytes()).unwrap_err(), ParseError::Broken(_)), "{text}");
    }
}

#[test]
fn a_status_keeps_its_times_as_they_came() {
    let read = trail_status(br#"{"IsLogging":true,"LatestDeliveryTime":1.4374414E9,"StartLoggingTime":1795000000,
        "StopLoggingTime":1795000000.25,"LatestDeliveryAttemptTime":"x","LatestDigestDeliveryTime":"2026-11-21T00:00:00Z"}"#)
    .unwrap();
    assert_eq!(read.start_logging_time, Field::Value(Moment::Seconds(1_795_000_000.into())));
    assert_eq!(
        serde_json::to_string(&read).unwrap(),
        r#"{"IsLogging":true,"StartLoggingTime":1795000000,"StopLoggingTime":1795000000.25,"LatestDeliveryTime":1437441400.0,"LatestDigestDeliveryTime":"2026-11-21T00:00:00Z"}"#
    );
    assert_eq!(trail_status(br#"{"IsLogging":null}"#).unwrap().is_logging, Field::Null);
    for text in [
        "{}",
        "[]",
        r#"{"x":1}"#,
        r#"{"IsLogging":"true"}"#,
        r#"{"IsLogging":1}"#,
        r#"{"StopLoggingTime":[]}"#,
    ] {
        shape(trail_status(text.as_bytes()).unwrap_err(), text);
    }
}

#[test]
fn pages_of_log_groups() {
    let page = LogGroupPage::parse(
        br#"{"logGroups":[{"logGroupName":"/a","arn":"arn","retentionInDays":90,"storedBytes":5},{"logGroupName":"/b"}],"nextToken":"n"}"#,
    )
    .unwrap();
    assert_eq!(page.next.as_deref(), Some("n"));
    assert_eq!(page.bytes, 124);
    assert_eq!(
        serde_json::to_string(&page.groups).unwrap(),
        r#"[{"logGroupName":"/a","arn":"arn","retentionInDays":90},{"logGroupName":"/b"}]"#
    );
    for text in
        [r#"{"logGroups":[]}"#, r#"{"logGroups":[],"nextToken":null}"#, r#"{"logGroups":[],"nextToken":""}"#]
    {
        let page = LogGroupPage::parse(text.as_bytes()).unwrap();
        assert!(page.groups.is_empty() && page.next.is_none(), "{text}");
    }
    for text in [
        "{}",
        r#"{"nextToken":"n"}"#,
        r#"{"logGroups":null}"#,
        r#"{"logGroups":[[]]}"#,
        r#"{"logGroups":[{"logGroupName":"/a","retentionInDays":"90"}]}"#,
        r#"{"logGroups":[{"logGroupName":"/a","retentionInDays":90.5}]}"#,
        r#"{"logGroups":[{"logGroupName":"/a","retentionInDays":1e30}]}"#,
        r#"{"logGroups":[{}]}"#,
        r#"{"logGroups":[{"logGroupName":"/a"},{"retentionInDays":90}]}"#,
        r#"{"logGroups":[{"logGroupName":null,"retentionInDays":90}]}"#,
        r#"{"logGroups":[{"logGroupName":"","retentionInDays":90}]}"#,
        r#"{"logGroups":[{"logGroupName":7}]}"#,
        r#"{"logGroups":[],"nextToken":7}"#,
    ] {
        shape(LogGroupPage::parse(text.as_bytes()).unwrap_err(), text);
    }
}

/// What the summary says of the root user: each number once, and not at all if the provider does not name it.
#[test]
fn what_the_root_user_has() {
    let text = |map: &str| {
        format!(
            "<GetAccountSummaryResponse><GetAccountSummaryResult><SummaryMap><entry><key>Users</key><value>1</value></entry>{map}\
             </SummaryMap></GetAccountSummaryResult></GetAccountSummaryResponse>"
        )
    };
    let entry = |key: &str, value: &str| format!("<entry><key>{key}</key><value>{value}</value></entry>");
    let of = |map: &str| account_summary(text(map).as_bytes());
    let root = of(&(entry("AccountMFAEnabled", "0") + &entry("AccountAccessKeysPresent", "2"))).unwrap();
    assert_eq!(root.account_mfa_enabled, Field::Value(0));
    assert_eq!(root.account_access_keys_present, Field::Value(2));
    assert_eq!(root.account_password_present, Field::Absent);
    for key in ["AccountMFAEnabled", "AccountPasswordPresent", "AccountAccessKeysPresent"] {
        for wrong in [entry(key, ""), entry(key, "yes"), entry(key, "1") + &entry(key, "1")] {
            shape(of(&wrong).unwrap_err(), &wrong);
        }
    }
}

/// The summary is an unordered map.
#[test]
fn how_many_users_an_account_has() {
    let text = |map: &str| {
        format!(
            "<GetAccountSummaryResponse xmlns=\"https://iam.amazonaws.com/doc/2010-05-08/\"><GetAccountSummaryResult>\
             <SummaryMap>{map}</SummaryMap></GetAccountSummaryResult></GetAccountSummaryResponse>"
        )
    };
    let entry = |key: &str, value: &str| format!("<entry><key>{key}</key><value>{value}</value></entry>");
    let users = |count: &str| entry("Users", count);
    for (map, expected) in [
        (users("0"), Some(0)),
        (users("27"), Some(27)),
        (entry("Groups", "3") + &users("1") + &entry("UsersQuota", "5000"), Some(1)),
        (String::new(), None),
        (entry("UsersQuota", "5000"), None),
        (users(""), None),
        (users("-1"), None),
        (users("many"), None),
        (users("0") + &users("0"), None),
        ("<entry><key>Users</key></entry>".to_string(), None),
        ("<entry><value>0</value></entry>".to_string(), None),
    ] {
        let found = account_summary(text(&map).as_bytes());
        assert_eq!(found.as_ref().ok().and_then(|summary| summary.users.value().copied()), expected, "{map}");
        if let Err(error) = found {
            shape(error, &map);
        }
    }
    for text in ["<a/>", "<GetAccountSummaryResponse/>", "<ErrorResponse/>"] {
        shape(account_summary(text.as_bytes()).unwrap_err(), text);
    }
}

#[test]
fn enabled_regions() {
    let of = |items: &str| {
        let xml = format!(
            "<DescribeRegionsResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\"><requestId>r</requestId>\
             <regionInfo>{items}</regionInfo></DescribeRegionsResponse>"
        );
        let regions = regions(xml.as_bytes()).ok()?;
        Some(regions.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
    };
    let item = |name: &str, status: &str| {
        format!("<item><regionName>{name}</regionName><optInStatus>{status}</optInStatus></item>")
    };
    let always = item("us-east-1", "opt-in-not-required");
    let chosen = item("eu-south-1", "opted-in");
    assert_eq!(of(&format!("{always}{chosen}")).as_deref(), Some("eu-south-1 us-east-1"));
    // What is not enabled does not count.
    assert_eq!(of(&format!("{always}{}", item("me-south-1", "not-opted-in"))).as_deref(), Some("us-east-1"));
    for wrong in [
        "".to_string(),
        "<item/>".to_string(),
        format!("{always}{always}"),
        item("evil.example/x", "opted-in"),
    ] {
        assert_eq!(of(&wrong), None, "{wrong}");
    }
    assert!(regions(b"<DescribeRegionsResponse/>").is_err());
}
