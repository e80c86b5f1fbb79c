//! All kinds of faults against the calls of the cloud and the workspace directory: no check claims a result for unread
//! data.

use std::os::unix::fs::PermissionsExt as _;

use evidence::env::Clock;
use evidence::source::ConnectError;
use evidence_rules::rule::Status;
use jiff::Timestamp;
use sandbox::cloud::{Cloud, LogGroup, PasswordPolicy, Principal, ReportRow, Trail};
use sandbox::codehost::{CodeHost, Organization, Repository, Role, Token};
use sandbox::workspace::{Activity, MORE_SCOPES, Person, SCOPES, ServiceAccount, Workspace};
use sandbox::{DEMO_TOKEN, Fault};

use crate::kinds::{Kind, LONG, kinds};
use crate::ran::{EVERYTHING, Ran, injected, run, side_by_side};

const KEY: &str = "AKIDSANDBOX";
const SECRET: &str = "not-a-real-secret-access-key";
const ADMIN: &str = "auditor@acme.example";

/// The cloud's calls. The first is the connection test.
const CLOUD: &[&str] = &[
    "sts:GetCallerIdentity",
    "organizations:ListAccounts",
    "ec2:DescribeRegions",
    "iam:GetAccountPasswordPolicy",
    "iam:GetAccountSummary",
    "cloudtrail:DescribeTrails",
    "cloudtrail:DescribeTrails@us-east-1",
    "cloudtrail:GetTrailStatus",
    "logs:DescribeLogGroups",
    "logs:DescribeLogGroups@us-east-1",
];

/// The cloud's calls that only rules of the second framework need.
const CRITERIA: &[&str] = &[
    "iam:GetAccountSummary",
    "iam:GenerateCredentialReport",
    "iam:GetCredentialReport",
    "ec2:GetEbsEncryptionByDefault",
    "ec2:GetEbsEncryptionByDefault@us-east-1",
];

/// The directory's calls. The first is the exchange for a token.
const WORKSPACE: &[&str] = &[
    "/token",
    "/admin/directory/v1/users*",
    "/admin/directory/v1/customer/my_customer/roles*",
    "/admin/directory/v1/customer/my_customer/roleassignments*",
    "/admin/reports/*",
];

/// An account in which some checks pass and some fail.
fn cloud() -> Cloud {
    let permissions = [
        "organizations:ListAccounts",
        "ec2:DescribeRegions",
        "iam:GetAccountPasswordPolicy",
        "iam:GetAccountSummary",
        "iam:GenerateCredentialReport",
        "iam:GetCredentialReport",
        "ec2:GetEbsEncryptionByDefault",
        "cloudtrail:DescribeTrails",
        "cloudtrail:GetTrailStatus",
        "logs:DescribeLogGroups",
    ];
    let user = "arn:aws:iam::123456789012:user/evidence";
    let host = Cloud::new("123456789012")
        .principal(Principal::user(KEY, SECRET, user).allow(permissions))
        .password_policy(PasswordPolicy::new(14))
        .trail(Trail::new("main", "eu-central-1").multi_region(true).validation(true))
        .reported(ReportRow::root("123456789012"))
        .reported(ReportRow::user("123456789012", "alice").password("1 days ago", "1 days ago"))
        .reported(ReportRow::user("123456789012", "deploy").key(1, "1 days ago", "1 days ago"))
        .encrypts_disks("eu-central-1")
        .encrypts_disks("us-east-1")
        .page_size(2);
    let groups = (0..5)
        .map(|number| ("eu-central-1", 365, number))
        .chain((0..3).map(|number| ("us-east-1", 30, number)));
    groups.fold(host, |host, (region, days, number)| {
        host.log_group(region, LogGroup::new(format!("/app/{number}")).retention_days(days))
    })
}

fn collect_cloud(url: &str, timeout: &str) -> Result<Ran, ConnectError> {
    collect_cloud_for("[CC6.1, CC7.2]", url, timeout)
}

fn collect_cloud_for(controls: &str, url: &str, timeout: &str) -> Result<Ran, ConnectError> {
    let source = format!(
        "  cloud:\n    mode: env\n    regions: [eu-central-1, us-east-1]\n    endpoint_url: {url}\n    timeout_seconds: \
         {timeout}\n"
    );
    let variables = [("CLOUD_ACCESS_KEY_ID", KEY), ("CLOUD_SECRET_ACCESS_KEY", SECRET)];
    run(controls, &source, &variables, Clock::manual(Timestamp::now()))
}

/// A workspace in which some checks pass and some fail.
fn workspace() -> Workspace {
    Workspace::new("C01acme99", ["acme.example"])
        .service_account(
            ServiceAccount::new("evidence@acme-evidence.iam.gserviceaccount.com")
                .delegated(SCOPES.into_iter().chain(MORE_SCOPES)),
        )
        .person(Person::new(ADMIN, "Ada", "Auditor").super_admin(true))
        .person(Person::new("root@acme.example", "Ruth", "Root").super_admin(true))
        .person(Person::new("help@acme.example", "Hal", "Helpful").admin_role("_HELP_DESK_ADMIN_ROLE"))
        .person(Person::new("mia@acme.example", "Mia", "Made").enforced(false).enrolled(false))
        .activity(Activity::new(3, ADMIN, "SUSPEND_USER", "gone@acme.example"))
        .activity(Activity::new(90, "root@acme.example", "CREATE_USER", "mia@acme.example"))
        .page_size(2)
}

