//! The cloud's calls: identity, roles, the password policy, trails, log groups.

use crate::client::raw;
use crate::signer::{Signer, element};
use sandbox::cloud::{Cloud, LogGroup, PasswordPolicy, Role, Trail};
use sandbox::{Server, demo_account, large_account};
use serde_json::{Value, json};
use std::time::Duration;

fn groups(server: &Server<Cloud>, region: &str, body: &Value) -> Value {
    let answer = Signer::reader().region(region).json(server, "logs", "DescribeLogGroups", &body.to_string());
    answer.json()
}

fn names(page: &Value) -> Vec<&str> {
    page["logGroups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|group| group["logGroupName"].as_str().unwrap())
        .collect()
}

#[test]
fn who_am_i() {
    let server = demo_account().serve().unwrap();
    let answer = Signer::reader().identity(&server);
    let expected = "<GetCallerIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\n";
    assert!(answer.text().starts_with(expected), "{}", answer.text());
    assert_eq!(element(&answer, "Account").unwrap(), "123456789012");
    assert_eq!(element(&answer, "Arn").unwrap(), "arn:aws:iam::123456789012:user/evidence-reader");
    assert_eq!(element(&answer, "RequestId").as_deref(), answer.header("x-amzn-requestid"));
    assert_eq!(raw(&server, "GET", "/?Action=GetCallerIdentity&Version=2011-06-15", &[]).status, 403);
}

#[test]
fn the_policy_and_its_absence() {
    let server = demo_account().serve().unwrap();
    let reader = Signer::reader();
    let answer = reader.policy(&server);
    for (name, value) in [
        ("MinimumPasswordLength", "12"),
        ("RequireSymbols", "true"),
        ("ExpirePasswords", "true"),
        ("MaxPasswordAge", "365"),
        ("HardExpiry", "false"),
    ] {
        assert_eq!(element(&answer, name).as_deref(), Some(value), "{name}");
    }
    server.update(|cloud| cloud.set_password_policy(Some(PasswordPolicy::new(6).symbols(false))));
    let answer = reader.policy(&server);
    assert_eq!(element(&answer, "RequireSymbols").unwrap(), "false");
    assert_eq!(
        (element(&answer, "MaxPasswordAge"), element(&answer, "PasswordReusePrevention")),
        (None, None)
    );
    server.update(|cloud| cloud.set_password_policy(None));
    let answer = reader.policy(&server);
    assert_eq!((answer.status, element(&answer, "Code").unwrap().as_str()), (404, "NoSuchEntity"));
    let message = "The Password Policy with domain name 123456789012 cannot be found.";
    assert_eq!(element(&answer, "Message").unwrap(), message);
}

const ROLE: &str = "Action=AssumeRole&RoleArn=arn%3Aaws%3Aiam%3A%3A123456789012%3Arole%2Fevidence-readonly";

#[test]
fn a_role_gives_credentials_that_end() {
    let server = demo_account().serve().unwrap();
    let reader = Signer::reader();
    let ask = format!("{ROLE}&RoleSessionName=nightly&ExternalId=acme-evidence-2026&DurationSeconds=900");
    let answer = reader.query(&server, "sts", &ask);
    let part = |name: &str| element(&answer, name).unwrap();
    let (key, secret, token) = (part("AccessKeyId"), part("SecretAccessKey"), part("SessionToken"));
    assert!(key.starts_with("ASIA") && key.len() == 20 && secret.len() == 40 && token.len() > 300);
    let session = Signer { key: &key, secret: &secret, token: Some(&token), ..reader.clone() };
    let arn = "arn:aws:sts::123456789012:assumed-role/evidence-readonly/nightly";
    assert_eq!(element(&session.identity(&server), "Arn").unwrap(), arn);
    assert_eq!((session.policy(&server).status, session.groups(&server).status), (200, 200));
    assert!(
        matches!(&server.requests()[1].identity, sandbox::Identity::User { login, kind: "session" } if login == arn)
    );
    let forged = Signer { token: Some("forged"), ..session.clone() };
    assert_eq!(element(&forged.policy(&server), "Code").unwrap(), "InvalidClientTokenId");

    server.advance(Duration::from_secs(901));
    let late = Signer { shift_seconds: 901, ..session.clone() };
    assert_eq!(element(&late.policy(&server), "Code").unwrap(), "ExpiredToken");
}

#[test]
fn a_role_is_not_for_everybody() {
    let server = demo_account().serve().unwrap();
    let reader = Signer::reader();
    let refused = |more: &str| {
        let answer = reader.query(&server, "sts", &format!("{ROLE}{more}"));
        let text = element(&answer, "Message").unwrap_or_default();
        (answer.status, element(&answer, "Code").unwrap_or_default(), text)
    };
    let denied = (
        403,
        "AccessDenied".to_owned(),
        "User: arn:aws:iam::123456789012:user/evidence-reader is not authorized to perform: sts:AssumeRole on resource: \
         arn:aws:iam::123456789012:role/evidence-readonly"
            .to_owned(),
    );
    assert_eq!(refused("&RoleSessionName=nightly"), denied);
    assert_eq!(refused("&RoleSessionName=nightly&ExternalId=another"), denied);
    let known = "&RoleSessionName=nightly&ExternalId=acme-evidence-2026";
    for (more, part) in [
        ("&ExternalId=acme-evidence-2026", "Value null at 'roleSessionName'"),
        ("&RoleSessionName=a%20b&ExternalId=acme-evidence-2026", "regular expression pattern"),
        (&format!("{known}&DurationSeconds=899"), "greater than or equal to 900"),
        (&format!("{known}&DurationSeconds=43201"), "less than or equal to 43200"),
        (&format!("{known}&DurationSeconds=14401"), "exceeds the MaxSessionDuration"),
    ] {
        let (status, code, text) = refused(more);
        assert!(status == 400 && code == "ValidationError" && text.contains(part), "{more}: {text}");
    }
    server.update(|cloud| {
        *cloud = cloud.clone().role(Role::new("evidence-readonly").trust("*").external_id("x2"))
    });
    assert_eq!(refused("&RoleSessionName=nightly&ExternalId=x2").0, 200);
}

#[test]
fn trails_at_home_and_their_shadows() {
    let server = demo_account().serve().unwrap();
    let list = |region: &str, body: Value| {
        let signer = Signer::reader().region(region);
        let answer = signer.json(&server, "cloudtrail", "DescribeTrails", &body.to_string()).json();
        let names = answer["trailList"].as_array().unwrap().iter();
        names.map(|trail| trail["Name"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let arn = "arn:aws:cloudtrail:eu-west-1:123456789012:trail/acme-audit";
    assert_eq!(list("eu-west-1", json!({})), ["acme-audit"]);
    assert_eq!(list("us-east-1", json!({})), ["acme-audit", "old-virginia"]);
    assert_eq!(list("us-east-1", json!({ "includeShadowTrails": false })), ["old-virginia"]);
    assert_eq!(list("us-east-1", json!({ "trailNameList": ["acme-audit"] })), Vec::<String>::new());
    assert_eq!(list("us-east-1", json!({ "trailNameList": [arn] })), ["acme-audit"]);

    let status = |region: &str, name: &str| {
        let body = json!({ "Name": name }).to_string();
        Signer::reader().region(region).json(&server, "cloudtrail", "GetTrailStatus", &body)
    };
    let good = status("eu-west-1", "acme-audit").json();
    assert_eq!(good["IsLogging"], true);
    // Earlier today, or shortly after midnight.
    let ago = jiff::Timestamp::now().as_second() as f64 - good["LatestDeliveryTime"].as_f64().unwrap();
    assert!((-1.0..86_400.0).contains(&ago), "{ago}");
    assert_eq!(status("us-east-1", arn).json()["IsLogging"], true);
    assert_eq!(status("us-east-1", "old-virginia").json()["IsLogging"], false);
    let unknown = status("us-east-1", "acme-audit");
    assert_eq!((unknown.status, unknown.json()["__type"].as_str()), (400, Some("TrailNotFoundException")));
    assert_eq!(unknown.json()["Message"], "Unknown trail: acme-audit for the user: 123456789012");
    assert_eq!(status("us-east-1", "").json()["__type"], "InvalidTrailNameException");

    server.update(|cloud| {
        cloud.put_trail(
            Trail::new("new-one", "eu-west-1").latest_delivery(None).delivery_error("AccessDenied"),
        );
    });
    let new = status("eu-west-1", "new-one").json();
    assert_eq!((new.get("LatestDeliveryTime"), &new["LatestDeliveryError"]), (None, &json!("AccessDenied")));
}

#[test]
fn event_selectors() {
    let server = demo_account().serve().unwrap();
    let ask = |body: Value| {
        Signer::reader().region("eu-west-1").json(
            &server,
            "cloudtrail",
            "GetEventSelectors",
            &body.to_string(),
        )
    };
    let arn = "arn:aws:cloudtrail:eu-west-1:123456789012:trail/acme-audit";
    let default = json!([{
        "ReadWriteType": "All", "IncludeManagementEvents": true, "DataResources": [], "ExcludeManagementEventSources": []
    }]);
    assert_eq!(
        ask(json!({ "TrailName": arn })).json(),
        json!({ "TrailARN": arn, "EventSelectors": default })
    );
    let advanced =
        json!([{ "Name": "x", "FieldSelectors": [{ "Field": "eventCategory", "Equals": ["Data"] }] }]);
    server.update(|cloud| {
        cloud.put_trail(Trail::new("own-one", "eu-west-1").advanced_event_selectors(advanced.clone()));
    });
    assert_eq!(ask(json!({ "TrailName": "own-one" })).json()["AdvancedEventSelectors"], advanced);
    let listed =
        Signer::reader().region("eu-west-1").json(&server, "cloudtrail", "DescribeTrails", "{}").json();
    let custom = |trail: &Value| (trail["Name"].clone(), trail["HasCustomEventSelectors"].clone());
    let custom: Vec<_> = listed["trailList"].as_array().unwrap().iter().map(custom).collect();
    assert_eq!(custom, [(json!("acme-audit"), json!(false)), (json!("own-one"), json!(true))]);
    for (body, code) in [
        (json!({ "TrailName": "unknown-one" }), "TrailNotFoundException"),
        (json!({ "Name": "own-one" }), "InvalidTrailNameException"),
        (json!({ "TrailName": 7 }), "SerializationException"),
    ] {
        let refused = ask(body);
        assert_eq!((refused.status, refused.json()["__type"].as_str()), (400, Some(code)));
    }
}

/// A role of another account: both its own policy and the caller's must allow it, and its session sees that
/// account.
#[test]
fn a_role_of_another_account() {
    let other = |role: Role| Cloud::new("210987654321").role(role).password_policy(PasswordPolicy::new(20));
    let role = || Role::new("audit").allow(["iam:GetAccountPasswordPolicy"]);
    let door = "arn:aws:iam::123456789012:user/evidence-reader";
    let ask =
        "Action=AssumeRole&RoleArn=arn%3Aaws%3Aiam%3A%3A210987654321%3Arole%2Faudit&RoleSessionName=nightly";
    let server = demo_account().member(other(role().trust(door))).serve().unwrap();
    let answer = Signer::reader().query(&server, "sts", ask);
    let part = |name: &str| element(&answer, name).unwrap();
    assert_eq!(part("Arn"), "arn:aws:sts::210987654321:assumed-role/audit/nightly");
    let (key, secret, token) = (part("AccessKeyId"), part("SecretAccessKey"), part("SessionToken"));
    let session = Signer { key: &key, secret: &secret, token: Some(&token), ..Signer::reader() };
    assert_eq!(element(&session.identity(&server), "Account").unwrap(), "210987654321");
    assert_eq!(element(&session.policy(&server), "MinimumPasswordLength").unwrap(), "20");
    assert_eq!(element(&Signer::reader().policy(&server), "MinimumPasswordLength").unwrap(), "12");
    assert_eq!(session.groups(&server).json()["__type"], "AccessDeniedException");
    let trusts = [
        (role().trust("arn:aws:iam::123456789012:root"), 200),
        (role().trust("arn:aws:iam::210987654321:root"), 403),
        (role().trust(door).external_id("ours"), 403),
        (role(), 403),
    ];
    for (role, status) in trusts {
        server.update(|cloud| cloud.put_member(other(role)));
        assert_eq!(Signer::reader().query(&server, "sts", ask).status, status);
    }
    // Across accounts, trust alone is not enough.
    server.update(|cloud| {
        cloud.put_member(other(role().trust(door)));
        cloud.change_principal(sandbox::DEMO_CLOUD_ACCESS_KEY_ID, sandbox::cloud::Principal::allow_nothing);
    });
    assert_eq!(Signer::reader().query(&server, "sts", ask).status, 403);
}

#[test]
fn log_groups_page_by_page() {
    let server = large_account(120).serve().unwrap();
    let first = groups(&server, "eu-west-1", &json!({}));
    assert_eq!(names(&first).len(), 50);
    let second = groups(&server, "eu-west-1", &json!({ "nextToken": first["nextToken"] }));
    assert_eq!(names(&second)[0], "/aws/lambda/service-000050");
    let third = groups(&server, "eu-west-1", &json!({ "nextToken": second["nextToken"] }));
    assert_eq!((names(&third).len(), third.get("nextToken")), (20, None));
    assert_eq!(names(&groups(&server, "eu-west-1", &json!({ "limit": 7 }))).len(), 7);
    let exact = groups(&server, "eu-west-1", &json!({ "logGroupNamePrefix": "/aws/lambda/service-00011" }));
    assert_eq!((names(&exact).len(), exact.get("nextToken")), (10, None));
    assert_eq!(names(&groups(&server, "us-east-1", &json!({}))), Vec::<&str>::new());

    let refused = |body: Value| {
        let answer = groups(&server, "eu-west-1", &body);
        (
            answer["__type"].as_str().unwrap().to_owned(),
            answer["message"].as_str().unwrap_or_default().to_owned(),
        )
    };
    let (code, message) = refused(json!({ "limit": 51 }));
    assert_eq!(code, "InvalidParameterException");
    assert_eq!(
        message,
        "1 validation error detected: Value '51' at 'limit' failed to satisfy constraint: Member must have value less than \
         or equal to 50"
    );
    assert_eq!(refused(json!({ "nextToken": "bm9uc2Vuc2U=" })).1, "The specified nextToken is invalid.");
    assert_eq!(refused(json!({ "limit": "ten" })).0, "SerializationException");
    assert_eq!(refused(json!({ "logGroupNamePrefix": "a b" })).0, "InvalidParameterException");
}

#[test]
fn a_group_as_it_is_described() {
    let server = demo_account().page_size(2).serve().unwrap();
    let page = groups(&server, "eu-west-1", &json!({ "logGroupNamePrefix": "/aws/" }));
    assert_eq!(names(&page), ["/aws/cloudtrail/acme-audit", "/aws/lambda/checkout"]);
    let more = json!({ "logGroupNamePrefix": "/aws/", "nextToken": page["nextToken"] });
    let page = groups(&server, "eu-west-1", &more);
    assert_eq!(page["logGroups"][0]["retentionInDays"], 30);
    let forever = &page["logGroups"][1];
    assert_eq!(forever.get("retentionInDays"), None, "for ever is not a number");
    let arn = "arn:aws:logs:eu-west-1:123456789012:log-group:/aws/rds/cluster/orders/audit";
    assert_eq!(
        (forever["logGroupArn"].as_str(), forever["arn"].as_str()),
        (Some(arn), Some(&*format!("{arn}:*")))
    );
    // A group that is created while a client pages.
    server.update(|cloud| cloud.put_log_group("eu-west-1", LogGroup::new("/aws/zzz")));
    assert_eq!(page.get("nextToken"), None);
}
