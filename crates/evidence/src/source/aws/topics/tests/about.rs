//! Which answers are about what was asked.

use serde_json::{Value, json};

use super::super::audit_trails::{listing, selectors};
use super::super::log_groups;
use crate::source::aws::host::sts;
use evidence_http::{AskedAbout, Call};

fn other<T>(call: &Call<T>, subject: &str, answer: &str) -> Option<String> {
    let value = (call.parse)(answer.as_bytes()).unwrap();
    (call.subject.unwrap().other)(&value, &AskedAbout { subject, redirected: false })
}

#[test]
fn an_answer_about_another_account_region_or_trail_does_not_count() {
    let trail = |region: &str, account: &str, name: &str| {
        format!("arn:aws:cloudtrail:{region}:{account}:trail/{name}")
    };
    let (here, one, two) = ("111122223333/eu-central-1", "111122223333", "444455556666");
    for (region, account, organization, counts) in [
        ("eu-central-1", one, json!(false), true),
        // A trail of all regions is shown everywhere, and an organization's in every account.
        ("us-east-1", one, json!(false), true),
        ("eu-central-1", two, json!(true), true),
        ("eu-central-1", two, json!(false), false),
        ("eu-central-1", two, Value::Null, false),
    ] {
        let shown = json!({"TrailARN": trail(region, account, "a"), "IsOrganizationTrail": organization});
        let list = json!({"trailList": [{"TrailARN": trail("eu-central-1", one, "b")}, shown, {}]});
        let found = other(&listing::DESCRIBE_TRAILS.call, here, &list.to_string());
        assert_eq!(found.is_none(), counts, "{list} {found:?}");
    }
    for (region, account, counts) in
        [("eu-central-1", one, true), ("eu-west-1", one, false), ("eu-central-1", two, false)]
    {
        let arn = format!("arn:aws:logs:{region}:{account}:log-group:/app:*");
        let page = json!({"logGroups": [{"logGroupName": "/x"}, {"logGroupName": "/app", "arn": arn}]});
        let found = other(&log_groups::DESCRIBE_LOG_GROUPS.call, here, &page.to_string());
        assert_eq!(found.is_none(), counts, "{page} {found:?}");
    }
    let asked = trail("eu-central-1", one, "audit");
    for (arn, counts) in [
        (json!(asked), true),
        (Value::Null, true),
        (json!(trail("eu-central-1", one, "other")), false),
        (json!(trail("us-east-1", one, "audit")), false),
        (json!(trail("eu-central-1", two, "audit")), false),
    ] {
        let selectors = json!({"TrailARN": arn, "EventSelectors": []});
        let found = other(&selectors::GET_EVENT_SELECTORS.call, &asked, &selectors.to_string());
        assert_eq!(found.is_none(), counts, "{selectors} {found:?}");
    }
    for (account, counts) in [(one, true), (two, false)] {
        let answer = format!(
            "<AssumeRoleResponse><AssumeRoleResult><AssumedRoleUser><Arn>arn:aws:sts::{account}:assumed-role/r/evidence\
             </Arn></AssumedRoleUser><Credentials><AccessKeyId>ASIANOTAREALKEY00000</AccessKeyId><SecretAccessKey>\
             not-a-real-secret</SecretAccessKey><SessionToken>not-a-real-token</SessionToken></Credentials>\
             </AssumeRoleResult></AssumeRoleResponse>"
        );
        let found = other(&sts::ASSUME_ROLE.call, "arn:aws:iam::111122223333:role/r", &answer);
        assert_eq!(found.is_none(), counts, "{account} {found:?}");
    }
}
