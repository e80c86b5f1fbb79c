//! What a source saw: artifacts, absences, refusals and failures, all of them data.
//!
//! Nothing here is judged and nothing is invented. An [`Artifact`] is serialised once, from a [`Record`] that has
//! room for the specification's fields only, so that forbidden data has nowhere to land and what is judged is what
//! is signed.

use std::sync::Arc;

use evidence_bundle::document::{RequestRecord, write_json};
use evidence_bundle::path::{BundlePath, PathError};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::control::Control;

/// A configured source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SourceName {
    /// The code host.
    CodeHost,
}

impl SourceName {
    /// The name in the configuration, in documents and as a directory of the bundle.
    pub fn id(self) -> &'static str {
        match self {
            SourceName::CodeHost => "codehost",
        }
    }
}

/// Why a check has its status. Published in documents: a code is never renamed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The criteria hold.
    Ok,
    /// The organization does not require two-factor authentication.
    TwoFactorDisabled,
    /// The host does not show the setting to this token.
    TwoFactorNotVisible,
    /// The branch has no protection rule.
    BranchUnprotected,
    /// The repository has no branch of this name.
    BranchMissing,
    /// No approving review is required.
    ReviewsNotRequired,
    /// No status check is required.
    StatusChecksNotConfigured,
    /// Administrators may pass the rule by.
    AdminsNotEnforced,
    /// There is no CODEOWNERS file.
    CodeownersMissing,
    /// The CODEOWNERS file assigns nobody.
    CodeownersNoOwner,
    /// The CODEOWNERS file has no default rule in force.
    CodeownersNoDefaultRule,
    /// Something else than a file has the name CODEOWNERS.
    CodeownersNotAFile,
    /// The CODEOWNERS file is so large that the host does not load it.
    CodeownersTooLarge,
    /// The token may not see it.
    PermissionDenied,
    /// The organization's plan does not include the feature.
    PlanLimit,
    /// The token is not authorized for the organization's single sign-on.
    SsoRequired,
    /// The repository is blocked.
    Blocked,
    /// There is no such repository, or the token cannot see it.
    NotFound,
    /// The host did not give a usable answer.
    HostError,
    /// The artifact held forbidden data and was left out.
    ExcludedByPolicy,
    /// The repository is archived: nothing can change in it.
    Archived,
    /// There is nothing to judge.
    NoEvidence,
}

impl Reason {
    /// Every reason.
    pub const ALL: &'static [Reason] = &[
        Reason::Ok,
        Reason::TwoFactorDisabled,
        Reason::TwoFactorNotVisible,
        Reason::BranchUnprotected,
        Reason::BranchMissing,
        Reason::ReviewsNotRequired,
        Reason::StatusChecksNotConfigured,
        Reason::AdminsNotEnforced,
        Reason::CodeownersMissing,
        Reason::CodeownersNoOwner,
        Reason::CodeownersNoDefaultRule,
        Reason::CodeownersNotAFile,
        Reason::CodeownersTooLarge,
        Reason::PermissionDenied,
        Reason::PlanLimit,
        Reason::SsoRequired,
        Reason::Blocked,
        Reason::NotFound,
        Reason::HostError,
        Reason::ExcludedByPolicy,
        Reason::Archived,
        Reason::NoEvidence,
    ];

    /// The code in documents.
    pub fn code(self) -> &'static str {
        match self {
            Reason::Ok => "ok",
            Reason::TwoFactorDisabled => "two_factor_disabled",
            Reason::TwoFactorNotVisible => "two_factor_not_visible",
            Reason::BranchUnprotected => "branch_unprotected",
            Reason::BranchMissing => "branch_missing",
            Reason::ReviewsNotRequired => "reviews_not_required",
            Reason::StatusChecksNotConfigured => "status_checks_not_configured",
            Reason::AdminsNotEnforced => "admins_not_enforced",
            Reason::CodeownersMissing => "codeowners_missing",
            Reason::CodeownersNoOwner => "codeowners_no_owner",
            Reason::CodeownersNoDefaultRule => "codeowners_no_default_rule",
            Reason::CodeownersNotAFile => "codeowners_not_a_file",
            Reason::CodeownersTooLarge => "codeowners_too_large",
            Reason::PermissionDenied => "permission_denied",
            Reason::PlanLimit => "plan_limit",
            Reason::SsoRequired => "sso_required",
            Reason::Blocked => "blocked",
            Reason::NotFound => "not_found",
            Reason::HostError => "host_error",
            Reason::ExcludedByPolicy => "excluded_by_policy",
            Reason::Archived => "archived",
            Reason::NoEvidence => "no_evidence",
        }
    }
}

