//! Security groups, databases and detectors: what each region has.

use evidence_rules::rule::Status::{self, Fail, NotApplicable, NotVerifiable, Pass};
use sandbox::cloud::{Body, Cloud, Database, Fault, FaultKind, Principal, SecurityGroup};
use serde_json::{Value, json};

use crate::identities::{CRITERIA, account, collect, is};
use crate::{ACCOUNT, EVERY_RULE, KEY, PERMISSIONS, SECRET, Setup, TWO_REGIONS, USER, asked, collect_from};

const HOME: &str = "eu-central-1";
const AWAY: &str = "us-east-1";
const WORLD: &[&str] = &["0.0.0.0/0"];

#[track_caller]
fn judged(cloud: Cloud, rule: &str, status: Status, reason: &str) -> crate::Collected {
    let server = cloud.serve().unwrap();
    let collected = collect(&server);
    is(&collected, rule, status, reason);
    assert_eq!(server.violations().len(), 0);
    collected
}

/// The account without one permission, everywhere.
fn without(cloud: Cloud, missing: &str) -> Cloud {
    let allowed = PERMISSIONS.into_iter().chain(CRITERIA).filter(|action| *action != missing);
    cloud.principal(Principal::user(KEY, SECRET, USER).allow(allowed))
}

#[test]
fn ports_of_administration() {
    let rule = "admin-ports-closed";
    let web = || SecurityGroup::new("sg-web").open("tcp", (443, 443), WORLD);
    judged(account(), rule, NotApplicable, "nothing_in_scope");
    let collected = judged(account().security_group(HOME, web()), rule, Pass, "ok");
    assert_eq!(
        collected.artifacts["open_ports_eu-central-1.json"],
        json!({"groups_read": 1, "SecurityGroups": []})
    );
    let ssh = SecurityGroup::new("sg-ssh").open("tcp", (22, 22), &["10.0.0.0/8", "::/0", "pl-0a1b"]);
    let cloud = account().security_group(HOME, web()).security_group(AWAY, ssh);
    let collected = judged(cloud, rule, Fail, "admin_ports_open");
    assert_eq!(
        collected.artifacts["open_ports_us-east-1.json"],
        json!({"groups_read": 1, "SecurityGroups": [{"GroupId": "sg-ssh", "IpPermissions": [{
            "IpProtocol": "tcp", "FromPort": 22, "ToPort": 22, "IpRanges": [{"CidrIp": "10.0.0.0/8"}],
            "Ipv6Ranges": [{"CidrIpv6": "::/0"}], "PrefixListIds": [{"PrefixListId": "pl-0a1b"}]}]}]})
    );
    // A group that opens everything, the internet in halves, a prefix list.
    let all = SecurityGroup::new("sg-all").open_all(WORLD);
    judged(account().security_group(HOME, all), rule, Fail, "admin_ports_open");
    let halves = SecurityGroup::new("sg-half").open("tcp", (0, 65_535), &["0.0.0.0/1", "128.0.0.0/1"]);
    judged(account().security_group(HOME, halves), rule, Fail, "admin_ports_open");
    let listed = SecurityGroup::new("sg-list").open("tcp", (22, 22), &["pl-0a1b"]);
    judged(account().security_group(HOME, listed), rule, NotVerifiable, "prefix_list_unread");
}

#[test]
fn a_refused_region_leaves_the_ports_open() {
    let rule = "admin-ports-closed";
    let body = "<Response><Errors><Error><Code>UnauthorizedOperation</Code><Message>You are not authorized to perform this \
                operation.</Message></Error></Errors><RequestID>1</RequestID></Response>";
    let refused = || {
        let denied = FaultKind::Status(403, Body::Text(body.to_string()));
        account()
            .security_group(HOME, SecurityGroup::new("sg-1"))
            .fault(Fault::on("ec2:DescribeSecurityGroups@us-east-1").kind(denied))
    };
    let collected = judged(refused(), rule, NotVerifiable, "permission_denied");
    assert!(collected.warned().contains(&"permission_denied"), "{:?}", collected.warnings);
    let open = SecurityGroup::new("sg-all").open_all(WORLD);
    judged(refused().security_group(HOME, open), rule, Fail, "admin_ports_open");
    judged(without(account(), "ec2:DescribeSecurityGroups"), rule, NotVerifiable, "permission_denied");
}

