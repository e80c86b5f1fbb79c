//! What is read: a file or folder per subject, with its calls, the shape of the answers, and what follows from them.
//!
//! Two rules hold for every call. A missing or unknown field of an answer is not an error; a field of another type than
//! documented is, because guessing its meaning would invent evidence. And a missing list is an error, since "no trails" is a
//! finding that the answer must state.

mod account_summary;
mod alone;
mod audit_trails;
mod credential_report;
mod databases;
mod detectors;
mod disk_encryption;
mod log_groups;
mod open_ports;
mod password_policy;
mod public_access;
mod regional;
mod regions;
mod root_account;

use self::audit_trails::{listing, selectors, status};
use self::public_access::answers;
use super::accounts;
use super::config::CloudConfig;
use super::host::{metadata, sts};
use super::topic::Topic;
use crate::source::CollectionItem;
use crate::source::endpoint::{Endpoint, endpoint};

/// Every topic, in the order of the collection.
pub(super) static TOPICS: &[&Topic] = &[
    &regions::TOPIC,
    &password_policy::TOPIC,
    &root_account::TOPIC,
    &credential_report::TOPIC,
    &audit_trails::TOPIC,
    &log_groups::TOPIC,
    &disk_encryption::TOPIC,
    &open_ports::TOPIC,
    &public_access::TOPIC,
    &databases::TOPIC,
    &detectors::TOPIC,
];

/// Every call. The seeds of the fuzzer depend on the order: append new calls.
pub(super) static CALLS: &[Endpoint] = &[
    endpoint!(sts::ASSUME_ROLE.call, nothing),
    endpoint!(sts::GET_CALLER_IDENTITY.call, nothing),
    endpoint!(password_policy::GET_ACCOUNT_PASSWORD_POLICY.call, password_policy::policy_offline),
    endpoint!(listing::DESCRIBE_TRAILS.call, listing::offline),
    endpoint!(log_groups::DESCRIBE_LOG_GROUPS.call, log_groups::offline),
    endpoint!(status::GET_TRAIL_STATUS.call, status::offline),
    endpoint!(selectors::GET_EVENT_SELECTORS.call, selectors::offline),
    endpoint!(account_summary::GET_ACCOUNT_SUMMARY.call, password_policy::summary_offline),
    endpoint!(regions::DESCRIBE_REGIONS.call, nothing),
    endpoint!(accounts::LIST_ACCOUNTS.call, nothing),
    endpoint!(sts::ASSUME_ROLE_WITH_WEB_IDENTITY.call, nothing),
    endpoint!(metadata::SESSION, nothing),
    endpoint!(metadata::ROLE, nothing),
    endpoint!(metadata::CREDENTIALS, nothing),
    endpoint!(credential_report::GENERATE_CREDENTIAL_REPORT.call, nothing),
    endpoint!(credential_report::GET_CREDENTIAL_REPORT.call, credential_report::offline),
    endpoint!(disk_encryption::GET_EBS_ENCRYPTION_BY_DEFAULT.call, disk_encryption::offline),
    endpoint!(open_ports::DESCRIBE_SECURITY_GROUPS.call, open_ports::offline),
    endpoint!(answers::GET_ACCOUNT_PUBLIC_ACCESS_BLOCK.call, public_access::block_offline),
    endpoint!(answers::LIST_BUCKETS.call, public_access::buckets_offline),
    endpoint!(answers::GET_BUCKET_PUBLIC_ACCESS_BLOCK.call, public_access::bucket_block_offline),
    endpoint!(answers::GET_BUCKET_POLICY_STATUS.call, public_access::policy_offline),
    endpoint!(answers::GET_BUCKET_ACL.call, public_access::acl_offline),
    endpoint!(databases::DESCRIBE_DB_INSTANCES.call, databases::instances_offline),
    endpoint!(databases::DESCRIBE_DB_CLUSTERS.call, databases::clusters_offline),
    endpoint!(detectors::LIST_DETECTORS.call, detectors::page_offline),
    endpoint!(detectors::GET_DETECTOR.call, detectors::status_offline),
];

/// An answer without anything to judge.
fn nothing<T>(_: T) -> Vec<CollectionItem> {
    Vec::new()
}

/// The topics that the configuration requires.
pub(super) fn required(config: &CloudConfig) -> impl Iterator<Item = &'static Topic> + use<'_> {
    TOPICS.iter().copied().filter(|topic| (topic.required)(config))
}

#[cfg(test)]
mod tests;
