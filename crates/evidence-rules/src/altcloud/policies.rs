//! The workspace's policies as they were read, and to whom each applies.
//!
//! A policy is set for an organizational unit and everything below it, or for a group. Of those that apply to a user, the one
//! with the highest order counts, alone: a field that it lacks has the provider's default.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Number;

use super::record::{Extent, UserListing};
use crate::field::Field;
use crate::rule::Reason;
use crate::shape::section;

/// `policies.json`
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policies {
    /// How much of the policies was read.
    pub policies_read: Extent,
    /// How much of the organizational units was read.
    pub org_units_read: Extent,
    /// The listings of users that were read.
    pub user_listings: Vec<UserListing>,
    /// The policies of the settings that the rules judge.
    pub policies: Vec<Policy>,
    /// The organizational units.
    pub org_units: Vec<OrgUnit>,
    /// The groups that these policies name.
    pub groups: Vec<PolicyGroup>,
    /// The users who can sign in, counted by unit, groups and role.
    pub users: Vec<PolicyUsers>,
}

/// A policy, as `policies.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Policy {
    /// Its name.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub name: Field<String>,
    /// The customer. Not a field of the artifact.
    #[serde(skip_serializing)]
    pub customer: Field<String>,
    /// To whom it applies.
    #[serde(deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub policy_query: Field<PolicyQuery>,
    /// What it sets.
    #[serde(deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub setting: Field<PolicySetting>,
    /// `SYSTEM` for the provider's own, `ADMIN` for one that an administrator set.
    #[serde(rename = "type", skip_serializing_if = "Field::is_absent")]
    pub kind: Field<String>,
}

/// To whom a policy applies.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyQuery {
    /// The condition in the provider's language.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub query: Field<String>,
    /// The organizational unit.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub org_unit: Field<String>,
    /// The group.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub group: Field<String>,
    /// Which policy counts if several apply: the highest.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub sort_order: Field<Number>,
}

/// What a policy sets.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default)]
pub struct PolicySetting {
    /// The name of the setting.
    #[serde(rename = "type", skip_serializing_if = "Field::is_absent")]
    pub kind: Field<String>,
    /// Its fields.
    #[serde(deserialize_with = "section", skip_serializing_if = "Field::is_absent")]
    pub value: Field<PolicyValue>,
}

/// The fields that the rules judge, of every setting.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PolicyValue {
    /// From when two-step verification is enforced; 1970 for never.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub enforced_from: Field<String>,
    /// The second steps that are allowed.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub allowed_sign_in_factor_set: Field<String>,
    /// The length of the shortest password.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub minimum_length: Field<Number>,
    /// How strong a password must be.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub allowed_strength: Field<String>,
    /// Whether a password may be used again.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub allow_reuse: Field<bool>,
    /// How long a session lasts, in seconds: `43200s`.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub web_session_duration: Field<String>,
    /// Whether users can recover their account by themselves.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub enable_account_recovery: Field<bool>,
}

/// An organizational unit, as `orgunits.list` returns it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OrgUnit {
    /// Its id.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub org_unit_id: Field<String>,
    /// Its path; `/` for the root.
    #[serde(skip_serializing_if = "Field::is_absent")]
    pub org_unit_path: Field<String>,
}

/// A group that a policy names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyGroup {
    /// Its id.
    pub group_id: String,
    /// How much of its members was read.
    pub members_read: Extent,
    /// Whether every member is a user: whether a policy applies to the members of groups inside, the provider does not say.
    pub only_users: bool,
}

/// Users of one unit, the same groups and the same role.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyUsers {
    /// The path of their unit.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub org_unit_path: Field<String>,
    /// The groups among those that policies name, of which they are members.
    pub group_ids: Vec<String>,
    /// Whether they are super administrators.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub is_admin: Field<bool>,
    /// Whether the accounts are certainly active: both `suspended` and `archived` were reported.
    pub certain: bool,
    /// How many they are.
    pub users: u64,
}

/// What is known of the policies.
#[derive(Debug, Clone)]
pub struct PolicyFacts {
    /// The record, if anything was read.
    pub record: Option<Policies>,
    /// When the run began: a policy that is enforced from a later day is not in force.
    pub at: Timestamp,
    /// Why a part was not read, if one was not.
    pub gap: Option<(&'static Reason, String)>,
}

/// The names of the settings that the rules judge, without the part that all share.
pub const SETTINGS: &[&str] = &[
    "security.two_step_verification_enforcement",
    "security.two_step_verification_enforcement_factor",
    "security.password",
    "security.session_controls",
    "security.super_admin_account_recovery",
];

impl Policy {
    /// The name of its setting, if a rule judges it.
    pub fn setting_name(&self) -> Option<&'static str> {
        let kind = self.setting.value()?.kind.value()?;
        let kind = kind.strip_prefix("settings/").unwrap_or(kind);
        SETTINGS.iter().copied().find(|known| *known == kind)
    }