/// Every page is read, and the dry run counts as many requests as the run makes.
#[test]
fn pages_and_what_they_cost() {
    let mut cloud = account().page_size(3).detector(HOME, "ENABLED");
    for number in 0..8 {
        cloud = cloud.security_group(HOME, SecurityGroup::new(format!("sg-{number}")));
        cloud = cloud.database(AWAY, Database::instance(format!("db-{number}")));
    }
    let last = SecurityGroup::new("sg-last").open_all(WORLD);
    let server = cloud.security_group(HOME, last).serve().unwrap();
    let setup = Setup { head: EVERY_RULE, ..Setup::new(TWO_REGIONS) };
    let plan = collect_from(&server.url(), &setup, true).unwrap().plan;
    server.clear_log();
    let collected = collect_from(&server.url(), &setup, false).unwrap();
    is(&collected, "admin-ports-closed", Fail, "admin_ports_open");
    is(&collected, "database-encrypted", Pass, "ok");
    assert_eq!(collected.artifacts["open_ports_eu-central-1.json"]["groups_read"], 9);
    let databases = &collected.artifacts["databases_us-east-1.json"];
    assert_eq!(databases["DBInstances"].as_array().map(Vec::len), Some(8));
    let asked = asked(&server);
    let count = |action: &str| asked.get(action).copied().unwrap_or(0);
    assert_eq!(count("ec2:DescribeSecurityGroups"), 3 + 1);
    assert_eq!((count("rds:DescribeDBInstances"), count("rds:DescribeDBClusters")), (1 + 3, 2));
    assert_eq!((count("guardduty:ListDetectors"), count("guardduty:GetDetector")), (2, 1));
    assert_eq!((count("s3:GetAccountPublicAccessBlock"), count("s3:ListAllMyBuckets")), (1, 1));
    let sent = server.request_count();
    assert!((plan.requests_minimum..=plan.requests_maximum).contains(&sent), "{sent} {plan:?}");
}

#[test]
fn databases_by_rule() {
    let rules = ["database-encrypted", "database-not-public", "database-backup"];
    let server = account().serve().unwrap();
    let collected = collect(&server);
    rules.iter().for_each(|rule| is(&collected, rule, NotApplicable, "nothing_in_scope"));
    // prowler#5434: members are judged beside their cluster. Neptune and DocumentDB are in the list.
    let member = |name: &str| {
        Database::instance(name)
            .with("DBClusterIdentifier", "orders")
            .without("StorageEncrypted")
            .with("BackupRetentionPeriod", "0")
    };
    // cloudsploit#72, terrascan#1444: a replica has no backups of its own.
    let replica = Database::instance("copy")
        .with("ReadReplicaSourceDBInstanceIdentifier", "main")
        .with("BackupRetentionPeriod", "0");
    let good = || {
        account()
            .database(HOME, Database::cluster("orders"))
            .database(HOME, member("orders-1"))
            .database(HOME, member("orders-2"))
            .database(AWAY, Database::instance("main"))
            .database(AWAY, replica.clone())
            .database(AWAY, Database::cluster("graph").with("Engine", "neptune"))
    };
    let collected = collect(&good().serve().unwrap());
    rules.iter().for_each(|rule| is(&collected, rule, Pass, "ok"));
    let record = &collected.artifacts["databases_eu-central-1.json"];
    assert_eq!(
        record["DBInstances"][0],
        json!({"DBInstanceIdentifier": "orders-1", "Engine": "postgres", "PubliclyAccessible": false,
            "DBClusterIdentifier": "orders", "BackupRetentionPeriod": 0})
    );
    for (database, rule, reason) in [
        (Database::instance("x").with("StorageEncrypted", "false"), rules[0], "database_unencrypted"),
        (Database::cluster("x").with("StorageEncrypted", "false"), rules[0], "database_unencrypted"),
        (Database::instance("x").with("PubliclyAccessible", "true"), rules[1], "database_public"),
        (member("x").with("PubliclyAccessible", "true"), rules[1], "database_public"),
        (Database::instance("x").with("BackupRetentionPeriod", "6"), rules[2], "database_without_backup"),
        (Database::cluster("x").with("BackupRetentionPeriod", "0"), rules[2], "database_without_backup"),
    ] {
        let collected = judged(good().database(HOME, database.clone()), rule, Fail, reason);
        for other in rules.into_iter().filter(|other| *other != rule) {
            is(&collected, other, Pass, "ok");
        }
    }
    for (field, rule, reason) in [
        ("StorageEncrypted", rules[0], "storage_encrypted_not_visible"),
        ("PubliclyAccessible", rules[1], "publicly_accessible_not_visible"),
        ("BackupRetentionPeriod", rules[2], "backup_retention_period_not_visible"),
    ] {
        let hidden = Database::instance("x").without(field);
        judged(good().database(HOME, hidden), rule, NotVerifiable, reason);
    }
    // The same backups, judged by a longer period.
    let head = "framework: tsc_2017\ncontrols: \"*\"\nrules:\n  settings:\n    database-backup:\n      minimum_days: 14\n";
    let setup = Setup { head, ..Setup::new(TWO_REGIONS) };
    let collected = collect_from(&good().serve().unwrap().url(), &setup, false).unwrap();
    is(&collected, rules[2], Fail, "database_without_backup");
}

