//! Artifacts, read back as the records that the rules judge.

use std::io::Read;

use crate::altcloud::effective::EffectiveAdministrators;
use crate::altcloud::inactive_users::UserActivity;
use crate::altcloud::leavers::Leavers;
use crate::altcloud::policies::Policies;
use crate::altcloud::record::{AdminRoles, TwoStepVerification, UserLifecycle};
use crate::cloud::admin_ports::OpenPorts;
use crate::cloud::credentials::CredentialReport;
use crate::cloud::databases::Databases;
use crate::cloud::disk_encryption::DiskEncryption;
use crate::cloud::record::{
    AccountSummary, AuditTrailsRecord, EventSelectors, LogGroupsRecord, PasswordPolicyRecord, RootAccount,
    TrailStatus,
};
use crate::cloud::storage::PublicAccess;
use crate::cloud::threat_detection::Detectors;
use crate::codehost::changes::Changes;
use crate::codehost::people::People;
use crate::codehost::record::{
    BranchHistory, BranchProtection, BranchRules, BranchState, CodeownersErrors, CodeownersFile,
    OrganizationSettings, Ruleset,
};
use crate::codehost::security::RepositorySecurity;
use crate::inspection::ArtifactKind;
use crate::{altcloud, cloud, codehost};

/// Declares the artifacts: the kind of each, and its record.
macro_rules! artifacts {
    ($($name:ident: $kind:path => $record:ty),+ $(,)?) => {
        /// An artifact that was read back.
        #[derive(Debug)]
        pub(super) enum Artifact {
            $($name(Box<$record>)),+
        }

        impl Artifact {
            /// Reads an artifact of this kind; `None` for a kind that no rule judges.
            ///
            /// # Errors
            /// Fails if the bytes are not its record.
            pub(super) fn read(kind: &ArtifactKind, artifact: impl Read) -> Option<Result<Artifact, serde_json::Error>> {
                $(if *kind == $kind {
                    return Some(serde_json::from_reader(artifact).map(|record| Artifact::$name(Box::new(record))));
                })+
                None
            }

            /// Reads an artifact that is in memory, which is twice as fast.
            ///
            /// # Errors
            /// Fails if the bytes are not its record.
            pub(super) fn parse(kind: &ArtifactKind, artifact: &[u8]) -> Option<Result<Artifact, serde_json::Error>> {
                $(if *kind == $kind {
                    return Some(serde_json::from_slice(artifact).map(|record| Artifact::$name(Box::new(record))));
                })+
                None
            }
        }
    };
}

artifacts! {
    Organization: codehost::artifact::ORGANIZATION_SETTINGS => OrganizationSettings,
    People: codehost::artifact::PEOPLE => People,
    Protection: codehost::artifact::PROTECTION => BranchProtection,
    History: codehost::artifact::BRANCH_HISTORY => BranchHistory,
    BranchRules: codehost::artifact::BRANCH_RULES => BranchRules,
    Branch: codehost::artifact::BRANCH => BranchState,
    Ruleset: codehost::artifact::RULESET => Ruleset,
    Codeowners: codehost::artifact::CODEOWNERS => CodeownersFile,
    Security: codehost::artifact::SECURITY => RepositorySecurity,
    Changes: codehost::artifact::CHANGES => Changes,
    CodeownersErrors: codehost::artifact::CODEOWNERS_ERRORS => CodeownersErrors,
    PasswordPolicy: cloud::artifact::PASSWORD_POLICY => PasswordPolicyRecord,
    AccountSummary: cloud::artifact::ACCOUNT_SUMMARY => AccountSummary,
    AuditTrails: cloud::artifact::AUDIT_TRAILS => AuditTrailsRecord,
    TrailStatus: cloud::artifact::TRAIL_STATUS => TrailStatus,
    EventSelectors: cloud::artifact::EVENT_SELECTORS => EventSelectors,
    LogGroups: cloud::artifact::LOG_GROUPS => LogGroupsRecord,
    RootAccount: cloud::artifact::ROOT_ACCOUNT => RootAccount,
    DiskEncryption: cloud::artifact::DISK_ENCRYPTION => DiskEncryption,
    OpenPorts: cloud::artifact::OPEN_PORTS => OpenPorts,
    PublicAccess: cloud::artifact::PUBLIC_ACCESS => PublicAccess,
    Databases: cloud::artifact::DATABASES => Databases,
    Detectors: cloud::artifact::DETECTORS => Detectors,
    CredentialReport: cloud::artifact::CREDENTIAL_REPORT => CredentialReport,
    TwoStep: altcloud::artifact::TWO_STEP => TwoStepVerification,
    AdminRoles: altcloud::artifact::ADMIN_ROLES => AdminRoles,
    AdministratorsEffective: altcloud::artifact::ADMINISTRATORS_EFFECTIVE => EffectiveAdministrators,
    UserActivity: altcloud::artifact::USER_ACTIVITY => UserActivity,
    Leavers: altcloud::artifact::LEAVERS => Leavers,
    Policies: altcloud::artifact::POLICIES => Policies,
    UserLifecycle: altcloud::artifact::USER_LIFECYCLE => UserLifecycle,
}
