//! Several accounts in one run: each has its own role, directory and subjects, and none affects the others.

use evidence_rules::rule::Status::{Fail, NotApplicable, NotVerifiable, Pass};
use sandbox::cloud::{
    Body, Bucket, Cloud, Fault, FaultKind, LogGroup, PasswordPolicy, Principal, Role, Server, Trail,
};

use crate::identities::CRITERIA;
use crate::whole::run;
use crate::{EVERY_RULE, KEY, PERMISSIONS, SECRET, Setup, TWO_REGIONS, USER, asked, collect_from, good};

const ONE: &str = "111122223333";
const TWO: &str = "444455556666";
const THREE: &str = "777788889999";

fn role() -> Role {
    Role::new("evidence").trust(USER).external_id("acme").allow(PERMISSIONS)
}

/// An account that passes every check, and a role in it.
fn member(number: &str) -> Cloud {
    Cloud::new(number)
        .role(role())
        .password_policy(PasswordPolicy::new(14))
        .trail(Trail::new("main", "eu-central-1").multi_region(true))
        .log_group("eu-central-1", LogGroup::new("/app/web").retention_days(365))
}

/// A user who may only assume roles, and three accounts.
fn estate() -> Cloud {
    let door = Principal::user(KEY, SECRET, USER).allow(["sts:AssumeRole"]);
    good().principal(door).member(member(ONE)).member(member(TWO)).member(member(THREE))
}

fn entry(number: &str, more: &str) -> String {
    format!("{{role_arn: \"arn:aws:iam::{number}:role/evidence\", external_id: acme{more}}}")
}

fn setup(entries: &[String]) -> Setup {
    let accounts = format!("accounts: [{}]", entries.join(", "));
    Setup::new(&[TWO_REGIONS[0], &accounts])
}

fn three() -> Setup {
    setup(&[entry(ONE, ""), entry(TWO, ", name: production"), entry(THREE, "")])
}

fn calls_of(server: &Server<Cloud>, account: &str) -> usize {
    let is = |request: &sandbox::cloud::Request| matches!(&request.identity, sandbox::cloud::Identity::User { login, .. } if login.contains(account));
    server.requests().into_iter().filter(is).count()
}

#[test]
fn every_account_is_read_with_its_role() {
    let server = estate().serve().unwrap();
    let collected = collect_from(&server.url(), &three(), true).unwrap();
    for rule in ["password-policy", "audit-trail"] {
        assert_eq!(collected.of(rule), [ONE, TWO, THREE].map(|account| (account, Pass, "ok")), "{rule}");
    }
    let subjects: Vec<_> = collected.of("log-retention").into_iter().map(|(subject, ..)| subject).collect();
    let regions =
        [ONE, TWO, THREE].map(|account| ["eu-central-1", "us-east-1"].map(|r| format!("{account}/{r}")));
    assert_eq!(subjects, regions.concat());
    let files = [
        "account_summary.json",
        "audit_trails.json",
        "log_groups.json",
        "password_policy.json",
        "trail_main_status.json",
        "trail_main_status_us-east-1.json",
    ];
    let expected = [ONE, TWO, THREE].map(|account| files.map(|file| format!("{account}/{file}")));
    assert_eq!(collected.names(), expected.concat());
    assert_eq!((&collected.failed, &collected.warnings), (&vec![], &vec![]));
    // The identity is that of the credentials. The tool does not read their own account.
    assert_eq!(collected.identity, USER);
    // The population also counts the enabled regions and the accounts.
    let (discovered, in_scope, observations, text) = collected.population.clone().unwrap();
    assert_eq!((discovered, in_scope, observations), (Some(6 + 3 * 17 + 3), 6, collected.observed));
    assert_eq!(text, "3 trails and 3 log groups in scope in 6 regions of 3 accounts");
    // The caller's identity and its organization; then, for each account: the role, the policy, the summary, the enabled regions, trails and log groups of each
    // region, the status in both.
    assert_eq!(collected.account.requests, 1 + 1 + 3 * (1 + 1 + 1 + 1 + 2 + 2 + 2));
    assert_eq!(collected.plan.requests_maximum, collected.account.requests);
    assert_eq!(collected.plan.artifact_count(), 18);
    assert!(server.violations().is_empty());
}

