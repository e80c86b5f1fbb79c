//! Access to the cloud: signatures, sessions, permissions, throttling, faults.

use crate::client::{Answer, raw_with_body};
use crate::signer::{Signer, element, post, target};
use sandbox::cloud::{Cloud, Principal, Throttle};
use sandbox::{Body, Fault, FaultKind, Identity, Server, demo_account};
use std::time::Duration;

fn code(answer: &Answer) -> String {
    if answer.status == 200 {
        return String::new();
    }
    match element(answer, "Code") {
        Some(code) => code,
        None => answer.json()["__type"].as_str().unwrap_or_default().to_owned(),
    }
}

fn said(answer: &Answer) -> String {
    if answer.status == 200 {
        return String::new();
    }
    match element(answer, "Message") {
        Some(message) => message,
        None => answer.json()["message"].as_str().unwrap_or_default().to_owned(),
    }
}

/// The same fault at each of the services: status, code and message.
fn everywhere(signer: &Signer<'_>, server: &Server<Cloud>) -> Vec<(u16, String, String)> {
    [signer.identity(server), signer.policy(server), signer.trails(server), signer.groups(server)]
        .iter()
        .map(|answer| (answer.status, code(answer), said(answer)))
        .collect()
}

fn expect(signer: &Signer<'_>, server: &Server<Cloud>, query: (u16, &str), json: &str, message: &str) {
    let expected = [query, query, (400, json), (400, json)];
    let expected: Vec<_> =
        expected.iter().map(|(status, code)| (*status, (*code).to_owned(), message.to_owned())).collect();
    assert_eq!(everywhere(signer, server), expected);
}

const WRONG: &str = "The request signature we calculated does not match the signature you provided. Check your AWS Secret \
    Access Key and signing method. Consult the service documentation for details.";
const INVALID: &str = "The security token included in the request is invalid.";

#[test]
fn a_signature_opens_all_services() {
    let server = demo_account().serve().unwrap();
    let reader = Signer::reader();
    for answer in
        [reader.identity(&server), reader.policy(&server), reader.trails(&server), reader.groups(&server)]
    {
        assert_eq!(answer.status, 200, "{}", answer.text());
        assert_eq!(answer.header("x-amzn-requestid").unwrap().len(), 36);
        assert!(answer.header("date").unwrap().ends_with(" GMT"));
    }
    assert!(server.violations().is_empty());
    let log = server.requests();
    let seen: Vec<_> =
        log.iter().map(|r| (r.action.as_deref().unwrap(), r.region.as_deref().unwrap())).collect();
    assert_eq!(
        seen,
        [
            ("sts:GetCallerIdentity", "eu-west-1"),
            ("iam:GetAccountPasswordPolicy", "us-east-1"),
            ("cloudtrail:DescribeTrails", "eu-west-1"),
            ("logs:DescribeLogGroups", "eu-west-1"),
        ]
    );
    let login = "arn:aws:iam::123456789012:user/evidence-reader".to_owned();
    assert_eq!(log[0].identity, Identity::User { login, kind: "access-key" });
    assert_eq!(log[0].header("authorization"), Some("[redacted]"));
}

#[test]
fn keys_secrets_and_tokens_that_are_wrong() {
    let server = demo_account().serve().unwrap();
    let reader = Signer::reader();
    let (query, json) = ((403, "InvalidClientTokenId"), "UnrecognizedClientException");
    expect(&Signer { key: "AKIASANDBOXNOSUCHKEY", ..reader.clone() }, &server, query, json, INVALID);
    expect(&Signer { token: Some("not needed"), ..reader.clone() }, &server, query, json, INVALID);
    let wrong = Signer { secret: "SandboxDemoReader/NotARealSecretAccessK2", ..reader.clone() };
    expect(&wrong, &server, (403, "SignatureDoesNotMatch"), "InvalidSignatureException", WRONG);

    let past = Signer {
        key: sandbox::DEMO_CLOUD_EXPIRED_ACCESS_KEY_ID,
        secret: sandbox::DEMO_CLOUD_EXPIRED_SECRET_ACCESS_KEY,
        token: Some(sandbox::DEMO_CLOUD_EXPIRED_SESSION_TOKEN),
        ..reader.clone()
    };
    let message = "The security token included in the request is expired";
    expect(&past, &server, (403, "ExpiredToken"), "ExpiredTokenException", message);
    expect(&Signer { token: None, ..past.clone() }, &server, query, json, INVALID);
    assert!(
        server.requests().iter().all(|request| {
            request.header("x-amz-security-token").is_none_or(|token| token == "[redacted]")
        })
    );

    server.update(|cloud| {
        cloud.change_principal(sandbox::DEMO_CLOUD_ACCESS_KEY_ID, |principal| principal.inactive(true));
    });
    expect(&reader, &server, query, json, INVALID);
    assert!(!format!("{server:?} {:?}", server.state()).contains("NotAReal"), "no secret in Debug output");
}