    /// The id of the group that it names.
    pub fn group(&self) -> Option<&str> {
        let group = self.policy_query.value()?.group.value()?;
        Some(id(group)).filter(|group| !group.is_empty())
    }

    fn unit(&self) -> Option<&str> {
        let unit = self.policy_query.value()?.org_unit.value()?;
        Some(id(unit)).filter(|unit| !unit.is_empty())
    }

    pub(super) fn is_system(&self) -> bool {
        self.kind.value().is_some_and(|kind| kind == "SYSTEM")
    }

    /// The place among those that apply: an administrator's before the provider's, then the highest order.
    pub(super) fn order(&self) -> (bool, f64) {
        let order = self.policy_query.value().and_then(|query| query.sort_order.value()?.as_f64());
        (!self.is_system(), order.unwrap_or(f64::NEG_INFINITY))
    }
}

/// The last part of a name such as `orgUnits/03ph8a2z` or `id:03ph8a2z`.
fn id(name: &str) -> &str {
    name.rsplit(['/', ':']).next().unwrap_or(name)
}

/// Whether a policy applies to users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// It does.
    Yes,
    /// Nobody can tell from what was read.
    Unknown,
    /// It does not.
    No,
}

/// The units and groups by their ids.
pub(super) struct Places<'a> {
    record: &'a Policies,
    paths: BTreeMap<&'a str, &'a str>,
}

impl<'a> Places<'a> {
    pub(super) fn of(record: &'a Policies) -> Places<'a> {
        let path =
            |unit: &'a OrgUnit| Some((id(unit.org_unit_id.value()?), unit.org_unit_path.value()?.as_str()));
        Places { record, paths: record.org_units.iter().filter_map(path).collect() }
    }

    /// Whether a policy applies to these users.
    pub(super) fn reach(&self, policy: &Policy, users: &PolicyUsers) -> Reach {
        let unit = match policy.unit().map(|unit| self.paths.get(unit)) {
            // Set for nothing that is known.
            None | Some(None) => Reach::Unknown,
            Some(Some(&"/")) => Reach::Yes,
            Some(Some(path)) => match users.org_unit_path.value() {
                None => Reach::Unknown,
                Some(of) => match of.strip_prefix(path) {
                    Some(rest) if rest.is_empty() || rest.starts_with('/') => Reach::Yes,
                    _ => Reach::No,
                },
            },
        };
        let group = policy.group().map_or(Reach::Yes, |group| self.in_group(group, users));
        let query = policy.policy_query.value().and_then(|query| query.query.value());
        // A policy for some licences: who has which is not read.
        let licence = match query.is_some_and(|query| query.contains("licenses")) {
            true => Reach::Unknown,
            false => Reach::Yes,
        };
        let all = [unit, group, licence];
        match (all.contains(&Reach::No), all.contains(&Reach::Unknown)) {
            (true, _) => Reach::No,
            (false, true) => Reach::Unknown,
            (false, false) => Reach::Yes,
        }
    }

    fn in_group(&self, group: &str, users: &PolicyUsers) -> Reach {
        if users.group_ids.iter().any(|member| member == group) {
            return Reach::Yes;
        }
        let known = self.record.groups.iter().find(|known| known.group_id == group);
        match known.is_some_and(|known| known.members_read.is_complete() && known.only_users) {
            true => Reach::No,
            false => Reach::Unknown,
        }
    }

    /// The name of where a policy is set.
    pub(super) fn name(&self, policy: &Policy) -> String {
        if let Some(group) = policy.group() {
            return format!("group {group}");
        }
        match policy.unit() {
            Some(unit) => {
                self.paths.get(unit).map_or_else(|| format!("unit {unit}"), |path| (*path).to_string())
            }
            None => "a policy without a unit".to_string(),
        }
    }

    /// Whether a policy is set for a group, or for a unit that is not the root.
    pub(super) fn is_override(&self, policy: &Policy) -> bool {
        policy.group().is_some() || policy.unit().is_some_and(|unit| self.paths.get(unit) != Some(&"/"))
    }
}
