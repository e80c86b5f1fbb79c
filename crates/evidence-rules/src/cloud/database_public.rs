//! Databases have no public address.

use evidence_bundle::document::Category::{Misconfigured, Partial};
use evidence_bundle::document::Severity::{High, Medium};

use super::databases::Databases;
use super::regional::Regions;
use crate::field::Field;
use crate::rule::{Judge, Reason, Rule, Verdict};
use crate::several::{One, Words};

/// A database is reached from the organization's own networks only.
pub static DATABASE_NOT_PUBLIC: Rule = Rule {
    code: "database-not-public",
    title: "Databases without a public address",
    version: 1,
    kind: "account",
    expected: "no database of the configured regions is publicly accessible",
    reads: "`PubliclyAccessible` of every instance of RDS, Aurora, Neptune and DocumentDB, and of the clusters that have it",
    not_checked: "whether a security group lets anyone in, and who may sign in; public snapshots; regions that are not configured",
    permission: "Allow `rds:DescribeDBInstances` and `rds:DescribeDBClusters` to the user or role that collects.",
    improvement: None,
    settings: &[],
    hints: &[],
    reasons: &[&DATABASE_PUBLIC, &PUBLICLY_ACCESSIBLE_NOT_VISIBLE],
};

/// A database has a public address.
pub static DATABASE_PUBLIC: Reason = Reason::new("database_public", "Publicly accessible databases").advice(
    High,
    Misconfigured,
    "Turn off public access in the connectivity settings of the databases that this result names, and let programs reach them \
     inside the network.",
);

/// The answer lacks the field.
pub static PUBLICLY_ACCESSIBLE_NOT_VISIBLE: Reason =
    Reason::new("publicly_accessible_not_visible", "Public access to a database not reported").advice(
        Medium,
        Partial,
        "Check the databases that this result names by hand: the answer does not say whether they are publicly accessible.",
    );

/// The judgement.
pub static JUDGE: Judge<Regions<Databases>> =
    Judge { rule: &DATABASE_NOT_PUBLIC, judge: |regions, _| Some(judge(regions)) };

static WORDS: Words = Words {
    fails: &DATABASE_PUBLIC,
    failed: "databases are publicly accessible",
    open: "databases may be publicly accessible",
    good: "databases, none publicly accessible",
    none: "the configured regions have no database",
};

/// Passes if no database is public. Of a cluster, each member has an address; the field of the cluster itself is there only
/// if it has one, too.
pub fn judge(regions: &Regions<Databases>) -> Verdict {
    regions.judge(&WORDS, |all, region, databases| {
        databases.add(
            all,
            region,
            |one| of(&one.publicly_accessible),
            |one| match one.publicly_accessible {
                Field::Absent => One::Nothing,
                Field::Null | Field::Value(_) => of(&one.publicly_accessible),
            },
        );
    })
}

fn of(public: &Field<bool>) -> One {
    match public.value() {
        Some(false) => One::Good,
        Some(true) => One::Failed,
        None => One::Open(&PUBLICLY_ACCESSIBLE_NOT_VISIBLE),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cloud::databases::{DbCluster, DbInstance};
    use crate::rule::Status;

    #[test]
    fn the_whole_domain() {
        let judged = |instances: Vec<DbInstance>, clusters: Vec<DbCluster>| {
            let verdict =
                judge(&Regions(vec![("eu-west-1".to_string(), Ok(Databases { instances, clusters }))]));
            (verdict.status, verdict.reason.code)
        };
        for (public, status, reason) in [
            (Field::Value(false), Status::Pass, "ok"),
            (Field::Value(true), Status::Fail, "database_public"),
            (Field::Null, Status::NotVerifiable, "publicly_accessible_not_visible"),
            (Field::Absent, Status::NotVerifiable, "publicly_accessible_not_visible"),
        ] {
            let instance = DbInstance { publicly_accessible: public.clone(), ..DbInstance::default() };
            assert_eq!(judged(vec![instance.clone()], Vec::new()), (status, reason), "{instance:?}");
            // A member has an address of its own, and a replica, too.
            let member = DbInstance { cluster: Field::Value("c".to_string()), ..instance.clone() };
            let replica = DbInstance { source_instance: Field::Value("m".to_string()), ..instance };
            assert_eq!(judged(vec![member], vec![DbCluster::default()]), (status, reason));
            assert_eq!(judged(vec![replica], Vec::new()), (status, reason));
            let cluster = DbCluster { publicly_accessible: public.clone(), ..DbCluster::default() };
            let expected = match public {
                Field::Absent => (Status::NotApplicable, "nothing_in_scope"),
                _ => (status, reason),
            };
            assert_eq!(judged(Vec::new(), vec![cluster]), expected);
        }
        assert_eq!(judged(Vec::new(), Vec::new()), (Status::NotApplicable, "nothing_in_scope"));
    }
}
