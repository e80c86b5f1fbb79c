//! How the provider's answers name the account, region or trail that they are about. An answer to another request, from
//! a proxy or a stand-in for the provider, must not become evidence about this one.

use super::scope::Arn;
use super::wire::{LogGroupPage, RoleLogin};
use evidence_http::Subject;
use evidence_rules::cloud::record::{EventSelectors, LogGroup, Trail};

/// The subject of a request to a region.
pub(super) fn of_region(account: &str, region: &str) -> String {
    format!("{account}/{region}")
}

/// Asked about: the ARN of the role.
pub(super) const ASSUMED_ROLE: Subject<RoleLogin> = Subject {
    fields: "`AssumedRoleUser.Arn`: the account",
    other: |login, about| {
        let (assumed, role) = (Arn::new(login.arn.as_deref()?)?, Arn::new(about.subject)?);
        differs(assumed.account == role.account, assumed.account, role.account)
    },
};

/// Asked about: account and region.
pub(super) const TRAILS: Subject<Vec<Trail>> = Subject {
    fields: "`TrailARN`: the account, except of an organization's trail",
    other: |trails, about| {
        let (account, _) = about.subject.split_once('/')?;
        trails.iter().find_map(|trail| {
            let arn = Arn::new(trail.trail_arn.value()?)?;
            let is_it = arn.account == account || trail.is_organization_trail.value() == Some(&true);
            differs(is_it, trail.trail_arn.value()?, account)
        })
    },
};

/// Asked about: account and region.
pub(super) const LOG_GROUPS: Subject<LogGroupPage> = Subject {
    fields: "`arn`: account and region",
    other: |page, about| {
        page.groups.iter().find_map(|group: &LogGroup| {
            let arn = Arn::new(group.arn.value()?)?;
            let found = of_region(arn.account, arn.region);
            differs(found == about.subject, &found, about.subject)
        })
    },
};

/// Asked about: the ARN of the trail.
pub(super) const EVENT_SELECTORS: Subject<EventSelectors> = Subject {
    fields: "`TrailARN`",
    other: |selectors, about| {
        let arn = selectors.trail_arn.value()?;
        differs(arn == about.subject, arn, about.subject)
    },
};

fn differs(is_it: bool, found: &str, asked: &str) -> Option<String> {
    (!is_it).then(|| format!("{found} instead of {asked}"))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::super::calls;
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
            let found = other(&calls::DESCRIBE_TRAILS.call, here, &list.to_string());
            assert_eq!(found.is_none(), counts, "{list} {found:?}");
        }
        for (region, account, counts) in
            [("eu-central-1", one, true), ("eu-west-1", one, false), ("eu-central-1", two, false)]
        {
            let arn = format!("arn:aws:logs:{region}:{account}:log-group:/app:*");
            let page = json!({"logGroups": [{"logGroupName": "/x"}, {"logGroupName": "/app", "arn": arn}]});
            let found = other(&calls::DESCRIBE_LOG_GROUPS.call, here, &page.to_string());
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
            let found = other(&calls::GET_EVENT_SELECTORS.call, &asked, &selectors.to_string());
            assert_eq!(found.is_none(), counts, "{selectors} {found:?}");
        }
        for (account, counts) in [(one, true), (two, false)] {
            let answer = format!(
                "<AssumeRoleResponse><AssumeRoleResult><AssumedRoleUser><Arn>arn:aws:sts::{account}:assumed-role/r/evidence\
                 </Arn></AssumedRoleUser><Credentials><AccessKeyId>ASIANOTAREALKEY00000</AccessKeyId><SecretAccessKey>\
                 not-a-real-secret</SecretAccessKey><SessionToken>not-a-real-token</SessionToken></Credentials>\
                 </AssumeRoleResult></AssumeRoleResponse>"
            );
            let found = other(&calls::ASSUME_ROLE.call, "arn:aws:iam::111122223333:role/r", &answer);
            assert_eq!(found.is_none(), counts, "{account} {found:?}");
        }
    }
}
