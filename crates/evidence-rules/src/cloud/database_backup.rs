//! Databases are backed up, and the backups are kept.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};

use super::databases::Databases;
use super::regional::Regions;
use crate::field::Field;
use crate::rule::setting::{Setting, Settings};
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Words};

/// What is lost in a database can be restored.
pub static DATABASE_BACKUP: Rule = Rule {
    code: "database-backup",
    title: "Backups of databases",
    version: 1,
    kind: "account",
    expected: "every database and cluster of the configured regions keeps automatic backups for at least {minimum_days one day|# days}",
    reads: "`BackupRetentionPeriod` of every instance and cluster of RDS, Aurora, Neptune and DocumentDB; replicas and the members \
            of a cluster are backed up with their source",
    not_checked: "whether a backup can be restored; backups by other means; the source of a replica in a region that is not configured",
    permission: "Allow `rds:DescribeDBInstances` and `rds:DescribeDBClusters` to the user or role that collects.",
    improvement: None,
    settings: &[&MINIMUM_DAYS],
    hints: &[],
    reasons: &[&DATABASE_WITHOUT_BACKUP, &BACKUP_RETENTION_PERIOD_NOT_VISIBLE],
};

/// The fewest days that backups must be kept.
pub static MINIMUM_DAYS: Setting = Setting {
    rule: "database-backup",
    name: "minimum_days",
    default: 7,
    minimum: 1,
    // The provider keeps them no longer.
    maximum: 35,
    recommended: None,
};

/// A database has no backups, or keeps them for too short a time.
pub static DATABASE_WITHOUT_BACKUP: Reason = Reason::new("database_without_backup", "Databases without enough backups")
    .advice(
        High,
        Misconfigured,
        "Set the backup retention period of the databases that this result names to at least {minimum_days one day|# days}.",
    );

/// The answer lacks the field.
pub static BACKUP_RETENTION_PERIOD_NOT_VISIBLE: Reason =
    Reason::new("backup_retention_period_not_visible", "Backups of a database not reported").advice(
        Medium,
        Partial,
        "Check the databases that this result names by hand: the answer does not say how long their backups are kept.",
    );

/// The judgement.
pub static JUDGE: Judge<Regions<Databases>> =
    Judge { rule: &DATABASE_BACKUP, judge: |regions, settings| Some(judge(regions, settings)) };

static WORDS: Words = Words {
    fails: &DATABASE_WITHOUT_BACKUP,
    failed: "databases do not keep enough backups",
    open: "databases may not keep enough backups",
    good: "databases, all with enough backups",
    none: "the configured regions have no database with backups of its own",
};

/// Passes if every database that is no replica keeps its backups long enough.
pub fn judge(regions: &Regions<Databases>, settings: &Settings) -> Verdict {
    let days = settings.get(&MINIMUM_DAYS);
    regions.judge(&WORDS, |all, region, databases| {
        let instance = |one: &_| databases.of_source(one, of(&one.backup_retention_period, days));
        databases.add(all, region, instance, |one| match one.source.value() {
            Some(_) => One::Nothing,
            None => of(&one.backup_retention_period, days),
        });
    })
}

fn of(kept: &Field<u64>, days: u64) -> One {
    match kept.value() {
        Some(kept) if *kept >= days => One::Good,
        Some(_) => One::Failed,
        None => One::Open(&BACKUP_RETENTION_PERIOD_NOT_VISIBLE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::databases::{DbCluster, DbInstance};
    use crate::rule::Status;

    fn judged(instances: Vec<DbInstance>, clusters: Vec<DbCluster>, days: u64) -> (Status, &'static str) {
        let mut settings = Settings::default();
        settings.set(&MINIMUM_DAYS, days);
        let regions = Regions(vec![("eu-west-1".to_string(), Ok(Databases { instances, clusters }))]);
        let verdict = judge(&regions, &settings);
        (verdict.status, verdict.reason.code)
    }

    #[test]
    fn the_whole_domain() {
        let hidden = (Status::NotVerifiable, "backup_retention_period_not_visible");
        let failed = (Status::Fail, "database_without_backup");
        for (kept, days, expected) in [
            (Field::Value(0), 7, failed),
            (Field::Value(6), 7, failed),
            (Field::Value(7), 7, (Status::Pass, "ok")),
            (Field::Value(35), 35, (Status::Pass, "ok")),
            (Field::Value(7), 8, failed),
            (Field::Value(1), 1, (Status::Pass, "ok")),
            (Field::Null, 7, hidden),
            (Field::Absent, 7, hidden),
        ] {
            let instance = DbInstance { backup_retention_period: kept.clone(), ..DbInstance::default() };
            let cluster =
                DbCluster { backup_retention_period: kept, name: "c".to_string(), ..DbCluster::default() };
            assert_eq!(judged(vec![instance], Vec::new(), days), expected);
            assert_eq!(judged(Vec::new(), vec![cluster], days), expected);
        }
        assert_eq!(judged(Vec::new(), Vec::new(), 7), (Status::NotApplicable, "nothing_in_scope"));
    }

    /// cloudsploit#72, terrascan#1444: replicas cannot have backups of their own. prowler#5434: neither have members.
    #[test]
    fn replicas_and_members_are_judged_with_their_source() {
        let none = || DbInstance { backup_retention_period: Field::Value(0), ..DbInstance::default() };
        let good = || DbCluster {
            backup_retention_period: Field::Value(14),
            name: "c".to_string(),
            ..DbCluster::default()
        };
        let named = |name: &str| Field::Value(name.to_string());
        for replica in [
            DbInstance { source_instance: named("main"), ..none() },
            DbInstance { source_cluster: named("c"), ..none() },
            DbInstance { source_instance: named("arn:aws:rds:us-east-1:123456789012:db:main"), ..none() },
            DbInstance { cluster: named("c"), ..none() },
        ] {
            assert_eq!(judged(vec![replica], vec![good()], 7), (Status::Pass, "ok"));
        }
        // Null names no source.
        let alone = DbInstance { source_instance: Field::Null, cluster: Field::Null, ..none() };
        assert_eq!(judged(vec![alone], Vec::new(), 7), (Status::Fail, "database_without_backup"));
        let replica = DbCluster { source: named("arn:x"), backup_retention_period: Field::Absent, ..good() };
        assert_eq!(judged(Vec::new(), vec![replica, good()], 7), (Status::Pass, "ok"));
        let lost = DbInstance { cluster: named("gone"), ..none() };
        assert_eq!(judged(vec![lost], vec![good()], 7), (Status::NotVerifiable, "cluster_not_listed"));
    }
}
