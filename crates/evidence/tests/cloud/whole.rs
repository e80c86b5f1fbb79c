//! Whole runs of the real program: exit codes, output, and that no credential leaks.

use std::io::Read as _;
use std::process::Command;

use sandbox::cloud::{Cloud, Fault, FaultKind, LogGroup, Principal, Role, Server};

use crate::{ACCOUNT, KEY, PERMISSIONS, SECRET, Setup, TWO_REGIONS, good};

/// The output of a run.
pub(crate) struct Run {
    pub(crate) code: i32,
    /// stdout and stderr.
    pub(crate) printed: String,
    /// The contents of the bundle's files, concatenated; empty without a bundle.
    pub(crate) bundle: String,
}

/// Runs `evidence collect` with these arguments in a directory of its own.
pub(crate) fn run(server: &Server<Cloud>, setup: &Setup, arguments: &[&str]) -> Run {
    let directory = tempfile::tempdir().unwrap();
    let execute = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_evidence"));
        command.args(arguments).current_dir(directory.path()).env_clear().envs(setup.variables.clone());
        command.output().unwrap()
    };
    assert!(execute(&["keygen", "--output", "key.pem"]).status.success());
    let yaml = setup.yaml(&server.url(), &directory.path().join("key.pem"));
    std::fs::write(directory.path().join("evidence.yaml"), yaml).unwrap();
    let output = execute(&[&["collect"], arguments].concat());
    let mut bundle = Vec::new();
    if let Ok(mut files) = std::fs::read_dir(directory.path().join("evidence-bundles")) {
        let file = std::fs::File::open(files.next().unwrap().unwrap().path()).unwrap();
        flate2::read::GzDecoder::new(file).read_to_end(&mut bundle).unwrap();
    }
    Run {
        code: output.status.code().unwrap(),
        printed: [output.stderr, output.stdout].map(|text| String::from_utf8(text).unwrap()).concat(),
        bundle: String::from_utf8_lossy(&bundle).into_owned(),
    }
}

#[test]
fn a_run_and_a_dry_run() {
    let server = good().serve().unwrap();
    let run_it = |arguments: &[&str]| run(&server, &Setup::new(TWO_REGIONS), arguments);
    let done = run_it(&["--verbose"]);
    assert_eq!(done.code, 0, "{}", done.printed);
    for text in
        ["POST iam:GetAccountPasswordPolicy 200", "POST logs:DescribeLogGroups us-east-1 200", ACCOUNT]
    {
        assert!(done.printed.contains(text), "{text}: {}", done.printed);
    }
    assert!(!done.printed.contains(SECRET) && !done.bundle.contains(SECRET));
    assert!(done.bundle.contains("sources/cloud/trail_main_status.json"));
    server.clear_log();
    let dry = run_it(&["--dry-run"]);
    assert_eq!((dry.code, dry.bundle.as_str()), (0, ""));
    assert!(
        dry.printed
            .contains("1 password policy, 1 account summary, 1 audit trails, 2 trail status, 1 log groups"),
        "{}",
        dry.printed
    );
    // The dry run prints what it could not read, and exits as a collection would. It does not retry after a body that
    // is too large.
    let fault = Fault::on("cloudtrail:DescribeTrails@us-east-1").kind(FaultKind::HugeBody(5_000_000));
    server.update(|cloud| cloud.add_fault(fault));
    let dry = run_it(&["--dry-run"]);
    assert_eq!((dry.code, dry.bundle.as_str()), (3, ""), "{}", dry.printed);
    assert!(
        dry.printed.contains("cloudtrail:DescribeTrails in us-east-1: the answer exceeds"),
        "{}",
        dry.printed
    );
}

#[test]
fn what_cannot_be_found_and_who_is_not_known() {
    let server = good().serve().unwrap();
    let lines = ["regions: [eu-central-1, us-east-1]", "trails: [gone]"];
    let missing = run(&server, &Setup::new(&lines), &[]);
    assert_eq!(missing.code, 3, "{}", missing.printed);
    assert!(missing.bundle.contains("the trail gone was not found"), "{}", missing.printed);
    let setup = Setup::new(TWO_REGIONS).variable("CLOUD_SECRET_ACCESS_KEY", "not-a-real-other-secret");
    let unknown = run(&server, &setup, &["--verbose"]);
    assert_eq!((unknown.code, unknown.bundle.as_str()), (2, ""), "{}", unknown.printed);
    assert!(!unknown.printed.contains("not-a-real-other-secret"), "{}", unknown.printed);
}

/// A log group whose name is the collector's own secret: the tool excludes the artifact and does not use its content.
#[test]
fn an_artifact_with_a_credential_is_left_out_and_its_check_with_it() {
    let server = good().log_group("us-east-1", LogGroup::new(SECRET).retention_days(1)).serve().unwrap();
    let done = run(&server, &Setup::new(TWO_REGIONS), &["--verbose"]);
    assert_eq!(done.code, 4, "{}", done.printed);
    assert!(!done.bundle.contains(SECRET) && !done.printed.contains(SECRET), "{}", done.printed);
    assert!(!done.bundle.contains("log_retention_too_short"), "{}", done.printed);
    assert!(done.bundle.contains("excluded_by_policy"));
}

/// The provider's refusal of a role's session repeats its token: the run neither prints nor keeps any part of it.
#[test]
fn the_credentials_of_a_role_do_not_leave_either() {
    let (id, secret, token) = ("ASIAEXAMPLE", "not-a-real-temporary-secret", "not-a-real-temporary-token");
    let answer = format!(
        "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>{id}</AccessKeyId><SecretAccessKey>{secret}\
         </SecretAccessKey><SessionToken>{token}</SessionToken></Credentials></AssumeRoleResult></AssumeRoleResponse>"
    );
    let now = jiff::Timestamp::now().as_second();
    let fault = sandbox::cloud::Fault::on("sts:AssumeRole")
        .kind(sandbox::cloud::FaultKind::Status(200, sandbox::cloud::Body::Text(answer)));
    let server = good()
        .principal(Principal::user(KEY, SECRET, "arn:aws:iam::123456789012:user/door"))
        .role(Role::new("evidence"))
        .principal(Principal::user(id, secret, crate::USER).allow(PERMISSIONS).session(token, now + 900))
        .log_group("eu-central-1", LogGroup::new(format!("/x/{token}")))
        .log_group("us-east-1", LogGroup::new(format!("/x/{secret}")))
        .fault(fault)
        .serve()
        .unwrap();
    let lines = [
        "mode: assume_role",
        "regions: [eu-central-1, us-east-1]",
        "role_arn: arn:aws:iam::123456789012:role/evidence",
    ];
    let done = run(&server, &Setup::new(&lines), &["--verbose"]);
    assert_eq!(done.code, 4, "{}", done.printed);
    for text in [SECRET, secret, token] {
        assert!(!done.bundle.contains(text) && !done.printed.contains(text), "{}", done.printed);
    }
}