#[test]
fn databases_that_are_refused_or_of_another_account() {
    for missing in ["rds:DescribeDBInstances", "rds:DescribeDBClusters"] {
        let cloud = without(account().database(HOME, Database::instance("main")), missing);
        let collected = judged(cloud, "database-backup", NotVerifiable, "permission_denied");
        is(&collected, "database-encrypted", NotVerifiable, "permission_denied");
        is(&collected, "database-not-public", NotVerifiable, "permission_denied");
    }
    let foreign = "<DescribeDBInstancesResponse><DescribeDBInstancesResult><DBInstances><DBInstance><DBInstanceIdentifier>a\
                   </DBInstanceIdentifier><DBInstanceArn>arn:aws:rds:eu-central-1:999999999999:db:a</DBInstanceArn>\
                   </DBInstance></DBInstances></DescribeDBInstancesResult></DescribeDBInstancesResponse>";
    let fault = Fault::on("rds:DescribeDBInstances@eu-central-1");
    let cloud = account().fault(fault.kind(FaultKind::Status(200, Body::Text(foreign.to_string()))));
    let collected = judged(cloud, "database-encrypted", NotVerifiable, "host_error");
    assert!(collected.failed.iter().any(|(.., text)| text.contains("999999999999/eu-central-1 instead of")));
}

#[test]
fn detectors_of_threats() {
    let rule = "threat-detection";
    let both = |cloud: Cloud, away: &str| cloud.detector(HOME, "ENABLED").detector(AWAY, away);
    let collected = judged(both(account(), "ENABLED"), rule, Pass, "ok");
    assert_eq!(
        collected.artifacts["detectors_us-east-1.json"],
        json!({"Detectors": [{"DetectorId": "12abc34d567e8fa901bc2d34e56789f0", "Status": "ENABLED"}]})
    );
    // prowler#2612: a detector that is disabled is not one that is missing, and fails as well.
    judged(both(account(), "DISABLED"), rule, Fail, "threat_detection_off");
    judged(account().detector(HOME, "ENABLED"), rule, Fail, "threat_detection_off");
    judged(both(account(), "PAUSED"), rule, NotVerifiable, "status_not_visible");
    // steampipe-mod-aws-compliance#268: a region that does not offer the service does not count.
    let collected = judged(account().detector(HOME, "ENABLED").no_detectors(AWAY), rule, Pass, "ok");
    assert_eq!(collected.failed, []);
    judged(account().no_detectors(HOME).no_detectors(AWAY), rule, NotApplicable, "nothing_in_scope");
    // prowler#2656: a region that is refused is not dropped.
    for missing in ["guardduty:ListDetectors", "guardduty:GetDetector"] {
        let collected =
            judged(without(both(account(), "ENABLED"), missing), rule, NotVerifiable, "permission_denied");
        assert!(collected.warned().contains(&"permission_denied"), "{:?}", collected.warnings);
    }
}

