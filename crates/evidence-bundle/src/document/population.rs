//! `derived/population.json`: everything that was found, whether it was observed, and why not.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The population that an auditor samples from. Its list is a parameter so that a writer can stream it and a reader can
/// skip it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "Population")]
#[serde(deny_unknown_fields)]
pub struct Population<M = Vec<Member>> {
    /// The version of this document's form, `1.0`.
    pub schema_version: String,
    /// The counts of each source, in the order of the manifest.
    #[serde(deserialize_with = "crate::json::objects")]
    pub sources: Vec<SourcePopulation>,
    /// Everything that was found, source by source.
    pub members: M,
}

/// How the members that were examined compare with everything there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// The source's own total equals what was listed, and nothing was left out.
    Whole,
    /// The configuration names members, or leaves some out.
    Chosen,
    /// Fewer were listed than the source reports, or the list could not be read to its end.
    Partial,
    /// The source does not report its total to these credentials.
    Unconfirmed,
    /// The source could not be reached.
    Unreached,
}

impl Scope {
    /// The scope as documents write it.
    pub fn as_str(self) -> &'static str {
        match self {
            Scope::Whole => "whole",
            Scope::Chosen => "chosen",
            Scope::Partial => "partial",
            Scope::Unconfirmed => "unconfirmed",
            Scope::Unreached => "unreached",
        }
    }

    /// Whether a bundle with this scope is incomplete. `accepted`: the settings of the source accept a total that the
    /// source does not report.
    pub fn is_incomplete(self, accepted: bool) -> bool {
        match self {
            Scope::Whole | Scope::Chosen => false,
            Scope::Unconfirmed => !accepted,
            Scope::Partial | Scope::Unreached => true,
        }
    }
}

/// What a source counts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourcePopulation {
    /// The name of the source.
    pub source: String,
    /// How the members in scope compare with everything there is.
    pub scope: Scope,
    /// Whose members they are: the organization, account or directory, as in subjects.
    pub organization: String,
    /// What `listed`, `in_scope` and `host_total` count: the `kind` of members, such as `repository`.
    pub kind: String,
    /// How many of that kind were listed, or named by the configuration and found.
    pub listed: u64,
    /// How many of that kind are in scope.
    pub in_scope: u64,
    /// How many of that kind the source reports; absent if it does not report it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_total: Option<u64>,
    /// What the source itself counts, by the name that it gives the number, such as `public_repos`.
    pub host_totals: BTreeMap<String, u64>,
    /// How many members of this source follow, of every kind.
    pub members: u64,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Member {
    /// The name of the source.
    pub source: String,
    /// What it is: `repository`, `account`, `region`, `trail`, `log_group` or `user`.
    pub kind: String,
    /// What it is called, as subjects name it.
    pub name: String,
    /// The source's own identifier, if the source reports one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The default branch of a repository, if the source reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_branch: Option<String>,
    /// Whether it is archived, if the source reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub archived: Option<bool>,
    /// The visibility of a repository, such as `private`, if the source reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<String>,
    /// Whether it was observed.
    pub in_scope: bool,
    /// Why it was not, as a stable code; absent if it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}