/// The rules of the second framework, over two accounts and one whose role cannot be assumed.
#[test]
fn every_rule_of_every_account() {
    let allowed = PERMISSIONS.into_iter().chain(CRITERIA);
    let of = |number: &str| {
        let role = Role::new("evidence").trust(USER).external_id("acme").allow(allowed.clone());
        member(number).role(role)
    };
    let door = Principal::user(KEY, SECRET, USER).allow(["sts:AssumeRole"]);
    let one = of(ONE).detector("eu-central-1", "ENABLED").detector("us-east-1", "ENABLED");
    let two = of(TWO).bucket(Bucket::new("open", "eu-central-1").block(None).policy(true));
    let server = good().principal(door).member(one).member(two).serve().unwrap();
    let setup = Setup { head: EVERY_RULE, ..three() };
    let collected = collect_from(&server.url(), &setup, false).unwrap();
    let lost = (THREE, NotVerifiable, "role_not_assumed");
    for (rule, first, second) in [
        ("storage-not-public", (NotApplicable, "nothing_in_scope"), (Fail, "storage_public")),
        ("threat-detection", (Pass, "ok"), (Fail, "threat_detection_off")),
        ("database-backup", (NotApplicable, "nothing_in_scope"), (NotApplicable, "nothing_in_scope")),
        ("admin-ports-closed", (NotApplicable, "nothing_in_scope"), (NotApplicable, "nothing_in_scope")),
    ] {
        let expected = [(ONE, first.0, first.1), (TWO, second.0, second.1), lost];
        assert_eq!(collected.of(rule), expected, "{rule}");
    }
    let file = format!("{TWO}/public_access.json");
    assert_eq!(collected.artifacts[&file]["Buckets"][0]["Name"], "open");
    // The same calls for each account that can be read.
    for action in ["s3:GetAccountPublicAccessBlock", "s3:ListAllMyBuckets"] {
        assert_eq!(asked(&server)[action], 2, "{action}");
    }
    for action in ["ec2:DescribeSecurityGroups", "rds:DescribeDBInstances", "guardduty:ListDetectors"] {
        assert_eq!(asked(&server)[action], 4, "{action}");
    }
}

#[test]
fn an_account_can_have_an_extent_of_its_own() {
    let server = estate().serve().unwrap();
    server.update(|cloud| {
        cloud.change_member(TWO, |member| {
            member.put_trail(Trail::new("other", "eu-west-1"));
            member.put_log_group("eu-west-1", LogGroup::new("/app/x").retention_days(1));
            member.put_log_group("eu-west-1", LogGroup::new("/lib/x").retention_days(400));
        });
    });
    let own = ", regions: [eu-west-1], trails: [other], log_groups: [/lib/*]";
    let collected = collect_from(&server.url(), &setup(&[entry(ONE, ""), entry(TWO, own)]), false).unwrap();
    assert_eq!(collected.of("audit-trail"), [(ONE, Pass, "ok"), (TWO, Fail, "audit_trail_not_multi_region")]);
    assert_eq!(collected.of("log-retention")[2], ("444455556666/eu-west-1", Pass, "ok"));
    assert_eq!(collected.artifacts["444455556666/audit_trails.json"]["scope"][0], "other");
    assert_eq!(collected.artifacts["111122223333/audit_trails.json"]["scope"].as_array().unwrap().len(), 0);
}

/// Every account lists an organization's trail: each account is judged by it, and the population counts it once.
#[test]
fn a_trail_of_the_organization_is_one_trail() {
    let server = estate().serve().unwrap();
    server.update(|cloud| {
        for number in [ONE, TWO] {
            let trail = Trail::new("organization", "us-east-1").multi_region(true).organization_of(THREE);
            cloud.change_member(number, |member| member.put_trail(trail));
        }
    });
    let collected = collect_from(&server.url(), &setup(&[entry(ONE, ""), entry(TWO, "")]), false).unwrap();
    assert_eq!(collected.of("audit-trail"), [(ONE, Pass, "ok"), (TWO, Pass, "ok")]);
    let (_, in_scope, _, text) = collected.population.clone().unwrap();
    assert_eq!(text, "4 trails and 2 log groups in scope in 4 regions of 2 accounts");
    assert_eq!(in_scope, 3 + 2);
    for number in [ONE, TWO] {
        assert!(collected.names().contains(&format!("{number}/trail_organization_status.json").as_str()));
    }
}

