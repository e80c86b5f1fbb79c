//! The databases of each region: instances and clusters.
//!
//! Names of users, addresses, tags and settings are dropped while the answers are read.

use futures_util::FutureExt as _;
use serde_json::Value;

use super::regional::Regional;
use crate::source::aws::account::Account;
use crate::source::aws::host::action::{Action, MIB};
use crate::source::aws::host::compare::{differs, of_region};
use crate::source::aws::host::endpoint::{Protocol, Region, Service};
use crate::source::aws::host::refusal::{self, ReadResult, Unread, host_error};
use crate::source::aws::host::xml::{self, Element, field, required, required_text};
use crate::source::aws::names::Arn;
use crate::source::aws::topic::Topic;
use crate::source::{CollectionItem, Source as _};
use evidence_http::{AskedAbout, Call, Meta, ParseError, Subject};
use evidence_rules::cloud::OF_DATABASES;
use evidence_rules::cloud::artifact::DATABASES;
use evidence_rules::cloud::databases::{Databases, DbCluster, DbInstance};

/// Databases per page: the provider's maximum.
const PAGE_SIZE: u64 = 100;
/// The maximum number of pages of a region: far more than the provider's quota.
const MAXIMUM_PAGES: usize = 1_000;

/// The databases.
pub(crate) static TOPIC: Topic = Topic {
    name: REGIONS.name,
    kind: Some(&DATABASES),
    required: |config| config.collects(&DATABASES),
    counted: None,
    open: |account| REGIONS.open(account).boxed(),
};

static REGIONS: Regional<Databases> = Regional {
    kind: &DATABASES,
    name: "databases",
    lost: "the databases of this region are not known",
    judges: OF_DATABASES,
    permissions: &[DESCRIBE_DB_INSTANCES.call.name, DESCRIBE_DB_CLUSTERS.call.name],
    read: |account, region| read(account, region).boxed(),
};

/// The rules that the calls serve.
const PURPOSE: &str = "`database-encrypted`, `database-not-public`, `database-backup`";

pub(crate) static DESCRIBE_DB_INSTANCES: Action<Page<DbInstance>> = Action {
    service: Service::Rds,
    call: Call {
        name: "rds:DescribeDBInstances",
        purpose: PURPOSE,
        times: "once per region and 100 instances",
        kind: Some("DescribeDBInstances"),
        media_type: Protocol::FORM,
        limit: 4 * MIB,
        parse: instances,
        subject: Some(Subject {
            fields: "`DBInstanceArn`: account and region",
            other: |page, about| page.other(about),
        }),
        keep: None,
    },
};

pub(crate) static DESCRIBE_DB_CLUSTERS: Action<Page<DbCluster>> = Action {
    service: Service::Rds,
    call: Call {
        name: "rds:DescribeDBClusters",
        purpose: PURPOSE,
        times: "once per region and 100 clusters",
        kind: Some("DescribeDBClusters"),
        media_type: Protocol::FORM,
        limit: 4 * MIB,
        parse: clusters,
        subject: Some(Subject {
            fields: "`DBClusterArn`: account and region",
            other: |page, about| page.other(about),
        }),
        keep: None,
    },
};

/// A page of databases.
#[derive(Debug, Clone)]
pub(crate) struct Page<D> {
    databases: Vec<D>,
    /// Account and region of each, as their ARNs have them.
    places: Vec<String>,
    next: Option<String>,
}

impl<D> Page<D> {
    fn other(&self, about: &AskedAbout<'_>) -> Option<String> {
        self.places.iter().find_map(|found| differs(found == about.subject, found, about.subject))
    }

    fn of(
        bytes: &[u8],
        [response, result, list]: [&str; 3],
        arn: &str,
        database: fn(&Element) -> Result<D, ParseError>,
    ) -> Result<Page<D>, ParseError> {
        let root = xml::list(bytes, response, &SKIPPED)?;
        let result = required(&root, result)?;
        let (mut databases, mut places) = (Vec::new(), Vec::new());
        for item in &required(result, list)?.children {
            databases.push(database(item)?);
            let arn = item.child(arn)?.and_then(Element::text).and_then(Arn::new);
            places.extend(arn.map(|arn| of_region(arn.account, arn.region)));
        }
        let next = result.child("Marker")?.and_then(Element::text).map(str::to_string);
        Ok(Page { databases, places, next })
    }
}

