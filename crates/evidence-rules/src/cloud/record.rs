//! The artifacts: the provider's fields under the provider's names, as its command line prints them, plus what only the
//! collector knows (`scope`, `regions_read`, `regions_not_read` with `region` and `reason`): the configured scope, and
//! which regions were read and which were not.
//!
//! Fields that are not listed here are not stored. `null` stays `null`, an absent field stays absent, and a time stays
//! the number that was sent. Nothing here judges.

#![expect(missing_docs, reason = "the fields are the provider's, under the provider's names")]

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::Number;

use crate::field::Field;
use crate::shape::sections;

/// `password_policy.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct PasswordPolicyRecord {
    #[serde(rename = "PasswordPolicy")]
    pub policy: PasswordPolicy,
}

/// `account_summary.json`: of `GetAccountSummary`, the number of users.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccountSummary {
    #[serde(rename = "Users")]
    pub users: u64,
}

/// `root_account.json`: of `GetAccountSummary`, what concerns the root user, and the number of users.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct RootAccount {
    #[serde(rename = "AccountMFAEnabled", skip_serializing_if = "Field::is_absent")]
    pub account_mfa_enabled: Field<u64>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub account_password_present: Field<u64>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub account_access_keys_present: Field<u64>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub account_signing_certificates_present: Field<u64>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub users: Field<u64>,
}

/// `PasswordPolicy` of `GetAccountPasswordPolicy`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct PasswordPolicy {
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub minimum_password_length: Field<u64>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub require_symbols: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub require_numbers: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub require_uppercase_characters: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub require_lowercase_characters: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub allow_users_to_change_password: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub expire_passwords: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub max_password_age: Field<u64>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub password_reuse_prevention: Field<u64>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub hard_expiry: Field<bool>,
}

/// `audit_trails.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct AuditTrailsRecord {
    #[serde(rename = "trailList")]
    pub trail_list: Vec<Trail>,
    /// The configured trails; empty for all.
    pub scope: Vec<String>,
    pub regions_read: Vec<String>,
    pub regions_not_read: Vec<NotRead>,
}

/// A region that was not read, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NotRead {
    pub region: String,
    /// The code of the reason.
    pub reason: Cow<'static, str>,
}

/// One of `trailList` of `DescribeTrails`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct Trail {
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub name: Field<String>,
    #[serde(rename = "TrailARN", skip_serializing_if = "Field::is_absent")]
    pub trail_arn: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub home_region: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub is_multi_region_trail: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub is_organization_trail: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub include_global_service_events: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub has_custom_event_selectors: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub log_file_validation_enabled: Field<bool>,
    #[serde(rename = "S3BucketName", skip_serializing_if = "Field::is_absent")]
    pub s3_bucket_name: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub cloud_watch_logs_log_group_arn: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub kms_key_id: Field<String>,
}

/// `trail_{name}_status.json`: the answer to `GetTrailStatus`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct TrailStatus {
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub is_logging: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub start_logging_time: Field<Moment>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub stop_logging_time: Field<Moment>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub latest_delivery_time: Field<Moment>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub latest_delivery_error: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub latest_digest_delivery_time: Field<Moment>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub latest_digest_delivery_error: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub latest_cloud_watch_logs_delivery_time: Field<Moment>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub latest_cloud_watch_logs_delivery_error: Field<String>,
}

/// `trail_{name}_event_selectors.json`: the answer to `GetEventSelectors`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EventSelectors {
    /// Not a field of the artifact.
    #[serde(rename = "TrailARN", skip_serializing)]
    pub trail_arn: Field<String>,
    #[serde(deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub event_selectors: Field<Vec<EventSelector>>,
    #[serde(deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub advanced_event_selectors: Field<Vec<AdvancedEventSelector>>,
}

/// One of `EventSelectors`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct EventSelector {
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub read_write_type: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub include_management_events: Field<bool>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub exclude_management_event_sources: Field<Vec<String>>,
}

/// One of `AdvancedEventSelectors`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct AdvancedEventSelector {
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub name: Field<String>,
    #[serde(deserialize_with = "sections", skip_serializing_if = "Field::is_absent")]
    pub field_selectors: Field<Vec<FieldSelector>>,
}

/// One of `FieldSelectors`
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase", default)]
pub struct FieldSelector {
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub field: Field<String>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub equals: Field<Vec<String>>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub not_equals: Field<Vec<String>>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub starts_with: Field<Vec<String>>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub not_starts_with: Field<Vec<String>>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub ends_with: Field<Vec<String>>,
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub not_ends_with: Field<Vec<String>>,
}

impl FieldSelector {
    /// The values of `Equals`, if that is the only operator.
    pub fn only_equals(&self) -> Option<&[String]> {
        self.only(&self.equals)
    }

    /// The values of `NotEquals`, if that is the only operator.
    pub fn only_not_equals(&self) -> Option<&[String]> {
        self.only(&self.not_equals)
    }

    fn only<'a>(&'a self, wanted: &'a Field<Vec<String>>) -> Option<&'a [String]> {
        let all = [
            &self.equals,
            &self.not_equals,
            &self.starts_with,
            &self.not_starts_with,
            &self.ends_with,
            &self.not_ends_with,
        ];
        let is_set = |field: &Field<Vec<String>>| field.value().is_some_and(|values| !values.is_empty());
        let used = all.into_iter().filter(|field| is_set(field)).count();
        wanted.value().map(Vec::as_slice).filter(|values| used == 1 && !values.is_empty())
    }
}

/// A time as it was sent: seconds since 1970, or (from other implementations) text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Moment {
    Seconds(Number),
    Text(String),
}

/// `log_groups.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LogGroupsRecord {
    /// The configured log groups; empty for all.
    pub scope: Vec<String>,
    pub regions_read: Vec<RegionLogGroups>,
    pub regions_not_read: Vec<NotRead>,
}

/// The log groups of one region.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RegionLogGroups {
    pub region: String,
    #[serde(rename = "logGroups")]
    pub log_groups: Vec<LogGroup>,
}

/// One of `logGroups` of `DescribeLogGroups`. A group without `retentionInDays` keeps its events forever, so an object
/// without a name must not count as a group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LogGroup {
    pub log_group_name: String,
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub arn: Field<String>,
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub retention_in_days: Field<i64>,
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub log_group_class: Field<String>,
}

impl Trail {
    /// The name, or the name in the ARN.
    pub fn name(&self) -> &str {
        let from_arn = || {
            let name = self.arn_part(5)?.strip_prefix("trail/")?;
            let good = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
            (self.arn_part(2) == Some("cloudtrail") && name.bytes().all(good)).then_some(name)
        };
        self.name.value().map(String::as_str).or_else(from_arn).unwrap_or("unnamed")
    }

    /// The region in which it was created.
    pub fn home(&self) -> Option<&str> {
        self.home_region.value().map(String::as_str).or_else(|| self.arn_part(3))
    }

    /// Whether an entry of `trails` in the configuration matches it.
    pub fn is_meant_by(&self, entry: &str) -> bool {
        [&self.name, &self.trail_arn].into_iter().any(|field| field.value().is_some_and(|text| text == entry))
    }

    /// Whether its event selectors must be read: the provider does not report that they are the default, and they can
    /// matter, because the trail may cover all regions.
    pub fn needs_selectors(&self) -> bool {
        self.has_custom_event_selectors.value() != Some(&false)
            && self.is_multi_region_trail.value() != Some(&false)
    }

    fn arn_part(&self, index: usize) -> Option<&str> {
        self.trail_arn.value()?.splitn(6, ':').nth(index)
    }
}