/// A problem in one account does not affect the others.
#[test]
fn one_bad_account_does_not_end_the_run() {
    let refused = "role_not_assumed";
    let bad = [
        (role().external_id("another"), refused),
        (Role::new("evidence").external_id("acme").allow(PERMISSIONS), refused),
        (Role::new("someone-else"), refused),
    ];
    for (role, reason) in bad {
        let server = estate().serve().unwrap();
        server.update(|cloud| cloud.change_member(TWO, |member| *member = Cloud::new(TWO).role(role)));
        let collected = collect_from(&server.url(), &three(), true).unwrap();
        for rule in ["password-policy", "audit-trail", "log-retention"] {
            let of_two: Vec<_> =
                collected.of(rule).into_iter().filter(|(s, ..)| s.starts_with(TWO)).collect();
            assert_eq!(of_two, [(TWO, NotVerifiable, reason)], "{rule}");
            let passed = collected.of(rule).iter().filter(|(_, status, _)| *status == Pass).count();
            assert_eq!(passed, 2, "{rule}");
        }
        assert_eq!(collected.names().len(), 2 * 6);
        assert_eq!(collected.population.as_ref().unwrap().2, collected.observed);
        assert!(collected.failed.iter().all(|(subject, _, message)| {
            subject == TWO
                && message.starts_with("account 444455556666 (production): sts:AssumeRole of arn:aws:iam::")
                && message.contains("not authorized")
        }));
        assert_eq!(collected.plan.failed.len(), 1);
        assert_eq!(collected.plan.requests_maximum, collected.account.requests);
        assert_eq!(calls_of(&server, TWO), 0);
    }
    // A missing permission of a role is a denial, not an error. A failure in an account is an error of that account.
    let server = estate().serve().unwrap();
    server.update(|cloud| {
        let less = Role::new("evidence").trust(USER).external_id("acme").allow(["cloudtrail:*"]);
        cloud.change_member(TWO, |member| *member = member.clone().role(less));
    });
    let collected = collect_from(&server.url(), &three(), false).unwrap();
    assert_eq!(collected.of("password-policy")[1], (TWO, NotVerifiable, "permission_denied"));
    assert_eq!(collected.of("audit-trail")[1], (TWO, Pass, "ok"));
    assert_eq!(collected.failed, []);
}

#[test]
fn a_fault_of_one_role_is_waited_out_and_then_its_own() {
    let fault = |times| Fault::on("sts:AssumeRole").kind(FaultKind::Status(500, Body::Json)).times(times);
    let server = estate().fault(fault(2)).serve().unwrap();
    let collected = collect_from(&server.url(), &three(), false).unwrap();
    assert_eq!((collected.failed.len(), collected.account.retries), (0, 2));
    let server = estate().fault(fault(1_000)).serve().unwrap();
    let collected = collect_from(&server.url(), &three(), false).unwrap();
    assert!(collected.failed.iter().all(|(_, reason, _)| reason == "host_error"));
    assert_eq!(collected.failed.len(), 9);
}

/// Role chaining: the tool assumes the first role with the credentials of the variables, and the others with those of
/// the first.
#[test]
fn roles_can_be_assumed_by_a_role() {
    let session = "arn:aws:iam::123456789012:role/hub";
    let hub = Role::new("hub").trust(USER).allow(["sts:AssumeRole"]).max_session_seconds(7_200);
    let spoke = || Role::new("evidence").trust(session).external_id("acme").allow(PERMISSIONS);
    let server = estate().role(hub).serve().unwrap();
    server.update(|cloud| {
        for number in [ONE, TWO] {
            cloud.change_member(number, |member| *member = member.clone().role(spoke()));
        }
    });
    let accounts = format!("accounts: [{}, {}]", entry(ONE, ""), entry(TWO, ""));
    let hub = format!("role_arn: {session}");
    let lines = ["mode: assume_role", TWO_REGIONS[0], &hub, "session_duration: 7200", &accounts];
    let collected = collect_from(&server.url(), &Setup::new(&lines), true).unwrap();
    assert_eq!(collected.of("audit-trail"), [(ONE, Pass, "ok"), (TWO, Pass, "ok")]);
    assert_eq!(collected.identity, "arn:aws:sts::123456789012:assumed-role/hub/evidence");
    assert_eq!(asked(&server)["sts:AssumeRole"], 2 * 3, "in the plan's session and in the other");
    assert_eq!(collected.plan.requests_maximum, collected.account.requests);
}

/// The tool renews temporary credentials that expire soon, and also screens for the new ones.
#[test]
fn credentials_are_renewed_during_a_run() {
    let now = jiff::Timestamp::now().as_second();
    let end = jiff::Timestamp::from_second(now + 120).unwrap();
    let (id, secret, token) = ("ASIAEXAMPLE", "not-a-real-temporary-secret", "not-a-real-temporary-token");
    let answer = format!(
        "<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>{id}</AccessKeyId><SecretAccessKey>{secret}\
         </SecretAccessKey><SessionToken>{token}</SessionToken><Expiration>{end}</Expiration></Credentials>\
         </AssumeRoleResult></AssumeRoleResponse>"
    );
    let fault = Fault::on("sts:AssumeRole").kind(FaultKind::Status(200, Body::Text(answer))).times(1);
    let server = estate().fault(fault).serve().unwrap();
    let collected = collect_from(&server.url(), &setup(&[entry(ONE, "")]), false).unwrap();
    assert_eq!((collected.failed.len(), collected.names().len()), (0, 6));
    assert_eq!(asked(&server)["sts:AssumeRole"], 2, "once too short, and once more");
    for text in [secret, token] {
        assert_ne!(collected.screen.redact(text), text);
    }
}

