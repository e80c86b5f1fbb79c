//! What the configuration says of credentials, accounts and roles.

use serde_json::Value;

use crate::source::aws::host::endpoint::{Partition, Region};
use evidence_http::single_line;

/// Where credentials come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Mode {
    /// `env` and `assume_role`: the configured variables.
    Variables,
    /// `command`: a program, `credentials_command`.
    Command(Vec<String>),
    /// `web_identity`
    WebIdentity,
    /// `container`
    Container,
    /// `instance`
    Instance,
    /// `default`: the first of the provider's own places that is there.
    Default,
}

/// What to read in an account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::source::aws) struct AccountScope {
    /// `regions`, else only the home region.
    pub(in crate::source::aws) regions: Vec<Region>,
    /// `trails`: names or ARNs; empty for all.
    pub(in crate::source::aws) trails: Vec<String>,
    /// `log_groups`: names, or prefixes with `*`; empty for all.
    pub(in crate::source::aws) log_groups: Vec<String>,
}

impl AccountScope {
    /// The settings by their names in the configuration.
    pub(in crate::source::aws) fn settings(&self) -> [(&'static str, Value); 3] {
        let regions: Vec<String> = self.regions.iter().map(ToString::to_string).collect();
        [
            ("regions", regions.into()),
            ("trails", self.trails.clone().into()),
            ("log_groups", self.log_groups.clone().into()),
        ]
    }
}

/// One of `accounts`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::source::aws) struct AccountConfig {
    /// `role_arn`, `external_id`, and the `session_duration` of the source.
    pub(in crate::source::aws) role: AssumedRole,
    /// The account number of the role: 12 digits.
    pub(in crate::source::aws) number: String,
    /// `name`
    pub(in crate::source::aws) name: Option<String>,
    /// `regions`, `trails`, `log_groups`, else those of the source.
    pub(in crate::source::aws) scope: AccountScope,
}

impl AccountConfig {
    /// The account's name in messages.
    pub(in crate::source::aws) fn shown(&self) -> String {
        match &self.name {
            Some(name) => format!("account {} ({})", self.number, single_line(name)),
            None => format!("account {}", self.number),
        }
    }
}

/// `accounts.organization`
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::source::aws) struct OrganizationSettings {
    /// `role_name`
    pub(in crate::source::aws) role_name: String,
    /// `external_id`
    pub(in crate::source::aws) external_id: Option<String>,
    /// `exclude`: the numbers of accounts.
    pub(in crate::source::aws) exclude: Vec<String>,
    /// `session_duration` of the source, in seconds.
    pub(in crate::source::aws) duration: u32,
}

impl OrganizationSettings {
    /// The account with this number, in the partition of a region, read as the source says.
    pub(in crate::source::aws) fn account(
        &self,
        number: &str,
        home: &Region,
        scope: &AccountScope,
    ) -> AccountConfig {
        let partition = match home.partition() {
            Some(Partition::China) => "aws-cn",
            Some(Partition::Government) => "aws-us-gov",
            Some(Partition::Public) | None => "aws",
        };
        let arn = format!("arn:{partition}:iam::{number}:role/{}", self.role_name);
        let role = AssumedRole { arn, external_id: self.external_id.clone(), duration: self.duration };
        AccountConfig { role, number: number.to_string(), name: None, scope: scope.clone() }
    }
}

/// A role to assume.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AssumedRole {
    /// `role_arn`
    pub(in crate::source::aws) arn: String,
    /// `external_id`
    pub(in crate::source::aws) external_id: Option<String>,
    /// `session_duration`, in seconds.
    pub(in crate::source::aws) duration: u32,
}