#[test]
fn every_signed_byte_counts() {
    let server = demo_account().serve().unwrap();
    let reader = Signer::reader();
    let target = target("logs", "DescribeLogGroups");
    let own = [("content-type", "application/x-amz-json-1.1"), ("x-amz-target", target.as_str())];
    let good = reader.headers(&server, "logs", &own, "{}");
    assert_eq!(post(&server, &good, "{}").status, 200);
    assert_eq!(code(&post(&server, &good, "{ }")), "InvalidSignatureException");
    for name in ["content-type", "x-amz-target", "host", "x-amz-date"] {
        let mut bad = good.clone();
        let at = bad.iter().position(|(known, _)| known == name).unwrap();
        bad[at].1 = match name {
            "x-amz-target" => "Logs_20140328.DescribeDestinations".to_owned(),
            "x-amz-date" => bad[at].1.replace('Z', "").chars().take(14).collect::<String>() + "9Z",
            _ => format!("{}x", bad[at].1),
        };
        if bad[at].1 == good[at].1 {
            bad[at].1 = good[at].1.replace("9Z", "8Z");
        }
        assert_eq!(code(&post(&server, &bad, "{}")), "InvalidSignatureException", "{name}");
    }
    let unsigned: Vec<_> = good.iter().filter(|(name, _)| name != "authorization").cloned().collect();
    let answer = post(&server, &unsigned, "{}");
    assert_eq!((answer.status, code(&answer)), (400, "MissingAuthenticationTokenException".to_owned()));
    let answer = raw_with_body(&server, "POST", "/", &[], "Action=GetCallerIdentity&Version=2011-06-15");
    assert_eq!((answer.status, code(&answer)), (403, "MissingAuthenticationToken".to_owned()));
    let broken = [("Authorization", "AWS4-HMAC-SHA256 Credential=AKIA/x, Signature=1")];
    let answer = raw_with_body(&server, "POST", "/", &broken, "Action=GetCallerIdentity&Version=2011-06-15");
    assert_eq!((answer.status, code(&answer)), (400, "IncompleteSignature".to_owned()));
}

#[test]
fn clocks_that_differ() {
    let server = demo_account().serve().unwrap();
    for (shift, starts, holds) in [
        (-290, "", true),
        (290, "", true),
        (-400, "Signature expired: ", false),
        (400, "Signature not yet current: ", false),
    ] {
        let signer = Signer { shift_seconds: shift, ..Signer::reader() };
        let answers = everywhere(&signer, &server);
        assert!(
            answers
                .iter()
                .all(|(status, _, message)| (*status == 200) == holds && message.starts_with(starts))
        );
        if !holds {
            let codes: Vec<_> = answers.iter().map(|(status, code, _)| (*status, code.as_str())).collect();
            let (query, json) = ((403, "SignatureDoesNotMatch"), (400, "InvalidSignatureException"));
            assert_eq!(codes, [query, query, json, json]);
            assert!(answers[0].2.contains(" 5 min.)"), "{}", answers[0].2);
        }
    }
    // The host's clock counts.
    let server = demo_account().clock_offset_seconds(7_200).serve().unwrap();
    assert!(everywhere(&Signer::reader(), &server).iter().all(|(status, _, _)| *status != 200));
}

#[test]
fn regions() {
    let server = demo_account().region("ap-east-1").serve().unwrap();
    let reader = Signer::reader();
    assert_eq!(reader.clone().region("ap-east-1").groups(&server).status, 200);
    let answer = reader.clone().region("eu-south-1").groups(&server);
    assert_eq!((answer.status, code(&answer)), (400, "UnrecognizedClientException".to_owned()));
    let own = [("content-type", "application/x-www-form-urlencoded")];
    let body = "Action=GetAccountPasswordPolicy&Version=2010-05-08";
    let answer = post(&server, &reader.headers(&server, "iam", &own, body), body);
    assert_eq!(said(&answer), "Credential should be scoped to a valid region. ");
    let answer = post(&server, &reader.headers(&server, "sts", &own, body), body);
    assert_eq!(said(&answer), "Credential should be scoped to correct service: 'iam'. ");
}