#[test]
fn a_whole_run_names_the_account_that_is_missing() {
    let server = estate().serve().unwrap();
    server.update(|cloud| cloud.change_member(TWO, |member| *member = Cloud::new(TWO)));
    let done = run(&server, &three(), &[]);
    assert_eq!(done.code, 3, "{}", done.printed);
    assert!(done.printed.contains("account 444455556666 (production)"), "{}", done.printed);
    for path in
        ["sources/cloud/111122223333/password_policy.json", "sources/cloud/777788889999/log_groups.json"]
    {
        assert!(done.bundle.contains(path), "{path}");
    }
    assert!(!done.bundle.contains("sources/cloud/444455556666/") && !done.bundle.contains(SECRET));
    assert!(done.bundle.contains("\"complete\":false") || done.bundle.contains("\"complete\": false"));
    let dry = run(&server, &three(), &["--dry-run"]);
    assert!(dry.printed.contains("account 444455556666 (production)"), "{}", dry.printed);
    // Without any readable account, the run leaves no bundle.
    server.update(|cloud| {
        for number in [ONE, THREE] {
            cloud.change_member(number, |member| *member = Cloud::new(number));
        }
    });
    let none = run(&server, &three(), &[]);
    assert_eq!((none.code, none.bundle.as_str()), (3, ""), "{}", none.printed);
    assert!(none.printed.contains(ONE) && none.printed.contains(THREE), "{}", none.printed);
}

/// A management account with two active accounts, one suspended, and itself.
fn organization() -> Cloud {
    let door = Principal::user(KEY, SECRET, USER).allow(["sts:AssumeRole", "organizations:ListAccounts"]);
    let host =
        good().role(role()).principal(door).member(member(ONE)).member(member(TWO)).member(member(THREE));
    host.organization_account(ONE, "ACTIVE")
        .organization_account(TWO, "ACTIVE")
        .organization_account(THREE, "SUSPENDED")
}

fn all(more: &str) -> Setup {
    let accounts = format!("accounts: {{organization: {{role_name: evidence, external_id: acme{more}}}}}");
    Setup::new(&[TWO_REGIONS[0], &accounts])
}

#[test]
fn all_active_accounts_of_the_organization_are_read() {
    let server = organization().serve().unwrap();
    let collected = collect_from(&server.url(), &all(""), false).unwrap();
    let expected = [ONE, crate::ACCOUNT, TWO].map(|account| (account, Pass, "ok"));
    assert_eq!(collected.of("password-policy"), expected);
    assert!(collected.failed.is_empty(), "{:?}", collected.failed);
    // The list is asked for once.
    assert_eq!(asked(&server)["organizations:ListAccounts"], 1);
    assert_eq!(calls_of(&server, THREE), 0);
}

#[test]
fn an_account_without_the_role_is_in_the_population_and_not_verifiable() {
    let broken = Cloud::new(TWO).password_policy(PasswordPolicy::new(14));
    let server = organization().member(broken).serve().unwrap();
    let exclude = format!(", exclude: [\"{}\"]", crate::ACCOUNT);
    let collected = collect_from(&server.url(), &all(&exclude), false).unwrap();
    let policies = collected.of("password-policy");
    assert_eq!(policies, [(ONE, Pass, "ok"), (TWO, NotVerifiable, "role_not_assumed")]);
    assert_eq!(calls_of(&server, &format!("{}:assumed-role", crate::ACCOUNT)), 0, "it is excluded");
}

#[test]
fn a_list_that_is_refused_is_a_failed_connection() {
    let door = Principal::user(KEY, SECRET, USER).allow(["sts:AssumeRole"]);
    let server = organization().principal(door).serve().unwrap();
    let error = collect_from(&server.url(), &all(""), false).err().unwrap();
    assert!(
        error.message.starts_with("the accounts of the organization cannot be listed: "),
        "{}",
        error.message
    );
    assert!(error.help[0].contains("organizations:ListAccounts"), "{:?}", error.help);
    assert!(!error.asked.is_empty());
}