/// One thing a source looked at, for one control.
#[derive(Debug, Clone)]
pub struct Observation {
    /// Who looked.
    pub source: SourceName,
    /// For which control.
    pub control: Control,
    /// What was looked at: an organization, or `owner/repository`.
    pub subject: Arc<str>,
    /// The repository is archived, so that its checks do not apply.
    pub archived: bool,
    /// What was seen.
    pub seen: Seen,
}

/// What was seen.
#[derive(Debug, Clone)]
pub enum Seen {
    /// The setting was read.
    Artifact {
        /// The record.
        artifact: Box<Artifact>,
        /// The call that brought it.
        request: RequestRecord,
    },
    /// The host says clearly that there is none.
    Nothing {
        /// What there is none of.
        reason: Reason,
        /// What the host said, or what was found in its place.
        detail: String,
    },
    /// The host does not show it: nothing is known about the setting.
    Denied {
        /// Why.
        reason: Reason,
        /// The host's words.
        detail: String,
    },
    /// It was read and then left out of the bundle, because it held forbidden data.
    Withheld {
        /// The rule that matched.
        rule: &'static str,
    },
    /// It could not be obtained: a collection error.
    Failed(Failed),
}

/// A collection error.
#[derive(Debug, Clone)]
pub struct Failed {
    /// Why.
    pub reason: Reason,
    /// What failed, in words.
    pub message: String,
    /// The last HTTP status, if there was one.
    pub status: Option<u16>,
    /// The host's request id, if there was one.
    pub request_id: Option<String>,
}

/// The fields of a record that the host may show, withhold (`null`) or leave out.
///
/// Serialised as it came: `null` stays `null`, absent stays absent.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Field<T> {
    /// The host did not mention it.
    #[default]
    Absent,
    /// The host said `null`.
    Null,
    /// The host gave a value.
    Value(T),
}

impl<T> Field<T> {
    /// Whether the field was not mentioned; for `skip_serializing_if`.
    pub fn is_absent(&self) -> bool {
        matches!(self, Field::Absent)
    }

    /// The value, if there is one.
    pub fn value(&self) -> Option<&T> {
        match self {
            Field::Value(value) => Some(value),
            Field::Absent | Field::Null => None,
        }
    }
}

impl<T: Serialize> Serialize for Field<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.value() {
            Some(value) => value.serialize(serializer),
            None => serializer.serialize_none(),
        }
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Field<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Option::deserialize(deserializer)?.map_or(Field::Null, Field::Value))
    }
}

/// `org_settings.json`: exactly the specification's fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct OrganizationSettings {
    /// The organization's name.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub login: Field<String>,
    /// The organization's number.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub id: Field<u64>,
    /// Whether every member must use two factors.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub two_factor_requirement_enabled: Field<bool>,
    /// What members may do in every repository.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub default_repository_permission: Field<String>,
    /// Whether members may create repositories.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub members_can_create_repositories: Field<bool>,
    /// Whether members may create public repositories.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub members_can_create_public_repositories: Field<bool>,
}

/// `repo_{owner}_{repo}_branch_protection.json`: exactly the specification's fields.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct BranchProtection {
    /// The call's own address.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub url: Field<String>,
    /// The review rule; absent if no review is required.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub required_pull_request_reviews: Field<RequiredReviews>,
    /// The status-check rule; absent if no check is required.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub required_status_checks: Field<RequiredStatusChecks>,
    /// Whether the rule holds for administrators.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub enforce_admins: Field<EnforceAdmins>,
}

/// `required_pull_request_reviews`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RequiredReviews {
    /// Who may dismiss reviews.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub dismissal_restrictions: Field<DismissalRestrictions>,
    /// Whether a new commit dismisses reviews.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub dismiss_stale_reviews: Field<bool>,
    /// Whether a code owner must review.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub require_code_owner_reviews: Field<bool>,
    /// How many approving reviews are required.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub required_approving_review_count: Field<u64>,
}

/// `dismissal_restrictions`, reduced to names: the host sends whole profiles of people, which are nobody's evidence.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct DismissalRestrictions {
    /// Users.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub users: Field<Vec<UserName>>,
    /// Teams.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub teams: Field<Vec<SlugName>>,
    /// Apps.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub apps: Field<Vec<SlugName>>,
}