fn collect_workspace(server: &sandbox::Server<Workspace>, timeout: &str) -> Result<Ran, ConnectError> {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("credentials.json");
    std::fs::write(&path, Workspace::service_account_file(server)).unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o600)).unwrap();
    let url = server.url();
    let source = format!(
        "  altcloud:\n    mode: service_account\n    admin_email: {ADMIN}\n    api_url: {url}\n    cloud_identity_url: {url}\n    \
         timeout_seconds: {timeout}\n"
    );
    let variables = [("ALTCLOUD_APPLICATION_CREDENTIALS", path.to_str().unwrap())];
    run("[CC6.1, CC6.6]", &source, &variables, Clock::manual(Timestamp::now()))
}

/// The result of a run with a fault.
struct Outcome {
    ran: Result<Ran, ConnectError>,
    injected: u64,
}

/// Kinds that only apply to a code host: its own limits, and pagination by `Link`.
const CODE_HOSTS_OWN: &[&str] =
    &["secondary", "abuse-detection", "primary", "rate-headers", "link", "shifted"];

/// The call that the host itself answers with an empty 204: the setting is on.
const ANSWERS_204: &str = "/vulnerability-alerts";

/// Every kind at every call, for as long as the run lasts.
fn every(source: &str, calls: &[&'static str], truth: &Ran, collect: impl Fn(Fault, &str) -> Outcome + Sync) {
    let cases: Vec<(Kind, &str)> = kinds()
        .into_iter()
        .filter(|kind| !CODE_HOSTS_OWN.iter().any(|own| kind.fault.name().starts_with(own)))
        .flat_map(|kind| calls.iter().map(move |call| (kind.clone(), *call)))
        .filter(|(kind, call)| !(kind.name == "empty 204" && call.ends_with(ANSWERS_204)))
        .collect();
    let cases = side_by_side(cases, |(kind, call)| {
        let failure = |what: String| Err(format!("{source}: {} at {call}: {what}", kind.name));
        let Outcome { ran, injected } = collect(Fault::on(*call).kind(kind.fault.clone()), kind.timeout());
        if injected == 0 {
            return failure("the fault met nobody".to_owned());
        }
        // A failed connection makes no claims.
        let Ok(ran) = ran else { return Ok(()) };
        let lies = ran.lies(truth);
        if lies.is_empty() { Ok(()) } else { failure(format!("lies: {lies:?}")) }
    });
    println!("{source}: {cases} cases of kind and call, 0 lies");
}

fn has_both(truth: &Ran) {
    for wanted in [Status::Pass, Status::Fail] {
        assert!(truth.checks.values().flatten().any(|(status, _)| *status == wanted), "{:?}", truth.checks);
    }
}

#[test]
fn no_check_of_the_cloud_lies() {
    let truth = collect_cloud(&cloud().serve().unwrap().url(), LONG).unwrap();
    has_both(&truth);
    every("cloud", CLOUD, &truth, |fault, timeout| {
        let server = cloud().fault(fault).serve().unwrap();
        let ran = collect_cloud(&server.url(), timeout);
        Outcome { ran, injected: injected(&server) }
    });
}

#[test]
fn no_check_of_the_criteria_lies() {
    let truth = collect_cloud_for(EVERYTHING, &cloud().serve().unwrap().url(), LONG).unwrap();
    has_both(&truth);
    every("cloud", CRITERIA, &truth, |fault, timeout| {
        let server = cloud().fault(fault).serve().unwrap();
        let ran = collect_cloud_for(EVERYTHING, &server.url(), timeout);
        Outcome { ran, injected: injected(&server) }
    });
}

#[test]
fn no_check_of_the_workspace_lies() {
    let truth = collect_workspace(&workspace().serve().unwrap(), LONG).unwrap();
    has_both(&truth);
    every("altcloud", WORKSPACE, &truth, |fault, timeout| {
        let server = workspace().fault(fault).serve().unwrap();
        let ran = collect_workspace(&server, timeout);
        Outcome { ran, injected: injected(&server) }
    });
}

/// Two repositories with different security settings.
fn codehost() -> CodeHost {
    let repository = |name: &str| Repository::new("acme", name);
    CodeHost::new()
        .organization(Organization::new("acme").two_factor(true))
        .token(Token::classic(DEMO_TOKEN).scopes(["read:org"]).role(Role::Owner).sees_private(true))
        .repository(
            repository("alpha").vulnerability_alerts(true).secret_scanning(Some("enabled"), Some("disabled")),
        )
        .repository(repository("bravo"))
}

fn collect_codehost(url: &str, timeout: &str) -> Result<Ran, ConnectError> {
    let source = format!(
        "  codehost:\n    mode: token\n    org: acme\n    repos: \"*\"\n    api_url: {url}\n    timeout_seconds: {timeout}\n"
    );
    run(EVERYTHING, &source, &[("CODEHOST_TOKEN", DEMO_TOKEN)], Clock::manual(Timestamp::now()))
}

#[test]
fn no_check_of_security_settings_lies() {
    let calls = &[
        "/orgs/acme/repos",
        "/repos/acme/alpha/vulnerability-alerts",
        "/repos/acme/bravo/vulnerability-alerts",
    ];
    let truth = collect_codehost(&codehost().serve().unwrap().url(), LONG).unwrap();
    has_both(&truth);
    every("codehost", calls, &truth, |fault, timeout| {
        let server = codehost().fault(fault).serve().unwrap();
        let ran = collect_codehost(&server.url(), timeout);
        Outcome { ran, injected: injected(&server) }
    });
}
