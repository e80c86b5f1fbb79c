//! Databases are encrypted where they are stored.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};

use super::databases::Databases;
use super::regional::Regions;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Words};

/// Whoever copies the storage of a database cannot read it.
pub static DATABASE_ENCRYPTED: Rule = Rule {
    code: "database-encrypted",
    title: "Encrypted databases",
    version: 1,
    kind: "account",
    expected: "the storage of every database and cluster of the configured regions is encrypted",
    reads: "`StorageEncrypted` of every instance and cluster of RDS, Aurora, Neptune and DocumentDB; a member of a cluster has \
            the storage of its cluster",
    not_checked: "the key; snapshots and exports; other services that store data; regions that are not configured",
    permission: "Allow `rds:DescribeDBInstances` and `rds:DescribeDBClusters` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&DATABASE_UNENCRYPTED, &STORAGE_ENCRYPTED_NOT_VISIBLE],
};

/// The storage of a database is not encrypted.
pub static DATABASE_UNENCRYPTED: Reason = Reason::new("database_unencrypted", "Unencrypted databases").advice(
    High,
    Misconfigured,
    "Copy a snapshot of each database that this result names with encryption and restore it from the copy: the storage of a \
     database cannot be encrypted later.",
);

/// The answer lacks the field.
pub static STORAGE_ENCRYPTED_NOT_VISIBLE: Reason =
    Reason::new("storage_encrypted_not_visible", "Encryption of a database not reported").advice(
        Medium,
        Partial,
        "Check the databases that this result names by hand: the answer does not say whether their storage is encrypted.",
    );

/// The judgement.
pub static JUDGE: Judge<Regions<Databases>> =
    Judge { rule: &DATABASE_ENCRYPTED, judge: |regions, _| Some(judge(regions)) };

static WORDS: Words = Words {
    fails: &DATABASE_UNENCRYPTED,
    failed: "databases are not encrypted",
    open: "databases may not be encrypted",
    good: "databases, all encrypted",
    none: "the configured regions have no database",
};

/// Passes if every storage is encrypted.
pub fn judge(regions: &Regions<Databases>) -> Verdict {
    regions.judge(&WORDS, |all, region, databases| {
        let instance = |one: &_| databases.of_storage(one, of(&one.storage_encrypted));
        databases.add(all, region, instance, |one| of(&one.storage_encrypted));
    })
}

fn of(encrypted: &Field<bool>) -> One {
    match encrypted.value() {
        Some(true) => One::Good,
        Some(false) => One::Failed,
        None => One::Open(&STORAGE_ENCRYPTED_NOT_VISIBLE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::databases::{DbCluster, DbInstance};
    use crate::rule::Status;

    fn judged(instances: Vec<DbInstance>, clusters: Vec<DbCluster>) -> (Status, &'static str) {
        let verdict = judge(&Regions(vec![("eu-west-1".to_string(), Ok(Databases { instances, clusters }))]));
        (verdict.status, verdict.reason.code)
    }

    fn states() -> [(Field<bool>, Status, &'static str); 4] {
        [
            (Field::Value(true), Status::Pass, "ok"),
            (Field::Value(false), Status::Fail, "database_unencrypted"),
            (Field::Null, Status::NotVerifiable, "storage_encrypted_not_visible"),
            (Field::Absent, Status::NotVerifiable, "storage_encrypted_not_visible"),
        ]
    }

    #[test]
    fn the_whole_domain() {
        for (encrypted, status, reason) in states() {
            let instance = DbInstance { storage_encrypted: encrypted.clone(), ..DbInstance::default() };
            assert_eq!(judged(vec![instance.clone()], Vec::new()), (status, reason), "{instance:?}");
            // A replica has a storage of its own.
            let replica = DbInstance { source_instance: Field::Value("main".to_string()), ..instance };
            assert_eq!(judged(vec![replica], Vec::new()), (status, reason));
            let cluster =
                DbCluster { storage_encrypted: encrypted, name: "c".to_string(), ..DbCluster::default() };
            assert_eq!(judged(Vec::new(), vec![cluster.clone()]), (status, reason), "{cluster:?}");
            // prowler#5434: a member follows its cluster, whatever it shows itself.
            for (own, _, _) in states() {
                let member = DbInstance {
                    storage_encrypted: own,
                    cluster: Field::Value("c".to_string()),
                    ..DbInstance::default()
                };
                assert_eq!(judged(vec![member], vec![cluster.clone()]), (status, reason));
            }
        }
        assert_eq!(judged(Vec::new(), Vec::new()), (Status::NotApplicable, "nothing_in_scope"));
        let lost = DbInstance { cluster: Field::Value("c".to_string()), ..DbInstance::default() };
        assert_eq!(judged(vec![lost], Vec::new()), (Status::NotVerifiable, "cluster_not_listed"));
    }
}