/// Twenty accounts a page, with the state of each.
#[test]
fn accounts_of_the_organization() {
    let list = |signer: &Signer<'_>, server: &Server<Cloud>, body: &str| {
        let own = [
            ("content-type", "application/x-amz-json-1.1"),
            ("x-amz-target", "AWSOrganizationsV20161128.ListAccounts"),
        ];
        let signer = signer.clone().region("us-east-1");
        post(server, &signer.headers(server, "organizations", &own, body), body)
    };
    let server = demo_account().serve().unwrap();
    let answer = list(&Signer::reader(), &server, "{}");
    assert_eq!((answer.status, code(&answer)), (400, "AWSOrganizationsNotInUseException".to_owned()));
    let account = |number: u32| format!("{:012}", 123_456_789_012_u64 + u64::from(number));
    let organization = (0..21).fold(demo_account(), |cloud, number| {
        let state = if number == 20 { "SUSPENDED" } else { "ACTIVE" };
        cloud.organization_account(account(number), state)
    });
    let server = organization.serve().unwrap();
    let answer: serde_json::Value =
        serde_json::from_str(&list(&Signer::reader(), &server, "{}").text()).unwrap();
    assert_eq!(answer["Accounts"].as_array().unwrap().len(), 20);
    let next = serde_json::json!({ "NextToken": answer["NextToken"] }).to_string();
    let answer: serde_json::Value =
        serde_json::from_str(&list(&Signer::reader(), &server, &next).text()).unwrap();
    assert_eq!(answer["Accounts"][0]["Id"], account(20));
    assert_eq!(answer["Accounts"][0]["State"], "SUSPENDED");
    assert_eq!(answer.get("NextToken"), None);
    let arn = "arn:aws:iam::123456789012:user/nobody";
    server.update(|cloud| cloud.put_principal(Principal::user("AKIASANDBOXNOBODY002", "secret", arn)));
    let signer = Signer { key: "AKIASANDBOXNOBODY002", secret: "secret", ..Signer::reader() };
    let answer = list(&signer, &server, "{}");
    assert_eq!((answer.status, code(&answer)), (400, "AccessDeniedException".to_owned()));
    assert_eq!(answer.json()["Message"], "You don't have permissions to access this resource.");
}

/// The service that lists them has an envelope and codes of its own.
#[test]
fn enabled_regions() {
    let server = demo_account().region("ap-east-1").serve().unwrap();
    let ask = |signer: &Signer<'_>| signer.query(&server, "ec2", "Action=DescribeRegions");
    let answer = ask(&Signer::reader());
    let text = answer.text();
    assert!(text.contains("<DescribeRegionsResponse xmlns=\"http://ec2.amazonaws.com/doc/2016-11-15/\">"));
    assert_eq!(text.matches("<optInStatus>opt-in-not-required</optInStatus>").count(), 17);
    assert_eq!(text.matches("<optInStatus>opted-in</optInStatus>").count(), 1);
    let arn = "arn:aws:iam::123456789012:user/nobody";
    server.update(|cloud| cloud.put_principal(Principal::user("AKIASANDBOXNOBODY002", "secret", arn)));
    let answer = ask(&Signer { key: "AKIASANDBOXNOBODY002", secret: "secret", ..Signer::reader() });
    assert_eq!((answer.status, code(&answer)), (403, "UnauthorizedOperation".to_owned()));
    assert!(said(&answer).starts_with("You are not authorized to perform this operation. User: arn:aws:iam"));
    assert!(answer.text().contains("<Response>") && answer.text().contains("</Errors>"));
    let answer = ask(&Signer { key: "AKIASANDBOXUNKNOWN02", ..Signer::reader() });
    assert_eq!((answer.status, code(&answer)), (401, "AuthFailure".to_owned()));
}

