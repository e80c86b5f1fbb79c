//! Credentials that are not in the configured variables: of a program, an identity provider's token, a container, an
//! instance, and the first of them that is there.

use std::fs;

use sandbox::cloud::{Cloud, Role, Server};

use crate::{Collected, KEY, PERMISSIONS, SECRET, Setup, TWO_REGIONS, asked, collect_from, good};

const ROLE: &str = "arn:aws:iam::123456789012:role/evidence";
const WEB_TOKEN: &str = "eyJhbGciOiJSUzI1NiJ9.bWFkZS11cA.bm90LWEtcmVhbC10b2tlbg";
const CONTAINER_TOKEN: &str = "not-a-real-container-token";

fn host() -> Cloud {
    let role = || Role::new("evidence").allow(PERMISSIONS);
    good()
        .role(role().web_identity(WEB_TOKEN))
        .instance_role("evidence")
        .container("evidence", Some(CONTAINER_TOKEN))
}

/// A setup with this mode, and none of the configured variables.
fn setup(mode: &str) -> Setup {
    let mut lines = TWO_REGIONS.to_vec();
    let mode = format!("mode: {mode}");
    lines.push(&mode);
    let mut setup = Setup::new(&lines);
    setup.variables.clear();
    setup
}

/// Every artifact was read, as the role, and no secret is in a message or the log of requests.
fn whole(server: &Server<Cloud>, setup: &Setup) -> Collected {
    let collected = collect_from(&server.url(), setup, false).unwrap();
    assert_eq!((collected.failed.len(), collected.names().len()), (0, 6), "{:?}", collected.failed);
    assert!(server.violations().is_empty(), "{:?}", server.violations());
    assert!(!format!("{:?}", collected.warnings).contains("not-a-real"));
    collected
}

fn identity(collected: &Collected) -> &str {
    collected.account.identity.login.as_deref().unwrap()
}

#[test]
fn a_program_prints_credentials() {
    let server = host().serve().unwrap();
    let directory = tempfile::tempdir().unwrap();
    let printed =
        serde_json::json!({"Version": 1, "AccessKeyId": KEY, "SecretAccessKey": SECRET}).to_string();
    let file = directory.path().join("printed.json");
    fs::write(&file, &printed).unwrap();
    let mut setup = setup("command");
    setup.lines.push(format!("credentials_command: [cat, \"{}\"]", file.display()));
    assert_eq!(identity(&whole(&server, &setup)), crate::USER);
    // A program that fails says why, in its own words.
    setup.lines.pop();
    setup
        .lines
        .push("credentials_command: [sh, -c, \"echo 'the session has expired' >&2; exit 3\"]".to_string());
    let error = collect_from(&server.url(), &setup, false).err().unwrap();
    assert_eq!(
        error.message,
        "no credentials from the program sh: sh ends with exit code 3: the session has expired"
    );
}

#[test]
fn a_token_of_an_identity_provider_is_exchanged_for_a_role() {
    let server = host().serve().unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), format!("{WEB_TOKEN}\n")).unwrap();
    let path = file.path().to_str().unwrap().to_string();
    let setup = |mode: &str| {
        setup(mode)
            .variable("AWS_WEB_IDENTITY_TOKEN_FILE", &path)
            .variable("AWS_ROLE_ARN", ROLE)
            .variable("AWS_ROLE_SESSION_NAME", "audit")
    };
    for mode in ["web_identity", "default"] {
        server.clear_log();
        let collected = whole(&server, &setup(mode));
        assert_eq!(identity(&collected), "arn:aws:sts::123456789012:assumed-role/evidence/audit");
        assert_eq!(asked(&server)["sts:AssumeRoleWithWebIdentity"], 1);
        assert_eq!(collected.account.requests, server.request_count(), "{mode}");
    }
    fs::write(file.path(), "eyJ.of.others").unwrap();
    let error = collect_from(&server.url(), &setup("web_identity"), false).err().unwrap();
    assert!(
        error.message.contains("Not authorized to perform sts:AssumeRoleWithWebIdentity"),
        "{}",
        error.message
    );
    assert!(error.help[0].contains("trust policy"), "{:?}", error.help);
    assert!(!format!("{error:?}").contains("eyJ.of"));
    let error = collect_from(&server.url(), &self::setup("web_identity"), false).err().unwrap();
    assert!(error.message.contains("needs AWS_WEB_IDENTITY_TOKEN_FILE"), "{}", error.message);
}