/// Names of users, descriptions, tags and owners are in the answers, and nowhere else.
#[test]
fn what_the_answers_have_and_no_rule_needs() {
    let cloud = account()
        .security_group(HOME, SecurityGroup::new("sg-1").open_all(WORLD))
        .database(HOME, Database::instance("main"))
        .database(HOME, Database::cluster("orders"))
        .detector(HOME, "ENABLED")
        .bucket(sandbox::cloud::Bucket::new("acme-data", HOME).block(None).grant("AllUsers"));
    let server = cloud.serve().unwrap();
    let setup = Setup { head: EVERY_RULE, ..Setup::new(TWO_REGIONS) };
    let done = crate::whole::run(&server, &setup, &["--verbose"]);
    assert!(
        !done.bundle.contains("planted-7f3c") && !done.printed.contains("planted-7f3c"),
        "{}",
        done.printed
    );
    for name in ["open_ports_", "databases_", "detectors_"] {
        assert!(done.bundle.contains(&format!("{name}eu-central-1.json")), "{name}");
    }
    assert!(done.bundle.contains("sources/cloud/public_access.json"));
    for text in [
        "POST ec2:DescribeSecurityGroups",
        "GET guardduty:GetDetector eu-central-1",
        "GET s3:GetBucketAcl acme-data",
    ] {
        assert!(done.printed.contains(text), "{text}: {}", done.printed);
    }
    let collected = collect(&server);
    let texts: Vec<&Value> = collected.artifacts.values().collect();
    assert!(texts.iter().all(|text| !text.to_string().contains("planted-7f3c")));
}

/// An answer without its list, or with a field of another type, is an error and no empty list.
#[test]
fn answers_of_another_form() {
    let broken = |root: &str, inner: &str| format!("<{root}Response>{inner}</{root}Response>");
    for (action, answer, rule) in [
        ("ec2:DescribeSecurityGroups", broken("DescribeSecurityGroups", ""), "admin-ports-closed"),
        (
            "ec2:DescribeSecurityGroups",
            broken(
                "DescribeSecurityGroups",
                "<securityGroupInfo><item><groupId>sg-1</groupId></item></securityGroupInfo>",
            ),
            "admin-ports-closed",
        ),
        (
            "rds:DescribeDBInstances",
            broken("DescribeDBInstances", "<DescribeDBInstancesResult/>"),
            "database-backup",
        ),
        (
            "rds:DescribeDBClusters",
            broken(
                "DescribeDBClusters",
                "<DescribeDBClustersResult><DBClusters><DBCluster><DBClusterIdentifier>a</DBClusterIdentifier>\
                 <StorageEncrypted>yes</StorageEncrypted></DBCluster></DBClusters></DescribeDBClustersResult>",
            ),
            "database-encrypted",
        ),
        ("guardduty:ListDetectors", "{}".to_string(), "threat-detection"),
        ("guardduty:ListDetectors", "{\"detectorIds\": [\"..\"]}".to_string(), "threat-detection"),
        ("guardduty:GetDetector", "{\"status\": 1}".to_string(), "threat-detection"),
    ] {
        let fault = Fault::on(action).kind(FaultKind::Status(200, Body::Text(answer.clone())));
        let cloud = account().detector(HOME, "ENABLED").detector(AWAY, "ENABLED").fault(fault);
        let collected = collect(&cloud.serve().unwrap());
        assert_eq!(collected.of(rule), [(ACCOUNT, NotVerifiable, "host_error")], "{action} {answer}");
    }
}