#[test]
fn what_is_not_allowed_names_who_and_what() {
    let server = demo_account().serve().unwrap();
    let limited = Signer {
        key: sandbox::DEMO_CLOUD_LIMITED_ACCESS_KEY_ID,
        secret: sandbox::DEMO_CLOUD_LIMITED_SECRET_ACCESS_KEY,
        ..Signer::reader()
    };
    let answer = limited.policy(&server);
    assert_eq!((answer.status, answer.header("content-type")), (403, Some("text/xml")));
    assert_eq!(
        said(&answer),
        "User: arn:aws:iam::123456789012:user/limited-reader is not authorized to perform: \
         iam:GetAccountPasswordPolicy on resource: * because no identity-based policy allows the \
         iam:GetAccountPasswordPolicy action"
    );
    assert_eq!(limited.groups(&server).status, 200, "the others are");

    server.update(|cloud| {
        let arn = "arn:aws:iam::123456789012:user/fenced";
        let all = Principal::user("AKIASANDBOXFENCEDIN2", "secret", arn).allow(["*"]);
        cloud.put_principal(all.deny("logs:*", "us-east-1").deny("cloudtrail:DescribeTrails", "*"));
    });
    let fenced = Signer { key: "AKIASANDBOXFENCEDIN2", secret: "secret", ..Signer::reader() };
    assert_eq!((fenced.policy(&server).status, fenced.groups(&server).status), (200, 200));
    let answer = fenced.clone().region("us-east-1").groups(&server);
    assert_eq!((answer.status, code(&answer)), (400, "AccessDeniedException".to_owned()));
    assert!(said(&answer).ends_with("with an explicit deny in a service control policy"));
    let answer = fenced.trails(&server);
    assert!(answer.json()["Message"].is_string(), "CloudTrail writes it with a capital letter");
}

#[test]
fn too_fast() {
    let throttle = |pattern: &str| Throttle::on(pattern).first(2);
    let cloud = demo_account().throttle(throttle("iam:*")).throttle(throttle("logs:*@us-east-1"));
    let server = cloud.serve().unwrap();
    let reader = Signer::reader();
    let virginia = reader.clone().region("us-east-1");
    let (policy, groups) = (reader.policy(&server), virginia.groups(&server));
    assert_eq!(
        (policy.status, code(&policy), said(&policy).as_str()),
        (400, "Throttling".into(), "Rate exceeded")
    );
    assert_eq!((groups.status, code(&groups)), (400, "ThrottlingException".into()));
    assert_eq!(reader.groups(&server).status, 200, "another region");
    let rest = [reader.policy(&server).status, reader.policy(&server).status];
    assert_eq!((rest, virginia.groups(&server).status), ([400, 200], 400));
    server.update(|cloud| cloud.set_throttles([]));
    assert_eq!(virginia.groups(&server).status, 200);
}

#[test]
fn faults_by_action() {
    let fault = |pattern: &str, kind| Fault::on(pattern).times(1).kind(kind);
    let server = demo_account()
        .fault(fault("iam:GetAccountPasswordPolicy", FaultKind::Status(503, Body::Json)))
        .fault(fault("logs:DescribeLogGroups@us-east-1", FaultKind::Status(500, Body::Json)))
        .fault(fault("cloudtrail:*", FaultKind::InvalidUtf8))
        .fault(fault("sts:*", FaultKind::Status(502, Body::Html)))
        .latency(Duration::from_millis(5))
        .serve()
        .unwrap();
    let reader = Signer::reader();
    let answer = reader.policy(&server);
    assert_eq!((answer.status, code(&answer)), (503, "ServiceUnavailable".into()));
    assert!(answer.header("x-amzn-requestid").is_some());
    assert_eq!(reader.groups(&server).status, 200, "the fault is for the other region");
    let answer = reader.clone().region("us-east-1").groups(&server);
    assert_eq!((answer.status, code(&answer)), (500, "InternalFailure".into()));
    assert!(String::from_utf8(reader.trails(&server).body).is_err());
    let answer = reader.identity(&server);
    assert!(answer.status == 502 && answer.text().contains("<title>502 Bad Gateway</title>"));
    assert_eq!(server.faults_injected().values().sum::<u64>(), 4);
    assert!(everywhere(&reader, &server).iter().all(|(status, _, _)| *status == 200));
    assert_eq!(server.highest_concurrency(), 1);
}

#[test]
fn what_would_write_is_a_violation() {
    let server = demo_account().serve().unwrap();
    let reader = Signer::reader();
    let answer = reader.query(&server, "iam", "Action=DeleteAccountPasswordPolicy");
    assert_eq!((answer.status, code(&answer)), (400, "InvalidAction".into()));
    let answer = reader.json(&server, "cloudtrail", "StopLogging", "{\"Name\":\"acme-audit\"}");
    assert_eq!((answer.status, code(&answer)), (400, "UnknownOperationException".into()));
    // Read actions, but unknown ones.
    assert_eq!(reader.query(&server, "iam", "Action=GetUser").status, 400);
    let actions: Vec<_> = server.violations().iter().map(|request| request.action.clone().unwrap()).collect();
    assert_eq!(actions, ["iam:DeleteAccountPasswordPolicy", "cloudtrail:StopLogging"]);
    let large = "x".repeat((1 << 20) + 1);
    assert_eq!(reader.json(&server, "logs", "DescribeLogGroups", &large).status, 413);
}
