//! The root user, the credential report and the integrity of trails: rules of the second framework.

use evidence_rules::rule::Status::{self, Fail, NotApplicable, NotVerifiable, Pass};
use sandbox::cloud::{Body, Cloud, Fault, FaultKind, Principal, ReportRow, RootUser, Server, Trail};
use serde_json::{Value, json};

use crate::{
    ACCOUNT, Collected, EVERY_RULE, KEY, PERMISSIONS, SECRET, Setup, TWO_REGIONS, USER, asked, collect_from,
    good,
};

const REPORT: [&str; 2] = ["iam:GenerateCredentialReport", "iam:GetCredentialReport"];

/// What the second framework needs beside the first.
pub(crate) const CRITERIA: [&str; 13] = [
    "iam:GenerateCredentialReport",
    "iam:GetCredentialReport",
    "ec2:GetEbsEncryptionByDefault",
    "ec2:DescribeSecurityGroups",
    "s3:GetAccountPublicAccessBlock",
    "s3:ListAllMyBuckets",
    "s3:GetBucketPublicAccessBlock",
    "s3:GetBucketPolicyStatus",
    "s3:GetBucketAcl",
    "rds:DescribeDBInstances",
    "rds:DescribeDBClusters",
    "guardduty:ListDetectors",
    "guardduty:GetDetector",
];

/// The good account, with a user who may read the report too.
pub(crate) fn account() -> Cloud {
    let allowed = PERMISSIONS.into_iter().chain(CRITERIA);
    let used = ["2 days ago", "30 days ago"];
    good()
        .principal(Principal::user(KEY, SECRET, USER).allow(allowed))
        .reported(ReportRow::root(ACCOUNT))
        .reported(ReportRow::user(ACCOUNT, "alice").password(used[0], used[1]).with("mfa_active", "true"))
        .reported(ReportRow::user(ACCOUNT, "deploy").key(1, used[0], used[1]))
}