/// A user by login.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct UserName {
    /// The login.
    pub login: String,
}

/// A team or app by slug.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct SlugName {
    /// The slug.
    pub slug: String,
}

/// `required_status_checks`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct RequiredStatusChecks {
    /// Whether the branch must be up to date before merging.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub strict: Field<bool>,
    /// The names of the required checks.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub contexts: Field<Vec<String>>,
    /// The newer form of the same list. Not a field of the artifact; a rule whose checks stand only here is
    /// configured all the same, and the check's `actual` names them.
    #[serde(default, skip_serializing)]
    pub checks: Field<Vec<StatusCheck>>,
}

/// One of `required_status_checks.checks`.
#[derive(Debug, Clone, Deserialize)]
pub struct StatusCheck {
    /// The check's name.
    pub context: String,
}

/// `enforce_admins`
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct EnforceAdmins {
    /// The setting's own address.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub url: Field<String>,
    /// Whether the rule holds for administrators.
    #[serde(default, skip_serializing_if = "Field::is_absent")]
    pub enabled: Field<bool>,
}

/// `repo_{owner}_{repo}_codeowners.json`: exactly the specification's fields.
#[derive(Debug, Clone, Serialize)]
pub struct CodeownersFile {
    /// File name.
    pub name: String,
    /// Path in the repository.
    pub path: String,
    /// The file, base64 without line breaks.
    pub content: String,
    /// Always `base64`.
    pub encoding: &'static str,
    /// Size of the file in bytes.
    pub size: u64,
    /// The file itself: what is judged and screened.
    #[serde(skip)]
    pub decoded: Vec<u8>,
}

/// The content of an artifact.
#[derive(Debug, Clone)]
pub enum Record {
    /// Organization settings.
    OrganizationSettings(OrganizationSettings),
    /// Branch protection.
    BranchProtection(BranchProtection),
    /// A CODEOWNERS file.
    Codeowners(CodeownersFile),
}

impl Record {
    /// `artifact_type` in the manifest.
    pub fn artifact_type(&self) -> &'static str {
        match self {
            Record::OrganizationSettings(_) => "org_settings",
            Record::BranchProtection(_) => "branch_protection",
            Record::Codeowners(_) => "codeowners",
        }
    }

    /// Content that the JSON text hides behind an encoding, and that the screen must see in the clear.
    pub fn decoded(&self) -> Option<&[u8]> {
        match self {
            Record::OrganizationSettings(_) | Record::BranchProtection(_) => None,
            Record::Codeowners(file) => Some(&file.decoded),
        }
    }
}

/// A record and the bytes that will be signed.
#[derive(Debug, Clone)]
pub struct Artifact {
    path: BundlePath,
    record: Record,
    bytes: Vec<u8>,
}

impl Artifact {
    /// Serialises `record` for `sources/<source>/<filename>`: the only place where an artifact becomes bytes.
    ///
    /// # Errors
    ///
    /// If the name is too long for a bundle.
    pub fn new(source: SourceName, filename: &str, mut record: Record) -> Result<Artifact, ArtifactError> {
        let path =
            BundlePath::new(&format!("sources/{}/{filename}", source.id())).map_err(ArtifactError::Name)?;
        let mut bytes = Vec::new();
        match &record {
            Record::OrganizationSettings(settings) => write_json(&mut bytes, settings),
            Record::BranchProtection(protection) => write_json(&mut bytes, protection),
            Record::Codeowners(file) => write_json(&mut bytes, file),
        }
        .map_err(ArtifactError::Serialise)?;
        if let Record::Codeowners(file) = &mut record {
            // Up to 4 MB that are in `bytes` now, and in `decoded` for the judgement.
            file.content = String::new();
        }
        Ok(Artifact { path, record, bytes })
    }

    /// Path in the bundle.
    pub fn path(&self) -> &BundlePath {
        &self.path
    }

    /// The content.
    pub fn record(&self) -> &Record {
        &self.record
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why a record cannot become an artifact.
#[derive(Debug)]
pub enum ArtifactError {
    /// Its name cannot stand in a bundle.
    Name(PathError),
    /// It cannot be written as JSON.
    Serialise(std::io::Error),
}

impl std::fmt::Display for ArtifactError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            ArtifactError::Name(error) => write!(f, "the artifact's name cannot stand in a bundle: {error}"),
            ArtifactError::Serialise(error) => write!(f, "the artifact cannot be written as JSON: {error}"),
        }
    }
}
