//! The databases of an account: instances and clusters, of which members and replicas follow their source.

use serde::{Deserialize, Serialize};

use super::reason::CLUSTER_NOT_LISTED;
use crate::field::Field;
use crate::several::{One, Several};

/// `databases_{region}.json`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Databases {
    /// The instances.
    #[serde(rename = "DBInstances")]
    pub instances: Vec<DbInstance>,
    /// The clusters.
    #[serde(rename = "DBClusters")]
    pub clusters: Vec<DbCluster>,
}

/// An instance: a database of its own, or a member of a cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DbInstance {
    /// Its name.
    #[serde(rename = "DBInstanceIdentifier")]
    pub name: String,
    /// Such as `postgres` or `docdb`.
    #[serde(rename = "Engine", skip_serializing_if = "Field::is_absent")]
    pub engine: Field<String>,
    /// The cluster that it is a member of.
    #[serde(rename = "DBClusterIdentifier", skip_serializing_if = "Field::is_absent")]
    pub cluster: Field<String>,
    /// The instance that it is a replica of.
    #[serde(rename = "ReadReplicaSourceDBInstanceIdentifier", skip_serializing_if = "Field::is_absent")]
    pub source_instance: Field<String>,
    /// The cluster that it is a replica of.
    #[serde(rename = "ReadReplicaSourceDBClusterIdentifier", skip_serializing_if = "Field::is_absent")]
    pub source_cluster: Field<String>,
    /// Whether its storage is encrypted.
    #[serde(rename = "StorageEncrypted", skip_serializing_if = "Field::is_absent")]
    pub storage_encrypted: Field<bool>,
    /// Whether it has a public address.
    #[serde(rename = "PubliclyAccessible", skip_serializing_if = "Field::is_absent")]
    pub publicly_accessible: Field<bool>,
    /// How many days its backups are kept.
    #[serde(rename = "BackupRetentionPeriod", skip_serializing_if = "Field::is_absent")]
    pub backup_retention_period: Field<u64>,
}

/// A cluster.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DbCluster {
    /// Its name.
    #[serde(rename = "DBClusterIdentifier")]
    pub name: String,
    /// Such as `aurora-postgresql` or `neptune`.
    #[serde(rename = "Engine", skip_serializing_if = "Field::is_absent")]
    pub engine: Field<String>,
    /// What it is a replica of.
    #[serde(rename = "ReplicationSourceIdentifier", skip_serializing_if = "Field::is_absent")]
    pub source: Field<String>,
    /// Whether its storage is encrypted.
    #[serde(rename = "StorageEncrypted", skip_serializing_if = "Field::is_absent")]
    pub storage_encrypted: Field<bool>,
    /// Whether it has a public address; of most clusters only the members do.
    #[serde(rename = "PubliclyAccessible", skip_serializing_if = "Field::is_absent")]
    pub publicly_accessible: Field<bool>,
    /// How many days its backups are kept.
    #[serde(rename = "BackupRetentionPeriod", skip_serializing_if = "Field::is_absent")]
    pub backup_retention_period: Field<u64>,
}

impl DbInstance {
    fn is_replica(&self) -> bool {
        self.source_instance.value().is_some() || self.source_cluster.value().is_some()
    }
}

impl Databases {
    /// Adds every database by what `instance` and `cluster` find of it.
    pub(super) fn add(
        &self,
        all: &mut Several,
        region: &str,
        instance: impl Fn(&DbInstance) -> One,
        cluster: impl Fn(&DbCluster) -> One,
    ) {
        for one in &self.instances {
            all.add(&format!("{} in {region}", one.name), instance(one));
        }
        for one in &self.clusters {
            all.add(&format!("{} in {region} (cluster)", one.name), cluster(one));
        }
    }

    /// What the storage of an instance has: of a member, the cluster's has it.
    pub(super) fn of_storage(&self, instance: &DbInstance, one: One) -> One {
        match instance.cluster.value() {
            None => one,
            Some(name) if self.clusters.iter().any(|cluster| cluster.name == *name) => One::Nothing,
            Some(_) => One::Open(&CLUSTER_NOT_LISTED),
        }
    }

    /// What an instance has that its source has for it, too.
    pub(super) fn of_source(&self, instance: &DbInstance, one: One) -> One {
        if instance.is_replica() { One::Nothing } else { self.of_storage(instance, one) }
    }
}
