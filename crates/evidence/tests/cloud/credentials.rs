//! Credentials: error messages, the effect of a wrong clock, and roles.

use evidence::source::ConnectErrorKind;
use sandbox::cloud::{Body, Cloud, Fault, FaultKind, Principal, Role, Server};

use crate::{ACCOUNT, KEY, PERMISSIONS, SECRET, Setup, TWO_REGIONS, asked, collect_from, good};

const TOKEN: &str = "not-a-real-session-token";

/// The error of the connection test, after which the tool sends no further request.
fn refused(server: &Server<Cloud>, setup: &Setup) -> String {
    server.clear_log();
    let error = collect_from(&server.url(), setup, false).err().unwrap();
    assert_eq!(error.kind, ConnectErrorKind::Connection);
    assert!(asked(server).keys().all(|action| action.starts_with("sts:")), "{:?}", asked(server));
    assert_eq!(error.requests, server.request_count(), "{}", error.message);
    let text = format!("{}\n{}", error.message, error.help.join("\n"));
    assert!(!text.contains(SECRET) && !text.contains(TOKEN), "{text}");
    text
}

#[test]
fn what_is_wrong_with_credentials_is_one_error_that_names_the_variable() {
    let server = good().serve().unwrap();
    let setup = || Setup::new(TWO_REGIONS);
    let wrong = refused(&server, &setup().variable("CLOUD_SECRET_ACCESS_KEY", "not-a-real-other-secret"));
    assert!(wrong.starts_with("the secret access key in CLOUD_SECRET_ACCESS_KEY does not belong"), "{wrong}");
    assert_eq!(server.request_count(), 1);
    let unknown = refused(&server, &setup().variable("CLOUD_ACCESS_KEY_ID", "AKIDNOBODY"));
    assert!(
        unknown.starts_with("the provider does not know the access key in CLOUD_ACCESS_KEY_ID"),
        "{unknown}"
    );
    let token = refused(&server, &setup().variable("CLOUD_ACCESS_KEY_ID", "ASIANOBODY"));
    assert!(token.starts_with("the session token in CLOUD_SESSION_TOKEN is missing"), "{token}");
    server.update(|cloud| cloud.put_principal(Principal::user(KEY, SECRET, "x").inactive(true)));
    assert!(refused(&server, &setup()).contains("does not know"));

    for (name, value) in [("CLOUD_ACCESS_KEY_ID", ""), ("CLOUD_SECRET_ACCESS_KEY", "")] {
        let text = refused(&server, &setup().variable(name, value));
        assert!(text.contains(&format!("the environment variable {name} is not set")), "{text}");
        assert_eq!(server.request_count(), 0);
    }
    for (name, value) in [
        ("CLOUD_ACCESS_KEY_ID", "a/b"),
        ("CLOUD_SECRET_ACCESS_KEY", "two words"),
        ("CLOUD_SESSION_TOKEN", "line\nbreak"),
    ] {
        let text = refused(&server, &setup().variable(name, value));
        assert!(text.starts_with(&format!("the environment variable {name} has an invalid value")), "{text}");
    }
}

#[test]
fn temporary_credentials_are_used_with_their_token_until_they_expire() {
    let now = jiff::Timestamp::now().as_second();
    let principal =
        |expires| Principal::user(KEY, SECRET, crate::USER).allow(PERMISSIONS).session(TOKEN, expires);
    let server = good().principal(principal(now + 3600)).serve().unwrap();
    let setup = || Setup::new(TWO_REGIONS).variable("CLOUD_SESSION_TOKEN", &format!("{TOKEN}\n"));
    let collected = collect_from(&server.url(), &setup(), false).unwrap();
    assert_eq!((collected.failed.len(), collected.names().len()), (0, 6));
    for request in server.requests() {
        assert!(!format!("{request:?}").contains(TOKEN));
    }
    server.update(|cloud| cloud.put_principal(principal(now - 1)));
    let expired = refused(&server, &setup());
    let begin = "the temporary credentials in CLOUD_ACCESS_KEY_ID, CLOUD_SECRET_ACCESS_KEY and CLOUD_SESSION_TOKEN \
                 have expired";
    assert!(expired.starts_with(begin), "{expired}");
    // Messages use configured names of variables.
    let mut renamed = setup().variable("MY_TOKEN", TOKEN);
    renamed.lines.push("session_token_env: MY_TOKEN".to_string());
    assert!(refused(&server, &renamed).contains("and MY_TOKEN have expired"));
}

#[test]
fn without_a_region_nothing_is_asked() {
    let server = good().serve().unwrap();
    let text = refused(&server, &Setup::new(&[]));
    assert!(text.starts_with("no region:") && text.contains("CLOUD_REGION"), "{text}");
    assert_eq!(server.request_count(), 0);
    let collected =
        collect_from(&server.url(), &Setup::new(&[]).variable("CLOUD_REGION", "us-east-1"), false);
    assert_eq!(collected.unwrap().artifacts["audit_trails.json"]["regions_read"][0], "us-east-1");
}