fn collect_with(server: &Server<Cloud>, head: &'static str) -> Collected {
    let setup = Setup { head, ..Setup::new(TWO_REGIONS) };
    collect_from(&server.url(), &setup, true).unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn collect(server: &Server<Cloud>) -> Collected {
    collect_with(server, EVERY_RULE)
}

#[track_caller]
pub(crate) fn is(collected: &Collected, rule: &str, status: Status, reason: &str) {
    assert_eq!(collected.of(rule), [(ACCOUNT, status, reason)], "{rule}");
}

#[test]
fn an_account_with_good_credentials() {
    let server = account().serve().unwrap();
    let collected = collect(&server);
    for rule in ["root-mfa", "root-keys", "user-mfa", "access-key-age", "unused-credentials"] {
        is(&collected, rule, Pass, "ok");
    }
    is(&collected, "trail-integrity", Fail, "trail_integrity_incomplete");
    assert_eq!((collected.warnings.as_slice(), collected.failed.as_slice()), ([].as_slice(), [].as_slice()));
    assert_eq!(
        collected.artifacts["root_account.json"],
        json!({
            "AccountMFAEnabled": 1, "AccountPasswordPresent": 1, "AccountAccessKeysPresent": 0,
            "AccountSigningCertificatesPresent": 0, "Users": 1,
        })
    );
    let report = &collected.artifacts["credential_report.json"];
    assert_eq!(report["users"][1]["user"], "alice");
    assert_eq!(report["users"][0]["password_enabled"], "not_supported");
    assert!(report["GeneratedTime"].is_string());
    // Users, flags and times: no other column, and no address of a user.
    assert!(!report.to_string().contains("arn:") && !report.to_string().contains("cert_1"), "{report}");
    assert_eq!(collected.artifacts["account_summary.json"], json!({"Users": 1}));
}

/// One summary serves two topics, and the report takes one question more than it takes the provider to make it.
#[test]
fn what_the_rules_cost() {
    for (ready, made) in [(0, 1), (1, 2), (3, 4)] {
        let server = account().report_after(ready).serve().unwrap();
        let setup = Setup { head: EVERY_RULE, ..Setup::new(TWO_REGIONS) };
        let collected = collect_from(&server.url(), &setup, false).unwrap();
        is(&collected, "user-mfa", Pass, "ok");
        let asked = asked(&server);
        let count = |action: &str| asked.get(action).copied().unwrap_or(0);
        assert_eq!((count(REPORT[0]), count(REPORT[1])), (made, 1), "{asked:?}");
        assert_eq!(count("iam:GetAccountSummary"), 1);
        assert!(server.violations().is_empty());
    }
    // Rules that are not asked for cost nothing: without their criteria, nothing is different.
    let server = account().serve().unwrap();
    collect_with(&server, "framework: tsc_2017\ncontrols: [CC7.2]\n");
    assert!(asked(&server).keys().all(|action| !action.starts_with("iam:")), "{:?}", asked(&server));
    let server = account().serve().unwrap();
    let only = collect_with(&server, "framework: tsc_2017\ncontrols: [CC6.2]\n");
    assert_eq!(only.checks.len(), 1, "of three rules on one report, one is asked for: {:?}", only.checks);
    is(&only, "unused-credentials", Pass, "ok");
    assert!(!asked(&server).contains_key("iam:GetAccountSummary"));
    // The dry run counts what the run then asks for.
    let setup = Setup { head: EVERY_RULE, ..Setup::new(TWO_REGIONS) };
    let server = account().serve().unwrap();
    let plan = collect_from(&server.url(), &setup, true).unwrap().plan;
    server.clear_log();
    collect_from(&server.url(), &setup, false).unwrap();
    let sent = server.request_count();
    assert!((plan.requests_minimum..=plan.requests_maximum).contains(&sent), "{sent} {plan:?}");
}

#[test]
fn every_state_of_the_root_user() {
    for (root, mfa, keys) in [
        (RootUser { mfa: Some(0), ..RootUser::default() }, (Fail, "root_mfa_missing"), (Pass, "ok")),
        (
            RootUser { mfa: Some(0), password: Some(0), keys: Some(0) },
            (NotApplicable, "root_credentials_removed"),
            (Pass, "ok"),
        ),
        (
            RootUser { mfa: Some(0), password: None, keys: Some(0) },
            (NotVerifiable, "account_password_present_not_visible"),
            (Pass, "ok"),
        ),
        (
            RootUser { mfa: Some(0), password: Some(0), keys: Some(1) },
            (Fail, "root_mfa_missing"),
            (Fail, "root_keys_present"),
        ),
        (
            RootUser { mfa: None, password: None, keys: None },
            (NotVerifiable, "account_mfa_enabled_not_visible"),
            (NotVerifiable, "account_access_keys_present_not_visible"),
        ),
    ] {
        let server = account().root(root).serve().unwrap();
        let collected = collect(&server);
        is(&collected, "root-mfa", mfa.0, mfa.1);
        is(&collected, "root-keys", keys.0, keys.1);
    }
}

#[test]
fn every_kind_of_bad_credential() {
    let old = "400 days ago";
    let server = account()
        .reported(ReportRow::user(ACCOUNT, "bob").password("1 days ago", "1 days ago"))
        .reported(ReportRow::user(ACCOUNT, "carol, \"cc\"").key(2, "1 days ago", old))
        .reported(ReportRow::user(ACCOUNT, "dave").password(old, old).with("mfa_active", "true"))
        .serve()
        .unwrap();
    let collected = collect(&server);
    is(&collected, "user-mfa", Fail, "user_without_mfa");
    is(&collected, "access-key-age", Fail, "access_key_old");
    is(&collected, "unused-credentials", Fail, "credentials_unused");
    let users = collected.artifacts["credential_report.json"]["users"].as_array().unwrap().clone();
    assert!(users.iter().any(|user| user["user"] == "carol, \"cc\""), "{users:?}");
    // The same report, judged by longer limits.
    let setup = Setup {
        head: "framework: tsc_2017\ncontrols: \"*\"\nrules:\n  settings:\n    access-key-age:\n      maximum_days: \
               366\n    unused-credentials:\n      maximum_days: 10\n",
        ..Setup::new(TWO_REGIONS)
    };
    server.update(|cloud| {
        cloud.set_report([ReportRow::user(ACCOUNT, "deploy").key(1, "20 days ago", "300 days ago")]);
    });
    let collected = collect_from(&server.url(), &setup, false).unwrap();
    is(&collected, "access-key-age", Pass, "ok");
    is(&collected, "unused-credentials", Fail, "credentials_unused");
    is(&collected, "user-mfa", NotApplicable, "nothing_in_scope");
}

#[test]
fn refusals_leave_the_rules_open() {
    for (missing, rules) in [
        ("iam:GetAccountSummary", ["root-mfa", "root-keys"].as_slice()),
        ("iam:GenerateCredentialReport", &["user-mfa", "access-key-age", "unused-credentials"]),
        ("iam:GetCredentialReport", &["user-mfa", "access-key-age", "unused-credentials"]),
    ] {
        let allowed = PERMISSIONS.into_iter().chain(CRITERIA).filter(|action| *action != missing);
        let server = account().principal(Principal::user(KEY, SECRET, USER).allow(allowed)).serve().unwrap();
        let collected = collect(&server);
        for rule in rules {
            is(&collected, rule, NotVerifiable, "permission_denied");
        }
        assert!(collected.warned().contains(&"permission_denied"), "{missing}: {:?}", collected.warnings);
        is(&collected, "audit-trail", Pass, "ok");
    }
}

/// A report that is never complete is asked for seven times and is an error then; it passes and fails nothing.
#[test]
fn a_report_that_is_not_made() {
    let server = account().report_after(1_000).serve().unwrap();
    let setup = Setup { head: EVERY_RULE, ..Setup::new(TWO_REGIONS) };
    let collected = collect_from(&server.url(), &setup, false).unwrap();
    is(&collected, "user-mfa", NotVerifiable, "host_error");
    assert_eq!(asked(&server)[REPORT[0]], 7);
    assert!(!asked(&server).contains_key(REPORT[1]));
    assert!(
        collected.failed.iter().any(|(.., message)| message.contains("not complete")),
        "{:?}",
        collected.failed
    );
}

fn answer(content: &str) -> String {
    use base64::Engine as _;
    let content = base64::engine::general_purpose::STANDARD.encode(content);
    format!(
        "<GetCredentialReportResponse><GetCredentialReportResult><Content>{content}</Content><ReportFormat>text/csv\
         </ReportFormat><GeneratedTime>2026-11-21T09:00:00Z</GeneratedTime></GetCredentialReportResult>\
         </GetCredentialReportResponse>"
    )
}

/// What is not asked for stays out: markers in every column that the record has no place for, and in those that hold
/// only flags and times.
#[test]
fn no_other_column_leaves_the_answer() {
    let columns = [
        "user",
        "arn",
        "user_creation_time",
        "password_enabled",
        "password_last_used",
        "password_last_changed",
        "password_next_rotation",
        "mfa_active",
        "access_key_1_active",
        "access_key_1_last_rotated",
        "access_key_1_last_used_date",
        "access_key_1_last_used_region",
        "access_key_1_id",
        "access_key_2_active",
        "access_key_2_secret",
        "brand_new_column",
    ];
    let cell = |column: &&str| {
        if *column == "user" { "alice".to_string() } else { format!("planted-7f3c-{column}") }
    };
    let row: Vec<String> = columns.iter().map(cell).collect();
    let content = format!("{}\n{}\n", columns.join(","), row.join(","));
    let fault = Fault::on(REPORT[1]).kind(FaultKind::Status(200, Body::Text(answer(&content))));
    let server = account().fault(fault).serve().unwrap();
    let collected = collect(&server);
    let report = collected.artifacts["credential_report.json"].to_string();
    assert!(!report.contains("planted-7f3c"), "{report}");
    assert_eq!(collected.artifacts["credential_report.json"]["users"][0]["password_enabled"], Value::Null);
    is(&collected, "user-mfa", NotVerifiable, "password_enabled_not_visible");
    is(&collected, "access-key-age", NotVerifiable, "access_key_1_active_not_visible");
    let setup = Setup { head: EVERY_RULE, ..Setup::new(TWO_REGIONS) };
    let done = crate::whole::run(&server, &setup, &["--verbose"]);
    assert!(
        !done.bundle.contains("planted-7f3c") && !done.printed.contains("planted-7f3c"),
        "{}",
        done.printed
    );
    assert!(done.bundle.contains("credential_report.json"));
}

/// An answer of another form is an error, not a guess.
#[test]
fn a_report_of_another_form() {
    for content in ["user,user\na,b\n", "user,arn\na\n", "arn\na\n", "user\n\"a\n"] {
        let fault = Fault::on(REPORT[1]).kind(FaultKind::Status(200, Body::Text(answer(content))));
        let server = account().fault(fault).serve().unwrap();
        let collected = collect(&server);
        is(&collected, "user-mfa", NotVerifiable, "host_error");
    }
}

#[test]
fn the_integrity_of_the_trail_that_counts() {
    let group = "arn:aws:logs:eu-central-1:123456789012:log-group:audit:*";
    let key = "arn:aws:kms:eu-central-1:123456789012:key/1";
    let trail = |name: &str| Trail::new(name, "eu-central-1").multi_region(true);
    let full = |trail: Trail| trail.validation(true).kms_key(key).log_group(group);
    for (trails, status, reason) in [
        (vec![full(trail("main"))], Pass, "ok"),
        (vec![trail("main").validation(true).kms_key(key)], Fail, "trail_integrity_incomplete"),
        // Of two that pass, the better one counts; one that is not logging does not.
        (vec![trail("main"), full(trail("other"))], Pass, "ok"),
        (vec![trail("main"), full(trail("other")).logging(false)], Fail, "trail_integrity_incomplete"),
        (vec![full(trail("main")).logging(false)], Pass, "ok"),
    ] {
        let mut cloud = account();
        cloud.remove_trail("main");
        trails.into_iter().for_each(|trail| cloud.put_trail(trail));
        let server = cloud.serve().unwrap();
        is(&collect(&server), "trail-integrity", status, reason);
    }
    let mut cloud = account();
    cloud.remove_trail("main");
    is(&collect(&cloud.serve().unwrap()), "trail-integrity", Fail, "audit_trail_missing");
}

#[test]
fn disks_are_encrypted_by_default_in_every_region() {
    let both = |cloud: Cloud| cloud.encrypts_disks("eu-central-1").encrypts_disks("us-east-1");
    let server = both(account()).serve().unwrap();
    let collected = collect(&server);
    is(&collected, "disk-encryption-default", Pass, "ok");
    assert_eq!(
        collected.artifacts["disk_encryption_us-east-1.json"],
        json!({"EbsEncryptionByDefault": true})
    );
    server.clear_log();
    let setup = Setup { head: EVERY_RULE, ..Setup::new(TWO_REGIONS) };
    collect_from(&server.url(), &setup, false).unwrap();
    assert_eq!(asked(&server)["ec2:GetEbsEncryptionByDefault"], 2);
    let server = account().encrypts_disks("us-east-1").serve().unwrap();
    is(&collect(&server), "disk-encryption-default", Fail, "disk_encryption_off");
    // A region that is refused leaves it open, unless another one fails already.
    let refused = |cloud: Cloud| {
        let denied = "ec2:GetEbsEncryptionByDefault@us-east-1";
        let body = "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not authorized to perform \
                    this operation.</Message></Error></Errors><RequestID>1</RequestID></Response>";
        cloud.fault(Fault::on(denied).kind(FaultKind::Status(403, Body::Text(body.to_string()))))
    };
    let collected = collect(&refused(both(account())).serve().unwrap());
    is(&collected, "disk-encryption-default", NotVerifiable, "permission_denied");
    assert!(collected.warned().contains(&"permission_denied"), "{:?}", collected.warnings);
    let collected = collect(&refused(account()).serve().unwrap());
    is(&collected, "disk-encryption-default", Fail, "disk_encryption_off");
}