#[test]
fn a_container_s_service_gives_credentials() {
    let server = host().serve().unwrap();
    let url = format!("{}/v2/credentials/made-up", server.url());
    let setup = |mode: &str| setup(mode).variable("AWS_CONTAINER_CREDENTIALS_FULL_URI", &url);
    for mode in ["container", "default"] {
        let authorized = setup(mode).variable("AWS_CONTAINER_AUTHORIZATION_TOKEN", CONTAINER_TOKEN);
        let collected = whole(&server, &authorized);
        assert!(identity(&collected).contains(":assumed-role/evidence/"), "{}", identity(&collected));
    }
    let error = collect_from(&server.url(), &setup("container"), false).err().unwrap();
    assert!(error.message.contains("'Unauthorized' (HTTP 401)"), "{}", error.message);
}

#[test]
fn an_instance_s_service_gives_credentials_by_its_second_version() {
    let server = host().serve().unwrap();
    let url = server.url();
    for mode in ["instance", "default"] {
        server.clear_log();
        let setup = setup(mode).variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", &url);
        let collected = whole(&server, &setup);
        assert_eq!(
            identity(&collected),
            "arn:aws:sts::123456789012:assumed-role/evidence/i-0123456789abcdef0"
        );
        let requests = server.requests();
        assert_eq!((requests[0].method.as_str(), requests[0].path()), ("PUT", "/latest/api/token"));
    }
    server.update(|cloud| *cloud = good());
    let setup = setup("instance").variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", &url);
    let error = collect_from(&server.url(), &setup, false).err().unwrap();
    assert!(error.message.starts_with("no credentials from the instance's service at"), "{}", error.message);
}

/// Every place can go on with a role.
#[test]
fn a_role_is_assumed_with_any_credentials() {
    let audit = Role::new("audit").allow(PERMISSIONS).trust(ROLE);
    let own = Role::new("evidence").allow(PERMISSIONS).allow(["sts:AssumeRole"]);
    let server = host().role(own).role(audit).serve().unwrap();
    let mut setup = setup("instance").variable("AWS_EC2_METADATA_SERVICE_ENDPOINT", &server.url());
    setup.lines.push("role_arn: arn:aws:iam::123456789012:role/audit".to_string());
    let collected = whole(&server, &setup);
    assert_eq!(identity(&collected), "arn:aws:sts::123456789012:assumed-role/audit/evidence");
}

#[test]
fn the_default_takes_the_usual_variables_first_and_refuses_to_skip_a_profile() {
    let server = host().serve().unwrap();
    let setup =
        || setup("default").variable("AWS_ACCESS_KEY_ID", KEY).variable("AWS_SECRET_ACCESS_KEY", SECRET);
    assert_eq!(identity(&whole(&server, &setup())), crate::USER);
    server.clear_log();
    let profile = self::setup("default").variable("AWS_PROFILE", "audit");
    let error = collect_from(&server.url(), &profile, false).err().unwrap();
    assert!(error.message.starts_with("AWS_PROFILE is set"), "{}", error.message);
    assert_eq!(server.request_count(), 0);
}

/// What the provider's own tools would use is named, with the line that uses it.
#[test]
fn usual_variables_are_noticed() {
    let server = good().serve().unwrap();
    let missing = setup("env").variable("AWS_PROFILE", "audit").variable("AWS_WEB_IDENTITY_TOKEN_FILE", "/t");
    let error = collect_from(&server.url(), &missing, false).err().unwrap();
    let help = error.help.join("\n");
    for said in ["AWS_PROFILE is set but not read", "`mode: web_identity`"] {
        assert!(help.contains(said), "{said}: {help}");
    }
}