#[test]
fn a_wrong_clock_is_corrected_from_the_answer_and_reported() {
    for seconds in [-7_200, 1_200, 0, 200] {
        let server = good().serve().unwrap();
        let setup = Setup { clock_is_wrong_by: seconds, ..Setup::new(TWO_REGIONS) };
        let collected = collect_from(&server.url(), &setup, false).unwrap();
        assert_eq!((collected.failed.len(), collected.names().len()), (0, 6), "{seconds}");
        let wrong = seconds.abs() > 300;
        assert_eq!(
            collected.account.retries,
            u64::from(wrong),
            "{seconds}: the first request, and only that"
        );
        let warned: Vec<_> = collected.warned();
        assert_eq!(warned, if wrong { vec!["clock_skewed"] } else { vec![] });
        if wrong {
            let side = if seconds > 0 { "ahead of" } else { "behind" };
            assert!(collected.warnings[0].1.contains(side), "{:?}", collected.warnings);
        }
    }
    // The first service accepts the wrong clock, and all others refuse it.
    let caller = format!(
        "<GetCallerIdentityResponse><GetCallerIdentityResult><Arn>{}</Arn><UserId>x</UserId><Account>{ACCOUNT}</Account>\
         </GetCallerIdentityResult></GetCallerIdentityResponse>",
        crate::USER
    );
    for seconds in [-600, 600] {
        let patient = Fault::on("sts:*").kind(FaultKind::Status(200, Body::Text(caller.clone())));
        let server = good().fault(patient).serve().unwrap();
        let setup = Setup {
            clock_is_wrong_by: seconds,
            ..Setup::new(&["regions: [eu-central-1, us-east-1, eu-west-1]"])
        };
        let collected = collect_from(&server.url(), &setup, false).unwrap();
        assert_eq!((collected.failed.len(), collected.names().len()), (0, 7), "{:?}", collected.failed);
        assert_eq!(collected.warned(), ["clock_skewed"]);
        // One retry for each of the accounts, the policy, the summary, the enabled regions and, in every region, the trails and log groups; then the status in
        // each region.
        assert_eq!(collected.account.retries, 10);
        assert_eq!(collected.account.requests, 1 + 2 * 10 + 3);
    }
    // A wrong secret stays wrong with any clock: the tool retries only once.
    let server = good().serve().unwrap();
    let setup = Setup { clock_is_wrong_by: 1_200, ..Setup::new(TWO_REGIONS) };
    let text = refused(&server, &setup.variable("CLOUD_SECRET_ACCESS_KEY", "not-a-real-other-secret"));
    assert!(text.starts_with("the secret access key in CLOUD_SECRET_ACCESS_KEY"), "{text}");
    assert_eq!(server.request_count(), 2);
}

const ROLE: &str = "role_arn: arn:aws:iam::123456789012:role/evidence";

fn with_role() -> Server<Cloud> {
    good()
        .principal(
            Principal::user(KEY, SECRET, "arn:aws:iam::123456789012:user/door").allow(["sts:AssumeRole"]),
        )
        .role(
            Role::new("evidence")
                .trust("arn:aws:iam::123456789012:user/door")
                .external_id("acme-evidence")
                .allow(PERMISSIONS),
        )
        .serve()
        .unwrap()
}

#[test]
fn a_role_is_assumed_with_its_external_id() {
    let server = with_role();
    let lines = [
        "mode: assume_role",
        "region: eu-central-1",
        ROLE,
        "external_id: acme-evidence",
        "session_duration: 900",
    ];
    let collected = collect_from(&server.url(), &Setup::new(&lines), false).unwrap();
    assert_eq!((collected.failed.len(), collected.names().len()), (0, 5));
    assert_eq!(collected.identity, "arn:aws:sts::123456789012:assumed-role/evidence/evidence");
    let asked = asked(&server);
    assert_eq!((asked["sts:AssumeRole"], asked["sts:GetCallerIdentity"]), (1, 1));
    assert_eq!(collected.account.requests, 9);
    assert!(server.violations().is_empty());
    assert_eq!(collected.of("password-policy")[0].0, ACCOUNT);
}

#[test]
fn the_temporary_credentials_of_a_role_are_looked_for_from_then_on() {
    let (id, secret, token) = ("ASIAEXAMPLE", "not-a-real-temporary-secret", "not-a-real-temporary-token");
    let answer = format!(
        "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>{id}</AccessKeyId><SecretAccessKey>{secret}\
         </SecretAccessKey><SessionToken>{token}</SessionToken></Credentials></AssumeRoleResult></AssumeRoleResponse>"
    );
    let fault = sandbox::cloud::Fault::on("sts:AssumeRole")
        .kind(sandbox::cloud::FaultKind::Status(200, sandbox::cloud::Body::Text(answer)));
    let server = with_role();
    server.update(|cloud| {
        let now = jiff::Timestamp::now().as_second();
        cloud.put_principal(
            Principal::user(id, secret, crate::USER).allow(PERMISSIONS).session(token, now + 900),
        );
        cloud.add_fault(fault);
    });
    let lines = ["mode: assume_role", "region: eu-central-1", ROLE];
    let collected = collect_from(&server.url(), &Setup::new(&lines), false).unwrap();
    assert_eq!(collected.names().len(), 5);
    for text in [secret, token] {
        assert_ne!(collected.screen.redact(text), text);
    }
}

#[test]
fn a_role_that_may_not_be_assumed_is_one_error() {
    let server = with_role();
    for line in ["external_id: wrong-id", "session_duration: 900"] {
        let text = refused(&server, &Setup::new(&["mode: assume_role", "region: eu-central-1", ROLE, line]));
        assert!(
            text.starts_with(
                "the credentials cannot assume the role arn:aws:iam::123456789012:role/evidence"
            ),
            "{text}"
        );
        assert!(text.contains("external_id") && text.contains("sts:AssumeRole"), "{text}");
        assert_eq!(server.request_count(), 1);
    }
    let lines = [
        "mode: assume_role",
        "region: eu-central-1",
        ROLE,
        "external_id: acme-evidence",
        "session_duration: 43200",
    ];
    let text = refused(&server, &Setup::new(&lines));
    assert!(text.contains("session_duration"), "{text}");
}