/// What no rule needs, and what is long.
const SKIPPED: [&str; 14] = [
    "TagList",
    "DBParameterGroups",
    "DBSubnetGroup",
    "VpcSecurityGroups",
    "OptionGroupMemberships",
    "PendingModifiedValues",
    "MasterUsername",
    "MasterUserSecret",
    "Endpoint",
    "AssociatedRoles",
    "DomainMemberships",
    "CertificateDetails",
    "DBClusterMembers",
    "StatusInfos",
];

/// `DescribeDBInstances`
pub(super) fn instances(bytes: &[u8]) -> Result<Page<DbInstance>, ParseError> {
    let names = ["DescribeDBInstancesResponse", "DescribeDBInstancesResult", "DBInstances"];
    Page::of(bytes, names, "DBInstanceArn", |item| {
        Ok(DbInstance {
            name: evidence_text::single_line(required_text(item, "DBInstanceIdentifier")?),
            engine: field(item, "Engine")?,
            cluster: field(item, "DBClusterIdentifier")?,
            source_instance: field(item, "ReadReplicaSourceDBInstanceIdentifier")?,
            source_cluster: field(item, "ReadReplicaSourceDBClusterIdentifier")?,
            storage_encrypted: field(item, "StorageEncrypted")?,
            publicly_accessible: field(item, "PubliclyAccessible")?,
            backup_retention_period: field(item, "BackupRetentionPeriod")?,
        })
    })
}

/// `DescribeDBClusters`
pub(super) fn clusters(bytes: &[u8]) -> Result<Page<DbCluster>, ParseError> {
    let names = ["DescribeDBClustersResponse", "DescribeDBClustersResult", "DBClusters"];
    Page::of(bytes, names, "DBClusterArn", |item| {
        Ok(DbCluster {
            name: evidence_text::single_line(required_text(item, "DBClusterIdentifier")?),
            engine: field(item, "Engine")?,
            source: field(item, "ReplicationSourceIdentifier")?,
            storage_encrypted: field(item, "StorageEncrypted")?,
            publicly_accessible: field(item, "PubliclyAccessible")?,
            backup_retention_period: field(item, "BackupRetentionPeriod")?,
        })
    })
}

async fn read(account: &Account, region: &Region) -> ReadResult<Databases> {
    let (instances, _) = all(account, region, &DESCRIBE_DB_INSTANCES).await?;
    let (clusters, meta) = all(account, region, &DESCRIBE_DB_CLUSTERS).await?;
    Ok((Databases { instances, clusters }, meta))
}

/// All pages of a list.
async fn all<D: Send>(
    account: &Account,
    region: &Region,
    action: &Action<Page<D>>,
) -> Result<(Vec<D>, Meta), Unread> {
    let host = account.host(action, region)?;
    let mut databases = Vec::new();
    let mut marker: Option<String> = None;
    for _ in 0..MAXIMUM_PAGES {
        let mut question = vec![("MaxRecords", Value::from(PAGE_SIZE))];
        question.extend(marker.as_deref().map(|marker| ("Marker", Value::from(marker))));
        let (page, meta) = refusal::of(action, Some(region), host.ask(action, &question, None).await)?;
        databases.extend(page.databases);
        match page.next {
            None => return Ok((databases, meta)),
            same if same == marker => break,
            next => marker = next,
        }
    }
    Err(Unread::Failed(host_error(format!("{} in {region}: the list does not end", action.permission()))))
}

/// What a page of instances means on its own.
pub(super) fn instances_offline(page: Page<DbInstance>) -> Vec<CollectionItem> {
    REGIONS.offline(Databases { instances: page.databases, ..Databases::default() })
}

/// What a page of clusters means on its own.
pub(super) fn clusters_offline(page: Page<DbCluster>) -> Vec<CollectionItem> {
    REGIONS.offline(Databases { clusters: page.databases, ..Databases::default() })
}
